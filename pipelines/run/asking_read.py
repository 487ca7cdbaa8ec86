"""Reading sessions with an engine that asks a model: all sessions of a unit side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from pipelines.ports import Asking, Engine, Extracted, Window
from pipelines.run.parts import Params
from pipelines.run.reading import SessionReading, Unread, reading_of
from pipelines.stages.extractor import judge_all


class Reader(Engine, Protocol):
    """An engine that reads by asking."""

    def read(self, windows: Sequence[Window], asking: Asking) -> Sequence[Extracted]:
        """One answer a window, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read of some sessions, and which are left to a later dream, each with why."""

    readings: tuple[SessionReading, ...]
    unread: tuple[tuple[str, str], ...] = ()


def asks(engine: Engine) -> bool:
    """Whether an engine reads by asking."""
    return hasattr(engine, "read")


def read_asking(engine: Engine, windows: Sequence[Window], of: Sequence[Unread], params: Params, asking: Asking) -> Read:
    """Ask about all these sessions at once and judge the answers. A session that was not asked about to the end is left as it was."""
    reader = cast(Reader, engine)
    answers = tuple(zip(windows, reader.read(windows, asking), of, strict=True))
    read = [(window, told, judge_all(told, window), session) for window, told, session in answers if not told.unread]
    return Read(
        readings=tuple(reading_of(engine, window, told, judged, session, params) for window, told, judged, session in read),
        unread=tuple((session.session, told.unread) for _, told, session in answers if told.unread),
    )
