"""A log that is read while it is written: whatever part of it came first, and whatever its clock told, the memory is that of one dream over the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from random import Random

import pytest

from pipelines.run.render import differing
from tests.dreaming import SCOPE, Desk, differences
from tests.writing import START, ClaudeLog

DAYS = 24


def told(log: ClaudeLog, number: int) -> ClaudeLog:
    """A rule of its own, an answer, and a fact of its own."""
    return (
        log.user(f"From now on always run suite {number} before you push.")
        .assistant("Understood.")
        .user(f"The service s-{number} listens on port {3000 + number}.")
    )


def clocked(log: ClaudeLog, dice: Random) -> ClaudeLog:
    """The same session by a clock that is set anew before any line."""
    for record in log.records:
        record["timestamp"] = f"{START + timedelta(days=dice.randrange(DAYS), seconds=dice.randrange(3600)):%Y-%m-%dT%H:%M:%S}.000Z"
    return log


def sessions(dice: Random, count: int, *, wild: float) -> dict[str, bytes]:
    """So many sessions by file name; of some the clock jumps."""
    logs = [told(ClaudeLog(f"session {n}", at=START + timedelta(days=dice.randrange(DAYS))), n) for n in range(count)]
    return {f"{log.uuid}.jsonl": (clocked(log, dice) if dice.random() < wild else log).text().encode() for log in logs}


def arrive(desk: Desk, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (desk.logs / name).write_bytes(data)


def grown(desk: Desk, files: Mapping[str, bytes], dice: Random, *, dreams: int) -> None:
    """Dream over ever longer beginnings of the files, cut at any byte, and at last over the whole."""
    there = dict.fromkeys(files, 0)
    for _ in range(dreams):
        for name in dice.sample(sorted(files), dice.randint(1, len(files))):
            there[name] = dice.randint(there[name], len(files[name]))
        arrive(desk, {name: files[name][:size] for name, size in there.items() if size})
        desk.dream(change_share_max=1.0)
    arrive(desk, files)
    desk.dream(change_share_max=1.0)


def test_a_clock_that_jumps_back_does_not_date_a_rule_by_the_part_of_its_log_that_came_first(desks: Callable[[], Desk]) -> None:
    log = told(ClaudeLog("one", at=START + timedelta(days=20)), 1)
    log.records[1]["timestamp"] = "2026-03-02T09:00:20.000Z"  # after two lines either clock may be right; the third tells
    whole, early = log.text(), "".join(ClaudeLog("one", records=log.records[:2]).text())
    at_once, grows = desks(), desks()
    arrive(at_once, {"a.jsonl": whole.encode()})
    at_once.dream()
    for text in (early, whole):
        arrive(grows, {"a.jsonl": text.encode()})
        grows.dream()
    assert differences(at_once.tree(), grows.tree()) == []
    assert "updated: 2026-03-22" in "".join(grows.pages().values())


@pytest.mark.parametrize(("count", "wild", "seed"), [(12, 1.0, 1), (64, 0.0, 2), (64, 0.3, 3), (90, 0.3, 4)])
def test_logs_that_grow_over_some_dreams_fill_a_split_page_as_one_dream_does(desks: Callable[[], Desk], count: int, wild: float, seed: int) -> None:
    dice = Random(seed)
    files = sessions(dice, count, wild=wild)
    at_once, grows = desks(), desks()
    arrive(at_once, files)
    at_once.dream(change_share_max=1.0)
    grown(grows, files, dice, dreams=2)
    assert differences(at_once.tree(), grows.tree()) == []
    with grows.store() as store:
        assert differing(grows.parts(store), SCOPE) == ()
