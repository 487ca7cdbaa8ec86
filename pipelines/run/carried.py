"""Lines of note files as pages show them: each with its verdict, and what of them is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pipelines.model import Finding, OnlineNote, Status, Verdict, Version
from pipelines.notes.failing import ITS_COMMAND_FAILED
from pipelines.notes.recheck import EVIDENCE_TAKEN_BACK, FAILED, RESTS_ON_FALLEN
from pipelines.notes.stale import stale_numbers, told_of
from pipelines.notes.wikilinks import own_names
from pipelines.run.beside import Beside, beside
from pipelines.run.evidence import Evidence, gather
from pipelines.run.held import under_quarantine
from pipelines.run.looking import Look
from pipelines.run.noted import RECHECK_WORDS, leading, versions_of
from pipelines.run.retention import no_longer_kept
from pipelines.run.sources import standing_notes
from pipelines.store import Store
from pipelines.wiki.content import Carried, Cite, Correction, Item, Quarantined, shown_folder, together
from pipelines.wiki.inline import clean, cut_quote
from pipelines.wiki.lines import day

_SAID_BY_THE_NOTE = frozenset({"log", "modified"})  # a commit or copy of the file is no evidence
_WRONG = frozenset({Verdict.CORRECTED, Verdict.SUPERSEDED, Verdict.CONTRADICTED})


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
    online = look.online_notes()
    in_logs = {n.uid for n in online if n.turn is not None}
    notes = standing_notes(online)
    if not notes:
        return CarriedNotes()
    locked = under_quarantine(notes, findings)
    notes = tuple(n for n in notes if n.uid not in locked)
    said = [findings[n.uid] for n in notes if n.uid in findings]
    named = {version for f in said for version in (f.version, *(v for v, _ in f.also)) if version}
    versions = versions_of(look, named)
    quotes = [q for f in said for q in f.quotes]
    written = [n.turn for n in notes if n.turn and n.uid in in_logs]
    evidence = replace(gather(store, scope, (), quotes, turns=written), read_at=store.last_arrival(scope))
    depths = nested(notes)
    carried = (carried_item(n, findings.get(n.uid), versions, evidence, depth=depths[n.uid], in_log=n.uid in in_logs) for n in notes)
    stale = {s.counted.note[:12]: told_of(s) for s in stale_numbers(notes)}
    items = tuple(near.shown(replace(i, stale=stale[i.uid]) if i.uid in stale else i) for i in carried)
    against = {i.uid: i.against for i in items}
    return CarriedNotes(
        items=items, corrections=tuple(replace(c, against=against[c.uid]) for c in _corrections(notes, findings, versions, evidence)), held=tuple(locked.values()),
        rests=frozenset(q.turn for q in quotes) | frozenset(written) | {resting_on_note(v) for v in named},
    )  # fmt: skip


def resting_on_note(note: str) -> str:
    """How a note is named among the things a shown line rests on."""
    return f"note {note}"


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


def carried_item(
    note: OnlineNote, finding: Finding | None, versions: Mapping[str, tuple[Version, ...]], evidence: Evidence, *, depth: int = 0, in_log: bool = False
) -> Item:
    """A line of a note file as its page shows it, with its verdict and the words that decided; `in_log`: the file is known from a log that writes it alone."""
    proof = tuple(c for q in (finding.quotes if finding else ()) if (c := evidence.cite(q, finding.verdict.value.replace("_", " ") if finding else "")))
    verdict = finding.verdict if finding else Verdict.UNCHECKED
    failed = _failed(finding, evidence) if finding and finding.why == ITS_COMMAND_FAILED else ""
    fell = finding.why if finding and finding.why in {RESTS_ON_FALLEN, EVIDENCE_TAKEN_BACK} else ""
    return Item(
        uid=note.uid[:12], kind=note.kind, status=Status.CONFIRMED, subject=note.title, statement=note.text, markdown=note.markdown, aliases=own_names(note),
        cites=proof or (_cite(note, verdict, evidence, in_log=in_log),), verdict=verdict, corrected_to=together(rights_of(finding, versions)) or None if finding and finding.verdict in _WRONG else None,
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


def _cite(note: OnlineNote, verdict: Verdict, evidence: Evidence, *, in_log: bool) -> Cite:
    """Where a line stands that no log decides: in its file, or in the line of the log that writes it where nobody has seen the file."""
    remark = {Verdict.NO_LOG: "no log", Verdict.UNSUPPORTED: "its log says nothing of it", Verdict.UNCHECKED: "not checked"}.get(
        verdict, verdict.value.replace("_", " ")
    )
    file = f"{shown_folder(note.folder)}/{note.path}"
    turn = evidence.turns.get(note.turn or "") if in_log else None
    if turn is None:
        return Cite(source=file, line=note.line, at=note.written_at if note.dated_by != "mtime" else None, who="note", remark=remark)
    remark = "its log says nothing else of it" if verdict is Verdict.UNSUPPORTED else remark
    remarks = (remark, no_longer_kept(days) if (days := evidence.unkept.get(turn.uid)) else "")
    return Cite(session=turn.session, line=turn.place.line, source=file, at=turn.at, who=turn.role.value, remark=", ".join(filter(None, remarks)))


def rights_of(finding: Finding, versions: Mapping[str, tuple[Version, ...]]) -> tuple[str, ...]:
    """What the note should say: the confirmed notes' own sentences, else the words of the log; of a line that is wrong more than once all of them."""
    said = (_right(version, words, versions) for version, words in ((finding.version or "", finding.corrected or ""), *finding.also))
    return tuple(dict.fromkeys(right for right in said if right))


def _right(version: str, words: str, versions: Mapping[str, tuple[Version, ...]]) -> str:
    stands = versions.get(version)
    lead = leading(stands) if stands else None
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
        rights = rights_of(finding, versions)
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
