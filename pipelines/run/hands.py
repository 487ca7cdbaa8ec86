"""Other processes of this machine that lend a hand with a large dream: they take in a part of the logs, and read a part of the sessions, over the same store.

Nothing depends on them. What they do is what any worker does, each file and each unit a transaction of its own; what one of them leaves undone is done by the
process that dreams, or by whoever dreams next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from pipelines.logs.counting import TakenIn
from pipelines.logs.discovery import Found
from pipelines.logs.intake import Take

Parcel = Sequence[Found]
"""Files that are taken in together."""
READING: Final = "extract"
"""The stage hands help with: its units are many and need nothing of each other."""
PARCEL_MIN: Final = 4 * 1024 * 1024
"""Bytes of a parcel, but of the last: less is not worth being handed over."""
PARCELS_EACH: Final = 12
"""Parcels for each process, about, so that all of them end together."""


class Hands(Protocol):
    """What a dream asks of its helpers."""

    @property
    def names(self) -> frozenset[str]:
        """The holders of those that have joined so far."""

    @property
    def helping(self) -> bool:
        """Whether there is any."""

    @property
    def errors(self) -> tuple[Exception, ...]:
        """What went wrong with units they worked on."""

    def take_in(self, scope: str, files: Sequence[Found], take: Take) -> tuple[TakenIn, ...]:
        """What came of each file, in order. This process takes in by `take` what the others have not begun; all of it where they are not worth it.

        Raises what `take` raises.
        """

    def help_reading(self, scope: str, dream: str, *, units: int, ring: Callable[[], None]) -> int:
        """Have them claim units of a dream that reads sessions, if so many are worth it; `ring` is called when one of them has done one.

        Returns at once: how many units a process may have in work at a time, so that each has its share.
        """

    def waiting(self, idle: bool) -> None:
        """Whether this process has nothing to do but wait for them: then the model is theirs to ask."""


def parcels_of(files: Sequence[Found], processes: int, *, least: int = PARCEL_MIN) -> tuple[Parcel, ...]:
    """Files in their order, cut where a parcel has its share of all bytes, `least` at least."""
    share = max(least, sum(f.size for f in files) // (PARCELS_EACH * processes))
    parcels: list[list[Found]] = []
    size = share
    for file in files:
        if size >= share:
            parcels.append([])
            size = 0
        parcels[-1].append(file)
        size += file.size
    return tuple(parcels)
