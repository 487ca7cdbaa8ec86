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

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from pipelines.model import digest
from pipelines.store import life
from pipelines.store import tables as t
from pipelines.store.calls import FORGOTTEN
from pipelines.store.core import add_new, chunks
from pipelines.store.faults import translated
from pipelines.store.filled import BLOB, Archive, fill
from pipelines.store.forgotten_rows import (
    clean_columns,
    clean_rest,
    count_again,
    delete_believed,
    delete_money,
    delete_people,
    delete_read,
    delete_rows,
    delete_turns,
    ids_of,
)
from pipelines.store.lost import Lost, lost_sessions
from pipelines.store.masked import Masked
from pipelines.store.open import BUSY_MS, LOOK_MS
from pipelines.store.reach import ID_MIN, Choice, Reach, carrying, reach_of, surviving
from pipelines.store.stones import Stones
from pipelines.store.tombstones import FIRST_CODE, PAGE, Forgotten
from pipelines.store.triggers import door
from pipelines.store.types import dump
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
                Stones(self, conn, scope_id, uid).lay(choice, reach)
                dream = _Dreams(self, conn, scope_id, scope).take_over(reach, uid, counts)
                reports = _Shown(self, conn, scope_id, uid, reach, counts).delete()
                delete_believed(conn, scope_id, reach, counts)
                delete_people(self, conn, scope_id, uid, reach, counts)
                delete_money(conn, scope_id, reach, counts)
                delete_read(conn, scope_id, reach, counts)
                _Bytes(conn, scope_id, archive, fill).clean(reach, counts)
                delete_turns(conn, scope_id, reach)
                clean_rest(conn, scope_id, reach, counts)
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
                delete_believed(conn, scope_id, reach, counts)
                delete_people(self, conn, scope_id, uid, reach, counts, own=False)
                delete_money(conn, scope_id, reach, counts)
                delete_read(conn, scope_id, reach, counts)
                masked.replace_turns()
                counts["blobs"] = masked.replace_blobs(archive) if fill else len(masked.blobs)
                for session in sorted(reach.touched):
                    count_again(conn, scope_id, session)
                clean_rest(conn, scope_id, reach, counts)
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
            return delete_rows(conn, t.rulings, set(ids))

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
        clean_columns(self.conn, t.dreams, self.scope_id, ("params", "summary"), reach.names)
        clean_columns(self.conn, t.jobs, self.scope_id, ("payload", "result", "error"), reach.names)
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
        Stones(self.core, self.conn, self.scope_id, self.uid).add(PAGE, ((x.digest,) for x in rows))
        heads = {x.page_id: x for x in sorted(rows, key=lambda x: x.seq)}
        reports = {x.slug: traces.lines_without(x.body) for x in heads.values() if x.slug.startswith(REPORTS)}
        self.conn.execute(delete(t.redirects).where(r.scope_id == self.scope_id, r.page_id.in_(sorted(told))))
        self.counts["page_versions"] = delete_rows(self.conn, t.page_versions, [x.id for x in rows])
        self.counts["pages"] = delete_rows(self.conn, t.pages, told)
        shown = [uid[:12] for uid in (*self.reach.notes.values(), *self.reach.online)]
        self.conn.execute(
            delete(t.placements).where(
                a.scope_id == self.scope_id, a.page_uid.is_not(None), a.page_uid.not_in(select(p.uid).where(p.scope_id == self.scope_id))
            )
        )
        delete_rows(
            self.conn, t.placements, ids_of(self.conn, t.placements, a.note_uid, [*shown, *self.reach.notes.values(), *self.reach.online], self.scope_id)
        )
        deliveries = self.conn.execute(select(d.id, d.session, d.versions).where(d.scope_id == self.scope_id)).all()
        notes, gone = set(self.reach.notes.values()), set(self.reach.sessions.values())
        self.counts["deliveries"] = delete_rows(self.conn, t.deliveries, [x.id for x in deliveries if x.session in gone or any(n in x.versions for n in notes)])
        return reports

    def _traces(self) -> Traces:
        words = self.reach.words
        return Traces(
            phrases=words.phrases,
            tokens=words.tokens,
            ids=self.reach.ids | {uid[:ID_MIN] for uid in self.reach.ids} | {uid[:12] for uid in (*self.reach.notes.values(), *self.reach.online)},
        )


# --- what was read -----------------------------------------------------------------------------------------------------------------------


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
