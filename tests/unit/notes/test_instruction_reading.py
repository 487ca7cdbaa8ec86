"""What instruction files say beside notes: covered, contradicted or neither; and which files are read at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.notes import instruction_files
from pipelines.notes.folder import read_text
from pipelines.notes.instructed import BELOW
from pipelines.notes.instruction_files import Instructed, InstructionFile, read_instructions
from pipelines.notes.instructions import Instructions, told_by


def files_saying(*lines: str) -> Instructions:
    return Instructions(told_by(read_text("".join(f"- {x}\n" for x in lines), folder="f", path="CLAUDE.md")[1]))


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("Run `make lint` before pushing.", "Always run make lint before you push."),
        ("The staging database listens on port 5433.", "The staging database listens on port 5433, not 5432."),
        ("Run the linter with ruff.", "We use ruff as linter"),
        ("Never push to main.", "never push to main"),
    ],
)
def test_what_a_file_says_in_other_words_is_covered(file: str, note: str) -> None:
    said = files_saying("Write in English.", file)
    assert said.covers(note)
    assert said.against(note) is None


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("Deploys run on Fridays.", "We never deploy on Fridays."),
        ("The API listens on port 8080.", "The API listens on port 9090."),
        ("Never push to main.", "Push to main."),
        ("The package manager is yarn.", "We use pnpm instead of yarn."),
        ("Use pnpm instead of yarn.", "The package manager is yarn."),
        ("Releases happen on Mondays.", "Releases are on Tuesdays."),
        ("The default log level is warn.", "The default log level is debug."),
        ("The default branch is `master`.", "The default branch is trunk."),
        ("The build mode is release.", "The build mode is debug."),
        ("The staging port is 9090.", "The staging port is 8080."),
        ("Always use pnpm, never npm.", "Use npm for installs."),
        ("Use `pnpm`, not `npm`.", "Run `npm ci` on a build machine."),
        ("Dependencies are installed with npm.", "Always use pnpm rather than npm."),
    ],
)
def test_what_cannot_hold_beside_a_file_is_against_it(file: str, note: str) -> None:
    said = files_saying("Write in English.", file)
    found = said.against(note)
    assert found is not None
    assert (found.place, found.words) == ("CLAUDE.md line 2", file)
    assert not said.covers(note)


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("Never push to main.", "Push to main when Ana agrees."),
        ("Never push to main.", "Never force push to main."),
        ("The API listens on port 8080.", "The web client listens on port 9090."),
        ("Run tests before you commit.", "Never run tests in parallel."),
        ("Use port 8080.", "The port is 9090."),
        ("The port is 8080.", "The port is 9090."),
        ("The default log level is warn.", "The default log level is configurable."),
        ("The default branch is main.", "The default branch is protected."),
        ("The release branch is stable.", "The default branch is main."),
        ("The default log level is warn.", "The staging log level is debug."),
        ("The release manager is Ana.", "The release manager is away."),
        ("Always use pnpm, never npm.", "Use npm if pnpm is missing."),
        ("Always use pnpm, never npm.", "Use npm-check to find old packages."),
        ("Always use pnpm, never npm.", "Do not use npm for installs."),
        ("Plan: plans/012-animation.md", "Plan: plans/004-geometry.md"),
        ("Deploy on Mondays.", "Deploy notes are kept for a month."),
    ],
)
def test_exceptions_other_things_and_what_nobody_can_tell_are_neither(file: str, note: str) -> None:
    said = files_saying(file)
    assert said.against(note) is None
    assert not said.covers(note)


def test_a_note_is_covered_only_where_every_sentence_of_it_is() -> None:
    said = files_saying("Run make lint before you push.")
    assert not said.covers("Run make lint before you push. Then tell Ana of it.")


def test_two_lines_of_the_files_themselves_clash_once() -> None:
    said = files_saying("Always deploy on Fridays.", "Ana reviews deploys.", "Never deploy on Fridays.")
    assert [(c.one.line, c.other.line) for c in said.clashes()] == [(1, 3)]


# --- files -------------------------------------------------------------------------------------------------------------------------------


def given(root: Path, name: str = "CLAUDE.md") -> Instructed:
    return Instructed(files=(InstructionFile(path=root / name, shown=name),), within=((root, ""),), home=root / "home")


def test_a_circle_of_imports_reads_each_file_once_and_a_chain_ends_at_its_depth(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("@a.md\n\nOne.\n", encoding="utf-8")
    (tmp_path / "a.md").write_text("@CLAUDE.md @a.md @c1.md\n", encoding="utf-8")
    for n in range(1, 9):
        (tmp_path / f"c{n}.md").write_text(f"@c{n + 1}.md\n", encoding="utf-8")
    read = read_instructions(given(tmp_path))
    assert [f.shown for f in read.files] == ["CLAUDE.md", "a.md", "c1.md", "c2.md", "c3.md", "c4.md"]
    assert [(p.path, "files deep" in p.why) for p in read.problems] == [("c4.md", True)]


def test_what_is_too_large_no_text_or_outside_is_named_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    (root / "home").mkdir(parents=True)
    monkeypatch.setattr(instruction_files, "BYTES_MAX", 100)
    (root / "CLAUDE.md").write_text("@big.md @bad.md @nul.md @../out.md @~/mine.md @loop.md @gone.md @types/node\n", encoding="utf-8")
    (root / "big.md").write_text("x" * 101, encoding="utf-8")
    (root / "bad.md").write_bytes(b"\xff\xfe")
    (root / "nul.md").write_bytes(b"a\0b")
    (root / "loop.md").symlink_to(root / "loop.md")
    (root / "home/mine.md").write_text("Mine.\n", encoding="utf-8")
    (tmp_path / "out.md").write_text("Out.\n", encoding="utf-8")
    read = read_instructions(given(root))
    assert [n.text for n in read.notes if "@" not in n.text] == ["Mine."]
    assert [(p.path, p.why.split(":")[0]) for p in read.problems] == [
        ("big.md", "larger than 100 bytes"), ("bad.md", "not valid UTF-8"), ("nul.md", "no text"), ("../out.md", "leads out of the project")
    ]  # fmt: skip


def test_what_stands_in_code_or_a_comment_is_no_import_and_dreamds_own_block_says_nothing(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text("No.\n", encoding="utf-8")
    brief = '<dreamd-brief scope="x">\n- Never deploy.\n</dreamd-brief>\n'
    (tmp_path / "CLAUDE.md").write_text(f"`@a.md`\n\n```\n@b.md\n```\n\n<!-- @c.md -->\n\n{brief}\nYes.\n", encoding="utf-8")
    read = read_instructions(given(tmp_path))
    assert [f.shown for f in read.files] == ["CLAUDE.md"]
    assert "deploy" not in repr(read.notes)
    assert "Yes." in {n.text for n in read.notes}


# --- folders -----------------------------------------------------------------------------------------------------------------------------


def bound(folder: str, *lines: str) -> Instructions:
    notes = read_text("".join(f"- {x}\n" for x in lines), folder="f", path=f"{folder}/CLAUDE.md")[1]
    return Instructions(told_by(replace(n, front_matter={BELOW: folder}) for n in notes))


@pytest.mark.parametrize(
    "note",
    [
        "In packages/api never deploy on Fridays.",
        "Never deploy on Fridays in `api`.",
        "In the api package, never deploy on Fridays.",
        "Never deploy the `packages/api/` on Fridays.",
    ],
)
def test_a_file_of_a_folder_stands_beside_notes_that_name_the_folder(note: str) -> None:
    found = bound("packages/api", "Deploys run on Fridays.").against(note)
    assert found is not None
    assert found.place == "packages/api/CLAUDE.md line 1"


@pytest.mark.parametrize(
    "note",
    ["Never deploy on Fridays.", "The api never deploys on Fridays.", "In packages/apiary never deploy on Fridays.", "In web/api-old never deploy on Fridays."],
)
def test_a_file_of_a_folder_says_nothing_to_other_notes(note: str) -> None:
    assert bound("packages/api", "Deploys run on Fridays.").against(note) is None
    assert not bound("packages/api", note).covers(note) or "api" in note


def test_lines_clash_as_every_pair_of_them_would() -> None:
    lines = (
        "The API port is 8080.", "The billing API port is 9090, not 8080.", "The API port is 9091.", "The mailer port is 25.", "The cache port is 6379.",
        "The retry timeout is 4 s.", "The timeout moved from 4 s to 9 s.", "The default log level is warn.", "The default log level is debug.",
        "Always deploy on Mondays.", "Deploys run on Fridays.", "Use pnpm instead of yarn.", "The package manager is yarn.", "We use bun now.",
        "Never push to main.", "Push to main.", "Answers are in German.", "Write answers in English.",
    )  # fmt: skip
    told = files_saying(*lines)
    pairs = {(a.line, b.line) for n, a in enumerate(told.told) for b in told.told[n + 1 :] if list(Instructions((a, b)).clashes())}
    assert {(c.one.line, c.other.line) for c in told.clashes()} == pairs
    assert len(pairs) >= 6


def test_two_lines_that_forbid_the_same_do_not_clash() -> None:
    assert not list(files_saying("Never deploy on Fridays.", "Nothing may be deployed on Fridays").clashes())


def test_files_of_two_sisters_do_not_clash() -> None:
    one, other = bound("a", "Always deploy on Fridays."), bound("b", "Never deploy on Fridays.")
    assert not list(Instructions((*one.told, *other.told)).clashes())
    top = files_saying("Never deploy on Fridays.")
    assert [(c.one.path, c.other.path) for c in Instructions((*one.told, *top.told)).clashes()] == [("a/CLAUDE.md", "CLAUDE.md")]


# --- denials in other languages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("不要使用 npm。", "使用 npm"),
        ("禁止使用 npm", "我们使用 npm。"),
        ("请勿在周五部署。", "在周五部署"),
        ("永远不要直接推送到 main 分支。", "直接推送到 main 分支。"),
        ("部署在周五进行。", "不要在周五部署。"),
        ("别用 npm。", "我们用 npm。"),
        ("不使用 npm。", "使用 npm"),
        ("不要分别部署前端服务和后端服务。", "分别部署前端服务和后端服务"),
        ("Nunca desplegar los viernes.", "Desplegar los viernes."),
    ],
)
def test_a_denial_in_other_languages_is_against_what_it_denies(file: str, note: str) -> None:
    found = files_saying(file).against(note)
    assert found is not None
    assert not files_saying(file).covers(note)


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("不要使用 npm。", "使用 pnpm"),
        ("不要使用 npm。", "不使用 npm"),
        ("端口是 5433。", "端口是 5433，不是 5432。"),
        ("不要使用 npm。", "如果没有网络,使用 npm。"),
        ("不但支持 npm,而且支持 yarn。", "支持 npm"),
        ("不要在周五部署。", "在周一部署。"),
        ("部署差不多在周五。", "部署在周五。"),
    ],
)
def test_other_values_conditions_and_words_that_only_look_like_denials_are_none(file: str, note: str) -> None:
    assert files_saying(file).against(note) is None


@pytest.mark.parametrize(
    ("file", "note"), [("不要使用 npm。", "禁止使用 npm"), ("端口是 5433。", "端口是 5433，不是 5432。"), ("永远不要在周五部署。", "请勿在周五部署")]
)
def test_chinese_denials_of_the_same_are_covered(file: str, note: str) -> None:
    assert files_saying(file).covers(note)


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("提交信息用英文，不要用中文。", "提交信息用英文"),
        ("使用 pnpm，不要使用 npm。", "我们使用 pnpm"),
        ("不要用 npm，用 pnpm。", "用 pnpm"),
        ("Use pnpm, do not use npm.", "Use pnpm"),
        ("Don't deploy on Fridays, deploy on Mondays.", "Deploy on Mondays."),
    ],
)
def test_a_sentence_that_forbids_one_thing_and_orders_another_agrees_with_either(file: str, note: str) -> None:
    assert files_saying(file).against(note) is None
    assert files_saying(file).covers(note)


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("使用 pnpm，不要使用 npm。", "使用 npm"),
        ("提交信息用英文，不要用中文。", "提交信息用中文"),
        ("Use pnpm, do not use npm.", "Use npm"),
        ("Deploy on Mondays.", "Don't deploy on Mondays, deploy on Fridays."),
    ],
)
def test_it_is_against_what_one_of_its_halves_denies(file: str, note: str) -> None:
    assert files_saying(file).against(note) is not None


@pytest.mark.parametrize(
    ("file", "note"),
    [("提交信息用英文，不要用中文。", "回复用中文"), ("Commit messages are in English, do not use French.", "Answers are in French, use French.")],
)
def test_what_one_half_forbids_of_its_subject_is_not_forbidden_of_others(file: str, note: str) -> None:
    assert files_saying(file).against(note) is None


def test_a_file_of_a_folder_that_says_here_speaks_of_that_folder() -> None:
    said = bound("packs-source", "Files here are formatted with 4 spaces.")
    found = said.against("In packs-source files are formatted with 2 spaces.")
    assert found is not None
    assert found.words == "Files here are formatted with 4 spaces."
    assert said.covers("In packs-source files are formatted with 4 spaces.")
    assert said.against("Files are formatted with 2 spaces.") is None
