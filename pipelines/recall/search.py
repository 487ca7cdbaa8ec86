"""Search over notes and raw turns together: notes are for reading, raw lines are for finding and proof.

BM25 over one index of both, then cheap steps that together are worth more than an embedding (local-engine.md §2): half the score of a turn's better
neighbour, since answers stand next to their question; a bonus where the query names the speaker or the day; and less for what no person or note says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from pipelines.gates import without_orders
from pipelines.model import Origin
from pipelines.notes.moment import PRESENT, Moment
from pipelines.text.times import resolve_dates
from pipelines.text.tokens import tokenize, tokens_of_query

NEIGHBOUR = 0.5  # share of the better neighbour's score; of both, a turn between two good ones would stand above either
SPEAKER = 0.3  # of the best score, for a turn whose speaker the query names
DATED = 0.3  # of the best score, for a turn said on a day the query names ("last Saturday")
NOTE = 1.2  # a note has been checked, a turn has only been said
ORIGINS = {"user": 1.0, "quoted": 0.9, "assistant": 0.9, "tool": 0.75, "external": 0.75, "model_summary": 0.6, "instructions": 0.6, "harness": 0.5}
CALL = 0.75  # what a tool was given is no more telling than what it gave back
LOOKED_AROUND = 20  # best turns whose neighbours are fetched
CANDIDATES_MIN = 50


class Found(Protocol):
    """A turn or note with its BM25 score, larger is better."""

    @property
    def uid(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def text(self) -> str: ...
    @property
    def at(self) -> datetime | None: ...
    @property
    def session(self) -> str | None: ...
    @property
    def ordinal(self) -> int | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def source(self) -> str | None: ...
    @property
    def origin(self) -> str | None: ...
    @property
    def speaker(self) -> str | None: ...
    @property
    def call(self) -> bool: ...
    @property
    def quoted(self) -> Sequence[tuple[int, int]]: ...


class Index(Protocol):
    """Finds by words, and only what may be seen: a scope's wall, validity at `now`, audience and quarantine are part of the query."""

    def search_turns(self, scope: str, tokens: Sequence[str], *, limit: int, audience: str | None = None, moment: Moment = PRESENT) -> Sequence[Found]:
        """Turns that hold any of the tokens, best first; of a look back those said and stored by then, for a named audience those it heard."""

    def search_notes(
        self, scope: str, tokens: Sequence[str], *, now: datetime, limit: int, audience: str | None = "", sensitive: bool = False, moment: Moment = PRESENT
    ) -> Sequence[Found]:
        """Live notes that hold any of the tokens, best first; or as they held then."""

    def turns_at(self, scope: str, places: Iterable[tuple[str, int]], *, audience: str | None = None, moment: Moment = PRESENT) -> Sequence[Found]:
        """The turns at these (session, ordinal)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer. `kind` is "note" or "turn"; a turn has the session, line and source it is cited by. Scores compare within one answer only.

    `context`: it holds no word of the query and stands next to a turn that does.
    """

    kind: str
    uid: str
    text: str
    score: float
    at: datetime | None
    session: str | None = None
    line: int | None = None
    source: str | None = None
    origin: str | None = None
    context: bool = False


def search(
    store: Index, scope: str, query: str, *, limit: int, now: datetime, audience: str | None = None, moment: Moment = PRESENT
) -> tuple[Hit, ...]:  # fmt: skip
    """The best notes and turns for a query in any words and any language; empty for a query without words. "Last week" counts from `now`, in UTC.

    `moment` looks back: notes as they held then, and turns said and stored by then. A named `audience` is told what it heard, and notes said to nobody in
    particular that are not sensitive; the person, who names none, everything.
    """
    tokens = tokens_of_query(query)
    if not tokens or limit < 1:
        return ()
    notes = store.search_notes(scope, tokens, now=now, limit=limit, audience=audience, moment=moment)
    turns = store.search_turns(scope, tokens, limit=max(CANDIDATES_MIN, 2 * limit), audience=audience, moment=moment)
    around = store.turns_at(scope, _around(turns[:LOOKED_AROUND]), audience=audience, moment=moment)
    hits = [_hit("note", note, note.score * NOTE) for note in notes]
    asked = Asked(words=frozenset(tokens), spans=tuple((date.begin, date.until) for date in resolve_dates(query, now)))
    found = {turn.uid for turn in turns}
    hits += [_hit("turn", turn, score, context=turn.uid not in found and _says_none(turn, asked)) for turn, score in rank(turns, around, asked)]
    best = sorted(hits, key=lambda h: (-h.score, h.kind, h.uid))[:limit]
    quoted = {turn.uid: turn.quoted for turn in (*turns, *around)}
    return tuple(
        hit if hit.kind == "note" else replace(hit, text=without_orders(hit.text, Origin(hit.origin or Origin.HARNESS), quoted[hit.uid])) for hit in best
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a query asks for beside its words' weight: its words, and the UTC spans (end exclusive) of the dates it names."""

    words: frozenset[str]
    spans: tuple[tuple[datetime, datetime], ...] = ()

    def bonus(self, turn: Found) -> float:
        """Share of the best score that a turn gets for who said it and when."""
        speaker = SPEAKER if turn.speaker and not self.words.isdisjoint(tokenize(turn.speaker)) else 0.0
        dated = DATED if turn.at is not None and any(begin <= turn.at < until for begin, until in self.spans) else 0.0
        return speaker + dated


def rank(turns: Sequence[Found], around: Sequence[Found], asked: Asked) -> list[tuple[Found, float]]:
    """Turns and what stands around them, each with its score, half of its better neighbour's and its bonus, weighed by who speaks."""
    known = {turn.uid: turn for turn in (*around, *turns)}
    own = {(turn.session, turn.ordinal): turn.score for turn in known.values()}
    best = max((turn.score for turn in turns), default=0.0)
    return [(turn, (turn.score + NEIGHBOUR * _beside(turn, own) + best * asked.bonus(turn)) * _weight(turn)) for turn in known.values()]


def _beside(turn: Found, own: Mapping[tuple[str | None, int | None], float]) -> float:
    """The better score of the turns before and behind."""
    return max(own.get((turn.session, turn.ordinal + step), 0.0) for step in (-1, 1)) if turn.ordinal is not None else 0.0


def _weight(turn: Found) -> float:
    return CALL if turn.call else ORIGINS.get(turn.origin or "", 0.5)


def _around(turns: Sequence[Found]) -> set[tuple[str, int]]:
    """Where the neighbours of these turns stand."""
    return {(t.session, t.ordinal + step) for t in turns if t.session is not None and t.ordinal is not None for step in (-1, 1)}


def _says_none(turn: Found, asked: Asked) -> bool:
    return asked.words.isdisjoint(tokenize(turn.text))


def _hit(kind: str, found: Found, score: float, *, context: bool = False) -> Hit:
    return Hit(
        kind=kind, uid=found.uid, text=found.text, score=score, at=found.at, session=found.session, line=found.line, source=found.source, origin=found.origin,
        context=context,
    )  # fmt: skip
