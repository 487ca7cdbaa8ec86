"""What a wiki is rendered from, gathered: beliefs, online notes with their verdicts, and the log lines both rest on."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath

from pipelines.engines.local.ending import End, Ended
from pipelines.engines.local.worklog import WorkRecord, work_log
from pipelines.gates import held, held_unless_said
from pipelines.gates.evidence import EXIT_STATUS
from pipelines.logs.stamps import UNKNOWN
from pipelines.model import Claim, Finding, Kind, OnlineNote, Origin, Outcome, Question, Quote, SessionInfo, Standing, Status, Turn, Verdict, Version
from pipelines.notes.failing import ITS_COMMAND_FAILED
from pipelines.notes.half_life import HALF_LIFE, is_by_half_life
from pipelines.notes.identity import identity_of, in_force
from pipelines.notes.moment import is_ahead, named_value, said_of
from pipelines.notes.recheck import CITES_FALLEN, EVIDENCE_TAKEN_BACK, FAILED, FELL, MAY_HAVE_CHANGED, NEWER_SEEN, RECHECKED, RESTS_ON_FALLEN, was_believed
from pipelines.notes.stale import stale_numbers, told_of
from pipelines.notes.wikilinks import own_names
from pipelines.run.beside import Beside, beside
from pipelines.run.edits import dismissed, open_edits
from pipelines.run.held import shown, under_quarantine
from pipelines.run.looking import Look
from pipelines.run.questions import open_questions
from pipelines.run.retention import no_longer_kept
from pipelines.run.sources import standing_notes
from pipelines.run.telling import with_tellings
from pipelines.stages.extractor import prepare
from pipelines.store import Head, Store
from pipelines.text.times import resolve_dates
from pipelines.text.values import typed_values
from pipelines.wiki.brief import WAITING_MAX
from pipelines.wiki.content import PAST, Asked, Carried, Cite, Content, Correction, HistoryLine, Item, Quarantined, Side, Work, together
from pipelines.wiki.inline import clean, cut_quote
from pipelines.wiki.lines import day
from pipelines.wiki.unfinished import Left, unfinished

CITES_MAX = 3
RECENT = timedelta(days=14)
_LIVE = (Status.CONFIRMED, Status.DISPUTED, Status.NEEDS_RECHECK, Status.DRAFT)
_SAID_BY_THE_NOTE = frozenset({"log", "modified"})  # a commit or copy of the file is no evidence
_WRONG = frozenset({Verdict.CORRECTED, Verdict.SUPERSEDED, Verdict.CONTRADICTED})


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
        return _most(c.at for c in cites if not is_ahead(c.at, self.read_at))

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
        return _few((*said, *(self.words[uid] for uid in claims if uid in self.words)))

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


def _few(cites: Iterable[Cite]) -> tuple[Cite, ...]:
    """The oldest and the two newest, in order of time."""
    found = sorted(set(cites), key=lambda c: (c.at is not None, c.at.timestamp() if c.at else 0.0, c.session or "", c.line or 0, c.quote))
    return tuple(found if len(found) <= CITES_MAX else [found[0], *found[-(CITES_MAX - 1) :]])


def gather(store: Store, scope: str, claims: Iterable[str], quotes: Iterable[Quote] = ()) -> Evidence:
    """Everything needed to cite these claims and quotes."""
    claims = frozenset(claims)
    found = store.claims(scope, claims)
    uids = {q.turn for c in found.values() for q in c.quotes} | {q.turn for q in quotes}
    return Evidence(claims=found, turns=store.turns(scope, uids), words=_own_words(store, scope, claims - found.keys()), unkept=store.unkept(scope, uids))


def _own_words(store: Store, scope: str, uids: AbstractSet[str]) -> Mapping[str, Cite]:
    """The footnotes of edits among these claims: the person's words are their own source."""
    rulings = (r for r in store.rulings(scope) if (r.verb == "edit" or r.other) and r.uid in uids) if uids else ()
    return {r.uid: Cite(source="review", at=r.at, who="user", quote=r.body or "", remark="your own words" if r.verb == "edit" else DECISION) for r in rulings}


