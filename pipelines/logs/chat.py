"""Reads chat messages as the OpenAI and Anthropic interfaces shape them: an array, an object with `messages`, or JSONL of either.

Messages seldom carry an id or a time, so a session is named by what it says: an object by its own id, else by its words up to the first reply;
a file of bare messages by its leading system messages and the first message after them. Equal beginnings are forks of one conversation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipelines.logs.drafts import Draft, is_unique, text_of, turn_of, words_of
from pipelines.logs.origins import Part, parts_of_message, parts_of_result
from pipelines.logs.patch_writes import hold_writes, writes_done
from pipelines.logs.reader import Carry, FileContext, Read, WrittenNote
from pipelines.logs.split import Record
from pipelines.logs.stamps import Stamp, stamp
from pipelines.logs.tool_output import result_of, speaker_of_result
from pipelines.model import BadSpan, Call, Origin, Place, Role, SessionInfo, Turn, digest

FORMAT = "chat"
LEAD_MAX = 64 * 1024
"""Characters of leading system messages kept until the session has a name."""
ID_MAX = 1024
"""Characters of a call's id that are remembered."""
CALLS_HELD = 64
"""How many calls without a result are remembered."""

_ROLES = frozenset({"system", "developer", "user", "human", "assistant", "model", "tool", "function"})
_SYSTEM = frozenset({"system", "developer"})
_TIMES = ("timestamp", "created_at", "create_time", "time", "date")


class ChatReader:
    """Chat messages (`Reader`)."""

    format = FORMAT

    def sniff(self, first: Sequence[object], name: str) -> bool:
        """Known by a role with content or tool calls, bare or listed under `messages`."""
        return any(_is_message(value) or _is_listing(value) for value in first)

    def read(self, records: Sequence[Record], carry: Carry, where: FileContext) -> Read:
        """The messages as turns; the carry is `_Chat.memory`."""
        chat = _Chat(carry)
        for record in records:
            try:
                chat.take(record)
            except RecursionError:
                chat.bad.append(BadSpan(place=record.place, reason="nested_too_deeply"))
        return chat.result()


