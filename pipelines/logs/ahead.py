"""Opens logs and masks their next bytes while other bytes are being taken in.

The look for secrets is what intake spends most on, and other threads run beside it. One thread does it, a stretch ahead within a log and some files
ahead between small ones. What is ahead is bounded: the first stretch of each expected file, and one stretch of the log at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Final, NamedTuple

from pipelines.errors import UnreadableSource
from pipelines.logs.codec import Source
from pipelines.logs.redaction import Masked

LINE_MAX: Final = 8 * 1024 * 1024
"""A line longer than this is masked in parts."""


class Stretch(NamedTuple):
    """Raw bytes of a log from one line's end to another's, and the same without secrets."""

    raw: bytes
    masked: Future[Masked]


class Log:
    """An open log and its stretches."""

    def __init__(self, source: Source, mask: Callable[[bytes], Future[Masked]], begun: tuple[Stretch, Iterator[bytes]] | None = None) -> None:
        """`begun`: the first stretch and the raw bytes of those behind it, when it was read already."""
        self.source, self._mask, self._begun = source, mask, begun

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.source.close()

    def beginning(self, size: int) -> bytes:
        """The first bytes, as many as there are up to a size."""
        if self._begun is not None:
            raw = self._begun[0].raw
            if len(raw) >= min(size, self.source.stamp.size) and (self.source.plain or len(raw) >= size):
                return raw[:size]
        return self.source.part(0, size)

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The log from an offset on; the next stretch is masked while the one given out is worked on. Raises UnreadableSource."""
        begun, self._begun = self._begun, None
        if begun is None or start != 0:
            raws = raw_stretches(self.source, start)
            if (raw := next(raws, None)) is None:
                return
            begun = Stretch(raw, self._mask(raw)), raws
        first, raws = begun
        waiting = [first]
        del begun, first  # a stretch that was given out is not kept here: it may be long
        while waiting:
            try:
                raw = next(raws, None)
            except UnreadableSource:  # damaged further on: what came before is good
                yield waiting.pop()
                raise
            if raw is not None:
                waiting.append(Stretch(raw, self._mask(raw)))
            del raw
            yield waiting.pop(0)


class Ahead:
    """The thread that masks, and the logs it has opened; what is `small` is masked where it is wanted. Use as a context manager."""

    def __init__(self, mask: Callable[[bytes], Masked], *, small: int) -> None:
        self._mask, self._small = mask, small
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mask")
        self._expected: dict[str, Future[Log | None]] = {}

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for waiting in self._expected.values():
            waiting.cancel()
        self._pool.shutdown()
        for waiting in self._expected.values():
            if not waiting.cancelled() and waiting.exception() is None and (log := waiting.result()) is not None:
                log.source.close()

    def expect(self, paths: Iterable[str]) -> None:
        """Files whose turn comes soon, to be read from their first byte."""
        for path in paths:
            if path not in self._expected:
                self._expected[path] = self._pool.submit(self._begun, path)

    def opened(self, path: str) -> Log:
        """The log, opened now unless it was expected. Raises UnreadableSource."""
        expected = self._expected.pop(path, None)
        log = expected.result() if expected is not None else None
        return log or Log(Source(path), self._soon)

    def _soon(self, raw: bytes) -> Future[Masked]:
        return self._pool.submit(self._mask, raw) if len(raw) > self._small else self._now(raw)

    def _now(self, raw: bytes) -> Future[Masked]:
        masked: Future[Masked] = Future()
        masked.set_result(self._mask(raw))
        return masked

    def _begun(self, path: str) -> Log | None:
        """A log with its first stretch masked; None when it cannot be read, which is found again when its turn has come."""
        try:
            source = Source(path)
        except UnreadableSource:
            return None
        raws = raw_stretches(source, 0)
        try:
            raw = next(raws, None)
        except UnreadableSource:
            source.close()
            return None
        if raw is None:
            return Log(source, self._soon)
        return Log(source, self._soon, (Stretch(raw, self._now(raw)), raws))


def raw_stretches(source: Source, start: int) -> Iterator[bytes]:
    """The log's bytes in stretches that end where lines do, but for lines too long to be looked through in one go and the last."""
    held = b""
    for chunk in source.chunks(start):
        held = held + chunk if held else chunk
        cut = held.rfind(b"\n") + 1 or (_quiet_cut(held) if len(held) > LINE_MAX else 0)
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _quiet_cut(line: bytes) -> int:
    """Where to cut a line too long to be masked in one go: behind white space or a comma, where no token stands."""
    return max(line.rfind(mark, len(line) // 2) for mark in (b" ", b",")) + 1 or len(line)
