"""Publishing against interruptions, full disks, editors and foreign folders."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from pipelines.errors import Conflict, NotOurFolder
from pipelines.model import digest
from pipelines.wiki import folder as folders
from pipelines.wiki import publish as publishing
from pipelines.wiki.folder import Folder, FolderBusy, PublishFailed
from pipelines.wiki.marker import FolderGone, Marker, read_marker
from pipelines.wiki.own import halves, joined, with_own
from pipelines.wiki.publish import How, Published, State, Taken, publish
from pipelines.wiki.standing import Stood, read_folder, withheld
from pipelines.wiki.tree import tree
from tests.unit.wiki.samples import BACKUP, CONTENT, OWNER, item

MARKER = Marker(wiki="w1", epoch="e1", host="here")
FIRST = tree(replace(CONTENT, items=tuple(i for i in CONTENT.items if i is not OWNER))).files
STAGING = item("nnnn11112222", "The port of staging is 5434.", value="5434")
KEPT = tuple(i for i in CONTENT.items if not i.carried and i is not BACKUP)
SECOND = tree(replace(CONTENT, items=(*KEPT, STAGING), redirects={"backups.md": "2:payments-db"})).files


@pytest.fixture(autouse=True)
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what was synced, instead of waiting for the disk hundreds of times."""
    names: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: names.append(os.readlink(f"/proc/self/fd/{fd}") if Path("/proc/self/fd").exists() else "?"))
    return names


class Store:
    """What the caller's store would know: digests dreamd wrote, files that are a person's and taken in, and, with `keeps`, words below the line."""

    def __init__(self, *, keeps: bool = False) -> None:
        self.wrote: set[str] = set()
        self.took: set[str] = set()
        self.keeps = keeps
        self.files: dict[str, bytes] = {}
        self.words: dict[str, list[str]] = {}

    def take(self, stood: Stood) -> Taken | None:
        if digest(stood.data) in self.took:
            return Taken(self.files.get(stood.path))
        found = halves(stood.path, stood.data)
        shells = [found_of for shell in (FIRST, SECOND) if stood.path in shell and (found_of := halves(stood.path, shell[stood.path]))]
        if not self.keeps or found is None or found.above not in {shell.above for shell in shells}:
            return None
        self.words.setdefault(stood.path, []).extend(s for s in found.sections if s not in self.words.get(stood.path, []))
        return Taken(with_own(stood.path, self.files[stood.path], joined(self.words[stood.path])) if stood.path in self.files else None)

    def publish(self, folder: Path, files: dict[str, bytes], revision: int = 1, *, stubs: frozenset[str] = frozenset(), **given: object) -> Published:
        self.files = {path: with_own(path, data, joined(self.words[path])) if path in self.words else data for path, data in files.items()}
        state = State.of(self.files, revision, stubs=stubs)
        return publish(folder, state, marker=MARKER, holder="test", known=self.wrote.__contains__, take=self.take, **given)  # type: ignore[arg-type]