def _is_message(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    role, kind = value.get("role"), value.get("type")
    if kind is not None and (kind != "message" or not isinstance(value.get("content"), list)):
        return False  # an event of some agent's stream that has a role too; answers of the Messages API have a type and a list
    return isinstance(role, str) and role in _ROLES and bool(value.keys() & {"content", "tool_calls", "function_call"})


def _is_listing(value: object) -> bool:
    listed = value.get("messages") if isinstance(value, Mapping) else None
    return isinstance(listed, list) and bool(listed) and any(_is_message(m) for m in listed)


class _Chat:
    """The bare-message session of a file (what is remembered of it is the carry), and the turns of this part."""

    def __init__(self, carry: Carry) -> None:
        fresh: dict[str, Any] = {"session": None, "next": 0, "lead": [], "calls": {}, "writes": {}}
        self.memory: dict[str, Any] = json.loads(json.dumps({**fresh, **carry}))
        self.sessions: dict[str, SessionInfo] = {}
        self.turns: list[Turn] = []
        self.ignored: dict[str, int] = {}
        self.bad: list[BadSpan] = []
        self.notes: list[WrittenNote] = []

    def result(self) -> Read:
        return Read(
            sessions=tuple(self.sessions.values()),
            turns=tuple(self.turns),
            ignored=self.ignored,
            bad=tuple(self.bad),
            notes=tuple(self.notes),
            carry=self.memory,
        )

    def take(self, record: Record) -> None:
        if _is_listing(record.value):
            self._listing(record)
        elif _is_message(record.value):
            self._bare(record)
        else:
            self.bad.append(BadSpan(place=record.place, reason="no_chat_message"))

    # --- one object, one conversation ----------------------------------------------------------------------------------------------------

    def _listing(self, record: Record) -> None:
        """All messages of an object. A member that is no message is a bad span of its own where its place is known."""
        value = record.value
        messages: list[Any] = list(value["messages"])  # type: ignore[call-overload]
        uid = _listing_uid(value, messages, first=record.offset == 0)
        session = _Thread(uid, 0, {}, {})
        self._known(uid, value)
        if isinstance(system := value.get("system"), str | list):
            self._say(session, {"role": "system", "content": system}, record.place, record.repaired)
        for i, message in enumerate(messages):
            place = record.members[i] if i < len(record.members) else record.place
            if _is_message(message):
                self._say(session, message, place, record.repaired)
            else:
                self.bad.append(BadSpan(place=place, reason="no_chat_message"))

    # --- messages line by line -----------------------------------------------------------------------------------------------------------

    def _bare(self, record: Record) -> None:
        value = record.value
        if self.memory["session"] is None and value.get("role") in _SYSTEM:
            self._hold(record)
            return
        if self.memory["session"] is None:
            lead = self.memory["lead"]
            self.memory.update(session=digest(FORMAT, *(held["key"] for held in lead), _written(value)), lead=[])
            for held in lead:
                if held["message"] is None:
                    self._ignore("system_message_too_long")
                else:
                    self._follow(held["message"], Place(**held["place"]), held["repaired"])
        self._follow(value, record.place, record.repaired)

    def _hold(self, record: Record) -> None:
        """A leading system message waits for the first other message: alone it would name every session of its program alike."""
        written = _written(record.value)
        room = LEAD_MAX - sum(len(held["key"]) + len(_written(held["message"])) for held in self.memory["lead"])
        fits = len(written) <= room
        place = {"line": record.line, "offset": record.offset, "length": record.length}
        held = {"key": digest(written), "message": json.loads(written) if fits else None, "place": place, "repaired": record.repaired}
        if fits or not self.memory["lead"] or self.memory["lead"][-1]["message"] is not None:
            self.memory["lead"] = [*self.memory["lead"], held]
        else:
            self._ignore("system_message_too_long")

    def _follow(self, message: Mapping[str, Any], place: Place, repaired: bool) -> None:
        thread = _Thread(self.memory["session"], self.memory["next"], self.memory["calls"], self.memory["writes"])
        self._known(thread.uid, message)
        self._say(thread, message, place, repaired)
        self.memory["next"] = thread.next

    # --- turns ---------------------------------------------------------------------------------------------------------------------------

    def _known(self, uid: str, value: Mapping[str, Any]) -> None:
        title, model = value.get("title"), value.get("model")
        self.sessions.setdefault(
            uid,
            SessionInfo(uid=uid, format=FORMAT, title=title if isinstance(title, str) else None, agent_version=model if isinstance(model, str) else None),
        )

    def _say(self, thread: _Thread, message: Mapping[str, Any], place: Place, repaired: bool) -> None:
        drafts = [draft for draft in _drafts(message, thread.calls) if draft.text.strip() or draft.call or draft.result]
        if not drafts:
            self._ignore("empty")
        for draft in drafts:
            turn = turn_of(draft, format=FORMAT, session=thread.uid, ordinal=thread.next, place=place, repaired=repaired)
            self.turns.append(turn)
            thread.next += 1
            if draft.call:
                hold_writes(thread.writes, draft.call, session=thread.uid, turn=turn.uid)
            if draft.result:
                self.notes += writes_done(thread.writes, draft.result, turn.at)

    def _ignore(self, what: str) -> None:
        self.ignored[what] = self.ignored.get(what, 0) + 1


class _Thread:
    """A session while its messages are read: its uid and next position, and by call id who will speak in the result and what notes it would write."""

    def __init__(self, uid: str, next: int, calls: dict[str, str], writes: dict[str, Any]) -> None:
        self.uid = uid
        self.next = next
        self.calls = calls
        self.writes = writes


def _listing_uid(value: Mapping[str, Any], messages: Sequence[Any], *, first: bool) -> str:
    """Its own id; else its words up to the first reply, which stay when the file is written again with more; a later line of a file is never
    written again, so all of it counts."""
    for key in ("session_id", "conversation_id", "thread_id", "id"):
        if is_unique(value.get(key)):
            return str(value[key])
    if not first:
        return digest(FORMAT, _written(value))
    said = [m for m in messages if isinstance(m, Mapping)]
    reply = next((i for i, m in enumerate(said) if m.get("role") in {"assistant", "model"}), len(said) - 1)
    return digest(FORMAT, *(_written(m) for m in said[: reply + 1]))


def _written(message: object) -> str:
    return json.dumps(message if message is None else dict(message), sort_keys=True, ensure_ascii=False, default=str)  # type: ignore[call-overload]


def _drafts(message: Mapping[str, Any], calls: dict[str, str]) -> Iterator[Draft]:
    """What one message says, in order: text, then each tool call or result. `calls` remembers names until their results come."""
    role = message.get("role")
    when = next((found for key in _TIMES if (found := stamp(message.get(key))).at is not None), stamp(None))
    record_id = message.get("id") if isinstance(message.get("id"), str) else None
    content = message.get("content")
    if role in {"tool", "function"}:
        yield from _result(message.get("tool_call_id") or message.get("name"), content, None, message.get("name"), calls, when)
        return
    blocks = content if isinstance(content, list) else [content]
    for part, block in enumerate(blocks):
        if isinstance(block, Mapping) and block.get("type") == "tool_use":
            yield _call(block.get("id"), block.get("name"), block.get("input"), calls, when)
        elif isinstance(block, Mapping) and block.get("type") == "tool_result":
            yield from _result(block.get("tool_use_id"), block.get("content"), block.get("is_error"), None, calls, when)
        elif text := text_of(block if isinstance(block, str) else [block]):
            yield from _spoken(role, text, record_id, str(part), message.get("name"), when)
    made_calls = message.get("tool_calls") or [message.get("function_call")]
    for made in made_calls if isinstance(made_calls, list) else []:
        function = made.get("function", made) if isinstance(made, Mapping) else None
        if isinstance(function, Mapping):
            yield _call(made.get("id") or function.get("name"), function.get("name"), function.get("arguments"), calls, when)


def _spoken(role: object, text: str, record_id: str | None, key: str, name: object, when: Stamp) -> Iterator[Draft]:
    if role == "user" or role == "human":
        parts, spoken = parts_of_message(text), Role.USER
    elif role == "system" or role == "developer":
        parts, spoken = (Part(origin=Origin.HARNESS, text=text),), Role.SYSTEM
    else:
        parts, spoken = (Part(origin=Origin.ASSISTANT, text=text),), Role.ASSISTANT
    for number, part in enumerate(parts):
        yield Draft(
            role=spoken, origin=part.origin, text=part.text, record_id=record_id, part=f"{key}.{number}", stamp=when, memory=part.memory,
            quoted=part.quoted, speaker=name if isinstance(name, str) else None,
        )  # fmt: skip


def _call(call_id: object, name: object, arguments: object, calls: dict[str, str], when: Stamp) -> Draft:
    held = call_id[:ID_MAX] if isinstance(call_id, str) else ""
    if isinstance(arguments, str):
        try:
            decoded = json.loads(arguments)
        except (ValueError, RecursionError):
            decoded = None
        arguments = decoded if isinstance(decoded, Mapping) else {"input": arguments}
    call = Call(call_id=held, name=str(name or "tool"), arguments=dict(arguments) if isinstance(arguments, Mapping) else {})
    calls[held] = speaker_of_result(call)
    while len(calls) > CALLS_HELD:
        del calls[next(iter(calls))]
    return Draft(role=Role.ASSISTANT, origin=Origin.ASSISTANT, text=words_of(call), record_id=held, part="call", stamp=when, call=call)


def _result(call_id: object, content: object, is_error: object, name: object, calls: dict[str, str], when: Stamp) -> Iterator[Draft]:
    held = call_id[:ID_MAX] if isinstance(call_id, str) else ""
    text, result = result_of(held, content, {"status": "failed"} if is_error is True else {})
    speaker = calls.pop(held, None) or speaker_of_result(Call(call_id=held, name=name if isinstance(name, str) else ""))
    own, *framed = parts_of_result(text, Origin(speaker))
    yield Draft(role=Role.TOOL, origin=own.origin, text=own.text, record_id=held, part="result", stamp=when, result=result)
    for number, part in enumerate(framed):
        yield Draft(role=Role.TOOL, origin=part.origin, text=part.text, record_id=held, part=f"framed{number}", stamp=when)
