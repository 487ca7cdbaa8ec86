"""From what a driver raises to what the caller does next, always naming where the store lies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolExhausted

from pipelines.errors import Conflict, DreamdError, Permanent, Refused, StoreUnavailable, StoreUnusable


class StoreDamaged(StoreUnusable):
    """The file is no dreamd store, is corrupt, or lacks what keeps it append-only."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why


class StoreMisplaced(StoreUnusable):
    """The store lies where it cannot be kept safely or written at all."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why


class TakenBack(StoreUnavailable):
    """The database took this transaction back in favour of another (a deadlock, or no order between them): the same work may be done again at once."""


@contextmanager
def translated(doing: str, where: str) -> Iterator[None]:
    """Turn driver errors into ours; the cause is kept."""
    try:
        yield
    except DBAPIError as error:
        raise fault(error, doing, where) from error
    except PoolExhausted as error:
        raise StoreUnavailable(f"{doing} in {where}: all connections of this process are in use") from error
    except UnicodeEncodeError as error:  # an id or a code; content is made storable on its way in
        raise Permanent(f"cannot {doing}: {error.object[:80]!r} is no text a database takes ({error.reason})") from error


def fault(error: DBAPIError, doing: str, where: str) -> DreamdError | DBAPIError:
    """What a driver's error means here. An IntegrityError that no rule of ours explains is a bug and stays what it is."""
    return _of_sqlite(error, doing, where) if isinstance(error.orig, sqlite3.Error) else _of_postgres(error, doing, where)


def _of_sqlite(error: DBAPIError, doing: str, where: str) -> DreamdError | DBAPIError:
    said = str(error.orig).lower()
    if isinstance(error, IntegrityError):
        return _first(doing, error) if "unique" in said else error
    if "not a database" in said or "malformed" in said or "file is encrypted" in said:
        return StoreDamaged(where, f"this file is no usable store ({error.orig}); restore a copy, or move it away and dream again from the logs")
    if "readonly" in said or "read-only" in said:
        return StoreMisplaced(where, f"cannot be written ({error.orig}); check the owner and mode of the file and its folder")
    if "unable to open" in said:
        return StoreMisplaced(where, f"cannot be opened ({error.orig}); check that its folder exists and may be written")
    if "locked" in said or "busy" in said:
        return StoreUnavailable(f"{doing} in {where}: {_HELD}")
    if "full" in said or "disk i/o" in said:
        return StoreUnavailable(f"{doing} in {where}: {error.orig}")
    return error


def _of_postgres(error: DBAPIError, doing: str, where: str) -> DreamdError | DBAPIError:
    """By the server's code; a connection that could not be made, or broke, has none."""
    code = getattr(error.orig, "sqlstate", None) or ""
    said = " ".join(str(error.orig).split())
    if code == _UNIQUE:
        return _first(doing, error)
    if code == _LOCKED:
        return StoreUnavailable(f"{doing} in {where}: {_HELD}")
    if code in _AGAIN:
        return TakenBack(f"{doing} in {where}: {said}")
    if code == _STANDBY:
        return StoreUnavailable(f"{doing} in {where}: {said}; when this stays so, name the primary server")
    if code == _NOT_ALLOWED:
        return StoreMisplaced(where, f"cannot be written ({said}); name a user who may write")
    if code in _DAMAGED:
        return StoreDamaged(where, f"the server reports damaged data ({said}); restore a copy")
    if isinstance(error, ProgrammingError) and error.statement is None:  # before anything was sent
        return Refused(f"{where}: database_url has an option that cannot be: {said}")
    if isinstance(error, DataError):
        return Permanent(f"cannot {doing}: {said}")
    if code[:2] in _AWAY or code in _TIMED_OUT or (isinstance(error, OperationalError) and not code) or error.connection_invalidated:
        return StoreUnavailable(f"{doing} in {where}: {said}")
    return error


_HELD = "another process has held it all the while (a forget, an import or a large dream takes minutes); nothing was changed: try again when it has ended"
_UNIQUE = "23505"
_LOCKED = "55P03"  # a lock was waited for as long as we wait
_AGAIN = frozenset({"40001", "40P01"})  # serialization failure, deadlock
_STANDBY = "25006"  # what writes is refused: the server is being replaced by another (a failover), as a rule, and passes
_NOT_ALLOWED = "42501"
_DAMAGED = frozenset({"XX001", "XX002"})
# connection trouble, who we are, no such database, resources, locks held too long, an operator's hand or a time limit, the disk
_AWAY = frozenset({"08", "28", "3D", "53", "55", "57", "58"})
_TIMED_OUT = frozenset({"25P03", "25P04"})  # the server ended a transaction that stood idle


def _first(doing: str, error: DBAPIError) -> Conflict:
    return Conflict(f"another writer was first while trying to {doing} ({error.orig})")
