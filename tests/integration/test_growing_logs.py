"""A log that is read while it is written: whatever part of it came first, and whatever its clock told, the memory is that of one dream over the whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from random import Random

import pytest

from pipelines.model import Status
from pipelines.run.rebuild import rebuild_from_logs, rebuild_wiki
from pipelines.run.render import differing
from pipelines.run.ruling import rule
from pipelines.wiki import cutting
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


def suites(desk: Desk) -> list[str]:
    """The rules that stand, by id."""
    with desk.store() as store:
        return sorted({h.version.note for h in store.heads(SCOPE, statuses=[Status.CONFIRMED]) if "run suite" in h.version.statement})


def retract(desk: Desk, notes: Iterable[str]) -> None:
    with desk.store() as store:
        for note in notes:
            rule(store, SCOPE, "retract", note, at=desk.now, hand="command")


def is_derived(desk: Desk) -> bool:
    """Whether the notes are what the logs give, the pages what the notes give, and the folder what the pages are."""
    before = desk.tree()
    shutil.rmtree(desk.wiki)
    with desk.store() as store:
        parts = desk.parts(store)
        told = [*rebuild_from_logs(parts, desk.request()), *differing(parts, SCOPE)]
        rebuild_wiki(parts, desk.request())
    return told == [] and differences(before, desk.tree()) == []


@pytest.mark.parametrize(("wild", "large"), [(0.8, 300), (0.8, 20)])
def test_logs_that_grow_over_some_dreams_fill_a_split_page_as_one_dream_does(
    desks: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch, wild: float, large: int
) -> None:
    """Pages are small here and topics soon large, so that few sessions fill several."""
    for name, limit in (("PAGE_NOTES_MAX", 8), ("LARGE_NOTES", large), ("NEAR", 3)):
        monkeypatch.setattr(cutting, name, limit)
    dice = Random(large)
    files = sessions(dice, 24, wild=wild)
    at_once, grows = desks(), desks()
    arrive(at_once, files)
    at_once.dream(change_share_max=1.0)
    grown(grows, files, dice, dreams=1)
    early, late = (known := suites(grows))[:3], known[-3:]
    retract(grows, early)  # by one who has read half of it
    grown(grows, files, dice, dreams=0)
    assert len([path for path in at_once.pages() if path.startswith("how-we-work")]) > 2
    retract(grows, late)
    retract(at_once, [*late, *early])
    for desk in (at_once, grows):
        desk.dream(change_share_max=1.0)
    assert differences(at_once.tree(), grows.tree()) == []
    assert [is_derived(desk) for desk in (at_once, grows)] == [True, True]