def pages(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.md") if ".dreamd" not in p.parts}


def dangling(folder: Path) -> list[tuple[str, str]]:
    """Every relative link of every page whose target is not there; read without any code of the wiki."""
    out = []
    for path, data in pages(folder).items():
        text = re.sub(r"(`+).*?\1", "", data.decode())
        for target in re.findall(r"(?<!\\)\]\(([^)]+\.md)\)", text):
            if not (folder / path).parent.joinpath(unquote(target)).is_file():
                out.append((path, target))
    return out


class Killed(BaseException):
    """Stands for kill -9: nothing in between may catch it."""


def steps_of(tmp_path: Path, files: dict[str, bytes], before: dict[str, bytes] | None, **given: object) -> list[str]:
    names: list[str] = []
    store = Store()
    if before:
        store.publish(tmp_path / "probe", before, new=True)
    store.publish(tmp_path / "probe", files, revision=2, new=True, step=names.append, **given)  # type: ignore[arg-type]
    return names


def test_a_new_folder_gets_every_page_and_a_private_folder_git_does_not_see(tmp_path: Path) -> None:
    done = Store().publish(tmp_path / "wiki", FIRST, new=True)
    assert pages(tmp_path / "wiki") == FIRST
    assert set(done.written) == set(FIRST)
    assert (tmp_path / "wiki/.dreamd/.gitignore").read_text() == "*\n"
    assert (tmp_path / "wiki/.dreamd").stat().st_mode & 0o777 == 0o700
    assert read_marker(tmp_path / "wiki") == MARKER
    assert dangling(tmp_path / "wiki") == []


def test_every_file_is_on_disk_before_it_takes_its_place_and_its_folder_afterwards(tmp_path: Path, synced: list[str]) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("names of descriptors are read from /proc")
    store, seen = Store(), []
    store.publish(tmp_path, FIRST, new=True)
    synced.clear()

    def look(name: str) -> None:
        if name.startswith(("staged", "phase")):
            seen.append((name, [Path(n).parent.name if "/.dreamd/tmp/" in n else Path(n).name for n in synced]))
            synced.clear()

    store.publish(tmp_path, SECOND, revision=2, step=look)
    staged = [names for name, names in seen if name.startswith("staged")]
    assert staged
    assert all("tmp" in names for names in staged)
    assert all({tmp_path.name, ".dreamd", "displaced"} <= set(names) for name, names in seen if name.startswith("phase"))


def test_publishing_the_same_again_writes_nothing(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    before = {p: (tmp_path / p).stat().st_ino for p in FIRST}
    done = store.publish(tmp_path, FIRST)
    assert (done.written, done.removed, done.unchanged) == ((), (), len(FIRST))
    assert {p: (tmp_path / p).stat().st_ino for p in FIRST} == before


def test_the_index_is_written_after_the_pages_and_removals_come_last(tmp_path: Path) -> None:
    order = [s for s in steps_of(tmp_path, SECOND, FIRST, stubs=frozenset({"backups.md"})) if s.startswith(("exchanged", "removed"))]
    assert order.index("exchanged:backups.md") > max(
        i for i, s in enumerate(order) if s.startswith("exchanged") and s not in {"exchanged:backups.md", "exchanged:MEMORY.md"}
    )
    assert order.index("exchanged:MEMORY.md") > order.index("exchanged:backups.md")
    assert [s for s in order if s.startswith("removed")] == ["removed:deploying.md"] == order[-1:]


def test_killed_at_any_step_the_rerun_gives_the_undisturbed_tree_and_no_edit(tmp_path: Path) -> None:
    names = steps_of(tmp_path, SECOND, FIRST)
    assert len(names) > 20
    for n in range(len(names)):
        folder, store, left = tmp_path / f"k{n}", Store(), [n]

        def kill(name: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Killed(name)

        store.publish(folder, FIRST, new=True)
        with pytest.raises(Killed):
            store.publish(folder, SECOND, revision=2, step=kill)
        assert dangling(folder) == [], names[n]
        assert pages(folder).keys() <= FIRST.keys() | SECOND.keys()
        done = store.publish(folder, SECOND, revision=2)
        assert done.edits == (), names[n]
        assert pages(folder) == SECOND, names[n]
        assert store.publish(folder, SECOND, revision=2).written == ()


def test_killed_twice_at_different_steps_with_different_revisions_nothing_is_taken_for_a_persons(tmp_path: Path) -> None:
    store, third = Store(), {**SECOND, "payments-db.md": SECOND["payments-db.md"].replace(b"5433", b"5435")}
    for n in range(2, 18, 3):
        folder = tmp_path / f"k{n}"
        store.publish(folder, FIRST, new=True)
        for revision, files in ((2, SECOND), (3, third)):
            count = [n]

            def kill(name: str, count: list[int] = count) -> None:
                count[0] -= 1
                if count[0] < 0:
                    raise Killed(name)

            with suppress(Killed):
                store.publish(folder, files, revision=revision, step=kill)
        assert store.publish(folder, third, revision=3).edits == ()
        assert pages(folder) == third


def test_a_full_disk_at_each_file_leaves_no_dangling_link_and_the_next_run_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, k = Folder.write_temporary, 0
    while True:
        folder, store, left = tmp_path / f"f{k}", Store(), [k]

        def full(self: Folder, data: bytes, *, left: list[int] = left, **given: object) -> str:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(self, data, **given)  # type: ignore[arg-type]

        store.publish(folder, FIRST, new=True)
        with monkeypatch.context() as patch:
            patch.setattr(Folder, "write_temporary", full)
            try:
                store.publish(folder, SECOND, revision=2)
                break
            except PublishFailed as failed:
                said = str(failed)
        assert "No space left" in said
        assert dangling(folder) == []
        assert store.publish(folder, SECOND, revision=2).edits == ()
        assert pages(folder) == SECOND
        k += 1
    assert k >= 6


def test_a_first_publish_killed_anywhere_never_shows_a_dangling_link(tmp_path: Path) -> None:
    for n in range(0, 60, 3):
        folder, count = tmp_path / f"k{n}", [n]

        def kill(name: str, count: list[int] = count) -> None:
            count[0] -= 1
            if count[0] < 0:
                raise Killed(name)

        with pytest.raises(Killed):
            Store().publish(folder, FIRST, new=True, step=kill)
        assert dangling(folder) == []
        Store().publish(folder, FIRST, new=True)
        assert pages(folder) == FIRST


def test_a_persons_edit_is_left_alone_and_given_back(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    edited = FIRST["payments-db.md"] + b"\nmine\n"
    (tmp_path / "payments-db.md").write_bytes(edited)
    done = store.publish(tmp_path, SECOND, revision=2)
    assert [(e.path, e.data, e.how, e.base) for e in done.edits] == [("payments-db.md", edited, How.FOUND, digest(FIRST["payments-db.md"]))]
    assert (tmp_path / "payments-db.md").read_bytes() == edited
    assert (tmp_path / "how-we-work.md").read_bytes() == SECOND["how-we-work.md"]
    assert (tmp_path / "deploying.md").exists(), "the edited page may still link there"
    assert dangling(tmp_path) == []
    store.took.add(digest(done.edits[0].data))
    assert store.publish(tmp_path, SECOND, revision=2).edits == ()
    assert pages(tmp_path) == SECOND


@pytest.mark.parametrize("by_rename", [True, False])
def test_a_save_between_check_and_exchange_is_not_lost(tmp_path: Path, by_rename: bool) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    page = tmp_path / "payments-db.md"

    def save(name: str) -> None:
        if name == "staged:payments-db.md":
            if by_rename:
                (tmp_path / ".swp").write_bytes(b"a person's words")
                os.replace(tmp_path / ".swp", page)
            else:
                page.write_bytes(b"a person's words")

    done = store.publish(tmp_path, SECOND, revision=2, step=save)
    assert [(e.path, e.data, e.how) for e in done.edits] == [("payments-db.md", b"a person's words", How.WINDOW)]
    again = store.publish(tmp_path, SECOND, revision=2)
    assert [(e.data, e.how) for e in again.edits] == [(b"a person's words", How.LATE)], "kept until it is taken in"
    store.took.add(digest(again.edits[0].data))
    assert store.publish(tmp_path, SECOND, revision=2).edits == ()
    assert not any((tmp_path / ".dreamd/displaced").iterdir())


def test_a_write_into_the_displaced_file_is_found_by_the_next_publish(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    with open(tmp_path / "payments-db.md", "r+b") as editor:
        store.publish(tmp_path, SECOND, revision=2)
        editor.seek(0, os.SEEK_END)
        editor.write(b"\nlate words\n")
    done = store.publish(tmp_path, SECOND, revision=2)
    assert [(e.path, e.how, e.data.endswith(b"late words\n")) for e in done.edits] == [("payments-db.md", How.LATE, True)]
    assert pages(tmp_path) == SECOND


def test_without_an_exchanging_rename_a_save_into_the_open_file_is_still_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_flags", lambda: folders._Rename(None))
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    with open(tmp_path / "payments-db.md", "r+b") as editor:
        assert store.publish(tmp_path, SECOND, revision=2).edits == ()
        editor.seek(0, os.SEEK_END)
        editor.write(b"late")
    assert pages(tmp_path) == SECOND
    assert [e.how for e in store.publish(tmp_path, SECOND, revision=2).edits] == [How.LATE]


def test_an_older_version_put_back_is_ours_and_replaced(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    store.publish(tmp_path, SECOND, revision=2)
    store.wrote |= {digest(d) for d in FIRST.values()}
    (tmp_path / "payments-db.md").write_bytes(FIRST["payments-db.md"])
    assert store.publish(tmp_path, SECOND, revision=2).edits == ()
    assert pages(tmp_path) == SECOND


def test_a_single_missing_page_is_published_again(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    (tmp_path / "payments-db.md").unlink()
    assert store.publish(tmp_path, FIRST).written == ("payments-db.md",)


def test_a_folder_that_lost_its_marker_is_never_read_as_deletion(tmp_path: Path) -> None:
    store, wiki = Store(), tmp_path / "wiki"
    store.publish(wiki, FIRST, new=True)
    wiki.rename(tmp_path / "elsewhere")
    with pytest.raises(FolderGone, match="mounted"):
        store.publish(wiki, FIRST)
    wiki.mkdir()
    with pytest.raises(FolderGone, match="mounted"):
        store.publish(wiki, FIRST)
    assert not any(wiki.iterdir())


def test_a_folder_with_other_things_in_it_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(NotOurFolder, match=r"thesis\.tex"):
        Store().publish(tmp_path, FIRST, new=True)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (Marker(wiki="w2", epoch="e1", host="here"), "w2"),
        (Marker(wiki="w1", epoch="e1", host="there"), "there"),
        (Marker(wiki="w1", epoch="e0", host="here"), "another store"),
    ],
)
def test_the_folder_of_another_wiki_host_or_store_is_refused(tmp_path: Path, other: Marker, named: str) -> None:
    publish(tmp_path, State.of(FIRST, 1), marker=other, holder="x", known=lambda _: False, new=True)
    with pytest.raises(NotOurFolder, match=named):
        Store().publish(tmp_path, SECOND, revision=2)
    assert pages(tmp_path) == FIRST


def test_a_folder_of_another_host_can_be_taken_over_but_not_one_of_another_wiki(tmp_path: Path) -> None:
    publish(tmp_path, State.of(FIRST, 1), marker=replace(MARKER, host="there"), holder="x", known=lambda _: False, new=True)
    Store().publish(tmp_path, SECOND, revision=2, take_over=True)
    assert read_marker(tmp_path) == MARKER
    with pytest.raises(NotOurFolder):
        publish(tmp_path, State.of(FIRST, 3), marker=replace(MARKER, wiki="w9"), holder="x", known=lambda _: False, take_over=True)


def test_a_second_publisher_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    Store().publish(tmp_path, FIRST, new=True)
    with open(tmp_path / ".dreamd/lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        lock.truncate()
        lock.write("dream d42, process 7")
        lock.flush()
        with pytest.raises(FolderBusy, match="dream d42, process 7"):
            Store().publish(tmp_path, SECOND, revision=2)
    assert pages(tmp_path) == FIRST


def test_an_older_revision_never_goes_over_a_newer_one(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, SECOND, revision=8, new=True)
    with pytest.raises(Conflict, match="revision 8"):
        store.publish(tmp_path, FIRST, revision=7)
    assert pages(tmp_path) == SECOND


def has(*paths: str) -> Callable[[str, bytes], bool]:
    """A secret in each of these pages, but in none that only says it is held."""
    return lambda path, data: path in paths and b"is held back" not in data


def test_a_page_that_would_show_a_secret_is_held_alone_and_published_once_it_shows_none(tmp_path: Path) -> None:
    wiki, store = tmp_path / "wiki", Store()
    store.publish(wiki, FIRST, new=True)
    done = store.publish(wiki, SECOND, revision=2, has_secret=has("payments-db.md"))
    stood = pages(wiki)
    assert done.withheld == ("payments-db.md",)
    assert "payments-db.md" not in done.written
    assert stood["payments-db.md"] == FIRST["payments-db.md"]
    assert {path: data for path, data in SECOND.items() if path != "payments-db.md"}.items() <= stood.items()
    assert FIRST.keys() <= stood.keys(), "its old version may link to each of them"
    assert dangling(wiki) == []
    again = store.publish(wiki, SECOND, revision=2, has_secret=has("payments-db.md"))
    assert (again.withheld, again.written) == (("payments-db.md",), ())
    assert withheld(wiki) == ("payments-db.md",), "who asks later knows it from the folder"
    assert store.publish(wiki, SECOND, revision=2).withheld == ()
    assert withheld(wiki) == ()
    assert pages(wiki) == SECOND


def test_in_the_place_of_a_new_page_with_a_secret_stands_that_it_is_held_so_that_no_link_is_dead(tmp_path: Path) -> None:
    wiki, store = tmp_path / "wiki", Store()
    done = store.publish(wiki, FIRST, new=True, has_secret=has("payments-db.md", "MEMORY.md"))
    assert set(done.withheld) == {"payments-db.md", "MEMORY.md"}
    assert dangling(wiki) == []
    assert b"is held back" in pages(wiki)["payments-db.md"]
    assert pages(wiki)["MEMORY.md"] != FIRST["MEMORY.md"]
    assert withheld(wiki) == ("MEMORY.md", "payments-db.md")
    again = store.publish(wiki, FIRST, has_secret=has("payments-db.md"))
    assert again.withheld == withheld(wiki) == ("payments-db.md",)
    assert again.edits == ()
    store.publish(wiki, FIRST)
    assert pages(wiki) == FIRST


@pytest.mark.parametrize("at", ["intent", "exchanged:MEMORY.md", "phase:pages", "manifest"])
def test_a_publish_with_a_held_page_that_was_killed_is_ended_by_the_next(tmp_path: Path, at: str) -> None:
    wiki, store = tmp_path / "wiki", Store()

    def kill(step: str) -> None:
        if step == at:
            raise Killed

    with pytest.raises(Killed):
        store.publish(wiki, FIRST, new=True, has_secret=has("payments-db.md"), step=kill)
    done = store.publish(wiki, FIRST, has_secret=has("payments-db.md"))
    assert (done.withheld, done.edits, dangling(wiki)) == (("payments-db.md",), (), [])
    assert store.publish(wiki, FIRST).edits == ()
    assert pages(wiki) == FIRST


def test_no_symbolic_link_is_followed_out_of_the_folder(tmp_path: Path) -> None:
    wiki, outside, store = tmp_path / "wiki", tmp_path / "outside", Store()
    outside.mkdir()
    (outside / "precious.md").write_text("precious")
    store.publish(wiki, FIRST, new=True)
    (wiki / "payments-db.md").unlink()
    (wiki / "payments-db.md").symlink_to(outside / "precious.md")
    for page in (wiki / "archive").iterdir():
        page.unlink()
    (wiki / "archive").rmdir()
    (wiki / "archive").symlink_to(outside)
    done = store.publish(wiki, SECOND, revision=2)
    assert {p.name: p.read_text() for p in outside.iterdir()} == {"precious.md": "precious"}
    assert {path for path, _ in done.held} >= {"payments-db.md", "archive/decisions.md"}
    assert (wiki / "payments-db.md").is_symlink()


def test_a_private_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    wiki, outside = tmp_path / "wiki", tmp_path / "outside"
    wiki.mkdir()
    outside.mkdir()
    (wiki / ".dreamd").symlink_to(outside)
    with pytest.raises(folders.InTheWay, match="symbolic link"):
        Store().publish(wiki, FIRST, new=True)
    assert not any(outside.iterdir())


@pytest.mark.parametrize("path", ["../out.md", "/tmp/out.md", "a/../../out.md", ".dreamd/x.md", "x\0.md"])
def test_a_path_out_of_the_folder_is_refused_before_anything_is_written(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="page"):
        Store().publish(tmp_path / "w", {path: b"x"}, new=True)
    assert not (tmp_path / "w").exists()


def test_a_persons_own_file_at_a_new_pages_path_is_kept(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, {p: d for p, d in FIRST.items() if p != "commands.md"}, new=True)
    (tmp_path / "commands.md").write_text("my own commands")
    done = store.publish(tmp_path, FIRST, revision=2)
    assert [(e.path, e.how) for e in done.edits] == [("commands.md", How.STRANGER)]
    assert (tmp_path / "commands.md").read_text() == "my own commands"


def test_strangers_are_named_and_left_alone(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    (tmp_path / "payments-db (conflicted copy).md").write_text("x")
    assert store.publish(tmp_path, SECOND, revision=2).strangers == ("payments-db (conflicted copy).md",)


def test_journal_pages_stay_unless_they_are_named(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, {**FIRST, "journal/2026-11-12.md": b"# Dream\n"}, new=True)
    store.publish(tmp_path, SECOND, revision=2)
    assert (tmp_path / "journal/2026-11-12.md").exists()
    assert store.publish(tmp_path, SECOND, revision=3, drop={"journal/2026-11-12.md"}).removed == ("journal/2026-11-12.md",)
    assert not (tmp_path / "journal/2026-11-12.md").exists()


def test_a_lost_manifest_is_made_good_from_what_the_store_knows(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    (tmp_path / ".dreamd/manifest.json").write_text("{ torn")
    store.wrote |= {digest(d) for d in FIRST.values()}
    assert store.publish(tmp_path, SECOND, revision=2).edits == ()
    assert {p: (tmp_path / p).read_bytes() for p in SECOND} == SECOND


def test_a_folder_reads_back_as_the_pages_it_holds(tmp_path: Path) -> None:
    Store().publish(tmp_path, FIRST, new=True)
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    assert read_folder(tmp_path) == FIRST


def test_a_page_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store().publish(tmp_path, FIRST, revision=1, new=True)

    def refuse(_: Folder, path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(Folder, "read", refuse)
    with pytest.raises(PublishFailed, match=r"\.md cannot be read: Permission denied"):
        read_folder(tmp_path)


# --- words below the line, and pages nobody has to read ----------------------------------------------------------------------------------


def with_words(data: bytes, words: str) -> bytes:
    return with_own("payments-db.md", data, words)


@pytest.mark.parametrize("by_rename", [True, False])
def test_words_saved_at_any_step_are_on_the_page_after_the_next_publish_at_the_latest(tmp_path: Path, by_rename: bool) -> None:
    names = steps_of(tmp_path, SECOND, FIRST)
    for n, name in enumerate(names):
        folder, store, left = tmp_path / f"s{n}", Store(keeps=True), [n]
        page = folder / "payments-db.md"

        def save(_: str, left: list[int] = left, page: Path = page) -> None:
            left[0] -= 1
            if left[0] == -1:
                target = page.with_name(".swp") if by_rename else page
                target.write_bytes(with_words(page.read_bytes(), "\nMine.\n"))
                os.replace(target, page)

        store.publish(folder, FIRST, new=True)
        first = store.publish(folder, SECOND, revision=2, step=save)
        again = store.publish(folder, SECOND, revision=2)
        assert page.read_bytes() == with_words(SECOND["payments-db.md"], "\nMine.\n"), name
        assert (first.edits, again.edits, again.held) == ((), (), ()), name
        assert dangling(folder) == []


def test_words_on_a_page_that_goes_are_told_before_it_does(tmp_path: Path) -> None:
    store = Store(keeps=True)
    store.publish(tmp_path, FIRST, new=True)

    def save(name: str) -> None:
        if name == "removing:deploying.md":
            page = tmp_path / "deploying.md"
            page.write_bytes(with_own("deploying.md", page.read_bytes(), "\nMine.\n"))

    done = store.publish(tmp_path, SECOND, revision=2, step=save)
    assert store.words == {"deploying.md": ["\nMine.\n"]}
    assert (done.removed, done.edits) == (("deploying.md",), ())


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of pages that were read; files are taken to be settled at once."""
    paths: list[str] = []
    real = Folder.read

    def reading(self: Folder, path: str) -> folders.Found | None:
        if path.endswith(".md") and not path.startswith(".dreamd"):
            paths.append(path)
        return real(self, path)

    monkeypatch.setattr(Folder, "read", reading)
    monkeypatch.setattr(folders, "YOUNG_NS", 0)
    monkeypatch.setattr(publishing, "LEARNED_MIN", 1)
    return paths


def test_a_page_that_looks_as_when_it_was_last_read_is_not_read_again(tmp_path: Path, read: list[str]) -> None:
    store = Store(keeps=True)
    store.publish(tmp_path, FIRST, new=True)
    store.publish(tmp_path, FIRST)
    read.clear()
    assert store.publish(tmp_path, FIRST).written == ()
    assert read == []
    changed = {**FIRST, "payments-db.md": SECOND["payments-db.md"]}
    assert store.publish(tmp_path, changed, revision=2).written == ("payments-db.md",)
    read.clear()
    store.publish(tmp_path, changed, revision=2)
    assert set(read) == {"payments-db.md"}


def test_a_save_of_the_same_size_whose_time_is_put_back_is_seen(tmp_path: Path, read: list[str]) -> None:
    store = Store(keeps=True)
    store.publish(tmp_path, FIRST, new=True)
    store.publish(tmp_path, FIRST)
    page = tmp_path / "payments-db.md"
    before = page.stat()
    page.write_bytes(page.read_bytes().replace(b"5433", b"9999"))
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert page.stat().st_size == before.st_size
    done = store.publish(tmp_path, SECOND, revision=2)
    assert [edit.path for edit in done.edits] == ["payments-db.md"]
    assert b"9999" in page.read_bytes()


def test_a_file_that_may_still_change_without_looking_so_is_read_again(tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "YOUNG_NS", 10**12)
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    store.publish(tmp_path, FIRST)
    read.clear()
    store.publish(tmp_path, FIRST)
    assert set(read) == set(FIRST)


def test_what_the_first_version_wrote_down_is_understood(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    rows = {path: {"published": digest(data), "publishing": None} for path, data in FIRST.items()}
    (tmp_path / ".dreamd/manifest.json").write_text(json.dumps({"revision": 1, "files": rows}))
    done = store.publish(tmp_path, SECOND, revision=2)
    assert done.edits == ()
    assert pages(tmp_path) == SECOND


def test_one_who_waits_for_the_folder_gets_it_when_it_is_free(tmp_path: Path) -> None:
    store = Store()
    store.publish(tmp_path, FIRST, new=True)
    with open(tmp_path / ".dreamd/lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        free = threading.Timer(0.05, fcntl.flock, (lock, fcntl.LOCK_UN))
        free.start()
        assert store.publish(tmp_path, SECOND, revision=2, patience_s=20).written
        free.join()
