"""Reads Codex logs: rollouts under `sessions/` and `archived_sessions/`, and the stream of `codex exec --json`.

Shapes: the envelope (`timestamp`, `type`, `payload`); the older flat form without times; paginated history, whose items come as `item_completed` events
and whose records carry an `ordinal` that goes on over the pages of one thread; and the exec stream (`thread.started`, `item.completed`).
One utterance is written up to three times (a response item, an event, a completed item), in any order: it is one turn, at the first place it stands.
A fork repeats its parent's records behind its own `session_meta`; equal ids, or equal times and words, make them the same turns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.logs.codex_speech import parts_of
from pipelines.logs.drafts import Draft, is_unique, name_of, text_of, turn_of, words_of
from pipelines.logs.origins import Part, parts_of_result
from pipelines.logs.patch_writes import hold_writes, writes_done
from pipelines.logs.reader import Carry, FileContext, Read, WrittenNote
from pipelines.logs.split import Record
from pipelines.logs.stamps import Stamp, stamp
from pipelines.logs.tool_output import result_of, speaker_of_result
from pipelines.model import BadSpan, Call, Origin, Result, Role, SessionInfo, Turn, digest

FORMAT = "codex"
ENVELOPE = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
FLAT_CALLS = frozenset({"function_call", "local_shell_call", "custom_tool_call", "function_call_output", "custom_tool_call_output"})

ECHO_WINDOW = 12
"""How many utterances back the second writing of one utterance may come."""
ECHO_SECONDS = 120.0
"""How far apart the times of two writings of one utterance may lie."""
CALLS_HELD = 64
"""How many of the newest calls are remembered, to know their results and their second writings."""
WORD_MAX = 1024
"""Characters of an id, zone, path or branch that are remembered: what a log says there is not bounded, the carry is."""
STRIDE = 16
"""Positions a paginated record takes: its `ordinal` times this, plus the part."""

_ID_IN_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class CodexReader:
    """Codex rollouts and exec streams (`Reader`)."""

    format = FORMAT

    def sniff(self, first: Sequence[object], name: str) -> bool:
        """Known by the envelope, the exec stream's first event, or the flat form's first line and response items."""
        return any(_is_codex(value) for value in first)

    def read(self, records: Sequence[Record], carry: Carry, where: FileContext) -> Read:
        """The turns of these records; what is remembered between parts is `_Session`."""
        session = _Session.resumed(carry, where)
        for record in records:
            try:
                session.take(record)
            except RecursionError:
                session.bad.append(BadSpan(place=record.place, reason="nested_too_deeply"))
        return session.result()


def _is_codex(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    kind = _word(value.get("type"))
    if kind in ENVELOPE and isinstance(value.get("payload"), Mapping):
        return True
    if kind == "thread.started" and "thread_id" in value:
        return True
    if "record_type" in value or {"id", "timestamp", "instructions"} <= value.keys():
        return True
    if kind in FLAT_CALLS and "call_id" in value:
        return True
    content = value.get("content")
    return (
        kind == "message"
        and isinstance(content, list)
        and any(isinstance(c, Mapping) and _word(c.get("type")) in {"input_text", "output_text"} for c in content)
    )


class _Session:
    """What has been read of one file: the session, its next position, what is waited for. Everything in `memory` is the carry."""

    def __init__(self, memory: dict[str, Any], where: FileContext) -> None:
        self.memory = memory
        self.where = where
        self.turns: list[Turn] = []
        self.ignored: dict[str, int] = {}
        self.bad: list[BadSpan] = []
        self.notes: list[WrittenNote] = []

    @classmethod
    def resumed(cls, carry: Carry, where: FileContext) -> _Session:
        fresh: dict[str, Any] = {
            "session": None, "next": 0, "about": {}, "spawned": False, "zone": None, "said": [], "calls": {}, "exits": {}, "last": None, "amiss": None, "writes": {},
        }  # fmt: skip
        return cls(json.loads(json.dumps({**fresh, **carry})), where)

    def result(self) -> Read:
        session = self.memory["session"]
        about = self.memory["about"]
        infos = (SessionInfo(uid=session, format=FORMAT, agent="codex", **about),) if session else ()
        return Read(sessions=infos, turns=tuple(self.turns), ignored=self.ignored, bad=tuple(self.bad), notes=tuple(self.notes), carry=self.memory)

    # --- records -------------------------------------------------------------------------------------------------------------------------

    def take(self, record: Record) -> None:
        value = record.value
        kind = _word(value.get("type"))
        payload = value.get("payload")
        if kind in ENVELOPE and not isinstance(payload, Mapping):
            self.bad.append(BadSpan(place=record.place, reason="codex_payload_is_no_object"))
            return
        when = stamp(value.get("timestamp"))
        self.place = record
        self.at = Stamp(when.at, self.memory["zone"] or when.zone)
        self.base = value.get("ordinal")
        self.part = 0
        if kind == "session_meta" and isinstance(payload, Mapping):
            self._meta(payload)
        elif isinstance(payload, Mapping) and kind in ENVELOPE:
            self._enveloped(kind, payload)
        elif kind == "thread.started":
            self._meta({"id": value.get("thread_id")})
        elif kind.startswith(("thread.", "turn.", "item.")):
            self._streamed(kind, value)
        elif not value.get("type") and {"id", "timestamp"} <= value.keys():
            self._meta(value)
        else:
            self._item(value)

    def _enveloped(self, kind: str, payload: Mapping[str, Any]) -> None:
        if kind == "response_item":
            self._item(payload)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "compacted":
            self._say(Role.SYSTEM, Part(origin=Origin.MODEL_SUMMARY, text=text_of(payload.get("message"))))
        else:
            self._context(payload)

    def _meta(self, meta: Mapping[str, Any]) -> None:
        """The first meta names the session; one of another session that follows is its parent's, copied by a fork."""
        uid = meta.get("id") or meta.get("session_id")
        self._ignore("session_meta")
        if not isinstance(uid, str) or not uid:
            return
        uid = uid[:WORD_MAX]
        if self.memory["session"] is None or self.memory["session"] == uid:
            self.memory["session"] = uid
            self._about(meta)
        else:
            self.memory["about"].setdefault("parent", uid)

    def _about(self, meta: Mapping[str, Any]) -> None:
        source = meta.get("source")
        spawned = source.get("subagent") if isinstance(source, Mapping) else None
        self.memory["spawned"] = self.memory["spawned"] or spawned is not None
        found = {
            "agent_version": meta.get("cli_version"),
            "cwd": meta.get("cwd"),
            "branch": _at(meta, "git", "branch"),
            "parent": _parent(meta),
        }
        about = self.memory["about"]
        for key, value in found.items():
            if isinstance(value, str) and value:
                about.setdefault(key, value[:WORD_MAX])

    def _context(self, context: Mapping[str, Any]) -> None:
        self._ignore("turn_context")
        if isinstance(zone := context.get("timezone"), str):
            self.memory["zone"] = zone[:WORD_MAX]
        if isinstance(cwd := context.get("cwd"), str):
            self.memory["about"].setdefault("cwd", cwd[:WORD_MAX])

    # --- what the model was given and answered -------------------------------------------------------------------------------------------

    def _item(self, item: Mapping[str, Any]) -> None:
        """A response item, the same in the envelope and in the flat form."""
        kind = _word(item.get("type"))
        if kind == "message" or (not kind and "role" in item):
            self._message(item)
        elif kind.endswith("_output"):
            self._output(item.get("call_id"), item.get("output", item.get("tools")), {})
        elif kind.endswith("_call"):
            self._call(item)
        else:
            self._ignore(kind or ("state" if "record_type" in item else "unknown"))

    def _message(self, item: Mapping[str, Any]) -> None:
        role, content = item.get("role"), item.get("content")
        if role == "assistant":
            self._hear(Role.ASSISTANT, text_of(content), "item", item.get("id"))
        elif role == "user":
            texts = [text_of([c]) for c in content] if isinstance(content, list) else [text_of(content)]
            self._typed(texts, "item", item.get("id"))
        elif role == "developer" or role == "system":
            for part in parts_of([text_of(content)], typed=Origin.HARNESS):
                self._say(Role.SYSTEM, part, record_id=item.get("id"))
        else:
            self._ignore("message_of_unknown_role")

    def _call(self, item: Mapping[str, Any]) -> None:
        kind = _word(item.get("type"))
        name = item.get("name")
        arguments = _arguments(item)
        call_id = _id(item.get("call_id") or item.get("id"))
        self._called(Call(call_id=call_id, name=name if isinstance(name, str) and name else kind.removesuffix("_call"), arguments=arguments))

    def _called(self, call: Call) -> None:
        held = self.memory["calls"].get(call.call_id)
        if held and call.call_id and (is_unique(call.call_id) or not held["answered"]):
            self._ignore("echo")
            return
        self.memory["calls"][call.call_id] = {"speaker": speaker_of_result(call), "answered": False}
        _keep_newest(self.memory["calls"])
        self.memory["last"], self.memory["amiss"] = call.call_id, None
        self._say(Role.ASSISTANT, Part(origin=Origin.ASSISTANT, text=words_of(call)), record_id=call.call_id, key="call", call=call)
        hold_writes(self.memory["writes"], call, session=self.turns[-1].session, turn=self.turns[-1].uid)

    def _output(self, call_id: object, output: object, known: Mapping[str, Any]) -> None:
        """A call's result; `known` is what a second writing of it says more plainly (exit code, time-out)."""
        held = _id(call_id)
        call = self.memory["calls"].setdefault(held, {"speaker": Origin.TOOL, "answered": False})
        if call["answered"] and held:
            self._ignore("echo")
            return
        call["answered"] = True
        _keep_newest(self.memory["calls"])
        text, result = result_of(held, output, {**self.memory["exits"].pop(held, {}), **known})
        if result.refused or result.interrupted:
            self.memory["amiss"] = held
        self.notes += writes_done(self.memory["writes"], result, self.at.at)
        own, *framed = parts_of_result(text, Origin(call["speaker"]))
        self._say(Role.TOOL, own, record_id=held, key="result", result=result)
        for number, part in enumerate(framed):
            self._say(Role.TOOL, part, record_id=held, key=f"framed{number}")

    # --- what the program told its user --------------------------------------------------------------------------------------------------

    def _event(self, event: Mapping[str, Any]) -> None:
        kind = _word(event.get("type"))
        if kind == "user_message":
            self._typed([text_of(event.get("message"))], "event", None)
        elif kind == "agent_message":
            self._hear(Role.ASSISTANT, text_of(event.get("message")), "event", None)
        elif kind == "turn_aborted":
            self.memory["amiss"] = self.memory["last"]
            self._ignore(kind)
        elif kind == "item_completed" and isinstance(item := event.get("item"), Mapping):
            self._completed(item)
        elif kind == "tool_call":
            self._called(Call(call_id=_id(event.get("call_id")), name=_word(event.get("name")) or "tool", arguments=_arguments(event)))
        elif kind == "exec_command_end":
            self._ended(event)
        else:
            self._ignore(kind or "event")

    def _ended(self, event: Mapping[str, Any]) -> None:
        """The end of a command repeats its output; only the exit code is kept, for an output that does not say it."""
        self._ignore("exec_command_end")
        call_id, exit_code = _id(event.get("call_id")), event.get("exit_code")
        if isinstance(exit_code, int) and call_id in self.memory["calls"]:
            self.memory["exits"][call_id] = {"exit_code": exit_code}
            _keep_newest(self.memory["exits"])

    def _streamed(self, kind: str, value: Mapping[str, Any]) -> None:
        item = value.get("item")
        if kind == "item.completed" and isinstance(item, Mapping):
            self._completed(item)
        else:
            self._ignore(kind)

    def _completed(self, item: Mapping[str, Any]) -> None:
        """An item of the exec stream or of paginated history: kinds are written `command_execution`, `commandExecution` or `CommandExecution`."""
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _word(item.get("type")) or _word(item.get("item_type"))).lower()
        if kind == "user_message":
            content = item.get("content", item.get("text"))
            self._typed([text_of([c]) for c in content] if isinstance(content, list) else [text_of(content)], "completed", item.get("id"))
        elif kind in {"agent_message", "assistant_message"}:
            self._hear(Role.ASSISTANT, text_of(item.get("text", item.get("content"))), "completed", item.get("id"))
        elif kind in _STEPS:
            self._step(kind, item)
        else:
            self._ignore(kind or "item")

    def _step(self, kind: str, item: Mapping[str, Any]) -> None:
        """A finished tool call: call and result in one item, unless its response items stand in the log too."""
        call_id = _id(item.get("call_id") or item.get("id"))
        known = {"exit_code": item.get("exit_code"), "status": item.get("status")}
        if is_unique(call_id) and call_id in self.memory["calls"]:
            self._ignore("echo")
            return
        name = f"{item.get('server')}__{item.get('tool')}" if kind == "mcp_tool_call" else kind
        arguments = item.get("arguments") if isinstance(item.get("arguments"), Mapping) else {k: item[k] for k in ("command", "changes", "query") if k in item}
        self._called(Call(call_id=call_id, name=name, arguments=dict(arguments or {})))
        self._output(call_id, item.get("aggregated_output", item.get("result", item.get("error"))), known)

    # --- turns ---------------------------------------------------------------------------------------------------------------------------

    def _typed(self, texts: Sequence[str], writing: str, record_id: object) -> None:
        """A user message: each part by who really speaks. What a program asks of its subagent is the assistant's word."""
        typed = Origin.ASSISTANT if self.memory["spawned"] else Origin.USER
        for part in parts_of(texts, typed=typed):
            if self._is_echo(Role.USER, part.text, writing):
                continue
            corrects = None
            if part.origin is Origin.USER:
                corrects, self.memory["amiss"] = self.memory["amiss"], None
            # In a spawned session the parent's copied words are read as the assistant's: they must not become the parent's own turns.
            key = f"spawned{self.part}" if self.memory["spawned"] else ""
            self._say(Role.USER, part, record_id=record_id, key=key, corrects=corrects)

    def _hear(self, role: Role, text: str, writing: str, record_id: object) -> None:
        if not self._is_echo(role, text, writing):
            self.memory["last"] = self.memory["amiss"] = None
            self._say(role, Part(origin=Origin.ASSISTANT, text=text), record_id=record_id)

    def _is_echo(self, role: Role, text: str, writing: str) -> bool:
        """Whether this is another writing of something said a moment ago; a second time in the *same* writing is said again, not written again."""
        key = digest(role, " ".join(text.split()))
        seconds = self.at.at.timestamp() if self.at.at else None
        for heard in self.memory["said"]:
            near = seconds is None or heard["at"] is None or abs(seconds - heard["at"]) <= ECHO_SECONDS
            if heard["key"] == key and writing not in heard["writings"] and near:
                heard["writings"].append(writing)
                self._ignore("echo")
                return True
        self.memory["said"] = [*self.memory["said"], {"key": key, "writings": [writing], "at": seconds}][-ECHO_WINDOW:]
        return False

    def _say(
        self, role: Role, part: Part, *, record_id: object = None, key: str = "", corrects: str | None = None,
        call: Call | None = None, result: Result | None = None,
    ) -> None:  # fmt: skip
        if not part.text.strip() and call is None and result is None:
            self._ignore("empty")
            return
        draft = Draft(
            role=role, origin=part.origin, text=part.text, record_id=record_id if isinstance(record_id, str) else None, part=key or str(self.part),
            shared_clock=True, stamp=self.at, sidechain=self.memory["spawned"], corrects=corrects, memory=part.memory, quoted=part.quoted,
            call=call, result=result,
        )  # fmt: skip
        place = self.place
        self.turns.append(turn_of(draft, format=FORMAT, session=self._session(), ordinal=self._position(), place=place.place, repaired=place.repaired))
        self.part += 1

    def _position(self) -> int:
        """The next position; a paginated record brings its own, so that the pages of a thread follow one another."""
        if isinstance(self.base, int) and 0 <= self.base < 2**40:
            self.memory["next"] = max(self.memory["next"], self.base * STRIDE)
        position = int(self.memory["next"])
        self.memory["next"] = position + 1
        return position

    def _session(self) -> str:
        """The session's id: from its meta, else from the file's name, else from the first record that says something."""
        if self.memory["session"] is None:
            in_name = _ID_IN_NAME.search(self.where.name)
            self.memory["session"] = in_name[0] if in_name else digest(FORMAT, name_of(self.place.value))
        return str(self.memory["session"])

    def _ignore(self, what: str) -> None:
        self.ignored[what[:48]] = self.ignored.get(what[:48], 0) + 1


