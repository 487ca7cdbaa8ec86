"""What a Celery message may be, checked whole before anything is done, and the two tasks.

`dreamd.work` is a bell. `dreamd.request` carries a platform's message. What is neither is kept as a letter and acknowledged: a field or a version nobody
knows is never half understood, and no message keeps the next one from being heard.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from pipelines.errors import StoreUnusable, Transient
from pipelines.store import Store
from worker.bell import Bell
from worker.celery_app import REQUEST, WORK, App
from worker.crew import Crew, error_of
from worker.messages import FAULTS_MAX, MESSAGE_MAX, RequestAnswer, answer, reply_name, set_aside
from worker.process import Ears
from worker.queues import reply_of
from worker.redis_list import REPLY_KEPT_S
from worker.stopping import Stop

DOOR: Final = "celery"
BELL_VERSION: Final = 1
AGAIN_S, AGAIN_MAX_S = 1.0, 30.0
"""How long a request waits for a store that does not answer or that a person has to mend: twice as long each time, up to a limit."""

log = structlog.get_logger("dreamd.tasks")


class BadEnvelope(Exception):
    """A message that is none of ours; says what is wrong, never a value."""


def check(headers: Mapping[str, Any], content_type: str | None, body: bytes | str) -> None:
    """Raise BadEnvelope unless this is a bell or a request as `register`'s tasks take them."""
    task = headers.get("task") if isinstance(headers, Mapping) else None
    if task not in (WORK, REQUEST):
        raise BadEnvelope("the message names no task of dreamd")
    if content_type != "application/json":
        raise BadEnvelope("only JSON messages are read")
    for name in ("eta", "expires"):
        if headers.get(name) is not None:
            raise BadEnvelope(f"{name}: a message is acted on when it comes; send it when it is due")
    args, kwargs = _arguments(body)
    if task == WORK:
        _check_bell(args, kwargs)
    elif len(args) != 1 or not isinstance(args[0], dict | str):
        raise BadEnvelope("a request has one argument: the message, as a JSON object or its text")
    elif kwargs:
        raise BadEnvelope("a request has no named arguments: everything stands in the message")
    if not isinstance(headers.get("id"), str):
        raise BadEnvelope("id: a message has a text that names it")
    if headers.get("compression") is not None:
        raise BadEnvelope("compression: only plain bodies are read")


def _arguments(body: bytes | str) -> tuple[list[Any], dict[str, Any]]:
    if len(body) > 2 * MESSAGE_MAX:
        raise BadEnvelope(f"a message has at most {MESSAGE_MAX} bytes")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise BadEnvelope("the body is no JSON") from None
    match told:
        case [list() as args, dict() as kwargs, dict() as after] if not any(after.values()):
            return args, kwargs
    raise BadEnvelope("the body is not [arguments, named arguments, {}]; nothing may follow on a task of ours")


def _check_bell(args: list[Any], kwargs: dict[str, Any]) -> None:
    if len(args) != 1 or not isinstance(args[0], int) or isinstance(args[0], bool):
        raise BadEnvelope("a bell has one argument, the number of a job")
    if set(kwargs) - {"version"}:
        raise BadEnvelope(f"a bell of version {BELL_VERSION} has no such field")
    version = kwargs.get("version", BELL_VERSION)
    if version != BELL_VERSION or isinstance(version, bool):
        raise BadEnvelope("a bell of this version is not known here")


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """What answering a platform needs: `params` are those of a plain dream by the settings, `client` pushes the answers."""

    store: Store
    queue: str
    params: Mapping[str, object]
    ring: Bell
    mask: Callable[[str], str]
    client: Any
    stop: Stop

    def answer(self, message: Mapping[str, object] | str) -> RequestAnswer | None:
        """Act on a message, once the store answers; None when the process ends before. One at which our own code fails each time is set aside."""
        raw = as_bytes(message)
        wait_s, faults = AGAIN_S, list[Exception]()
        while True:
            try:
                said = self._act_on(raw, faults)
                break
            except (Transient, StoreUnusable) as error:
                log.warning("request_waits", error=type(error).__name__, again_in_s=wait_s)
            except Exception as error:  # the edge of a message: Celery has acknowledged it, and nobody else would bring it back
                if len(faults) >= FAULTS_MAX:
                    raise
                faults.append(error)
                log.error("request_failed", **error_of(error))
            if self.stop.wait(wait_s):
                return None
            wait_s = min(AGAIN_MAX_S, wait_s * 2)
        self._reply(raw, said)
        return said

    def _act_on(self, raw: bytes, faults: Sequence[Exception]) -> RequestAnswer:
        if len(faults) >= FAULTS_MAX:
            return set_aside(self.store, raw, faults[-1], door=DOOR, mask=self.mask)
        return answer(self.store, raw, door=DOOR, params=self.params, ring=self.ring, mask=self.mask)

    def _reply(self, raw: bytes, said: RequestAnswer) -> None:
        """Push the answer where the sender wants it. One that is not heard is asked for again by sending the same."""
        name = reply_name(raw)
        if name is None:
            return
        to = reply_of(self.queue, name)
        try:
            self.client.rpush(to, said.model_dump_json())
            self.client.expire(to, REPLY_KEPT_S)
        except RedisError as error:
            log.warning("reply_unheard", error=type(error).__name__)

    def keep(self, task: object, body: bytes | str, why: str) -> None:
        """Keep a message nobody could act on. Raises StoreUnavailable: then it must not be acknowledged."""
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
        self.store.keep_letter(DOOR, why, self.mask(json.dumps({"task": str(task)[:200], "body": text[:MESSAGE_MAX]}, ensure_ascii=False)))
        log.warning("message_kept", why=why)


def as_bytes(message: Mapping[str, object] | str) -> bytes:
    """A message as `worker.messages` reads it."""
    return (message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)).encode("utf-8", "surrogatepass")


def register(app: App, crew: Crew, receiver: Receiver, ears: Ears) -> None:
    """Add the tasks to an app. This is the edge of everything a message leads to: nothing is raised into Celery, whose record would quote it."""

    @app.task(name=WORK, typing=False, shared=False)  # type: ignore[untyped-decorator]
    def work(_job: int, **_version: int) -> None:
        ears.heard()
        try:
            crew.one()
        except Exception as error:  # the task's edge
            crew.broke(error)

    @app.task(name=REQUEST, typing=False, shared=False)  # type: ignore[untyped-decorator]
    def request(message: Mapping[str, object] | str) -> None:
        said = None
        try:
            said = receiver.answer(message)
        except Exception as error:  # the task's edge
            crew.broke(error)
        if said is None:
            _put_back(app, message)


def _put_back(app: App, message: Mapping[str, object] | str) -> None:
    """Leave a request to another process. Where the broker is away, too, its sender has no answer and sends it again."""
    try:
        app.send_task(REQUEST, (message,), retry=False)
        log.info("request_put_back")
    except (RedisError, KombuError, OSError) as error:  # what a broker that is away, hangs or refuses raises
        log.error("request_not_put_back", error=type(error).__name__)
