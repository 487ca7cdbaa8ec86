"""The rows a forget deletes, table by table: what was believed, said by people, read, paid for, and the turns themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from sqlalchemy import Connection, Table, delete, insert, select, text, update

from pipelines.logs.forgotten import WORDED
from pipelines.model import digest
from pipelines.store import tables as t
from pipelines.store.calls import FORGOTTEN
from pipelines.store.core import chunks
from pipelines.store.intake import SET
from pipelines.store.reach import Reach, carrying
from pipelines.store.speakers import keep_speakers
from pipelines.store.stones import Stones
from pipelines.store.tombstones import OWN, Forgotten
from pipelines.store.types import dump, load
from pipelines.text.traces import Traces


def delete_rows(conn: Connection, table: Table, ids: Iterable[int]) -> int:
    """Delete rows by id, the newest first: what replaces goes before what it replaces. Returns how many there were."""
    return sum(conn.execute(delete(table).where(table.c.id.in_(part))).rowcount for part in chunks(sorted(ids, reverse=True)))


def ids_of(conn: Connection, table: Table, column: Any, values: Iterable[Any], scope_id: int) -> set[int]:
    """Ids of the rows of a scope with one of these values."""
    return {x for part in chunks(sorted(set(values))) for x in conn.scalars(select(table.c.id).where(table.c.scope_id == scope_id, column.in_(part)))}


def clean_columns(conn: Connection, table: Table, scope_id: int, names: tuple[str, ...], traces: Traces, within: frozenset[str] = frozenset()) -> None:
    """Empty every string in these columns (JSON or plain text) that carries what is forgotten; of JSON objects only what stands under the names `within`."""
    for row in conn.execute(select(table.c.id, *(table.c[n] for n in names)).where(table.c.scope_id == scope_id)).all():
        new = {n: _cleaned(value, traces, within) for n in names if isinstance(value := getattr(row, n), str) and traces.within(value)}
        if new:
            conn.execute(update(table).where(table.c.id == row.id).values(**new))


def _cleaned(value: str, traces: Traces, within: frozenset[str]) -> str:
    """The JSON or the text without what carries any of the traces."""
    try:
        told = load(value)
    except ValueError:
        return ""
    if isinstance(told, dict) and within:
        return dump({name: traces.without(item) if name in within else item for name, item in told.items()})
    return dump(traces.without(told)) if isinstance(told, dict | list) else ""


def delete_believed(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """All versions of the notes, why they changed, and the analyzer's word on lines that rest on what goes."""
    v, h, d, f = t.note_versions.c, t.heads.c, t.decisions.c, t.findings.c
    ids = sorted(reach.notes)
    for part in chunks(ids):
        conn.execute(delete(t.heads).where(h.note_id.in_(part)))
    counts["note_versions"] = delete_rows(conn, t.note_versions, [x for part in chunks(ids) for x in conn.scalars(select(v.id).where(v.note_id.in_(part)))])
    delete_rows(conn, t.notes, ids)
    uids, claims = {*reach.notes.values(), *reach.online}, set(reach.claims.values())
    told = conn.execute(select(d.id, d.note_uid, d.refs).where(d.scope_id == scope_id)).all()
    gone = claims | reach.uids | uids
    counts["decisions"] = delete_rows(conn, t.decisions, [x.id for x in told if x.note_uid in uids or not gone.isdisjoint(cast(list[str], load(x.refs)))])
    about = {
        *reach.online,
        *(
            x.note_uid
            for x in conn.execute(select(f.note_uid, f.body).where(f.scope_id == scope_id))
            if any(u in x.body for u in reach.uids | set(reach.notes.values()))
        ),
    }
    about |= {x.note_uid for x in carrying(conn, scope_id, t.findings, reach.words)}
    counts["findings"] = delete_rows(conn, t.findings, ids_of(conn, t.findings, f.note_uid, about, scope_id))


