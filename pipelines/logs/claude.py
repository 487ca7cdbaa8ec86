"""Reads Claude Code session logs: `<session>.jsonl`, `subagents/agent-<id>.jsonl`, and exports that list the same records under `loglines`.

The log is a tree (`uuid`, `parentUuid`): rewinds leave dead branches, and what was said on them was said, so every record is read in file order and a
turn only names its parent. One answer of the model is written as several lines with one `message.id`: a block each, or growing snapshots of a block, or
again under a new uuid by gateways and by `/btw` sidechains. Its turns are known by message and block, so all of those are one turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pipelines.logs.claude_memory import Memory
from pipelines.logs.claude_results import answers_of, result_of, text_of, words_of
from pipelines.logs.claude_writes import deletes_notes, written_by
from pipelines.logs.origins import Part, origin_of_file, origin_of_result, parts_of_message, parts_of_result
from pipelines.logs.reader import Carry, FileContext, Read, WrittenNote, clean
from pipelines.logs.split import Record
from pipelines.logs.stamps import Stamp, stamp
from pipelines.model import Call, Origin, Place, Result, Role, SessionInfo, Turn, digest

FORMAT = "claude"

_SPOKEN = frozenset({"user", "assistant"})
REMEMBERED_BY = "dreamd"
"""The version records of dreamd's own log of what it was told to remember carry."""
_SILENT = frozenset({"summary", "queue-operation", "file-history-snapshot", "file-history-delta", "last-prompt", "ai-title", "custom-title", "permission-mode"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_HIDDEN = frozenset({"thinking", "redacted_thinking"})
_INTERRUPTED = "[Request interrupted by user"


class ClaudeReader:
    """Claude Code's own transcript format (its versions 1 and 2)."""

    format = FORMAT

    def sniff(self, first: Sequence[object], name: str) -> bool:
        """Whether any of these values is a Claude Code record or an export that lists such records."""
        return any(_is_ours(value) or any(map(_is_ours, _loglines(value))) for value in first)

    def read(self, records: Sequence[Record], carry: Carry, where: FileContext) -> Read:
        """The turns of these records; see `Reader.read`."""
        reading = _Reading(Memory.from_carry(carry), where)
        take = reading.take
        for record in records:
            if record.members:
                for value, place in _expanded(record):
                    take(value, place, record.repaired)
            else:
                take(record.value, record, record.repaired)
        return reading.result()


def _is_ours(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kind = _word(value.get("type"))
    if kind in _SPOKEN and isinstance(message := value.get("message"), dict):
        return "content" in message and not {"version", "id"} >= set(value) and "parentId" not in value
    if kind in {"system", "attachment", "progress"}:
        return "parentUuid" in value or "isSidechain" in value
    return kind in _SILENT and ("sessionId" in value or "leafUuid" in value or "snapshot" in value or "trackingPath" in value)


def _loglines(value: object) -> list[Any]:
    listed = value.get("loglines") if isinstance(value, dict) else None
    return listed[:8] if isinstance(listed, list) else []


def _expanded(record: Record) -> Iterator[tuple[Mapping[str, Any], Place | Record]]:
    listed = record.value.get("loglines")
    if isinstance(listed, list):
        yield from zip(listed, record.members, strict=True)
    else:
        yield record.value, record


class _Reading:
    """One call of `read`: takes records in file order, collects turns; all that must outlive the call is in `memory`."""

    def __init__(self, memory: Memory, where: FileContext) -> None:
        self.memory = memory
        self.file_stem = PurePosixPath(where.name).stem
        # A subagent's own log: whatever stands there under the person's name, an assistant wrote.
        self.is_subagent = where.name.startswith("agent-") or "subagents" in PurePosixPath(where.relative_path).parts[:-1]
        self.turns: list[Turn] = []
        self.notes: list[WrittenNote] = []
        self.ignored: Counter[str] = Counter()
        self.seen: dict[str, None] = {}
        self.told: tuple[object, ...] = ()

    def result(self) -> Read:
        return Read(
            sessions=tuple(self._info(session) for session in self.seen),
            turns=tuple(self.turns),
            ignored=dict(sorted(self.ignored.items())),
            notes=tuple(self.notes),
            carry=self.memory.to_carry(),
        )

    def take(self, record: Mapping[str, Any], at: Place | Record, repaired: bool) -> None:
        """One record that stands `at` a place; half of a log are records that say nothing, and those must cost next to nothing."""
        kind = _word(record.get("type"))
        if kind == "progress":
            self.memory.link(record.get("uuid"), None, record.get("parentUuid"))
            self.ignored["progress"] += 1
            return
        before = len(self.turns)
        if says := _SAYS.get(kind):
            says(self, _Envelope(record, at.place if isinstance(at, Record) else at, self._session_of(record), repaired))
        else:
            self._silent(record, kind)
        if len(self.turns) > before:
            self.memory.link(record.get("uuid"), self.turns[-1].uid, None)
        elif self.memory.turn_of(record.get("uuid")) is None:
            self.memory.link(record.get("uuid"), None, record.get("parentUuid"))

    # --- records -------------------------------------------------------------------------------------------------------------------------

    def _silent(self, record: Mapping[str, Any], kind: str) -> None:
        self._title(record, self._session_of(record))
        self.ignored[kind or "unknown"] += 1

    def _spoken(self, envelope: _Envelope) -> None:
        record = envelope.record
        if not isinstance(record.get("message"), dict):
            self._silent(record, _word(record.get("type")))
            return
        self._note_session(record, envelope.session)
        self._assistant(envelope) if record["type"] == "assistant" else self._user(envelope)

    def _assistant(self, envelope: _Envelope) -> None:
        message = envelope.record["message"]
        silent = bool(envelope.record.get("isApiErrorMessage")) or message.get("model") == "<synthetic>"
        for position, block in enumerate(_blocks(message.get("content"))):
            kind = _word(block.get("type"))
            if kind == "text" and isinstance(text := block.get("text"), str):
                self._said_by_model(envelope, text, position, Origin.HARNESS if silent else Origin.ASSISTANT)
            elif kind in _CALLS and isinstance(block.get("id"), str) and isinstance(block.get("name"), str):
                self._call(envelope, block)
            elif kind.endswith("_tool_result"):
                self._tool_result(envelope, block, position)
            else:
                self.ignored["thinking" if kind in _HIDDEN else f"block:{kind}"] += 1

    def _said_by_model(self, envelope: _Envelope, text: str, position: int, origin: Origin) -> None:
        if not text.strip():
            self.ignored["empty"] += 1
            return
        message_id = envelope.record["message"].get("id")
        identity = envelope.identity(message_id if isinstance(message_id, str) else envelope.record.get("uuid"), text)
        slot = self.memory.slot(envelope.session, message_id, text) if isinstance(message_id, str) else None
        if slot is not None and slot.complete:
            self.ignored["replay"] += 1
            return
        if slot is not None:
            uid, ordinal = slot.uid, slot.ordinal
        else:
            blocks = self.memory.blocks(envelope.session, message_id) if isinstance(message_id, str) else position
            uid, ordinal = digest(FORMAT, "text", identity, str(blocks)), self.memory.next_ordinal(envelope.session)
        if isinstance(message_id, str):
            self.memory.keep_slot(envelope.session, message_id, text, uid, ordinal)
        self.memory.corrects = None
        self._add(envelope, uid, ordinal, Role.ASSISTANT, Part(origin=origin, text=text))

    def _call(self, envelope: _Envelope, block: Mapping[str, Any]) -> None:
        arguments = block.get("input")
        call = Call(call_id=block["id"], name=block["name"], arguments=arguments if isinstance(arguments, dict) else {"input": arguments})
        text = words_of(call)
        uid = digest(FORMAT, "call", envelope.identity(call.call_id, text))
        words = digest(call.name, text)
        known = self.memory.calls.get(call.call_id)
        if known is not None and known[2] == words:
            self.ignored["replay"] += 1
            return
        self.memory.open_call(call.call_id, call.name, origin_of_result(call.name, call.arguments), words)
        self._add(envelope, uid, self.memory.next_ordinal(envelope.session), Role.ASSISTANT, Part(origin=Origin.ASSISTANT, text=text), call=call)
        if written := written_by(call):
            self.memory.hold_write(call.call_id, written, envelope.session, uid)

    def _user(self, envelope: _Envelope) -> None:
        record = envelope.record
        content = record["message"].get("content")
        for position, block in enumerate(_blocks(content)):
            kind = _word(block.get("type"))
            if kind == "text" and isinstance(text := block.get("text"), str):
                self._message(envelope, text, position, _filed_as(record))
            elif kind == "tool_result":
                self._tool_result(envelope, block, position)
            else:
                self.ignored[f"block:{kind}"] += 1

    def _message(self, envelope: _Envelope, text: str, position: int, filed_as: Origin | None) -> None:
        """A text filed under the person's name; `filed_as` is who the record's own marks say it is, when it is not the person."""
        if queued := self.memory.take_queued(envelope.session, text):
            self.ignored["delivered"] += 1
            self.memory.link(envelope.record.get("uuid"), queued, None)
            return
        if text.lstrip().startswith(_INTERRUPTED) and self.memory.last_call is not None:
            self.memory.corrects = self.memory.last_call
        for number, part in enumerate(parts_of_message(text)):
            if part.origin is Origin.USER and self.is_subagent:
                part = Part(origin=Origin.ASSISTANT, text=part.text)
            elif filed_as is not None and part.origin in {Origin.USER, Origin.ASSISTANT}:
                part = Part(origin=filed_as, text=part.text, memory=part.memory and _handed_in(envelope.record))
            identity = envelope.identity(envelope.record.get("uuid"), part.text)
            self._part(envelope, digest(FORMAT, "message", identity, str(position), str(number)), part)

    def _part(self, envelope: _Envelope, uid: str, part: Part) -> None:
        is_spoken = envelope.record.get("type") != "system" and (envelope.record.get("type") != "attachment" or part.origin is Origin.USER)
        role = Role.USER if is_spoken else Role.SYSTEM
        corrects = None
        if part.origin is Origin.USER:
            corrects, self.memory.corrects = self.memory.corrects, None
        self._add(envelope, uid, self.memory.next_ordinal(envelope.session), role, part, corrects=corrects)

    def _tool_result(self, envelope: _Envelope, block: Mapping[str, Any], position: int) -> None:
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str):
            self.ignored["block:tool_result"] += 1
            return
        name, origin, _ = self.memory.calls.get(call_id, ("", Origin.TOOL, ""))
        raw = envelope.record.get("toolUseResult")
        text, result = result_of(call_id, name, block, raw)
        if block.get("type") != "tool_result" or (not name and isinstance(raw, dict) and "url" in raw):
            origin = Origin.EXTERNAL
        if (result.failed and origin is Origin.HARNESS) or (name == "TaskOutput" and "<task_type>local_bash</task_type>" in text):
            origin = Origin.TOOL
        identity = envelope.identity(call_id, text)
        for number, part in enumerate(parts_of_result(text, origin)):
            uid = digest(FORMAT, "result", identity, str(number))
            is_result = number == 0
            role = Role.TOOL if is_result else Role.SYSTEM
            self._add(envelope, uid, self.memory.next_ordinal(envelope.session), role, part, result=result if is_result else None)
        if result.refused or result.interrupted:
            self.memory.corrects = call_id
        if call_id == self.memory.last_call:
            self.memory.last_call = None
        self._notes(envelope, call_id, result, raw)
        for number, answer in enumerate(answers_of(name, block, raw, result)):
            uid = digest(FORMAT, "answer", identity, str(position), str(number))
            part = parts_of_message(answer)[-1]
            if envelope.is_sidechain or self.is_subagent:
                continue
            self._part(envelope, uid, part)

    def _notes(self, envelope: _Envelope, call_id: str, result: Result, raw: object) -> None:
        held = self.memory.take_write(call_id)
        if held is None or result.failed or result.refused or result.interrupted:
            return
        write, session, turn = held
        self.notes.append(
            WrittenNote(
                path=write["path"],
                session=session,
                turn=turn,
                content=write.get("content"),
                edits=tuple((old, new) for old, new in write.get("edits", ())),
                at=envelope.at.at,
                deleted=deletes_notes(write),
            )
        )

    def _attachment(self, envelope: _Envelope) -> None:
        attachment = envelope.record.get("attachment")
        if not isinstance(attachment, dict):
            self._silent(envelope.record, "attachment")
            return
        self._note_session(envelope.record, envelope.session)
        kind = _word(attachment.get("type"))
        if kind == "queued_command":
            text = text_of(attachment.get("prompt"))
            mode = _word(attachment.get("commandMode", "prompt"))
            self._message(envelope, text, 0, None if mode in {"prompt", "bash"} and not attachment.get("isMeta") else Origin.HARNESS)
            return
        text, origin = _attached(kind, attachment)
        if not text.strip():
            self.ignored[f"attachment:{kind}"] += 1
            return
        uid = digest(FORMAT, "attachment", envelope.identity(envelope.record.get("uuid"), text))
        self._part(envelope, uid, Part(origin=origin, text=text))

    def _queue(self, envelope: _Envelope) -> None:
        """What a person types while the agent is busy stands here first and comes again when it is delivered: the first place counts."""
        text = text_of(envelope.record.get("content"))
        if envelope.record.get("operation") != "enqueue" or not text.strip():
            self.ignored["queue-operation"] += 1
            return
        parts = parts_of_message(text)
        if len(parts) != 1 or parts[0].origin is not Origin.USER or self.is_subagent:
            self.ignored["queue-operation"] += 1
            return
        self._note_session(envelope.record, envelope.session)
        at = envelope.at.at.isoformat() if envelope.at.at else ""
        uid = digest(FORMAT, "queued", envelope.session, at, text)
        self.memory.put_queued(envelope.session, text, uid)
        self._part(envelope, uid, parts[0])

    def _system(self, envelope: _Envelope) -> None:
        record = envelope.record
        text = record.get("content")
        subtype = _word(record.get("subtype")) or "system"
        if not isinstance(text, str) or not text.strip() or subtype == "compact_boundary":
            self.ignored[f"system:{subtype}"] += 1
            return
        self._note_session(record, envelope.session)
        origin = Origin.MODEL_SUMMARY if subtype == "away_summary" else Origin.HARNESS
        self._message(envelope, text, 0, origin)

    # --- turns and sessions --------------------------------------------------------------------------------------------------------------

    def _add(
        self,
        envelope: _Envelope,
        uid: str,
        ordinal: int,
        role: Role,
        part: Part,
        *,
        call: Call | None = None,
        result: Result | None = None,
        corrects: str | None = None,
    ) -> None:
        text, mended = clean(part.text)
        parent = envelope.record.get("parentUuid") or envelope.record.get("logicalParentUuid")
        self.turns.append(
            Turn(
                uid=uid,
                snap=digest(role, part.origin, text, _outcome(result)),
                session=envelope.session,
                ordinal=ordinal,
                role=role,
                origin=part.origin,
                text=text,
                place=envelope.place,
                at=envelope.at.at,
                zone=envelope.at.zone,
                parent=self.memory.turn_of(parent),
                sidechain=envelope.is_sidechain or self.is_subagent,
                memory=part.memory and (part.origin is Origin.USER or _handed_in(envelope.record)),
                corrects=corrects,
                quoted=part.quoted if part.origin is Origin.USER else (),
                call=call,
                result=result,
                flagged=mended or envelope.repaired,
            )
        )

    def _session_of(self, record: Mapping[str, Any]) -> str:
        given = record.get("sessionId") or record.get("session_id")
        session = given if isinstance(given, str) and given.strip() else self.memory.session or self.file_stem or "session"
        return f"{session}/{self.file_stem}" if self.is_subagent and "/" not in session else session

    def _note_session(self, record: Mapping[str, Any], session: str) -> None:
        forked = record.get("forkedFrom")
        said = (session, record.get("version"), record.get("cwd"), record.get("gitBranch"), record.get("agentId"), forked)
        if said == self.told:  # nearly every record says of its session what the one before said
            return
        self.told = said
        self.seen[session] = None
        facts = {"version": record.get("version"), "cwd": record.get("cwd"), "branch": record.get("gitBranch"), "agent": record.get("agentId")}
        if self.is_subagent:
            facts["parent"] = session.partition("/")[0]
        elif isinstance(forked, dict):
            facts["parent"] = forked.get("sessionId")
        self.memory.tell(session, {key: value for key, value in facts.items() if isinstance(value, str) and value})

    def _title(self, record: Mapping[str, Any], session: str) -> None:
        title = record.get("customTitle") or record.get("aiTitle")
        if isinstance(title, str) and title.strip():
            self.seen[session] = None
            self.told = ()
            self.memory.tell(session, {"title": clean(title)[0]})

    def _info(self, session: str) -> SessionInfo:
        told = self.memory.told(session)
        return SessionInfo(
            uid=session,
            format=FORMAT,
            agent="claude-code",
            agent_version=told.get("version"),
            cwd=told.get("cwd"),
            branch=told.get("branch"),
            title=told.get("title"),
            parent=told.get("parent"),
            extra={"agent_id": told["agent"]} if "agent" in told else {},
        )


_SAYS: Mapping[str, Callable[[_Reading, _Envelope], None]] = {
    "user": _Reading._spoken,
    "assistant": _Reading._spoken,
    "attachment": _Reading._attachment,
    "queue-operation": _Reading._queue,
    "system": _Reading._system,
}
"""The kinds of records that may say something, and what is made of them."""


class _Envelope:
    """What every record says around its words."""

    __slots__ = ("at", "is_sidechain", "place", "record", "repaired", "session")

    def __init__(self, record: Mapping[str, Any], place: Place, session: str, repaired: bool) -> None:
        self.record, self.place, self.session, self.repaired = record, place, session, repaired
        self.at: Stamp = stamp(record.get("timestamp"))
        self.is_sidechain = record.get("isSidechain") is True

    def identity(self, given: object, text: str) -> str:
        """What makes this utterance the same in every copy: an id no other log gives by chance; else a poor id, or none, with time and words."""
        if isinstance(given, str) and _is_unique(given):
            return given
        at = self.at.at.isoformat() if self.at.at else ""
        place = "" if at else f"{self.session}:{self.place.offset}"
        return digest(given if isinstance(given, str) else "", at, place, text)


def _outcome(result: Result | None) -> str:
    """How a call ended, as part of what makes a snapshot."""
    return "" if result is None else f"{result.exit} {result.failed} {result.timed_out} {result.interrupted} {result.refused}"


def _is_unique(given: str) -> bool:
    """Long, and not a counter in disguise ("00000000-0000-4000-8000-000000000001" has few different characters)."""
    return len(given) >= 20 and len(set(given)) >= 10


def _filed_as(record: Mapping[str, Any]) -> Origin | None:
    """Who a user record's own marks say is speaking, None when they leave it to the text."""
    if record.get("isCompactSummary") is True:
        return Origin.MODEL_SUMMARY
    origin = record.get("origin")
    if record.get("isMeta") is True or record.get("sourceToolUseID") or (isinstance(origin, dict) and _word(origin.get("kind")) not in {"", "human", "user"}):
        return Origin.HARNESS
    if record.get("isVisibleInTranscriptOnly") is True or "toolUseResult" in record:
        return Origin.HARNESS
    if record.get("isSidechain") is True or record.get("agentId") or record.get("planContent"):
        return Origin.ASSISTANT
    return None


def _handed_in(record: Mapping[str, Any]) -> bool:
    """Whether an agent had dreamd remember this: its own words, marked as such in dreamd's own log."""
    return record.get("version") == REMEMBERED_BY and isinstance(record.get("agentId"), str) and record.get("isSidechain") is not True


def _word(value: object) -> str:
    """A value that should be a name; "" for anything else, which matches none."""
    return value if isinstance(value, str) else ""


def _blocks(content: object) -> list[Mapping[str, Any]]:
    """A message's content as blocks: a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block if isinstance(block, dict) else {"type": "text", "text": block} for block in content]
    return []


def _attached(kind: str, attachment: Mapping[str, Any]) -> tuple[str, Origin]:
    """The words an attachment puts before the model, and whose they are."""
    if kind in {"nested_memory", "memory", "relevant_memories", "current_session_memory"}:
        return text_of(attachment.get("content")), Origin.INSTRUCTIONS
    if kind in {"file", "edited_text_file", "already_read_file"}:
        path = attachment.get("filename") or attachment.get("filePath")
        text = text_of(attachment.get("content")) or text_of(attachment.get("snippet"))
        return text, origin_of_file(path) if isinstance(path, str) else Origin.TOOL
    for key in ("content", "addedBlocks", "condition", "prompt", "stdout", "message"):
        if text := text_of(attachment.get(key)):
            return text, Origin.HARNESS
    return "", Origin.HARNESS
