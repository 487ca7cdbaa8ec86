"""Looking back: the two times a version has, and what of it held at a moment (DESIGN §4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pipelines.model import OnlineNote, Standing, Status, Version
from pipelines.text.sentences import sentences
from pipelines.text.times import deadline_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A look back. `as_of` asks what was true then, by event time; `known_at` what was believed then, by the store's clock. With neither it is the present.

    Both together ask what was believed at `known_at` to be true at `as_of`.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None

    def __bool__(self) -> bool:
        return self.as_of is not None or self.known_at is not None

    @property
    def latest(self) -> datetime | None:
        """What happened later is not told: it had not happened, or nobody can have known of it."""
        return min((at for at in (self.as_of, self.known_at) if at is not None), default=None)


PRESENT = Moment()


AHEAD_MAX = timedelta(days=1)
"""No clock in use and no zone taken for another is further ahead: a time beyond that is wrong."""


def is_ahead(at: datetime | None, read_at: datetime | None) -> bool:
    """Whether a time a log states cannot be: it lies more than a day after the log was read."""
    return at is not None and read_at is not None and at > read_at + AHEAD_MAX


def held(version: Version, moment: Moment) -> Version | None:
    """A version that was believed at the look back's `known_at` (or is now), as it held then."""
    if moment.as_of is not None:
        return true_at(version, moment.as_of)
    return None if moment.known_at is not None and over(version, moment.known_at) else version


def last_heard(version: Version, moment: Moment) -> datetime | None:
    """When a version was last heard of; of a look back by what was true, its oldest evidence where the newest is later than that."""
    at, newest = moment.as_of, version.newest_evidence
    return version.oldest_evidence if at and newest and newest > at else newest


def over(version: Version, now: datetime) -> bool:
    """Whether a version's validity is over by the reader's clock, told so or not."""
    return version.status in _LIVE and version.valid_until is not None and version.valid_until <= now


def true_at(version: Version, at: datetime) -> Version | None:
    """A version as it held at a moment, or None when it did not.

    What was superseded or ran out later was as good as confirmed while it held; where nobody knows when it ended (it weighed less, or nothing orders the two),
    nobody knows that it ever was true. What was taken back was not. A version whose beginning is unknown held up to its end.
    """
    if version.status in {Status.RETRACTED, Status.QUARANTINED}:
        return None
    ended = version.status in {Status.SUPERSEDED, Status.EXPIRED}
    if ended and version.valid_until is None:
        return None
    begun = version.valid_from is None or version.valid_from <= at
    if not begun or (version.valid_until is not None and version.valid_until <= at):
        return None
    if not ended:
        return version
    unproven = version.standing is Standing.INFERRED or bool(version.missed)
    return replace(version, status=Status.DRAFT if unproven else Status.CONFIRMED, statement=said_of(version))


def said_of(version: Version) -> str:
    """What a version said in its time: its sentence, unless that is the one that replaced it ("from 4 to 6 workers")."""
    return named_value(version) if version.slot.endswith(TOLD) and version.value else version.statement


def named_value(version: Version) -> str:
    """The value of a version, and what it is the value of."""
    about = (version.qualifier, "" if version.subject in _NOBODY else version.subject, "" if version.attribute in _SAYS_NOTHING else version.attribute)
    name = " ".join(dict.fromkeys(word for part in about for word in part.split()))
    value = version.value or ""
    return f"{name}: {value}" if name else value


def deadline_of(note: OnlineNote) -> datetime | None:
    """When a line of a note file is over by its own words, from the moment it was written; of several sentences none speaks for the others, and a line that
    leads to a page stays as long as the page."""
    if note.links or len(sentences(note.text)) != 1:
        return None
    return deadline_in(note.text, note.written_at)


def stood_at(note: OnlineNote, at: datetime) -> bool:
    """Whether a line of a note file had been written at a moment, and was not over by its own words. When a file was copied says nothing of its lines."""
    ends = deadline_of(note)
    late = note.dated_by != "mtime" and note.written_at is not None and note.written_at > at
    return not late and (ends is None or ends > at)


TOLD = ".told"
"""How the slot of a former value ends that no claim states."""
_NOBODY = frozenset({"user", "project"})
_SAYS_NOTHING = frozenset({"tool", "use", "value", "state", "is"})
"""Attributes the grammar gives what it has no better name for."""
_LIVE = frozenset({Status.CONFIRMED, Status.DRAFT, Status.DISPUTED, Status.NEEDS_RECHECK})
