"""Reading a page back: the exact inverse of `page.write`, and strict about everything that `page.write` would not have written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from posixpath import normpath
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pipelines.errors import Permanent
from pipelines.wiki import inline
from pipelines.wiki.inline import Span, Spans, Style
from pipelines.wiki.page import OWN_MARK, Block, Line, Page, Section


class NotAPage(Permanent):
    """The text is no page of ours as `page.write` writes it; `why` says where it departs."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def parse(text: str, *, path: str) -> Page:
    """The page that `page.write` wrote as this text; raises NotAPage for anything else."""
    head, own, notes = split(text, path=path)
    tokens = _markdown().parse(head + "\n" + notes)
    try:
        return _page(tokens, own, path)
    except (ValueError, IndexError, KeyError, TypeError, YAMLError) as error:
        raise NotAPage(path, f"not a page dreamd writes ({error})") from error


def split(text: str, *, path: str = "page") -> tuple[str, str, str]:
    """(our part above the mark, the person's text, our footnotes), of which only the second is not ours.

    What a person typed below our footnotes is theirs as well and comes after what stands above them. Raises NotAPage without the mark.
    """
    found = re.search(rf"^{re.escape(OWN_MARK)}[ \t]*\r?$\n?", text, re.MULTILINE)
    if not found:
        raise NotAPage(path, "the line that parts our words from the person's is missing")
    head, below = text[: found.start()], text[found.end() :]
    newline = "\r\n" if "\r\n" in head else "\n"
    marks = re.findall(r"\[\^(\d+)\]", re.sub(r"(`+).*?\1", "", head))
    start, end = _footnote_block(below, wanted=max((int(n) for n in marks), default=0))
    before, notes, after = below[:start], below[start:end], below[end:]
    before = before.removesuffix(newline) if notes else before
    if after and before and not before.endswith("\n"):
        before += newline
    return head, before + after, notes


def _footnote_block(below: str, *, wanted: int) -> tuple[int, int]:
    """Where our footnotes stand: the last run `[^1]:`, `[^2]:` … of the wanted length, or the last run at all; the end when we wrote none."""
    best = (len(below), len(below))
    if not wanted:
        return best
    for opening in re.finditer(r"^\[\^1\]: ", below, re.MULTILINE):
        number, end = 1, opening.start()
        while found := re.compile(rf"(?:\s*\n)?\[\^{number}\]: [^\n]*(?:\n|\Z)").match(below, end):
            number, end = number + 1, found.end()
        if number - 1 == wanted or best[0] == len(below):
            best = (opening.start(), end)
    return best


def _markdown() -> MarkdownIt:
    md = MarkdownIt("commonmark").use(front_matter_plugin).use(footnote_plugin, inline=False, move_to_end=False, always_match_refs=True)
    return md


def _page(tokens: Sequence[Token], own: str, path: str) -> Page:
    fields = _fields(tokens)
    reader = _Reader(tokens, path)
    if inline.words(reader.title) != fields.get("title"):
        raise ValueError("the heading is not the title")
    return Page(
        path=path,
        title=str(fields.get("title", "")),
        aliases=tuple(str(name) for name in _list(fields.get("aliases"))),
        updated=_day(fields.get("updated")),
        sources=str(fields.get("sources", "")),
        intro=reader.intro,
        sections=tuple(Section(title=title, lines=tuple(lines)) for title, lines in reader.sections),
        see_also=tuple(reader.links.get("See also", ())),
        named_by=tuple(reader.links.get("Referenced by", ())),
        footnotes=tuple(reader.footnotes),
        own=own,
    )


def _fields(tokens: Sequence[Token]) -> dict[str, object]:
    if not tokens or tokens[0].type != "front_matter":
        raise ValueError("no front matter")
    loaded = YAML(typ="safe").load(tokens[0].content)
    if not isinstance(loaded, dict):
        raise ValueError("the front matter is no mapping")
    return {str(key): value for key, value in loaded.items()}


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _day(value: object) -> date | None:
    if value is None or isinstance(value, date):
        return value
    raise ValueError(f"'updated' is no date: {value!r}")


