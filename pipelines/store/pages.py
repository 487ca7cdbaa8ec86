"""Committed pages and everything that tells our own words on disk from a person's: digests of pages, keyed digests of lines, wiki folders, deliveries."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection, Select, and_, delete, insert, select, update

from pipelines.errors import Conflict
from pipelines.model import digest
from pipelines.store import tables as t
from pipelines.store.core import Core, add, add_new, chunks, put
from pipelines.store.tombstones import PAGE, is_tombed
from pipelines.store.types import dump, load, storable
from pipelines.store.values import Delivery, PageHead, Placement, Redirect, WikiState


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMark:
    """Where a page lies, the revision it was committed at, and `model.digest` of its text."""

    slug: str
    rev: int
    digest: str


class Pages(Core):
    """Page heads move only to a higher revision; every version of a page stays."""

    def pages(self, scope: str) -> Mapping[str, PageHead]:
        """Live pages by uid."""
        p = t.pages.c
        with self.reading("read the pages") as conn:
            rows = conn.execute(_page_versions().where(p.scope_id == self.scope_of(conn, scope), p.retired.is_(False), _is_head())).all()
        return {r.uid: _page(r) for r in sorted(rows, key=lambda r: r.uid)}

    def page_marks(self, scope: str, uids: Iterable[str] | None = None) -> Mapping[str, PageMark]:
        """Live pages, or those of them with these uids, without their words."""
        p, v = t.pages.c, t.page_versions.c
        query = select(p.uid, p.slug, p.head_rev, v.digest).join_from(t.pages, t.page_versions, (v.page_id == p.id) & (v.seq == p.head_seq))
        with self.reading("look at pages") as conn:
            query = query.where(p.scope_id == self.scope_of(conn, scope), p.retired.is_(False))
            parts = [None] if uids is None else list(chunks(sorted(set(uids))))
            rows = [r for part in parts for r in conn.execute(query if part is None else query.where(p.uid.in_(part)))]
        return {r.uid: PageMark(slug=r.slug, rev=r.head_rev, digest=r.digest) for r in rows}

    def page_bodies(self, scope: str, uids: Iterable[str]) -> Mapping[str, str]:
        """The texts of these live pages, by uid."""
        p, v = t.pages.c, t.page_versions.c
        query = select(p.uid, v.body).join_from(t.pages, t.page_versions, (v.page_id == p.id) & (v.seq == p.head_seq))
        with self.reading("read pages") as conn:
            query = query.where(p.scope_id == self.scope_of(conn, scope), p.retired.is_(False))
            return {r.uid: r.body for part in chunks(sorted(set(uids))) for r in conn.execute(query.where(p.uid.in_(part)))}

    def commit_page(self, scope: str, page: str, *, slug: str, title: str, body: str, rev: int, renderer: str, line_macs: Iterable[str] = ()) -> PageHead:
        """Make this the page's current version. The same page at the same revision again is no change.

        Raises Conflict when the page stands at a higher revision, at this one with other words, or when another live page has the slug. A page that takes
        another slug leaves a redirect; a slug that was a redirect ends it. `line_macs` are remembered as our own lines.
        """
        with self.writing(f"commit page {slug}") as conn:
            scope_id = self.locked_scope(conn, scope)
            old = conn.execute(_page_versions().where(t.pages.c.scope_id == scope_id, t.pages.c.uid == page, _is_head())).one_or_none()
            what = digest(slug, title, body)
            if old is not None and not old.retired and old.rev == rev and digest(old.slug, old.title, old.body) == what:
                return _page(old)
            if old is not None and old.rev >= rev:
                raise Conflict(f"page {slug} stands at revision {old.rev}; a version of revision {rev} comes too late")
            other = conn.scalar(select(t.pages.c.uid).where(t.pages.c.scope_id == scope_id, t.pages.c.slug_fold == fold(slug), t.pages.c.retired.is_(False)))
            if other not in (None, page):
                raise Conflict(f"page {other} has the name {slug}")
            head = {"slug": slug, "slug_fold": fold(slug), "title": title, "head_seq": (old.seq if old else 0) + 1, "head_rev": rev, "retired": False}
            page_id = _move_head(conn, scope_id, page, old, head)
            version = {"page_id": page_id, "seq": head["head_seq"], "rev": rev, "slug": slug, "title": title, "body": body, "digest": digest(body),
                       "renderer": renderer, "recorded_at": self.now()}  # fmt: skip
            conn.execute(insert(t.page_versions), {"scope_id": scope_id, **version})
            add_new(conn, t.published_lines, [{"scope_id": scope_id, "mac": mac} for mac in sorted(set(line_macs))])
            return PageHead(uid=page, slug=slug, title=title, seq=cast(int, head["head_seq"]), rev=rev, digest=digest(body), body=body)

    def retire_page(self, scope: str, page: str, *, rev: int, into: str | None = None) -> None:
        """Take a page down; its slug is free, and redirects to the page `into` when one is given. Unknown or retired pages are left alone."""
        p = t.pages.c
        with self.writing("retire a page") as conn:
            scope_id = self.locked_scope(conn, scope)
            old = conn.execute(select(t.pages).where(p.scope_id == scope_id, p.uid == page, p.retired.is_(False))).one_or_none()
            if old is None:
                return
            if old.head_rev > rev:
                raise Conflict(f"page {old.slug} stands at revision {old.head_rev} and cannot be retired at {rev}")
            conn.execute(update(t.pages).where(p.id == old.id).values(retired=True))
            target = None if into is None else conn.execute(select(p.id).where(p.scope_id == scope_id, p.uid == into)).scalar_one()
            redirects = and_(t.redirects.c.scope_id == scope_id, t.redirects.c.page_id == old.id)
            if target is None:
                conn.execute(delete(t.redirects).where(redirects))
            else:
                conn.execute(update(t.redirects).where(redirects).values(page_id=target))  # one hop, however often topics are joined
                put(conn, t.redirects, ("scope_id", "slug_fold"), [_redirect(scope_id, old, target, rev)])

    def redirects(self, scope: str) -> Mapping[str, Redirect]:
        """Slugs pages once had, and where they are now."""
        r, p = t.redirects.c, t.pages.c
        query = select(r.slug, r.since_rev, p.uid).join_from(t.redirects, t.pages, p.id == r.page_id).where(p.retired.is_(False))
        with self.reading("read the redirects") as conn:
            rows = conn.execute(query.where(r.scope_id == self.scope_of(conn, scope))).all()
        return {x.slug: Redirect(slug=x.slug, page=x.uid, since_rev=x.since_rev) for x in sorted(rows, key=lambda x: x.slug)}

    def page_history(self, scope: str, slug: str, *, newest: int | None = None) -> tuple[PageHead, ...]:
        """Every version that was published under a slug, and all others of those pages, oldest first; or the `newest` so many of each page."""
        p, v = t.pages.c, t.page_versions.c
        with self.reading("read the history of a page") as conn:
            scope_id = self.scope_of(conn, scope)
            ids = set(conn.scalars(select(v.page_id).where(v.scope_id == scope_id, v.slug == storable(slug))))
            ids.update(conn.scalars(select(p.id).where(p.scope_id == scope_id, p.slug_fold == fold(slug))))
            of = (_page_versions().where(p.id == page).order_by(v.seq.desc()).limit(newest) for page in sorted(ids))
            rows = [r for query in of for r in conn.execute(query)]
        return tuple(_page(r) for r in sorted(rows, key=lambda r: (r.rev, r.uid, r.seq)))

    # --- ours or theirs ---

    def is_ours(self, scope: str, body_digest: str) -> bool:
        """Whether a file with this digest (`model.digest` of its text) is a page version we once wrote."""
        v = t.page_versions.c
        with self.reading("look for a page") as conn:
            scope_id = self.scope_of(conn, scope)
            stands = conn.scalar(select(v.id).where(v.scope_id == scope_id, v.digest == body_digest).limit(1)) is not None
            return stands or is_tombed(self, conn, scope_id, PAGE, body_digest)

    def are_our_lines(self, scope: str, macs: Iterable[str]) -> frozenset[str]:
        """Those of the keyed line digests (`Store.mac`) that we once published."""
        m = t.published_lines.c
        with self.reading("look for lines") as conn:
            scope_id = self.scope_of(conn, scope)
            return frozenset(x for part in chunks(sorted(set(macs))) for x in conn.scalars(select(m.mac).where(m.scope_id == scope_id, m.mac.in_(part))))

    # --- where items stand ---

    def save_placements(self, scope: str, rev: int, placements: Iterable[Placement]) -> int:
        """Record where items stand from revision `rev` on; what stands there already makes no row. Returns the rows made."""
        placements = tuple(placements)
        current = self.placements(scope, notes=[p.note for p in placements])
        rows = []
        for p in placements:
            old = current.get(p.note)
            if (p.page, p.section) != ((old.page, old.section) if old else (None, "")):
                rows.append({"note_uid": p.note, "rev": rev, "page_uid": p.page, "section": p.section})
        with self.writing("place notes") as conn:
            scope_id = self.locked_scope(conn, scope)
            add(conn, t.placements, [{"scope_id": scope_id, **row} for row in rows])
        return len(rows)

    def placements(self, scope: str, *, notes: Iterable[str] | None = None) -> Mapping[str, Placement]:
        """Where each item, or each of these, stands now; items on no page are left out."""
        p = t.placements.c
        with self.reading("read the placements") as conn:
            query = select(t.placements).where(p.scope_id == self.scope_of(conn, scope)).order_by(p.rev)
            if notes is None:
                rows = list(conn.execute(query))
            else:
                rows = [r for part in chunks(sorted(set(notes))) for r in conn.execute(query.where(p.note_uid.in_(part)))]
        last = {r.note_uid: Placement(note=r.note_uid, page=r.page_uid, section=r.section, rev=r.rev) for r in rows}
        return {note: placed for note, placed in sorted(last.items()) if placed.page is not None}

    # --- who was told, and where it is shown ---

    def record_delivery(self, scope: str, delivery: Delivery) -> None:
        """A session was told something."""
        row = {"session": delivery.session, "door": delivery.door, "target": delivery.target, "rev": delivery.rev, "versions": dump(list(delivery.versions)),
               "agent": delivery.agent, "audience": delivery.audience, "delivered_at": delivery.at}  # fmt: skip
        with self.writing("record a delivery") as conn:
            conn.execute(insert(t.deliveries), {"scope_id": self.locked_scope(conn, scope), **row})

    def deliveries(self, scope: str, *, session: str | None = None) -> tuple[Delivery, ...]:
        """What sessions were told, oldest first."""
        d = t.deliveries.c
        with self.reading("read the deliveries") as conn:
            query = select(t.deliveries).where(d.scope_id == self.scope_of(conn, scope)).order_by(d.delivered_at, d.id)
            rows = conn.execute(query if session is None else query.where(d.session == session)).all()
        return tuple(
            Delivery(session=r.session, door=r.door, target=r.target, rev=r.rev, versions=tuple(cast(list[str], load(r.versions))), at=r.delivered_at,
                     agent=r.agent, audience=r.audience)
            for r in rows
        )  # fmt: skip

    def save_wiki(self, scope: str, *, marker: str, host: str, shown_rev: int) -> WikiState:
        """Remember what a wiki folder shows; written with this store's epoch and the present time."""
        state = WikiState(marker=marker, scope=scope, host=host, epoch=self.epoch, shown_rev=shown_rev, seen_at=self.now())
        row = {"marker": marker, "host": host, "epoch": state.epoch, "shown_rev": shown_rev, "seen_at": state.seen_at}
        with self.writing("remember a wiki") as conn:
            put(conn, t.wikis, ("marker",), [{"scope_id": self.locked_scope(conn, scope), **row}])
        return state

    def wiki(self, marker: str) -> WikiState | None:
        """The wiki folder with this marker."""
        w = t.wikis.c
        query = select(t.wikis, t.scopes.c.path).join_from(t.wikis, t.scopes, t.scopes.c.id == w.scope_id).where(w.marker == marker)
        with self.reading("read a wiki") as conn:
            r = conn.execute(query).one_or_none()
        if r is None:
            return None
        return WikiState(marker=r.marker, scope=r.path, host=r.host, epoch=r.epoch, shown_rev=r.shown_rev, seen_at=r.seen_at)


