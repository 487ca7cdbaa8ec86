"""Memory folders are read whole: every line a note, with its place, time and links, in any shape agents write them."""

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.model import Kind
from pipelines.notes.folder import read_folder, read_text
from pipelines.notes.front_matter import parse_time, split_front_matter
from pipelines.notes.markdown import blocks, link_targets

TYPED = """---
name: no-fallbacks
description: Let errors surface
type: feedback
---

Do not add fallbacks that hide bad data.

**Why:** they hide bugs.
"""


def test_front_matter_is_read_with_and_without_metadata() -> None:
    flat = split_front_matter("---\ntype: feedback\nmodified: 2026-03-01T10:00:00Z\n---\nbody\n")
    nested = split_front_matter("---\nmetadata:\n  type: feedback\n  modified: 2026-03-01T10:00:00Z\n---\nbody\n")
    assert flat.get("type") == nested.get("type") == "feedback"
    assert parse_time(flat.get("modified")) == parse_time(nested.get("modified")) == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert flat.body == nested.body == "body\n"


def test_unknown_keys_and_version_numbers_keep_their_text() -> None:
    front = split_front_matter("---\nsidebar: left\napp: 1.10\ntags: [a, b]\non: yes\n---\n")
    assert front.values == {"sidebar": "left", "app": "1.10", "tags": "a, b", "on": "yes"}


def test_a_block_yaml_refuses_is_read_line_by_line() -> None:
    front = split_front_matter("---\ntitle: Deploys: how\ntype: project\n---\nx\n")
    assert front.lenient
    assert front.values["title"] == "Deploys: how"
    assert front.values["type"] == "project"


def test_a_rule_in_the_middle_of_a_text_is_no_front_matter() -> None:
    text = "one\n\n---\n\ntwo\n"
    assert split_front_matter(text).body == text


def test_crlf_front_matter_counts_lines_right() -> None:
    front = split_front_matter("---\r\ntype: user\r\n---\r\n- first\r\n")
    assert front.body_line == 4
    assert front.values == {"type": "user"}


def test_every_kind_of_block_is_found_with_its_line_and_heading() -> None:
    body = "# Top\n\nIntro line\nruns on.\n\n## Rules\n- one\n  - nested `x y`\n- [ ] two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nmake all\n```\n"
    got = [(b.shape, b.depth, b.heading, b.line, b.text) for b in blocks(body, first_line=5)]
    assert got == [
        ("heading", 0, "Top", 5, "Top"),
        ("paragraph", 0, "Top", 7, "Intro line runs on."),
        ("heading", 0, "Rules", 10, "Rules"),
        ("bullet", 0, "Rules", 11, "one"),
        ("bullet", 1, "Rules", 12, "nested `x y`"),
        ("bullet", 0, "Rules", 13, "two"),
        ("table", 0, "Rules", 15, "a · b"),
        ("table", 0, "Rules", 17, "1 · 2"),
        ("code", 0, "Rules", 19, "make all"),
    ]


def test_links_are_found_on_tokens_and_not_in_code() -> None:
    body = "see [a](a.md#x) and [[b-c]] and [[d|the d]] but not `[[e]]`\n\n    [f](f.md)\n"
    assert link_targets(body) == ("a.md#x", "b-c", "d")


def test_a_typed_file_gives_rules_under_its_own_title() -> None:
    file, notes = read_text(TYPED, folder="memory", path="feedback_no_fallbacks.md")
    assert file.title == "no-fallbacks"
    assert [n.text for n in notes] == ["Do not add fallbacks that hide bad data.", "Why: they hide bugs."]
    assert {n.kind for n in notes} == {Kind.RULE}
    assert [n.line for n in notes] == [7, 9]


def test_equal_lines_of_a_file_are_both_kept() -> None:
    _, notes = read_text("- same\n- same\n", folder="memory", path="a.md")
    assert len({n.uid for n in notes}) == 2


