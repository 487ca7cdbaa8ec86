"""What a limit is worth when eight workers spend at once, and what money costs in time.

    python -m tests.benchmarks.money [--runs 6] [--rounds 40] [--database URL]

First: eight workers spend a limit of 100 in steps of up to 10, with a call of 20 ms between the look at the limit and the booking. Checked before the call
and booked after it, as is often done, against reserved before and settled after. Then: how long it takes to reserve and to settle 16 calls in one transaction each, with
bodies and turns as windows have them, beside sixteen transactions of one.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pipelines.ports import Ask, Reply, Usage
from pipelines.store import Limit, Store, open_store
from tests import servers

WORKERS, LIMIT, CALL_S, AT_ONCE = 8, 100, 0.02, 16
DAY = "2026-11-03"
BODY, TURNS = "word " * 40_000, tuple(f"turn-{n:06}" for n in range(200))
"""A window: 200 kB of text from 200 turns."""


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--runs", type=int, default=6)
    given.add_argument("--rounds", type=int, default=40)
    given.add_argument("--database", default="")
    told = given.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        Path(folder).chmod(0o700)
        server = told.database or stack.enter_context(servers.postgres())
        for url, kind in ((f"sqlite:///{folder}/store.db", "sqlite"), (server, "postgresql")):
            with open_store(url, now=lambda: datetime.now(UTC)) as store:
                race(store, kind, told.runs)
                cost(store, kind, told.rounds)


# --- the limit ---------------------------------------------------------------------------------------------------------------------------------


def race(store: Store, kind: str, runs: int) -> None:
    checked = [_spent(partial(_check_then_call, store, f"c{run}"), store, f"c{run}") for run in range(runs)]
    reserved = [_spent(partial(_reserve, store, f"r{run}"), store, f"r{run}") for run in range(runs)]
    print(f"{kind:11} {WORKERS} workers, limit {LIMIT}: check then call spent {sorted(checked)}, reserved {sorted(reserved)}")
    assert max(reserved) <= LIMIT


def _spent(worker: Callable[[int, threading.Barrier], None], store: Store, dream: str) -> int:
    gate = threading.Barrier(WORKERS)
    threads = [threading.Thread(target=worker, args=(n, gate)) for n in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return store.budget("dream", dream).spent_uusd


def _bound(n: int, step: int) -> int:
    return 4 + (3 * n + 5 * step) % 7


def _check_then_call(store: Store, dream: str, n: int, gate: threading.Barrier) -> None:
    """Ask while the ledger shows less than the limit; book what it cost when it is back."""
    gate.wait()
    step = 0
    while store.budget("dream", dream).spent_uusd < LIMIT:
        _call(store, dream, _ask(f"{dream} {n} {step}", _bound(n, step)), ())
        step += 1


def _reserve(store: Store, dream: str, n: int, gate: threading.Barrier) -> None:
    gate.wait()
    step = 0
    while _call(store, dream, _ask(f"{dream} {n} {step}", _bound(n, step)), (Limit(kind="dream", name=dream, limit_uusd=LIMIT),)):
        step += 1


def _call(store: Store, dream: str, ask: Ask, limits: Sequence[Limit]) -> bool:
    calls = store.reserve("bench", [ask], dream=dream, until_ms=2**60, limits=limits).calls
    for call in calls.values():
        time.sleep(CALL_S)
        store.settle("bench", call, _reply(ask.bound_uusd), ask)
    return bool(calls)


# --- the time ----------------------------------------------------------------------------------------------------------------------------------


def cost(store: Store, kind: str, rounds: int) -> None:
    limits = (
        Limit(kind="dream", name="d", limit_uusd=10**9),
        Limit(kind="day", name=DAY, limit_uusd=10**9),
        Limit(kind="scope", name="bench", limit_uusd=10**9),
    )
    many: list[tuple[float, float]] = []
    single: list[tuple[float, float]] = []
    for n in range(rounds):
        for times, size in ((many, AT_ONCE), (single, 1)):
            asks = [_ask(f"{size} {n} {i}", 9, body=BODY, turns=TURNS) for i in range(AT_ONCE)]
            assert all(ask.digest for ask in asks), "made once, by whoever looks for recorded answers"
            parts = [asks[i : i + size] for i in range(0, AT_ONCE, size)]
            began = time.perf_counter()
            calls = [store.reserve("bench", part, dream="d", until_ms=2**60, limits=limits).calls for part in parts]
            reserved = time.perf_counter()
            for part, got in zip(parts, calls, strict=True):
                store.settle_many("bench", [(call, _reply(7), ask) for call, ask in zip(got.values(), part, strict=True)])
            times.append((reserved - began, time.perf_counter() - reserved))
    for name, times in ((f"{AT_ONCE} at once", many), (f"{AT_ONCE} times 1", single)):
        reserve, settle = (1000 * statistics.median(t[i] for t in times) for i in (0, 1))
        print(f"{kind:11} {name:10}: reserve {reserve:6.1f} ms, settle {settle:6.1f} ms")


def _ask(name: str, bound: int, *, body: str = "", turns: tuple[str, ...] = ()) -> Ask:
    return Ask(stage="extract", name=name, body={"model": "m", "q": name, "text": body}, prompt="p", turns=turns, bound_uusd=bound)


def _reply(cost: int) -> Reply:
    return Reply(text="an answer " * 200, stop="end_turn", model="m", usage=Usage(input=50_000, output=500), cost_uusd=cost)


if __name__ == "__main__":
    main()
