"""From what a driver raises to what the caller does next, always naming where the store lies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from pipelines.errors import Conflict, DreamdError, Permanent, Refused, StoreUnavailable


class StoreDamaged(Refused):
    """The file is no dreamd store, is corrupt, or lacks what keeps it append-only."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why


class StoreMisplaced(Refused):
    """The store lies where it cannot be kept safely or written at all."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why


@contextmanager
def translated(doing: str, where: str) -> Iterator[None]:
    """Turn driver errors into ours; the cause is kept."""
    try:
        yield
    except DBAPIError as error:
        raise fault(error, doing, where) from error
    except UnicodeEncodeError as error:  # an id or a code; content is made storable on its way in
        raise Permanent(f"cannot {doing}: {error.object[:80]!r} is no text a database takes") from error


def fault(error: DBAPIError, doing: str, where: str) -> DreamdError | DBAPIError:
    """What a driver's error means here. An IntegrityError that no rule of ours explains is a bug and stays what it is."""
    said = str(error.orig).lower()
    if isinstance(error, IntegrityError):
        moved = "unique" in said or "duplicate key" in said
        return Conflict(f"another writer was first while trying to {doing} ({error.orig})") if moved else error
    if "not a database" in said or "malformed" in said or "file is encrypted" in said:
        return StoreDamaged(where, f"this file is no usable store ({error.orig}); restore a copy, or move it away and dream again from the logs")
    if "readonly" in said or "read-only" in said:
        return StoreMisplaced(where, f"cannot be written ({error.orig}); check the owner and mode of the file and its folder")
    if "unable to open" in said:
        return StoreMisplaced(where, f"cannot be opened ({error.orig}); check that its folder exists and may be written")
    if "full" in said or "disk i/o" in said or "locked" in said or "busy" in said:
        return StoreUnavailable(f"{doing} in {where}: {error.orig}")
    if isinstance(error, OperationalError) and error.connection_invalidated:
        return StoreUnavailable(f"{doing} in {where}: {error.orig}")
    return error
