"""Fourth part: the agent's own notes against the logs, staged as findings of the dream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pipelines.model import Claim, Finding, Kind, OnlineNote, OrderKey, Origin, Quote, Turn, Verdict, Version
from pipelines.notes.identity import block_keys
from pipelines.run.parts import Parts, Request
from pipelines.run.sources import standing_notes
from pipelines.stages.analyzer import Known, Line, assess, duplicates, rechecks, statements_of
from pipelines.store import Decision, Dream, FindingChange, Store
from pipelines.text.mood import Mood, mood_at
from pipelines.text.sentences import sentences
from pipelines.text.statement import parse
from pipelines.text.tokens import tokenize
from pipelines.text.words import content_words

NEAR_MAX = 40
"""Turns looked at for one note beside the claims that share its keys."""
SENTENCE_MAX = 400
_SPEAKING = frozenset({Origin.USER, Origin.TOOL, Origin.EXTERNAL})
_STATING = frozenset({Mood.PLAIN, Mood.REPORTED})


def assess_notes(parts: Parts, request: Request, dream: Dream, versions: Sequence[Version]) -> dict[str, Finding]:
    """A finding for every standing online note; those that differ from what stands are staged.

    `versions` are what the scope will believe once this dream is applied.
    """
    store, scope = parts.store, request.scope
    notes = standing_notes(store.online_notes(scope))
    if not notes:
        return {}
    desk = _Desk(store=store, scope=scope, confirmed={c: v.note for v in versions if v.status.value == "confirmed" for c in v.claims})
    skew = timedelta(seconds=request.skew_s)
    found: dict[str, Finding] = {}
    for done, note in enumerate(notes):
        parts.progress("checking notes", done, len(notes))
        found[note.uid] = assess(note, desk.lines(note), desk.known(note), skew=skew)
    for uid, first in duplicates(notes).items():
        if found[uid].verdict in {Verdict.UNCHECKED, Verdict.UNSUPPORTED, Verdict.NO_LOG, Verdict.UPHELD}:
            found[uid] = Finding(note=uid, verdict=Verdict.DUPLICATE, why="says_the_same_as_another_note", other=first)
    found = rechecks(notes, found)
    store.stage(dream, [_change(f) for _, f in sorted(found.items())], {})
    return found


def _change(finding: Finding) -> FindingChange:
    refs = tuple(q.turn for q in finding.quotes) + ((finding.other,) if finding.other else ())
    decision = Decision(stage="analyze", verb=finding.verdict.value, reason=finding.why, refs=refs, note=finding.note)
    return FindingChange(finding=finding, decisions=(decision,))


@dataclass(slots=True)
class _Desk:
    """Finds the lines that may bear on a note: claims that share its keys, and sentences of the turns search finds near it."""

    store: Store
    scope: str
    confirmed: Mapping[str, str]
    _sessions: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    _all: frozenset[str] | None = None

    def lines(self, note: OnlineNote) -> tuple[Line, ...]:
        """Every candidate line once, claims first: a claim's own words are cut better than a sentence."""
        found: dict[tuple[str, int, int], Line] = {}
        claims = self._claims(note)
        turns = {t.uid: t for t in self._near(note)} | dict(self.store.turns(self.scope, {q.turn for c in claims for q in c.quotes}))
        turns = {uid: t for uid, t in turns.items() if self._may_speak(t, note)}
        orders = self.store.order(self.scope, turns)
        for claim in claims:
            quote = claim.quotes[0]
            turn = turns.get(quote.turn)
            if turn and quote.turn in orders:
                line = _line(turn, quote, claim.statement, orders[quote.turn], self.confirmed.get(claim.uid))
                found.setdefault((quote.turn, quote.start, quote.end), line)
        wanted = set(content_words(note.text))
        for uid in sorted(turns):
            if uid in orders:
                for quote in _sentences(turns[uid], wanted):
                    found.setdefault((uid, quote.start, quote.end), _line(turns[uid], quote, quote.text, orders[uid], None))
        return tuple(found[key] for key in sorted(found) if found[key].origin in _SPEAKING)

    def known(self, note: OnlineNote) -> Known:
        """What logs there are for this note."""
        if self._all is None:
            self._all = frozenset(i.uid for i in self.store.sessions(self.scope))
        own = note.session is not None and any(uid == note.session or uid.endswith(note.session) for uid in self._all)
        return Known(any_log=bool(self._all), own_log=own, mentioned=not own or self._mentioned(note))

    def _mentioned(self, note: OnlineNote) -> bool:
        """Whether the session that wrote the note says anything of it elsewhere: half of its words in one turn."""
        wanted = set(content_words(note.text))
        session = next(uid for uid in sorted(self._all or ()) if note.session and (uid == note.session or uid.endswith(note.session)))
        said = (t for t in self._turns(session) if t.uid != note.turn and not _writes(t))
        return not wanted or any(2 * len(wanted & set(content_words(t.text))) >= len(wanted) for t in said)

    def _turns(self, session: str) -> tuple[Turn, ...]:
        if session not in self._sessions:
            self._sessions[session] = self.store.turns_of(self.scope, session)
        return self._sessions[session]

    def _claims(self, note: OnlineNote) -> tuple[Claim, ...]:
        blocks = {key for s in statements_of(note.text) for key in block_keys(_as_claim(note, s.subject, s.attribute, s.qualifier, s.value, s.text))}
        return tuple(g.claim for g in self.store.claims_in_blocks(self.scope, blocks))

    def _near(self, note: OnlineNote) -> Iterable[Turn]:
        found = self.store.search_turns(self.scope, tokenize(note.text), limit=NEAR_MAX)
        return self.store.turns(self.scope, {f.uid for f in found}).values()

    def _may_speak(self, turn: Turn, note: OnlineNote) -> bool:
        """Not the note itself coming back: a result of reading or writing a memory file proves nothing."""
        if turn.result is None:
            return turn.uid != note.turn
        call = next((t.call for t in self._turns(turn.session) if t.call and t.call.call_id == turn.result.call_id), None)
        return call is None or not _touches_notes(f"{call.path or ''} {call.command or ''}", note)


