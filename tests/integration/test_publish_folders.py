"""Wiki folders published from the store, wherever they lie: every word of a person's stays, no old page goes over a new one, no crash leaves a trace."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
import structlog

from pipelines.errors import NotOurFolder, Refused
from pipelines.model import digest
from pipelines.run.publish import Follower, Shown, WikiFolder, publish_revision, shows, take_own_words
from pipelines.run.rebuild import rebuild_wiki
from pipelines.run.render import render
from pipelines.run.wiki import organize
from pipelines.wiki import folder as folder_module
from pipelines.wiki.folder import FolderBusy, PublishFailed
from pipelines.wiki.marker import FolderGone
from pipelines.wiki.own import BETWEEN
from pipelines.wiki.publish import placeholder
from tests.dreaming import HOST, SCOPE, Desk, differences
from tests.writing import START, ClaudeLog, memory
from worker.cli.publish import following
from worker.stopping import Stop

MARK = "<!-- yours below: dreamd never touches it -->"
PAGE = "how-we-work.md"
SOON = 20.0
"""Seconds another thread is given."""


def rule(desk: Desk, text: str, *, day: int = 0) -> None:
    ClaudeLog(text, at=START + timedelta(days=day)).user(text).assistant("ok").save(desk.logs)


def first_rule(desk: Desk) -> None:
    rule(desk, "Always run migrations with `make migrate`.")
    desk.dream()


def second_rule(desk: Desk) -> None:
    """One more rule believed and committed, published nowhere."""
    rule(desk, "Never push to main.", day=1)
    elsewhere = desk.root / "hidden"
    desk.dream(wiki=elsewhere, wiki_id="hidden")


def at(desk: Desk, name: str = "wiki", *, host: str = HOST) -> WikiFolder:
    return WikiFolder(folder=desk.root / name, wiki=name if name != "wiki" else desk.request().wiki_id, host=host)


def show(desk: Desk, name: str = "wiki", **given: object) -> Shown:
    with desk.store() as store:
        return publish_revision(desk.parts(store), at(desk, name), SCOPE, **given)  # type: ignore[arg-type]


def take(desk: Desk, name: str = "wiki") -> tuple[str, ...]:
    with desk.store() as store:
        return take_own_words(desk.parts(store), at(desk, name), SCOPE)


def undo_aside(tree: dict[str, str]) -> dict[str, str]:
    """The tree without the ids of dreams, which no two desks share: a report ends with the command that takes its dream back."""
    return {path: re.sub(r"`dreamd revert [a-z0-9]+`", "`dreamd revert DREAM`", text) if path.startswith("journal/") else text for path, text in tree.items()}


def pages(desk: Desk, name: str = "wiki") -> dict[str, str]:
    folder = desk.root / name
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8", errors="replace") for p in folder.rglob("*.md") if ".dreamd" not in p.parts}


def read(desk: Desk, name: str = "wiki", page: str = PAGE) -> str:
    return (desk.root / name / page).read_text(encoding="utf-8")


def write_own(desk: Desk, words: str, name: str = "wiki", page: str = PAGE) -> None:
    """Words below the line, in place of what stands there up to our footnotes."""
    text = read(desk, name, page)
    above, below = text.split(f"{MARK}\n", 1)
    notes = below[below.index("\n[^1]:") :] if "\n[^1]:" in below else ""
    (desk.root / name / page).write_text(f"{above}{MARK}\n{words}{notes}", encoding="utf-8", newline="")


# --- words of a person's -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [("wiki", "other"), ("other", "wiki")])
def test_words_written_in_two_folders_stand_on_both_pages_the_same_whichever_came_first(desk: Desk, order: tuple[str, str]) -> None:
    first_rule(desk)
    write_own(desk, "\nWe agreed on this in May.\n")
    desk.dream()
    show(desk, "other")
    write_own(desk, "\nAna was here.\n", "wiki")
    write_own(desk, "\nLee was here, 也在这里。\n", "other")
    for name in order:
        take(desk, name)
    for name in order:
        show(desk, name)
    assert read(desk, "wiki") == read(desk, "other")
    assert f"{MARK}\n\nAna was here.\n\n{BETWEEN}\n\nLee was here, 也在这里。\n" in read(desk), "the folders' markers decide, not who came first"
    assert "in May" not in read(desk)


def test_a_word_changed_in_a_part_of_another_folder_is_changed_in_both(desk: Desk) -> None:
    first_rule(desk)
    show(desk, "other")
    write_own(desk, "\nAna was here.\n", "wiki")
    write_own(desk, "\nLee was here.\n", "other")
    for name in ("wiki", "other", "wiki"):
        show(desk, name)
    page = desk.root / "other" / PAGE
    page.write_text(read(desk, "other").replace("Ana was", "Ana is"), encoding="utf-8")
    for name in ("other", "wiki"):
        show(desk, name)
    assert read(desk, "wiki") == read(desk, "other")
    assert [read(desk).count(words) for words in ("Ana is here", "Ana was here", "Lee was here", BETWEEN)] == [1, 0, 1, 1]


def test_words_a_person_takes_away_stay_away(desk: Desk) -> None:
    first_rule(desk)
    write_own(desk, "\nA secret of mine.\n")
    desk.dream()
    assert "A secret" in read(desk)
    write_own(desk, "")
    desk.dream()
    show(desk, "other")
    assert not [p for name in ("wiki", "other") for p, text in pages(desk, name).items() if "A secret" in text]


def test_an_older_page_put_back_takes_no_words_away(desk: Desk) -> None:
    first_rule(desk)
    write_own(desk, "\nFirst.\n")
    desk.dream()
    old = (desk.wiki / PAGE).read_bytes()
    write_own(desk, "\nSecond.\n")
    rule(desk, "Never push to main.", day=1)
    desk.dream()
    want = desk.tree()
    (desk.wiki / PAGE).write_bytes(old)
    assert take(desk) == ()
    desk.dream()
    assert differences(want, desk.tree()) == []
    assert "Second." in read(desk)


def test_words_in_a_folder_of_an_older_version_are_taken_in_though_the_manifest_knows_the_file(desk: Desk) -> None:
    first_rule(desk)
    write_own(desk, "\nOlder than the store knows.\n")
    manifest = desk.wiki / ".dreamd/manifest.json"
    told = json.loads(manifest.read_text())
    told = {"revision": told["revision"], "files": {p: {"published": digest((desk.wiki / p).read_bytes()), "publishing": None} for p in told["published"]}}
    manifest.write_text(json.dumps(told))
    second_rule(desk)
    show(desk)
    assert "Older than the store knows." in read(desk)
    assert "Never push to main" in read(desk)


def test_an_emptied_folder_gets_all_words_back_from_the_store_also_where_no_note_is_left(desk: Desk) -> None:
    rule(desk, "The deadline for the report is 10 March 2026.")
    desk.now = START + timedelta(days=1)
    desk.dream()
    write_own(desk, "\nMine.\n", page="inbox.md")
    write_own(desk, "\ncafé \0 中文\r\n", page="about.md")
    page = desk.wiki / "about.md"
    page.write_bytes(page.read_bytes().replace("é".encode(), b"\xe9"))
    desk.now += timedelta(days=20)
    desk.dream()
    want = desk_bytes(desk)
    assert b"\ncaf\xe9 \0 " in want["about.md"]
    assert b"No note is kept here any more" in want["about.md"]
    assert b"deadline" not in want["about.md"]
    for path in sorted(desk.wiki.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(FolderGone, match="rebuild"):
        show(desk)
    assert not any(desk.wiki.iterdir())
    with desk.store() as store:
        rebuild_wiki(desk.parts(store), desk.request())
    assert desk_bytes(desk) == want
    assert "Mine." in read(desk, page="inbox.md")


def desk_bytes(desk: Desk) -> dict[str, bytes]:
    return {path: (desk.wiki / path).read_bytes() for path in pages(desk)}


@pytest.mark.parametrize("by_rename", [True, False])
def test_words_saved_at_the_moment_of_writing_are_on_the_page_and_in_the_store(desk: Desk, by_rename: bool) -> None:
    first_rule(desk)
    second_rule(desk)
    saves = iter(["\nOne.\n", "\nTwo.\n"])

    def save(name: str) -> None:
        words = next(saves, None) if name == f"staged:{PAGE}" else None
        if words:
            page, text = desk.wiki / PAGE, read(desk).replace(f"{MARK}\n", f"{MARK}\n{words}", 1)
            target = desk.wiki / ".swp" if by_rename else page
            target.write_text(text, encoding="utf-8")
            os.replace(target, page)

    desk.step = save
    done = show(desk)
    desk.step = lambda _: None
    assert [words in read(desk) for words in ("One.", "Two.", "Never push to main")] == [True, True, True]
    assert (done.published.edits, done.published.held) == ((), ())
    want = pages(desk)
    assert show(desk).published.written == ()
    assert pages(desk) == want
    show(desk, "other")
    assert "Two." in read(desk, "other")
    assert not any((desk.wiki / ".dreamd/displaced").iterdir())


def test_words_written_late_into_a_displaced_file_come_back_with_the_next_publish(desk: Desk) -> None:
    first_rule(desk)
    second_rule(desk)
    with open(desk.wiki / PAGE, "r+b") as editor:
        show(desk)
        editor.seek(0, os.SEEK_END)
        editor.write(b"\nLate words.\n")
    assert "Late words" not in read(desk)
    done = show(desk)
    assert "Late words." in read(desk)
    assert "Never push to main" in read(desk)
    assert done.published.edits == ()


def test_a_page_whose_own_part_is_edited_too_is_left_and_its_words_are_kept(desk: Desk) -> None:
    first_rule(desk)
    write_own(desk, "\nMine.\n")
    (desk.wiki / PAGE).write_text(read(desk).replace("Always run", "Never run"), encoding="utf-8")
    edited = read(desk)
    assert take(desk) == (PAGE,)
    for _ in range(2):
        assert [path for path, _ in show(desk).published.held] == [PAGE]
    assert read(desk) == edited
    show(desk, "other")
    assert "Mine." in read(desk, "other")
    assert "Always run" in read(desk, "other")


# --- by state, never backwards -----------------------------------------------------------------------------------------------------------


def test_the_same_state_again_writes_nothing_and_what_is_shown_is_remembered(desk: Desk) -> None:
    first_rule(desk)
    second_rule(desk)
    done = show(desk)
    assert PAGE in done.published.written
    again = show(desk)
    assert (again.revision, again.published.written, again.published.removed) == (done.revision, (), ())
    with desk.store() as store:
        known = store.wiki(at(desk).wiki)
        assert shows(desk.parts(store), at(desk), SCOPE)
    assert known is not None
    assert (known.shown_rev, known.host, known.scope) == (done.revision, HOST, SCOPE)


@contextmanager
def paused(desk: Desk, where: str) -> Iterator[Callable[[], None]]:
    """Another process that publishes and stands still at a step until it is let go."""
    there, go, failed = threading.Event(), threading.Event(), []

    def step(name: str) -> None:
        if name == where:
            there.set()
            assert go.wait(SOON)

    def publish() -> None:
        try:
            with desk.store() as store:
                publish_revision(replace(desk.parts(store), step=step), at(desk), SCOPE)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        assert there.wait(SOON)

        def release() -> None:
            go.set()
            thread.join(SOON)
            assert not thread.is_alive()
            assert failed == []

        yield release
    finally:
        go.set()
        thread.join(SOON)


def test_one_that_stood_still_with_older_pages_in_hand_ends_with_the_newest(desk: Desk) -> None:
    first_rule(desk)
    rule(desk, "Always write tests first.", day=2)
    desk.dream(wiki=desk.root / "hidden", wiki_id="hidden")
    with paused(desk, "read") as release:
        second_rule(desk)
        with pytest.raises(FolderBusy):
            show(desk, patience_s=0)
        release()
    assert "Never push to main" in read(desk)
    want = pages(desk)
    show(desk)
    assert pages(desk) == want


def test_one_that_waits_its_turn_publishes_what_is_newest_then(desk: Desk) -> None:
    first_rule(desk)
    rule(desk, "Always write tests first.", day=2)
    desk.dream(wiki=desk.root / "hidden", wiki_id="hidden")
    with paused(desk, "intent") as release:
        waiting = threading.Thread(target=show, args=(desk,), kwargs={"patience_s": SOON})
        waiting.start()
        second_rule(desk)
        release()
        waiting.join(SOON)
    assert not waiting.is_alive()
    assert "Never push to main" in read(desk)


def test_through_renames_in_circles_every_old_name_leads_on_and_no_old_page_comes_back(desk: Desk) -> None:
    rule(desk, "Hello")
    for titles in (("Ports", "Doors"), ("Harbour", "Doors"), ("Doors", "Harbour"), ("Harbour", "Doors")):
        for name, title, said in zip(("a.md", "b.md"), titles, ("The port is 8080.", "The door is green."), strict=True):
            desk.note(name, memory(title, said))
        desk.dream()
        show(desk, "other")
        assert "8080" in read(desk, page=f"{titles[0].lower()}.md")
        assert "green" in read(desk, page=f"{titles[1].lower()}.md")
        assert pages(desk) == pages(desk, "other")
    assert "This page moved to [Harbour](harbour.md)." in read(desk, page="ports.md")
    rule(desk, "Never push to main.", day=1)
    desk.dream()
    assert "This page moved to [Harbour](harbour.md)." in read(desk, page="ports.md"), "it outlives the next dream"


# --- crashes, full disks, foreign folders ------------------------------------------------------------------------------------------------


class Stopped(BaseException):
    """Stands for kill -9: nothing in between may catch it."""


def with_words(desk: Desk) -> None:
    """Pages to write, to add and to remove, and words below the line of one that changes and of one that goes."""
    first_rule(desk)
    desk.note("ports.md", memory("Ports", "The port is 8080."))
    desk.note("doors.md", memory("Doors", "The door is green."))
    desk.dream()
    write_own(desk, "\nMine.\n")
    write_own(desk, "\nMine, too.\n", page="ports.md")
    desk.note("ports.md", memory("Harbour", "The port is 8080."))
    (desk.notes / "doors.md").unlink()
    second_rule(desk)


def test_stopped_at_each_step_in_turn_the_next_publish_ends_as_an_undisturbed_one(desk: Desk, desks: Callable[[], Desk]) -> None:
    whole = desks()
    names: list[str] = []
    with_words(whole)
    whole.step = names.append
    show(whole)
    want = pages(whole)
    with_words(desk)
    assert {"locked", "read", "intent", "phase:pages", "phase:removals", "manifest", f"exchanged:{PAGE}"} <= set(names)
    for name in dict.fromkeys(names):

        def stop(here: str, name: str = name) -> None:
            if here == name:
                raise Stopped

        desk.step = stop
        try:
            show(desk)
        except Stopped:
            continue
    desk.step = lambda _: None
    done = show(desk)
    assert (done.published.edits, done.published.held) == ((), ())
    assert differences(undo_aside(want), undo_aside(pages(desk))) == []
    assert "Mine." in read(desk)
    assert "Mine, too." in read(desk, page="ports.md")


def test_a_publisher_that_is_killed_leaves_nothing_to_undo(desk: Desk, desks: Callable[[], Desk]) -> None:
    whole = desks()
    with_words(whole)
    show(whole)
    with_words(desk)
    for name in ("read", f"exchanged:{PAGE}", "phase:removals"):
        child = os.fork()
        if child == 0:  # a process of its own: what it holds open dies with it
            desk.holder = f"{socket.gethostname()}:{os.getpid()}:0"
            desk.step = lambda here, name=name: os.kill(os.getpid(), signal.SIGKILL) if here == name else None  # type: ignore[misc]
            show(desk)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "the step was reached"
    assert show(desk).published.edits == ()
    assert differences(undo_aside(pages(whole)), undo_aside(pages(desk))) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS], ids=["full", "read-only"])
def test_a_folder_that_cannot_be_written_loses_no_words_and_is_resumed(desk: Desk, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    with_words(desk)
    before = pages(desk)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(folder_module.Folder, "write_temporary", refuse)
        with pytest.raises(PublishFailed, match=os.strerror(code)):
            show(desk)
    assert pages(desk) == before
    with desk.store() as store:
        assert {page: own.sections for page, own in store.own_words(SCOPE).items()} == {PAGE: ("\nMine.\n",), "ports.md": ("\nMine, too.\n",)}
    show(desk)
    assert "Never push to main" in read(desk)
    assert "Mine." in read(desk)


def test_a_folder_that_is_gone_or_empty_is_left_alone(desk: Desk) -> None:
    first_rule(desk)
    second_rule(desk)
    desk.wiki.rename(desk.root / "unmounted")
    for made in (False, True):
        if made:
            desk.wiki.mkdir()
        with pytest.raises(FolderGone, match="mounted"):
            show(desk)
        with desk.store() as store, pytest.raises(FolderGone, match="mounted"):
            organize(desk.parts(store), desk.request())
        assert not desk.wiki.exists() or not any(desk.wiki.iterdir())
    desk.wiki.rmdir()
    (desk.root / "unmounted").rename(desk.wiki)
    show(desk)
    assert "Never push to main" in read(desk)


def test_a_second_host_is_refused_by_name_until_the_first_was_not_seen_for_long(desk: Desk) -> None:
    first_rule(desk)
    write_own(desk, "\nMine.\n")
    second = at(desk, host="cellar")
    with desk.store() as store:
        parts = desk.parts(store)
        for given in ({}, {"take_over": True}):
            with pytest.raises(NotOurFolder, match=HOST):
                publish_revision(parts, second, SCOPE, **given)
        with pytest.raises(NotOurFolder, match=HOST):
            take_own_words(parts, second, SCOPE)
        desk.now += timedelta(hours=1)
        publish_revision(parts, second, SCOPE, take_over=True)
        with pytest.raises(NotOurFolder, match="cellar"):
            publish_revision(parts, at(desk), SCOPE)
    assert "Mine." in read(desk)


def test_a_folder_that_shows_one_scope_is_not_emptied_for_another(desk: Desk) -> None:
    first_rule(desk)
    want = pages(desk)
    with desk.store() as store, pytest.raises(Refused, match=f"shows the scope {SCOPE}"):
        publish_revision(desk.parts(store), at(desk), "acme/web")
    with desk.store() as store:
        assert publish_revision(desk.parts(store), at(desk, "new"), "acme/web").revision == 0
    assert pages(desk) == want
    assert not (desk.root / "new").exists(), "nothing to show yet"


# --- reports -----------------------------------------------------------------------------------------------------------------------------


def test_a_report_written_where_no_folder_is_seen_is_published_by_every_folder(desk: Desk) -> None:
    first_rule(desk)
    second_rule(desk)
    for name in ("wiki", "other"):
        show(desk, name)
        (report,) = [text for path, text in pages(desk, name).items() if path.startswith("journal/")]
        assert report.index("Never push to main") < report.index("## Earlier that day") < report.rindex("Always run migrations")


def test_news_of_a_day_whose_report_a_person_changed_stand_in_a_file_beside_it(desk: Desk) -> None:
    first_rule(desk)
    (report,) = desk.wiki.glob("journal/*.md")
    report.write_text("I read this. " + report.read_text(encoding="utf-8"), encoding="utf-8")
    edited = report.read_text(encoding="utf-8")
    assert show(desk).published.held == ()
    assert [p.name for p in desk.wiki.glob("journal/*.md")] == [report.name], "nothing is new"
    beside = report.with_name(f"{report.stem}-2.md")
    for day, said in enumerate(("Never push to main.", "Always write tests first."), start=1):
        rule(desk, said, day=day)
        desk.dream()
        assert report.read_text(encoding="utf-8") == edited
        assert said in beside.read_text(encoding="utf-8")
    write_own(desk, "\nRead as well.\n", page=f"journal/{beside.name}")
    assert show(desk).published.edits == ()
    assert "Read as well." in beside.read_text(encoding="utf-8")
    beside.write_text(f"Yes. {beside.read_text(encoding='utf-8')}", encoding="utf-8")
    rule(desk, "Always lint.", day=3)
    desk.dream()
    assert "Always lint" in report.with_name(f"{report.stem}-3.md").read_text(encoding="utf-8")


def test_what_is_left_alone_in_a_folder_is_told_once_a_day(desk: Desk) -> None:
    first_rule(desk)
    (desk.wiki / PAGE).write_text(read(desk).replace("Always run", "Never run"), encoding="utf-8")
    (desk.wiki / "mine_too.md").write_text("mine", encoding="utf-8")
    for day, said in enumerate(("Never push to main.", "Always write tests first."), start=1):
        rule(desk, said, day=day)
        desk.dream()
    (report,) = [text for path, text in pages(desk).items() if path.startswith("journal/")]
    assert report.count("left as it is: how-we-work.md") == 1
    assert report.replace("\\", "").count("not ours, not touched: mine_too.md") == 1
    assert [said in report for said in ("Never push", "Always write tests")] == [True, True]


def test_a_render_that_is_done_twice_reports_once(desk: Desk) -> None:
    first_rule(desk)
    want = pages(desk)
    with desk.store() as store:
        before = store.revision(SCOPE)
        render(desk.parts(store), SCOPE)
        assert store.revision(SCOPE) == before
    show(desk)
    assert pages(desk) == want


# --- following ---------------------------------------------------------------------------------------------------------------------------


def test_a_follower_looks_at_store_and_folder_and_rests_when_neither_changed(desk: Desk) -> None:
    first_rule(desk)
    with desk.store() as store:
        follower = Follower(desk.parts(store), at(desk, "other"), SCOPE)

        def settle() -> list[Shown]:
            looks = []
            while (shown := follower.look()) is not None:
                looks.append(shown)
                assert len(looks) < 6, "it rests at last"
            return looks

        assert settle()[0].published.written
        second_rule(desk)
        assert PAGE in settle()[0].published.written
        write_own(desk, "\nFrom the other folder.\n", "other")
        settle()
        assert "From the other folder." in store.own_words(SCOPE)[PAGE].sections[0]
        (desk.root / "other" / PAGE).unlink()
        assert settle()[0].published.written == (PAGE,)
        seen = store.wiki("other")
        desk.now += timedelta(minutes=5)
        assert follower.look() is None
        again = store.wiki("other")
        assert seen is not None
        assert again is not None
        assert (again.seen_at - seen.seen_at, again.shown_rev) == (timedelta(minutes=5), seen.shown_rev)
        (desk.root / "other").rename(desk.root / "unmounted")
        with pytest.raises(FolderGone):
            follower.look()


def test_a_folder_that_goes_away_is_told_once_and_followed_again_when_it_is_back(desk: Desk) -> None:
    """An unmounted disk: ending would only have the process started again and again."""
    first_rule(desk)
    second_rule(desk)
    away, shown = desk.root / "unmounted", list[Shown]()
    desk.wiki.rename(away)
    with desk.store() as store, contextlib.closing(Stop()) as stop, structlog.testing.capture_logs() as logs:
        looks = iter(range(9))

        class Counting(Follower):
            def look(self) -> Shown | None:
                if (n := next(looks)) == 3:
                    away.rename(desk.wiki)
                if n == 4:
                    stop.set()
                return super().look()

        following(Counting(desk.parts(store), at(desk), SCOPE), stop, interval_s=0.001, told=shown.append)
    assert [x["error"] for x in logs if x["event"] == "publish_failed"] == ["FolderGone"]
    assert "Never push to main" in read(desk)


def test_a_report_a_full_disk_left_half_made_is_written_and_no_person_s_word(desk: Desk) -> None:
    first_rule(desk)
    (report,) = desk.wiki.glob("journal/*.md")
    whole = report.read_bytes()
    report.write_bytes(placeholder(f"journal/{report.name}"))
    show(desk)
    assert [(p.name, p.read_bytes()) for p in desk.wiki.glob("journal/*.md")] == [(report.name, whole)]


def test_a_store_restored_to_before_what_the_folder_shows_is_told_once_and_looked_at_again(desk: Desk) -> None:
    first_rule(desk)
    copies = {p: p.read_bytes() for p in (desk.root / "data").glob("store.db*")}
    second_rule(desk)
    show(desk)
    for path in (desk.root / "data").glob("store.db*"):
        path.unlink()
    for path, data in copies.items():
        path.write_bytes(data)
    shown: list[Shown] = []
    with desk.store() as store, contextlib.closing(Stop()) as stop, structlog.testing.capture_logs() as logs:
        looks = iter(range(4))

        class Counting(Follower):
            def look(self) -> Shown | None:
                if next(looks) == 2:
                    stop.set()
                return super().look()

        following(Counting(desk.parts(store), at(desk), SCOPE), stop, interval_s=0.001, told=shown.append)
        assert next(looks) == 3, "it looked again"
    assert [(x["error"], "newer than" in x["why"]) for x in logs if x["event"] == "publish_failed"] == [("Conflict", True)]
    assert shown == []