def delete_people(core: Forgotten, conn: Connection, scope_id: int, uid: str, reach: Reach, counts: Counter[str], *, own: bool = True) -> None:
    """People's own words that carry it: lines on pages are cut out, reasons of decisions emptied, messages nobody could act on deleted."""
    o = t.online_notes.c
    counts["own_lines"] = _cut_own_words(core, conn, scope_id, uid, reach) if own else 0
    r = t.rulings
    for row in list(carrying(conn, scope_id, r, reach.names)):
        conn.execute(delete(r).where(r.c.id == row.id))
        kept = {c.name: getattr(row, c.name) for c in r.columns if c.name not in {"id", "body"}}
        conn.execute(insert(r), {**kept, "body": None})
        counts["reasons"] += 1
    delete_rows(conn, r, ids_of(conn, r, r.c.target, reach.sessions.values(), scope_id))
    counts["online_notes"] = delete_rows(conn, t.online_notes, ids_of(conn, t.online_notes, o.uid, reach.online, scope_id))
    counts["letters"] = delete_rows(conn, t.letters, [x.id for x in carrying(conn, None, t.letters, reach.names)])
    delete_rows(conn, t.leases, [x.id for x in carrying(conn, None, t.leases, reach.names)])


def _cut_own_words(core: Forgotten, conn: Connection, scope_id: int, uid: str, reach: Reach) -> int:
    """Take the lines that carry it out of what people wrote on pages; a page's whole history there begins anew. Returns how many lines."""
    w = t.own_words
    carried = [x for x in carrying(conn, scope_id, w, reach.names)]
    if not carried:
        return 0
    cut = 0
    stones = Stones(core, conn, scope_id, uid)
    for page in sorted({x.page for x in carried}):
        rows = conn.execute(select(w).where(w.c.scope_id == scope_id, w.c.page == page).order_by(w.c.id)).all()
        over = {x.replaces for x in rows}
        stands = [x for x in rows if x.id not in over and x.body]
        stones.add(OWN, ((x.digest,) for x in rows if reach.names.within(x.body)))
        delete_rows(conn, w, [x.id for x in rows])
        for row in stands:
            body = reach.names.lines_without(row.body)
            cut += len(row.body.splitlines()) - len(body.splitlines())
            if body.strip() and not reach.names.within(page):
                kept = {c.name: getattr(row, c.name) for c in w.columns if c.name not in {"id", "replaces", "body", "digest"}}
                conn.execute(insert(w), {**kept, "body": body, "digest": digest(body.encode("utf-8", "surrogateescape")), "replaces": None})
    return cut


