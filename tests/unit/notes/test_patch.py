"""A patch of a person's note file changes the wrong words and not a byte beside them, or says that it cannot."""

from __future__ import annotations

import pytest

from pipelines.notes.patch import Proposal, as_diff, patched

FILE = "---\r\nname: ports\r\n---\r\n# Ports\r\n\r\n- The staging port is 5432.  \r\n- The [API](api.md) listens on *8080*.\r\n- The centre is east of the cave.\r\nno newline at the end"


def proposal(line: int, wrong: str, right: str, *, lines: int = 1) -> Proposal:
    return Proposal(note="n", line=line, lines=lines, wrong=wrong, right=right)


@pytest.mark.parametrize(
    ("line", "wrong", "right", "stands"),
    [
        (6, "The staging port is 5432.", "The staging port is 5433, not 5432.", "- The staging port is 5433.  \r\n"),
        (6, "The staging port is 5432.", "The staging database listens on port 5433, not 5432", "- The staging port is 5433.  \r\n"),
        (8, "The centre is east of the cave.", "The centre is west of the cave.", "- The centre is west of the cave.\r\n"),
        (8, "The centre is east of the cave.", "No, the centre is west of the cave, not east.", "- The centre is west of the cave.\r\n"),
        (7, "The API listens on 8080.", "The API listens on 9090, not 8080.", "- The [API](api.md) listens on *9090*.\r\n"),
    ],
)
def test_one_line_is_changed_and_every_other_byte_stays(line: int, wrong: str, right: str, stands: str) -> None:
    done = patched(FILE, [proposal(line, wrong, right)])
    lines = FILE.splitlines(keepends=True)
    assert done.text == "".join([*lines[: line - 1], stands, *lines[line:]])
    assert (len(done.made), done.left) == (1, ())


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("- Ports are 5432 and 5433. See the docs.\n", "Ports are 5432 and 5433. See the docs.", "The ports are 6000 and 6001."),  # which for which
        ("- The *door* is open.\n", "The door is open.", "The door is locked."),  # markup inside
        ("- The door is open. The cave is finished.\n", "The door is open. The cave is finished.", "The door is locked."),  # says more
        ("- 5432. And 5432.\n", "5432. And 5432.", "The port is 5433, not 5432"),  # which of the two
    ],
)
def test_what_would_be_a_guess_is_left_to_the_person(text: str, wrong: str, right: str) -> None:
    done = patched(text, [proposal(1, wrong, right)])
    assert (done.text, done.made, len(done.left)) == (text, (), 1)


def test_several_lines_of_one_file_are_changed_where_they_stood() -> None:
    text = "- a is 1.\n- b\n  is 2.\n- c is 3.\n"
    done = patched(text, [proposal(4, "c is 3.", "c is 30."), proposal(1, "a is 1.", "a is 10.")])
    assert done.text == "- a is 10.\n- b\n  is 2.\n- c is 30.\n"
    assert as_diff("x.md", text, done.text).splitlines()[:2] == ["--- a/x.md", "+++ b/x.md"]


def test_a_diff_of_a_file_without_a_last_newline_can_be_applied() -> None:
    assert as_diff("x.md", "a", "b").endswith("-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n")


def test_a_line_ends_where_markdown_ends_one_and_nowhere_else() -> None:
    text = "# Ports\r\n\r\n- A form\x0cfeed,\u2028another\x85end.\n- Once it was 5432.\n- The port is 5432.\n"
    wrong = Proposal(note="n", line=5, lines=1, wrong="The port is 5432.", right="The port is 5433.")
    assert patched(text, [wrong]).text == text.replace("- The port is 5432.", "- The port is 5433.")
    told = as_diff("a.md", text, patched(text, [wrong]).text).split("\n")
    assert [line for line in told if line.startswith(("-- ", "+- "))] == ["-- The port is 5432.", "+- The port is 5433."]
    assert " - A form\x0cfeed,\u2028another\x85end." in told


def test_a_line_that_says_something_else_by_now_is_left_alone() -> None:
    text = "- The old port 5432 is free.\n"
    wrong = Proposal(note="n", line=1, lines=1, wrong="The port is 5432.", right="The port is 5433.")
    assert patched(text, [wrong]).text == text
