"""A thousand sessions wait, and an engine that takes 200 ms for each: how near real workers come to the ideal, and what memory each of them takes.

    python -m tests.benchmarks.throughput [--sessions 1000] [--engine-ms 200] [--workers 2] [--threads 4] [--kind celery|alone]

Workers are processes over PostgreSQL and Valkey (`alone`: over PostgreSQL, looking by themselves). Ideal: sessions · engine / (workers · threads). The
clock runs from the first unit that is done to the last. Targets: at least 85 %, and less than 200 MB a worker.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from pipelines.logs.redaction import open_redactor
from pipelines.run.runner import ENDED
from tests import servers
from tests.dreaming import SCOPE, Desk
from tests.workers import FAKE, ROOT, ask
from tests.writing import ClaudeLog


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--sessions", type=int, default=1000)
    given.add_argument("--engine-ms", type=int, default=200)
    given.add_argument("--workers", type=int, default=2)
    given.add_argument("--threads", type=int, default=4)
    given.add_argument("--kind", choices=("celery", "alone"), default="celery")
    told = given.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, socket = stack.enter_context(servers.postgres()), stack.enter_context(servers.valkey())
        desk = Desk(folder / "desk", open_redactor(None), url=url)
        for n in range(told.sessions):
            ClaudeLog(f"session {n}").user(f"The number is {n}.").assistant("Noted.").save(desk.logs)
        env = {**os.environ, "DREAMD_DATABASE_URL": url, "DREAMD_LOG_LEVEL": "warning", "PYTHONPATH": str(ROOT), "DREAMD_DATA_DIR": str(folder / "data")}
        if told.kind == "celery":
            env["DREAMD_REDIS_URL"] = f"unix://{socket}"
        command = [*FAKE, "--threads", str(told.threads), "--engine-ms", str(told.engine_ms), "--nothing", "--look-s", "1"]
        workers = [subprocess.Popen(command, env=env, cwd=folder) for _ in range(told.workers)]
        seconds, done, megabytes, cpu_s = measure(desk, workers)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
    ideal = done * told.engine_ms / 1000 / (told.workers * told.threads)
    print(
        f"{told.kind}: {done} sessions by {told.workers} workers of {told.threads} threads in {seconds:.1f} s, ideal {ideal:.1f} s: "
        f"{100 * ideal / seconds:.0f} %; at most {max(megabytes):.0f} MB a worker, {1000 * cpu_s / done:.1f} ms of CPU a session; "
        f"load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


def measure(desk: Desk, workers: list[subprocess.Popen[bytes]]) -> tuple[float, int, list[float], float]:
    """Seconds from the first unit done to the last, units done meanwhile, the most memory each worker had, and the CPU time of all meanwhile."""
    with desk.store() as store:
        dream = ask(desk, store)
        first = begun = cpu_first = cpu_last = 0.0
        at_first = done = 0
        megabytes = [0.0] * len(workers)
        while store.dream(SCOPE, dream).state not in ENDED:
            units = store.dream_state(SCOPE, dream).jobs.get("extract", {})
            now = time.monotonic()
            if units.get("done", 0) and not first:
                first, at_first, cpu_first = now, units["done"], sum(_cpu_s(w.pid) for w in workers)
            if units.get("done", 0) > done:
                done, begun, cpu_last = units["done"], now, sum(_cpu_s(w.pid) for w in workers)
            megabytes = [max(x, _megabytes(w.pid)) for x, w in zip(megabytes, workers, strict=True)]
            time.sleep(0.1)
    return begun - first, done - at_first, megabytes, cpu_last - cpu_first


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main()
