"""The platform's message: one JSON object, version 1, checked whole before anything is done; and what is answered.

The same text comes by `dreamd submit`, by the Celery task and by a plain Redis list. A message that cannot be acted on is kept as a letter, its secrets
masked, and answered `refused` with the reason: an unknown field or version is never half understood.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipelines.errors import Permanent, Refused, StoreUnusable
from pipelines.model import digest
from pipelines.store import Asked
from worker.bell import Bell
from worker.engines import CLAUDE, LOCAL
from worker.settings import scope_path

VERSION: Final = 1
MESSAGE_MAX: Final = 64 * 1024
"""Bytes of one message."""
CAUSE: Final = "platform"
FAULTS_MAX: Final = 3
"""A message at which code of ours failed so often, each time, is set aside: it holds up no other."""
FAULT_AGAIN_S: Final = 3_600
"""When a sender may try such a message again: a fault is mended by a person."""


class Params(BaseModel):
    """What the dream shall do. Requests with equal params coalesce while their dream has not begun; others queue."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    engine: Literal["local", "claude"] | None = Field(
        default=None, description="what reads meaning; claude only where it has a budget or a server that costs nothing; default: the setting"
    )
    dry_run: bool = Field(default=False, description="plan everything and change nothing; the plan can be applied later")
    change_share_max: float | None = Field(
        default=None, gt=0, le=1, description="a dream that would change more of a scope's confirmed notes is held for review; default: the setting"
    )


