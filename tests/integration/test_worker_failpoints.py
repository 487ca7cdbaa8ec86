"""kill -9 at points between claim and the last commit: another worker does the rest, and the wiki is the same. All points: the benchmark of the name."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.workers import ROOT

POINTS = ("ready:extract", "applied", "pages_committed")


@pytest.mark.timeout(300)
def test_a_worker_killed_at_a_point_leaves_nothing_half_done() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.failure_points", "--points", ",".join(POINTS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"point"')]
    assert [(row["point"], row["tree"], row["claims"], row["failures"], row["repairs"]) for row in rows] == [(p, "same", 2, 0, 0) for p in POINTS]
