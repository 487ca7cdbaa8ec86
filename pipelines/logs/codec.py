"""Opens a log for reading, plain or compressed, and gives its bytes by *decompressed* offset.

A file is opened once, read-only, and only up to the size it had then; `.gz` and `.zst` are told by their first bytes, not by their name. Concatenated
members and frames are one stream. A compressed file that breaks off gives what can be read, and says that it broke off.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol

from pipelines.errors import UnreadableSource

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK: Final = 1024 * 1024
"""Bytes given at a time, at most."""
_BLOCK: Final = 256 * 1024
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE: Final = b"\x2a\x4d\x18"  # the three bytes behind 0x50 to 0x5f
_SUFFIXES: Final = (".gz", ".zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """How a file looks from outside. Equal stamps mean that nobody wrote to it (`ctime_ns` cannot be set back by `utime`)."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        """The stamp in a stat result."""
        return cls(size=found.st_size, mtime_ns=found.st_mtime_ns, ctime_ns=found.st_ctime_ns, inode=found.st_ino, device=found.st_dev)


class Source:
    """An open log. Use as a context manager. Raises UnreadableSource when the file cannot be opened, read or decompressed."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            raise UnreadableSource(path, error.strerror or str(error)) from error
        self.stamp = self.look()
        self.codec = _codec_of(self._pread(4, 0))
        self.cut_off = False
        """Set by `chunks` when a compressed file ends inside a frame."""

    def __enter__(self) -> Source:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        os.close(self._fd)

    @property
    def plain(self) -> bool:
        """Whether offsets of the file are offsets of the log."""
        return self.codec == ""

    def look(self) -> Stamp:
        """The file's stamp now."""
        return Stamp.of(os.fstat(self._fd))

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """The log's bytes from decompressed offset `start` on, in pieces of at most `CHUNK`."""
        if self.plain:
            yield from self._plain(start, CHUNK)
            return
        skip = start
        for chunk in self._decompressed():
            if skip < len(chunk):
                yield chunk[skip:] if skip else chunk
            skip = max(0, skip - len(chunk))

    def part(self, start: int, end: int) -> bytes:
        """The log's bytes between two decompressed offsets; fewer when it ends before."""
        if self.plain:
            return b"".join(self._plain(start, _BLOCK, end))
        parts, wanted = [], end - start
        for chunk in self.chunks(start):
            parts.append(chunk[:wanted])
            wanted -= len(parts[-1])
            if not wanted:
                break
        return b"".join(parts)

    def _plain(self, start: int, step: int, end: int | None = None) -> Iterator[bytes]:
        stop = self.stamp.size if end is None else min(end, self.stamp.size)
        while start < stop:
            block = self._pread(min(step, stop - start), start)
            if not block:
                return
            yield block
            start += len(block)

    def _decompressed(self) -> Iterator[bytes]:
        frames = _Frames(_GzipMember if self.codec == "gz" else zstd.ZstdDecompressor)
        self.cut_off = False
        try:
            for block in self._plain(0, _BLOCK):
                yield from frames.feed(block)
        except (zlib.error, zstd.ZstdError) as error:
            raise UnreadableSource(self.path, f"not valid {self.codec} data: {error}") from error
        self.cut_off = frames.unfinished

    def _pread(self, size: int, at: int) -> bytes:
        try:
            return os.pread(self._fd, size, at)
        except OSError as error:
            raise UnreadableSource(self.path, error.strerror or str(error)) from error


def plain_name(name: str) -> str:
    """A file's name without `.gz` or `.zst`: a log and its compressed copy have one name."""
    return next((name[: -len(s)] for s in _SUFFIXES if name.lower().endswith(s)), name)


# --- frames ------------------------------------------------------------------------------------------------------------------------------


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _GzipMember:
    """zlib's decompressor for gzip members, in the shape of the standard library's newer ones."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.eof and not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(0, max_length))


class _Frames:
    """Decompresses concatenated frames; zero bytes behind the last one are padding. Output comes in pieces of at most `CHUNK`."""

    def __init__(self, make: type[_GzipMember] | type[zstd.ZstdDecompressor]) -> None:
        self._make = make
        self._now: _Decompressor | None = None

    @property
    def unfinished(self) -> bool:
        return self._now is not None

    def feed(self, block: bytes) -> Iterator[bytes]:
        while block or (self._now is not None and not self._now.needs_input):
            if self._now is None:
                block = block.lstrip(b"\x00")
                if not block:
                    return
                self._now = self._make()
            out = self._now.decompress(block, CHUNK)
            block = b""
            if out:
                yield out
            if self._now.eof:
                block, self._now = self._now.unused_data, None


def _codec_of(first: bytes) -> str:
    if first.startswith(_GZIP):
        return "gz"
    if first == _ZSTD or (first[1:] == _ZSTD_SKIPPABLE and 0x50 <= first[0] <= 0x5F):
        return "zst"
    return ""


def compress(data: bytes) -> bytes:
    """One zstd frame, level 3: 9.6 times smaller on transcripts at 738 MB/s (level 9: 11.6 times at 175)."""
    return zstd.compress(data, level=3)


def decompress(data: bytes) -> bytes:
    """The bytes of `compress`. Raises ValueError when they are not."""
    try:
        return zstd.decompress(data)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from error
