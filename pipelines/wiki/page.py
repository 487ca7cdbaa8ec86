"""A page as a value, and its one written form.

`write` is total and deterministic; `parse_page.parse` is its inverse. What stands above the line `OWN_MARK` is ours; what stands below it, down to
our footnotes, is the person's and goes through byte for byte. Footnotes come last, since that is where every Markdown formatter puts them.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from pipelines.wiki import inline
from pipelines.wiki.inline import Span, Spans, Style

OWN_MARK = "<!-- yours below: dreamd never touches it -->"
SEE_ALSO_MAX = 7


@dataclass(frozen=True, slots=True)
class Block:
    """Something under a bullet: a sub-bullet (`spans`) or a block of code (`code` with its `info` word), never both."""

    spans: Spans = ()
    code: str = ""
    info: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A bullet: its words, the footnotes it rests on (numbers of `Page.footnotes`, from 1) and its block id without the caret.

    A bullet of `depth` 1 stands under the nearest bullet of depth 0 before it, and so on.
    """

    spans: Spans
    cites: tuple[int, ...]
    anchor: str
    blocks: tuple[Block, ...] = ()
    depth: int = 0

    def __post_init__(self) -> None:
        if not self.spans or not self.cites or not re.fullmatch(r"n-[a-z0-9-]+", self.anchor):
            raise ValueError(f"a bullet needs words, a footnote and a block id, got {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and its bullets; an empty title puts the bullets directly under the page's own."""

    title: Spans
    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        depths = [-1, *(line.depth for line in self.lines)]
        if any(not 0 <= depth <= above + 1 for above, depth in pairwise(depths)):
            raise ValueError("a bullet stands under one that is not there")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One Markdown file. `path` is relative to the wiki folder; `see_also` and `named_by` are links to other pages of it."""

    path: str
    title: str
    aliases: tuple[str, ...] = ()
    updated: date | None = None
    sources: str = ""
    intro: Spans = ()
    sections: tuple[Section, ...] = ()
    see_also: tuple[Span, ...] = ()
    named_by: tuple[Span, ...] = ()
    footnotes: tuple[Spans, ...] = ()
    own: str = ""

    def __post_init__(self) -> None:
        if not self.title or self.title != inline.clean(self.title):
            raise ValueError(f"{self.title!r} is no title of a page")
        if len(self.see_also) > SEE_ALSO_MAX:
            raise ValueError(f"at most {SEE_ALSO_MAX} links under 'See also' of {self.path}")
        used = [n for s in self.sections for line in s.lines for n in line.cites]
        if set(used) != set(range(1, len(self.footnotes) + 1)):
            raise ValueError(f"the footnotes of {self.path} are not the ones its bullets name")

    @property
    def text(self) -> str:
        """All words of the page without marks, for finding what it names."""
        runs = [self.intro, *(s.title for s in self.sections)]
        for line in (line for s in self.sections for line in s.lines):
            runs += [line.spans, *(b.spans for b in line.blocks)]
        return "\n".join(inline.words(run) for run in runs if run)


def write(page: Page) -> str:
    """The page's text. Ends in one newline; equal pages give equal text."""
    parts = [front_matter(page), "# " + inline.write_heading(inline.normal((Span(page.title),)))]
    if page.intro:
        parts.append(inline.write_line(page.intro, here=page.path))
    for section in page.sections:
        if section.title:
            parts.append("## " + inline.write_heading(section.title))
        parts.append("\n".join(write_bullet(line, here=page.path) for line in section.lines))
    links = _links(page)
    if links:
        parts.append(links)
    return "\n\n".join(parts) + "\n\n" + OWN_MARK + "\n" + page.own + _footnotes(page)


def write_bullet(line: Line, *, here: str = "") -> str:
    """One bullet with its footnotes, block id and what stands under it; no trailing newline."""
    marks = " ".join(f"[^{n}]" for n in line.cites)
    out = [f"- {inline.write_line((*line.spans, Span(' ')), here=here)}{marks} ^{line.anchor}"]
    for block in line.blocks:
        out += _write_code(block) if block.code else [f"  - {inline.write_line(block.spans, here=here)}"]
    indent = "  " * line.depth
    return "\n".join(f"{indent}{row}" if row else "" for row in out)


def _write_code(block: Block) -> list[str]:
    longest = max((len(run) for run in re.findall("`+", block.code)), default=0)
    ticks = "`" * max(3, longest + 1)
    return [f"  {ticks}{block.info}", *(f"  {row}" if row else "" for row in block.code.split("\n")), f"  {ticks}"]


def _links(page: Page) -> str:
    """The line that leads on, or nothing."""
    out = []
    for label, spans in (("See also", page.see_also), ("Referenced by", page.named_by)):
        if spans:
            out.append(f"{label}: " + ", ".join(inline.write((s,), here=page.path) for s in spans) + ".")
    return " ".join(out)


def _footnotes(page: Page) -> str:
    """Our footnotes, one blank line before each; the first blank line parts them from the person's words."""
    return "".join(f"\n[^{n}]: {inline.write_line(spans)}\n" for n, spans in enumerate(page.footnotes, 1))


def front_matter(page: Page) -> str:
    """YAML between its fences: title, other names, newest evidence, sources; what is empty is left out."""
    fields = CommentedMap()
    fields["title"] = _scalar(page.title)
    if page.aliases:
        names = CommentedSeq(_scalar(name) for name in page.aliases)
        names.fa.set_flow_style()
        fields["aliases"] = names
    if page.updated:
        fields["updated"] = page.updated
    if page.sources:
        fields["sources"] = page.sources
    out = io.StringIO()
    _yaml().dump(fields, out)
    return f"---\n{out.getvalue()}---"


def _scalar(text: str) -> str:
    """Quoted as soon as it holds more than words: some plain scalars ruamel writes (`?0` in a list) read back as something else."""
    return text if re.fullmatch(r"\w(?:[\w ./()+-]*\w)?", text) else DoubleQuotedScalarString(text)


def _yaml() -> YAML:
    """A dumper of its own for each call: one shared between threads fails (dependencies.md)."""
    yaml = YAML()
    yaml.width = 1 << 20
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


@lru_cache(maxsize=1024)
def link(title: str, path: str) -> Span:
    """A link to a page of this wiki under its title; remembered, since each door of the brief names the same pages."""
    spans = inline.normal((Span(title, Style.LINK, path),))
    return spans[0] if spans else Span(path.removesuffix(".md"), Style.LINK, path)