def _touches_notes(what: str, note: OnlineNote) -> bool:
    name = note.path.rsplit("/", 1)[-1]
    return name in what or "/memory/" in what or "/memories" in what or "MEMORY.md" in what or "CLAUDE.md" in what or "AGENTS.md" in what


def _writes(turn: Turn) -> bool:
    return bool(turn.call and turn.call.path and turn.call.path.endswith(".md"))


def _sentences(turn: Turn, wanted: set[str]) -> Iterable[Quote]:
    """Sentences of a turn that share at least two words with the note (one, when it has no more) and are said as a statement."""
    least = min(2, len(wanted))
    for span in sentences(turn.text):
        text = turn.text[span.start : span.end]
        if len(text) <= SENTENCE_MAX and len(wanted & set(content_words(text))) >= least and mood_at(turn.text, span.start, span.end) in _STATING:
            yield Quote(turn=turn.uid, start=span.start, end=span.end, text=text)


def _line(turn: Turn, quote: Quote, statement: str, order: OrderKey, version: str | None) -> Line:
    return Line(
        quote=quote, statement=parse(statement, speaker=turn.speaker), origin=turn.origin_of(quote.start, quote.end), order=order, version=version
    )  # fmt: skip


def _as_claim(note: OnlineNote, subject: str, attribute: str, qualifier: str, value: str | None, text: str) -> Claim:
    """A note's sentence in the shape block keys are made from; it is looked up with, never stored."""
    nowhere = Quote(turn=note.uid, start=0, end=len(text), text=text)
    return Claim(
        kind=Kind.FACT, subject=subject or text, attribute=attribute, qualifier=qualifier, value=value, statement=text, quotes=(nowhere,)
    )  # fmt: skip
