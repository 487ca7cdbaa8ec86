"""Turns and claims for the gates' tests: the quote is the whole text, or the words given, wherever they stand in it."""

from __future__ import annotations

from datetime import UTC, datetime

from pipelines.model import Call, Claim, Kind, Origin, Place, Quote, Result, Role, Turn

SAID_AT = datetime(2026, 11, 26, 9, 0, tzinfo=UTC)  # a Thursday
ROLES = {Origin.USER: Role.USER, Origin.QUOTED: Role.USER, Origin.HARNESS: Role.USER, Origin.TOOL: Role.TOOL, Origin.EXTERNAL: Role.TOOL}


def turn(
    text: str,
    origin: Origin = Origin.USER,
    *,
    uid: str = "t1",
    speaker: str | None = None,
    memory: bool = False,
    quoted: tuple[tuple[int, int], ...] = (),
    exit: int | None = None,
    call: bool = False,
    at: datetime | None = SAID_AT,
) -> Turn:
    return Turn(
        uid=uid,
        snap=uid,
        session="s1",
        ordinal=1,
        role=ROLES.get(origin, Role.ASSISTANT),
        origin=origin,
        text=text,
        place=Place(line=1, offset=0, length=len(text)),
        at=at,
        speaker=speaker,
        memory=memory,
        quoted=quoted,
        result=None if exit is None else Result(call_id="c1", exit=exit, failed=exit != 0),
        call=Call(call_id="c1", name="Bash") if call else None,
    )


def quote(of: Turn, words: str | None = None) -> Quote:
    words = of.text if words is None else words
    start = of.text.index(words)
    return Quote(turn=of.uid, start=start, end=start + len(words), text=words)


def claim(
    statement: str,
    *of: Turn,
    words: str | None = None,
    kind: Kind = Kind.FACT,
    value: str | None = None,
    standing_mark: bool = False,
    doubts: tuple[str, ...] = (),
    subject: str = "project",
) -> Claim:
    return Claim(
        kind=kind,
        subject=subject,
        attribute="attribute",
        statement=statement,
        quotes=tuple(quote(one, words) for one in of),
        value=value,
        standing_mark=standing_mark,
        doubts=doubts,
        made_by="test",
    )


def by_uid(*turns: Turn) -> dict[str, Turn]:
    return {one.uid: one for one in turns}
