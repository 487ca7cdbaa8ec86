"""What only a server can do to a store: other sessions, locks, timeouts, restarts; and what it must not tell."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from pipelines.errors import Conflict, Permanent, Refused, StoreUnavailable
from pipelines.model import Ruling
from pipelines.store import Store, StoreDamaged, StoreMisplaced, open_store
from pipelines.store import tables as t
from pipelines.store.core import REPLAYS
from pipelines.store.faults import TakenBack
from pipelines.store.triggers import append_only
from tests.contracts.store_builders import DAY, SCOPE, batch, source, turn
from tests.contracts.store_kinds import administrator, clock, database_of, store

__all__ = ["clock", "store"]  # fixtures of this suite

on_postgres = pytest.mark.parametrize("store", ["postgres"], indirect=True)
SECRET = "s3cret-words"


def at(url: str) -> Store:
    return open_store(url, now=lambda: DAY)


@pytest.fixture
def other(store: Store) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Another session in the store's database."""
    with administrator(store.engines.write.url.render_as_string(hide_password=False)) as conn:
        yield conn


# --- connections ---------------------------------------------------------------------------------------------------------------------------


@on_postgres
def test_a_word_the_server_says_unasked_ends_no_connection(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    def session() -> object:
        with store.writing("look") as conn:
            return conn.scalar(text("SELECT pg_backend_pid()"))

    with store.writing("listen") as conn:
        conn.execute(text("LISTEN told"))
    before = session()
    other.execute("NOTIFY told")
    assert session() == before


@on_postgres
def test_a_session_is_set_so_that_nothing_hangs_for_ever_and_times_are_utc(store: Store) -> None:
    names = ("TimeZone", "lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout", "client_encoding", "application_name")
    with store.writing("look") as conn:
        told = [conn.scalar(text(f"SHOW {name}")) for name in names]
        assert conn.scalar(text("SHOW transaction_isolation")) == "read committed"
    assert told == ["UTC", "30s", "5min", "30s", "UTF8", "dreamd"]


@on_postgres
def test_what_is_forgotten_in_one_transaction_may_be_thought_about_for_longer_than_the_server_waits_else(store: Store) -> None:
    def waits() -> object:
        with store.writing("look") as conn:
            return conn.scalar(text("SHOW idle_in_transaction_session_timeout"))

    with store.together("forget", sees=True):
        assert waits() == "10min"
    assert waits() == "30s"


@pytest.mark.parametrize("option", ["bogus=s3cret-words", "connect_timeout=soon"])
def test_an_option_the_driver_does_not_know_is_refused_by_its_name(option: str, database_url: str) -> None:
    with pytest.raises(Refused, match=f"database_url has an option that cannot be: .*{option.split('=')[0]}") as told:
        at(f"{database_url}&{option}")
    assert SECRET not in str(told.value)


@on_postgres
def test_a_reader_sees_one_moment_and_cannot_write(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    with store.reading("count twice") as conn:
        before = conn.scalar(text("SELECT count(*) FROM turns"))
        store.commit_intake(SCOPE, batch(turn("t2"), after=source("log-b")))
        assert conn.scalar(text("SELECT count(*) FROM turns")) == before == 1
    with pytest.raises(StoreUnavailable, match="read-only transaction"), store.reading("write") as conn:
        conn.execute(text("UPDATE scopes SET revision = 8"))
    assert store.revision(SCOPE) == 0


@on_postgres
def test_a_server_that_writes_nothing_for_a_while_is_away_and_one_that_does_not_let_us_write_is_misplaced(
    store: Store, other: psycopg.Connection[tuple[object, ...]]
) -> None:  # fmt: skip
    name = store.engines.write.url.database
    other.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    store.close()
    with pytest.raises(StoreUnavailable, match="name the primary"):
        store.request(SCOPE, request_id="a", params={}, cause="test")
    store.close()
    other.execute("SET default_transaction_read_only = off")
    other.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
    other.execute("CREATE ROLE reads_only NOLOGIN")
    try:
        with pytest.raises(StoreMisplaced, match="may write"), store.writing("write") as conn:
            conn.execute(text("SET LOCAL ROLE reads_only; UPDATE scopes SET revision = 8"))
    finally:
        other.execute("DROP ROLE reads_only")


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailable, match=r"postgresql://127\.0\.0\.1:1/notes") as caught:
        at(f"postgresql://ana:{SECRET}@127.0.0.1:1/notes?connect_timeout=2&sslpassword={SECRET}")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_database_that_is_not_there_and_a_user_nobody_knows_are_unavailable_by_name(postgres_url: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"/nowhere: .*does not exist"):
        at(database_of(postgres_url, "nowhere"))
    stranger = make_url(postgres_url).set(username="stranger", password=SECRET).render_as_string(hide_password=False)
    with pytest.raises(StoreUnavailable, match="stranger") as caught:
        at(stranger)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("url", [f"postgresql://ana@db:{SECRET}/notes", f"postgresql+psycopg2://ana:{SECRET}@db/notes", f"mysql://ana:{SECRET}@db/x", SECRET])
def test_a_url_that_names_no_store_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(Refused, match="postgresql://user:password@host/database") as caught:
        at(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(Refused, match=r"the extra postgres: pip install"):
        at("postgresql://db/notes")


def test_a_database_of_another_program_is_refused(postgres_url: str) -> None:
    name = "someone_elses"
    with administrator(postgres_url) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        with administrator(database_of(postgres_url, name)) as theirs:
            theirs.execute("CREATE TABLE alembic_version (version_num text)")
        with pytest.raises(StoreDamaged, match="another program"):
            at(database_of(postgres_url, name))
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_database_without_room_for_every_language_is_refused(postgres_url: str) -> None:
    name = "latin_only"
    with administrator(postgres_url) as admin:
        admin.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        with pytest.raises(StoreMisplaced, match="LATIN1"):
            at(database_of(postgres_url, name))
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@on_postgres
def test_a_restart_of_the_server_costs_a_process_that_stood_idle_nothing(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    assert store.revision(SCOPE) == 0
    ours = "datname = current_database() AND application_name = 'dreamd'"
    ended = other.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {ours}").fetchall()
    assert set(ended) == {(True,)}
    assert len(ended) > 1, "of those that write and of those that read"
    assert store.revision(SCOPE) == 0
    store.add_ruling(SCOPE, Ruling(uid="r1", verb="keep", target="n1"))
    assert [r.uid for r in store.rulings(SCOPE)] == ["r1"]


# --- errors --------------------------------------------------------------------------------------------------------------------------------


@on_postgres
def test_no_error_of_the_driver_repeats_the_row_it_was_about(store: Store) -> None:
    row = {"scope_id": 1, "uid": SECRET, "format": SECRET}
    with pytest.raises(DBAPIError) as refused, store.writing("write a row") as conn:
        conn.execute(t.sessions.insert(), row)  # there is no such scope
    assert "sessions" in str(refused.value)
    store.commit_intake(SCOPE, batch(turn("t1", session=SECRET)))
    with pytest.raises(Conflict) as twice, store.writing("write a row twice") as conn:
        conn.execute(text("INSERT INTO sessions (scope_id, uid, format) SELECT scope_id, uid, format FROM sessions"))
    for caught in (refused.value, twice.value):
        assert SECRET not in "".join(traceback.format_exception(caught))


@on_postgres
def test_an_id_with_a_nul_is_a_typed_refusal(store: Store) -> None:
    with pytest.raises(Permanent, match="NUL"):
        store.commit_intake(SCOPE, batch(turn("t\0")))
    assert store.source(SCOPE, "log-a") is None


# --- transactions --------------------------------------------------------------------------------------------------------------------------


@on_postgres
def test_writers_of_two_scopes_do_not_wait_for_one_another_and_of_one_scope_do(store: Store) -> None:
    for scope in ("one", "two"):
        store.add_ruling(scope, Ruling(uid="r0", verb="keep", target="n"))
    done = {scope: threading.Event() for scope in ("one", "two")}

    def write(scope: str) -> None:
        store.add_ruling(scope, Ruling(uid="r1", verb="keep", target="n"))
        done[scope].set()

    threads = [threading.Thread(target=write, args=(scope,)) for scope in done]
    with store.writing("hold a scope") as conn:
        store.locked_scope(conn, "one")
        for thread in threads:
            thread.start()
        assert done["two"].wait(20)
        assert not done["one"].is_set()
    for thread in threads:
        thread.join(20)
    assert done["one"].is_set()


@on_postgres
def test_two_transactions_that_wait_for_one_another_are_both_done(store: Store) -> None:
    for scope in ("one", "two"):
        store.add_ruling(scope, Ruling(uid="r0", verb="keep", target="n"))
    meet, tries = threading.Barrier(2), [0, 0]

    def write(me: int) -> None:
        mine, theirs = ("one", "two")[me], ("two", "one")[me]

        def both() -> None:
            tries[me] += 1
            with store.writing("write in two scopes") as conn:
                store.locked_scope(conn, mine)
                if tries[me] == 1:
                    meet.wait(20)
                store.add_ruling(theirs, Ruling(uid=f"r{me + 1}", verb="keep", target="n"))

        store.atomically("write in two scopes", both)

    threads = [threading.Thread(target=write, args=(me,)) for me in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert max(tries) > 1, "one was taken back and done again"
    assert {r.uid for scope in ("one", "two") for r in store.rulings(scope)} == {"r0", "r1", "r2"}


def test_a_transaction_that_is_always_taken_back_is_told_after_some_times(store: Store) -> None:
    tries = 0

    def never() -> None:
        nonlocal tries
        tries += 1
        store.add_ruling(SCOPE, Ruling(uid="r1", verb="keep", target="n"))
        raise TakenBack("write")

    with pytest.raises(TakenBack):
        store.atomically("write", never)
    assert (tries, store.rulings(SCOPE)) == (REPLAYS, ())
    with pytest.raises(TakenBack), store.together("write around it"):
        store.atomically("write", never)
    assert tries == REPLAYS + 1, "what is within another transaction is lost with it"


@on_postgres
def test_a_lock_that_is_held_too_long_is_a_fault_to_retry(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.add_ruling(SCOPE, Ruling(uid="r0", verb="keep", target="n"))
    other.execute("BEGIN; SELECT id FROM scopes FOR UPDATE")
    with pytest.raises(StoreUnavailable, match=r"another process has held it .* try again"), store.writing("write") as conn:
        conn.execute(text("SET LOCAL lock_timeout = 50; SELECT id FROM scopes FOR NO KEY UPDATE"))
    other.execute("ROLLBACK")


@on_postgres
def test_a_process_frozen_inside_a_transaction_lets_go_of_its_locks(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.add_ruling(SCOPE, Ruling(uid="r0", verb="keep", target="n"))

    def frozen() -> None:
        with store.writing("write") as conn:
            conn.execute(text("SET LOCAL idle_in_transaction_session_timeout = 50"))
            store.locked_scope(conn, SCOPE)
            other.execute("SET lock_timeout = '20s'; SELECT id FROM scopes FOR UPDATE")  # waits until the server has ended the frozen one
            conn.execute(text("SELECT 1"))

    with pytest.raises(StoreUnavailable):
        frozen()
    assert store.add_ruling(SCOPE, Ruling(uid="r1", verb="keep", target="n"))


def test_the_migrations_make_exactly_the_declared_schema_on_a_server_too(database_url: str) -> None:
    with at(database_url) as store, store.reading("compare") as conn:
        assert compare_metadata(MigrationContext.configure(conn), t.metadata) == []


@on_postgres
def test_words_that_are_committed_late_under_lower_ids_are_found(store: Store) -> None:
    def meanwhile() -> None:
        store.commit_intake("two", batch(turn("t2", "zebra"), after=source("log-b")))
        assert store.refresh_search() == 1

    with store.together("take in slowly"):
        store.commit_intake("one", batch(turn("t1", "zebra")))
        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join(20)
    assert [m.uid for m in store.search_turns("one", ["zebra"], limit=3)] == ["t1"]
    assert [m.uid for m in store.search_turns("two", ["zebra"], limit=3)] == ["t2"]


@on_postgres
def test_no_word_of_anybody_stands_in_the_search_index(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.commit_intake(SCOPE, batch(turn("t1", "quokka")))
    store.refresh_search()
    assert other.execute("SELECT count(*) FROM search_words").fetchone() == (1,)
    assert other.execute("SELECT count(*) FROM search_words AS w WHERE w::text LIKE '%quokka%'").fetchone() == (0,)


@on_postgres
def test_an_index_of_an_older_tokenizer_is_made_again_and_that_of_a_newer_one_is_left(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.commit_intake(SCOPE, batch(turn("t1", "zebra"), turn("t2", "zebra", ordinal=5)))
    assert store.refresh_search() == 2
    other.execute("UPDATE search_scopes SET form = form - 1; DELETE FROM search_words WHERE row_id = (SELECT min(row_id) FROM search_words)")
    assert store.refresh_search() == 2
    other.execute("UPDATE search_scopes SET form = form + 1")
    store.commit_intake(SCOPE, batch(turn("t3", "zebra"), after=source("log-b")))
    assert store.refresh_search() == 0
    assert {m.uid for m in store.search_turns(SCOPE, ["zebra"], limit=3)} == {"t1", "t2"}


# --- append-only -----------------------------------------------------------------------------------------------------------------------------


@on_postgres
@pytest.mark.parametrize("change", ["append", "forget"])
def test_append_only_tables_refuse_update_delete_and_truncate_on_a_server_too(store: Store, other: psycopg.Connection[tuple[object, ...]], change: str) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    other.execute("SET session_replication_role = replica")  # rows without their keys
    for table in append_only(t.metadata):
        if table.info["change"] == change:
            _put_row(other, table.name)
            other.execute("SET session_replication_role = origin")
            ways = [f"UPDATE {table.name} SET scope_id = scope_id", f"DELETE FROM {table.name}", f"TRUNCATE {table.name} CASCADE"]
            for way in ways:
                with pytest.raises(psycopg.errors.RaiseException, match="is append-only"):
                    other.execute(way)
            other.execute("SET session_replication_role = replica")
    other.execute("SET session_replication_role = origin")
    with pytest.raises(psycopg.errors.RaiseException, match="is append-only"):
        other.execute("TRUNCATE scopes CASCADE")


def _put_row(conn: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    values = {
        "int8": "1", "text": "'x'", "bool": "false", "bytea": "'\\x78'", "timestamptz": "now()", "float8": "1",
    }  # fmt: skip
    columns = conn.execute(
        "SELECT column_name, udt_name FROM information_schema.columns WHERE table_name = %s AND is_nullable = 'NO' AND column_name <> 'id'", (name,)
    ).fetchall()
    names = ", ".join(f'"{column}"' for column, _ in columns)
    conn.execute(f"INSERT INTO {name} ({names}) VALUES ({', '.join(values[str(kind)] for _, kind in columns)})")


@on_postgres
def test_the_forget_door_opens_for_one_transaction_of_one_session_only(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    store.raise_revision(SCOPE, cause="hand", above=0)
    with store.writing("forget") as conn:
        conn.execute(text("INSERT INTO grants (reason) VALUES ('forget')"))
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            other.execute("DELETE FROM occurrences")
        for change in ("UPDATE occurrences SET line = 2", "TRUNCATE occurrences", "UPDATE revisions SET cause = 'x'"):
            with pytest.raises(DBAPIError, match="append-only"), conn.begin_nested():
                conn.execute(text(change))
        assert conn.execute(text("DELETE FROM occurrences")).rowcount == 1
        conn.execute(text("DELETE FROM grants"))
        with pytest.raises(DBAPIError, match="append-only"), conn.begin_nested():
            conn.execute(text("DELETE FROM turns"))
    with pytest.raises(DBAPIError, match="append-only"), store.writing("forget without a grant") as conn:
        conn.execute(text("DELETE FROM turns"))


@on_postgres
def test_a_session_that_dies_inside_a_forget_shuts_the_door_and_nothing_is_gone(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))

    def dying() -> None:
        with store.writing("forget") as conn:
            pid = conn.scalar(text("SELECT pg_backend_pid()"))
            conn.execute(text("INSERT INTO grants (reason) VALUES ('forget')"))
            assert conn.execute(text("DELETE FROM occurrences")).rowcount == 1
            other.execute("SELECT pg_terminate_backend(%s, 20000)", (pid,))
            conn.execute(text("DELETE FROM turns"))

    with pytest.raises(StoreUnavailable):
        dying()
    assert [x.uid for x in store.turns_of(SCOPE, "s1")] == ["t1"]
    assert other.execute("SELECT count(*) FROM grants").fetchone() == (0,)


@on_postgres
def test_a_temporary_table_named_like_the_door_opens_nothing(store: Store, other: psycopg.Connection[tuple[object, ...]]) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    other.execute("CREATE TEMPORARY TABLE grants (id int); INSERT INTO pg_temp.grants VALUES (1)")
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        other.execute("DELETE FROM occurrences")


def test_a_door_left_open_stops_the_start_on_a_server_too(database_url: str) -> None:
    with administrator(database_url) as admin:
        admin.execute("INSERT INTO grants (reason) VALUES ('x')")
    with pytest.raises(StoreDamaged, match="door"):
        at(database_url)


@pytest.mark.parametrize(
    "how",
    ["DROP TRIGGER turns_no_delete ON turns", "ALTER TABLE turns DISABLE TRIGGER turns_no_delete", "ALTER TABLE turns ENABLE REPLICA TRIGGER turns_no_delete"],
)
def test_a_server_that_lost_a_trigger_is_refused_by_its_name(database_url: str, how: str) -> None:
    with administrator(database_url) as admin:
        admin.execute(how)
    with pytest.raises(StoreDamaged, match="turns_no_delete"):
        at(database_url)
