"""A file of `.claude/rules` whose front matter names paths is a rule for these paths only, not for the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.notes.instruction_files import Instructed, InstructionFile, read_instructions
from pipelines.notes.instructions import Instructions, told_by


def read(root: Path, **files: str) -> Instructions:
    """The sentences of rule files with these front matters and lines, in order."""
    given = []
    for name, text in files.items():
        path = root / ".claude/rules" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        given.append(InstructionFile(path=path, shown=path.relative_to(root).as_posix()))
    return Instructions(told_by(read_instructions(Instructed(files=tuple(given), within=((root, ""),))).notes))


FRIDAYS = "- Deploys run on Fridays.\n"


@pytest.mark.parametrize(
    "paths",
    [
        'paths:\n  - "packages/api/**/*.ts"\n', "paths: packages/api/**/*.{ts,tsx}\n", "paths:\n  - packages/api/**\n  - packages/api/*.md\n",
        "paths:\n  - **/*.ts\n", "paths: **/*.test.ts\n", 'paths: ["web/**", "docs/**"]\n',
    ],
)  # fmt: skip
def test_a_rule_for_some_paths_says_nothing_to_a_note_of_the_whole_project(tmp_path: Path, paths: str) -> None:
    rules = read(tmp_path, api=f"---\n{paths}---\n{FRIDAYS}")
    assert rules.against("Never deploy on Fridays.") is None
    assert not rules.covers("Deploys run on Fridays.")


def test_it_stands_beside_a_note_of_its_folder_and_its_paths_are_shown(tmp_path: Path) -> None:
    rules = read(tmp_path, api=f'---\npaths:\n  - "packages/api/**/*.ts"\n---\n{FRIDAYS}')
    found = rules.against("In packages/api never deploy on Fridays.")
    assert found is not None
    assert found.place == ".claude/rules/api.md line 5 (for packages/api/**/*.ts)"
    assert rules.covers("In packages/api deploys run on Fridays.")


@pytest.mark.parametrize("front", ["", "---\ntitle: Deploys\n---\n", "---\npaths: '**'\n---\n", "---\npaths: [src/**, '**/*']\n---\n", "---\npaths:\n---\n"])
def test_a_rule_without_paths_or_for_all_of_them_is_one_of_the_whole_project(tmp_path: Path, front: str) -> None:
    found = read(tmp_path, all=front + FRIDAYS).against("Never deploy on Fridays.")
    assert found is not None
    assert "(for" not in found.place


def test_rules_clash_only_within_the_same_paths(tmp_path: Path) -> None:
    web, api = "---\npaths: web/**\n---\n", "---\npaths: api/**\n---\n"
    assert not list(read(tmp_path, a=web + FRIDAYS, b=api + "- Never deploy on Fridays.\n", c="- Never deploy on Fridays.\n").clashes())
    (clash,) = read(tmp_path, a=web + FRIDAYS, b=web + "- Never deploy on Fridays.\n").clashes()
    assert (clash.one.paths, clash.other.paths) == ("web/**", "web/**")


def test_what_a_rule_for_paths_imports_binds_there_alone_and_paths_elsewhere_are_no_scope(tmp_path: Path) -> None:
    (tmp_path / "more.md").write_text(FRIDAYS, encoding="utf-8")
    rules = read(tmp_path, a="---\npaths: web/**\n---\n@../../more.md\n")
    assert rules.against("Never deploy on Fridays.") is None
    assert rules.against("In web never deploy on Fridays.") is not None
    top = tmp_path / "CLAUDE.md"
    top.write_text(f"---\npaths: web/**\n---\n{FRIDAYS}", encoding="utf-8")
    given = Instructed(files=(InstructionFile(path=top, shown="CLAUDE.md"),), within=((tmp_path, ""),))
    assert Instructions(told_by(read_instructions(given).notes)).against("Never deploy on Fridays.") is not None
