"""What a piece of work costs: the best of several runs, since whatever else a machine does only ever makes work slower."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds by the clock, and seconds of processor time of all threads of this process."""

    seconds: float
    processor: float


def best(work: Callable[[], object], runs: int) -> Cost:
    """The least of each over the runs."""
    costs = [once(work) for _ in range(runs)]
    return Cost(min(c.seconds for c in costs), min(c.processor for c in costs))


def once(work: Callable[[], object]) -> Cost:
    """What one run costs."""
    seconds, processor = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - seconds, time.process_time() - processor)
