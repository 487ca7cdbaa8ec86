"""What a job costs beside its work: claim and finish with nothing between, against bare transactions of the same statements.

    python -m tests.benchmarks.jobs [--jobs 300] [--database URL]

The statements of one claim and one finish are recorded and played again on another job of the same stage, over the driver alone: a transaction for the claim,
one for the finish. Both are done in turn in one run. Target: at most twice, on both databases.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import event

from pipelines.store import Job, Store, Unit, open_store
from tests import servers

Said = list[tuple[str, Any]]
MORE = 50
"""Jobs done before anything is measured."""


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--jobs", type=int, default=300)
    given.add_argument("--database", default="")
    told = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        measure(f"sqlite:///{folder}/store.db", "sqlite", told.jobs)
    with contextlib.ExitStack() as stack:
        measure(told.database or stack.enter_context(servers.postgres()), "postgresql", told.jobs)


def measure(url: str, kind: str, jobs: int) -> None:
    with open_store(url, now=lambda: datetime.now(UTC)) as store:
        store.request("bench", request_id="r", params={}, cause="bench")
        store.finish_job(_claim(store), then=[Unit(f"u{n:06}") for n in range(2 * jobs + MORE + 2)])
        for _ in range(MORE):
            store.finish_job(_claim(store))
        job, claimed, finished = _recorded(store)
        ours, bare = [], []
        with contextlib.closing(store.engines.write.raw_connection()) as raw:
            for _ in range(jobs):
                began = time.perf_counter()
                store.finish_job(_claim(store))
                ours.append(time.perf_counter() - began)
                began = time.perf_counter()
                number = _play(raw, kind, claimed, {})
                _play(raw, kind, finished, {job.id: number})
                bare.append(time.perf_counter() - began)
        mine, least = (1000 * statistics.median(x) for x in (ours, bare))
        done = store.dream_state("bench", store.dreams("bench")[0].uid).jobs["extract"]["done"]
        assert done == 2 * jobs + MORE + 1, done
        print(f"{kind:11} claim and finish {mine:.2f} ms, {len(claimed)} + {len(finished)} bare statements {least:.2f} ms, ratio {mine / least:.2f}")


def _claim(store: Store) -> Job:
    job = store.claim("here:1:1:1", ttl_ms=30_000, deadline_ms=600_000)
    assert job is not None
    return job


def _recorded(store: Store) -> tuple[Job, Said, Said]:
    """The statements of a claim and of a finish, without those that begin a transaction."""
    said: Said = []

    def hear(_conn: object, _cursor: object, sql: str, parameters: Any, *_rest: object) -> None:
        said.append((sql, parameters))

    event.listen(store.engines.write, "before_cursor_execute", hear)
    job = _claim(store)
    claimed = [x for x in said if not x[0].startswith("BEGIN")]
    said.clear()
    store.finish_job(job)
    event.remove(store.engines.write, "before_cursor_execute", hear)
    return job, claimed, [x for x in said if not x[0].startswith("BEGIN")]


def _play(raw: Any, kind: str, said: Said, others: dict[int, int]) -> int:
    """Run recorded statements as one transaction, with other jobs' numbers; returns the number of the job that was claimed."""
    cursor, number = raw.cursor(), 0
    if kind == "sqlite":
        cursor.execute("BEGIN IMMEDIATE")
    for sql, parameters in said:
        cursor.execute(sql, _with(parameters, others))
        rows = cursor.fetchall() if cursor.description else []
        if sql.startswith("UPDATE jobs") and rows and not number:
            number = rows[0][0]
    cursor.close()
    raw.driver_connection.commit() if kind == "postgresql" else raw.driver_connection.execute("COMMIT")
    return int(number)


def _with(parameters: Any, others: dict[int, int]) -> Any:
    if isinstance(parameters, dict):
        return {name: others.get(value, value) if isinstance(value, int) else value for name, value in parameters.items()}
    return tuple(others.get(value, value) if isinstance(value, int) else value for value in parameters)


if __name__ == "__main__":
    main()