def content_of(store: Store, scope: str, *, title: str, own: dict[str, str], redirects: dict[str, str], look: Look | None = None) -> Content:
    """The whole content of the scope's present revision, or of what `look` looks at: notes as they hold then, of sessions and questions what was by then."""
    look = look or Look(store=store, scope=scope)
    records = _records(store, scope, look)
    near = beside(store, scope, known_at=look.moment.known_at)
    noted, carried = note_items(store, scope, look=look, near=near), carried_notes(store, scope, look, near=near)
    works = tuple(map(work_of, records))
    gone = dismissed(store, scope)
    questions = tuple(q for q in asked(store, scope, waiting(works, map(last_of, records))) if q.uid not in gone)
    return Content(
        title=title, items=tuple(map(look.dated, (*one_a_sentence(noted.items.values()), *carried.items))), corrections=with_tellings(carried.corrections, _tellings(store, scope)),
        quarantined=tuple(h for h in (*quarantined(store, scope), *carried.held) if h.uid not in gone),
        asked=tuple(q for q in questions if look.tells(q.at)), edited=open_edits(store, scope), work=works, own=own, redirects=redirects,
    )  # fmt: skip


def _tellings(store: Store, scope: str) -> Mapping[str, int]:
    """How often corrections had been told when the scope was last rendered: who is told more since changes no page."""
    state = store.render_state(scope)
    return state.aside.get("tellings", {}) if state else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Notes as pages show them, by uid in order, and of every note looked at the turns it rests on; those nothing may be cited of are no items."""

    items: Mapping[str, Item]
    rests: Mapping[str, frozenset[str]]


def note_items(store: Store, scope: str, notes: Iterable[str] | None = None, *, look: Look | None = None, near: Beside | None = None) -> Noted:
    """These notes, or all, as they stand now, or where `look` looks; `near` is what stands beside them."""
    near = near or beside(store, scope)
    versions = _versions(look or Look(store=store, scope=scope), notes)
    evidence = gather(store, scope, {c for vs in versions.values() for v in vs for c in _claims_of(v)})
    items = {note: near.shown(item) for note, vs in versions.items() if (item := note_item(vs, evidence))}
    return Noted(items=items, rests={note: evidence.resting(c for v in vs for c in _claims_of(v)) for note, vs in versions.items()})


def _versions(look: Look, notes: Iterable[str] | None = None) -> dict[str, tuple[Version, ...]]:
    by_note: defaultdict[str, list[Head]] = defaultdict(list)
    for head in look.heads(notes):
        by_note[head.version.note].append(head)
    return {note: tuple(h.version for h in heads) for note, heads in sorted(by_note.items())}


def _claims_of(version: Version) -> tuple[str, ...]:
    return (*version.claims, version.ended_by) if version.ended_by else version.claims


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedNotes:
    """The lines of note files as pages show them, what of them is wrong, what is held back, and the turns and notes all of it rests on."""

    items: tuple[Item, ...] = ()
    corrections: tuple[Correction, ...] = ()
    held: tuple[Quarantined, ...] = ()
    rests: frozenset[str] = frozenset()


def carried_notes(store: Store, scope: str, look: Look | None = None, *, near: Beside | None = None) -> CarriedNotes:
    """All lines of note files that stand, or stood where `look` looks; `near` is what stands beside them."""
    near = near or beside(store, scope)
    look = look or Look(store=store, scope=scope)
    findings = look.findings()
    notes = standing_notes(look.online_notes())
    if not notes:
        return CarriedNotes()
    locked = under_quarantine(notes, findings)
    notes = tuple(n for n in notes if n.uid not in locked)
    said = [findings[n.uid] for n in notes if n.uid in findings]
    named = {version for f in said for version in (f.version, *(v for v, _ in f.also)) if version}
    versions = _versions(look, named)
    quotes = [q for f in said for q in f.quotes]
    evidence = replace(gather(store, scope, (), quotes), read_at=store.last_arrival(scope))
    depths = nested(notes)
    carried = (carried_item(n, findings.get(n.uid), versions, evidence, depth=depths[n.uid]) for n in notes)
    stale = {s.counted.note[:12]: told_of(s) for s in stale_numbers(notes)}
    items = tuple(near.shown(replace(i, stale=stale[i.uid]) if i.uid in stale else i) for i in carried)
    against = {i.uid: i.against for i in items}
    return CarriedNotes(
        items=items, corrections=tuple(replace(c, against=against[c.uid]) for c in _corrections(notes, findings, versions, evidence)), held=tuple(locked.values()),
        rests=frozenset(q.turn for q in quotes) | {resting_on_note(v) for v in named},
    )  # fmt: skip


def resting_on_note(note: str) -> str:
    """How a note is named among the things a shown line rests on."""
    return f"note {note}"


# --- notes -------------------------------------------------------------------------------------------------------------------------------


def note_item(versions: Sequence[Version], evidence: Evidence) -> Item | None:
    """A note as a page shows it: its leading version, the others as history or sides; None when nothing of it may be cited, or was ever believed."""
    versions = [v for v in versions if v.status not in PAST or was_believed(v)]
    if not versions:
        return None
    lead = _lead(versions)
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
        sessions=max(1, lead.roots), valid_until=None if lead.status in _LIVE and is_by_half_life(lead) else lead.valid_until, oldest_evidence=_least(v.oldest_evidence for v in times),
        newest_evidence=_most(v.newest_evidence for v in times), high_stakes=any(v.kind == "money" for v in typed_values(lead.statement)),
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


def _lead(versions: Sequence[Version]) -> Version:
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
    return replace(lead, history=tuple(history), cites=_few(c for i in (lead, *same) for c in i.cites))


# --- online notes ------------------------------------------------------------------------------------------------------------------------


_ALL_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1")
"""A paragraph that is bold from end to end: where a list follows, it is the list's heading ("**build.py**")."""


