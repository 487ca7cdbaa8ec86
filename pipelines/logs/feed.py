"""Masked bytes of one log for the splitter; raw and masked ones are kept until they are committed, and go into the archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Final

from pipelines.logs.ahead import Log
from pipelines.logs.archive import blanked
from pipelines.logs.desk import Changed, Desk
from pipelines.logs.outbox import EDGE, SMALL, Stretch
from pipelines.logs.redaction import Masked

SIZE_MAX: Final = 1 << 62
SEGMENT_MAX: Final = 16 * 1024 * 1024


class Feed:
    """Masked chunks for the splitter; keeps raw and masked bytes until they are committed, those of a very long record in the archive already."""

    def __init__(self, desk: Desk, log: Log, offset: int) -> None:
        self.desk, self.log = desk, log
        self.base = offset  # offset of the first byte kept
        self.reached = offset  # end of the last piece the splitter gave out
        self.start = offset
        self.held: list[tuple[bytes, bytes]] = []  # raw and masked chunks: one and the same where nothing was masked
        self.size = 0
        self.redacted: list[tuple[int, int]] = []  # (end of chunk, secrets masked in it)
        self.ahead: list[Stretch] = []
        self.kept: Sequence[tuple[int, int]] | None = None  # of what is forgotten in part

    def chunks(self) -> Iterator[bytes]:
        for chunk, waits in self.log.stretches(self.start):
            masked = self._hold(chunk, waits.result())
            del chunk, waits  # it may be long
            yield masked

    def _hold(self, chunk: bytes, masked: Masked) -> bytes:
        if self.size > SEGMENT_MAX:
            self.ahead += self._cut(self.reached) + self._cut(self.base + self.size)
        self.held.append((chunk, masked.data))
        self.size += len(chunk)
        if masked.count:
            self.redacted.append((self.base + self.size, masked.count))
        return masked.data

    def take(self, end: int, kept: Sequence[tuple[int, int]] | None = None) -> list[Stretch]:
        """All stretches up to `end`, on their way into the archive; with `kept` only these spans of them, and blanks for the rest."""
        self.kept = None if kept is None else (*kept, (end, SIZE_MAX))  # what follows is another batch's
        if kept is not None:
            self.ahead = [self._kept(x.offset, *self._both(x)) for x in self.ahead]
        self.ahead += self._cut(end, waits=True)
        stretches = [part for x in self.ahead for part in (self._halved(x, end) if x.offset < end < x.end else [x])]
        self.ahead = [x for x in stretches if x.end > end]
        self.kept = None
        return [x for x in stretches if x.end <= end]

    def _halved(self, stretch: Stretch, end: int) -> list[Stretch]:
        """Cut in two what went ahead into the archive, since a record ends inside it (only where records are longer than a segment)."""
        raw, masked = self._both(stretch)
        at = end - stretch.offset
        return [self._kept(stretch.offset, raw[:at], masked[:at]), self._kept(end, raw[at:], masked[at:])]

    def _both(self, stretch: Stretch) -> tuple[bytes, bytes]:
        """The raw and the masked bytes of what went ahead into the archive."""
        raw, masked = self.log.source.part(stretch.offset, stretch.end), self.desk.archive.get(stretch.blob.result())
        if self.desk.store.mac(raw) != stretch.raw_mac.result():
            raise Changed
        return raw, masked

    def count(self, end: int) -> int:
        """Secrets masked up to `end` and not counted before."""
        counted = sum(n for at, n in self.redacted if at <= end)
        self.redacted = [(at, n) for at, n in self.redacted if at > end]
        return counted

    def _cut(self, end: int, *, waits: bool = False) -> list[Stretch]:
        length = end - self.base
        if length <= 0:
            return []
        raw, masked = self._released(length)
        offset, self.base = self.base, end
        return [self._kept(offset, raw, masked, waits=waits)]

    def _released(self, length: int) -> tuple[bytes, bytes]:
        """The first bytes that are held, raw and masked; they are held no longer."""
        held, at = [], 0
        while at < length:
            first = self.held.pop(0)
            if at + len(first[0]) > length:
                first, rest = _cut_in_two(*first, length - at)
                self.held.insert(0, rest)
            held.append(first)
            at += len(first[0])
        self.size -= length
        raw = b"".join([raw for raw, _ in held])
        return raw, raw if all(raw is masked for raw, masked in held) else b"".join([masked for _, masked in held])

    def _kept(self, offset: int, raw: bytes, masked: bytes, *, waits: bool = False) -> Stretch:
        """A stretch on its way into the archive; when it `waits` for its commit and is small, together with others."""
        desk = self.desk
        if self.kept is not None:
            masked = blanked(masked, [(max(a - offset, 0), min(b - offset, len(masked))) for a, b in self.kept if a < offset + len(masked) and offset < b])
        if waits and len(raw) <= SMALL:
            mac, blob = Future[str](), desk.small.add(masked)
            mac.set_result(desk.store.mac(raw))
        else:
            mac, blob = desk.pool.submit(desk.store.mac, raw), desk.pool.submit(desk.archive.put, masked)
        return Stretch(offset=offset, length=len(raw), lines=raw.count(b"\n"), head=raw[:EDGE], tail=raw[-EDGE:], raw_mac=mac, blob=blob)


def _cut_in_two(raw: bytes, masked: bytes, at: int) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
    first, rest = raw[:at], raw[at:]
    return ((first, first), (rest, rest)) if masked is raw else ((first, masked[:at]), (rest, masked[at:]))
