"""A line of a note file whose value moved: the log that says so decides, though the line was right once."""

from __future__ import annotations

import pytest

from pipelines.model import Verdict
from tests.dreaming import Desk
from tests.writing import START, ClaudeLog


def dreamt(desk: Desk, note: str, *said: str) -> tuple[Verdict, str | None]:
    """The verdict on a note after sessions in which these things were said, one a day, and what holds instead."""
    desk.notes.mkdir()
    (desk.notes / "facts.md").write_text(f"# Facts\n\n- {note}\n", encoding="utf-8")
    for day, words in enumerate(said):
        ClaudeLog(f"s{day}", at=START.replace(day=START.day + day)).user(words).assistant("ok").save(desk.logs)
    desk.dream()
    _, finding = desk.verdicts()[note]
    return finding.verdict, finding.corrected


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("The staging port is 8080.", ("The staging port is 8080.", "The staging port is 9090 now.")),
        ("Staging port is 8080", ("Staging runs on port 8080.", "The staging port is 9090 now.")),
    ],
)
def test_a_port_that_moved_is_over_though_only_its_place_names_it(desk: Desk, note: str, said: tuple[str, ...]) -> None:
    assert dreamt(desk, note, *said) == (Verdict.SUPERSEDED, "The staging port is 9090 now.")


@pytest.mark.parametrize("said", ["The production port is 9090 now.", "The port is 9090 now."])
def test_a_port_of_another_place_or_of_none_says_nothing_of_it(desk: Desk, said: str) -> None:
    assert dreamt(desk, "The staging port is 8080.", "The staging port is 8080.", said)[0] is Verdict.UPHELD


def test_what_a_thing_is_now_is_learnt_where_it_corrects_a_note(desk: Desk) -> None:
    said = "Weapon icons are WebP now, not PNG."
    assert dreamt(desk, "Weapon icons are PNG files.", said) == (Verdict.CORRECTED, said)
    with desk.store() as store:
        stands = {(h.version.subject, h.version.value) for h in store.heads("local") if h.version.status.value == "confirmed"}
    assert stands == {("Weapon icons", "WebP")}