def nested(notes: Sequence[OnlineNote]) -> dict[str, int]:
    """How deep each line of the note files stands: as in its list, and one deeper below a paragraph that leads in, with a colon or as a heading in bold.
    `notes` are in file order."""
    out: dict[str, int] = {}
    led, place = False, ("", "", "")
    for note in notes:
        here = (note.folder, note.path, note.heading)
        led = led and here == place
        leads_in = note.shape == "paragraph" and (note.text.rstrip().endswith((":", "：")) or bool(_ALL_BOLD.fullmatch(note.markdown.strip())))
        if note.shape == "paragraph":
            led = False
        out[note.uid] = note.depth + led
        led, place = led or leads_in, here
    return out


def carried_item(note: OnlineNote, finding: Finding | None, versions: Mapping[str, tuple[Version, ...]], evidence: Evidence, *, depth: int = 0) -> Item:
    """A line of a note file as its page shows it, with its verdict and the words that decided."""
    proof = tuple(c for q in (finding.quotes if finding else ()) if (c := evidence.cite(q, finding.verdict.value.replace("_", " ") if finding else "")))
    verdict = finding.verdict if finding else Verdict.UNCHECKED
    failed = _failed(finding, evidence) if finding and finding.why == ITS_COMMAND_FAILED else ""
    fell = finding.why if finding and finding.why in {RESTS_ON_FALLEN, EVIDENCE_TAKEN_BACK} else ""
    return Item(
        uid=note.uid[:12], kind=note.kind, status=Status.CONFIRMED, subject=note.title, statement=note.text, markdown=note.markdown, aliases=own_names(note),
        cites=proof or (_file_cite(note, verdict),), verdict=verdict, corrected_to=together(_rights(finding, versions)) or None if finding and finding.verdict in _WRONG else None,
        carried=Carried(
            folder=note.folder, path=note.path, title=note.title, position=note.position, line=note.line, heading=note.heading,
            description=note.description, index=note.index, targets=tuple(x for x in note.links if "://" not in x), depth=depth,
        ),
        newest_evidence=evidence.newest(proof) or (note.written_at if note.dated_by in _SAID_BY_THE_NOTE else None), missed=FAILED if failed else fell, remark=failed,
        reason=(finding.corrected or "").strip("`") if finding and failed else "",
    )  # fmt: skip


