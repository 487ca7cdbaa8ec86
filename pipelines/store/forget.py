"""Forgetting: everything a choice reaches is deleted in one transaction, together with what was derived from it (systems R6).

The door is a row in `grants` that lives inside that transaction: a process killed in it leaves the door shut and nothing gone. Who called believes anew
what is left and renders it before the transaction ends. What lies in files (archive, free pages of the database, search index) is named in `leftovers`
by the same transaction and cleaned after it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection, Table, delete, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from pipelines.logs.forgotten import WORDED
from pipelines.model import digest
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.calls import FORGOTTEN
from pipelines.store.core import add_new, chunks
from pipelines.store.faults import translated
from pipelines.store.filled import BLOB, Archive, fill
from pipelines.store.intake import SET
from pipelines.store.lost import Lost, lost_sessions
from pipelines.store.masked import Masked
from pipelines.store.open import BUSY_MS, LOOK_MS
from pipelines.store.reach import ID_MIN, Choice, Reach, carrying, reach_of, surviving
from pipelines.store.speakers import keep_speakers
from pipelines.store.tombstones import FIRST_CODE, ONLINE, OWN, PAGE, SESSION, SOURCE, TEXT, TURN, Forgotten, tomb
from pipelines.store.triggers import door
from pipelines.store.types import dump, load
from pipelines.store.values import Dream
from pipelines.text.traces import Traces

REPORTS = "journal/"
STANDING_PAGES = ("MEMORY.md", "inbox.md", "recent.md", "pages.md")
"""Pages that tell of everything: their old versions go with any forget."""
SPACE, WIKI = "space", "wiki"
"""What may be left over beside bytes of the archive: free pages and the search index of the store, pages in the folder of the host that forgot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """What a forget deletes: its id, counts by kind, the dream that believes the rest anew, texts of reports as they are to stand, what it looked for, and the
    sessions it takes words from."""

    uid: str
    counts: Mapping[str, int]
    dream: Dream
    reports: Mapping[str, str]
    reach: Reach
    lost: tuple[Lost, ...] = ()


