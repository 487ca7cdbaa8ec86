"""The notes of a look back as lines of JSON: for reading and comparing, and no way back into a store.

{"dreamd": "notes", "form": 1, "scope": …, "as_of": …, "known_at": …}
{"note": "n-…", "statement": …, "status": …, "valid_from": …, "valid_until": …, "recorded_at": …, …, "evidence": [{"session", "line", "at", "who", "quote"}]}
{"note": "n-…", "path": …, "line": …, "statement": …, "status": …, "written_at": …}      a line of a note file, with its verdict
{"end": true, "notes": n}
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pipelines.model import Status
from pipelines.run.evidence import Evidence, gather
from pipelines.run.held import under_quarantine
from pipelines.run.looking import Look
from pipelines.run.sources import standing_notes
from pipelines.store import Head

FORM = 1
NEVER = frozenset({Status.RETRACTED, Status.QUARANTINED})
Line = dict[str, object]


def notes_file(look: Look) -> Iterator[Line]:
    """The lines of the file, its last one telling how many notes there are. What was taken back or is held back stands in none."""
    yield {"dreamd": "notes", "form": FORM, "scope": look.scope, "as_of": _time(look.moment.as_of), "known_at": _time(look.moment.known_at)}
    heads = [h for h in look.heads() if h.version.status not in NEVER]
    shown = {c for h in heads for c in h.version.claims} if look.audience is None else ()  # a note may rest on words said to others as well
    evidence = gather(look.store, look.scope, shown)
    count = 0
    for line in (*(_version(h, evidence, whole=look.audience is None) for h in heads), *_carried(look)):
        count += 1
        yield line
    yield {"end": True, "notes": count}


def _version(head: Head, evidence: Evidence, *, whole: bool) -> Line:
    """A version; not `whole` without its reason and sources, which may be in the words of others."""
    v = head.version
    cites = evidence.cites(v.claims)
    return {
        "note": f"n-{v.note}", "slot": v.slot, "kind": v.kind.value, "subject": v.subject, "attribute": v.attribute, "qualifier": v.qualifier,
        "statement": v.statement, "value": v.value, "status": v.status.value, "standing": v.standing.name.lower(), "reason": v.reason if whole else None,
        "valid_from": _time(v.valid_from), "valid_until": _time(v.valid_until), "oldest_evidence": _time(v.oldest_evidence),
        "newest_evidence": _time(v.newest_evidence), "recorded_at": _time(head.recorded_at),
        "evidence": [{"session": c.session, "line": c.line, "at": _time(c.at), "who": c.who, "quote": c.quote} for c in cites],
    }  # fmt: skip


def _carried(look: Look) -> Iterator[Line]:
    findings = look.findings()
    notes = standing_notes(look.online_notes())
    locked = under_quarantine(notes, findings)
    for note in notes:
        if note.uid not in locked:
            verdict = findings[note.uid].verdict.value if note.uid in findings else "unchecked"
            yield {"note": f"n-{note.uid[:12]}", "path": f"{note.folder}/{note.path}", "line": note.line, "statement": note.text, "status": verdict,
                   "written_at": _time(note.written_at)}  # fmt: skip


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