class _Reader:
    """One walk over the tokens of a page, collecting its parts in order."""

    def __init__(self, tokens: Sequence[Token], path: str) -> None:
        self.path = path
        self.title: Spans = ()
        self.intro: Spans = ()
        self.sections: list[tuple[Spans, list[Line]]] = []
        self.links: dict[str, list[Span]] = {}
        self.footnotes: list[Spans] = []
        self._walk(tokens)

    def _walk(self, tokens: Sequence[Token]) -> None:
        at = 1
        while at < len(tokens):
            token = tokens[at]
            end = _closing(tokens, at)
            inner = tokens[at + 1 : end]
            if token.type == "heading_open":
                self._heading(token, inner)
            elif token.type == "bullet_list_open":
                self._bullets(inner)
            elif token.type == "paragraph_open":
                self._paragraph(inner[0])
            elif token.type == "footnote_reference_open":
                self.footnotes.append(self._spans(inner[1].children or []))
            else:
                raise ValueError(f"unexpected {token.type}")
            at = end + 1

    def _heading(self, token: Token, inner: Sequence[Token]) -> None:
        if token.tag == "h2":
            self.sections.append((self._spans(inner[0].children or []), []))
        elif token.tag == "h1" and not self.title:
            self.title = self._spans(inner[0].children or [])
        else:
            raise ValueError(f"unexpected {token.tag}")

    def _paragraph(self, token: Token) -> None:
        label = re.match(r"(See also|Referenced by): \[", token.content)
        if not label:
            if self.intro or self.sections:
                raise ValueError("a paragraph that is neither introduction nor links")
            self.intro = self._spans(token.children or [])
            return
        name = ""
        for span in self._spans(token.children or []):
            if span.style is Style.LINK:
                self.links.setdefault(name, []).append(span)
            elif found := re.search(r"(See also|Referenced by): *$", span.text):
                name = found[1]

    def _bullets(self, tokens: Sequence[Token]) -> None:
        if not self.sections:
            self.sections.append(((), []))
        for item in _items(tokens):
            self._line(item, 0)

    def _line(self, tokens: Sequence[Token], depth: int) -> None:
        """Add a bullet of ours and those below it."""
        children = tokens[1].children or []
        marks = [int(t.meta["label"]) for t in children if t.type == "footnote_ref"]
        anchor = _anchor(tokens)
        if not anchor:
            raise ValueError("a bullet without a block id")
        first = next(i for i, t in enumerate(children) if t.type == "footnote_ref")
        blocks, below = self._under(tokens[3:])
        line = Line(spans=self._spans(children[:first]), cites=tuple(marks), anchor=anchor, blocks=tuple(blocks), depth=depth)
        self.sections[-1][1].append(line)
        for item in below:
            self._line(item, depth + 1)

    def _under(self, tokens: Sequence[Token]) -> tuple[list[Block], list[Sequence[Token]]]:
        """What stands under a bullet: its own blocks, and after them the items of bullets with an id of their own."""
        out: list[Block] = []
        below: list[Sequence[Token]] = []
        at = 0
        while at < len(tokens):
            token, end = tokens[at], _closing(tokens, at)
            if below:
                raise ValueError("a block that belongs to no bullet")
            if token.type == "fence":
                out.append(Block(code=token.content.removesuffix("\n"), info=token.info))
            elif token.type == "bullet_list_open":
                items = list(_items(tokens[at + 1 : end]))
                below = [item for item in items if _anchor(item)]
                if below != items[len(items) - len(below) :]:
                    raise ValueError("a block that belongs to no bullet")
                out += [Block(spans=self._spans(t.children or [])) for item in items[: len(items) - len(below)] for t in item if t.type == "inline"]
            else:
                raise ValueError(f"unexpected {token.type} under a bullet")
            at = end + 1
        return out, below

    def _spans(self, tokens: Sequence[Token]) -> Spans:
        out: list[Span] = []
        style, target = Style.TEXT, ""
        for token in tokens:
            match token.type:
                case "text":
                    out.append(Span(token.content, style, target))
                case "code_inline":
                    out.append(Span(token.content, Style.CODE))
                case "strong_open":
                    style = Style.STRONG
                case "em_open":
                    style = Style.EM
                case "link_open":
                    style, target = Style.LINK, self._target(str(token.attrs["href"]))
                case "strong_close" | "em_close" | "link_close":
                    style, target = Style.TEXT, ""
                case _:
                    raise ValueError(f"unexpected {token.type} in a line")
        return inline.normal(out)

    def _target(self, href: str) -> str:
        folder = self.path.rpartition("/")[0]
        return normpath(f"{folder}/{unquote(href)}") if folder else unquote(href)


def _items(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens inside each item of a list."""
    at = 0
    while at < len(tokens):
        end = _closing(tokens, at)
        yield tokens[at + 1 : end]
        at = end + 1


def _anchor(item: Sequence[Token]) -> str:
    """The block id an item's first line ends with, "" for none."""
    children = item[1].children or [] if len(item) > 1 else []
    found = re.fullmatch(r" \^(n-[a-z0-9-]+)", children[-1].content) if children else None
    return found[1] if found else ""


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Index of the token that closes the one at `at` (itself for tokens that stand alone)."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += tokens[i].nesting
        if depth == 0:
            return i
    raise ValueError(f"{tokens[at].type} is never closed")