def fold(slug: str) -> str:
    """What two slugs share when some file system takes them for one name (systems R12)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", storable(slug)).casefold())


def _move_head(conn: Connection, scope_id: int, page: str, old: Any, head: Mapping[str, Any]) -> int:
    """Write the page's row, and the redirects its slug ends or leaves."""
    p, r = t.pages.c, t.redirects.c
    conn.execute(delete(t.redirects).where(r.scope_id == scope_id, r.slug_fold == head["slug_fold"]))
    if old is None:
        conn.execute(insert(t.pages), {"scope_id": scope_id, "uid": page, **head})
        made: int = conn.execute(select(p.id).where(p.scope_id == scope_id, p.uid == page)).scalar_one()
        return made
    conn.execute(update(t.pages).where(p.id == old.page_id).values(**head))
    if fold(old.slug) != head["slug_fold"] and not old.retired:
        put(conn, t.redirects, ("scope_id", "slug_fold"), [_redirect(scope_id, old, old.page_id, head["head_rev"])])
    return int(old.page_id)


def _redirect(scope_id: int, old: Any, page_id: int, rev: int) -> dict[str, Any]:
    return {"scope_id": scope_id, "slug": old.slug, "slug_fold": fold(old.slug), "page_id": page_id, "since_rev": rev}


def _page_versions() -> Select[Any]:
    p, v = t.pages.c, t.page_versions.c
    columns = (p.uid, p.retired, v.page_id, v.slug, v.title, v.seq, v.rev, v.digest, v.body)
    return select(*columns).join_from(t.pages, t.page_versions, v.page_id == p.id)


def _is_head() -> Any:
    return t.page_versions.c.seq == t.pages.c.head_seq


def _page(row: Any) -> PageHead:
    return PageHead(uid=row.uid, slug=row.slug, title=row.title, seq=row.seq, rev=row.rev, digest=row.digest, body=row.body)
