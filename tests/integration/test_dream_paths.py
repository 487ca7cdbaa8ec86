"""Nothing a log, a note or an option says leads out of the folder it belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import DreamdError
from tests.dreaming import Desk, footprint, lines_with
from tests.writing import ClaudeLog, conversation, events, memory
from worker.cli import run
from worker.settings import Settings

ESCAPES = {
    "dots": "../../escape",
    "encoded": "%2e%2e%2f%2e%2e%2fescape",
    "absolute": "/escape",
    "windows": "..\\..\\escape",
    "nul": "esc\x00ape",
    "control": "esc\nape\x1b[31m",
    "device": "CON",
    "private": ".dreamd/manifest",
    "hidden": ".escape",
    "long": "e" * 3000,
    "home": "~/escape",
    "slash": "a/b/c",
    "reserved": "MEMORY",
}


def outside(desk: Desk) -> dict[str, tuple[int, str]]:
    """Everything on the desk but what dreamd writes."""
    return {p: v for p, v in footprint(desk.root.parent).items() if not p.startswith(("desk/wiki/", "desk/data/"))}


def inside(desk: Desk) -> list[str]:
    """The wiki's files; none is a link, none differs from another by case alone, none lies deeper than a page may."""
    files = [p for p in desk.wiki.rglob("*") if ".dreamd" not in p.parts]
    assert not any(p.is_symlink() for p in files)
    names = [p.relative_to(desk.wiki).as_posix() for p in files if p.is_file()]
    assert len({n.casefold() for n in names}) == len(names)
    assert all(n.count("/") == 0 or n.split("/")[0] in {"archive", "journal"} for n in names)
    assert all(len(n.encode()) < 250 and n.isprintable() for n in names)
    return names


def an_event_topic(desk: Desk, name: str) -> None:
    rows = [(name, str(n), "verified", f"2026-03-0{n}T08:00:00Z") for n in (1, 2)]
    rows += [(f"{name} {x}", "1", "verified", "2026-03-01T08:00:00Z") for x in "abc"]
    (desk.logs / "seen.events.jsonl").write_text(events(rows))


def a_note_written_in_a_log(desk: Desk, name: str) -> None:
    log = ClaudeLog("notes", cwd=f"/home/ana/{name}", branch=name).user("Keep a note of the port.")
    note = memory(name.replace("\n", " "), "The port is 8080. See [[../../escape]] and [x](../../../escape.md).")
    log.write(f"/home/ana/.claude/projects/-home-ana-harbor/memory/{name}.md", note).save(desk.logs)


def a_title_of_a_note_file(desk: Desk, name: str) -> None:
    quoted = name.replace("\\", "\\\\").replace("\x00", "\\0").replace("\n", "\\n").replace("\x1b", "\\e")
    desk.note("one.md", f'---\nname: "{quoted}"\ndescription: a note\n---\n\nThe port is 8080.\n')


def a_session_id(desk: Desk, name: str) -> None:
    (desk.logs / "talk.jsonl").write_text(conversation(name[:200], [("Ana", "The API listens on port 8080.")]))


@pytest.mark.parametrize("name", ESCAPES.values(), ids=ESCAPES.keys())
def test_no_name_from_a_log_or_a_note_leaves_the_wiki(desk: Desk, name: str) -> None:
    for write in (an_event_topic, a_note_written_in_a_log, a_title_of_a_note_file, a_session_id):
        write(desk, name)
    before = outside(desk)
    told = desk.dream(desk.logs / "seen.events.jsonl", desk.logs)
    assert outside(desk) == before
    assert "MEMORY.md" in inside(desk)
    assert [x for x in lines_with(desk.tree(), "](") if "](.." in x or "](/" in x or "](%2e" in x] == []
    assert (told.report.sessions, told.report.refused) == (3, ())


def test_names_that_differ_by_case_alone_get_pages_of_their_own(desk: Desk) -> None:
    for folder, text in (("a", "The port is 8080."), ("b", "The port is 8081.")):
        desk.note(f"{folder}/{'Ports' if folder == 'a' else 'ports'}.md", memory("Ports" if folder == "a" else "ports", text))
    ClaudeLog("x").user("Hello").save(desk.logs)
    desk.dream()
    inside(desk)
    assert lines_with(desk.pages(), "8080")
    assert lines_with(desk.pages(), "8081")


def test_a_link_in_a_memory_folder_is_not_followed_out_of_it(desk: Desk) -> None:
    (desk.root / "secret.md").write_text("The vault opens on Monday at noon.\n")
    (desk.root / "elsewhere").mkdir()
    (desk.root / "elsewhere" / "deep.md").write_text("The second vault opens on Tuesday.\n")
    desk.note("ports.md", memory("ports", "The port is 8080."))
    (desk.notes / "link.md").symlink_to(desk.root / "secret.md")
    (desk.notes / "folder").symlink_to(desk.root / "elsewhere")
    ClaudeLog("x").user("Hello").save(desk.logs)
    desk.dream()
    assert lines_with(desk.tree(), "vault") == []
    assert lines_with(desk.pages(), "8080")


def test_a_link_that_stands_where_a_page_belongs_is_not_written_through(desk: Desk) -> None:
    target = desk.root / "precious.md"
    target.write_text("precious\n")
    ClaudeLog("x").user("Always run migrations with `make migrate`.").save(desk.logs)
    desk.dream()
    (desk.wiki / "how-we-work.md").unlink()
    (desk.wiki / "how-we-work.md").symlink_to(target)
    ClaudeLog("y").user("Never push to main.").save(desk.logs)
    told = desk.dream()
    assert target.read_text() == "precious\n"
    assert told.published is not None
    assert [p for p, _ in told.published.held] == ["how-we-work.md"]


def test_a_private_folder_that_is_a_link_is_refused(desk: Desk) -> None:
    (desk.root / "elsewhere").mkdir()
    desk.wiki.mkdir()
    (desk.wiki / ".dreamd").symlink_to(desk.root / "elsewhere")
    ClaudeLog("x").user("Always run migrations with `make migrate`.").save(desk.logs)
    with pytest.raises(DreamdError):
        desk.dream()
    assert list((desk.root / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("scope", ["..", "../x", "a/../b", "/abs", "a//b", "a/./b", "a\x00b", "a\nb", ""])
def test_a_scope_is_a_path_of_names(scope: str) -> None:
    with pytest.raises(ValueError, match="scope"):
        Settings(scope=scope)


def test_a_bad_scope_on_the_command_line_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    assert run(["dream", str(tmp_path), "--wiki", str(tmp_path / "wiki"), "--scope", "../x"]) == 2
    assert "--scope" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
