"""The index of all pages: one file while a person can read it at a glance, else a list of parts.

A part begins where a page's own key says so, never by count alone: a page that comes or goes changes its part and the line that leads there, and leaves the
bytes of the others alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from pipelines.model import digest
from pipelines.wiki import inline
from pipelines.wiki.doors import PAGES_PATH, Door
from pipelines.wiki.inline import plain
from pipelines.wiki.page import OWN_MARK, link
from pipelines.wiki.slugs import check_path

LINES_MAX, BYTES_MAX = 200, 12_000
"""Of an index; a longer one is cut into parts."""
PART_MIN, PART_MEAN = 20, 32
"""Lines of a part: from the least on, one key in so many begins the next."""
TITLE_MAX = 40
"""Characters of a page's title in the name of a part."""
PARTS = "pages--"
"""What the file of a part is called by: no title gives a name with two dashes in a row."""


def indexes(doors: Sequence[Door], *, own: Mapping[str, str]) -> dict[str, str]:
    """Path → text of `pages.md`, which lists every page under its hook, and of its parts when it is long; a person's own words stand below the mark of each.

    `doors` are in page order.
    """
    if _fits(doors):
        return {PAGES_PATH: _text("Pages", [d.line for d in doors] or ["No page yet."], own.get(PAGES_PATH, ""))}
    found, listed = {}, []
    for part in _parts(doors):
        path, name = check_path(PARTS + part[0].path), _name(part)
        listed.append(f"- {inline.write((link(name, path),))}: {len(part)} {'page' if len(part) == 1 else 'pages'}")
        found[path] = _text(f"Pages: {name}", [d.line for d in part], own.get(path, ""), back=True)
    return {PAGES_PATH: _text("Pages", listed, own.get(PAGES_PATH, "")), **found}


def _text(title: str, lines: Sequence[str], own: str, *, back: bool = False) -> str:
    led = f"\n\nSee also: {inline.write((link('All pages', PAGES_PATH),))}." if back else ""
    listed = "\n".join(lines)
    return f"# {inline.write_heading(plain(title))}\n\n{listed}{led}\n\n{OWN_MARK}\n{own}"


def _name(part: Sequence[Door]) -> str:
    """From which title to which; parts of one page under one title are told apart by their files."""
    first, last = (inline.cut_quote(d.title, TITLE_MAX) for d in (part[0], part[-1]))
    return first if first == last else f"{first} – {last}"


def _fits(doors: Sequence[Door]) -> bool:
    return len(doors) <= LINES_MAX and sum(map(_size, doors)) <= BYTES_MAX


def _size(door: Door) -> int:
    return len(door.line.encode("utf-8", "replace")) + 1


def _parts(doors: Sequence[Door]) -> Iterator[Sequence[Door]]:
    begins, size = [0], 0
    for n, door in enumerate(doors):
        lines, more = n - begins[-1], _size(door)
        if lines and ((lines >= PART_MIN and _begins(door)) or lines >= LINES_MAX or size + more > BYTES_MAX):
            begins.append(n)
            size = 0
        size += more
    for begin, end in pairwise([*begins, len(doors)]):
        yield doors[begin:end]


def _begins(door: Door) -> bool:
    return int(digest(door.key, str(door.part))[:8], 16) % PART_MEAN == 0
