"""The wiki folder as publishing sees it: descriptors instead of paths, no symbolic link followed, whole files or none.

On Linux (`renameat2`) and macOS (`renameatx_np`) a file is replaced by exchanging it with the new one, so that what stood there a moment ago is in our
hands and not lost. Where neither is there, the old file is kept by a second link and then replaced: a program that replaces the file between those
two calls loses its save; one that writes into the open file does not.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pipelines.errors import Refused, Transient
from pipelines.model import digest

PRIVATE = ".dreamd"
DISPLACED, TEMPORARY = f"{PRIVATE}/displaced", f"{PRIVATE}/tmp"
READ_BYTES_MAX = 16 << 20
LOOK_AGAIN_S = 0.05
YOUNG_NS = 2_000_000_000
"""A file changed within this time of being read may change again without looking otherwise: clocks of file systems are coarse."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderBusy(Transient):
    """Another process publishes into this folder right now; `holder` says who."""

    def __init__(self, folder: str, holder: str) -> None:
        super().__init__(f"{folder} is being published by {holder or 'another process'}")
        self.holder = holder


class PublishFailed(Transient):
    """The folder could not be written (disk full, permission, input/output error); what stands there is whole, and the next publish goes on."""


class InTheWay(Refused):
    """Something that is no plain file or folder stands where dreamd writes, such as a symbolic link; nothing behind it was touched."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path} is {what}: move it away, dreamd writes plain files only")
        self.path = path
        self.what = what


Stamp = tuple[int, int, int, int]
"""How a file looks from outside: size, when it was written, when it was changed at all, its number."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it was read: its bytes and their digest. While its stamp stays, it holds these bytes; None when that cannot be told yet."""

    data: bytes
    digest: str
    stamp: Stamp | None


