"""What one engine of a process compiled serves the others, as long as they are of one kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, String, cast, literal, select
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.engine import make_url

from pipelines.store.compiled import Shared, kind_of, sharing_engine


def at(folder: Path, **options: Any) -> Engine:
    return sharing_engine(make_url(f"sqlite:///{folder}/some.db"), **options)


def compiled_by(engine: Engine, said: str) -> Any:
    """What the engine runs for one statement, which is made anew for each call."""
    with engine.connect() as conn:
        result = conn.execute(select(cast(literal(said), String).label("said")))
        assert result.scalar_one() == said
        return result.context.compiled  # type: ignore[attr-defined]


def test_two_engines_of_one_kind_compile_a_statement_once(tmp_path: Path) -> None:
    one, two = at(tmp_path), at(tmp_path)
    assert compiled_by(one, "a") is compiled_by(two, "b")
    one.dispose()
    two.dispose()


def test_engines_that_are_set_otherwise_share_nothing(tmp_path: Path) -> None:
    plain, short, own = at(tmp_path), at(tmp_path, label_length=7), at(tmp_path, json_serializer=lambda value: json.dumps(value))
    assert len({id(compiled_by(engine, "a")) for engine in (plain, short, own)}) == 3
    for engine in (plain, short, own):
        engine.dispose()


def test_sqlite_and_postgresql_share_nothing_and_two_engines_of_a_server_do(tmp_path: Path, postgres_url: str) -> None:
    url = make_url(postgres_url).set(drivername="postgresql+psycopg")
    files, read, write = at(tmp_path), sharing_engine(url, isolation_level="REPEATABLE READ"), sharing_engine(url, isolation_level="READ COMMITTED")
    assert compiled_by(files, "a") is not compiled_by(read, "a")
    assert compiled_by(read, "a") is compiled_by(write, "a")
    for engine in (files, read, write):
        engine.dispose()


def test_servers_of_two_versions_share_nothing() -> None:
    old, new = psycopg.dialect(), psycopg.dialect()
    assert kind_of(old) == kind_of(new)
    old.server_version_info, new.server_version_info = (14, 2), (16, 1)
    assert kind_of(old) != kind_of(new)


def test_what_is_compiled_before_the_server_is_known_is_not_kept() -> None:
    dialect, shared = pysqlite.dialect(), Shared()
    key = (dialect, "a statement of this test")
    shared[key] = "compiled"
    assert shared.get(key) is None
    shared.know(dialect)
    assert shared.get(key) is None
    shared[key] = "compiled"
    assert shared[key] == "compiled"
    del shared[key]
    assert key not in shared
