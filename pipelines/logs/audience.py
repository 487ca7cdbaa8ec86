"""Marks the sessions of a log with the audience of the door they came in by. The mark is ours: what a log says by its name is taken out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pipelines.model import SessionInfo, Turn
from pipelines.notes.privacy import SAID_TO


def said_to(audience: str, sessions: Iterable[SessionInfo], turns: Iterable[Turn], *, format: str) -> tuple[SessionInfo, ...]:
    """What a log tells of its sessions, with the audience; sessions that only its turns name are told of, too, where there is one."""
    told = tuple(sessions)
    if not audience:
        return tuple(replace(s, extra={k: v for k, v in s.extra.items() if k != SAID_TO}) if SAID_TO in s.extra else s for s in told)
    named = dict.fromkeys(turn.session for turn in turns)
    untold = (SessionInfo(uid=uid, format=format) for uid in named if uid not in {s.uid for s in told})
    return tuple(replace(s, extra={**s.extra, SAID_TO: audience}) for s in (*told, *untold))
