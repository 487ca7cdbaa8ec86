"""How well a dream keeps its provider busy, and how much it asks: `python -m tests.benchmarks.asking [USERS] [SESSIONS] [PROCESSES]`.

The sessions of some persons of `tests/worlds` (40 each) are dreamt over with the Claude engine through a fake server on loopback, a process of its own, that
takes 200 ms an answer and answers from gold; 16 calls at a time. Printed: calls a window, calls a note after extraction, how long the dream took and how
much of a processor it took from the first request to the last answer; then the time in which the same windows are asked about by themselves, each answer
stored and paid for, over the ideal (calls × latency / 16). With PROCESSES (2 or more) only the dream is measured, shared among so many as the command shares it.
Targets: ratio at most 1.15, 1 call a window, at most 0.2 calls a note.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from pipelines.engines.claude.client import Provider
from pipelines.logs.redaction import open_redactor
from pipelines.model import Status
from pipelines.ports import Ask, Reply
from pipelines.run import Outcome, dream
from pipelines.run.asking import Desk as AskingDesk
from pipelines.run.asking import Means, Slots
from pipelines.store import Store
from tests.dreaming import HOST, SCOPE, WIKI_ID, Desk
from tests.oracle import server
from tests.oracle.gold import Session, of_world, save
from tests.oracle.oracle import Oracle
from tests.oracle.server import serving
from tests.oracle.service import Seen, Service
from tests.oracle.tokens import Tokens
from tests.oracle.wire import Said, message_json
from tests.scripted import BUDGET, ModelDesk, asking
from tests.worlds.generator import user
from worker import wiring
from worker.hands import helped
from worker.settings import load

LATENCY_S, SLOTS = 0.2, 16
NOW = datetime(2027, 1, 1, tzinfo=UTC)
TOKENS = 2_000
"""Of a session: one window."""


def sessions(users: int, each: int) -> tuple[Session, ...]:
    """The sessions of some persons."""
    return tuple(session for n in range(users) for session in of_world(user(7, n, sessions=each, tokens=TOKENS), SCOPE))


class Cheap(Service):
    """A server that counts no tokens: in Python that takes longer than an answer of a model may be late for."""

    def _booked(self, seen: Seen, said: Said, *, batch: bool) -> tuple[Seen, dict[str, Any]]:
        used = Tokens(fresh=len(json.dumps(seen.body)) // 4, output=len(said.text) // 4, written=0, read=0)
        return replace(seen, usage=used, stop=said.stop, text=said.text), message_json(said, seen.body, used, seen.number)


def serve(told: Connection, found: Sequence[Session]) -> None:
    """The server: tells its address, then on request what it saw (stage, began, ended) until it is told to end."""
    server.Service = Cheap  # type: ignore[misc]
    with serving(Oracle(found), latency_s=LATENCY_S) as service:
        told.send(service.base_url)
        while told.recv() == "seen":
            told.send([(_stage(seen.body), seen.began, seen.ended) for seen in service.log if seen.what == "message"])


def _stage(body: object) -> str:
    """Which question a request asks, by the list its reply holds."""
    schema = body["output_config"]["format"]["schema"]["properties"]  # type: ignore[index]
    return {"items": "extract", "verdicts": "check", "pairs": "relate", "answers": "answer", "insights": "insight"}[next(iter(schema))]


def main(users: int = 8, each: int = 40, processes: int = 1) -> None:
    """Dream once and print."""
    found = sessions(users, each)
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.Process(target=serve, args=(theirs, found), daemon=True)
    child.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            if processes > 1:
                _measure_shared(Path(folder), ours, found, processes)
            else:
                _measure(Path(folder), ours, found)
    finally:
        ours.send("end")
        child.join(10)


@dataclass
class Kept:
    """A provider that keeps what it was asked."""

    provider: Provider
    asks: list[Ask] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)

    def create(self, ask: Ask, *, timeout_s: float) -> Reply:
        """One call; `worked` is how much of a processor this process had taken before it and after."""
        self.asks.append(ask)
        self.worked.append(time.process_time())
        try:
            return self.provider.create(ask, timeout_s=timeout_s)
        finally:
            self.worked.append(time.process_time())


def _measure(root: Path, told: Connection, found: Sequence[Session]) -> None:
    kept = Kept(Provider(base_url=told.recv(), key="k", local=True))
    kept.provider.count_tokens({"model": "claude-haiku-5-5", "messages": [{"role": "user", "content": "hello"}]})  # the SDK is loaded by the first call
    desk = ModelDesk(root / "dream", open_redactor(None), now=NOW, messages=kept, slots=SLOTS, units=4)
    save(found, desk.logs)
    began = time.perf_counter()
    done = desk.dream(**asking(budget_uusd=1_000 * BUDGET))
    whole = time.perf_counter() - began
    told.send("seen")
    with desk.store() as store:
        _tell(done, whole, store, told.recv(), len(found), max(kept.worked) - min(kept.worked))
    _desk_alone(root, [ask for ask in kept.asks if ask.stage == "extract"], kept.provider)
    kept.provider.close()


def _measure_shared(root: Path, told: Connection, found: Sequence[Session], processes: int) -> None:
    """The dream alone, by the parts the command makes of settings."""
    desk = Desk(root / "dream", open_redactor(None), now=NOW)
    save(found, desk.logs)
    claude = {"base_url": told.recv(), "paid": "true", "api_key": "k", "budget_usd": "1000", "calls_at_once": str(SLOTS), "batch": "never"}
    settings = {"ENGINE": "claude", "PROCESSES": str(processes), **{f"CLAUDE__{name.upper()}": value for name, value in claude.items()}}
    os.environ.update({f"DREAMD_{name}": value for name, value in settings.items()})
    loaded = load(None)
    place = wiring.Place(wiki=desk.wiki, wiki_id=WIKI_ID, store_url=desk.url, archive=desk.data / "archive", private=desk.data, host=HOST)
    request = desk.request(engine="claude", budget_uusd=1_000 * BUDGET)
    with wiring.open_parts(place, loaded, scope=SCOPE) as alone, helped(alone, place, loaded, scope=SCOPE, params=request.params) as parts:
        cast(Provider, parts.means.messages).get_ready()  # type: ignore[union-attr]
        began, worked = time.perf_counter(), time.process_time()
        done = dream(parts, request)
        whole, worked = time.perf_counter() - began, time.process_time() - worked
        told.send("seen")
        _tell(done, whole, parts.store, told.recv(), len(found), worked)


def _tell(done: Outcome, whole: float, store: Store, seen: Sequence[tuple[str, float, float]], sessions: int, work: float) -> None:
    """Print what a dream took and asked; `work` is how much of a processor this process took."""
    notes = len({h.version.note for h in store.heads(SCOPE) if h.version.status is not Status.RETRACTED})
    stages = Counter(stage for stage, _, _ in seen)
    later = len(seen) - stages["extract"]
    print(f"{sessions} sessions, {len(seen)} calls {dict(stages)}, {notes} notes; unread {dict(done.report.unread)}, errors {len(done.errors)}")
    print(f"{stages['extract'] / sessions:.3f} calls a window; {later / max(1, notes):.3f} calls a note after extraction (target 0.2)")
    first, ideal = min(b for _, b, _ in seen), _ideal(len(seen))
    span = max(e for _, _, e in seen) - first
    print(f"dream: {whole:.2f} s, of which {span:.2f} s from the first request to the last answer; ideal {ideal:.2f} s, ratio {span / ideal:.2f}; "
          f"in it {work:.2f} s of a processor, {1000 * work / sessions:.1f} ms a session")  # fmt: skip
    for stage in stages:
        times = [(b - first, e - first) for name, b, e in seen if name == stage]
        print(f"  {stage:8} {len(times):5} calls, from {min(b for b, _ in times):6.2f} s to {max(e for _, e in times):6.2f} s")


def _desk_alone(root: Path, asks: Sequence[Ask], provider: Provider) -> None:
    """The same windows asked about again, in a store that has no answer yet: what asking costs beside the work of the rules, which wants the processor."""
    with ModelDesk(root / "desk", open_redactor(None), now=NOW).store() as store:
        means = Means(messages=provider, slots=Slots(SLOTS))
        at = AskingDesk(
            store=store, means=means, scope=SCOPE, dream="d", job=1, go_on=lambda: None,
            limits=lambda: means.limits(dream="d", scope=SCOPE, budget_uusd=1_000 * BUDGET, now=NOW),
        )  # fmt: skip
        began = time.perf_counter()
        at.ask(asks)
        took = time.perf_counter() - began
    began = time.perf_counter()
    with ThreadPoolExecutor(SLOTS) as pool:
        tuple(pool.map(lambda ask: provider.create(ask, timeout_s=60), asks))
    bare = time.perf_counter() - began
    ideal = _ideal(len(asks))
    print(f"{len(asks)} calls: {took:.2f} s, ideal {ideal:.2f} s, ratio {took / ideal:.3f} (target 1.15); by a pool that stores nothing {bare / ideal:.3f}")


def _ideal(calls: int) -> float:
    return calls * LATENCY_S / SLOTS


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
