"""Logs are read by decompressed offset, whatever wraps them."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from pipelines.errors import UnreadableSource
from pipelines.logs.codec import CHUNK, Source, plain_name

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LOG = b"".join(b'{"n": %d, "text": "line number %d"}\n' % (n, n * 7919) for n in range(5000))
HALF = len(LOG) // 2
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
WRAPPED = {
    "plain": LOG,
    "gz": gzip.compress(LOG),
    "gz of two members": gzip.compress(LOG[:HALF]) + gzip.compress(LOG[HALF:]),
    "gz with zero padding": gzip.compress(LOG) + b"\x00" * 512,
    "zst": zstd.compress(LOG),
    "zst of two frames": zstd.compress(LOG[:HALF]) + zstd.compress(LOG[HALF:]),
    "zst with a skippable frame": SKIPPABLE + zstd.compress(LOG[:HALF]) + SKIPPABLE + zstd.compress(LOG[HALF:]),
}


def written(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "log"
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("how", sorted(WRAPPED))
def test_every_wrapping_gives_the_same_bytes_at_the_same_offsets(tmp_path: Path, how: str) -> None:
    with Source(written(tmp_path, WRAPPED[how])) as source:
        assert source.plain == (how == "plain")
        for start in (0, 1, HALF - 1, HALF, len(LOG) - 1, len(LOG), len(LOG) + 5):
            assert b"".join(source.chunks(start)) == LOG[start:]
        assert source.part(100, 250) == LOG[100:250]
        assert source.part(len(LOG) - 10, len(LOG) + 10) == LOG[-10:]
        assert not source.cut_off


@pytest.mark.parametrize("make", [gzip.compress, zstd.compress])
def test_a_small_file_that_grows_a_thousandfold_comes_in_bounded_pieces(tmp_path: Path, make: object) -> None:
    assert callable(make)
    with Source(written(tmp_path, make(b"a" * (3 * CHUNK + 5)))) as source:
        sizes = [len(chunk) for chunk in source.chunks()]
    assert sum(sizes) == 3 * CHUNK + 5
    assert max(sizes) <= CHUNK


@pytest.mark.parametrize("how", ["gz", "zst"])
def test_a_file_that_breaks_off_gives_what_is_there_and_says_so(tmp_path: Path, how: str) -> None:
    random_log = b"".join(b'{"n": "%x"}\n' % (n * 2654435761 % 2**64) for n in range(60_000))
    packed = gzip.compress(random_log) if how == "gz" else zstd.compress(random_log)
    with Source(written(tmp_path, packed[: len(packed) * 2 // 3])) as source:
        read = b"".join(source.chunks())
        assert source.cut_off
    assert len(read) > len(random_log) // 3
    assert random_log.startswith(read)


def test_damaged_data_is_refused_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, WRAPPED["gz"][:40] + b"damage" + WRAPPED["gz"][46:])
    with Source(path) as source, pytest.raises(UnreadableSource, match="not valid gz data"):
        list(source.chunks())


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="No such file"):
        Source(str(tmp_path / "none"))


def test_only_the_size_it_had_when_opened_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, LOG)
    with Source(path) as source:
        with open(path, "ab") as file:
            file.write(b"later\n")
        assert b"".join(source.chunks()) == LOG
        assert source.look() != source.stamp


def test_a_compressed_log_has_the_name_of_the_plain_one() -> None:
    assert [plain_name(n) for n in ("a.jsonl.zst", "a.jsonl.GZ", "a.jsonl", ".zst")] == ["a.jsonl", "a.jsonl", "a.jsonl", ""]
