"""Opening a store: where it may lie, what it refuses, what is checked before anybody reads."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError

from pipelines.errors import Refused, StoreTooNew, StoreUnavailable
from pipelines.store import Store, StoreDamaged, StoreMisplaced, open_store, tables
from pipelines.store.open import filesystem_of, refuse_shared
from pipelines.store.schema import HEAD
from tests.contracts.store_builders import DAY, SCOPE, batch, source, turn

MOUNTS = """/dev/vda / ext4 rw 0 0
//nas/home /home/ana/nas cifs rw 0 0
nas:/x /mnt/a\\040b nfs4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
half
"""


def at(path: Path) -> Store:
    return open_store(f"sqlite:///{path}", now=lambda: DAY, setting="DREAMD_STORE")


def raw(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_a_new_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.db"
    with at(path) as store:
        store.commit_intake(SCOPE, batch(turn("t1")))
        store.refresh_search()
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}
    assert {"store.db", "store.db-wal", "store.search.db"} <= set(modes)


def test_a_store_keeps_its_epoch_and_its_key(tmp_path: Path) -> None:
    with at(tmp_path / "a.db") as one:
        epoch, mac = one.epoch, one.mac("a", b"b")
        assert mac != one.mac("ab")
    with at(tmp_path / "a.db") as again, at(tmp_path / "b.db") as other:
        assert (again.epoch, again.mac("a", b"b")) == (epoch, mac)
        assert other.epoch != epoch
        assert other.mac("a", b"b") != mac


def test_processes_that_start_together_make_one_store(tmp_path: Path) -> None:
    gate, epochs = threading.Barrier(4), []

    def start() -> None:
        gate.wait(timeout=20)
        with at(tmp_path / "store.db") as store:
            epochs.append(store.epoch)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(epochs) == 4
    assert len(set(epochs)) == 1


def test_a_migration_that_dies_leaves_an_empty_file_and_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipelines.store.migrations import upgrade

    def die(_bytes: int) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(upgrade.secrets, "token_bytes", die)
        with pytest.raises(KeyboardInterrupt):
            at(tmp_path / "store.db")
    with raw(tmp_path / "store.db") as conn:
        assert conn.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    with at(tmp_path / "store.db") as store:
        assert store.scopes() == ()


def test_a_newer_schema_is_refused_naming_both_versions_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    at(path).close()
    with raw(path) as conn:
        conn.execute("UPDATE alembic_version SET version_num = '9999'")
        conn.execute("UPDATE store SET oldest_code = '9998'")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=rf"9999.*{HEAD}") as refused:
        at(path)
    assert str(path) in str(refused.value)
    assert "Install" in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all, just some words " * 50, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_by_name_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"store\.db"):
        at(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with raw(tmp_path / "store.db") as conn:
        conn.execute("CREATE TABLE alembic_version (version_num TEXT)")
    with pytest.raises(StoreDamaged, match="another program"):
        at(tmp_path / "store.db")


def test_a_damaged_store_is_a_typed_refusal(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with at(path) as store:
        store.commit_intake(SCOPE, batch(*(turn(f"t{i}", "x" * 500, ordinal=i) for i in range(400))))
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(StoreDamaged, match=r"store\.db"), at(path) as store:
        store.turns_of(SCOPE, "s1")


@pytest.mark.parametrize("lost", ["turns_no_update", "note_versions_no_delete", "published_lines_no_delete"])
def test_a_store_that_lost_a_trigger_is_refused_by_its_name(tmp_path: Path, lost: str) -> None:
    path = tmp_path / "store.db"
    at(path).close()
    with raw(path) as conn:
        conn.execute(f"DROP TRIGGER {lost}")
    with pytest.raises(StoreDamaged, match=lost):
        at(path)


def test_a_door_left_open_stops_the_start(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    at(path).close()
    with raw(path) as conn:
        conn.execute("INSERT INTO grants (reason) VALUES ('x')")
    with pytest.raises(StoreDamaged, match="door"):
        at(path)


def test_a_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreMisplaced, match=r"file/store\.db"):
        at(tmp_path / "file" / "store.db")
    with pytest.raises(StoreMisplaced, match="is a folder"):
        at(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "ro").mkdir(mode=0o500)
    with pytest.raises(StoreMisplaced, match=r"ro/store\.db"):
        at(tmp_path / "ro" / "store.db")


def test_a_write_that_another_process_keeps_waiting_says_so_once_and_goes_on_when_that_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.store.open.LOOK_MS", 10)
    path, told = tmp_path / "store.db", []
    with at(path), closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        def ended(where: str) -> None:
            told.append(where)
            other.execute("ROLLBACK")

        with open_store(f"sqlite:///{path}", now=lambda: DAY, busy=ended) as store:
            store.commit_intake(SCOPE, batch(turn("t1")))
            assert store.counts(SCOPE).turns == 1
    assert told == [str(path)]


def test_a_write_that_waited_all_the_while_says_what_that_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.store.open.LOOK_MS", 5)
    path, told = tmp_path / "store.db", []
    with (
        at(path),
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        open_store(f"sqlite:///{path}", now=lambda: DAY, busy=told.append) as store,
    ):
        monkeypatch.setattr("pipelines.store.open.WRITE_S", 0.05)
        monkeypatch.setattr("pipelines.store.forget.BUSY_MS", 5)
        other.execute("BEGIN IMMEDIATE")
        for work in (lambda: store.commit_intake(SCOPE, batch(turn("t1"))), store.reclaim):
            with pytest.raises(StoreUnavailable, match=r"store\.db: another process has held it .* nothing was changed: try again"):
                work()
    assert len(told) == 1


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_store_without_a_file_is_refused(url: str) -> None:
    with pytest.raises(Refused, match="file of its own"):
        open_store(url, now=lambda: DAY)


def test_a_full_disk_is_named_and_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with at(path) as store:
        store.commit_intake(SCOPE, batch(turn("t1")))
        store.engines.write.dispose()

        @event.listens_for(store.engines.write, "connect")
        def no_room(dbapi: sqlite3.Connection, _record: object) -> None:
            pages = dbapi.execute("PRAGMA page_count").fetchone()[0]
            dbapi.execute(f"PRAGMA max_page_count = {pages}")

        big = batch(*(turn(f"b{i}", "x" * 9000, ordinal=i) for i in range(100)), after=source("log-b"))
        with pytest.raises(StoreUnavailable, match=r"store\.db.*full"):
            store.commit_intake(SCOPE, big)
        assert store.source(SCOPE, "log-b") is None
        assert store.counts(SCOPE).turns == 1


def test_a_damaged_search_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with at(path) as store:
        store.commit_intake(SCOPE, batch(turn("t1", "zebra")))
        assert store.refresh_search() == 1
    for end in ("", "-wal", "-shm"):
        (tmp_path / f"store.search.db{end}").unlink(missing_ok=True)
    (tmp_path / "store.search.db").write_bytes(b"rubbish " * 2000)
    with at(path) as store:
        assert [m.uid for m in store.search_turns(SCOPE, ["zebra"], limit=3)] == ["t1"]


def test_the_search_file_of_another_store_is_not_believed(tmp_path: Path) -> None:
    with at(tmp_path / "a" / "store.db") as one:
        one.commit_intake(SCOPE, batch(turn("t1", "zebra")))
        one.refresh_search()
    with at(tmp_path / "b" / "store.db") as two:
        two.commit_intake(SCOPE, batch(turn("t9", "quokka")))
    (tmp_path / "b" / "store.search.db").write_bytes((tmp_path / "a" / "store.search.db").read_bytes())
    with at(tmp_path / "b" / "store.db") as two:
        assert two.search_turns(SCOPE, ["zebra"], limit=3) == ()
        assert [m.uid for m in two.search_turns(SCOPE, ["quokka"], limit=3)] == ["t9"]


def test_a_reader_is_not_kept_waiting_by_a_writer_and_cannot_write(tmp_path: Path) -> None:
    with at(tmp_path / "store.db") as store:
        store.commit_intake(SCOPE, batch(turn("t1")))
        with store.writing("hold the lock") as conn:
            conn.exec_driver_sql("UPDATE scopes SET revision = 7")
            assert store.revision(SCOPE) == 0
        with pytest.raises(StoreMisplaced), store.reading("write") as conn:
            conn.exec_driver_sql("UPDATE scopes SET revision = 8")
        assert store.revision(SCOPE) == 7


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/srv/store.db", "ext4"), ("/home/ana/nas/d/store.db", "cifs"), ("/home/ana/nasty/store.db", "ext4"), ("/mnt/a b/store.db", "nfs4")],
)
def test_the_file_system_of_a_path_is_that_of_its_nearest_mount(path: str, kind: str) -> None:
    assert filesystem_of(Path(path), MOUNTS) == kind
    assert filesystem_of(Path(path), "") == ""


@pytest.mark.parametrize("path", ["/home/ana/nas/d/store.db", "/mnt/a b/store.db", "/home/ana/Dropbox/x/store.db", "/u/OneDrive - Acme/store.db"])
def test_a_shared_folder_is_refused_with_the_setting_that_moves_the_store(path: str) -> None:
    with pytest.raises(StoreMisplaced, match="set DREAMD_STORE"):
        refuse_shared(Path(path), setting="DREAMD_STORE", mounts=MOUNTS)


def test_a_local_folder_is_fine() -> None:
    refuse_shared(Path("/home/ana/.local/share/dreamd/store.db"), setting="DREAMD_STORE", mounts=MOUNTS)


def test_an_error_of_the_driver_repeats_nothing_of_the_row_it_was_about(tmp_path: Path) -> None:
    with at(tmp_path / "store.db") as store, pytest.raises(IntegrityError) as refused, store.writing("write a row") as conn:
        conn.execute(tables.revisions.insert(), {"scope_id": 1, "rev": None, "cause": "my words", "recorded_at": DAY})
    assert "revisions" in str(refused.value)
    assert "my words" not in str(refused.value)
