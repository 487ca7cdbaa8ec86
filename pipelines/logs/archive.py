"""The archive: masked bytes of logs, kept because agents delete their logs after some weeks and a citation must survive.

A folder of zstd files named by the digest of what is inside them uncompressed (compressed bytes depend on the zstd version). A file is there whole
or not at all: exclusive temporary, fsync, rename, fsync of the folder. Nothing here removes a file.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path
from typing import Final

from pipelines.errors import Transient
from pipelines.logs.codec import compress, decompress

_DIRECTORY_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


class ArchiveUnavailable(Transient):
    """A blob cannot be written or read now; unreadable is not gone (systems R20)."""


class FolderArchive:
    """Blobs in a folder of its own, readable by its owner alone. Safe to use from several threads and processes."""

    def __init__(self, root: Path) -> None:
        self.root = root

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

    def get(self, address: str) -> bytes:
        """The bytes, checked against their address. Raises ArchiveUnavailable when they are missing, unreadable or damaged."""
        path = self._path(address)
        try:
            data = decompress(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ArchiveUnavailable(f"blob {address} of the archive {self.root} cannot be read: {error}") from error
        if hashlib.sha256(data).hexdigest() != address:
            raise ArchiveUnavailable(f"blob {address} of the archive {self.root} is damaged: its bytes have another digest")
        return data

    def size(self) -> int:
        """Bytes the archive takes on disk."""
        return sum(entry.stat().st_size for entry in self.root.glob("*/*.zst")) if self.root.exists() else 0

    def _path(self, address: str) -> Path:
        if len(address) != 64 or set(address) - set("0123456789abcdef"):
            raise ValueError(f"{address!r} is no address of a blob")
        return self.root / address[:1] / f"{address}.zst"  # 16 folders: each new one costs an fsync of its parent


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
