"""The file a scope is carried in: JSON lines inside one zstd stream, closed by a line with their count and digest.

    {"dreamd": "scope", "form": 1, "schema": …, "scope": …, "key": …, …}    what it is, and the scope's own row
    {"table": NAME, "columns": [...]}                                        then that table's rows, one array each, in the order they were written
    {"end": true, "rows": {NAME: n}, "sha256": …}                            over all lines before it

The first table is the archive: addresses and bytes. A row has no id; another row points at it by its number within its table, from 1. The same scope
gives the same lines whatever database it lies in. Nothing of a file is believed before its last line was read and found right.
"""

from __future__ import annotations

import hashlib
import sys
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, cast

from sqlalchemy import Boolean, Column, Integer, LargeBinary, MetaData, Table, Text

from pipelines.errors import Refused
from pipelines.store import tables as t
from pipelines.store.types import Utc, dump, load

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORM = 1
ARCHIVE = "archive"
LINE_MAX = 256 * 1024 * 1024  # bytes of one line: the longest holds a segment of the archive in base64
_LEVEL = 6
_INT_MAX = 1 << 63

LEFT = {
    "blobs": "the archive's own, wherever it lies: carried as bytes",
    "leftovers": "what is still to be cleaned out of the files of the store it was forgotten in",
    "wikis": "folders of this host that this store publishes into",
    "calls": "the bill of the store that paid it; what came of them is in the answers",
    "batches": "are waited for and fetched where they were posted",
    **dict.fromkeys(
        ("renders", "shown_items", "shown_rests", "shown_pages", "shown_links", "shown_sessions", "shown_infos", "kin_marks", "kin_links", "kin_runs"),
        "made again from the rest when they are next asked",
    ),
}
"""Tables of a scope that are not carried, each with the reason."""

NAMES_IDS = {("change_reads", "seen"): "note_versions"}
"""JSON lists of row ids of another table."""
UP_TO = {("dreams", "dirty_upto"): "dirty_claims", ("arrivals", "upto"): "turns"}
"""Row ids that stand for all rows up to them."""


class BadExport(Refused):
    """The file is no export of dreamd, is damaged, or is of a newer one; nothing was written."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}; nothing was imported")
        self.name = name
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The scope's own row, the key its keyed digests are made with, and the schema the file was written under."""

    schema: str
    scope: str
    key: bytes
    revision: int
    recorded_at: datetime
    wanted: int
    taken: int


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table by column; references are still numbers within the file."""

    table: str
    number: int
    values: Mapping[str, Any]


def carried() -> tuple[Table, ...]:
    """The tables of a scope in an order in which every reference is to a row before it."""
    found = [table for table in t.metadata.sorted_tables if "scope_id" in table.c and table.name not in LEFT]
    late = {name for name, _ in (*NAMES_IDS, *UP_TO)}
    behind = {table.name for table in found if late & {key.referred_table.name for key in table.foreign_key_constraints}}
    moved = late | behind
    return (*(table for table in found if table.name not in moved), *(table for table in found if table.name in moved))


def references(table: Table) -> dict[str, str]:
    """Columns that point at a row of the scope, and the table it is in."""
    keys = [key for key in table.foreign_key_constraints if key.referred_table.name != "scopes"]
    return {str(key.column_keys[1]): key.referred_table.name for key in keys}


# --- writing -----------------------------------------------------------------------------------------------------------------------------


class Writer:
    """Lines into a stream. `finish` is the last call; a file without it is refused by every reader."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = zstd.ZstdFile(out, "w", level=_LEVEL)
        self._digest = hashlib.sha256()
        self._rows: Counter[str] = Counter()
        self._table = ""

    def header(self, header: Header) -> None:
        told = {
            "dreamd": "scope", "form": FORM, "schema": header.schema, "scope": header.scope, "key": header.key.hex(), "revision": header.revision,
            "recorded_at": header.recorded_at.isoformat(), "wanted": header.wanted, "taken": header.taken,
        }  # fmt: skip
        self._line(told)

    def table(self, name: str, columns: Sequence[str]) -> None:
        self._table = name
        self._line({"table": name, "columns": list(columns)})

    def row(self, values: Sequence[Any]) -> None:
        self._rows[self._table] += 1
        self._line([_out(value) for value in values])

    def finish(self) -> int:
        """Write the last line; returns the rows written."""
        self._line({"end": True, "rows": dict(self._rows), "sha256": self._digest.hexdigest()})
        self._out.close()
        return self._rows.total()

    def _line(self, value: object) -> None:
        line = dump(value).encode() + b"\n"
        self._digest.update(line)
        self._out.write(line)


