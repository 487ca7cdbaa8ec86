"""Rows in bulk: one statement a table that is put into the driver's words once, and values column by column.

SQLAlchemy makes a dictionary of each row anew and asks each column for its type; for what intake and a large dream write that is most of the time. What is
bound is the same: every value passes its column's type. SQLite takes the rows one by one, PostgreSQL many at once as one JSON value, which costs it a
third of as many statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import orjson
from sqlalchemy import Connection, Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.compiler import SQLCompiler

CHUNK = 5_000  # values in one IN list or rows in one insert; both drivers take 32,000
JSON_BYTES = 4_000_000  # rows in one statement on PostgreSQL, but for a row that alone is longer

T = TypeVar("T")
Keys = tuple[str, ...] | None
"""What becomes of a row that is there already: () leaves it alone, the names of a unique key overwrite the row that has the same; None expects none."""

_NOTHING: Mapping[str, Any] = {}


def chunks(items: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """The items in lists of at most `size`."""
    it = iter(items)
    while part := list(islice(it, size)):
        yield part


def add_rows(conn: Connection, table: Table, names: tuple[str, ...], rows: Iterable[tuple[Any, ...]], *, known: bool = False) -> None:
    """Insert rows, whose values are those of `names`, columns in the table's own order; with `known` rows that are there already are left alone."""
    for part in chunks(rows):
        _write(conn, table, names, list(zip(*part, strict=True)), () if known else None)


def add_told(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]], keys: Keys = None, same: Mapping[str, Any] = _NOTHING) -> None:
    """Insert rows by the names of their columns, each row those of the first, and what is the `same` in all of them. `keys` as Keys has it."""
    names = tuple(str(column.name) for column in table.columns if column.name in rows[0] or column.name in same)  # quoted_name is no plain str
    columns = [[same[name]] * len(rows) if name in same else [row[name] for row in rows] for name in names]
    _write(conn, table, names, columns, keys)


def _write(conn: Connection, table: Table, names: tuple[str, ...], columns: Sequence[Sequence[Any]], keys: Keys) -> None:
    bulk = _bulk(conn.dialect, table, names, keys)
    values = [column if bind is None else _bound(column, bind) for column, bind in zip(columns, bulk.bind, strict=True)]
    rows = zip(*values, strict=True)
    if not bulk.json:
        conn.exec_driver_sql(bulk.text, list(rows))
        return
    for part in _json(names, rows):
        conn.exec_driver_sql(bulk.text, {"rows": part})


def _bound(column: Sequence[Any], bind: Callable[[Any], Any]) -> Sequence[Any]:
    """The values as the driver takes them; one that stands in all rows (when they were recorded) is made once."""
    first = column[0]
    return [bind(first)] * len(column) if all(value is first for value in column) else list(map(bind, column))


# --- statements --------------------------------------------------------------------------------------------------------------------------


class _Bulk(NamedTuple):
    """An insert in the words of a driver: its text, what each column does to a value (None: nothing), and whether it takes many rows as JSON."""

    text: str
    bind: tuple[Callable[[Any], Any] | None, ...]
    json: bool


@lru_cache(maxsize=256)
def _bulk(dialect: Dialect, table: Table, names: tuple[str, ...], keys: Keys) -> _Bulk:
    """The statement; a dialect is one engine's, so a process that opens many stores forgets the oldest."""
    bind = tuple(table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names)
    if dialect.name == "postgresql":
        return _Bulk(_of_json(dialect, table, names, keys), bind, True)
    new = sqlite.insert(table)
    compiled = _settled(new, names, keys).compile(dialect=dialect, column_keys=list(names))
    assert isinstance(compiled, SQLCompiler)
    assert compiled.positiontup is None or tuple(compiled.positiontup) == names, "the names are not in the table's order"
    return _Bulk(str(compiled), bind, False)


def _of_json(dialect: Dialect, table: Table, names: tuple[str, ...], keys: Keys) -> str:
    """An insert of all objects of a JSON array, in their order."""
    quoted = [dialect.identifier_preparer.format_column(table.c[name]) for name in names]
    listed = ", ".join(quoted)
    typed = ", ".join(f"{name} {table.c[plain].type.compile(dialect)}" for name, plain in zip(quoted, names, strict=True))
    told = f"INSERT INTO {table.name} ({listed}) SELECT {listed} FROM json_to_recordset(%(rows)s::json) AS told({typed})"
    return told if keys is None else f"{told} {_on_conflict(dialect, table, names, keys)}"


def _on_conflict(dialect: Dialect, table: Table, names: tuple[str, ...], keys: tuple[str, ...]) -> str:
    settled = str(_settled(postgresql.insert(table), names, keys).compile(dialect=dialect, column_keys=list(names)))
    return settled[settled.rindex("ON CONFLICT") :]


def _settled(new: Any, names: tuple[str, ...], keys: Keys) -> Any:
    """The insert with what becomes of a row that is there already."""
    if keys is None:
        return new
    changed = {name: new.excluded[name] for name in names if name not in keys}
    return new.on_conflict_do_update(index_elements=list(keys), set_=changed) if keys else new.on_conflict_do_nothing()


def _json(names: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """The rows as JSON arrays of objects, none much longer than JSON_BYTES."""
    part: list[bytes] = []
    size = 0
    for row in rows:
        said = _object(names, row)
        if part and size + len(said) > JSON_BYTES:
            yield f"[{b','.join(part).decode()}]"
            part, size = [], 0
        part.append(said)
        size += len(said)
    if part:
        yield f"[{b','.join(part).decode()}]"


def _object(names: tuple[str, ...], row: tuple[Any, ...]) -> bytes:
    """A row as JSON. Raises UnicodeEncodeError for a value that is no text: what is wrong, and with what, no server could say of JSON."""
    try:
        said = orjson.dumps(dict(zip(names, row, strict=True)))
    except TypeError:
        _require_text(row)
        raise
    if _NUL in said:
        _require_text(row)
    return said


_NUL = rb"\u0000"


def _require_text(row: tuple[Any, ...]) -> None:
    for value in row:
        if isinstance(value, str):
            value.encode()
            if (at := value.find("\0")) >= 0:
                raise UnicodeEncodeError("utf-8", value, at, at + 1, "NUL")
