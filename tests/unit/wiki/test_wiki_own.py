"""Sections of a person's own words: read, put back, and what became of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.wiki.edits import own_text
from pipelines.wiki.own import BETWEEN, Base, Changed, changed, digests, halves, joined, sections, with_own
from pipelines.wiki.page import OWN_MARK
from pipelines.wiki.tree import tree
from tests.unit.wiki.samples import CONTENT

FILES = tree(CONTENT).files
PAGES = sorted(FILES.keys() - {"MEMORY.md"})  # the brief has less room beside own words
TEXT = st.text(st.sampled_from("ab \n*[^]:-#>中\udc80"), max_size=30)


@pytest.mark.parametrize("path", PAGES)
def test_own_words_put_into_a_page_give_the_page_that_is_rendered_with_them(path: str) -> None:
    for own in ("", "\nMine.\n", "no line end", "\n- [ ] one\r\n- two\n\n"):
        rendered = tree(replace(CONTENT, own={path: own})).files[path]
        assert with_own(path, FILES[path], own) == rendered
        assert with_own(path, rendered, "") == FILES[path]


@given(TEXT)
def test_what_is_put_below_the_line_is_read_back_and_leaves_our_part_alone(own: str) -> None:
    for path in ("MEMORY.md", "payments-db.md", "inbox.md"):
        made = with_own(path, FILES[path], own)
        found, plain = halves(path, made), halves(path, FILES[path])
        assert own_text(path, made) == own
        assert found is not None
        assert plain is not None
        assert (found.above, found.own) == (plain.above, digests(sections(own)))


@given(st.lists(st.text(st.sampled_from("ab \n-中"), min_size=1).filter(str.strip), max_size=4))
def test_sections_are_read_back_as_they_were_joined(found: list[str]) -> None:
    assert sections(joined(found)) == tuple(found)


def test_a_mark_with_other_line_ends_parts_sections_too() -> None:
    assert sections(f"one\r\n{BETWEEN}\r\ntwo\n") == ("one", "two\n")
    assert sections(" \n\n") == ()


def test_a_file_that_is_only_half_there_has_no_halves() -> None:
    page = FILES["payments-db.md"].decode()
    assert halves("payments-db.md", page[: page.index(OWN_MARK)].encode()) is None
    assert halves("payments-db.md", b"") is None
    assert halves("payments-db.md", page.replace(OWN_MARK, f"{OWN_MARK}\n<<<<<<< HEAD").encode()) is None


def base(*own: str) -> Base:
    return Base(above=frozenset({"ours"}), own=digests(own))


def became(found: tuple[str, ...], of: Base | None, *, current: tuple[str, ...], over: tuple[str, ...] = ()) -> Changed:
    return changed(found, base=of, known=digests((*current, *over)), current=digests(current))


def test_what_a_person_writes_changes_and_deletes_is_told_from_what_others_did() -> None:
    assert became(("mine",), base(), current=()) == Changed(added=("mine",))
    assert became(("new",), base("old"), current=("old",)) == Changed(added=("new",), removed=digests(["old"]))
    assert became((), base("old"), current=("old",)) == Changed(removed=digests(["old"]))
    assert not became(("old",), base("old"), current=("newer elsewhere",), over=("old",)), "not theirs: another folder is ahead"
    assert not became(("old",), base("old"), current=("old", "of another folder")), "what never stood here is not deleted"


def test_words_that_were_given_up_come_back_when_a_person_writes_them_again_and_not_with_an_older_version() -> None:
    assert became(("old",), base("new"), current=("new",), over=("old",)) == Changed(added=("old",), removed=digests(["new"]))
    assert not became(("old",), None, current=("new",), over=("old",))
    assert became(("old", "never seen"), None, current=("new",), over=("old",)) == Changed(added=("never seen",))


WORDS = st.sampled_from(["a", "b", "c"])


@given(st.frozensets(WORDS), st.frozensets(WORDS), st.frozensets(WORDS))
def test_two_edits_of_one_page_end_in_the_same_words_whichever_is_taken_first(stood: frozenset[str], one: frozenset[str], other: frozenset[str]) -> None:
    mine, theirs = ({f"{who}{word}" if word not in stood else word for word in words} for who, words in (("1", one), ("2", other)))

    def after(*edits: set[str]) -> set[str]:
        current, known = set(stood), set(stood)
        for edit in edits:
            delta = changed(sorted(edit), base=base(*stood), known=digests(known), current=digests(current))
            current = {w for w in current if not digests([w]) & delta.removed} | set(delta.added)
            known |= current
        return current

    assert after(mine, theirs) == after(theirs, mine)
    assert (mine - stood) | (theirs - stood) <= after(mine, theirs), "none is dropped"
