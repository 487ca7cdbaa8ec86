"""Column types that hold on both databases: instants with a zone, text without NUL, file names of any bytes, recorded JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson
import sqlalchemy
from sqlalchemy import BigInteger, DateTime, Dialect, Integer
from sqlalchemy.types import TypeDecorator, TypeEngine

# By code point on both: a server's own collation orders words otherwise, and an upgrade of its system libraries would spoil every index.
_BY_CODE_POINT = sqlalchemy.Text(collation="C")
Text = sqlalchemy.Text().with_variant(_BY_CODE_POINT, "postgresql")
Id = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers only INTEGER primary keys by itself

_ESCAPED = "\x02"  # starts a file name that is no UTF-8; no path of ours begins with it


class Utc(TypeDecorator[datetime]):
    """An instant in UTC. Naive values are refused: SQLite would keep their wall clock and compare it wrongly (reliability §4)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any] | None:
        """On SQLite the text SQLAlchemy makes of a time, made in one step: each turn has one."""
        return _sqlite_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else _in_utc(value)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _in_utc(at: datetime) -> datetime:
    if at.utcoffset() is None:
        raise ValueError(f"a stored time needs a zone, got {at!r}")
    return at.astimezone(UTC)


def iso_utc(at: datetime) -> str:
    """An instant as ISO 8601 in UTC."""
    return _iso(at if at.tzinfo is UTC else _in_utc(at))


@lru_cache(maxsize=4096)
def _iso(utc: datetime) -> str:
    """A turn's is asked for twice, by its digest and by its row. Only times of UTC may be told apart by `==`: of one zone it does not see that a clock was set back."""
    return utc.isoformat()


_SECONDS = len("2026-11-28T09:41:00")
_MICROSECONDS = len("2026-11-28T09:41:00.123456")


def _sqlite_text(at: datetime | None) -> str | None:
    if at is None:
        return None
    text = iso_utc(at)
    return f"{text[:10]} {text[11:_MICROSECONDS] if text[_SECONDS] == '.' else text[11:_SECONDS] + '.000000'}"


class Content(TypeDecorator[str]):
    """Text from logs or people. NUL and lone surrogates become U+FFFD, one character for one: SQLite takes NUL, PostgreSQL does not, and no driver takes surrogates."""

    impl = sqlalchemy.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return _BY_CODE_POINT if dialect.name == "postgresql" else self.impl_instance

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], Any]:
        """The same as `process_bind_param`, in one step: each turn has several."""
        return _storable

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return _storable(value)


class PathText(TypeDecorator[str]):
    """A file name as Python gives it; names that are no UTF-8 (surrogate escapes) come back as they went in."""

    impl = sqlalchemy.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return _BY_CODE_POINT if dialect.name == "postgresql" else self.impl_instance

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or storable(value) == value:
            return value
        return _ESCAPED + json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or not value.startswith(_ESCAPED):
            return value
        return str(json.loads(value[1:]))


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


def storable(text: str) -> str:
    """The text without NUL and lone surrogates; its length and every other character stay."""
    if "\0" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


def dump(value: object) -> str:
    """Recorded JSON as text; what the fast writer refuses (lone surrogates, huge integers) goes through the standard one, escaped."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):  # orjson.JSONEncodeError is a TypeError
        return json.dumps(value)


def load(text: str) -> object:
    """The value `dump` was given. `json` reads what orjson does not (lone surrogates, huge integers)."""
    try:
        return orjson.loads(text)
    except ValueError:
        return json.loads(text)
