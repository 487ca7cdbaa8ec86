"""Archived bytes nothing points at: those a forget or a retention has replaced, and those of an intake that was killed before it committed their turns.

Who is killed between archiving and its commit leaves bytes nobody can cite. They stay (a copy of the store that is restored may know them) until a forget
reaches their words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol, runtime_checkable

import orjson

from pipelines.errors import Transient
from pipelines.run.parts import Parts
from pipelines.store.filled import BLOB
from pipelines.text.traces import Traces, strings_of


@runtime_checkable
class Dropping(Protocol):
    """An archive that knows what it holds and can let go of it."""

    def addresses(self) -> frozenset[str]: ...
    def drop_all(self, addresses: Collection[str]) -> None: ...


def drop_unused(parts: Parts, scope: str, names: Collection[str]) -> None:
    """Remove those of these blobs that nothing points at any more. Raises Transient where the archive cannot be written now."""
    if isinstance(parts.archive, Dropping):
        parts.archive.drop_all(parts.store.unused_blobs(scope, names))


def listed(parts: Parts) -> frozenset[str]:
    """Everything in the archive, as far as it can be listed."""
    return parts.archive.addresses() if isinstance(parts.archive, Dropping) else frozenset()


def leave_over(parts: Parts, scope: str, found: Collection[str], holds: Callable[[str], bool]) -> int:
    """Leave those of these blobs over, to be cleaned, that nothing points at and that hold it; what cannot be read may hold it. Returns how many."""
    known = {name for what, name in parts.store.leftovers(scope) if what == BLOB}
    gone = [address for address in sorted(parts.store.unused_blobs(scope, found) - known) if _may_hold(parts, address, holds)]
    parts.store.leave_blobs(scope, gone)
    return len(gone)


def holding(traces: Traces) -> Callable[[str], bool]:
    """Whether a part of a log carries any of the traces, in a record or as it stands."""
    return lambda said: traces.within(said) or any(traces.within(text) for line in said.splitlines() for text in _strings(line))


def _may_hold(parts: Parts, address: str, holds: Callable[[str], bool]) -> bool:
    try:
        return holds(parts.archive.get(address).decode("utf-8", "replace"))
    except Transient:
        return True


def _strings(line: str) -> tuple[str, ...]:
    try:
        return tuple(strings_of(orjson.loads(line)))
    except ValueError:
        return ()
