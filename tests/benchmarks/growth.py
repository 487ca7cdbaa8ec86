"""What one new session costs by the size of the memory it comes to: `python -m tests.benchmarks.growth [--notes N,M...] [--runs N] [--keep FOLDER]`.

For each size (1,000, 10,000 and 100,000 notes unless told otherwise) a store is made of verified observations, a note each; then dreams each take in one
new session of five rows, two of them new values of notes that stand, and publish. Prints the best of N such dreams, how often the smallest memory's, and
where the time went by step of the dream. Target: on 100,000 notes at most twice what it costs on 1,000.

The memory is made by the same steps as any but for its logs: one is read as it lies in its folder, the turns and claims of the others are made after
those of that one, since taking in and reading a line takes some milliseconds whatever the memory's size. 100,000 notes take some minutes even so: with
`--keep` the memories stay in a folder, and a later call only adds its new sessions to them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from pipelines.engines.local.engine import LocalEngine
from pipelines.logs.archive import FolderArchive
from pipelines.logs.detect import READERS
from pipelines.logs.order import order_session
from pipelines.logs.redaction import open_redactor
from pipelines.model import Quote, Status, Turn, digest
from pipelines.notes.identity import block_keys, group_key
from pipelines.ports import IntakeBatch, Seen, SourceState
from pipelines.run import Params, Parts, Request, dream
from pipelines.run.reading import SessionReading, read_session, save_sessions, unread_sessions
from pipelines.run.sources import take_in
from pipelines.store import GatedClaim, open_store, this_process
from tests.benchmarks.timing import Cost, once

BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
PRODUCER = "probe"
ROWS = 500  # of one log
STEPS = (
    "taken_in", "committed:plan", "committed:extract", "committed:resolve", "committed:analyse", "committed:apply", "ready:render", "committed:render", "published",
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Print a row a size."""
    parser = argparse.ArgumentParser(prog="growth", description=__doc__)
    parser.add_argument("--notes", type=lambda given: [int(n) for n in given.split(",")], default=[1_000, 10_000, 100_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="make the memories here, or take those that are here already")
    asked = parser.parse_args(arguments)
    smallest: Cost | None = None
    for notes in asked.notes:
        with tempfile.TemporaryDirectory(prefix="dreamd-growth-") as passing:
            folder = asked.keep / str(notes) if asked.keep else Path(passing)
            stands, first, cost, steps = _grown(folder, notes, asked.runs)
        smallest = smallest or cost
        print(f"{stands} notes made in {first.seconds:.1f} s; one new session: {cost.seconds:.3f} s, {cost.processor:.3f} s of processor", end="; ")
        print(f"{cost.processor / smallest.processor:.1f} times the smallest; " + ", ".join(f"{name} {steps[name]:.3f}" for name in STEPS))
    return 0


def _grown(folder: Path, notes: int, runs: int) -> tuple[int, Cost, Cost, dict[str, float]]:
    """Confirmed notes that stand, what the first dream cost, the best of the later ones, and their least times by step."""
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    made, before = (folder / "wiki" / "MEMORY.md").exists(), len(list(logs.glob("new*")))
    if not made:
        _log(logs, "log0000000", [(number, 0) for number in range(min(notes, ROWS))], BEGIN)
    with open_store(f"sqlite:///{folder}/store.db", now=_now) as store:
        parts = Parts(
            store=store, archive=FolderArchive(folder / "archive"), redactor=open_redactor(folder), engine=LocalEngine(), readers=READERS, now=_now,
            holder=this_process(),
        )  # fmt: skip
        request = Request(
            scope="local", paths=(str(logs),), wiki=folder / "wiki", wiki_id="0" * 16, host="here",
            params=Params(trusted=frozenset({PRODUCER}), change_share_max=1.0),
        )  # fmt: skip
        first = once(lambda: dream(parts, request) if made else _remember(parts, request, notes))
        costs, steps = [], defaultdict[str, float](lambda: float("inf"))
        for run in range(before + 1, before + runs + 1):
            rows = [(notes + run * 3, 0), (notes + run * 3 + 1, 0), (notes + run * 3 + 2, 0), (run, run), (notes // 2 + run, run)]
            _log(logs, f"new{run:04}", rows, BEGIN + timedelta(days=1000 + run))
            clock = _Clock()
            costs.append(once(clock.watching(lambda watched: dream(replace(parts, step=watched), request))))
            for name, spent in clock.spent.items():
                steps[name] = min(steps[name], spent)
        stands = len(store.heads("local", statuses=[Status.CONFIRMED]))
    return stands, first, Cost(min(c.seconds for c in costs), min(c.processor for c in costs)), steps


def _remember(parts: Parts, request: Request, notes: int) -> None:
    """Take in and read one log, store others made after it until there are so many notes, and dream."""
    store, scope, params = parts.store, request.scope, request.params
    take_in(parts, request)
    (of,) = unread_sessions(store, scope, parts.engine.name, params)
    (info,) = store.sessions(scope)
    turns = store.turns_of(scope, of.session)
    read = read_session(parts.engine, info, turns, of, params)
    save_sessions(store, scope, [read])
    for begin in range(ROWS, notes, ROWS):
        made = _turns_alike(turns, begin, min(notes, begin + ROWS))
        session = made[0].session
        after = SourceState(identity=session, format=info.format, generation=0, offset=1, line=1, head_mac="", tail_mac="", pending=0, carry={})
        seen = Seen(path=f"/gone/{session}.events.jsonl", size=1, mtime_ns=1, inode=begin, identity=session)
        store.commit_intake(scope, IntakeBatch(seen=seen, expected=None, after=after, sessions=(replace(info, uid=session),), turns=made))
        save_sessions(store, scope, [_read_alike(read, turns, made, store.unread(scope, read.engine)[session])])
    dream(parts, request)


def _turns_alike(turns: Sequence[Turn], begin: int, end: int) -> tuple[Turn, ...]:
    """The turns of a log of these things, a later hour's."""
    later = timedelta(hours=begin // ROWS)
    return tuple(
        replace(
            turn, uid=digest("growth", str(thing)), session=f"log{begin:07}", text=_alike(turn.text, n, thing), at=turn.at + later if turn.at else None,
        )
        for n, (turn, thing) in enumerate(zip(turns, range(begin, end), strict=False))
    )  # fmt: skip


def _alike(text: str, thing: int, other: int) -> str:
    """A text about one thing and its value as one about another."""
    return text.replace(_name(thing), _name(other)).replace(_value(thing), _value(other))


def _read_alike(read: SessionReading, turns: Sequence[Turn], made: Sequence[Turn], mark: str) -> SessionReading:
    """The reading of a session that was made after one that was read."""
    numbers = {turn.uid: n for n, turn in enumerate(turns)}
    claims = tuple(
        _claim_alike(gated, n, made[n]) for gated in read.claims if (n := numbers[gated.claim.quotes[0].turn]) < len(made)
    )  # fmt: skip
    return replace(read, of=replace(read.of, session=made[0].session, digest=mark), order=order_session(made), claims=claims)


def _claim_alike(gated: GatedClaim, n: int, turn: Turn) -> GatedClaim:
    thing = int(turn.text.split(" ")[0].rpartition("-")[2])
    old = gated.claim

    def alike(text: str) -> str:
        return _alike(text, n, thing)

    quotes = tuple(Quote(turn=turn.uid, start=(at := turn.text.index(text := alike(q.text))), end=at + len(text), text=text) for q in old.quotes)
    claim = replace(old, subject=alike(old.subject), value=alike(old.value or "") or None, statement=alike(old.statement), quotes=quotes)
    return replace(gated, claim=claim, group=group_key(claim), blocks=tuple(sorted(block_keys(claim))))


class _Clock:
    """Adds up processor seconds by the step that ended them."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(STEPS, 0.0)
        self._at = 0.0

    def watching(self, work: Callable[[Callable[[str], None]], object]) -> Callable[[], None]:
        def run() -> None:
            self._at = time.process_time()
            work(self._step)

        return run

    def _step(self, name: str) -> None:
        if name in self.spent:
            now = time.process_time()
            self.spent[name] += now - self._at
            self._at = now


def _log(folder: Path, name: str, rows: Sequence[tuple[int, int]], at: datetime) -> None:
    """Observations (number of the thing, its value's number), a second apart."""
    with (folder / f"{name}.events.jsonl").open("wb") as file:
        for n, (thing, value) in enumerate(rows):
            row = {
                "topic": _name(thing), "value": _value(thing, value), "status": "verified", "source": PRODUCER,
                "observed_at": (at + timedelta(seconds=n)).isoformat(),
            }  # fmt: skip
            file.write(orjson.dumps(row) + b"\n")


def _name(thing: int) -> str:
    return f"service-{thing // 40}.setting-{thing}"


def _value(thing: int, more: int = 0) -> str:
    return str(100_000 + thing + more)


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