class Folder:
    """One open wiki folder. Paths are relative to it and at most two folders deep; close it when done."""

    def __init__(self, path: Path) -> None:
        try:
            self._root = os.open(path.resolve(), _DIRECTORY)
        except OSError as error:
            raise PublishFailed(f"cannot open the wiki folder {path}: {error.strerror}") from error
        self.path = path
        self._open: dict[str, int] = {"": self._root}
        self._count = 0

    def close(self) -> None:
        """Give the descriptors back."""
        for fd in self._open.values():
            os.close(fd)
        self._open = {}

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _dir(self, folder: str, *, make: bool = False) -> int:
        """A descriptor of a sub-folder, made when asked for; a symbolic link in its place is refused."""
        if folder in self._open:
            return self._open[folder]
        above, _, name = folder.rpartition("/")
        parent = self._dir(above, make=make)
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700 if folder.startswith(PRIVATE) else 0o777, dir_fd=parent)
        try:
            self._open[folder] = os.open(name, _DIRECTORY, dir_fd=parent)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                raise InTheWay(folder, "a symbolic link or a file, not a folder") from error
            raise
        return self._open[folder]

    def _at(self, path: str, *, make: bool = False) -> tuple[int, str]:
        folder, _, name = path.rpartition("/")
        return self._dir(folder, make=make), name

    def make(self, folder: str) -> None:
        """Make a sub-folder if it is not there."""
        self._dir(folder, make=True)

    def names(self, folder: str = "") -> list[str]:
        """Names in a sub-folder, sorted; none when it is not there."""
        try:
            return sorted(os.listdir(self._dir(folder)))
        except FileNotFoundError:
            return []

    def stamps(self, folder: str = "") -> dict[str, Stamp]:
        """How the plain files of a sub-folder look, by name in order; none when it is not there. One walk costs a fraction of a `stamp` each."""
        try:
            entries = os.scandir(self._dir(folder))
        except FileNotFoundError:
            return {}
        found: dict[str, Stamp] = {}
        with entries as listed:
            for entry in listed:
                with suppress(FileNotFoundError):  # removed since it was listed
                    if entry.is_file(follow_symlinks=False):
                        found[entry.name] = _stamp(entry.stat(follow_symlinks=False))
        return dict(sorted(found.items()))

    def read(self, path: str) -> Found | None:
        """The file, or None when it is not there; whatever is no plain file raises InTheWay."""
        try:
            fd, name = self._at(path)
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENXIO}:
                raise InTheWay(path, "a symbolic link or a device") from error
            raise
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            os.close(file)  # a folder cannot be opened as a file at all
            raise InTheWay(path, "no plain file")
        with open(file, "rb") as handle:
            if status.st_size > READ_BYTES_MAX:
                raise InTheWay(path, "larger than any page")
            data = handle.read()
            stamp = _stamp(os.fstat(handle.fileno()))
        settled = stamp == _stamp(status) and 0 <= status.st_ctime_ns < time.time_ns() - YOUNG_NS
        return Found(data, digest(data), stamp if settled else None)

    def stamp(self, path: str) -> Stamp | None:
        """How the file looks, or None when it is not there; whatever is no plain file raises InTheWay."""
        try:
            fd, name = self._at(path)
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise InTheWay(path, "a symbolic link or a device" if stat.S_ISLNK(status.st_mode) else "no plain file")
        return _stamp(status)

    def stands(self, path: str) -> bool:
        """Whether anything at all stands at a path."""
        fd, name = self._at(path)
        try:
            os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def write_temporary(self, data: bytes, *, mode: int = 0o666, sync: bool = True) -> str:
        """A new file with these bytes, on disk (unless not asked for), under a name nobody else has."""
        self._count += 1
        path = f"{TEMPORARY}/{os.getpid()}-{self._count}"
        fd, name = self._at(path, make=True)
        try:
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=fd)
            with open(file, "wb") as handle:
                handle.write(data)
                handle.flush()
                if sync:
                    os.fsync(handle.fileno())
        except OSError:
            self.remove(path)
            raise
        return path

    def create(self, temporary: str, path: str) -> bool:
        """Move a temporary to a path where nothing stands; False when something does (the temporary is gone then)."""
        done = self._rename(temporary, path, _flags().exclusive)
        if done is None:
            done = self._link(temporary, path)
        if not done:
            self.remove(temporary)
        return done

    def exchange(self, staged: str, path: str) -> None:
        """Put the file at `staged` in place of the one at `path`, and that one at `staged`."""
        if self._rename(staged, path, _flags().exchange) is None:
            (from_fd, from_name), (fd, name) = self._at(staged), self._at(path)
            kept = staged + ".old"
            os.link(name, self._at(kept)[1], src_dir_fd=fd, dst_dir_fd=from_fd, follow_symlinks=False)
            os.replace(from_name, name, src_dir_fd=from_fd, dst_dir_fd=fd)
            os.rename(self._at(kept)[1], from_name, src_dir_fd=from_fd, dst_dir_fd=from_fd)

    def move(self, path: str, to: str) -> None:
        """Rename, over whatever stands at `to`; only for names of our own under `.dreamd`."""
        (from_fd, from_name), (fd, name) = self._at(path), self._at(to, make=True)
        os.rename(from_name, name, src_dir_fd=from_fd, dst_dir_fd=fd)

    def remove(self, path: str) -> None:
        """Remove a file of our own; it may be gone already."""
        fd, name = self._at(path)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=fd)

    def sync(self) -> None:
        """Make renames of every folder touched so far last."""
        for fd in self._open.values():
            os.fsync(fd)

    def replace(self, path: str, data: bytes) -> None:
        """Write a file of our own under `.dreamd`, whole or not at all."""
        self.move(self.write_temporary(data, mode=0o600), path)
        os.fsync(self._at(path)[0])

    def _rename(self, path: str, to: str, flag: int | None) -> bool | None:
        """An exclusive or exchanging rename; False: something stands there. None: this system has no such call."""
        call = _flags().call
        if flag is None or call is None:
            return None
        (from_fd, from_name), (fd, name) = self._at(path), self._at(to, make=True)
        if call(from_fd, os.fsencode(from_name), fd, os.fsencode(name), flag) == 0:
            return True
        code = ctypes.get_errno()
        if code == errno.EEXIST:
            return False
        if code in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}:
            return None
        raise OSError(code, os.strerror(code), to)

    def _link(self, temporary: str, path: str) -> bool:
        (from_fd, from_name), (fd, name) = self._at(temporary), self._at(path, make=True)
        try:
            os.link(from_name, name, src_dir_fd=from_fd, dst_dir_fd=fd, follow_symlinks=False)
        except FileExistsError:
            return False
        os.unlink(from_name, dir_fd=from_fd)
        return True

    @contextmanager
    def locked(self, holder: str, *, patience_s: float = 0) -> Iterator[None]:
        """The only publisher of this folder on this host; the kernel gives the lock back when the process ends, however it ends.

        Another one is waited for `patience_s` seconds, then FolderBusy is raised.
        """
        fd, name = self._at(f"{PRIVATE}/lock", make=True)
        with open(os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=fd), "r+b") as lock:
            until = time.monotonic() + patience_s
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as error:
                    if time.monotonic() >= until:
                        raise FolderBusy(str(self.path), lock.read(200).decode("utf-8", "replace").strip()) from error
                    time.sleep(LOOK_AGAIN_S)
            lock.truncate(0)
            lock.write(holder.encode()[:200])
            lock.flush()
            yield


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


@dataclass(frozen=True, slots=True)
class _Rename:
    call: ctypes._NamedFuncPointer | None
    exchange: int | None = None
    exclusive: int | None = None


@cache
def _flags() -> _Rename:
    """The call of this system that renames with flags, if it has one."""
    name, swap, exclusive = ("renameatx_np", 2, 4) if sys.platform == "darwin" else ("renameat2", 2, 1)
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is None:
        return _Rename(None)
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return _Rename(call, swap, exclusive)
