"""What a person changed in a published file.

Our own words are never an edit (systems R1): a line dreamd once wrote, whatever a crash, a restore or a checkout put back, is ours. Neither are a file
that is only half there, conflict markers, or an empty file. What is left is a person's, or an agent's: the hand is unknown, so the caller shows it
on the page and asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from markdown_it import MarkdownIt

from pipelines.wiki import inline
from pipelines.wiki.doors import PAGES_PATH
from pipelines.wiki.index import PARTS
from pipelines.wiki.parse_page import NotAPage, split

INDEX_PATH = "MEMORY.md"
_BRIEF_START, _BRIEF_END = "<dreamd-brief", re.compile(r"^</dreamd-brief>[ \t]*\r?$\n?", re.MULTILINE)
_CONFLICT = re.compile(r"^(?:<{7} |>{7} )", re.MULTILINE)
_ANCHOR = re.compile(r"\s\^(n-[a-z0-9-]+)\s*$")
_QUOTED = re.compile(r"^(?:\s*(?:>|[-*+](?=\s)|\d+[.)](?=\s)))+\s*")
_CODED = re.compile(r"`([^`]+)`")
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")


class EditKind(StrEnum):
    """What was done to a line of ours, or that the person's own section changed."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEdit:
    """One change. `anchor` is the block id of the line (empty: a line of no note); `before` and `after` are its words without footnotes and id."""

    kind: EditKind
    path: str
    section: str = ""
    anchor: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class NotAnEdit:
    """Why a file that differs says nothing: `empty`, `conflict_markers`, `half_saved` (its beginning or end is missing)."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class _Row:
    """A line with the lines that belong under it."""

    section: str
    anchor: str
    key: str
    words: str


def read_edits(path: str, found: bytes, published: bytes, *, ours: Callable[[str], bool]) -> tuple[PageEdit, ...] | NotAnEdit:
    """The changes from what was published to what was found. `ours` says whether a `line_key` is of a line dreamd ever wrote."""
    text = found.decode("utf-8", "surrogateescape")
    if why := doubt(path, text):
        return NotAnEdit(path, why)
    head, own, _ = parts(path, text)
    base_head, base_own, _ = parts(path, published.decode("utf-8", "surrogateescape"))
    edits = _changes(path, _rows(base_head), _rows(head), ours, moved=_new_rows(own, base_own))
    if own != base_own:
        edits.append(PageEdit(kind=EditKind.OWN, path=path, before=base_own, after=own))
    return tuple(edits)


def own_text(path: str, data: bytes) -> str:
    """The person's own text of a published file, to hand back in `Content.own`; empty when the file is none of ours."""
    try:
        return parts(path, data.decode("utf-8", "surrogateescape"))[1]
    except NotAPage:
        return ""


def statement_in(edit: PageEdit, statement: str) -> str:
    """The sentence a changed bullet of the note that says `statement` says now, in plain words: without emphasis, escapes and code marks of ours, and without
    the remarks that stand behind it. Empty when it only looks otherwise."""
    shown = _shown(statement)
    before, after = _unmarked(edit.before), _unmarked(edit.after)
    if before.startswith(shown):
        after = after.removesuffix(before[len(shown) :])
    said = _CODED.sub(lambda m: m[0] if m[0] in statement or m[1] not in statement else m[1], after)
    return "" if after in {before, shown} else said


def shows(words: str, statement: str) -> bool:
    """Whether the words of a bullet of ours begin with this statement."""
    return _unmarked(words).startswith(_shown(statement))


def _shown(statement: str) -> str:
    return _unmarked(inline.write_line(inline.plain(statement)))


def _unmarked(words: str) -> str:
    """Words of a bullet as they read: what Markdown adds is gone, code keeps its marks."""
    tokens = MarkdownIt("commonmark").parseInline(_QUOTED.sub("", words))[0].children or []
    out = (f"`{t.content}`" if t.type == "code_inline" else " " if t.type in {"softbreak", "hardbreak"} else t.content for t in tokens)
    return " ".join("".join(out).split())


def line_keys(data: bytes, *, path: str) -> tuple[str, ...]:
    """The keys of every line of ours in a file, for the record of published lines; keyed digests of them are all the store keeps."""
    head, _, _ = parts(path, data.decode("utf-8", "surrogateescape"))
    return tuple(dict.fromkeys(row.key for row in _rows(head)))


