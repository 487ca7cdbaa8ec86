"""The Celery app: a doorbell. What there is to do stands in the database, so a message may be lost, doubled or late.

Two queues below one key prefix: bells for due jobs, and requests of platforms, so that ten thousand bells keep no request waiting.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

import structlog
from celery import Celery
from kombu.transport import redis
from redis import DataError, ResponseError

from worker.queues import CONNECT_S, KEY_PREFIX, SOCKET_S, bells_of, broker_url

WORK: Final = "dreamd.work"
"""The task that is a bell: (job id). The id is a hint; whoever hears it takes the job whose turn it is."""
REQUEST: Final = "dreamd.request"
"""The task a platform sends: (message), a JSON object as `dreamd submit --schema` prints it, to the queue of the setting `queue`."""
VISIBLE_S: Final = 3600
"""After so long a message comes back that a worker fetched and had not begun when it died. A sweep rings again for bells much sooner; a platform that has no
answer sends its request again, and need not wait for this. What runs is acknowledged already, so nothing comes back beside it."""
REST_S: Final = 5.0
"""How long a queue that cannot be read is left alone."""
_NO_ENVELOPE: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError, DataError)
"""What reading something that is no message of Celery raises; it is off the list already."""

log = structlog.get_logger("dreamd.celery")


class Channel(redis.Channel):
    """Passes over what lies in a list and is no message of Celery at all, and waits while a list is none: either would end the whole worker, again after each
    start."""

    _rest_until = float("-inf")

    def _size(self, queue: str) -> int:
        """Asked when a queue is declared."""
        try:
            return super()._size(queue)  # type: ignore[no-any-return, no-untyped-call]
        except ResponseError:  # the key holds something else; reading it says so
            return 0

    def _brpop_start(self, timeout: float | None = None) -> None:
        if monotonic() >= self._rest_until:  # else the loop, which wakes all the time, asks again
            super()._brpop_start(timeout)  # type: ignore[no-untyped-call]

    def _brpop_read(self, **options: Any) -> bool | None:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-any-return, no-untyped-call]
        except _NO_ENVELOPE as error:
            log.warning("message_unreadable", error=type(error).__name__)
        except ResponseError as error:  # WRONGTYPE, as a rule: somebody else's key has the name of a queue
            self._rest_until = monotonic() + REST_S
            self._queue_cycle.rotate(self._queue_cycle.consume(1)[0])  # the other queue is heard meanwhile
            log.error("queue_unreadable", error=type(error).__name__, again_in_s=REST_S)
        return True


class Transport(redis.Transport):
    """Kombu's Redis, with our channel."""

    Channel = Channel


class App(Celery):  # type: ignore[misc]
    """Celery that connects where the settings say, whatever CELERY_BROKER_URL says in the environment."""

    def __init__(self, url: str) -> None:
        super().__init__("dreamd", broker=url, backend=None, set_as_current=False, fixups=[])
        self._url = url

    def connection_for_read(self, url: str | None = None, **more: Any) -> Any:
        """A connection to consume from."""
        connection = super().connection_for_read(url or self._url, **more)
        connection.transport_cls = Transport
        return connection

    def connection_for_write(self, url: str | None = None, **more: Any) -> Any:
        """A connection to publish on."""
        return super().connection_for_write(url or self._url, **more)


def make_app(url: str, *, queue: str) -> App:
    """An app on a Redis (in the spelling of the settings), with early acknowledgement, JSON alone, no results and no prefetching."""
    app = App(broker_url(url))
    app.conf.update(
        task_acks_late=False,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_publish_retry=False,
        task_default_queue=bells_of(queue),
        task_create_missing_queues=True,
        task_routes={REQUEST: {"queue": queue}},
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_enable_remote_control=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_timeout=CONNECT_S,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "socket_timeout": SOCKET_S,
            "socket_connect_timeout": CONNECT_S,
            "visibility_timeout": VISIBLE_S,
            "global_keyprefix": KEY_PREFIX,
            "max_retries": 0,
        },
    )
    return app
