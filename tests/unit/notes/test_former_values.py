"""Ways a sentence says that a value is over, and what was there before it; every verdict was written down before the rules were."""

from __future__ import annotations

import pytest

from pipelines.model import Relation
from pipelines.notes.relate import relate
from pipelines.text.statement import parse


def between(older: str, newer: str) -> Relation:
    return relate(parse(older), parse(newer)).relation


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # the former value in brackets
        ("The gateway port is 7001.", "The gateway port is 7002 (formerly 7001)."),
        ("Log retention is 30 days.", "Log retention is 90 days (was 30 days)."),
        ("Log retention is 30 days.", "Log retention is 90 days (previously 30)."),
        ("The owner of billing is Ledger.", "The owner of billing is Treasury (previously Ledger)."),
        ("网关端口是7001。", "网关端口是7002（原为7001）。"),
        ("网关端口是7001。", "网关端口是7002（之前是7001）。"),
        # a change told by its verb, in the passive
        ("The monthly budget is 500 euros.", "The monthly budget was raised from 500 to 800 euros."),
        ("The monthly budget is 500 euros.", "The monthly budget has been updated from 500 to 800 euros."),
        ("The cache TTL is 10 minutes.", "The cache TTL was lowered to 5 minutes."),
        ("The cache TTL is 10 minutes.", "We lowered the cache TTL to 5 minutes."),
        ("The upload limit is 10 MB.", "The upload limit has been increased to 25 MB."),
        ("The standup is at 9:30.", "The standup has been pushed back to 10:00."),
        ("The review meeting is on 30 January.", "The review meeting was postponed to 15 February."),
        ("The repo is called dock-api.", "We renamed the repo from dock-api to dock-core."),
        # the same words, marked as over
        ("- Login plan — plan 12; sessions and tokens", "- Login plan — plan 12; sessions and tokens (DONE)"),
        ("- Login plan — plan 12; sessions and tokens", "- Login plan — plan 12; sessions and tokens — SUPERSEDED by plan 14"),
        ("Flaky retry test: the clock of the runner drifts", "Flaky retry test: the clock of the runner drifts (resolved 2026-06)"),
    ],
)
def test_what_is_told_to_be_over_is_an_update(older: str, newer: str) -> None:
    assert between(older, newer) is Relation.UPDATE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The gateway port is 7003.", "The ledger port is 7002 (formerly 7003)."),  # of another thing
        ("The trip is on Friday.", "The trip is on Friday (was fun)."),
        ("The monthly budget is 500 euros.", "The yearly budget was raised from 500 to 800 euros."),
        ("The cache TTL is 10 minutes.", "The session TTL was lowered to 5 minutes."),
        ("The upload limit on staging is 10 MB.", "The upload limit on production has been increased to 25 MB."),
        ("Login plan: sessions and tokens", "Login plan: sessions and tokens (draft)"),
        ("Login plan: sessions and tokens (DONE)", "Login plan: sessions and tokens"),  # says less, takes nothing back
        ("Login plan: sessions and tokens", "Logout plan: sessions and tokens (DONE)"),
        ("Login", "Login (DONE)"),  # one word is no statement
    ],
)
def test_what_is_over_of_another_thing_or_only_said_beside_it_is_no_update(older: str, newer: str) -> None:
    assert between(older, newer) is Relation.OTHER


def test_the_value_in_brackets_is_told_apart_from_the_one_that_holds() -> None:
    read = parse("The gateway port is 7002 (formerly 7001).")
    assert (read.subject, read.attribute, read.value, read.old_value) == ("gateway", "port", "7002", "7001")
    assert parse("The gateway port is 7002 (behind the proxy).").old_value is None
    assert parse("The gateway is slow (was it restarted?).").old_value is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The viewer is served at /viewer.html.", "The viewer is served at /object-viewer.html."),
        ("The launch is on 3 May.", "The launch is on 17 May."),
    ],
)
def test_two_places_or_two_days_of_one_thing_contradict_each_other(older: str, newer: str) -> None:
    assert between(older, newer) is Relation.CONTRADICTION
    assert between(newer, older) is Relation.CONTRADICTION