def _out(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return b64encode(value).decode() if isinstance(value, bytes) else value


# --- reading -----------------------------------------------------------------------------------------------------------------------------


class Reader:
    """An export's lines, each checked as it is read; `name` is what messages call the file. Raises BadExport, never anything else of the file's."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self.rows: Counter[str] = Counter()
        self._digest = hashlib.sha256()
        self._lines = self._read(file)
        with self._strictly():
            self.header = _header(next(self._lines, None), name)

    def __iter__(self) -> Iterator[Row]:
        """Every row in order; that the file is whole is known when they are used up."""
        known = {table.name: _Shape(table) for table in carried()} | {ARCHIVE: _Shape(_ARCHIVE)}
        shape: _Shape | None = None
        for told in self._lines:
            with self._strictly():
                if isinstance(told, list):
                    yield self._row(shape, told)
                elif told.get("end") is True:
                    return self._end(told)
                else:
                    if told["table"] == ARCHIVE and shape is not None:
                        raise ValueError("the archive comes first")
                    shape = known.pop(_text(told["table"]))
                    shape.columns = _columns(shape.table, told["columns"])
        raise BadExport(self.name, "is cut short: its last line is missing")

    def _row(self, shape: _Shape | None, told: list[Any]) -> Row:
        if shape is None or len(told) != len(shape.columns):
            raise ValueError("a row that fits no table")
        number = self.rows[shape.table.name] + 1
        values = {column.name: _value(column, value) for column, value in zip(shape.columns, told, strict=True)}
        for name, target in shape.references.items():
            if values[name] is not None:
                _within(values[name], 1, self.rows[target])
        for name in values:
            at = (shape.table.name, name)
            if at in NAMES_IDS:
                values[name] = tuple(_within(n, 1, self.rows[NAMES_IDS[at]]) for n in cast(list[Any], load(values[name])))
            elif at in UP_TO and values[name] is not None:
                _within(values[name], 0, self.rows[UP_TO[at]])
        self.rows[shape.table.name] = number
        return Row(shape.table.name, number, values)

    def _end(self, told: Mapping[str, Any]) -> None:
        if told["rows"] != dict(self.rows) or told["sha256"] != self._digest.hexdigest() or next(self._lines, None) is not None:
            raise BadExport(self.name, "is damaged: its lines are not those its last line tells of")

    def _read(self, file: BinaryIO) -> Iterator[Any]:
        """What each line says; the digest is of the lines before the one given last."""
        try:
            with zstd.ZstdFile(file) as stream:
                while line := stream.readline(LINE_MAX):
                    if not line.endswith(b"\n"):
                        raise BadExport(self.name, "is damaged or cut short: a line has no end")
                    with self._strictly():
                        told = load(line.decode())
                    yield told
                    self._digest.update(line)
        except (zstd.ZstdError, EOFError) as error:
            raise BadExport(self.name, f"is no export of dreamd, is damaged or cut short ({error})") from error

    @contextmanager
    def _strictly(self) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadExport(self.name, f"is no export of dreamd, or is damaged ({type(error).__name__}: {str(error)[:80]})") from error


_ARCHIVE = Table(ARCHIVE, MetaData(), Column("address", Text, nullable=False), Column("bytes", LargeBinary, nullable=False))


class _Shape:
    """A table as the file has it."""

    __slots__ = ("columns", "references", "table")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns: tuple[Column[Any], ...] = ()
        self.references = references(table)


def _columns(table: Table, told: Any) -> tuple[Column[Any], ...]:
    """The columns a file names; those it does not know must bear being left out."""
    found = tuple(table.columns[_text(name)] for name in told)
    lacking = {c.name for c in table.columns if not c.nullable and c.server_default is None} - {"id", "scope_id"} - {c.name for c in found}
    if lacking or len(set(found)) != len(found) or {"id", "scope_id"} & {c.name for c in found}:
        raise ValueError(f"columns of {table.name}")
    return found


def _header(told: Any, name: str) -> Header:
    if not isinstance(told, dict) or told.get("dreamd") != "scope":
        raise BadExport(name, "is no export of dreamd")
    if told["form"] != FORM:
        raise BadExport(name, f"is an export of form {told['form']!r}, this dreamd knows form {FORM}: install the dreamd that wrote it")
    return Header(
        schema=_text(told["schema"]), scope=_text(told["scope"]), key=bytes.fromhex(told["key"]), revision=_number(told["revision"]),
        recorded_at=_instant(told["recorded_at"]), wanted=_number(told["wanted"]), taken=_number(told["taken"]),
    )  # fmt: skip


def _value(column: Column[Any], told: Any) -> Any:
    if told is None:
        if not column.nullable:
            raise ValueError(f"{column.name} is missing")
        return None
    kind = column.type
    if isinstance(kind, Utc):
        return _instant(told)
    if isinstance(kind, LargeBinary):
        return b64decode(told, validate=True)
    if isinstance(kind, Boolean):
        if not isinstance(told, bool):
            raise TypeError(f"{column.name} is no yes or no")
        return told
    return _number(told) if isinstance(kind, Integer) else _text(told)


def _within(told: Any, low: int, high: int) -> int:
    if not low <= _number(told) <= high:
        raise ValueError("a reference to a row that is not there")
    return int(told)


def _text(told: Any) -> str:
    if not isinstance(told, str):
        raise TypeError("a text is missing")
    return told


def _number(told: Any) -> int:
    if not isinstance(told, int) or isinstance(told, bool) or not -_INT_MAX <= told < _INT_MAX:
        raise TypeError("a number is missing")
    return told


def _instant(told: Any) -> datetime:
    at = datetime.fromisoformat(_text(told))
    if at.utcoffset() is None:
        raise ValueError("a time without a zone")
    return at
