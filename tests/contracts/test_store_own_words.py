"""What every database promises of a person's own words, and of the one state that wiki folders show."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import delete, update
from sqlalchemy.exc import DBAPIError

from pipelines.errors import Conflict
from pipelines.model import digest
from pipelines.store import Store
from pipelines.store import tables as t
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import clock, store

__all__ = ["clock", "store"]  # fixtures of this suite


def take(store: Store, *added: str, removed: tuple[str, ...] = (), wiki: str = "a", page: str = "ports.md") -> bool:
    return store.take_own_words(SCOPE, wiki, page, added=added, removed=[key(words) for words in removed])


def key(words: str) -> str:
    return digest(words.encode("utf-8", "surrogateescape"))


def said(store: Store, page: str = "ports.md") -> tuple[str, ...]:
    return store.own_words(SCOPE)[page].sections


def commit(store: Store, uid: str, slug: str, body: str, rev: int) -> None:
    store.commit_page(SCOPE, uid, slug=slug, title=slug.removesuffix(".md").title(), body=body, rev=rev, renderer="r")


def test_words_are_replaced_and_never_lost(store: Store) -> None:
    assert take(store, "first 一\n")
    assert not take(store, "first 一\n"), "known already"
    assert take(store, "second\n", removed=("first 一\n",))
    assert said(store) == ("second\n",)
    assert take(store, removed=("second\n",))
    assert said(store) == ()
    assert store.own_words(SCOPE)["ports.md"].known >= {key("first 一\n"), key("second\n")}
    assert take(store, "first 一\n"), "written again"
    assert said(store) == ("first 一\n",)
    assert store.own_words("acme/other") == {}


def test_words_of_two_folders_stand_in_an_order_that_is_not_of_arrival(store: Store) -> None:
    edits = [("b", "from b", ()), ("a", "from a", ()), ("b", "of both", ()), ("a", "of both", ()), ("a", "more of a", ())]
    ends = set()
    for n, order in enumerate(itertools.permutations(edits)):
        for wiki, words, removed in order:
            take(store, words, removed=removed, wiki=wiki, page=f"{n}.md")
        ends.add(said(store, f"{n}.md"))
    assert ends == {("from a", "more of a", "of both", "from b")}


def test_two_that_change_the_same_words_at_once_leave_both(store: Store) -> None:
    for n, order in enumerate((("a", "b"), ("b", "a"))):
        page = f"{n}.md"
        take(store, "agreed", page=page)
        for wiki in order:
            take(store, f"as {wiki} sees it", removed=("agreed",), wiki=wiki, page=page)
        assert said(store, page) == ("as a sees it", "as b sees it")


def test_words_that_are_no_text_come_back_as_they_were(store: Store) -> None:
    for words in ("caf\udce9 \0\r\n", '\x02"quoted"', "中" * 50_000):
        take(store, words, page="odd.md")
        assert words in said(store, "odd.md")
        take(store, removed=(words,), page="odd.md")


def test_words_are_append_only(store: Store) -> None:
    take(store, "mine")
    for statement in (update(t.own_words).values(body="yours"), delete(t.own_words)):
        with pytest.raises(DBAPIError, match="append-only"), store.writing("overwrite words") as conn:
            conn.execute(statement)
    assert said(store) == ("mine",)


def test_what_is_shown_is_one_state_with_a_mark_that_tells_it_changed(store: Store) -> None:
    marks = [store.showing_mark(SCOPE)]
    assert (store.showing(SCOPE).revision, store.shown_revision(SCOPE), store.showing(SCOPE).pages) == (0, 0, ())

    def changed() -> bool:
        marks.append(store.showing_mark(SCOPE))
        return len(set(marks)) == len(marks)

    commit(store, "p1", "ports.md", "one 一", 3)
    commit(store, "p2", "doors.md", "two", 3)
    assert changed()
    commit(store, "p1", "harbour.md", "three", 4)
    assert changed()
    take(store, "mine")
    assert changed()
    shown = store.showing(SCOPE)
    assert (shown.revision, [page.slug for page in shown.pages], {old: page.slug for old, page in shown.moved.items()}) == (
        4, ["doors.md", "harbour.md"], {"ports.md": "harbour.md"},
    )  # fmt: skip
    texts = store.page_texts(SCOPE, [page.version for page in shown.pages])
    assert {page.slug: texts[page.version] for page in shown.pages} == {"doors.md": "two", "harbour.md": "three"}
    assert {page.slug: page.digest for page in shown.pages} == {"doors.md": digest("two"), "harbour.md": digest("three")}
    commit(store, "p1", "harbour.md", "four", 5)
    assert store.page_texts(SCOPE, [page.version for page in shown.pages]) == texts, "a state that was read stays readable"
    store.retire_page(SCOPE, "p1", rev=6)
    assert changed()
    assert (store.showing(SCOPE).moved, store.shown_revision(SCOPE)) == ({}, 5), "it never goes back"
    assert store.page_texts("acme/other", [page.version for page in shown.pages]) == {}


def test_a_revision_is_seen_whole_or_not_at_all(store: Store) -> None:
    with store.together("commit a revision"):
        commit(store, "p1", "ports.md", "one", 1)
        assert store.showing(SCOPE).pages == ()
        commit(store, "p2", "doors.md", "two", 1)
    assert len(store.showing(SCOPE).pages) == 2


def test_a_revision_that_has_moved_is_refused(store: Store) -> None:
    rev = store.raise_revision(SCOPE, cause="test", above=store.revision(SCOPE))
    store.require_revision(SCOPE, rev)
    with pytest.raises(Conflict, match=f"stands at revision {rev}"):
        store.require_revision(SCOPE, rev - 1)