class Message(BaseModel):
    """A request for a dream. Sending it again with the same request_id is safe: it is answered with the same dream for ever."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, title="dreamd request, version 1", defer_build=True)

    version: Literal[1] = Field(description="the version of this message")
    request_id: str = Field(
        pattern=r"^[\x21-\x7e]{1,180}$", description="the sender's own id of this request within the scope: visible ASCII without blanks"
    )  # blanks: our own requests have one, so that no sender takes the id of a slot
    scope: str = Field(description="the tenant/project/user path of the notes, such as acme/web/ana")
    params: Params = Field(default_factory=Params)
    hand: str = Field(default="", max_length=180, pattern=r"^[^\x00-\x1f\x7f]*$", description="who asked, for the audit")
    reply: str | None = Field(
        default=None, pattern=r"^[\w.-]{1,120}$", description="Redis list only: the answer is pushed to the list <queue>:reply:<this name>"
    )

    @field_validator("version", mode="before")
    @classmethod
    def _is_a_number(cls, version: object) -> object:
        if isinstance(version, bool):  # true equals 1
            raise ValueError("should be 1")
        return version

    @field_validator("scope")
    @classmethod
    def _is_a_path_of_names(cls, scope: str) -> str:
        return scope_path(scope)


class RequestAnswer(BaseModel):
    """What became of a message. Accepted means: the row is committed."""

    model_config = ConfigDict(frozen=True, title="dreamd answer, version 1", defer_build=True)

    version: Literal[1] = 1
    answer: Literal["accepted", "coalesced", "known", "refused"]
    request_id: str | None = Field(default=None, description="the message's own, where it could be read")
    dream: str | None = Field(default=None, description="the dream the request leads to")
    state: str = Field(default="", description="the dream's state: pending, running, completed, failed, canceled and our own held, planned, waiting")
    retry_after: int | None = Field(default=None, description="seconds after which sending it again may be accepted; none: sending the same again is useless")
    why: str | None = Field(default=None, description="why it was refused")


_ASKS_NOBODY: Final[Mapping[str, object]] = {"budget_uusd": None, "batch": False, "instructions": ""}
"""What is of no use to an engine that asks no model: with it a request would not join a plain one of that engine."""


class BadMessage(Exception):
    """No message of this version; says which field and what it must be, never a value: it may be a secret."""


class RequestStore(Protocol):
    """What answering needs of a store."""

    def request(self, scope: str, *, request_id: str, params: Mapping[str, object], cause: str, hand: str = "", slot: str | None = None) -> Asked: ...
    def keep_letter(self, door: str, why: str, body: str) -> None: ...


def read(raw: bytes) -> Message:
    """The message in some bytes. Raises BadMessage."""
    if len(raw) > MESSAGE_MAX:
        raise BadMessage(f"a message has at most {MESSAGE_MAX} bytes, this one has {len(raw)}")
    try:
        return Message.model_validate_json(raw)
    except ValidationError as error:
        raise BadMessage("; ".join(_problem(p) for p in error.errors(include_url=False, include_input=False, include_context=False)[:8])) from None


def _problem(problem: Any) -> str:
    field = ".".join(str(x) for x in problem["loc"]) or "message"
    if problem["type"] == "extra_forbidden":
        return f"{field}: there is no such field in version {VERSION}"
    return f"{field}: {str(problem['msg']).removeprefix('Value error, ').replace('Input should', 'should', 1)}"


def answer(store: RequestStore, raw: bytes, *, door: str, params: Mapping[str, object], ring: Bell, mask: Callable[[str], str]) -> RequestAnswer:
    """Act on one message as it came in through a door. `params` are those of a plain dream by the settings; the message's own go over them.

    Raises StoreUnavailable and StoreUnusable, which say nothing about the message: then nothing is committed, and sending again is right.
    """
    try:
        message = read(raw)
    except BadMessage as bad:
        store.keep_letter(door, str(bad), mask(raw.decode("utf-8", "replace")))
        return RequestAnswer(answer="refused", why=str(bad), request_id=_told(raw, "request_id"))
    wanted = params_of(message)
    if wanted.get("engine") == CLAUDE != params.get("engine"):
        unpaid = "params.engine: claude has neither a budget nor a server that costs nothing here; leave it out, or have one set"
        store.keep_letter(door, unpaid, mask(raw.decode("utf-8", "replace")))
        return RequestAnswer(answer="refused", why=unpaid, request_id=message.request_id)
    told = {**params, **wanted, **(_ASKS_NOBODY if wanted.get("engine") == LOCAL and "engine" in params else {})}
    try:
        asked = store.request(message.scope, request_id=message.request_id, params=told, cause=CAUSE, hand=message.hand)
    except StoreUnusable:
        raise
    except (Refused, Permanent) as error:  # the store is stricter about names than we are
        store.keep_letter(door, str(error), mask(raw.decode("utf-8", "replace")))
        return RequestAnswer(answer="refused", why=str(error), request_id=message.request_id)
    if asked.ring:
        ring(asked.ring)
    why = "too many requests wait in this scope" if asked.answer == "refused" else None
    return RequestAnswer(answer=asked.answer, request_id=message.request_id, dream=asked.dream, state=asked.state, retry_after=asked.retry_after_s, why=why)


def set_aside(store: RequestStore, raw: bytes, error: Exception, *, door: str, mask: Callable[[str], str]) -> RequestAnswer:
    """Keep a message at which code of ours failed FAULTS_MAX times as a letter, and say so. Raises as `answer`."""
    why = f"dreamd failed at it {FAULTS_MAX} times ({type(error).__name__}), which is a fault of its own: it is kept as a letter"
    store.keep_letter(door, why, _masked(raw, mask))
    return RequestAnswer(answer="refused", why=why, request_id=_told(raw, "request_id"), retry_after=FAULT_AGAIN_S)


def _masked(raw: bytes, mask: Callable[[str], str]) -> str:
    """A message without its secrets; when masking is what failed, only what names it."""
    try:
        return mask(raw.decode("utf-8", "replace"))
    except Exception as error:  # whatever it is, the words must not be kept as they are
        return f"its words are not kept: masking failed ({type(error).__name__}); digest {digest(raw)}"


def params_of(message: Message) -> dict[str, object]:
    """What a message wants other than a plain dream: a platform's plain request coalesces with a nightly one."""
    return message.params.model_dump(exclude_defaults=True)


def reply_name(raw: bytes) -> str | None:
    """Where the sender wants its answer, also of a message that is wrong otherwise."""
    name = _told(raw, "reply")
    try:
        return name if name is None else Message(version=1, request_id="x", scope="x", reply=name).reply
    except ValidationError:
        return None


def _told(raw: bytes, field: str) -> str | None:
    """A text field of what may be no message. Numbers are not read: Python refuses those of very many digits."""
    try:
        told = json.loads(raw, parse_int=lambda _: 0) if len(raw) <= MESSAGE_MAX else None
    except (ValueError, RecursionError):
        return None
    value = told.get(field) if isinstance(told, dict) else None
    return value if isinstance(value, str) and len(value) <= 180 else None


def schema() -> dict[str, object]:
    """The JSON schemas of message and answer."""
    return {"message": Message.model_json_schema(), "answer": RequestAnswer.model_json_schema(mode="serialization")}