_STEPS = frozenset({"command_execution", "file_change", "mcp_tool_call", "web_search"})


def _parent(meta: Mapping[str, Any]) -> object:
    """The session this one was forked, paged or spawned from (never itself: the pages of a thread are one session)."""
    candidates = (
        meta.get("forked_from_id"),
        meta.get("parent_thread_id"),
        _at(meta, "source", "subagent", "thread_spawn", "parent_thread_id"),
        _at(meta, "history_base", "thread_id"),
    )
    own = meta.get("id") or meta.get("session_id")
    return next((c for c in candidates if isinstance(c, str) and c and c != own), None)


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _id(value: object) -> str:
    return str(value)[:WORD_MAX] if isinstance(value, str | int) else ""


def _at(value: object, *path: str) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _arguments(item: Mapping[str, Any]) -> dict[str, object]:
    """The arguments of a call: JSON text, an object, a shell action, or free text (a patch) under "input"."""
    if isinstance(action := item.get("action"), Mapping):
        return {str(k): v for k, v in action.items() if v is not None and k != "type"}
    given = item.get("arguments", item.get("input"))
    if isinstance(given, str):
        try:
            decoded = json.loads(given)
        except (ValueError, RecursionError):
            return {"input": given}
        given = decoded if isinstance(decoded, Mapping) else {"input": given}
    return {str(k): v for k, v in given.items()} if isinstance(given, Mapping) else {}


def _keep_newest(held: dict[str, Any]) -> None:
    while len(held) > CALLS_HELD:
        del held[next(iter(held))]
