"""Carrying a scope from one store to another, record for record: `exported` is the file, this is what reads it from a database and writes it into one.

Uids, revisions, times, rulings, requests and slots stay what they are, so the next dream over the copy is the one over the original; row ids are the
new database's own (systems R21).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, groupby
from typing import Any, BinaryIO, cast

from sqlalchemy import Connection, Table, func, insert, select, text, update

from pipelines.errors import Conflict, Refused
from pipelines.ports import Blobs
from pipelines.store import tables as t
from pipelines.store.core import Core, chunks
from pipelines.store.exported import ARCHIVE, NAMES_IDS, UP_TO, BadExport, Header, Reader, Row, Writer, carried, references
from pipelines.store.intake import note_arrival
from pipelines.store.requests import Requests
from pipelines.store.schema import HEAD
from pipelines.store.types import dump, load

_NOT_EMPTY = "already holds something of {scope}: import into a store (or a wiki of its own) where that scope is new"
_OTHER_KEY = (
    "holds other scopes, and its key is another one than that of {name}: what was read of logs and lines is remembered by digests under the key, "
    "so import into a new store"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transferred:
    """What was carried: rows of all tables, and blobs of the archive."""

    scope: str
    rows: int
    blobs: int


# --- out ---------------------------------------------------------------------------------------------------------------------------------


def export_scope(store: Requests, scope: str, archive: Blobs, out: BinaryIO, *, hand: str) -> Transferred:
    """Write the scope as it stands at one moment, and who did it into the audit.

    Raises Refused when the store has no such scope or a dream runs over it, ArchiveUnavailable when bytes of its logs cannot be read: half a scope is
    never a file with its last line.
    """
    writer = Writer(out)
    with store.reading("export a scope") as conn:
        row = conn.execute(select(t.scopes).where(t.scopes.c.path == scope)).one_or_none()
        if row is None:
            raise Refused(f"{store.engines.where} has no scope {scope}: it has {', '.join(conn.scalars(select(t.scopes.c.path).limit(9))) or 'none'}")
        _require_quiet(conn, row)
        key = conn.execute(select(t.store.c.pepper)).scalar_one()
        told = {name: getattr(row, name) for name in ("revision", "recorded_at", "wanted", "taken")}
        writer.header(Header(schema=HEAD, scope=scope, key=key, **told))
        blobs = _write_archive(writer, conn, row.id, archive)
        _write_tables(writer, conn, row.id)
    rows = writer.finish()
    with store.writing("write down an export") as conn:
        store.add_audit(conn, store.locked_scope(conn, scope), "export", hand, f"{rows} rows", key=secrets.token_hex(8))
    return Transferred(scope=scope, rows=rows - blobs, blobs=blobs)


def _require_quiet(conn: Connection, scope: Any) -> None:
    d = t.dreams.c
    running = conn.scalar(select(d.uid).where(d.scope_id == scope.id, d.state == "running"))
    if running is not None:
        raise Refused(f"dream {running} runs over {scope.path}: wait until it is done, or end it with dreamd dreams cancel, and export then")


def _write_archive(writer: Writer, conn: Connection, scope_id: int, archive: Blobs) -> int:
    g = t.segments.c
    addresses = sorted(set(conn.scalars(select(g.blob).where(g.scope_id == scope_id).distinct())))
    writer.table(ARCHIVE, ("address", "bytes"))
    for address in addresses:
        conn.execute(select(1))  # a server ends a snapshot that stands idle for long, and blobs come from elsewhere
        writer.row((address, archive.get(address)))
    return len(addresses)


def _write_tables(writer: Writer, conn: Connection, scope_id: int) -> None:
    numbers: dict[str, dict[int, int]] = {}  # table -> row id -> number within the file
    for table in carried():
        names = [c.name for c in table.columns if c.name not in {"id", "scope_id"}]
        points = references(table)
        own = numbers[table.name] = {}
        writer.table(table.name, names)
        query = select(table).where(table.c.scope_id == scope_id).order_by(table.c.id)
        for row in conn.execution_options(yield_per=1_000).execute(query):
            own[row.id] = len(own) + 1
            writer.row([_numbered(table.name, name, getattr(row, name), points, numbers) for name in names])


def _numbered(table: str, name: str, value: Any, points: Mapping[str, str], numbers: Mapping[str, Mapping[int, int]]) -> Any:
    """A value with row ids turned into numbers within the file."""
    if value is None:
        return None
    if name in points:
        return numbers[points[name]][value]
    if (table, name) in NAMES_IDS:
        known = numbers[NAMES_IDS[table, name]]
        return dump([known[i] for i in cast(list[int], load(value))])
    if (table, name) in UP_TO:
        known = numbers[UP_TO[table, name]]
        return known[value] if value in known else sum(i <= value for i in known)
    return value


# --- in ----------------------------------------------------------------------------------------------------------------------------------


def import_scope(store: Requests, archive_of: Callable[[str], Blobs], opened: Callable[[], BinaryIO], *, name: str, hand: str) -> Transferred:
    """Bring an exported scope into this store, all of it or nothing, and who did it into the audit. `opened` opens the file, `name` is what it is called.

    The file is read to its end and found right first. Raises BadExport for one that is damaged, foreign or of a newer dreamd; Refused when the store
    already holds something of the scope, or other scopes under another key. What the file says is taken as it is: import only what you trust.
    """
    with opened() as file:
        reader = Reader(file, name)
        for row in reader:
            if row.table == ARCHIVE:
                _require_address(row, name)
    if reader.header.schema > HEAD:
        raise BadExport(name, f"has schema {reader.header.schema}, this dreamd knows schemas up to {HEAD}: install the dreamd that wrote it")
    with store.reading("look for the scope") as conn:
        _require_room(store, conn, store.scope_of(conn, reader.header.scope), reader.header, name)
    with opened() as file:
        return _import(store, archive_of(reader.header.scope), Reader(file, name), reader.rows, hand)


def _require_address(row: Row, name: str) -> None:
    if sha256(row.values["bytes"]).hexdigest() != row.values["address"]:
        raise BadExport(name, "is damaged: bytes of a log are not those their address names")


def _require_room(store: Core, conn: Connection, scope_id: int | None, header: Header, name: str) -> None:
    """The scope must be new here, and this store's key the file's, or nobody's yet."""
    holds = [select(table.c.id).where(table.c.scope_id == scope_id) for table in carried()]
    believed = select(t.scopes.c.id).where(t.scopes.c.id == scope_id, t.scopes.c.revision > 0)
    if scope_id is not None and any(conn.scalar(query.limit(1)) is not None for query in (*holds, believed)):
        raise Refused(f"{store.engines.where} {_NOT_EMPTY.format(scope=header.scope)}")
    others = conn.scalar(select(t.scopes.c.id).where(t.scopes.c.path != header.scope).limit(1))
    if others is not None and conn.execute(select(t.store.c.pepper)).scalar_one() != header.key:
        raise Refused(f"{store.engines.where} {_OTHER_KEY.format(name=name)}")