def _failed(finding: Finding, evidence: Evidence) -> str:
    """That the command a note tells failed since, with the line that says so."""
    line, *_ = finding.quotes
    cite = evidence.cite(line)
    on = f" on {day(cite.at)}" if cite and cite.at else ""
    words = f": {cut_quote(clean(line.text))}" if cite else ""  # what may not be cited is not told
    return f"needs recheck, {RECHECK_WORDS[FAILED]}{on}{words}"


def _file_cite(note: OnlineNote, verdict: Verdict) -> Cite:
    remark = {Verdict.NO_LOG: "no log", Verdict.UNSUPPORTED: "its log says nothing of it", Verdict.UNCHECKED: "not checked"}.get(
        verdict, verdict.value.replace("_", " ")
    )
    return Cite(source=_shown_path(note), line=note.line, at=note.written_at if note.dated_by != "mtime" else None, who="note", remark=remark)


def _shown_path(note: OnlineNote) -> str:
    """A note file as footnotes name it: one known from a log alone goes by its folder's last part, where it lies on that machine says nothing."""
    folder = PurePosixPath(note.folder)
    return f"{folder.name if folder.is_absolute() or note.folder[1:2] == ':' else note.folder}/{note.path}"


def _rights(finding: Finding, versions: Mapping[str, tuple[Version, ...]]) -> tuple[str, ...]:
    """What the note should say: the confirmed notes' own sentences, else the words of the log; of a line that is wrong more than once all of them."""
    said = (_right(version, words, versions) for version, words in ((finding.version or "", finding.corrected or ""), *finding.also))
    return tuple(dict.fromkeys(right for right in said if right))


def _right(version: str, words: str, versions: Mapping[str, tuple[Version, ...]]) -> str:
    stands = versions.get(version)
    lead = _lead(stands) if stands else None
    return lead.statement if lead and lead.status is Status.CONFIRMED else _without_no(words)


_NO = re.compile(r"^(?:(?:no|nope|nah|wait|actually|correction)\s*[,.!:;–—-]+\s+|(?:不对|不是的|不)[，,。！!]\s*)+(?=\S)", re.IGNORECASE)


def _without_no(words: str) -> str:
    """What somebody said to be right, without the "no," that led it in."""
    said = _NO.sub("", words)
    return said if said == words else said[:1].upper() + said[1:]


def _corrections(
    notes: Sequence[OnlineNote], findings: Mapping[str, Finding], versions: Mapping[str, tuple[Version, ...]], evidence: Evidence
) -> tuple[Correction, ...]:
    out = []
    for note in notes:
        finding = findings.get(note.uid)
        if finding is None or finding.verdict not in {Verdict.CORRECTED, Verdict.SUPERSEDED}:
            continue
        cites = tuple(c for q in finding.quotes if (c := evidence.cite(q)))
        rights = _rights(finding, versions)
        if cites and rights:
            path = f"{note.folder}/{note.path}"
            out.append(
                Correction(
                    uid=note.uid[:12],
                    wrong=note.text,
                    right=together(rights),
                    rights=rights[len(rights) == 1 :],
                    path=path,
                    line=note.line,
                    cites=cites,
                    at=evidence.newest(cites),
                )
            )
    return tuple(out)


# --- what waits, and what was done -------------------------------------------------------------------------------------------------------


