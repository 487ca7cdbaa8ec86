"""What has to be ruled so that a dream, or the last change of a note, counts no more: bans, splits and lifts. Nothing is written here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pipelines.errors import Refused
from pipelines.model import Claim, Ruling, Status, Version, digest
from pipelines.notes.identity import identity_of, in_force, lifts_in_force
from pipelines.notes.taken_back import bans_on, read_in
from pipelines.run.resolving import RELATE
from pipelines.run.ruling import UID_MIN, named_note
from pipelines.stages.resolver import Verb
from pipelines.store import REVERT, Dream, Head, Store

REVIEW: Final = "review"
"""Cause of a dream that was run for a person's decision: to revert it takes that back, while other dreams leave what people decided alone."""
UNDONE: Final = frozenset({"ban", "unmerge", "lift"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is to be reverted: `mark` names it in the rulings, `dream` is the dream it is, `note` the note; `again` says that it is to count once more."""

    mark: str
    again: bool
    dream: Dream | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Takes:
    """The rulings that do it, and the claims whose notes are to be believed anew."""

    rulings: tuple[Ruling, ...]
    dirty: frozenset[str]


def subject_named(store: Store, scope: str, name: str, *, again: bool) -> Subject:
    """The dream or note a person names, enough of its id is enough. To revert a revert is to bring back what it took.

    Raises Refused when there is no such one, or none that changed anything.
    """
    wanted = name.removeprefix("^")
    if wanted.startswith("n-"):
        return _note(store, scope, wanted, again)
    dreams = [d for d in store.dreams(scope) if d.uid.startswith(wanted)] if len(wanted) >= UID_MIN else []
    if len(dreams) > 1 and all(d.uid != wanted for d in dreams):
        raise Refused(f"{len(dreams)} dreams begin with {wanted}: give more of the id")
    if not dreams:
        try:
            return _note(store, scope, wanted, again)
        except Refused:
            raise Refused(f"{scope} has no dream and no note {name!r}: dreamd dreams list names dreams, the line of a page its note (n-…)") from None
    dream = next((d for d in dreams if d.uid == wanted), dreams[0])
    if dream.cause == REVERT and isinstance(of := dream.params.get("reverts"), str):
        turned = again is (dream.params.get("again") is True)
        return _subject(store, scope, of, again=turned)
    if dream.applied_rev is None:
        raise Refused(f"dream {dream.uid} is {dream.state} and changed no note: there is nothing to revert")
    return Subject(mark=f"dream {dream.uid}", dream=dream, again=again)


def taking(store: Store, scope: str, subject: Subject, at: datetime) -> Takes:
    """What reverts a dream or the last change of a note, or brings it back."""
    made = [r for r in store.rulings(scope) if r.body == subject.mark and r.verb in UNDONE]
    pen = _Pen(mark=subject.mark, at=at, n=len(made))
    if subject.again:
        return _back(store, scope, subject, made, pen)
    return _dream_out(store, scope, subject.dream, pen) if subject.dream else _note_out(store, scope, subject.note, pen)


def lines_hidden(notes: Mapping[str, Iterable[str]], subject: Subject, at: datetime) -> tuple[Ruling, ...]:
    """Rulings under which these turns say nothing of these notes of the agent."""
    pen = _Pen(mark=subject.mark, at=at, n=0)
    return tuple(pen.ban(read_in(note, turn)) for note, turns in sorted(notes.items()) for turn in sorted(turns))


def revisions_of(store: Store, dream: Dream) -> tuple[int, ...]:
    """The revisions a dream made: one, or another for what was held and applied later."""
    return tuple(r.rev for r in store.revisions(dream.scope) if r.dream == dream.uid)


def says(versions: Iterable[Version]) -> str:
    """What stands of a note, each side with its status when that is not simply so."""
    live = sorted((v for v in versions if v.status in LIVE), key=lambda v: (LIVE.index(v.status), v.slot))
    return " / ".join(v.statement if v.status is Status.CONFIRMED else f"{v.statement} ({v.status.value.replace('_', ' ')})" for v in live)


LIVE: Final = (Status.CONFIRMED, Status.DISPUTED, Status.NEEDS_RECHECK, Status.DRAFT)


def shifted(store: Store, dream: Dream) -> tuple[tuple[str, str], ...]:
    """What the notes said that a revert moved, and what they said after it."""
    after, before = store.moved(dream.scope, revisions_of(store, dream))
    notes = sorted({h.version.note for h in (*after, *before)})
    said = ((says(h.version for h in part if h.version.note == note) for part in (before, after)) for note in notes)
    return tuple((old, new) for old, new in said if old != new)


def _subject(store: Store, scope: str, mark: str, *, again: bool) -> Subject:
    kind, _, uid = mark.partition(" ")
    if kind == "dream":
        return Subject(mark=mark, again=again, dream=store.dream(scope, uid))
    return Subject(mark=mark, again=again, note=uid)


def _note(store: Store, scope: str, name: str, again: bool) -> Subject:
    """A note that stands, stood, or stands in another by now."""
    uid = name.removeprefix("n-")
    if not store.history(scope, [uid]):
        uid = named_note(store, scope, name)[0].note
    uid = stands_in(store, scope, uid)
    return Subject(mark=f"note {uid}", again=again, note=uid)


def stands_in(store: Store, scope: str, note: str) -> str:
    """The note a merged one stands in; any other is itself."""
    seen: set[str] = set()
    while note not in seen and not store.heads(scope, notes=[note]):
        seen.add(note)
        merges = [d.decision.reason for d in store.decisions(scope, note=note)[-1:] if d.decision.verb == Verb.MERGES]
        note = merges[0].removeprefix("into:") if merges else note
    return note


@dataclass(slots=True)
class _Pen:
    """Writes rulings under one mark. `n` counts what was ruled under it before: taken back again is another ruling."""

    mark: str
    at: datetime
    n: int

    def ban(self, target: str) -> Ruling:
        return self._ruling("ban", target)

    def part(self, one: str, other: str) -> Ruling:
        """Two notes, or two claims, that have nothing to do with each other."""
        return self._ruling("unmerge", min(one, other), max(one, other))

    def lift(self, ruling: Ruling) -> Ruling:
        return self._ruling("lift", ruling.uid)

    def _ruling(self, verb: str, target: str, other: str | None = None) -> Ruling:
        uid = digest(REVERT, self.mark, verb, target, other or "", str(self.n))
        return Ruling(uid=uid, verb=verb, target=target, other=other, body=self.mark, at=self.at)


# --- a dream -----------------------------------------------------------------------------------------------------------------------------


def _dream_out(store: Store, scope: str, dream: Dream | None, pen: _Pen) -> Takes:
    assert dream is not None
    revs = revisions_of(store, dream)
    after, before = store.moved(scope, revs)
    new = _inputs(after) - _inputs(before)
    claims = store.claims(scope, new)
    elsewhere = claims.keys() - {uid for head in after for uid in head.version.claims}  # ended or put in doubt something here, may stand in a note of its own
    before_it = min(revs, default=0) - 1
    stood = _stood(store, scope, [claims[uid] for uid in elsewhere], before_it) & elsewhere
    mine = [claim for uid, claim in sorted(claims.items()) if uid not in stood]
    rulings = [pen.ban(target) for target in sorted(bans_on(mine, _others(store, scope, mine, before_it)))]
    taken = {c.uid for c in mine}
    ties = sorted({(d.decision.refs[0], d.decision.refs[1]) for d in store.decisions(scope, dream=dream.uid) if d.decision.stage == RELATE})
    rulings += [pen.part(*tie) for tie in ties if not taken & set(tie)]
    if dream.cause == REVIEW:
        rulings += [pen.lift(r) for r in in_force(store.rulings(scope)) if r.uid in new]
    return Takes(rulings=tuple(rulings), dirty=_claims_in((*after, *before)) | claims.keys())


def _others(store: Store, scope: str, mine: Sequence[Claim], rev: int) -> Sequence[Claim]:
    """Claims that others had read in the same lines before."""
    uids = store.quoting(scope, {q.turn for c in mine for q in c.quotes}) - {c.uid for c in mine}
    others = tuple(store.claims(scope, uids).values()) if uids else ()
    stood = _stood(store, scope, others, rev)
    return [c for c in others if c.uid in stood]


def _stood(store: Store, scope: str, claims: Sequence[Claim], rev: int) -> frozenset[str]:
    """What the notes that rest on the turns of these claims rested on at a revision."""
    if not claims:
        return frozenset()
    near = store.notes_resting_on(scope, {q.turn for c in claims for q in c.quotes})
    own = {identity_of(scope, c).uid for c in claims}  # a note that is in another by now rests on nothing
    return _inputs(store.believed(scope, rev, notes=None if near is None else near | own))


# --- a note ------------------------------------------------------------------------------------------------------------------------------


def _note_out(store: Store, scope: str, note: str, pen: _Pen) -> Takes:
    """The last change in what the note says, or how it stands, of which something still counts."""
    history, heads = store.history(scope, [note]), store.heads(scope, notes=[note])
    counts = _inputs(heads)
    first = {uid: head.rev for head in reversed(history) for uid in _of(head.version)}
    name = {uid: identity_of(scope, c).uid for uid, c in store.claims(scope, _claims_in(history)).items()}
    rev, new = next(((r, new) for r in reversed(_changes(history, name)) if (new := {uid for uid in counts if first[uid] >= r})), (0, set[str]()))
    claims = store.claims(scope, new)
    names = {name[uid] for uid in _claims_in(heads) & name.keys() - new}
    moved = _stood(store, scope, tuple(claims.values()), rev - 1) & claims.keys()
    parted = {name[uid] for uid in moved if uid in name}
    mine = [] if parted else [claim for _, claim in sorted(claims.items())]  # a merge is split, and what came since goes where it belongs
    names -= parted
    rulings = [pen.ban(target) for target in sorted(bans_on(mine, _others(store, scope, mine, rev - 1)))]
    rulings += [pen.part(a, b) for a in sorted(parted) for b in sorted(names)]
    rulings += [pen.lift(r) for r in in_force(store.rulings(scope)) if r.uid in new]
    return Takes(rulings=tuple(rulings), dirty=_claims_in((*history, *heads)) | claims.keys())


def _changes(history: Sequence[Head], name: Mapping[str, str]) -> list[int]:
    """The revisions at which a note came to say something else, to stand otherwise or to take in another note, oldest first; `name` is each claim's own note."""
    out: list[int] = []
    slots: dict[str, tuple[object, ...]] = {}
    for rev in sorted({h.rev for h in history}):
        written = (h.version for h in history if h.rev == rev)
        now = slots | {v.slot: (v.statement, v.value, v.status, frozenset(name[c] for c in v.claims if c in name)) for v in written}
        if now != slots:
            out.append(rev)
        slots = now
    return out


# --- back again --------------------------------------------------------------------------------------------------------------------------


def _back(store: Store, scope: str, subject: Subject, made: Sequence[Ruling], pen: _Pen) -> Takes:
    """Lift what was ruled under the mark."""
    every = store.rulings(scope)
    counts = {r.uid for r in (*in_force(every), *lifts_in_force(every))}
    standing = [r for r in made if r.uid in counts and not (r.verb == "lift" and r.target in {m.uid for m in made})]
    if subject.dream:
        heads: Sequence[Head] = [head for part in store.moved(scope, revisions_of(store, subject.dream)) for head in part]
    else:
        heads = store.history(scope, {subject.note, *(name for r in standing if r.other for name in (r.target, r.other))})
    return Takes(rulings=tuple(pen.lift(r) for r in standing), dirty=_claims_in(heads) | store.claims(scope, _inputs(heads)).keys())


def _inputs(heads: Iterable[Head]) -> frozenset[str]:
    return frozenset(uid for head in heads for uid in _of(head.version))


def _of(version: Version) -> tuple[str, ...]:
    """Claims and rulings that made a version what it is."""
    return (*version.claims, version.ended_by) if version.ended_by else version.claims


def _claims_in(heads: Iterable[Head]) -> frozenset[str]:
    return frozenset(uid for head in heads for uid in head.version.claims)