def delete_read(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """Claims with all that points at them, and readings of sessions that are gone. Questions of the others are asked anew by their next reading, and what
    they said beside words that go is read again."""
    rc, b, q, r, s = t.read_claims.c, t.claim_blocks.c, t.quotes.c, t.relations.c, t.session_reads.c
    reads = ids_of(conn, t.session_reads, s.session_id, reach.sessions, scope_id)
    held = ids_of(conn, t.read_claims, rc.claim_id, reach.claims, scope_id) | ids_of(conn, t.read_claims, rc.read_id, reads, scope_id)
    delete_rows(conn, t.claim_blocks, ids_of(conn, t.claim_blocks, b.read_claim_id, held, scope_id))
    delete_rows(conn, t.read_claims, held)
    delete_rows(conn, t.session_reads, reads)
    delete_rows(conn, t.quotes, ids_of(conn, t.quotes, q.claim_id, reach.claims, scope_id))
    uids = list(reach.claims.values())
    counts["relations"] = delete_rows(conn, t.relations, ids_of(conn, t.relations, r.low, uids, scope_id) | ids_of(conn, t.relations, r.high, uids, scope_id))
    delete_rows(conn, t.dirty_claims, ids_of(conn, t.dirty_claims, t.dirty_claims.c.claim_uid, uids, scope_id))
    delete_rows(conn, t.claims, reach.claims)
    lost = ids_of(conn, t.sessions, t.sessions.c.uid, reach.again, scope_id)
    for part in chunks(sorted(ids_of(conn, t.session_reads, s.session_id, lost, scope_id))):
        conn.execute(update(t.session_reads).where(s.id.in_(part)).values(digest=""))
    asked = ids_of(conn, t.session_reads, s.session_id, reach.touched, scope_id) | {x.id for x in carrying(conn, scope_id, t.session_reads, reach.words)}
    for part in chunks(sorted(asked)):
        conn.execute(update(t.session_reads).where(s.id.in_(part)).values(questions="[]"))


def delete_money(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """Recorded answers whose requests held it; what calls in flight bring is not kept (systems holes 67, 71). What was paid stays in the books."""
    a, c = t.answers.c, t.calls.c
    rows = conn.execute(select(a.id, a.inputs).where(a.scope_id == scope_id)).all()
    uids = reach.uids
    gone = {x.id for x in rows if not uids.isdisjoint(cast(list[str], load(x.inputs)))} | {x.id for x in carrying(conn, scope_id, t.answers, reach.words)}
    counts["answers"] = delete_rows(conn, t.answers, gone)
    open_calls = update(t.calls).where(c.scope_id == scope_id, c.state.in_(("sent", "presumed")))
    counts["calls"] = conn.execute(open_calls.values(why=FORGOTTEN, inputs=None)).rowcount
    clean_columns(conn, t.calls, scope_id, ("name",), reach.names)


def delete_turns(conn: Connection, scope_id: int, reach: Reach) -> None:
    """Turns with their places, and sessions of which nothing is left; the digests of the others are counted anew, so that they are read again."""
    o, g, s = t.occurrences.c, t.turn_order.c, t.sessions.c
    delete_rows(conn, t.occurrences, ids_of(conn, t.occurrences, o.turn_id, reach.turns, scope_id))
    delete_rows(conn, t.turn_order, ids_of(conn, t.turn_order, g.turn_uid, reach.uids, scope_id))
    delete_rows(conn, t.turns, reach.turns)
    gone = sorted(reach.sessions)
    for table in (t.session_infos, t.session_heads, t.turn_order, t.retained):
        for part in chunks(gone):
            conn.execute(delete(table).where(table.c.session_id.in_(part)))
    for part in chunks(gone):
        conn.execute(delete(t.sessions).where(s.id.in_(part)))
    for session in sorted(reach.touched - reach.sessions.keys()):
        count_again(conn, scope_id, session)


def count_again(conn: Connection, scope_id: int, session: int) -> None:
    """The digest of what a session still holds: every row of every uid that stands in it, as intake counts them."""
    o, c, h = t.occurrences.c, t.turns.c, t.session_heads.c
    uids = set(conn.scalars(select(c.uid).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(o.session_id == session)))
    rows = [r for part in chunks(sorted(uids)) for r in conn.execute(select(c.digest, c.event_at).where(c.scope_id == scope_id, c.uid.in_(part)))]
    total = f"{sum(int(r.digest, 16) for r in rows) % SET:040x}"
    started = min((r.event_at for r in rows if r.event_at is not None), default=None)
    conn.execute(update(t.session_heads).where(h.session_id == session).values(digest=total, turns=len(uids), started_at=started))
    keep_speakers(conn, session)


def clean_rest(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """What is remembered of sources, sessions and schedules, without what carries it; files whose names do are looked at anew."""
    plain = Traces(phrases=reach.words.phrases, tokens=reach.words.tokens)
    _drop_carried(conn, scope_id, plain)
    clean_columns(conn, t.session_infos, scope_id, ("info",), plain, frozenset({"title", "extra"}))
    clean_columns(conn, t.session_infos, scope_id, ("info",), reach.names)
    clean_columns(conn, t.schedules, scope_id, ("params",), reach.names)
    paths = Traces(phrases=reach.names.phrases, tokens=reach.names.tokens)
    counts["files"] = delete_rows(conn, t.files, [x.id for x in carrying(conn, scope_id, t.files, paths)])
    if conn.dialect.name == "postgresql" and conn.scalar(text("SELECT to_regclass('search_scopes')")) is not None:
        for table in ("search_words", "search_scopes"):
            conn.execute(text(f"DELETE FROM {table} WHERE scope_id = :scope"), {"scope": scope_id})


def _drop_carried(conn: Connection, scope_id: int, traces: Traces) -> None:
    """Empty the parts of readers' memories that hold words: what was about to be written, what was said last, what a session is about."""
    s = t.sources.c
    for row in conn.execute(select(s.id, s.carry).where(s.scope_id == scope_id)).all():
        if traces.within(row.carry):
            told = cast(dict[str, object], load(row.carry))
            kept = {
                name: type(item)() if name in WORDED and isinstance(item, dict | list) and traces.within(dump(item)) else item for name, item in told.items()
            }
            conn.execute(update(t.sources).where(s.id == row.id).values(carry=dump(kept)))