def _import(store: Requests, archive: Blobs, reader: Reader, counts: Mapping[str, int], hand: str) -> Transferred:
    # a server's archive is rows of the same database: they come with the rest, or not at all
    whole = nullcontext() if store.on_sqlite else store.together("import a scope")
    try:
        with whole:
            rows = _put_archive(archive, reader)
            with store.writing("import a scope") as conn:
                _write(store, conn, reader, rows, counts, hand)
    except Conflict as error:
        raise BadExport(reader.name, f"contradicts itself ({error})") from error
    finally:
        store.identify()
    return Transferred(scope=reader.header.scope, rows=sum(counts.values()) - counts.get(ARCHIVE, 0), blobs=counts.get(ARCHIVE, 0))


def _put_archive(archive: Blobs, reader: Reader) -> Iterator[Row]:
    """Keep the bytes of logs, which stand first; the rows that follow. In a folder each is kept on its own: one that is kept for nothing harms nobody."""
    rows = iter(reader)
    for row in rows:
        if row.table != ARCHIVE:
            return chain((row,), rows)
        archive.put(row.values["bytes"])
    return rows


def _write(store: Requests, conn: Connection, reader: Reader, rows: Iterator[Row], counts: Mapping[str, int], hand: str) -> None:
    header = reader.header
    scope_id = store.locked_scope(conn, header.scope)
    _require_room(store, conn, scope_id, header, reader.name)
    _take_key(conn, header.key)
    _insert(conn, scope_id, rows, counts)
    if counts.get("turns") and not counts.get("arrivals"):  # a file from before arrivals were written down
        newest = conn.scalar(select(func.max(t.turns.c.id)).where(t.turns.c.scope_id == scope_id)) or 0
        note_arrival(conn, scope_id, newest, header.recorded_at)
    told = {"revision": header.revision, "recorded_at": header.recorded_at, "wanted": header.wanted, "taken": header.taken}
    conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(**told))
    store.add_audit(conn, scope_id, "import", hand, f"{sum(counts.values())} rows", key=secrets.token_hex(8))


def _take_key(conn: Connection, key: bytes) -> None:
    """Make the file's key the store's own, and the store another one than those that are open on it think."""
    conn.execute(update(t.store).where(t.store.c.pepper != key).values(pepper=key, epoch=secrets.token_hex(8)))


def _insert(conn: Connection, scope_id: int, rows: Iterator[Row], counts: Mapping[str, int]) -> None:
    ids: dict[str, list[int]] = {}
    tables = {table.name: table for table in carried()}
    for name, group in groupby(rows, key=lambda row: row.table):
        table = tables[name]
        ids[name] = _new_ids(conn, table, counts[name])
        points = references(table)
        for part in chunks(group):
            conn.execute(insert(table), [{"id": ids[name][row.number - 1], "scope_id": scope_id, **_pointing(row, points, ids)} for row in part])


def _pointing(row: Row, points: Mapping[str, str], ids: Mapping[str, list[int]]) -> dict[str, Any]:
    """A row's values with numbers within the file turned into row ids."""
    values = dict(row.values)
    for name, value in row.values.items():
        if value is None:
            continue
        if name in points:
            values[name] = ids[points[name]][value - 1]
        elif (row.table, name) in NAMES_IDS:
            values[name] = dump(sorted(ids[NAMES_IDS[row.table, name]][n - 1] for n in value))
        elif (row.table, name) in UP_TO:
            values[name] = ids[UP_TO[row.table, name]][value - 1] if value else 0
    return values


def _new_ids(conn: Connection, table: Table, count: int) -> list[int]:
    """Row ids nobody ever had, in rising order, for rows that name one another before they are written."""
    if conn.dialect.name == "sqlite":
        last = conn.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name}) or 0
        return list(range(last + 1, last + count + 1))
    drawn = conn.scalars(text(f"SELECT nextval(pg_get_serial_sequence('{table.name}', 'id')) FROM generate_series(1, :count)"), {"count": count})
    return sorted(drawn)
