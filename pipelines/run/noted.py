"""Notes as pages show them: the version that leads, its history, the sides of a dispute, and one bullet for one sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipelines.gates import held_unless_said
from pipelines.model import Kind, Standing, Status, Version
from pipelines.notes.half_life import HALF_LIFE, is_by_half_life
from pipelines.notes.moment import named_value, said_of
from pipelines.notes.recheck import CITES_FALLEN, FAILED, FELL, MAY_HAVE_CHANGED, NEWER_SEEN, RECHECKED, RESTS_ON_FALLEN, was_believed
from pipelines.run.beside import Beside, beside
from pipelines.run.evidence import DECISION, Evidence, earliest, few, gather, latest
from pipelines.run.looking import Look
from pipelines.store import Head, Store
from pipelines.text.values import typed_values
from pipelines.wiki.content import PAST, HistoryLine, Item, Side
from pipelines.wiki.inline import clean, cut_quote
from pipelines.wiki.lines import day

_LIVE = (Status.CONFIRMED, Status.DISPUTED, Status.NEEDS_RECHECK, Status.DRAFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Notes as pages show them, by uid in order, and of every note looked at the turns it rests on; those nothing may be cited of are no items."""

    items: Mapping[str, Item]
    rests: Mapping[str, frozenset[str]]


def note_items(store: Store, scope: str, notes: Iterable[str] | None = None, *, look: Look | None = None, near: Beside | None = None) -> Noted:
    """These notes, or all, as they stand now, or where `look` looks; `near` is what stands beside them."""
    near = near or beside(store, scope)
    versions = versions_of(look or Look(store=store, scope=scope), notes)
    evidence = gather(store, scope, {c for vs in versions.values() for v in vs for c in _claims_of(v)})
    items = {note: near.shown(item) for note, vs in versions.items() if (item := note_item(vs, evidence))}
    return Noted(items=items, rests={note: evidence.resting(c for v in vs for c in _claims_of(v)) for note, vs in versions.items()})


def versions_of(look: Look, notes: Iterable[str] | None = None) -> dict[str, tuple[Version, ...]]:
    """The versions of these notes, or of all, by note."""
    by_note: defaultdict[str, list[Head]] = defaultdict(list)
    for head in look.heads(notes):
        by_note[head.version.note].append(head)
    return {note: tuple(h.version for h in heads) for note, heads in sorted(by_note.items())}


def _claims_of(version: Version) -> tuple[str, ...]:
    return (*version.claims, version.ended_by) if version.ended_by else version.claims


def note_item(versions: Sequence[Version], evidence: Evidence) -> Item | None:
    """A note as a page shows it: its leading version, the others as history or sides; None when nothing of it may be cited, or was ever believed."""
    versions = [v for v in versions if v.status not in PAST or was_believed(v)]
    if not versions:
        return None
    lead = leading(versions)
    cites = evidence.cites((*lead.claims, *([lead.ended_by] if lead.status is Status.NEEDS_RECHECK and lead.ended_by else ())))
    if not cites or lead.status in {Status.QUARANTINED, Status.RETRACTED}:
        return None
    sides = _sides(versions, evidence) if lead.status is Status.DISPUTED else ()
    if lead.status is Status.DISPUTED and len(sides) < 2:
        return None
    times = [v for v in versions if v.status in _LIVE] or [lead]
    past = [v for v in versions if v is not lead and v.status in PAST]
    return Item(
        uid=lead.note, kind=lead.kind, status=lead.status, subject=lead.subject, statement=lead.statement, value=lead.value, cites=cites,
        said_by=evidence.speakers(lead.claims), history=tuple(h for v in past if (h := _history(v, lead, evidence))), sides=sides, attribute=lead.attribute,
        qualifier=lead.qualifier, applies_to=lead.applies_to, worked_on=evidence.days(lead.claims) if lead.kind is Kind.PROCEDURE else (),
        sessions=max(1, lead.roots), valid_until=None if lead.status in _LIVE and is_by_half_life(lead) else lead.valid_until, oldest_evidence=earliest(v.oldest_evidence for v in times),
        newest_evidence=latest(v.newest_evidence for v in times), high_stakes=any(v.kind == "money" for v in typed_values(lead.statement)),
        missed=lead.missed, reason=_reason(lead),
        remark=", ".join(filter(None, (_basis(lead), _recheck(lead, evidence)))),
    )  # fmt: skip


