"""What an agent would load of a memory or instruction file, and what is wrong with it. Nothing is changed.

Limits as Claude Code applies them to MEMORY.md: the first 200 lines or 25,000 bytes, whichever comes first, front matter and HTML comments
not counted; CLAUDE.md and AGENTS.md have no such cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pipelines.notes.front_matter import split_front_matter
from pipelines.notes.markdown import Block, blocks
from pipelines.notes.placeholders import is_placeholder
from pipelines.text.words import content_words

LINES_MAX = 200
BYTES_MAX = 25_000
ENTRY_CHARS_MAX = 120
ORDER_WITHOUT_USER = "order_without_user"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ORDER = re.compile(
    r"^(?:please\s+)?(?:always|never|do not|don['’]t|must|use|run|avoid|prefer|make sure|ensure|keep|add|write|commit|check|read)(?![A-Za-z])"
    r"|(?:一律|务必|必须|不要|禁止|总是|永远)",
    re.IGNORECASE,
)
_URL = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding: the 1-based line, a constant code, and what to do about it."""

    line: int
    code: str
    message: str


def lint(
    text: str, *, name: str, exists: Callable[[str], bool], from_user: Callable[[str], bool] | None = None,
    meant: Callable[[str], Sequence[str]] = lambda _: (), linked: bool = False,
) -> tuple[Problem, ...]:  # fmt: skip
    """Problems of one file in order of line.

    `name` is the file's name (MEMORY.md is cut when loaded, others are not), `exists` answers for a relative link, `from_user` whether a
    person's own words stand behind a line that orders the reader about; without it that check is left out. `meant` names the files a `[[name]]` may mean.
    A file that is `linked` to is read when it is wanted: its entries may be long.
    """
    front = split_front_matter(text)
    parts = [b for b in blocks(front.body, first_line=front.body_line)]
    long = () if linked else _too_long(parts)
    found = [*_never_loaded(front.body, front.body_line, name), *_duplicates(parts), *long, *_dead_links(parts, exists, meant)]
    if from_user:
        cut = next((p.line for p in found if p.code == "never_loaded"), None)
        found.extend(p for p in _orders_without_a_user(parts, from_user) if cut is None or p.line < cut)
    return tuple(sorted(found, key=lambda p: (p.line, p.code)))


def _never_loaded(body: str, first_line: int, name: str) -> Iterator[Problem]:
    if name.casefold() != "memory.md":
        return
    shown = _COMMENT.sub(lambda m: "\n" * m.group().count("\n"), body)
    lines = shown.split("\n")
    used = 0
    for number, line in enumerate(lines):
        used += len(line.encode()) + 1
        if (number >= LINES_MAX or used > BYTES_MAX) and any(rest.strip() for rest in lines[number:]):
            what = f"{LINES_MAX} lines" if number >= LINES_MAX else f"{BYTES_MAX} bytes"
            left = sum(1 for rest in lines[number:] if rest.strip())
            yield Problem(
                line=first_line + number,
                code="never_loaded",
                message=f"no session loads from here on ({left} lines behind the first {what}): move them to a linked file",
            )
            return


def _duplicates(parts: list[Block]) -> Iterator[Problem]:
    seen: dict[tuple[str, ...], int] = {}
    for part in parts:
        words = tuple(sorted(set(content_words(part.text)))) if part.shape in {"bullet", "paragraph"} else ()
        if len(words) < 3 or is_placeholder(part.text):
            continue
        if words in seen:
            yield Problem(line=part.line, code="duplicate", message=f"says the same as line {seen[words]}: keep one")
        else:
            seen[words] = part.line


def _too_long(parts: list[Block]) -> Iterator[Problem]:
    for part in parts:
        if part.shape == "bullet" and len(part.text) > ENTRY_CHARS_MAX:
            yield Problem(line=part.line, code="long_entry", message=f"{len(part.text)} characters: over {ENTRY_CHARS_MAX} belongs in a linked file")


def _dead_links(parts: list[Block], exists: Callable[[str], bool], meant: Callable[[str], Sequence[str]]) -> Iterator[Problem]:
    for part in parts:
        for target in part.links:
            place = target.split("#")[0]
            if not place or _URL.match(target) or exists(place):
                continue
            files = meant(place)
            if len(files) > 1:
                yield Problem(
                    line=part.line, code="ambiguous_link", message=f"{target!r} could be {' or '.join(files)}: name the file; until then it leads nowhere"
                )
            elif not files:
                yield Problem(line=part.line, code="dead_link", message=f"link target {target!r} does not exist")


def _orders_without_a_user(parts: list[Block], from_user: Callable[[str], bool]) -> Iterator[Problem]:
    for part in parts:
        if part.shape in {"bullet", "paragraph"} and _ORDER.search(part.text) and not from_user(part.text):
            yield Problem(line=part.line, code=ORDER_WITHOUT_USER, message="tells the reader what to do, and no user's words in the logs say it")
