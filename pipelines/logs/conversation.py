"""Reads plain conversations: JSONL rows of `session`, `speaker`, `time`, `text`.

Every speaker is a person (origin `user`, with the speaker's name) but those that name themselves an assistant, a system or a tool.
A session is its label together with its first row, so that "monday" of two files stays two sessions and a copied file stays one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.logs.drafts import Draft, is_unique, name_of, turn_of
from pipelines.logs.origins import Part, parts_of_message
from pipelines.logs.reader import Carry, FileContext, Read
from pipelines.logs.split import Record
from pipelines.logs.stamps import stamp
from pipelines.model import BadSpan, Origin, Role, SessionInfo, Turn, digest

FORMAT = "conversation"
SESSIONS_HELD = 256
"""How many sessions may be interleaved in one file; one that falls silent for longer begins anew."""
LABEL_MAX = 200
"""Characters of a session's label that are kept; a longer one stands as its digest."""

_ASSISTANTS = frozenset(
    {"assistant", "ai", "bot", "chatbot", "model", "agent", "ai assistant", "gpt", "chatgpt", "claude", "助手", "ai助手", "机器人", "人工智能"}
)
_SYSTEMS = frozenset({"system", "developer", "系统"})
_TOOLS = frozenset({"tool", "function", "工具"})
_PRINTABLE = re.compile(r"[\w.-]{1,64}")


class ConversationReader:
    """Plain conversations (`Reader`)."""

    format = FORMAT

    def sniff(self, first: Sequence[object], name: str) -> bool:
        """Known by a speaker and a text."""
        return any(isinstance(row, Mapping) and {"speaker", "text"} <= row.keys() for row in first)

    def read(self, records: Sequence[Record], carry: Carry, where: FileContext) -> Read:
        """The rows as turns; the carry holds the sessions that may go on: label, uid and next position."""
        held: dict[str, Any] = json.loads(json.dumps(carry.get("sessions") or {}))
        met: dict[str, SessionInfo] = {}
        turns: list[Turn] = []
        bad: list[BadSpan] = []
        ignored = 0
        for record in records:
            drafts = _drafts(record.value)
            if drafts is None:
                bad.append(BadSpan(place=record.place, reason="row_without_speaker_or_text"))
            elif not drafts:
                ignored += 1
            for draft in drafts or ():
                info, position = _place(held, record.value)
                met[info.uid] = info
                turns.append(turn_of(draft, format=FORMAT, session=info.uid, ordinal=position, place=record.place, repaired=record.repaired))
        counted = {"empty": ignored} if ignored else {}
        return Read(sessions=tuple(met.values()), turns=tuple(turns), ignored=counted, bad=tuple(bad), carry={"sessions": held})


def _place(held: dict[str, Any], row: Mapping[str, object]) -> tuple[SessionInfo, int]:
    """The row's session and its position there; `held` moves on, the session met last at its end."""
    given = row.get("session")
    label = given if isinstance(given, str) else str(given) if isinstance(given, int | float) else ""
    label = label if len(label) <= LABEL_MAX else digest(label)
    known = held.pop(label, None) or {"uid": _uid(label, row), "next": 0}
    held[label] = {"uid": known["uid"], "next": known["next"] + 1}
    while len(held) > SESSIONS_HELD:
        del held[next(iter(held))]
    return SessionInfo(uid=known["uid"], format=FORMAT, title=label or None), known["next"]


def _uid(label: str, row: Mapping[str, object]) -> str:
    if is_unique(label):
        return label
    first = digest(FORMAT, name_of(row))
    return f"{label}-{first[:10]}" if _PRINTABLE.fullmatch(label) else first


def _drafts(row: Mapping[str, object]) -> list[Draft] | None:
    """What one row says, a draft for each who speaks in it; none for an empty row, None for a row that is no utterance."""
    speaker, text, record_id = row.get("speaker"), row.get("text"), row.get("id")
    if not isinstance(speaker, str) or not speaker.strip() or not isinstance(text, str):
        return None
    role, origin = _speaks(speaker)
    parts = parts_of_message(text) if origin is Origin.USER else (Part(origin=origin, text=text),)
    return [
        Draft(
            role=role, origin=part.origin, text=part.text, record_id=record_id if isinstance(record_id, str) else None, part=str(number),
            stamp=stamp(row.get("time")), speaker=speaker.strip(), memory=part.memory, quoted=part.quoted,
        )
        for number, part in enumerate(parts)
        if part.text.strip()
    ]  # fmt: skip


def _speaks(speaker: str) -> tuple[Role, Origin]:
    name = speaker.strip().casefold()
    if name in _ASSISTANTS:
        return Role.ASSISTANT, Origin.ASSISTANT
    if name in _SYSTEMS:
        return Role.SYSTEM, Origin.HARNESS
    if name in _TOOLS:
        return Role.TOOL, Origin.TOOL
    return Role.USER, Origin.USER
