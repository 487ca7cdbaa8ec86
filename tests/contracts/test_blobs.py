"""What every archive promises: one suite over the folder and the database."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from pipelines.errors import Transient
from pipelines.logs.archive import ArchiveUnavailable, FolderArchive, Packing
from pipelines.logs.codec import compress
from pipelines.ports import Blobs
from pipelines.store import Store
from pipelines.store.blobs import DatabaseArchive
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import KINDS, Clock, clock, store, store_of

__all__ = ["clock", "store"]  # fixtures of this suite

DATA = "记录 one\n".encode() * 1000


@pytest.fixture(params=["folder", *KINDS])
def archive(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Blobs:
    if request.param == "folder":
        return FolderArchive(tmp_path / "archive")
    return DatabaseArchive(store_of(request.param, request, clock), SCOPE)


@pytest.mark.parametrize("data", [DATA, b"", b"\0\xff\n" * 3, bytes(range(256)) * 20_000])
def test_bytes_come_back_under_their_own_digest(archive: Blobs, data: bytes) -> None:
    address = archive.put(data)
    assert address == hashlib.sha256(data).hexdigest()
    assert archive.get(address) == data
    assert archive.put(data) == address


def test_blobs_put_together_come_back_one_by_one(archive: Blobs) -> None:
    assert isinstance(archive, Packing)
    archive.put(DATA)
    blobs = [b"one", DATA, b"", b"one", b"three\0"]
    addresses = archive.put_all(blobs)
    assert addresses == [hashlib.sha256(data).hexdigest() for data in blobs]
    assert [archive.get(address) for address in addresses] == blobs
    assert archive.put_all(blobs) == addresses, "again, when all of them are there"
    assert archive.put_all([]) == []


def test_bytes_that_are_not_there_are_unavailable_and_not_gone(archive: Blobs) -> None:
    archive.put(DATA)
    with pytest.raises(Transient, match="cannot be read"):
        archive.get("0" * 64)


@pytest.mark.parametrize("address", ["../" * 20 + "etc/passwd", "A" * 64, "", "0" * 63 + "/"])
def test_an_address_is_a_digest_and_nothing_else(archive: Blobs, address: str) -> None:
    with pytest.raises(ValueError, match="no address"):
        archive.get(address)


def test_writers_of_the_same_bytes_at_once_all_succeed(archive: Blobs) -> None:
    gate, told = threading.Barrier(4), []

    def write() -> None:
        gate.wait(20)
        told.append(archive.put(DATA))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert set(told) == {hashlib.sha256(DATA).hexdigest()}
    assert len(told) == 4
    assert archive.get(told[0]) == DATA


# --- the database's own ---------------------------------------------------------------------------------------------------------------------


def test_a_scope_reads_no_blob_of_another(store: Store) -> None:
    address = DatabaseArchive(store, SCOPE).put(DATA)
    with pytest.raises(ArchiveUnavailable):
        DatabaseArchive(store, "acme/web/lee").get(address)
    assert DatabaseArchive(store, "acme/web/lee").put(DATA) == address
    assert DatabaseArchive(store, "acme/web/lee").get(address) == DATA


def test_bytes_are_kept_small_and_once(store: Store) -> None:
    archive = DatabaseArchive(store, SCOPE)
    for _ in range(3):
        archive.put(DATA)
    with store.reading("look") as conn:
        ((length, kept),) = conn.execute(text("SELECT length, length(bytes) FROM blobs")).all()
    assert length == len(DATA)
    assert kept < length / 10


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_a_writer_of_the_scope_is_not_waited_for(store: Store) -> None:
    store.raise_revision(SCOPE, cause="hand", above=0)
    told: list[str] = []
    with store.writing("hold the scope") as conn:
        store.locked_scope(conn, SCOPE)
        thread = threading.Thread(target=lambda: told.append(DatabaseArchive(store, SCOPE).put(DATA)))
        thread.start()
        thread.join(20)
        assert told


@pytest.mark.parametrize(("what", "why"), [("rubbish", "cannot be read"), ("another's", "damaged")])
def test_damaged_bytes_are_told_by_their_address(store: Store, what: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = DatabaseArchive(store, SCOPE)
    kept = b"no zstd" if what == "rubbish" else compress(b"other")
    monkeypatch.setattr("pipelines.store.blobs.compress", lambda _: kept)
    address = archive.put(DATA)
    with pytest.raises(ArchiveUnavailable, match=f"{address}.*{why}"):
        archive.get(address)