def line_key(line: str) -> str:
    """A line as it is compared: without list mark, footnotes, block id, escapes, emphasis and encoding, so that a formatter changes nothing."""
    bare = _LIST_MARK.sub("", _ANCHOR.sub("", line))
    bare = re.sub(r"\[\^\d+\]", "", bare)
    bare = re.sub(r"[\\*_`]", "", bare)
    return " ".join(unquote(bare).split())


def doubt(path: str, text: str) -> str:
    """Why a file of ours, as it stands, says nothing (`NotAnEdit.why`); empty when it is whole."""
    if not text.strip():
        return "empty"
    if _CONFLICT.search(text):
        return "conflict_markers"
    try:
        head, _, _ = parts(path, text)
    except NotAPage:
        return "half_saved"
    start = _BRIEF_START if path == INDEX_PATH else "#" if _plain(path) else "---"
    if not head.lstrip("\ufeff").startswith(start):
        return "half_saved"
    named = {int(n) for n in re.findall(r"(?<!\\)\[\^(\d+)\]", re.sub(r"(`+).*?\1", "", head))}
    defined = {int(n) for n in re.findall(r"^\[\^(\d+)\]: ", text, re.MULTILINE)}
    return "" if named <= defined else "half_saved"


def _plain(path: str) -> bool:
    """Files of ours that begin with a heading instead of front matter."""
    return path in {"inbox.md", "recent.md", PAGES_PATH} or path.startswith(("journal/", PARTS))


def parts(path: str, text: str) -> tuple[str, str, str]:
    """(our part, the person's part, our footnotes); raises NotAPage when the mark between them is missing. In the index the third is the brief's end."""
    if path != INDEX_PATH:
        return split(text, path=path)
    end = _BRIEF_END.search(text)
    if not end:
        raise NotAPage(path, "the end of the brief is missing")
    return text[: end.start()], text[end.end() :], end[0]


def _rows(head: str) -> list[_Row]:
    """The lines of our part in order; indented lines without an id belong to the bullet above them, front matter is one row a field."""
    out: list[_Row] = []
    section, lines = "", head.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    for block in _blocks(lines):
        heading = re.match(r"##? +(.*)", block[0])
        if heading:
            section = heading[1].strip()
        anchor = _ANCHOR.search(block[0])
        key = line_key("\n".join([_ANCHOR.sub("", block[0]), *block[1:]]))
        if key and not set(key) <= {"-"}:
            words = " ".join(re.sub(r"\s*\[\^\d+\]", "", _LIST_MARK.sub("", _ANCHOR.sub("", block[0]))).split())
            out.append(_Row(section, anchor[1] if anchor else "", key, "\n".join([words, *block[1:]])))
    return out


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        if line.startswith("  ") and block and not (_ANCHOR.search(line) and _LIST_MARK.match(line)):
            block.append(line)
            continue
        if block:
            yield block
        block = [line.lstrip() if _ANCHOR.search(line) else line] if line.strip() else []
    if block:
        yield block


def _new_rows(own: str, before: str) -> list[_Row]:
    """The lines in the person's part that did not stand there before, whatever marks of a list or a quotation they have there."""
    stood = set(before.splitlines())
    return _rows("\n".join(_QUOTED.sub("", line) for line in own.splitlines() if line not in stood))


def _changes(path: str, base: Sequence[_Row], found: Sequence[_Row], ours: Callable[[str], bool], *, moved: Sequence[_Row]) -> list[PageEdit]:
    """What was done to our lines. A line that was `moved` into the person's part was not taken out."""
    by_anchor = {row.anchor: row for row in base if row.anchor}
    base_keys, found_keys = {row.key for row in base}, {row.key for row in found}
    out: list[PageEdit] = []
    seen: set[str] = set()
    for row in found:
        before = by_anchor.get(row.anchor) if row.anchor not in seen else None
        seen.add(row.anchor)
        if row.key in base_keys or ours(row.key):
            continue
        if before:
            out.append(PageEdit(kind=EditKind.CHANGED, path=path, section=row.section, anchor=row.anchor, before=before.words, after=row.words))
        else:
            out.append(PageEdit(kind=EditKind.ADDED, path=path, section=row.section, anchor="", after=row.words))
    seen |= {row.anchor for row in moved}
    found_keys |= {row.key for row in moved}
    for row in base:
        if row.anchor and row.anchor not in seen and row.key not in found_keys:
            out.append(PageEdit(kind=EditKind.REMOVED, path=path, section=row.section, anchor=row.anchor, before=row.words))
    return out
