"""The bell of workers that wait behind Celery. A broker that is away or hangs is told once and left alone for a while: a sweep rings again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from worker.celery_app import WORK, App

PAUSE_S: Final = 5.0
"""How long a broker that did not answer is not asked again, so that no unit waits for it one after the other."""

log = structlog.get_logger("dreamd.bell")


class Doorbell:
    """A `Bell` (`worker.bell`). `clock` gives seconds that only grow. Safe in any thread."""

    def __init__(self, app: App, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._quiet_until = float("-inf")
        self._lock = threading.Lock()

    def __call__(self, jobs: Sequence[int]) -> None:
        """Ring for each job; never fails, and waits no longer than the socket's time limits."""
        if not jobs or self._clock() < self._quiet_until:
            return
        try:
            with self._app.producer_pool.acquire(block=True, timeout=self._patience) as producer:
                for job in jobs:
                    self._ring(producer, job)
        except (RedisError, KombuError, OSError) as error:  # what a broker that is away, hangs or refuses raises
            self._away(error)

    def _ring(self, producer: Any, job: int) -> None:
        self._app.send_task(WORK, (job,), producer=producer, retry=False, ignore_result=True)

    @property
    def _patience(self) -> float:
        return float(self._app.conf.broker_transport_options["socket_timeout"])

    def _away(self, error: Exception) -> None:
        with self._lock:
            self._quiet_until = self._clock() + PAUSE_S
        log.warning("bell_unheard", error=type(error).__name__, meanwhile="workers look for work by themselves", again_in_s=PAUSE_S)
