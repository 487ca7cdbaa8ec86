"""The brief of a project with what the person told the memory for all their projects: below the project's own lines, within the same budget."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pipelines.wiki.brief import rest_of_pages
from pipelines.wiki.budget import Budget
from pipelines.wiki.signs import COMMANDS, CORRECTED, FACTS, GOALS, RULES

SHARE: Final = 0.25
"""Of the budget, at most, for what is told to every project: the project's own pages and facts are what a session came for."""
_PAGES, _FOOT = "Pages", "More"
_ORDER: Final = (CORRECTED, RULES, COMMANDS, GOALS, FACTS, _PAGES)
_SECTION: Final = re.compile(r"^## (.+)\n\n", re.MULTILINE)


def with_above(text: str, above: Mapping[str, Sequence[str]], budget: Budget) -> str:
    """The brief with these lines (section → lines as they are told) behind its own of the same section; what no longer fits leaves from the bottom."""
    fitting = _fitting(above, budget)
    head, sections, foot = _parted(text)
    if not fitting or not foot:
        return text
    for title, lines in fitting.items():
        sections[title] = [*sections.get(title, ()), *lines]
    while _over(whole := _whole(head, sections, foot), budget):
        full = [t for t in _ORDER if any(line != rest_of_pages() for line in sections.get(t, ()))]
        if not full:
            return text
        _drop(sections, full[-1])
    return whole


def _fitting(above: Mapping[str, Sequence[str]], budget: Budget) -> dict[str, list[str]]:
    """The first lines of each section, as far as they have room."""
    left, out = budget.size * SHARE, dict[str, list[str]]()
    for title, lines in above.items():
        for line in lines:
            left -= budget.measure(f"{line}\n")
            if left >= 0:
                out.setdefault(title, []).append(line)
    return out


def _parted(text: str) -> tuple[str, dict[str, list[str]], str]:
    """What stands before the first section, the sections' lines, and the last one with what follows; no end means that this is no brief."""
    head, *rest = _SECTION.split(text)
    pairs = list(zip(rest[::2], rest[1::2], strict=True))
    if not pairs or pairs[-1][0] != _FOOT:
        return text, {}, ""
    return head, {title: [line for line in body.split("\n") if line] for title, body in pairs[:-1]}, f"## {_FOOT}\n\n{pairs[-1][1]}"


def _whole(head: str, sections: Mapping[str, Sequence[str]], foot: str) -> str:
    titles = [t for t in _ORDER if sections.get(t)]
    return head + "".join(f"## {t}\n\n" + "".join(f"{line}\n" for line in sections[t]) + "\n" for t in titles) + foot


def _over(text: str, budget: Budget) -> bool:
    return budget.measure(text) > budget.size or text.count("\n") > budget.lines


def _drop(sections: dict[str, list[str]], title: str) -> None:
    """Take the last line of a section out; of pages one stays that leads to all of them."""
    lines = [line for line in sections[title] if line != rest_of_pages()]
    sections[title] = [*lines[:-1], *([rest_of_pages()] if title == _PAGES else [])]
