"""Statements compiled once a process: a store has several engines, a process may open several stores, and each would compile every statement anew."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from types import ModuleType
from typing import Any

from sqlalchemy import Engine, create_engine, event, util
from sqlalchemy.engine import URL, Dialect

STATEMENTS_MAX = 1_000
"""Compiled statements kept in a process, those used last; it may be half as many more for a moment."""

_compiled: util.LRUCache[Any, Any] = util.LRUCache(STATEMENTS_MAX)


def sharing_engine(url: URL, *, execution_options: dict[str, Any] | None = None, **options: Any) -> Engine:
    """`create_engine`, but what the engine compiles serves every other one made here whose dialect is of the same kind, and the other way round."""
    shared = Shared()
    engine = create_engine(url, execution_options={**(execution_options or {}), "compiled_cache": shared}, **options)

    @event.listens_for(engine, "connect")  # behind SQLAlchemy's own listener, which asks a server at the first connection what it can do
    def connect(_dbapi: object, _record: object) -> None:
        shared.know(engine.dialect)

    return engine


class Shared(MutableMapping[Any, Any]):
    """An engine's look into what all engines of the process compiled. Safe from any thread.

    SQLAlchemy names a compiled statement by the dialect, which each engine has one of its own, and by the statement; here the dialect's kind stands for it.
    What is compiled before the first connection tells the kind is not kept.
    """

    def __init__(self) -> None:
        self._kind: Any = None

    def know(self, dialect: Dialect) -> None:
        """Take the dialect's kind, once its server is known."""
        if self._kind is None:
            self._kind = kind_of(dialect)

    def get(self, key: Any, default: Any = None) -> Any:
        """What was compiled under this key by any engine of the same kind."""
        return default if self._kind is None else _compiled.get(self._named(key), default)

    def __getitem__(self, key: Any) -> Any:
        if self._kind is None:
            raise KeyError(key)
        return _compiled[self._named(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._kind is not None:
            _compiled[self._named(key)] = value

    def __delitem__(self, key: Any) -> None:
        del _compiled[self._named(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(_compiled)

    def __len__(self) -> int:
        return len(_compiled)

    def _named(self, key: Any) -> Any:
        dialect, *rest = key
        assert isinstance(dialect, Dialect), "SQLAlchemy names compiled statements in another way than the version this was written for"
        return (self._kind, *rest)


def kind_of(dialect: Dialect) -> tuple[Any, ...]:
    """What decides how a dialect compiles: its class and every setting it was made with or learnt from its server (version, style of parameters,
    serializers, schema, length of names). Only at which isolation its transactions run stands in no statement."""
    settings = {name: value for name, value in vars(dialect).items() if "isolation_level" not in name}
    return type(dialect), *((name, _told(value)) for name, value in sorted(settings.items(), key=lambda s: s[0]) if _decides(value))


def _decides(value: object) -> bool:
    """Settings, drivers and functions; the other parts of a dialect (its preparer of names, its memory of types) are made by its class of these."""
    return value is None or isinstance(value, str | int | float | tuple | frozenset | ModuleType) or callable(value)


def _told(value: object) -> object:
    """A setting in words, since not all can be a key; a function has none."""
    return value if isinstance(value, ModuleType) or callable(value) else repr(value)