def test_a_folder_gives_its_index_first_and_marks_it(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "memory"
    (folder / ".hidden").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [Fog](fog.md) — how far one sees\n")
    (folder / "fog.md").write_text("- Fog starts at 800.\n")
    (folder / ".hidden" / "规则.md").write_text("- 端口是 5433\n", encoding="utf-8")
    reading = read_folder(folder, name="memory")
    assert [(n.path, n.index) for n in reading.notes] == [("MEMORY.md", True), (".hidden/规则.md", False), ("fog.md", False)]
    assert reading.notes[0].links == ("fog.md",)
    assert reading.problems == ()


@pytest.mark.parametrize(
    ("front", "committed", "expected", "by"), [("modified: 2026-02-02", True, 2, "modified"), ("x: 1", True, 3, "git"), ("x: 1", False, 4, "mtime")]
)
def test_the_time_is_the_files_own_else_git_else_mtime(tmp_path: Path, front: str, committed: bool, expected: int, by: str) -> None:
    file = tmp_path / "a.md"
    file.write_text(f"---\n{front}\n---\n- x\n")
    stamp = datetime(2026, 4, 4, tzinfo=UTC).timestamp()
    os.utime(file, (stamp, stamp))
    times = {"a.md": datetime(2026, 3, 3, tzinfo=UTC)} if committed else {}
    note = read_folder(tmp_path, name="memory", git_times=lambda _: times).notes[0]
    assert (note.written_at.month if note.written_at else None, note.dated_by) == (expected, by)


def test_a_link_out_of_the_folder_is_named_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("- secret\n")
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "a.md").symlink_to(outside)
    reading = read_folder(folder, name="memory")
    assert reading.notes == ()
    assert [p.path for p in reading.problems] == ["a.md"]


def test_bytes_that_are_no_utf8_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"- caf\xe9\n- fine\n")
    reading = read_folder(tmp_path, name="memory")
    assert [n.text for n in reading.notes] == ["caf\ufffd", "fine"]
    assert [p.path for p in reading.problems] == ["a.md"]


def test_a_single_file_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("- only me\n")
    (tmp_path / "other.md").write_text("- not me\n")
    assert [n.text for n in read_folder(tmp_path / "CLAUDE.md", name="x").notes] == ["only me"]


def test_a_readme_is_an_index_only_when_it_lists_the_files() -> None:
    listing = "# Notes\n\n- [Deploys](deploys.md): how\n- [[tokens]]: where they lie\n- [Docs](https://docs.example.org)\n"
    essay = "# Notes\n\nThis folder holds what we learnt.\n\n- Keep entries short\n- See [deploys](deploys.md) for one\n"
    assert all(n.index for n in read_text(listing, folder="f", path="README.md")[1])
    assert not any(n.index for n in read_text(essay, folder="f", path="README.md")[1])
    assert all(n.index for n in read_text(essay, folder="f", path="MEMORY.md")[1])


def test_a_heading_below_another_says_the_way_to_it() -> None:
    body = "# Plan\n\n## Steps\n\n### Now\n- dig\n\n### Later\n- fill\n\n## Done\n- mark\n"
    got = [(b.heading, b.text) for b in blocks(body) if b.shape == "bullet"]
    assert got == [("Steps › Now", "dig"), ("Steps › Later", "fill"), ("Done", "mark")]


def test_what_cannot_be_looked_at_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("- read all the same\n", encoding="utf-8")
    os.symlink("loop.md", tmp_path / "loop.md")
    name, at = "d" * 200, os.open(tmp_path, os.O_RDONLY)
    for _ in range(os.pathconf(tmp_path, "PC_PATH_MAX") // len(name) + 1):  # deeper than a path can be long: nobody may look there, root neither
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    reading = read_folder(tmp_path, name="memory")
    assert [n.text for n in reading.notes] == ["read all the same"]
    assert sorted(p.why for p in reading.problems) == [os.strerror(errno.ENAMETOOLONG), "a link that leads to itself"]
