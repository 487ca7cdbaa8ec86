"""Which schema a store has, and whether this code may work on it (systems R16)."""

from __future__ import annotations

from sqlalchemy import Connection, MetaData, Table, inspect, select

from pipelines.errors import StoreTooNew
from pipelines.store import tables as t
from pipelines.store.faults import StoreDamaged

HEAD = "0007"  # the newest migration; a test keeps it equal to the folder
KNOWN = frozenset({"0001", "0002", "0003", "0004", "0005", "0006", HEAD})
OLDEST = "0002"  # the oldest code that works on this schema: a migration that only adds leaves it, any other sets it to itself (systems R16)

_version = Table("alembic_version", MetaData(), t.word("version_num"))
_ASKED = select(_version.c.version_num, select(t.store.c.epoch).scalar_subquery())


def schema_version(conn: Connection, where: str) -> str | None:
    """The schema a database holds, None when it is empty; refuses another program's, and one whose newer schema this code cannot work on."""
    names = set(inspect(conn).get_table_names())
    if not names:
        return None
    found = conn.scalar(select(_version.c.version_num)) if {"alembic_version", "store", "scopes"} <= names else None
    if found is None:
        raise StoreDamaged(where, "this database belongs to another program; name another one for the store")
    if found not in KNOWN and not (found > HEAD and _bears(conn)):
        raise _too_new(where, found)
    return str(found)


def check_schema(conn: Connection, where: str) -> str | None:
    """Refuse to go on where a migration went past what this code works on: asked before each piece of work, since it may come while we run (systems R16).

    Returns the epoch, which says what store it is, in the same question.
    """
    row = conn.execute(_ASKED).first()
    found, epoch = ("", None) if row is None else row
    if found < HEAD:
        raise StoreDamaged(where, f"has schema {found} and had {HEAD} when this process began (an older copy was restored); start this process again")
    if found > HEAD and not _bears(conn):
        raise _too_new(where, found)
    return epoch


def _bears(conn: Connection) -> bool:
    """Whether a newer schema says that this code may go on beside it."""
    oldest = conn.scalar(select(t.store.c.oldest_code))
    return oldest is not None and oldest <= HEAD


def _too_new(where: str, found: str) -> StoreTooNew:
    return StoreTooNew(
        f"{where} has schema {found}, this dreamd knows schemas up to {HEAD}: nothing was read or written. "
        "Install the dreamd that wrote it (or a newer one), or name another store"
    )
