"""The archive: masked bytes of logs, kept because agents delete their logs after some weeks and a citation must survive.

A folder of zstd files named by the digest of what is inside them uncompressed (compressed bytes depend on the zstd version). A file is there whole
or not at all: exclusive temporary, fsync, rename, fsync of the folder. Nothing removes a blob but a forget.

Small blobs that are put together are one file, a pack: a line of JSON that lists their addresses and lengths, then their bytes one behind the other.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple, Protocol, runtime_checkable

import orjson

from pipelines.errors import Transient
from pipelines.logs.codec import compress, decompress
from pipelines.ports import Blobs

_PACKS: Final = "packs"
_DIRECTORY_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


class ArchiveUnavailable(Transient):
    """A blob cannot be written or read now; unreadable is not gone (systems R20)."""


_BLANKS: Final = bytes(byte if byte == ord("\n") else ord(" ") for byte in range(256))


def blanked(data: bytes, kept: Iterable[tuple[int, int]]) -> bytes:
    """Blanks of the same length in place of all but these spans; ends of lines stay, so that lines are counted as before."""
    out = bytearray(data.translate(_BLANKS))
    for start, end in kept:
        out[start:end] = data[start:end]
    return bytes(out)


@runtime_checkable
class Packing(Protocol):
    """An archive that stores many small blobs at the cost of one."""

    def put_all(self, blobs: Sequence[bytes]) -> list[str]: ...


def put_all(archive: Blobs, blobs: Sequence[bytes]) -> list[str]:
    """`put` each; together where the archive can."""
    return archive.put_all(blobs) if isinstance(archive, Packing) else [archive.put(data) for data in blobs]


class _Packed(NamedTuple):
    """Where in which pack a blob is."""

    pack: Path
    start: int
    end: int


class FolderArchive:
    """Blobs in a folder of its own, readable by its owner alone. Safe to use from several threads and processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._reading = Lock()
        self._packed: dict[str, _Packed] = {}
        self._packs: set[Path] = set()
        self._last: tuple[Path, bytes] | None = None  # citations of small logs often come from one pack

    def put(self, data: bytes) -> str:
        """Store bytes durably; the address is the SHA-256 of the bytes themselves. Raises ArchiveUnavailable (a full disk, say)."""
        address = hashlib.sha256(data).hexdigest()
        path = self._path(address)
        try:
            if not path.exists():
                _make_directories(path.parent)
                _write_whole(path, compress(data))
        except OSError as error:
            raise ArchiveUnavailable(f"the archive {self.root} cannot be written: {error.strerror or error}") from error
        return address

    def put_all(self, blobs: Sequence[bytes]) -> list[str]:
        """`put` of several blobs of some kilobytes, as one file: one wait for the disk. Raises as `put`."""
        addresses = [hashlib.sha256(data).hexdigest() for data in blobs]
        new = {address: data for address, data in zip(addresses, blobs, strict=True) if not self._path(address).exists() and not self._is_packed(address)}
        if len(new) == 1:
            self.put(next(iter(new.values())))
        elif new:
            try:
                path, content = self._write_pack(new)
            except OSError as error:
                raise ArchiveUnavailable(f"the archive {self.root} cannot be written: {error.strerror or error}") from error
            with self._reading:
                self._learn(path, content)
        return addresses

    def get(self, address: str) -> bytes:
        """The bytes, checked against their address. Raises ArchiveUnavailable when they are missing, unreadable or damaged."""
        path = self._path(address)
        try:
            packed = None if path.exists() else self._find(address)
            data = self._unpacked(packed) if packed is not None else decompress(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ArchiveUnavailable(f"blob {address} of the archive {self.root} cannot be read: {error}") from error
        if hashlib.sha256(data).hexdigest() != address:
            raise ArchiveUnavailable(f"blob {address} of the archive {self.root} is damaged: its bytes have another digest")
        return data

    def addresses(self) -> frozenset[str]:
        """Everything it holds. Raises ArchiveUnavailable."""
        try:
            packed = (name for pack in self._all_packs() for name, _ in _listed(decompress(pack.read_bytes()))[0])
            return frozenset({path.stem for path in self.root.glob("?/*.zst")}.union(packed))
        except (OSError, ValueError) as error:
            raise ArchiveUnavailable(f"the archive {self.root} cannot be listed: {error}") from error

    def drop_all(self, addresses: Collection[str]) -> None:
        """Remove blobs, in packs by writing the pack anew without them; what is not there is gone already. Raises ArchiveUnavailable."""
        try:
            for address in addresses:
                self._path(address).unlink(missing_ok=True)
            for pack in self._all_packs() if addresses else ():
                self._drop_packed(pack, addresses)
        except (OSError, ValueError) as error:
            raise ArchiveUnavailable(f"blobs of the archive {self.root} cannot be removed: {error}") from error

    def _all_packs(self) -> list[Path]:
        return sorted((self.root / _PACKS).glob("*.zst"))

    def _drop_packed(self, pack: Path, addresses: Collection[str]) -> None:
        """Put a pack without these blobs in the place of one with them; the new one is there before the old one goes."""
        listed, body = _listed(decompress(pack.read_bytes()))
        kept, at = {}, 0
        for name, length in listed:
            kept[name] = body[at : at + length]
            at += length
        stays = {name: data for name, data in kept.items() if name not in addresses}
        if len(stays) == len(kept):
            return
        if stays:
            self._write_pack(stays)
        pack.unlink()
        _sync_directory(pack.parent)
        with self._reading:
            self._unlearn()

    def size(self) -> int:
        """Bytes the archive takes on disk."""
        return sum(entry.stat().st_size for entry in self.root.glob("*/*.zst")) if self.root.exists() else 0

    def _write_pack(self, blobs: Mapping[str, bytes]) -> tuple[Path, bytes]:
        content = orjson.dumps([[address, len(data)] for address, data in blobs.items()]) + b"\n" + b"".join(blobs.values())
        path = self.root / _PACKS / f"{hashlib.sha256(content).hexdigest()}.zst"
        _make_directories(path.parent)
        _write_whole(path, compress(content))
        return path, content

    def _is_packed(self, address: str) -> bool:
        """Whether a pack that is known and still there holds a blob: another process may have written it anew without it."""
        with self._reading:
            known = self._packed.get(address)
            return known is not None and known.pack.exists()

    def _find(self, address: str) -> _Packed | None:
        """Where a blob is packed; packs of other processes are looked into when it is in none that is known."""
        with self._reading:
            if (known := self._packed.get(address)) is not None and not known.pack.exists():
                self._unlearn()  # another process wrote the pack anew
            if address not in self._packed:
                for pack in sorted(set((self.root / _PACKS).glob("*.zst")) - self._packs):
                    self._learn(pack, decompress(pack.read_bytes()))
            return self._packed.get(address)

    def _learn(self, pack: Path, content: bytes) -> None:
        listed, _, _ = content.partition(b"\n")
        at = len(listed) + 1
        for address, length in orjson.loads(listed):
            self._packed[address] = _Packed(pack, at, at + length)
            at += length
        self._packs.add(pack)

    def _unlearn(self) -> None:
        self._packed, self._packs, self._last = {}, set(), None

    def _unpacked(self, packed: _Packed) -> bytes:
        with self._reading:
            if self._last is None or self._last[0] != packed.pack:
                self._last = packed.pack, decompress(packed.pack.read_bytes())
            return self._last[1][packed.start : packed.end]

    def _path(self, address: str) -> Path:
        if len(address) != 64 or set(address) - set("0123456789abcdef"):
            raise ValueError(f"{address!r} is no address of a blob")
        return self.root / address[:1] / f"{address}.zst"  # 16 folders: each new one costs an fsync of its parent


def _listed(content: bytes) -> tuple[list[tuple[str, int]], bytes]:
    """What a pack holds by its first line, address and length, and the bytes behind it. Raises ValueError."""
    first, _, body = content.partition(b"\n")
    return [(address, length) for address, length in orjson.loads(first)], body


def _make_directories(folder: Path) -> None:
    for part in (folder.parent, folder):
        if not part.exists():
            part.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
            _sync_directory(part.parent)


def _write_whole(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
