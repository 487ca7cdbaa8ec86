"""Versions in what people and programs say."""

from __future__ import annotations

import pytest

from pipelines.model import Claim
from pipelines.notes.bounds import SEEN
from tests.unit.engines.talk import Talk


def read(text: str) -> list[tuple[str, str, str | None, str | None]]:
    return [(c.subject, c.attribute, c.value, c.applies_to) for c in Talk().user(text).claims()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("In app 1.3 the export limit is 50 rows.", ("export", "limit", "50 rows", "app 1.3")),
        ("The export limit in app 1.3 is 50 rows.", ("export", "limit", "50 rows", "app 1.3")),
        ("在 app 1.3 里，导出上限是 50。", ("导出", "limit", "50", "app 1.3")),
    ],
)
def test_a_sentence_bound_to_a_version_says_so_and_its_subject_is_free_of_it(text: str, wanted: tuple[str, ...]) -> None:
    assert read(text) == [wanted]


@pytest.mark.parametrize(
    ("text", "thing", "version"),
    [
        ("We upgraded the app from 1.3 to 1.4 today.", "app", "1.4"),
        ("App 1.4 is out.", "App", "1.4"),
        ("The app is now at version 1.4.", "app", "1.4"),
        ("We're on Node 22 now.", "Node", "22"),
        ("app 已升级到 1.4。", "app", "1.4"),
    ],
)
def test_a_sentence_may_say_which_version_is_there_by_now(text: str, thing: str, version: str) -> None:
    assert read(text) == [(thing, "version", version, None)]


@pytest.mark.parametrize(
    "text",
    [
        "The retention limit is 30 days in section 2.1.",
        "The export limit is 50 rows in app 1.3 and newer.",
        "The upload limit is 5 MB for about 1.5 GB of data.",
    ],
)
def test_places_amounts_and_open_ranges_bind_to_nothing(text: str) -> None:
    assert all(applies_to is None for *_, applies_to in read(text))


def shown(talk: Talk) -> list[Claim]:
    return [c for c in talk.claims() if c.attribute == SEEN]


def test_a_program_asked_for_its_version_shows_it_the_last_time_counts() -> None:
    (claim,) = shown(Talk().run("app --version", "app 1.3.2").run("app --version", "app version 1.4.0"))
    assert (claim.subject, claim.value) == ("app", "1.4.0")


def test_a_failed_call_and_a_long_output_show_none() -> None:
    assert shown(Talk().run("app --version", "app 1.4.0: command not found", exit=127)) == []
    assert shown(Talk().run("app --version", "app 1.4.0\n" + "x " * 300)) == []
