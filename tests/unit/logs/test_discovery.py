"""Which files are looked into, in which order, and what is passed over."""

from __future__ import annotations

import os
from pathlib import Path

from pipelines.logs.discovery import discover


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}\n" + name)


def found(*paths: Path, exclude: tuple[Path, ...] = ()) -> list[str]:
    return [f.relative for f in discover(map(str, paths), exclude=map(str, exclude)).files]


def test_logs_are_found_in_folders_that_begin_with_a_dot_in_stable_order(tmp_path: Path) -> None:
    make(
        tmp_path,
        ".claude/projects/-home-x/b.jsonl",
        ".claude/projects/-home-x/b/subagents/agent-1.jsonl",
        ".codex/sessions/r.jsonl.zst",
        "z.json",
        "a.ndjson.gz",
    )
    assert found(tmp_path) == [
        ".claude/projects/-home-x/b/subagents/agent-1.jsonl", ".claude/projects/-home-x/b.jsonl", ".codex/sessions/r.jsonl.zst", "a.ndjson.gz", "z.json",
    ]  # fmt: skip


def test_other_files_are_passed_over_and_counted_unless_named(tmp_path: Path) -> None:
    make(tmp_path, "a.jsonl", "notes.md", "tool-results/x.txt", "node_modules/p/package.json", ".git/x.json")
    found_here = discover([str(tmp_path)])
    assert [f.relative for f in found_here.files] == ["a.jsonl"]
    assert found_here.skipped == {"not a log by its name": 2, "not a folder of logs": 2}
    (named,) = discover([str(tmp_path / "notes.md")]).files
    assert (named.relative, named.named) == ("notes.md", True)


def test_a_wiki_and_the_data_folder_are_never_read(tmp_path: Path) -> None:
    make(tmp_path, "wiki/.dreamd/manifest.json", "wiki/old.jsonl", "data/dreamd/x.jsonl", "logs/a.jsonl")
    assert found(tmp_path, exclude=(tmp_path / "data" / "dreamd",)) == ["logs/a.jsonl"]


def test_links_are_followed_once_and_circles_end(tmp_path: Path) -> None:
    make(tmp_path, "logs/a.jsonl", "elsewhere/b.jsonl")
    (tmp_path / "logs/self").symlink_to(tmp_path / "logs")
    (tmp_path / "logs/up").symlink_to(tmp_path)
    (tmp_path / "logs/again.jsonl").symlink_to("a.jsonl")
    (tmp_path / "logs/broken.jsonl").symlink_to("nowhere")
    (tmp_path / "logs/loop.jsonl").symlink_to("loop.jsonl")
    os.link(tmp_path / "logs/a.jsonl", tmp_path / "logs/hard.jsonl")
    seen = discover([str(tmp_path / "logs")])
    assert [f.relative for f in seen.files] == ["a.jsonl", "up/elsewhere/b.jsonl"]
    assert seen.skipped["the same file again"] == 2
    assert seen.skipped["No such file or directory"] == 1
    assert seen.skipped["Too many levels of symbolic links"] == 1


def test_a_path_named_twice_is_read_once_and_a_missing_one_is_named(tmp_path: Path) -> None:
    make(tmp_path, "a.jsonl")
    seen = discover([str(tmp_path), str(tmp_path / "a.jsonl"), str(tmp_path / "none"), "with\0nul"])
    assert [f.relative for f in seen.files] == ["a.jsonl"]
    assert [(os.path.basename(m.path), m.why) for m in seen.missing] == [("none", "No such file or directory"), ("with\0nul", "embedded null byte")]


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    seen = discover([str(tmp_path)])
    assert (seen.files, seen.skipped) == ((), {"not a file": 1})


def test_the_name_of_a_compressed_log_is_that_of_the_plain_one(tmp_path: Path) -> None:
    make(tmp_path, "x/rollout.jsonl.zst")
    (file,) = discover([str(tmp_path)]).files
    assert (file.name, file.relative) == ("rollout.jsonl", "x/rollout.jsonl.zst")


def test_a_path_deeper_than_pythons_stack_is_walked(tmp_path: Path) -> None:
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(700):
            os.mkdir("d")
            os.chdir("d")
        Path("a.jsonl").write_text("{}")
    finally:
        os.chdir(here)
    (file,) = discover([str(tmp_path)]).files
    assert file.relative == "d/" * 700 + "a.jsonl"
