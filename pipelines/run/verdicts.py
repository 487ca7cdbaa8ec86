"""Fourth part: the agent's own notes against the logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Protocol

from pipelines.gates import ORDERS_READER, held_unless_said
from pipelines.model import (
    Basis,
    Claim,
    Finding,
    OnlineNote,
    OrderKey,
    Origin,
    Outcome,
    Quote,
    Ruling,
    Status,
    Turn,
    Verdict,
    Version,
)
from pipelines.notes.dependants import fell, ids_in
from pipelines.notes.identity import in_force, statement_of
from pipelines.notes.moment import is_ahead
from pipelines.notes.released import APPROVED, approvals
from pipelines.notes.taken_back import Banned
from pipelines.ports import Engine
from pipelines.run.commands_run import CommandsRun
from pipelines.run.edits import dismissed
from pipelines.run.held import finding_of_held
from pipelines.run.readings import NoteRead, Readings, read_former
from pipelines.run.reworded import UNDECIDED, formerly_wrong, reworded
from pipelines.stages.analyzer import Known, Line, assess, duplicates, outlived, rechecks, repeats, taken_back
from pipelines.store import Decision, FindingChange, Store
from pipelines.text.mood import Mood
from pipelines.text.sentences import sentences
from pipelines.text.statement import Statement
from pipelines.text.tokens import tokenize
from pipelines.text.words import content_words

NEAR_MAX = 40
"""Turns looked at for one note beside the claims that share its keys."""
AT_ONCE = 64
"""Notes that are looked up together."""
SENTENCE_MAX = 400
AFTER_MAX = 80
"""Characters behind a sentence that may take it back ("just kidding")."""
REPEATED_SHARE = 0.8
"""Of the words of an order, how many a sentence must hold to be where it comes from."""
_SPEAKING = frozenset({Origin.USER, Origin.TOOL, Origin.EXTERNAL})
_SAYS_OTHERWISE = frozenset({Verdict.CORRECTED, Verdict.SUPERSEDED, Verdict.CONTRADICTED})
_STATING = frozenset({Mood.PLAIN, Mood.REPORTED})


class Believed(Protocol):
    """What the scope will believe once the dream is applied."""

    def confirmed(self, claims: Sequence[Claim]) -> Mapping[str, str]:
        """Those of the claims that confirmed notes rest on, by the note each stands in; may tell of others, too."""
        ...

    def over(self, notes: AbstractSet[str]) -> tuple[Version, ...]:
        """All versions a person took back, and of the notes with these ids also those that were replaced."""
        ...


def assess_notes(
    store: Store, engine: Engine, scope: str, notes: Sequence[OnlineNote], believed: Believed, *, skew_s: float, now: datetime,
    begin: Callable[[int], None] = lambda _: None, rulings: Sequence[Ruling] = (),
) -> dict[str, Finding]:  # fmt: skip
    """A finding for every one of these standing online notes, as they stand `now`. `begin` is told before each that so many are done.

    `rulings` count beside those that are recorded.
    """
    rulings = (*store.rulings(scope), *rulings)
    readings = Readings(store, scope, engine)
    desk = _Desk(store=store, scope=scope, now=now, believed=believed, banned=Banned.of(in_force(rulings)), readings=readings)
    skew = timedelta(seconds=skew_s)
    gone = formerly_wrong(store, scope, notes)
    read = readings.notes(notes) | {n.uid: read_former(n) for n in gone}
    plain = {uid: r.plain for uid, r in read.items()}
    said = {uid: (*r.plain, *r.clauses) for uid, r in read.items()}
    found: dict[str, Finding] = {}
    for done, note, lines in desk.lines_of_each((*notes, *gone), read):
        begin(min(done, len(notes)))
        found[note.uid] = assess(note, said[note.uid], lines, desk.known(note), skew=skew)
    found |= reworded(store, scope, [n for n in notes if found[n.uid].verdict in UNDECIDED])
    kept = dismissed(store, scope)
    for uid in [n.uid for n in (*notes, *gone) if n.uid[:12] in kept and found[n.uid].verdict in _SAYS_OTHERWISE]:
        found[uid] = Finding(note=uid, verdict=Verdict.UPHELD, why="kept_by_the_person")
    over = believed.over(frozenset[str]().union(*(ids_in(n.text) for n in notes)))
    found |= taken_back(found, _words_of(store, scope, over))
    for uid, first in duplicates(notes, {uid: r.whole for uid, r in read.items()}).items():
        if found[uid].verdict in {Verdict.UNCHECKED, Verdict.UNSUPPORTED, Verdict.NO_LOG, Verdict.UPHELD}:
            found[uid] = Finding(note=uid, verdict=Verdict.DUPLICATE, why="says_the_same_as_another_note", other=first)
    found = repeats(notes, said, found, gone)
    found = CommandsRun(store=store, scope=scope, skew=skew).recheck(notes, rechecks(notes, plain, found, _fallen(over, rulings)))
    found = outlived(notes, found, now)
    ordered = desk.ordered_by_others(notes, read)
    locked = {n.uid: finding_of_held(n, why) for n in notes if (why := read[n.uid].held or ordered.get(n.uid))}
    readings.keep()
    approved = approvals(rulings).keys() & locked.keys()
    return found | {uid: replace(found[uid], why=APPROVED) if uid in approved else finding for uid, finding in locked.items()}


def _words_of(store: Store, scope: str, over: Sequence[Version]) -> Mapping[str, Sequence[Quote]]:
    """The words that claims rest on which a person took back, by turn."""
    claims = store.claims(scope, {uid for v in over if v.status is Status.RETRACTED for uid in v.claims})
    out: defaultdict[str, list[Quote]] = defaultdict(list)
    for quote in (q for claim in claims.values() for q in claim.quotes):
        out[quote.turn].append(quote)
    return out


def _fallen(over: Sequence[Version], rulings: Sequence[Ruling]) -> tuple[Version, ...]:
    """Those of these versions that others may rest on: what was rejected was never believed."""
    retracted = {r.uid for r in rulings if r.verb == "retract"}
    return tuple(v for v in over if fell(v) and (v.status is not Status.RETRACTED or v.ended_by in retracted))


def change_of(finding: Finding) -> FindingChange:
    """A finding as a dream stages it."""
    refs = tuple(q.turn for q in finding.quotes) + ((finding.other,) if finding.other else ())
    decision = Decision(stage="analyze", verb=finding.verdict.value, reason=finding.why, refs=refs, note=finding.note)
    return FindingChange(finding=finding, decisions=(decision,))


@dataclass(slots=True)
class _Sentence:
    """A sentence of a log with its words, cut once for all notes; what it states is read when a note first asks."""

    quote: Quote
    words: frozenset[str]
    _line: Line | None = None
    _read: bool = False

    def line(self, turn: Turn, order: OrderKey, readings: Readings) -> Line | None:
        """What it says for or against a note; None when it may not decide."""
        if not self._read:
            self._read = True
            origin, end = turn.origin_of(self.quote.start, self.quote.end), self.quote.end
            said = readings.sentence(self.quote.text, turn.text[end : end + AFTER_MAX], turn.speaker, origin) if origin in _SPEAKING else None
            self._line = _line(turn, self.quote, said, order, None) if said else None
        return self._line


@dataclass(slots=True)
class _Desk:
    """Finds the lines that may bear on notes: claims that share their keys, and sentences of the turns search finds near them. What several notes ask for
    is read once."""

    store: Store
    scope: str
    now: datetime
    believed: Believed
    banned: Banned
    readings: Readings
    _sessions: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    _calls: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _worded: dict[str, frozenset[str]] = field(default_factory=dict)
    _cut: dict[str, tuple[_Sentence, ...]] = field(default_factory=dict)
    _read: dict[str, Turn | None] = field(default_factory=dict)
    _orders: dict[str, OrderKey] = field(default_factory=dict)
    _all: frozenset[str] | None = None
    _gone: frozenset[str] | None = None

    def lines_of_each(self, notes: Sequence[OnlineNote], read: Mapping[str, NoteRead]) -> Iterator[tuple[int, OnlineNote, tuple[Line, ...]]]:
        """Each note with its place and the lines that may bear on it."""
        for start in range(0, len(notes), AT_ONCE):
            part = notes[start : start + AT_ONCE]
            if not self._sessions_known():
                yield from ((done, note, ()) for done, note in enumerate(part, start))
                continue
            known = self.store.blocks_known(self.scope, {key for note in part for key in read[note.uid].keys})
            for done, (note, near) in enumerate(zip(part, self._near(part), strict=True), start):
                yield done, note, self._lines(note, self._claims(read[note.uid].keys & known), near)

    def _lines(self, note: OnlineNote, claims: Sequence[Claim], near: Iterable[str]) -> tuple[Line, ...]:
        """Every candidate line once, claims first: a claim's own words are cut better than a sentence."""
        found: dict[tuple[str, int, int, str], Line] = {}
        turns = self._turns_of({*near, *(q.turn for c in claims for q in c.quotes)})
        turns = {uid: t for uid, t in turns.items() if uid in self._orders and self._may_speak(t, note) and not self.banned.hides(note.uid, uid)}
        confirmed = self.believed.confirmed(claims) if claims else {}
        for claim in claims:
            quote = claim.quotes[0]
            if turn := turns.get(quote.turn):
                line = _line(turn, quote, statement_of(claim), self._orders[quote.turn], confirmed.get(claim.uid))
                if _may_decide(line):
                    found.setdefault((quote.turn, quote.start, quote.end, claim.uid), line)
        wanted = set(content_words(note.text))
        for uid, turn in turns.items():
            for line in self._stated(turn, wanted):
                found.setdefault((uid, line.quote.start, line.quote.end, ""), line)
        return tuple(found[key] for key in sorted(found))

    def _order(self, key: OrderKey) -> OrderKey:
        """The place of a line among others; a time that cannot be, or is not its own, gives none."""
        untimed = key.basis is Basis.UNKNOWN or is_ahead(key.at, self.now)
        return replace(key, known=False, at=None, basis=Basis.UNKNOWN) if untimed else key

    def ordered_by_others(self, notes: Iterable[OnlineNote], read: Mapping[str, NoteRead]) -> Mapping[str, str]:
        """Why notes are held that order their reader about, by uid: their order stands in what others wrote and no user said it."""
        asked = [n for n in notes if read[n.uid].orders] if self._sessions_known() else []
        told = self.store.turns_near(self.scope, [tokenize(n.text) for n in asked], limit=NEAR_MAX, withheld=True)
        return {n.uid: ORDERS_READER for n, near in zip(asked, told, strict=True) if self._others_said(read[n.uid].orders, near)}

    def _others_said(self, orders: Sequence[frozenset[str]], near: Iterable[str]) -> bool:
        """Whether one of the orders stands in what others wrote in these turns and in nothing a user said."""
        said: dict[Origin, list[frozenset[str]]] = defaultdict(list)
        for turn in self._turns_of(near).values():
            for sentence in self._sentences(turn):
                said[turn.origin_of(sentence.quote.start, sentence.quote.end)].append(sentence.words)
        others = [*said[Origin.EXTERNAL], *said[Origin.QUOTED]]
        return any(_repeated(order, others) and not _repeated(order, said[Origin.USER]) for order in orders)

    def known(self, note: OnlineNote) -> Known:
        """What logs there are for this note."""
        known = self._sessions_known()
        own = note.session is not None and any(uid == note.session or uid.endswith(note.session) for uid in known)
        return Known(any_log=bool(known), own_log=own, mentioned=not own or self._mentioned(note))

    def _unkept(self, session: str) -> bool:
        """Whether lines of a session are no longer kept: what they said of a note nobody can tell."""
        if self._gone is None:
            self._gone = frozenset(s for s, kept in self.store.retained(self.scope).items() if kept.turns_until)
        return session in self._gone

    def _sessions_known(self) -> frozenset[str]:
        if self._all is None:
            self._all = frozenset(i.uid for i in self.store.sessions(self.scope))
        return self._all

    def _mentioned(self, note: OnlineNote) -> bool:
        """Whether the session that wrote the note may speak of it elsewhere: a quarter of its words, two at least, in one turn."""
        wanted = set(content_words(note.text))
        session = next(uid for uid in sorted(self._sessions_known()) if note.session and (uid == note.session or uid.endswith(note.session)))
        said = (t for t in self._turns(session) if t.uid != note.turn and not _writes(t))
        return not wanted or self._unkept(session) or any(len(wanted & self._words(t)) >= min(len(wanted), max(2, len(wanted) / 4)) for t in said)

    def _words(self, turn: Turn) -> frozenset[str]:
        if turn.uid not in self._worded:
            self._worded[turn.uid] = frozenset(content_words(turn.text))
        return self._worded[turn.uid]

    def _stated(self, turn: Turn, wanted: set[str]) -> Iterator[Line]:
        """Sentences of a turn that share at least two words with the note (one, when it has no more), are said as a statement and may decide."""
        least, order = min(2, len(wanted)), self._orders[turn.uid]
        for sentence in self._sentences(turn):
            if len(wanted & sentence.words) >= least and (line := sentence.line(turn, order, self.readings)):
                yield line

    def _sentences(self, turn: Turn) -> tuple[_Sentence, ...]:
        if turn.uid not in self._cut:
            self._cut[turn.uid] = tuple(
                _Sentence(quote=Quote(turn=turn.uid, start=s.start, end=s.end, text=text), words=frozenset(content_words(text)))
                for s in sentences(turn.text)
                if len(text := turn.text[s.start : s.end]) <= SENTENCE_MAX
            )  # fmt: skip
        return self._cut[turn.uid]

    def _turns(self, session: str) -> tuple[Turn, ...]:
        if session not in self._sessions:
            self._sessions[session] = self.store.turns_of(self.scope, session)
        return self._sessions[session]

    def _claims(self, keys: AbstractSet[str]) -> tuple[Claim, ...]:
        """Claims of the logs under any of these keys."""
        return () if not keys else tuple(g.claim for g in self.store.claims_in_blocks(self.scope, keys) if g.outcome is not Outcome.QUARANTINE)

    def _near(self, notes: Sequence[OnlineNote]) -> tuple[tuple[str, ...], ...]:
        """The turns search finds near each note, read."""
        found = self.store.turns_near(self.scope, [tokenize(n.text) for n in notes], limit=NEAR_MAX)
        self._turns_of({uid for near in found for uid in near})
        return found

    def _turns_of(self, uids: Iterable[str]) -> dict[str, Turn]:
        """Those of these turns that exist; their orders are known from then on."""
        uids = sorted(set(uids))
        if new := [uid for uid in uids if uid not in self._read]:
            turns = self.store.turns(self.scope, new)
            self._read |= {uid: turns.get(uid) for uid in new}
            self._orders |= {uid: self._order(key) for uid, key in self.store.order(self.scope, turns).items()}
        return {uid: turn for uid in uids if (turn := self._read[uid])}

    def _may_speak(self, turn: Turn, note: OnlineNote) -> bool:
        """Not the note itself coming back: a result of reading or writing a memory file proves nothing."""
        if turn.result is None:
            return turn.uid != note.turn
        if turn.session not in self._calls:
            self._calls[turn.session] = {t.call.call_id: f"{t.call.path or ''} {t.call.command or ''}" for t in reversed(self._turns(turn.session)) if t.call}
        return not _touches_notes(self._calls[turn.session].get(turn.result.call_id, ""), note)


