"""The index of all pages: whole while it is short, in parts that stay when it is long."""

from __future__ import annotations

import re
from collections.abc import Mapping

import mdformat
import pytest

from pipelines.wiki.doors import Door, in_page_order
from pipelines.wiki.edits import parts
from pipelines.wiki.index import BYTES_MAX, LINES_MAX, PART_MIN, indexes
from pipelines.wiki.page import OWN_MARK
from pipelines.wiki.slugs import slug
from pipelines.wiki.topics import Sort

MANY = 1000
LINK = re.compile(r"^- \[[^\]]+\]\(([^)]+)\)", re.MULTILINE)


def door(n: int) -> Door:
    path = f"relay-{n:04}.md"
    return Door(
        key=f"2:relay {n:04}", part=1, sort=Sort.SUBJECT, title=f"Relay {n:04}", path=path, hook="", line=f"- [Relay {n:04}]({path}): sleeps at {n} UTC"
    )


def made(*numbers: int, own: Mapping[str, str] | None = None) -> dict[str, str]:
    return indexes(in_page_order(map(door, numbers)), own=own or {})


def test_a_short_index_is_one_file() -> None:
    assert made(1, 2) == {"pages.md": f"# Pages\n\n{door(1).line}\n{door(2).line}\n\n{OWN_MARK}\n"}
    assert made() == {"pages.md": f"# Pages\n\nNo page yet.\n\n{OWN_MARK}\n"}


def test_a_long_index_leads_to_parts_that_list_every_page_once() -> None:
    files = made(*range(MANY))
    top = files.pop("pages.md")
    assert LINK.findall(top) == list(files)
    listed = [path for text in files.values() for path in LINK.findall(text)]
    assert listed == [f"relay-{n:04}.md" for n in range(MANY)]
    assert sum(int(n) for n in re.findall(r"\): (\d+) pages?$", top, re.MULTILINE)) == MANY
    assert all(len(text.encode()) < BYTES_MAX + 500 and text.count("\n") < LINES_MAX + 10 for text in (top, *files.values()))
    assert min(len(LINK.findall(text)) for text in list(files.values())[:-1]) >= PART_MIN
    assert all("See also: [All pages](pages.md).\n" in text for text in files.values())


def test_no_title_gives_the_name_of_a_part() -> None:
    assert all(slug(path.removesuffix(".md")) != path.removesuffix(".md") for path in made(*range(MANY)) if path != "pages.md")


@pytest.mark.parametrize("n", [0, 137, 500, MANY - 1])
def test_a_page_that_comes_changes_only_the_parts_around_it(n: int) -> None:
    with_it, without = made(*range(MANY)), made(*(m for m in range(MANY) if m != n))
    others = {path for path in with_it.keys() | without.keys() if with_it.get(path) != without.get(path)} - {"pages.md"}
    assert 1 <= len(others) <= 6
    assert len(with_it) > 20


def test_lines_in_any_order_of_arrival_give_the_same_parts() -> None:
    assert made(*reversed(range(MANY))) == made(*range(MANY))


def test_a_formatter_leaves_parts_alone() -> None:
    for text in made(*range(400)).values():
        assert mdformat.text(text, extensions={"footnote", "frontmatter", "gfm"}) == text


def test_own_words_stand_below_the_mark_of_the_part_they_were_written_on() -> None:
    path = list(made(*range(MANY)))[3]
    text = made(*range(MANY), own={path: "\nMine.\n", "pages.md": "\nMine too.\n"})
    assert text[path].endswith(f"{OWN_MARK}\n\nMine.\n")
    assert text["pages.md"].endswith(f"{OWN_MARK}\n\nMine too.\n")
    assert parts(path, text[path])[1].strip() == "Mine."
