"""What goes over the wire: what a handler may answer, the JSON of it, and what the API refuses in a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.oracle.tokens import Tokens, count, head

Body: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer: its text and why it ends. `thinking` are tokens spent before it, which share `max_tokens` and are paid like the answer's own."""

    text: str
    stop: str = "end_turn"
    thinking: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails:
    """An error of the API; nothing is booked. `headers` go with it (retry-after, x-should-retry)."""

    status: int
    kind: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drops:
    """The connection breaks without an answer. `accepted`: after the request was taken, answered and booked; `late`: taken only when `deliver_late` says so."""

    accepted: bool
    late: bool = False


Outcome: TypeAlias = Said | Fails | Drops
Handler: TypeAlias = Callable[[Body], Outcome]

KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}  # fmt: skip


def busy(after_s: float | None = None) -> Fails:
    """429, with when to come again if given."""
    return Fails(status=429, headers={} if after_s is None else {"retry-after": f"{after_s:g}"})


def error_json(failed: Fails, request_id: str) -> dict[str, Any]:
    """An error as the API words it."""
    kind = failed.kind or KINDS.get(failed.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": failed.message or f"{kind} of the fake server"}, "request_id": request_id}


def cut(said: Said, max_tokens: int) -> tuple[Said, int]:
    """The answer as far as `max_tokens` reach, and the tokens it takes, thinking included."""
    room = max(0, max_tokens - said.thinking)
    length = count(said.text)
    if length <= room:
        return said, max(1, length + said.thinking)
    return Said(text=head(said.text, room), stop="max_tokens", thinking=said.thinking), max_tokens


def message_json(said: Said, body: Body, used: Tokens, number: int) -> dict[str, Any]:
    """An answer as the API words it."""
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": "", "signature": "fake"}] if said.thinking else []
    if said.text:
        content.append({"type": "text", "text": said.text, "citations": None})
    return {
        "id": f"msg_{number:08d}", "type": "message", "role": "assistant", "model": body["model"], "content": content, "stop_reason": said.stop,
        "stop_sequence": None, "stop_details": {"type": "refusal", "category": None, "explanation": None} if said.stop == "refusal" else None,
        "usage": {
            "input_tokens": used.fresh, "output_tokens": used.output, "cache_creation_input_tokens": used.written, "cache_read_input_tokens": used.read,
            "cache_creation": {"ephemeral_5m_input_tokens": used.written, "ephemeral_1h_input_tokens": 0}, "service_tier": "standard",
        },
    }  # fmt: skip


# --- what is refused ---------------------------------------------------------------------------------------------------------------------

_GONE = ("temperature", "top_p", "top_k")
_KNOWN = {
    "model", "max_tokens", "messages", "system", "output_config", "thinking", "tools", "tool_choice", "metadata", "stop_sequences", "stream", "service_tier",
    "cache_control",
}  # fmt: skip
_SCHEMA_WORDS = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "description", "title", "format",
    "minItems", "default",
}  # fmt: skip
MARKS_MAX = 4


def faults(body: Any, *, counting: bool = False) -> Iterator[str]:
    """What the API would refuse in the body of a request."""
    if not isinstance(body, dict):
        yield "the body is no JSON object"
        return
    yield from (f"{name}: is not supported by this model" for name in _GONE if name in body)
    yield from (f"{name}: extra inputs are not permitted" for name in body.keys() - _KNOWN - {*_GONE})
    yield from (f"{name}: field required" for name in ("model", "messages") if not body.get(name))
    limit = body.get("max_tokens")
    if not counting and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        yield "max_tokens: must be an integer above 0"
    if body.get("stream"):
        yield "stream: this server does not stream"
    yield from _message_faults(body.get("messages") or ())
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    if schema is not None:
        yield from _schema_faults(schema, "output_config.format.schema")
    if json.dumps(body).count('"cache_control"') > MARKS_MAX:
        yield f"cache_control: at most {MARKS_MAX} blocks"


def _message_faults(messages: Any) -> Iterator[str]:
    if messages and messages[0].get("role") != "user":
        yield "messages: the first message must be of the user"
    for message in messages:
        content = message.get("content")
        parts = [{"text": content}] if isinstance(content, str) else content or [{}]
        if any(not str(part.get("text", "")).strip() for part in parts if part.get("type", "text") == "text"):
            yield "messages: text content blocks must be non-empty"


def _schema_faults(schema: Any, where: str) -> Iterator[str]:
    """Words of JSON Schema that structured outputs do not take, and objects that are left open."""
    if not isinstance(schema, dict):
        yield f"{where}: must be an object"
        return
    yield from (f"{where}: {word!r} is not supported" for word in schema.keys() - _SCHEMA_WORDS)
    if schema.get("minItems", 0) not in (0, 1):
        yield f"{where}: 'minItems' may be 0 or 1"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{where}: 'additionalProperties' must be false"
    inner = [("items", schema["items"])] if "items" in schema else []
    inner += [(f"properties.{name}", one) for name, one in (schema.get("properties") or {}).items()]
    inner += [(f"{word}.{n}", one) for word in ("anyOf", "allOf") for n, one in enumerate(schema.get(word) or ())]
    inner += [(f"$defs.{name}", one) for name, one in (schema.get("$defs") or {}).items()]
    for name, one in inner:
        yield from _schema_faults(one, f"{where}.{name}")
