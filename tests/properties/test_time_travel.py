"""Whatever order the sources arrive in, with forks ahead of their parents and one wild timestamp: one tree, the same intervals, and what was believed is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from pipelines.model import Status
from pipelines.notes.moment import Moment
from tests.contracts.store_kinds import KINDS, Clock, store_of
from tests.dreaming import NOW, SCOPE, OpenedDesk, differences
from tests.redacting import shared_redactor
from tests.writing import START, ClaudeLog

HISTORIES = 4
"""How many a test run looks at, on each database."""
WILD = ("2099-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z")
SAID = "We keep audit logs for {} days."
FILLER = ("Please run the tests.", "Thanks, that is all.", "Look at the dashboards again.")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@dataclass(frozen=True)
class History:
    """Log files by name, and what is true from when on: (moment, value), oldest first."""

    files: tuple[tuple[str, str], ...]
    true: tuple[tuple[datetime, str], ...]


def history(dice: Random) -> History:
    """Three to five sessions that each say how long logs are kept; of one a copy that goes on elsewhere, and one turn of one with a wild clock."""
    days = sorted(dice.sample(range(20), dice.randint(3, 5)))
    logs, true = [], []
    for n, day in enumerate(days):
        log = ClaudeLog(f"session {n}", at=START + timedelta(days=day))
        for line in dice.sample(FILLER, 2):
            log.user(line)
        value = dice.choice([v for v in ("30", "60", "90") if not true or v != true[-1][1]])
        true.append((log.at, value))
        logs.append(log.user(SAID.format(value)).user("And go on."))
    if dice.random() < 0.5:
        wild = dice.choice(logs)
        wild.records[dice.choice((0, 1, 3))]["timestamp"] = dice.choice(WILD)  # not the turn that says it: its time is then the one before
    files = [(f"{log.uuid}.jsonl", log.text()) for log in logs]
    if dice.random() < 0.5:
        parent = dice.choice(logs)
        fork = ClaudeLog(f"fork of {parent.session}", at=parent.at + timedelta(hours=1))
        fork.records = [{**r, "sessionId": fork.uuid} for r in parent.records]
        files.append((f"{fork.uuid}.jsonl", fork.user("Now the fork goes on.").text()))
    return History(tuple(files), tuple(true))


def desk_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> OpenedDesk:
    opened = store_of(kind, request, Clock())
    return OpenedDesk(folder, shared_redactor(request), url="unused", opened=opened, on_server=kind == "postgres")


def dreamt(desk: OpenedDesk, files: Sequence[tuple[str, str]]) -> None:
    for name, text in files:
        (desk.logs / name).write_text(text, encoding="utf-8")
    desk.dream(*(desk.logs / name for name, _ in files))


def believed(desk: OpenedDesk, **moment: datetime) -> list[tuple[object, ...]]:
    with desk.store() as store:
        heads = store.heads_then(SCOPE, Moment(**moment), now=desk.now)
    return [
        (h.version.note, h.version.slot, h.version.statement, h.version.value, h.version.status, h.version.valid_from, h.version.valid_until) for h in heads
    ]


def kept_days(desk: OpenedDesk, at: datetime) -> set[str]:
    """What is said to have been true at a moment of how long logs are kept."""
    return {str(b[2]) for b in believed(desk, as_of=at) if "audit logs" in str(b[2]) and b[4] is Status.CONFIRMED}


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_any_arrival_gives_one_tree_and_the_same_intervals(kind: str, seed: int, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    dice = Random(seed)
    told = history(dice)
    at_once = desk_of(kind, request, tmp_path / "at once")
    dreamt(at_once, told.files)
    tree, versions = at_once.tree(), believed(at_once)
    ends = [*(moment for moment, _ in told.true[1:]), NOW]
    for (begins, value), ended in zip(told.true, ends, strict=True):
        for at in (begins, begins + (ended - begins) / 2, ended - timedelta(seconds=1)):
            assert kept_days(at_once, at) == {SAID.format(value)}, (at, told.true)
    one_by_one = desk_of(kind, request, tmp_path / "one by one")
    late = dice.sample(told.files, len(told.files))
    for n, file in enumerate(late):
        one_by_one.now = NOW + timedelta(days=n)
        dreamt(one_by_one, [file])
    assert differences(tree, one_by_one.tree()) == []
    assert believed(one_by_one) == versions


def test_what_was_believed_before_late_evidence_came_is_still_told(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """systems hole 48: 30 since January, 90 since March; a session of February says 60, and arrives last."""
    said = {"30": 0, "90": 40, "60": 20}
    files = []
    for value, day in said.items():
        log = ClaudeLog(f"says {value}", at=START - timedelta(days=60 - day)).user(SAID.format(value))
        files.append((f"{log.uuid}.jsonl", log.text()))
    begins = {value: START - timedelta(days=60 - day) for value, day in said.items()}
    desk = desk_of(kind, request, tmp_path)
    dreamt(desk, files[:2])
    before, known = believed(desk), desk.now
    desk.now += timedelta(days=1)
    dreamt(desk, files[2:])
    middle = begins["60"] + timedelta(days=5)
    assert kept_days(desk, middle) == {SAID.format("60")}
    assert {b[3]: (b[5], b[6]) for b in believed(desk)} == {
        "30 days": (begins["30"], begins["60"]), "60 days": (begins["60"], begins["90"]), "90 days": (begins["90"], None),
    }  # fmt: skip
    assert believed(desk, known_at=known) == before, "the wrong row was not patched, the right ones were written beside it"
    assert [b[2] for b in believed(desk, as_of=middle, known_at=known)] == [SAID.format("30")]
