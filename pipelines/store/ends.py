"""Lines of note files that are over by their own words ("frozen until Friday"): which ones nobody has told so yet, and the finding that does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from pipelines.model import Finding, Verdict, digest
from pipelines.store import tables as t
from pipelines.store.codec import finding_out
from pipelines.store.online import current_findings, stood
from pipelines.store.types import dump

TOLD = frozenset({Verdict.SUPERSEDED, Verdict.CORRECTED, Verdict.CONTRADICTED})
"""What a line that is over may be called already: it has ended, or was wrong from the beginning."""
WHY = "over_by_its_own_words"


def any_over(scope_id: ColumnElement[int], now: datetime) -> ColumnElement[bool]:
    """Whether a scope has a line that is over and is called something else. Lines without a finding wait for the dream that reads them."""
    o, f, later = t.online_notes.c, t.findings.c, t.findings.alias()
    standing = and_(f.scope_id == o.scope_id, f.note_uid == o.uid, ~exists().where(later.c.replaces == f.id).correlate(t.findings))
    told = exists().where(standing, f.verdict.not_in([v.value for v in TOLD])).correlate(t.online_notes)
    return exists().where(o.scope_id == scope_id, o.ends_at <= now, stood(None), ~o.gone, told)


def ended_lines(conn: Connection, scope_id: int, now: datetime) -> list[dict[str, Any]]:
    """Rows of the findings that call these lines superseded; by uid."""
    over = sorted(_over(conn, scope_id, now))
    found = current_findings(conn, scope_id, over) if over else {}
    out = []
    for uid, (finding, row, _) in sorted(found.items()):
        if finding.verdict not in TOLD:
            told = finding_out(Finding(note=uid, verdict=Verdict.SUPERSEDED, why=WHY))
            out.append({"note_uid": uid, "digest": digest(dump(told)), "verdict": told["verdict"], "why": WHY, "body": dump(told), "replaces": row})
    return out


def _over(conn: Connection, scope_id: int, now: datetime) -> Iterator[str]:
    """Uids of lines that are over; of a line that stands in its file and in a log that shows it written, the file's counts."""
    o = t.online_notes.c
    late = select(o.uid).where(o.scope_id == scope_id, o.ends_at <= now)
    rows = conn.execute(select(o.uid, o.source_id, o.gone, o.ends_at).where(o.scope_id == scope_id, stood(None), o.uid.in_(late))).all()
    first: dict[str, Any] = {}
    for row in sorted(rows, key=lambda r: (r.uid, r.source_id is not None)):
        if not row.gone:
            first.setdefault(row.uid, row)
    for uid, row in first.items():
        if row.ends_at is not None and row.ends_at <= now:
            yield uid
