"""Makes turns of what readers find, and gives each its identity.

The uid of a turn comes from its record's own id; without one from what was said when; without a time from its place in its session (systems R11).
So it is equal in every copy, fork and resumed log that holds the turn, whatever file it is read from first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.logs.reader import clean
from pipelines.logs.stamps import NONE, Stamp
from pipelines.model import Call, Event, Origin, Place, Result, Role, Turn, digest

_UNIQUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_.:-]{12,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One utterance as a reader finds it. `record_id` is an id the log gives it, used only when no other log can give the same one by chance.

    `shared_clock` says that the time is fine enough (and the format's forks keep it) to know a copy by its time and words in another session.
    """

    role: Role
    origin: Origin
    text: str
    record_id: str | None = None
    part: str = ""
    shared_clock: bool = False
    stamp: Stamp = NONE
    speaker: str | None = None
    sidechain: bool = False
    memory: bool = False
    corrects: str | None = None
    quoted: tuple[tuple[int, int], ...] = ()
    call: Call | None = None
    result: Result | None = None
    event: Event | None = None


def turn_of(draft: Draft, *, format: str, session: str, ordinal: int, place: Place, repaired: bool) -> Turn:
    """The turn a draft is, at its position in its session."""
    text, mended = clean(draft.text)
    return Turn(
        uid=_uid(draft, format, session, ordinal, text),
        snap=digest(draft.role, draft.origin, text, _arguments(draft.call), repr(draft.result)),
        session=session,
        ordinal=ordinal,
        role=draft.role,
        origin=draft.origin,
        text=text,
        place=place,
        at=draft.stamp.at,
        zone=draft.stamp.zone,
        speaker=draft.speaker,
        sidechain=draft.sidechain,
        memory=draft.memory,
        corrects=draft.corrects,
        quoted=draft.quoted,
        call=draft.call,
        result=draft.result,
        event=draft.event,
        flagged=mended or repaired,
    )


def is_unique(record_id: object) -> bool:
    """Whether an id can stand for one record in the whole world: long enough, letters and digits ("call_YUww8Trq6iPO", a UUID; not "call_1")."""
    return isinstance(record_id, str) and _UNIQUE.fullmatch(record_id) is not None


def name_of(value: Mapping[str, object]) -> str:
    """A digest of a whole record, to name a session by its beginning; records nested too deeply to write share one."""
    try:
        return digest(json.dumps(dict(value), sort_keys=True, ensure_ascii=False, default=str))
    except RecursionError:
        return digest("nested_too_deeply")


def words_of(call: Call) -> str:
    """A call as text to search and quote: its command where it runs one, its free text (a patch), else its arguments as JSON.

    A tool that names a path beside its command ("view", "create") runs none.
    """
    given = call.arguments.get("input") if call.path is not None or call.command is None else call.command
    if isinstance(given, str) and given.strip():
        return given
    return json.dumps(dict(call.arguments), ensure_ascii=False, default=str) if call.arguments else call.name


def text_of(content: object, *, kinds: Sequence[str] = ("text", "input_text", "output_text")) -> str:
    """The text of a message's content: a string, or the text parts of a list joined by newlines; "" for what holds no text."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("content", content.get("text")), kinds=kinds)
    if not isinstance(content, list):
        return ""
    return "\n".join(part for part in (_part(item, kinds) for item in content) if part)


def _part(item: object, kinds: Sequence[str]) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and item.get("type", "text") in kinds and isinstance(text := item.get("text"), str):
        return text
    return ""


def _uid(draft: Draft, format: str, session: str, ordinal: int, text: str) -> str:
    if is_unique(draft.record_id):
        return digest(format, "id", str(draft.record_id), draft.part)
    at = draft.stamp.at
    if draft.shared_clock and at is not None:
        return digest(format, "said", draft.role, at.isoformat(), text, _arguments(draft.call), draft.part)
    return digest(format, "place", session, str(ordinal), draft.role, at.isoformat() if at else "", text)


def _arguments(call: Call | None) -> str:
    return "" if call is None else json.dumps([call.name, dict(call.arguments)], ensure_ascii=False, sort_keys=True, default=str)
