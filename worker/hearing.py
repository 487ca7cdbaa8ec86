"""Celery's worker inside our process: threads that hear bells and requests. Signals, deadlines, logs and leaving are our own."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, Final

import structlog
from celery import signals
from celery.exceptions import SecurityWarning
from celery.worker import state
from celery.worker.consumer import Consumer

from pipelines.errors import DreamdError
from worker.celery_app import App
from worker.crew import Crew
from worker.process import LOOK_S, Ears, Rounds, code_of, left
from worker.queues import bells_of
from worker.stopping import Stop, stopping
from worker.tasks import BadEnvelope, Receiver, check, register

CHECK_S: Final = 0.5
"""How often Celery's loop is woken to see that it shall end."""

log = structlog.get_logger("dreamd.worker")


def work_behind(app: App, crew: Crew, receiver: Receiver, stop: Stop, *, look_s: float = LOOK_S) -> int:
    """Hear bells and requests until stopped; returns the exit code. A broker that is away is waited for, and work goes on meanwhile."""
    ears = Ears()
    rounds = Rounds(crew=crew, look_s=look_s, ears=ears)
    log.info("worker_started", threads=crew.threads, bell=True)
    with stopping(stop, last=crew.leave, code=lambda: code_of(crew)):
        with rounds.going():
            listen(app, crew, receiver, ears)
            crew.broken = crew.broken or not crew.leaving()  # Celery gave up by itself
            log.info("worker_leaving")
            stop.set()
        return left(crew)


def listen(app: App, crew: Crew, receiver: Receiver, ears: Ears) -> None:
    """Run Celery's worker until the crew leaves, or until Celery gives up."""
    register(app, crew, receiver, ears)
    app.conf.worker_consumer = _consumer(receiver)
    signals.setup_logging.connect(_leave_logging_alone, weak=False)
    state.should_stop = state.should_terminate = None
    worker = _worker(app, crew, receiver)
    threading.Thread(target=_end_with, args=(crew, receiver), name="end-celery", daemon=True).start()
    worker.start()


def _leave_logging_alone(**_: object) -> None:
    """Connected to the signal, this keeps Celery from setting up logs of its own."""


def _end_with(crew: Crew, receiver: Receiver) -> None:
    """Let Celery's loop end when the crew leaves, and before it the requests that wait for the store: Celery waits for all it has begun."""
    pause = threading.Event()
    while not crew.leaving():
        pause.wait(CHECK_S)
    receiver.stop.set()
    state.should_stop = 0


def _worker(app: App, crew: Crew, receiver: Receiver) -> Any:
    """Celery's worker, its handlers of signals left out: ours are in place."""
    host, pid, _ = crew.name.rsplit(":", 2)

    class Worker(app.Worker):  # type: ignore[misc, name-defined]
        def install_platform_tweaks(self, worker: object) -> None:
            """Nothing: `stopping` has the signals."""

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # of root, whom only pickled messages would endanger: none are read
        return Worker(
            hostname=f"dreamd-{pid}@{host}", pool="threads", concurrency=crew.threads, queues=[bells_of(receiver.queue), receiver.queue], quiet=True,
            without_gossip=True, without_mingle=True, without_heartbeat=True, loglevel="WARNING",
        )  # fmt: skip


def _consumer(receiver: Receiver) -> type[Consumer]:
    class Checked(Consumer):  # type: ignore[misc]
        """Looks at every message before Celery does: what Celery cannot read it would log whole, and lose."""

        woken: Any = None

        def create_task_handler(self, *args: Any, **more: Any) -> Callable[[Any], None]:
            if self.woken is not None:
                self.woken.cancel()
            self.woken = self.timer.call_repeatedly(CHECK_S, _nothing)
            received = super().create_task_handler(*args, **more)

            def checked(message: Any) -> None:
                try:
                    check(message.headers, message.content_type, message.body)
                    received(message)
                except BadEnvelope as bad:
                    _keep(receiver, message, str(bad))
                except Exception as error:  # of headers only Celery reads: left unacknowledged they would hold this worker's places for messages, over restarts
                    log.warning("message_unreadable", error=type(error).__name__)
                    _keep(receiver, message, "Celery cannot read its headers")

            return checked

    return Checked


def _nothing() -> None:
    """Only wakes the loop."""


def _keep(receiver: Receiver, message: Any, why: str) -> None:
    """Keep a message and acknowledge it. While the store is away it stays unacknowledged, and comes back."""
    try:
        receiver.keep(message.headers.get("task") if isinstance(message.headers, dict) else None, message.body or "", why)
    except DreamdError as error:
        log.warning("message_not_kept", error=type(error).__name__)
        return
    message.ack()