def _repeated(order: frozenset[str], said: Iterable[frozenset[str]]) -> bool:
    """Whether a sentence holds nearly all words of an order."""
    return bool(order) and any(len(order & words) >= REPEATED_SHARE * len(order) for words in said)


def _may_decide(line: Line) -> bool:
    """Lines that may speak for or against a note, whose words a page then quotes: none that gives orders no user gave."""
    return line.origin in _SPEAKING and (line.origin is Origin.USER or not _heeded(line.quote.text))


@lru_cache(maxsize=8192)
def _heeded(text: str) -> bool:
    """Whether words quoted from somebody who is not the user tell their reader what to do."""
    return bool(held_unless_said(text))


def _touches_notes(what: str, note: OnlineNote) -> bool:
    name = note.path.rsplit("/", 1)[-1]
    return name in what or "/memory/" in what or "/memories" in what or "MEMORY.md" in what or "CLAUDE.md" in what or "AGENTS.md" in what


def _writes(turn: Turn) -> bool:
    return bool(turn.call and turn.call.path and turn.call.path.endswith(".md"))


def _line(turn: Turn, quote: Quote, statement: Statement, order: OrderKey, version: str | None) -> Line:
    return Line(quote=quote, statement=statement, origin=turn.origin_of(quote.start, quote.end), order=order, version=version)
