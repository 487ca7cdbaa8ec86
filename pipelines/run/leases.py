"""The units a process has in work, by job and fence: one renewal for all of them, and which must stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pipelines.store import Job, Store

Key = tuple[int, int]
"""Job and fence: after a lease ran out the same unit can be held twice in one process, and only the newer claim counts."""


def key_of(job: Job) -> Key:
    """What a claim is known by."""
    return job.id, job.fence


@dataclass(slots=True)
class Held:
    """Claims being worked on. Safe in any thread."""

    _jobs: dict[Key, Job] = field(default_factory=dict)
    _lost: set[Key] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def jobs(self) -> tuple[Job, ...]:
        """What is held, the lost ones too."""
        with self._lock:
            return tuple(self._jobs.values())

    @contextmanager
    def holding(self, job: Job) -> Iterator[None]:
        """Keep the lease of a unit; an older claim on the same one is told to stop."""
        key = key_of(job)
        with self._lock:
            self._jobs[key] = job
            newest = max(fence for number, fence in self._jobs if number == job.id)
            self._lost |= {(number, fence) for number, fence in self._jobs if number == job.id and fence < newest}
        try:
            yield
        finally:
            with self._lock:
                del self._jobs[key]
                self._lost.discard(key)

    def lost(self, job: Job) -> bool:
        """Whether the lease is over: there is no use in going on."""
        return key_of(job) in self._lost

    def renew(self, store: Store, *, ttl_ms: int) -> None:
        """Keep the leases of what is not lost for another `ttl_ms`, and remember which are over. Raises StoreUnavailable."""
        with self._lock:
            live = {key: job for key, job in self._jobs.items() if key not in self._lost}
        if not live:
            return
        over = store.renew(live.values(), ttl_ms=ttl_ms)
        with self._lock:
            self._lost |= {key for key in live if key[0] in over and key in self._jobs}