class Forget(Forgotten):
    """The one way out for what bytes and people said."""

    def forget(self, scope: str, choice: Choice, archive: Archive, *, hand: str, fill: bool = True) -> Gone:
        """Delete all that the choice reaches, within `together(sees=True)` of the caller, who then believes and renders the rest with the dream given.

        Without `fill` the archive is left as it is: for a look at what would go. Raises ArchiveUnavailable when bytes that have to be looked at cannot be read.
        """
        with self.writing("forget") as conn:
            scope_id = self.locked_scope(conn, scope)
            reach = reach_of(conn, scope_id, choice, archive.get)
            lost = lost_sessions(conn, scope_id, reach)
            epoch = conn.scalar(select(t.scopes.c.forget_epoch).where(t.scopes.c.id == scope_id))
            uid = f"f-{self.mac('forget', scope, str(epoch), self.now().isoformat())[:10]}"
            with door(conn):
                counts: Counter[str] = Counter(turns=len(reach.turns), sessions=len(reach.sessions), claims=len(reach.claims), notes=len(reach.notes))
                _Stones(self, conn, scope_id, uid).lay(choice, reach)
                dream = _Dreams(self, conn, scope_id, scope).take_over(reach, uid, counts)
                reports = _Shown(self, conn, scope_id, uid, reach, counts).delete()
                _delete_believed(conn, scope_id, reach, counts)
                _delete_people(self, conn, scope_id, uid, reach, counts)
                _delete_money(conn, scope_id, reach, counts)
                _delete_read(conn, scope_id, reach, counts)
                _Bytes(conn, scope_id, archive, fill).clean(reach, counts)
                _delete_turns(conn, scope_id, reach)
                _clean_rest(conn, scope_id, reach, counts)
            self._write_receipt(conn, scope_id, uid, choice, counts, hand)
            return Gone(uid=uid, counts=dict(+counts), dream=dream, reports=reports, reach=reach, lost=lost)

    def scrub(self, scope: str, mask: Callable[[bytes], bytes], archive: Archive, *, hand: str, fill: bool = True) -> Gone | None:
        """Mask by other rules what was taken in, within `together(sees=True)` of the caller, who reads the sessions in reach again, believes and renders.

        `mask` keeps lengths. Turns are replaced by themselves with the secrets masked, the archive likewise; what was derived from them goes as in a forget.
        A person's own words on pages stay as they are. None when there is nothing to mask.
        """
        with self.writing("scrub") as conn:
            scope_id = self.locked_scope(conn, scope)
            masked = Masked(conn, scope_id, mask)
            reach = masked.reach(archive)
            if not (masked.turns or masked.blobs or reach.online):
                return None
            epoch = conn.scalar(select(t.scopes.c.forget_epoch).where(t.scopes.c.id == scope_id))
            uid = f"f-{self.mac('scrub', scope, str(epoch), self.now().isoformat())[:10]}"
            with door(conn):
                counts: Counter[str] = Counter(turns=len(reach.turns), claims=len(reach.claims), notes=len(reach.notes))
                dream = _Dreams(self, conn, scope_id, scope).take_over(reach, uid, counts)
                reports = _Shown(self, conn, scope_id, uid, reach, counts).delete()
                _delete_believed(conn, scope_id, reach, counts)
                _delete_people(self, conn, scope_id, uid, reach, counts, own=False)
                _delete_money(conn, scope_id, reach, counts)
                _delete_read(conn, scope_id, reach, counts)
                masked.replace_turns()
                counts["blobs"] = masked.replace_blobs(archive) if fill else len(masked.blobs)
                for session in sorted(reach.touched):
                    _count_again(conn, scope_id, session)
                _clean_rest(conn, scope_id, reach, counts)
            add_new(conn, t.leftovers, [{"scope_id": scope_id, "what": BLOB, "name": name} for name in (masked.blobs if fill else ())])
            self._write_receipt(conn, scope_id, uid, Choice(), counts, hand, how="scrub")
            return Gone(uid=uid, counts=dict(+counts), dream=dream, reports=reports, reach=reach)

    def forget_rulings(self, scope: str, notes: Iterable[str]) -> int:
        """Delete people's decisions about notes that are no notes any more, within the transaction that forgot what they rested on."""
        r, n, h = t.rulings.c, t.notes.c, t.heads.c
        with self.writing("forget decisions") as conn, door(conn):
            scope_id = self.locked_scope(conn, scope)
            standing = set(conn.scalars(select(n.uid).join_from(t.notes, t.heads, h.note_id == n.id).where(n.scope_id == scope_id)))
            gone = sorted(set(notes) - standing)
            ids = [x for part in chunks(gone) for x in conn.scalars(select(r.id).where(r.scope_id == scope_id, r.target.in_(part)))]
            ids += [x for part in chunks(gone) for x in conn.scalars(select(r.id).where(r.scope_id == scope_id, r.other.in_(part)))]
            return _delete(conn, t.rulings, set(ids))

    def leftovers(self, scope: str | None = None) -> tuple[tuple[str, str], ...]:
        """What forgets have left to be cleaned out of files: what, and its name."""
        o = t.leftovers.c
        with self.reading("look for leftovers") as conn:
            query = select(o.what, o.name).distinct().order_by(o.what, o.name)
            rows = conn.execute(query if scope is None else query.where(o.scope_id == self.scope_of(conn, scope)))
            return tuple((r.what, r.name) for r in rows)

    def unused_blobs(self, scope: str, found: Collection[str]) -> frozenset[str]:
        """Those of these blobs in which no segment is: none of the scope, or of any where one archive serves them all."""
        g = t.segments.c
        with self.reading("look for blobs") as conn:
            used = select(g.blob) if self.on_sqlite else select(g.blob).where(g.scope_id == self.scope_of(conn, scope))
            return frozenset(found).difference(conn.scalars(used)) if found else frozenset()

    def leave_blobs(self, scope: str, names: Collection[str]) -> None:
        """Leave bytes over that nothing points at, to be cleaned. What is being taken in meanwhile, which may be about to point at them, is refused and read
        again: of the scope, or of all where one archive serves them."""
        if not names:
            return
        with self.writing("leave over archived bytes") as conn:
            scope_id = self.locked_scope(conn, scope)
            add_new(conn, t.leftovers, [{"scope_id": scope_id, "what": BLOB, "name": name} for name in sorted(names)])
            anew = update(t.scopes).values(forget_epoch=t.scopes.c.forget_epoch + 1)
            conn.execute(anew if self.on_sqlite else anew.where(t.scopes.c.id == scope_id))

    def cleaned(self, scope: str, what: str, *names: str) -> None:
        """Say that leftovers of a scope are gone; what another scope has to clean stays."""
        o = t.leftovers.c
        with self.writing("take leftovers off") as conn:
            scope_id = self.scope_of(conn, scope)
            for part in chunks(names):
                conn.execute(delete(t.leftovers).where(o.scope_id == scope_id, o.what == what, o.name.in_(part)))

    def reclaim(self) -> None:
        """Write the store's file anew without its free pages, and fold the write-ahead log into it. SQLite only; on a server VACUUM FULL does it.

        Raises StoreUnavailable while another process reads or writes.
        """
        if not self.on_sqlite:
            return
        with translated("make the store's file small", self.engines.where), self.engines.write.connect() as conn:
            raw = conn.connection.driver_connection
            assert raw is not None
            try:
                for statement in (f"PRAGMA busy_timeout={BUSY_MS}", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    raw.execute(statement).fetchall()
            except sqlite3.Error as error:  # past SQLAlchemy, which begins a transaction before each statement
                raise DBAPIError.instance("VACUUM", None, error, sqlite3.Error) from error
            finally:
                raw.execute(f"PRAGMA busy_timeout={LOOK_MS}")

    def _write_receipt(self, conn: Connection, scope_id: int, uid: str, choice: Choice, counts: Mapping[str, int], hand: str, how: str = "") -> None:
        told = (choice.subject, *sorted(choice.sessions | choice.notes | choice.online), choice.before.isoformat() if choice.before else "")
        row = {"uid": uid, "selector": self.mac("selector", how or choice.how, *told), "how": how or choice.how, "counts": dump(dict(counts)), "hand": hand}
        conn.execute(insert(t.forgets), {"scope_id": scope_id, **row, "recorded_at": self.now()})
        conn.execute(update(t.scopes).where(t.scopes.c.id == scope_id).values(forget_epoch=t.scopes.c.forget_epoch + 1))
        conn.execute(update(t.store).values(oldest_code=FIRST_CODE))
        add_new(conn, t.leftovers, [{"scope_id": scope_id, "what": what, "name": ""} for what in (SPACE, WIKI)])
        self.add_audit(conn, scope_id, how or "forget", hand, uid, key=uid)
        self.next_revision(conn, scope_id, cause=how or "forget", hand=hand)


def _delete(conn: Connection, table: Table, ids: Iterable[int]) -> int:
    """Delete rows by id, the newest first: what replaces goes before what it replaces. Returns how many there were."""
    return sum(conn.execute(delete(table).where(table.c.id.in_(part))).rowcount for part in chunks(sorted(ids, reverse=True)))


def _ids(conn: Connection, table: Table, column: Any, values: Iterable[Any], scope_id: int) -> set[int]:
    """Ids of the rows of a scope with one of these values."""
    return {x for part in chunks(sorted(set(values))) for x in conn.scalars(select(table.c.id).where(table.c.scope_id == scope_id, column.in_(part)))}


# --- what keeps it from coming back -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stones:
    """Lays tombstones under one forget."""

    core: Forgotten
    conn: Connection
    scope_id: int
    forget: str

    def lay(self, choice: Choice, reach: Reach) -> None:
        """For whole sessions, turns, lines of note files, the sources they came from, and a phrase."""
        whole = choice.sessions if not choice.everything else set(reach.sessions.values())
        self.add(SESSION, ((uid,) for uid in whole))
        self.add(TURN, ((uid,) for uid in reach.uids))
        self.add(ONLINE, ((uid,) for uid in reach.online))
        s = t.sources.c
        ids = sorted({source for source, _ in reach.sources})
        names = [x for part in chunks(ids) for x in self.conn.scalars(select(s.identity).where(s.id.in_(part)))]
        self.add(SOURCE, ((name,) for name in names))
        if choice.phrase:
            self.add(TEXT, (choice.phrase,), words=len(choice.phrase))

    def add(self, kind: str, of: Iterable[tuple[str, ...]], *, words: int = 0) -> None:
        """Tombstones of a kind."""
        same = {"scope_id": self.scope_id, "forget": self.forget, "kind": kind, "words": words}
        add_new(self.conn, t.tombstones, [{**same, "mac": mac} for mac in sorted({tomb(self.core, kind, *parts) for parts in of})])


# --- dreams ------------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Dreams:
    """What is in flight ends, what is planned is void, and what ended dreams kept is cleaned (systems holes 22, 69)."""

    core: Forgotten
    conn: Connection
    scope_id: int
    scope: str

    def take_over(self, reach: Reach, uid: str, counts: Counter[str]) -> Dream:
        """End every dream that read or planned something, and begin the one that believes what is left."""
        d = t.dreams.c
        over = list(self.conn.scalars(select(d.id).where(d.scope_id == self.scope_id, d.state.in_(("running", "waiting", "planned", "held")))))
        for dream in over:
            self._end(dream)
        counts["dreams"] = len(over)
        _clean(self.conn, t.dreams, self.scope_id, ("params", "summary"), reach.names)
        _clean(self.conn, t.jobs, self.scope_id, ("payload", "result", "error"), reach.names)
        at = self.core.now()
        row = {"scope_id": self.scope_id, "uid": digest(self.scope, uid)[:12], "state": "running", "cause": "forget", "params": "{}", "holder": "", "input_rev": 0,
               "code": "", "started_at": at, "requested_at": at, "phase": "resolve",
               "dirty_upto": self.conn.scalar(select(func.max(t.dirty_claims.c.id)).where(t.dirty_claims.c.scope_id == self.scope_id)) or 0}  # fmt: skip
        self.conn.execute(insert(t.dreams), row)
        return life.dream_of(self.scope, self.conn.execute(select(t.dreams).where(d.scope_id == self.scope_id, d.uid == row["uid"])).one())

    def _end(self, dream: int) -> None:
        """Cancel a dream with its jobs and all it staged; the next one does not begin before this is over."""
        j, s = t.jobs.c, t.stages.c
        ended = {"state": "canceled", "code": FORGOTTEN, "summary": None, "ended_at": self.core.now()}
        self.conn.execute(update(t.dreams).where(t.dreams.c.id == dream).values(**ended))
        self.conn.execute(update(t.stages).where(s.dream_id == dream, s.state == "open").values(open=0, state="closed"))
        self.conn.execute(update(t.jobs).where(j.dream_id == dream, j.state.in_(life.NOT_ENDED)).values(state="canceled"))
        life.drop_staged(self.conn, dream)


def _clean(conn: Connection, table: Table, scope_id: int, names: tuple[str, ...], traces: Traces, within: frozenset[str] = frozenset()) -> None:
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


# --- what is shown -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shown:
    """Pages, what they are made from, and who was told of them."""

    core: Forgotten
    conn: Connection
    scope_id: int
    uid: str
    reach: Reach
    counts: Counter[str]

    def delete(self) -> dict[str, str]:
        """Drop all that was rendered, and every version of the pages that told of it; returns the reports of days without the lines that did."""
        for table in (
            t.renders,
            t.shown_items,
            t.shown_rests,
            t.shown_pages,
            t.shown_links,
            t.shown_sessions,
            t.shown_infos,
            t.kin_marks,
            t.kin_links,
            t.kin_runs,
        ):
            self.conn.execute(delete(table).where(table.c.scope_id == self.scope_id))
        p, v, r, a, d = t.pages.c, t.page_versions.c, t.redirects.c, t.placements.c, t.deliveries.c
        traces = self._traces()
        told = {x.page_id for x in carrying(self.conn, self.scope_id, t.page_versions, traces)}
        told |= set(self.conn.scalars(select(v.page_id).where(v.scope_id == self.scope_id, v.slug.in_(STANDING_PAGES))))
        told |= {x.id for x in carrying(self.conn, self.scope_id, t.pages, traces)} | {
            x.page_id for x in carrying(self.conn, self.scope_id, t.redirects, traces)
        }
        rows = [
            x for part in chunks(sorted(told)) for x in self.conn.execute(select(v.id, v.page_id, v.seq, v.slug, v.body, v.digest).where(v.page_id.in_(part)))
        ]
        _Stones(self.core, self.conn, self.scope_id, self.uid).add(PAGE, ((x.digest,) for x in rows))
        heads = {x.page_id: x for x in sorted(rows, key=lambda x: x.seq)}
        reports = {x.slug: traces.lines_without(x.body) for x in heads.values() if x.slug.startswith(REPORTS)}
        self.conn.execute(delete(t.redirects).where(r.scope_id == self.scope_id, r.page_id.in_(sorted(told))))
        self.counts["page_versions"] = _delete(self.conn, t.page_versions, [x.id for x in rows])
        self.counts["pages"] = _delete(self.conn, t.pages, told)
        shown = [uid[:12] for uid in (*self.reach.notes.values(), *self.reach.online)]
        self.conn.execute(
            delete(t.placements).where(
                a.scope_id == self.scope_id, a.page_uid.is_not(None), a.page_uid.not_in(select(p.uid).where(p.scope_id == self.scope_id))
            )
        )
        _delete(self.conn, t.placements, _ids(self.conn, t.placements, a.note_uid, [*shown, *self.reach.notes.values(), *self.reach.online], self.scope_id))
        deliveries = self.conn.execute(select(d.id, d.session, d.versions).where(d.scope_id == self.scope_id)).all()
        notes, gone = set(self.reach.notes.values()), set(self.reach.sessions.values())
        self.counts["deliveries"] = _delete(self.conn, t.deliveries, [x.id for x in deliveries if x.session in gone or any(n in x.versions for n in notes)])
        return reports

    def _traces(self) -> Traces:
        words = self.reach.words
        return Traces(
            phrases=words.phrases,
            tokens=words.tokens,
            ids=self.reach.ids | {uid[:ID_MIN] for uid in self.reach.ids} | {uid[:12] for uid in (*self.reach.notes.values(), *self.reach.online)},
        )


# --- what is believed ----------------------------------------------------------------------------------------------------------------------


def _delete_believed(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """All versions of the notes, why they changed, and the analyzer's word on lines that rest on what goes."""
    v, h, d, f = t.note_versions.c, t.heads.c, t.decisions.c, t.findings.c
    ids = sorted(reach.notes)
    for part in chunks(ids):
        conn.execute(delete(t.heads).where(h.note_id.in_(part)))
    counts["note_versions"] = _delete(conn, t.note_versions, [x for part in chunks(ids) for x in conn.scalars(select(v.id).where(v.note_id.in_(part)))])
    _delete(conn, t.notes, ids)
    uids, claims = {*reach.notes.values(), *reach.online}, set(reach.claims.values())
    told = conn.execute(select(d.id, d.note_uid, d.refs).where(d.scope_id == scope_id)).all()
    gone = claims | reach.uids | uids
    counts["decisions"] = _delete(conn, t.decisions, [x.id for x in told if x.note_uid in uids or not gone.isdisjoint(cast(list[str], load(x.refs)))])
    about = {
        *reach.online,
        *(
            x.note_uid
            for x in conn.execute(select(f.note_uid, f.body).where(f.scope_id == scope_id))
            if any(u in x.body for u in reach.uids | set(reach.notes.values()))
        ),
    }
    about |= {x.note_uid for x in carrying(conn, scope_id, t.findings, reach.words)}
    counts["findings"] = _delete(conn, t.findings, _ids(conn, t.findings, f.note_uid, about, scope_id))


def _delete_people(core: Forgotten, conn: Connection, scope_id: int, uid: str, reach: Reach, counts: Counter[str], *, own: bool = True) -> None:
    """People's own words that carry it: lines on pages are cut out, reasons of decisions emptied, messages nobody could act on deleted."""
    o = t.online_notes.c
    counts["own_lines"] = _cut_own_words(core, conn, scope_id, uid, reach) if own else 0
    r = t.rulings
    for row in list(carrying(conn, scope_id, r, reach.names)):
        conn.execute(delete(r).where(r.c.id == row.id))
        kept = {c.name: getattr(row, c.name) for c in r.columns if c.name not in {"id", "body"}}
        conn.execute(insert(r), {**kept, "body": None})
        counts["reasons"] += 1
    _delete(conn, r, _ids(conn, r, r.c.target, reach.sessions.values(), scope_id))
    counts["online_notes"] = _delete(conn, t.online_notes, _ids(conn, t.online_notes, o.uid, reach.online, scope_id))
    counts["letters"] = _delete(conn, t.letters, [x.id for x in carrying(conn, None, t.letters, reach.names)])
    _delete(conn, t.leases, [x.id for x in carrying(conn, None, t.leases, reach.names)])


def _cut_own_words(core: Forgotten, conn: Connection, scope_id: int, uid: str, reach: Reach) -> int:
    """Take the lines that carry it out of what people wrote on pages; a page's whole history there begins anew. Returns how many lines."""
    w = t.own_words
    carried = [x for x in carrying(conn, scope_id, w, reach.names)]
    if not carried:
        return 0
    cut = 0
    stones = _Stones(core, conn, scope_id, uid)
    for page in sorted({x.page for x in carried}):
        rows = conn.execute(select(w).where(w.c.scope_id == scope_id, w.c.page == page).order_by(w.c.id)).all()
        over = {x.replaces for x in rows}
        stands = [x for x in rows if x.id not in over and x.body]
        stones.add(OWN, ((x.digest,) for x in rows if reach.names.within(x.body)))
        _delete(conn, w, [x.id for x in rows])
        for row in stands:
            body = reach.names.lines_without(row.body)
            cut += len(row.body.splitlines()) - len(body.splitlines())
            if body.strip() and not reach.names.within(page):
                kept = {c.name: getattr(row, c.name) for c in w.columns if c.name not in {"id", "replaces", "body", "digest"}}
                conn.execute(insert(w), {**kept, "body": body, "digest": digest(body.encode("utf-8", "surrogateescape")), "replaces": None})
    return cut


# --- what was read -----------------------------------------------------------------------------------------------------------------------


def _delete_read(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """Claims with all that points at them, and readings of sessions that are gone. Questions of the others are asked anew by their next reading, and what
    they said beside words that go is read again."""
    rc, b, q, r, s = t.read_claims.c, t.claim_blocks.c, t.quotes.c, t.relations.c, t.session_reads.c
    reads = _ids(conn, t.session_reads, s.session_id, reach.sessions, scope_id)
    held = _ids(conn, t.read_claims, rc.claim_id, reach.claims, scope_id) | _ids(conn, t.read_claims, rc.read_id, reads, scope_id)
    _delete(conn, t.claim_blocks, _ids(conn, t.claim_blocks, b.read_claim_id, held, scope_id))
    _delete(conn, t.read_claims, held)
    _delete(conn, t.session_reads, reads)
    _delete(conn, t.quotes, _ids(conn, t.quotes, q.claim_id, reach.claims, scope_id))
    uids = list(reach.claims.values())
    counts["relations"] = _delete(conn, t.relations, _ids(conn, t.relations, r.low, uids, scope_id) | _ids(conn, t.relations, r.high, uids, scope_id))
    _delete(conn, t.dirty_claims, _ids(conn, t.dirty_claims, t.dirty_claims.c.claim_uid, uids, scope_id))
    _delete(conn, t.claims, reach.claims)
    lost = _ids(conn, t.sessions, t.sessions.c.uid, reach.again, scope_id)
    for part in chunks(sorted(_ids(conn, t.session_reads, s.session_id, lost, scope_id))):
        conn.execute(update(t.session_reads).where(s.id.in_(part)).values(digest=""))
    asked = _ids(conn, t.session_reads, s.session_id, reach.touched, scope_id) | {x.id for x in carrying(conn, scope_id, t.session_reads, reach.words)}
    for part in chunks(sorted(asked)):
        conn.execute(update(t.session_reads).where(s.id.in_(part)).values(questions="[]"))


def _delete_money(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """Recorded answers whose requests held it; what calls in flight bring is not kept (systems holes 67, 71). What was paid stays in the books."""
    a, c = t.answers.c, t.calls.c
    rows = conn.execute(select(a.id, a.inputs).where(a.scope_id == scope_id)).all()
    uids = reach.uids
    gone = {x.id for x in rows if not uids.isdisjoint(cast(list[str], load(x.inputs)))} | {x.id for x in carrying(conn, scope_id, t.answers, reach.words)}
    counts["answers"] = _delete(conn, t.answers, gone)
    open_calls = update(t.calls).where(c.scope_id == scope_id, c.state.in_(("sent", "presumed")))
    counts["calls"] = conn.execute(open_calls.values(why=FORGOTTEN, inputs=None)).rowcount
    _clean(conn, t.calls, scope_id, ("name",), reach.names)


def _delete_turns(conn: Connection, scope_id: int, reach: Reach) -> None:
    """Turns with their places, and sessions of which nothing is left; the digests of the others are counted anew, so that they are read again."""
    o, g, s = t.occurrences.c, t.turn_order.c, t.sessions.c
    _delete(conn, t.occurrences, _ids(conn, t.occurrences, o.turn_id, reach.turns, scope_id))
    _delete(conn, t.turn_order, _ids(conn, t.turn_order, g.turn_uid, reach.uids, scope_id))
    _delete(conn, t.turns, reach.turns)
    gone = sorted(reach.sessions)
    for table in (t.session_infos, t.session_heads, t.turn_order, t.retained):
        for part in chunks(gone):
            conn.execute(delete(table).where(table.c.session_id.in_(part)))
    for part in chunks(gone):
        conn.execute(delete(t.sessions).where(s.id.in_(part)))
    for session in sorted(reach.touched - reach.sessions.keys()):
        _count_again(conn, scope_id, session)


def _count_again(conn: Connection, scope_id: int, session: int) -> None:
    """The digest of what a session still holds: every row of every uid that stands in it, as intake counts them."""
    o, c, h = t.occurrences.c, t.turns.c, t.session_heads.c
    uids = set(conn.scalars(select(c.uid).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(o.session_id == session)))
    rows = [r for part in chunks(sorted(uids)) for r in conn.execute(select(c.digest, c.event_at).where(c.scope_id == scope_id, c.uid.in_(part)))]
    total = f"{sum(int(r.digest, 16) for r in rows) % SET:040x}"
    started = min((r.event_at for r in rows if r.event_at is not None), default=None)
    conn.execute(update(t.session_heads).where(h.session_id == session).values(digest=total, turns=len(uids), started_at=started))
    keep_speakers(conn, session)


def _clean_rest(conn: Connection, scope_id: int, reach: Reach, counts: Counter[str]) -> None:
    """What is remembered of sources, sessions and schedules, without what carries it; files whose names do are looked at anew."""
    plain = Traces(phrases=reach.words.phrases, tokens=reach.words.tokens)
    _drop_carried(conn, scope_id, plain)
    _clean(conn, t.session_infos, scope_id, ("info",), plain, frozenset({"title", "extra"}))
    _clean(conn, t.session_infos, scope_id, ("info",), reach.names)
    _clean(conn, t.schedules, scope_id, ("params",), reach.names)
    paths = Traces(phrases=reach.names.phrases, tokens=reach.names.tokens)
    counts["files"] = _delete(conn, t.files, [x.id for x in carrying(conn, scope_id, t.files, paths)])
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


# --- archived bytes ------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bytes:
    """The archive of the sources it reaches: what turns that stay do not stand in is overwritten by blanks of the same length (systems hole 78)."""

    conn: Connection
    scope_id: int
    archive: Archive
    fill: bool

    def clean(self, reach: Reach, counts: Counter[str]) -> None:
        """Point the segments at filled blobs, or drop them where nothing stays; the old blobs become leftovers."""
        g, b = t.segments.c, t.bad_spans.c
        for source in sorted(reach.sources):
            kept = surviving(self.conn, source, reach.turns)
            rows = self.conn.execute(select(t.segments).where(g.source_id == source[0], g.generation == source[1]).order_by(g.offset)).all()
            counts["segments"] += len(rows)
            self.conn.execute(delete(t.bad_spans).where(b.source_id == source[0], b.generation == source[1]))
            for row in rows if self.fill else ():
                fill(self.conn, self.scope_id, self.archive, row, kept)