def quarantined(store: Store, scope: str) -> tuple[Quarantined, ...]:
    """Claims under quarantine that nobody has decided about, by uid: named by place, and by no word of theirs."""
    decided = {r.target for r in in_force(store.rulings(scope)) if r.verb in {"approve", "reject"}}
    held = [g for g in store.claims_of(scope, store.quarantined_claims(scope) - decided) if g.outcome is Outcome.QUARANTINE]
    turns = store.turns(scope, {g.claim.quotes[0].turn for g in held})
    out = []
    for g in held:
        turn = turns.get(g.claim.quotes[0].turn)
        if turn:
            gate = next(r.gate for r in g.results if r.outcome is Outcome.QUARANTINE)
            out.append(Quarantined(uid=g.claim.uid[:12], gate=gate, origin=turn.origin.value, session=turn.session, line=turn.place.line))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Last:
    """How a session ended: when, and what the assistant asked last without an answer, or the plan it showed (`planned`)."""

    session: str
    ended: datetime | None
    asked: Quote | None
    planned: bool = False


def last_of(record: WorkRecord) -> Last:
    """The end of a session."""
    return Last(record.session, record.ended, record.end.asked, record.end.how is Ended.PLAN)


def waiting(works: Sequence[Work], ends: Iterable[Last]) -> tuple[Last, ...]:
    """The ends of the newest sessions whose question waits: neither they nor a later session have gone on with it."""
    open_ones = [u.work.session for u in unfinished(works) if u.left is Left.QUESTION][:WAITING_MAX]
    return tuple(end for end in ends if end.session in open_ones)


def last_asked(store: Store, scope: str) -> tuple[tuple[Last, ...], tuple[Asked, ...]]:
    """How the sessions of the last two weeks ended, and those questions of theirs, and of an engine, that wait for a person now."""
    records = _records(store, scope, Look(store=store, scope=scope))
    ends = tuple(map(last_of, records))
    gone = dismissed(store, scope)
    return ends, tuple(a for a in asked(store, scope, waiting(tuple(map(work_of, records)), ends)) if a.uid not in gone)


def asked(store: Store, scope: str, ends: Iterable[Last]) -> tuple[Asked, ...]:
    """What an engine noticed to be open, and the questions these sessions ended with (`waiting`).

    Words that a draft quotes wait for a person as that draft.
    """
    questions = [q for asked in open_questions(store, scope).values() for q in asked]
    plans: set[str] = set()
    for end in ends:
        if end.asked is not None:
            questions.append(Question(text=end.asked.text if end.planned else _question(end.asked.text), quotes=(end.asked,)))
            plans |= {end.asked.turn} if end.planned else set()
    drafted = _drafted(store, scope, questions)
    questions = [q for q in questions if not held(q.text) and not any(_within(mine, draft) for mine in q.quotes for draft in drafted[mine.turn])]
    evidence = gather(store, scope, (), (q for asked in questions for q in asked.quotes))
    out: dict[str, Asked] = {}
    for question in questions:
        cites = tuple(c for q in question.quotes if (c := evidence.cite(q)))
        if cites:
            uid = question.quotes[0].turn[:12]
            out[uid] = Asked(uid=uid, text=question.text, cites=cites, at=_most(c.at for c in cites), plan=question.quotes[0].turn in plans)
    return tuple(out[uid] for uid in sorted(out))


def _drafted(store: Store, scope: str, questions: Sequence[Question]) -> Mapping[str, Sequence[Quote]]:
    """What drafts quote of the turns these questions are about, by turn."""
    claims = store.claims(scope, store.quoting(scope, {q.turn for asked in questions for q in asked.quotes}))
    heads = store.heads(scope, notes={identity_of(scope, c).uid for c in claims.values()}, statuses=[Status.DRAFT]) if claims else ()
    quotes: defaultdict[str, list[Quote]] = defaultdict(list)
    for uid in sorted({c for h in heads for c in h.version.claims} & claims.keys()):
        for quote in claims[uid].quotes:
            quotes[quote.turn].append(quote)
    return quotes


