"""The log lines a page rests on: claims, the turns they quote, and the footnotes made of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime

from pipelines.gates import held_unless_said
from pipelines.gates.evidence import EXIT_STATUS
from pipelines.logs.stamps import UNKNOWN
from pipelines.model import Claim, Origin, Quote, Turn
from pipelines.notes.moment import is_ahead
from pipelines.run.retention import no_longer_kept
from pipelines.store import Store
from pipelines.text.times import resolve_dates
from pipelines.wiki.content import Cite

CITES_MAX = 3


DECISION = "your decision"
"""The footnote of a contradiction a person decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Claims, and the turns their quotes stand in, read in a few queries; and a person's own words for a note, by the uid of the ruling that says them.
    `unkept` are turns whose archived lines are no longer kept, with the days of the setting. `read_at` is when a turn of the scope was last stored: what states a
    time long after that dates nothing.
    """

    claims: Mapping[str, Claim]
    turns: Mapping[str, Turn]
    words: Mapping[str, Cite] = field(default_factory=dict)
    unkept: Mapping[str, int] = field(default_factory=dict)
    read_at: datetime | None = None

    def newest(self, cites: Iterable[Cite]) -> datetime | None:
        """The newest time of these footnotes that can be."""
        return latest(c.at for c in cites if not is_ahead(c.at, self.read_at))

    def cite(self, quote: Quote, remark: str = "") -> Cite | None:
        """The footnote of a quote: the session a page cites, its line, who speaks there; None when the turn is not there."""
        turn = self.turns.get(quote.turn)
        if turn is None:
            return None
        origin = turn.origin_of(quote.start, quote.end)
        who = turn.speaker if turn.speaker and origin is Origin.USER else origin.value
        words = quote.text if origin is Origin.USER or not held_unless_said(quote.text) else ""
        gone = no_longer_kept(days) if (days := self.unkept.get(quote.turn)) else ""
        remarks = ", ".join(filter(None, (remark, gone, zone_doubt(turn, quote.text))))
        return Cite(session=turn.session, line=turn.place.line, at=turn.at, who=who, quote=words, remark=remarks)

    def cites(self, claims: Iterable[str]) -> tuple[Cite, ...]:
        """At most three footnotes for a sentence: the first words of its oldest claim and of its two newest."""
        claims = tuple(claims)
        said = (c for uid in claims if uid in self.claims for q in self.claims[uid].quotes[:2] if (c := self.cite(q)))
        return few((*said, *(self.words[uid] for uid in claims if uid in self.words)))

    def resting(self, claims: Iterable[str]) -> frozenset[str]:
        """The turns these claims quote, whether they are there or not."""
        return frozenset(q.turn for uid in claims if uid in self.claims for q in self.claims[uid].quotes)

    def speakers(self, claims: Iterable[str]) -> str:
        """Who said it, when one named person did."""
        names = {t.speaker for uid in claims if uid in self.claims for q in self.claims[uid].quotes if (t := self.turns.get(q.turn)) and t.speaker}
        return names.pop() if len(names) == 1 else ""

    def days(self, claims: Iterable[str]) -> tuple[date, ...]:
        """The days on which something was shown to work; none of one that a person only told."""
        shown = (c for uid in claims if (c := self.claims.get(uid)) and c.verified_by == EXIT_STATUS and not c.negated)
        times = {t.at.date() for c in shown for q in c.quotes[:2] if (t := self.turns.get(q.turn)) and t.at}
        return tuple(sorted(times))


def zone_doubt(turn: Turn, words: str) -> str:
    """What is said of words whose day was counted in UTC, since their log names no zone; "" where none depends on it."""
    counted = turn.zone == UNKNOWN and turn.at is not None and any(m.relative for m in resolve_dates(words, turn.at))
    return ZONE_UNKNOWN if counted else ""


ZONE_UNKNOWN = "zone unknown, taken as UTC"


def few(cites: Iterable[Cite]) -> tuple[Cite, ...]:
    """The oldest and the two newest, in order of time."""
    found = sorted(set(cites), key=lambda c: (c.at is not None, c.at.timestamp() if c.at else 0.0, c.session or "", c.line or 0, c.quote))
    return tuple(found if len(found) <= CITES_MAX else [found[0], *found[-(CITES_MAX - 1) :]])


def gather(store: Store, scope: str, claims: Iterable[str], quotes: Iterable[Quote] = (), *, turns: Iterable[str] = ()) -> Evidence:
    """Everything needed to cite these claims, quotes and turns."""
    claims = frozenset(claims)
    found = store.claims(scope, claims)
    uids = {q.turn for c in found.values() for q in c.quotes} | {q.turn for q in quotes} | set(turns)
    return Evidence(claims=found, turns=store.turns(scope, uids), words=_own_words(store, scope, claims - found.keys()), unkept=store.unkept(scope, uids))


def _own_words(store: Store, scope: str, uids: AbstractSet[str]) -> Mapping[str, Cite]:
    """The footnotes of edits among these claims: the person's words are their own source."""
    rulings = (r for r in store.rulings(scope) if (r.verb == "edit" or r.other) and r.uid in uids) if uids else ()
    return {r.uid: Cite(source="review", at=r.at, who="user", quote=r.body or "", remark="your own words" if r.verb == "edit" else DECISION) for r in rulings}


def latest(times: Iterable[datetime | None]) -> datetime | None:
    """The newest of these times; None when there is none."""
    return max((t for t in times if t), default=None)


def earliest(times: Iterable[datetime | None]) -> datetime | None:
    """The oldest of these times; None when there is none."""
    return min((t for t in times if t), default=None)