def _basis(lead: Version) -> str:
    """What a note is when nobody said it in these words: concluded of several things, or put in a model's words and checked against what was said."""
    if lead.kind is Kind.INSIGHT:
        return "inferred"
    return "in a model's words, checked" if lead.status is Status.CONFIRMED and lead.standing is Standing.INFERRED else ""


def _reason(lead: Version) -> str:
    """The reason a note shows: its own, or why it is over when nothing but its age says so."""
    if lead.status is Status.EXPIRED and not lead.reason and is_by_half_life(lead):
        return f"nothing was heard of it for {HALF_LIFE.days} days"
    return lead.reason or "" if lead.missed not in RECHECKED else ""


def _recheck(lead: Version, evidence: Evidence) -> str:
    """Why a note is to be checked again, with the day of what brought that up and the words that say so."""
    if lead.status is not Status.NEEDS_RECHECK:
        return ""
    on = max((c.at for c in evidence.cites([lead.ended_by] if lead.ended_by else []) if c.at), default=None)
    words = cut_quote(clean(lead.reason)) if lead.reason and not held_unless_said(lead.reason) else ""
    told = ": ".join(filter(None, (RECHECK_WORDS.get(lead.missed, "to be checked again") + (f" on {day(on)}" if on else ""), words)))
    return f"needs recheck, {told}"


RECHECK_WORDS = {
    FAILED: "it failed", MAY_HAVE_CHANGED: "it may have changed", NEWER_SEEN: "a newer version was seen", RESTS_ON_FALLEN: "what it rests on fell",
    FELL: "a piece of its evidence fell", CITES_FALLEN: "a note it names fell",
}  # fmt: skip


_RANK = (*_LIVE, Status.SUPERSEDED, Status.EXPIRED, Status.RETRACTED, Status.QUARANTINED)


def leading(versions: Sequence[Version]) -> Version:
    """The version a note goes by: the one that holds before one that is over, the newest of these."""
    return min(versions, key=lambda v: (_RANK.index(v.status), -(v.newest_evidence.timestamp() if v.newest_evidence else 0.0), v.slot))


def _sides(versions: Sequence[Version], evidence: Evidence) -> tuple[Side, ...]:
    found = []
    for v in versions:
        if v.status is Status.DISPUTED and (cites := evidence.cites(v.claims)):
            found.append(Side(statement=v.statement, cites=cites, said_by=evidence.speakers(v.claims), at=v.newest_evidence))
    return tuple(found)


def _history(version: Version, lead: Version, evidence: Evidence) -> HistoryLine | None:
    cites = evidence.cites((*version.claims, *([version.ended_by] if version.ended_by else ())))
    if not cites:
        return None
    taken = version.reason != "lower_standing"
    said_by = evidence.speakers(version.claims)
    return HistoryLine(
        statement=_as_it_was(version, lead), cites=cites, since=version.valid_from, until=version.valid_until, status=version.status, taken=taken, slot=version.slot,
        said_by=said_by if taken else ", ".join(filter(None, (said_by, version.standing.name.lower()))), reason=version.reason or "" if taken else "",
        decided=bool(version.ended_by and (by := evidence.words.get(version.ended_by)) and by.remark == DECISION),
    )  # fmt: skip


def _as_it_was(version: Version, lead: Version) -> str:
    """What a past version said: not the sentence of the one that leads."""
    return named_value(version) if version.statement == lead.statement and version.value else said_of(version)


def one_a_sentence(items: Iterable[Item]) -> tuple[Item, ...]:
    """Notes that say the same words are one bullet, with the evidence and history of all; where they differ in kind, a rule comes first."""
    groups: defaultdict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in items:
        groups[sentence_of(item)].append(item)
    return tuple(_one_of(same) for same in groups.values())


def sentence_of(item: Item) -> tuple[str, ...]:
    """What notes share that are one bullet."""
    return (item.uid,) if item.sides else (item.statement, item.status, item.qualifier, item.applies_to or "")


_KIND_RANK = (
    Kind.RULE, Kind.HOLD, Kind.PREFERENCE, Kind.DECISION, Kind.PROCEDURE, Kind.FACT, Kind.INSIGHT, Kind.INCIDENT, Kind.GOAL, Kind.PLAN,
)  # fmt: skip


def _one_of(same: Sequence[Item]) -> Item:
    lead = min(same, key=lambda i: (not i.pinned, _KIND_RANK.index(i.kind), not i.history, i.uid))
    if len(same) == 1:
        return lead
    history = dict.fromkeys(h for i in (lead, *same) for h in i.history)
    return replace(lead, history=tuple(history), cites=few(c for i in (lead, *same) for c in i.cites))
