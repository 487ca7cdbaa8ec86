"""The archive keeps bytes under the digest of what they are, whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from pipelines.logs.archive import ArchiveUnavailable, FolderArchive

DATA = "记录 one\n".encode() * 1000


def files_below(root: Path) -> list[Path]:
    return sorted(p for p in root.rglob("*") if p.is_file())


def test_what_is_put_comes_back_under_its_own_digest(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path / "archive")
    address = archive.put(DATA)
    assert address == hashlib.sha256(DATA).hexdigest()
    assert archive.get(address) == DATA
    assert archive.get(archive.put(b"")) == b""


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path / "archive")
    archive.put(DATA)
    for path in (archive.root, *archive.root.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_the_same_bytes_are_written_once(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path)
    archive.put(DATA)
    (only,) = files_below(tmp_path)
    before = only.stat().st_ino
    archive.put(DATA)
    assert [p.stat().st_ino for p in files_below(tmp_path)] == [before]
    assert archive.size() == only.stat().st_size < len(DATA)


def test_a_missing_or_damaged_blob_is_unavailable_and_not_gone(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path)
    first, second = archive.put(DATA), archive.put(b"other")
    with pytest.raises(ArchiveUnavailable, match="cannot be read"):
        archive.get("0" * 64)
    one, two = (archive.root / a[:1] / f"{a}.zst" for a in (first, second))
    one.write_bytes(two.read_bytes())
    with pytest.raises(ArchiveUnavailable, match="damaged"):
        archive.get(first)
    two.write_bytes(b"no zstd")
    with pytest.raises(ArchiveUnavailable, match="cannot be read"):
        archive.get(second)


def test_an_address_is_a_digest_and_never_a_path(tmp_path: Path) -> None:
    for address in ("../" * 20 + "etc/passwd", "A" * 64, "", "0" * 63 + "/"):
        with pytest.raises(ValueError, match="no address"):
            FolderArchive(tmp_path).get(address)


@pytest.mark.parametrize("call", ["fsync", "open", "replace"])
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def full(*args: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    archive = FolderArchive(tmp_path)
    monkeypatch.setattr(Path if call == "replace" else os, call, full)
    with pytest.raises(ArchiveUnavailable, match="No space left"):
        archive.put(DATA)
    monkeypatch.undo()
    assert files_below(tmp_path) == []
    assert archive.get(archive.put(DATA)) == DATA


def test_small_blobs_put_together_are_one_file_and_each_comes_back(tmp_path: Path) -> None:
    blobs = [f"记录 {n}\n".encode() * n for n in range(50)]
    archive = FolderArchive(tmp_path)
    assert archive.put_all(blobs) == [hashlib.sha256(b).hexdigest() for b in blobs]
    (pack,) = files_below(tmp_path)
    assert stat.S_IMODE(pack.stat().st_mode) == 0o600
    other = FolderArchive(tmp_path)
    assert [other.get(hashlib.sha256(b).hexdigest()) for b in blobs] == blobs
    assert archive.size() == pack.stat().st_size


def test_what_is_there_is_not_packed_again_and_one_blob_is_no_pack(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path)
    archive.put_all([b"one", b"two"])
    archive.put_all([b"two", b"one"])
    assert len(files_below(tmp_path)) == 1
    (alone,) = archive.put_all([b"three"])
    assert [p.name for p in files_below(tmp_path) if p.parent.name != "packs"] == [f"{alone}.zst"]
    assert archive.put_all([]) == []


def test_a_pack_another_process_wrote_is_found_and_a_damaged_one_is_unavailable(tmp_path: Path) -> None:
    reading, writing = FolderArchive(tmp_path), FolderArchive(tmp_path)
    reading.put_all([b"one", b"two"])
    third, _ = writing.put_all([b"three", b"four"])
    assert reading.get(third) == b"three"
    for pack in files_below(tmp_path):
        pack.write_bytes(b"no zstd")
    for archive in (writing, FolderArchive(tmp_path)):
        with pytest.raises(ArchiveUnavailable, match="cannot be read"):
            archive.get(hashlib.sha256(b"one").hexdigest())


def test_what_another_process_took_out_of_a_pack_is_put_again(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path)
    one, two = archive.put_all([b"one", b"two"])
    FolderArchive(tmp_path).drop_all([one])
    assert archive.put_all([b"one", b"two"]) == [one, two]
    assert (archive.get(one), archive.get(two)) == (b"one", b"two")


def test_it_knows_all_it_holds_and_drops_some_of_it_at_once(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path)
    alone, *packed = archive.put(b"alone"), *archive.put_all([b"one", b"two"]), *archive.put_all([b"three", b"four"])
    assert FolderArchive(tmp_path).addresses() == {alone, *packed}
    archive.drop_all([alone, packed[0], packed[2], packed[3]])
    assert FolderArchive(tmp_path).addresses() == {packed[1]}
    assert archive.get(packed[1]) == b"two"
    assert FolderArchive(tmp_path / "none").addresses() == frozenset()


def test_a_full_disk_leaves_no_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    archive = FolderArchive(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArchiveUnavailable, match="No space left"):
        archive.put_all([b"one", b"two"])
    monkeypatch.undo()
    assert files_below(tmp_path) == []
    assert archive.get(archive.put_all([b"one", b"two"])[0]) == b"one"
