"""How long the one transaction takes that applies a dream of very many changes.

    python -m tests.benchmarks.applied [--changes 100000] [--database URL]

Each change is a new note with one decision; a second dream then changes every tenth. Targets: seconds, on both databases.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from pipelines.store import BeliefChange, open_store
from tests import servers
from tests.contracts.store_builders import SCOPE, belief, start_dream, version


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--changes", type=int, default=100_000)
    given.add_argument("--database", default="")
    told = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        measure(f"sqlite:///{folder}/store.db", "sqlite", told.changes)
    with contextlib.ExitStack() as stack:
        measure(told.database or stack.enter_context(servers.postgres()), "postgresql", told.changes)


def measure(url: str, kind: str, changes: int) -> None:
    with open_store(url, now=lambda: datetime.now(UTC)) as store:
        for name, numbers, statement in (("new", range(changes), "the port is 5433"), ("changed", range(0, changes, 10), "the port is 5434")):
            dream = start_dream(store, SCOPE, holder="here:1:1", cause="bench")
            made: list[BeliefChange] = [belief(f"n{n}", version(f"n{n}", statement)) for n in numbers]
            seen: dict[str, list[int]] = {change.note: [] for change in made}
            for head in store.heads(SCOPE):
                if head.version.note in seen:
                    seen[head.version.note].append(head.token)
            began = time.perf_counter()
            store.stage(dream, made, seen)
            staged, many = time.perf_counter(), len(made)
            del made, seen  # whoever applies a dream holds nothing of what its units staged
            applied = store.apply(dream, max_share=1.0)
            ended = time.perf_counter()
            store.finish_dream(dream, "completed")
            assert applied.inserted == many, applied.inserted
            print(f"{kind:11} {many:7} {name:7} notes: staged in {staged - began:.1f} s, applied in {ended - staged:.1f} s, "
                  f"{many / (ended - staged):.0f} a second", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
