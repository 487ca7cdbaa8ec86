"""Every citation read again from the archive: does the quoted line still stand there, word for word?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.errors import Transient
from pipelines.logs.detect import reader_of
from pipelines.logs.reader import FileContext
from pipelines.logs.split import Record, split
from pipelines.model import Quote, Turn
from pipelines.ports import Blobs, Occurrence
from pipelines.store import Store

NOT_IN_ARCHIVE = "not_in_archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A citation that did not hold, and why: "archive_unreadable", "not_in_archive", "quote_not_in_turn"."""

    note: str
    turn: str
    session: str
    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """How many citations there are, those that failed, and how many could not be read again since their lines are no longer kept: no failures."""

    citations: int
    failed: tuple[Failed, ...]
    unkept: int = 0


def verify(store: Store, scope: str, archive: Blobs) -> Verified:
    """Read every quote of every current version and finding again, out of the archived bytes of its record."""
    quotes = _cited(store, scope)
    uids = {q.turn for _, q in quotes}
    turns = store.turns(scope, uids)
    places = store.occurrences(scope, uids)
    words = _Archive(store, scope, archive)
    gone = store.unkept(scope, uids)
    failed, unkept = [], 0
    for note, quote in quotes:
        turn = turns.get(quote.turn)
        why = "not_in_store" if turn is None else _check(quote, turn, places.get(quote.turn, ()), words)
        if why == NOT_IN_ARCHIVE and quote.turn in gone:
            unkept += 1
        elif why:
            where = places.get(quote.turn, ())
            failed.append(
                Failed(note=note, turn=quote.turn, session=where[0].session if where else "", line=where[0].place.line if where else 0, why=why)
            )  # fmt: skip
    return Verified(citations=len(quotes), failed=tuple(failed), unkept=unkept)


def _cited(store: Store, scope: str) -> list[tuple[str, Quote]]:
    heads = store.heads(scope)
    claims = store.claims(scope, {c for h in heads for c in h.version.claims})
    own = {(h.version.note, q): None for h in heads for c in h.version.claims if c in claims for q in claims[c].quotes}
    told = {(note[:12], q): None for note, finding in store.findings(scope).items() for q in finding.quotes}
    return [*own, *told]


def _check(quote: Quote, turn: Turn, places: tuple[Occurrence, ...], words: _Archive) -> str:
    if turn.text[quote.start : quote.end] != quote.text:
        return "quote_not_in_turn"
    why = NOT_IN_ARCHIVE
    for place in places:
        try:
            if quote.text in words.said(place):
                return ""
        except Transient:
            why = "archive_unreadable"
    return why


class _Archive:
    """The texts of archived records, read by the reader of their format, a segment at a time."""

    def __init__(self, store: Store, scope: str, archive: Blobs) -> None:
        self._archive = archive
        self._formats = store.formats(scope)
        self._segments: defaultdict[tuple[str, int], list[tuple[int, int, str]]] = defaultdict(list)
        for source, generation, offset, length, blob in store.segments(scope):
            self._segments[(source, generation)].append((offset, length, blob))
        self._cache: dict[str, bytes] = {}

    def said(self, place: Occurrence) -> str:
        """All texts of the record at a place, joined; "" when the archive holds no such record."""
        raw = self._bytes(place)
        out: list[str] = []
        reader = reader_of(self._formats[place.source])
        if reader is None:
            return ""
        for record in _records(raw):
            read = reader.read([record], {}, FileContext(name="archive"))
            out += [t.text for t in read.turns]
        return "\n".join(out)

    def _bytes(self, place: Occurrence) -> bytes:
        start, end = place.place.offset, place.place.offset + place.place.length
        out = b""
        for offset, length, blob in sorted(self._segments[(place.source, place.generation)]):
            if offset < end and start < offset + length:
                data = self._blob(blob)
                out += data[max(0, start - offset) : end - offset]
        return out

    def _blob(self, address: str) -> bytes:
        if address not in self._cache:
            if len(self._cache) > 8:
                self._cache.clear()
            self._cache[address] = self._archive.get(address)
        return self._cache[address]


def _records(raw: bytes) -> Iterator[Record]:
    return (piece for piece in split(raw, final=True) if isinstance(piece, Record))
