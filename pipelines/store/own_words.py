"""What a person wrote on pages below our line, and all that a wiki folder is to show: read as one state, wherever the folder lies."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection, and_, func, insert, select

from pipelines.errors import Conflict
from pipelines.model import digest
from pipelines.store import tables as t
from pipelines.store.core import Core, chunks
from pipelines.store.tombstones import tombstones_of
from pipelines.store.types import storable

_ESCAPED = "\x02"  # begins a text that is no UTF-8 or holds NUL: it comes back as it went in


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPage:
    """A person's words on one page: the sections that stand there, in order, and the digest of every section that ever did."""

    sections: tuple[str, ...]
    known: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHead:
    """A live page as a folder is compared with it: where it stands, its title, its digest; `version` is what its text is asked for by."""

    slug: str
    title: str
    digest: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """Everything a wiki folder of the scope shows: live pages, paths that lead on to one (path → its head), own words by path.

    `revision` is the newest one a page was committed at; it only grows.
    """

    revision: int
    pages: tuple[ShownHead, ...]
    moved: Mapping[str, ShownHead]
    own: Mapping[str, OwnPage]


class OwnWords(Core):
    """Sections of own words are replaced, never changed: what a person once wrote stays in the store. They are known by `model.digest` of their bytes."""

    def own_words(self, scope: str) -> Mapping[str, OwnPage]:
        """Own words by page path. What is written in two folders stands in the order of their markers, then of the words: not of arrival."""
        with self.reading("read a person's words on pages") as conn:
            return self._own(conn, self.scope_of(conn, scope))

    def take_own_words(self, scope: str, wiki: str, page: str, *, added: Sequence[str], removed: Collection[str]) -> bool:
        """A person changed their words on a page in the folder of this wiki: sections that are new, digests of those that are gone. False: known already."""
        with self.writing(f"keep a person's words on {page}") as conn:
            scope_id = self.locked_scope(conn, scope)
            if forgotten := tombstones_of(self, conn, scope_id):  # a folder that still shows them does not bring them back
                added = [section for section in added if not forgotten.own(_digest(section))]
            stands = [r for r in self._own_rows(conn, scope_id, page) if r.body]
            gone = sorted((r for r in stands if r.digest in set(removed)), key=lambda r: (r.wiki, r.digest))
            stays = {r.digest for r in stands if r.wiki == wiki} - set(removed)
            new = [(section, key) for section in added if (key := _digest(section)) not in stays]
            ends = [("", digest(b""))] * max(0, len(gone) - len(new))  # a section replaced by nothing is over
            for n, (section, key) in enumerate([*new, *ends]):
                row = {"wiki": wiki, "page": page, "body": _kept(section), "digest": key, "replaces": gone[n].id if n < len(gone) else None}
                conn.execute(insert(t.own_words), {"scope_id": scope_id, **row, "recorded_at": self.now()})
        return bool(new or gone)

    def showing(self, scope: str) -> Showing:
        """What every folder of the scope is to show now, as one state. A revision is committed whole, so none is ever seen in part."""
        p, v, r = t.pages.c, t.page_versions.c, t.redirects.c
        heads = select(p.id, v.slug, v.title, v.digest, v.id.label("version"))
        heads = heads.join_from(t.pages, t.page_versions, and_(v.page_id == p.id, v.seq == p.head_seq))
        with self.reading("read what a wiki shows") as conn:
            at = self.scope_of(conn, scope)
            revision = conn.scalar(select(func.max(p.head_rev)).where(p.scope_id == at)) or 0
            rows = conn.execute(heads.where(p.scope_id == at, p.retired.is_(False))).all()
            leads = conn.execute(select(r.slug, r.page_id).where(r.scope_id == at)).all()
            own = self._own(conn, at)
        pages = {x.id: ShownHead(slug=x.slug, title=x.title, digest=x.digest, version=x.version) for x in rows}
        moved = {x.slug: pages[x.page_id] for x in sorted(leads, key=lambda x: x.slug) if x.page_id in pages}
        return Showing(revision=revision, pages=tuple(sorted(pages.values(), key=lambda page: page.slug)), moved=moved, own=own)

    def page_texts(self, scope: str, versions: Iterable[int]) -> Mapping[int, str]:
        """Texts of versions of pages, as `showing` names them; they never change."""
        v = t.page_versions.c
        with self.reading("read pages") as conn:
            at = self.scope_of(conn, scope)  # compared here: named in the query, SQLite reads all versions of the scope
            query = select(v.id, v.scope_id, v.body)
            rows = (r for part in chunks(sorted(set(versions))) for r in conn.execute(query.where(v.id.in_(part))))
            return {r.id: r.body for r in rows if r.scope_id == at}

    def shown_revision(self, scope: str) -> int:
        """The newest revision a page of the scope was committed at; 0 before the first."""
        p = t.pages.c
        with self.reading("read the revision of the pages") as conn:
            return conn.scalar(select(func.max(p.head_rev)).where(p.scope_id == self.scope_of(conn, scope))) or 0

    def showing_mark(self, scope: str) -> str:
        """A word for what `showing` gives, without reading it: another word when it has changed."""
        p, v, w = t.pages.c, t.page_versions.c, t.own_words.c
        with self.reading("look whether a wiki has changed") as conn:
            at = self.scope_of(conn, scope)
            versions = conn.execute(select(func.count(), func.max(v.id)).where(v.scope_id == at)).one()
            retired = conn.scalar(select(func.count()).where(p.scope_id == at, p.retired.is_(True)))
            words = conn.execute(select(func.count(), func.max(w.id)).where(w.scope_id == at)).one()
        return f"{tuple(versions)} {retired} {tuple(words)}"

    def require_revision(self, scope: str, rev: int) -> None:
        """Lock the scope until the transaction around this ends. Raises Conflict when it stands at another revision than `rev`."""
        with self.writing("look at the revision") as conn:
            scope_id = self.locked_scope(conn, scope)
            stands = conn.scalar(select(t.scopes.c.revision).where(t.scopes.c.id == scope_id))
            if stands != rev:
                raise Conflict(f"{scope} stands at revision {stands}, and no longer at {rev}")

    def _own(self, conn: Connection, scope_id: int | None) -> dict[str, OwnPage]:
        w = t.own_words.c
        rows = conn.execute(select(w.id, w.wiki, w.page, w.body, w.digest, w.replaces).where(w.scope_id == scope_id)).all()
        over = {r.replaces for r in rows}
        known: defaultdict[str, set[str]] = defaultdict(set)
        stands: defaultdict[str, dict[str, str]] = defaultdict(dict)  # the same words in two folders are one section, in the place of the first
        for r in sorted(rows, key=lambda r: (r.wiki, r.id), reverse=True):
            known[r.page].add(r.digest)
            if r.id not in over and r.body:
                stands[r.page][_given(r.body)] = r.wiki
        in_order = {page: tuple(section for _, section in sorted((wiki, section) for section, wiki in stands[page].items())) for page in known}
        return {page: OwnPage(sections=in_order[page], known=frozenset(known[page])) for page in sorted(known)}

    def _own_rows(self, conn: Connection, scope_id: int, page: str) -> list[Any]:
        """Rows of a page that nothing replaces."""
        w = t.own_words.c
        rows = conn.execute(select(w.id, w.wiki, w.body, w.digest, w.replaces).where(w.scope_id == scope_id, w.page == page)).all()
        over = {r.replaces for r in rows}
        return [r for r in rows if r.id not in over]


def _digest(section: str) -> str:
    return digest(section.encode("utf-8", "surrogateescape"))


def _kept(section: str) -> str:
    plain = storable(section) == section and not section.startswith(_ESCAPED)
    return section if plain else _ESCAPED + json.dumps(section)


def _given(body: str) -> str:
    return cast(str, json.loads(body[1:])) if body.startswith(_ESCAPED) else body
