"""A store of an older schema moves to the newest with all it holds, whoever starts and whatever dies; one of a newer schema says who may go on."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from pipelines.errors import Refused, StoreTooNew
from pipelines.model import Ruling
from pipelines.store import Store, open_store
from pipelines.store import tables as t
from pipelines.store.migrations import upgrade
from pipelines.store.open import engines_of
from pipelines.store.schema import HEAD
from pipelines.store.triggers import missing
from tests.contracts.store_builders import DAY, SCOPE, batch, turn
from tests.contracts.store_kinds import Killed, clock, empty_url, killed_at, store

__all__ = ["clock", "empty_url", "store"]  # fixtures of this suite

WHEN = "2026-01-01 00:00:00.000000"
NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"


def upgrade():
    op.create_table("moods", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Text, nullable=False))
    op.add_column("turns", sa.Column("mood", sa.Text, nullable=True))
    op.execute("UPDATE store SET oldest_code = '{oldest}'")
"""


@contextlib.contextmanager
def bare(url: str) -> Iterator[Connection]:
    """One transaction of DDL, without anything of the store's own."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda dbapi, _: setattr(dbapi, "isolation_level", None))
        event.listen(engine, "begin", lambda conn: conn.exec_driver_sql("BEGIN IMMEDIATE"))
    with engine.begin() as conn:
        yield conn
    engine.dispose()


def old_store(url: str) -> None:
    """A store as the first release left it: one scope, a turn, a decision by a dream."""
    with bare(url) as conn:
        command.upgrade(upgrade.config(conn), "0001")
        conn.execute(text("INSERT INTO store (epoch, pepper, created_at) VALUES ('e', :pepper, :at)"), {"pepper": b"p" * 32, "at": WHEN})
        conn.execute(text("INSERT INTO scopes (path, revision, recorded_at) VALUES ('acme/web/ana', 0, :at)"), {"at": WHEN})
        conn.execute(
            text(
                "INSERT INTO turns (scope_id, uid, snap, digest, role, origin, body, detail) "
                "SELECT id, 't1', 's', 'd', 'user', 'user', 'the port is 5433', '{}' FROM scopes"
            )
        )
        conn.execute(
            text(
                "INSERT INTO dreams (scope_id, uid, state, cause, params, holder, input_rev, code, started_at) "
                "SELECT id, 'd1', 'completed', 'hand', '{}', 'x:1:1', 0, '', :at FROM scopes"
            ),
            {"at": WHEN},
        )


def at(url: str) -> Store:
    return open_store(url, now=lambda: DAY)


def version_of(url: str) -> str | None:
    with bare(url) as conn:
        return conn.scalar(text("SELECT version_num FROM alembic_version"))


def test_a_store_of_the_first_schema_keeps_its_rows_and_its_triggers(empty_url: str) -> None:
    old_store(empty_url)
    with at(empty_url) as opened:
        assert opened.epoch == "e"
        assert [d.uid for d in opened.dreams(SCOPE)] == ["d1"]
        with opened.reading("look") as conn:
            assert conn.execute(text("SELECT uid, body FROM turns")).all() == [("t1", "the port is 5433")]
            assert missing(conn, t.metadata) == ()
            assert conn.scalar(text("SELECT wanted FROM scopes")) == 0
        with pytest.raises(DBAPIError, match="append-only"), opened.writing("change history") as conn:
            conn.execute(text("UPDATE turns SET body = 'x'"))
        opened.commit_intake(SCOPE, batch(turn("t2")))
    assert version_of(empty_url) == HEAD


def test_a_migration_killed_before_any_of_its_statements_is_done_whole_by_the_next_start(empty_url: str) -> None:
    old_store(empty_url)
    engines = engines_of(empty_url, setting="x")
    ran = _statements_of_an_upgrade(engines.write, empty_url)
    assert ran > 20
    for death in (0, ran // 3, 2 * ran // 3, ran - 1):
        with pytest.raises(Killed), killed_at(engines.write, death):
            upgrade.upgrade(engines, created_at=DAY)
        assert version_of(empty_url) == "0001"
    engines.dispose()
    with at(empty_url) as opened:
        assert [d.uid for d in opened.dreams(SCOPE)] == ["d1"]


def _statements_of_an_upgrade(engine: Engine, url: str) -> int:
    """How many statements an upgrade says; it is taken back."""
    engines = engines_of(url, setting="x")

    def give_up(*_: object) -> None:
        raise Killed

    event.listen(engines.write, "commit", give_up)
    with killed_at(engines.write, -1) as ran, contextlib.suppress(Killed):
        upgrade.upgrade(engines, created_at=DAY)
    engines.dispose()
    assert version_of(url) == "0001"
    return len(ran)


def _start(url: str, gate: object, told: object) -> None:
    gate.wait(20)  # type: ignore[attr-defined]
    with at(url) as opened:
        told.put(opened.epoch)  # type: ignore[attr-defined]


def test_two_processes_that_start_at_once_migrate_once(empty_url: str) -> None:
    old_store(empty_url)
    fork = multiprocessing.get_context("spawn")
    gate, told = fork.Barrier(2), fork.Queue()
    started = [fork.Process(target=_start, args=(empty_url, gate, told)) for _ in range(2)]
    for process in started:
        process.start()
    assert [told.get(timeout=30) for _ in started] == ["e", "e"]
    for process in started:
        process.join(30)
        assert process.exitcode == 0


# --- beside a newer schema ---------------------------------------------------------------------------------------------------------------


def next_release(url: str, folder: Path, *, oldest: str) -> None:
    """What the next version does to the store: a migration that only adds."""
    (folder / "9999_next.py").write_text(NEXT.format(head=HEAD, oldest=oldest))
    with bare(url) as conn:
        config = upgrade.config(conn)
        config.set_main_option("path_separator", "space")
        config.set_main_option("version_locations", f"{Path(upgrade.__file__).parent / 'versions'} {folder}")
        command.upgrade(config, "9999")


def test_code_that_a_newer_schema_still_bears_goes_on_and_starts_anew(empty_url: str, tmp_path: Path) -> None:
    with at(empty_url) as running:
        running.commit_intake(SCOPE, batch(turn("t1")))
        next_release(empty_url, tmp_path, oldest=HEAD)
        running.check_schema()
        assert [x.uid for x in running.turns_of(SCOPE, "s1")] == ["t1"]
        running.add_ruling(SCOPE, Ruling(uid="r1", verb="keep", target="n1"))
    with at(empty_url) as again:
        assert [r.uid for r in again.rulings(SCOPE)] == ["r1"]
    assert version_of(empty_url) == "9999"


def test_code_that_a_newer_schema_no_longer_bears_leaves_at_its_next_claim_and_is_refused(empty_url: str, tmp_path: Path) -> None:
    with at(empty_url) as running:
        next_release(empty_url, tmp_path, oldest="9998")
        with pytest.raises(StoreTooNew, match=rf"9999.*{HEAD}"):
            running.check_schema()
    with pytest.raises(StoreTooNew, match="Install the dreamd that wrote it"):
        at(empty_url)


def test_a_process_notices_that_an_older_copy_was_restored_under_it(store: Store) -> None:
    store.check_schema()
    with store.writing("go back") as conn:
        conn.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    try:
        with pytest.raises(Refused, match="start this process again"):
            store.check_schema()
    finally:
        with store.writing("go forward") as conn:
            conn.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": HEAD})