def _within(quote: Quote, other: Quote) -> bool:
    """Whether all words of a quote stand in another of its turn."""
    return other.start <= quote.start and quote.end <= other.end


def _records(store: Store, scope: str, look: Look) -> tuple[WorkRecord, ...]:
    """The sessions of the last two weeks before the newest one, from their records alone; of a look back those that were over by then."""
    spans = {s: span for s, span in store.spans(scope).items() if not (look.moment or look.audience) or look.tells(span[1])}
    newest = _most(last for _, last in spans.values())
    recent = sorted(s for s, (_, last) in spans.items() if newest and last and newest - last <= RECENT)
    infos = {i.uid: i for i in store.sessions(scope)}
    records = (work_record(store, scope, infos[s]) for s in recent if s in infos)
    return tuple(r for r in records if r)


def work_record(store: Store, scope: str, info: SessionInfo) -> WorkRecord | None:
    """The record of a session as far as it is kept, without first words that are under quarantine, and without times that cannot be."""
    read_at = store.read_at(scope, info.uid)
    until = store.gone_until(scope, info.uid)
    stays = (turn for turn in store.turns_of(scope, info.uid) if until is None or (turn.at is not None and turn.at > until))
    turns = (replace(turn, at=None) if is_ahead(turn.at, read_at) else turn for turn in stays)
    record = work_log(prepare(info, tuple(turns)))
    first = record.first_prompt if record else None
    return replace(record, first_prompt=None, cut=False) if record and first and store.withheld(scope, [first.turn]) else record


def _question(words: str) -> str:
    """A question as it is shown: what was cut of it says so."""
    return words if not words or words.endswith(("?", "？", "؟")) else f"{words.rstrip(' —–-,;:')} …"


TODOS_MAX = 3
UNSAVED_MAX = 3


def work_of(record: WorkRecord) -> Work:
    """A session in the work log; words of anybody but the person only as far as they may be shown."""
    end, left, tested = record.end, record.uncommitted, record.tested
    summary = shown(tested.summary or ("failed" if tested.failed else "passed")) if tested else ""
    first = record.first_prompt.text + (" …" if record.cut else "") if record.first_prompt else ""
    todos = tuple(t for t in map(shown, record.todos.open) if t)
    return Work(
        session=record.session, started=record.started, ended=record.ended, zone=record.zone, folder=shown(record.folder or ""), branch=shown(record.branch or ""),
        title=shown(record.title or ""), asked=first, command=record.command, begins=record.begins[:12],
        parent=record.parent or "", prompts=record.prompts, commits=tuple(f"{c.sha} {shown(c.subject)}".rstrip() for c in record.commits),
        tested=summary, test_command=shown(tested.command) if tested else "", failed=tuple(filter(None, map(shown, record.failed))), files=record.files,
        touched=tuple(filter(None, map(shown, record.touched))), todos=todos[:TODOS_MAX], open_todos=len(record.todos.open), all_todos=record.todos.count,
        how=end.how.value, outcome=shown(end.error), question=_left(end), question_line=end.line,
        uncommitted=len(left.paths), unsaved=tuple(filter(None, map(shown, left.paths)))[:UNSAVED_MAX], unsaved_line=left.line, clean=left.clean,
    )  # fmt: skip


def _left(end: End) -> str:
    """The words of what a session left open, as they are shown."""
    words = shown(end.asked.text) if end.asked else ""
    if end.how is Ended.PLAN:
        return f"{words} …" if words and end.cut else words
    return _question(words)


def verdicts(notes: Iterable[OnlineNote], findings: Mapping[str, Finding]) -> Counter[str]:
    """How many online notes have which verdict."""
    return Counter(findings[n.uid].verdict.value for n in notes if n.uid in findings)


def _most(times: Iterable[datetime | None]) -> datetime | None:
    return max((t for t in times if t), default=None)


def _least(times: Iterable[datetime | None]) -> datetime | None:
    return min((t for t in times if t), default=None)
