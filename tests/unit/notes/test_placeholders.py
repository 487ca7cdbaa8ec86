"""Lines of a template that nobody has filled in are told from lines that say something."""

from __future__ import annotations

import pytest

from pipelines.notes.folder import read_text
from pipelines.notes.placeholders import is_placeholder
from pipelines.stages.analyzer import duplicates


@pytest.mark.parametrize(
    "text",
    [
        "[To be documented based on project analysis]", "TBD", "**TBD**", "TBD.", "Date: [date]", "Owner: <your name>", "{{project_name}}", "- ...", "N/A", "(none yet)",
        "[Feature 1]: [description]", "To be defined", "负责人：待定", "なし", "Status: not yet started", "…", "Name: ____", "[YYYY-MM-DD] - [what changed]",
        "To be written", "To be written once the API is stable.", "To be filled in later", "Owner: to be confirmed with Ana", "To be documented in the next release",
    ],
)  # fmt: skip
def test_what_is_to_be_filled_in_is_a_placeholder(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "The owner is [Ana].", "Run `make lint` before you push.", "The port is 5433.", "To be or not to be is the question of the [play]", "Cache: none of the tests use it",
        "Nothing may be deployed on Fridays", "[x] deploy the API", "Use <b> for bold", "None of the servers is in Europe.", "端口是 5433。", "Pending: the API of the bank",
        "To be written in Rust", "The new parser: to be written in Rust.", "To be added to the CI image", "To be updated to Node 24",
    ],
)  # fmt: skip
def test_what_says_something_is_none(text: str) -> None:
    assert not is_placeholder(text)


def test_placeholders_and_examples_of_what_to_say_are_no_duplicates() -> None:
    body = (
        '# A\n\n[To be documented later]\n\n## B\n\n[To be documented later]\n\n> Build my living memory now.\n\n- "Build my living memory now."\n\n'
        "- Deploys run on Fridays.\n- Ana reviews.\n- Deploys run on Fridays.\n"
    )
    notes = read_text(body, folder="f", path="a.md")[1]
    by_uid = {n.uid: n for n in notes}
    assert [(by_uid[a].text, by_uid[b].text) for a, b in duplicates(notes).items()] == [("Deploys run on Fridays.", "Deploys run on Fridays.")]
