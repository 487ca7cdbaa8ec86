"""Markdown as blocks with their lines: headings, bullets, paragraphs, tables, code; links found on tokens, never by pattern over the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_WIKILINK = re.compile(r"\[\[([^\[\]|\n]+?)(?:\|([^\[\]\n]*))?\]\]")
_TASK = re.compile(r"^\[[ xX]\]\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of a Markdown body. `line` is 1-based in the file; `markdown` the source as it stands, `text` the same without markup."""

    shape: str
    depth: int
    heading: str
    level: int
    line: int
    markdown: str
    text: str
    links: tuple[str, ...] = ()


def blocks(body: str, *, first_line: int = 1) -> tuple[Block, ...]:
    """Headings, list items, paragraphs, table rows and code blocks in order; HTML comments and thematic breaks carry nothing.

    The heading of a block is the way to it below the file's title: a `### Later` under `## Steps` is "Steps › Later".
    """
    lines = body.split("\n")
    heading, level, depth = "", 0, 0
    path: dict[int, str] = {}
    out: list[Block] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    row: Token | None = None
    for index, token in enumerate(tokens):
        if token.type == "list_item_open":
            depth += 1
        elif token.type == "list_item_close":
            depth -= 1
        elif token.type == "tr_open":
            row = token
        elif token.type == "tr_close" and row is not None:
            if made := _row(tokens, index, row, lines, first_line, heading):
                out.append(made)
            row = None
        elif token.type in {"fence", "code_block"} and token.map and token.content.strip():
            out.append(_block("code", max(depth - 1, 0), heading, token, lines, first_line, token.content.strip("\n"), ()))
        elif token.type == "inline" and row is None and token.map:
            text, links = plain(token)
            before = tokens[index - 1]
            if before.type == "heading_open":
                level = int(before.tag[1])
                path = {n: above for n, above in path.items() if n < level} | {level: text}
                heading = " › ".join(above for n, above in path.items() if n > 1 or level == 1)
                out.append(_block("heading", 0, heading, token, lines, first_line, text, links, level))
            elif text:
                shape = "bullet" if depth else "paragraph"
                out.append(_block(shape, max(depth - 1, 0), heading, token, lines, first_line, text, links))
    return tuple(out)


def plain(inline: Token) -> tuple[str, tuple[str, ...]]:
    """The text of an inline token without markup, and the targets of its links (Markdown and wikilinks) in order."""
    words: list[str] = []
    links: list[str] = []
    for child in inline.children or ():
        if child.type == "text":
            words.append(_without_wikilinks(child.content, links))
        elif child.type == "code_inline":
            words.append(f"`{child.content}`")
        elif child.type in {"softbreak", "hardbreak"}:
            words.append(" ")
        elif child.type == "link_open":
            links.append(str(child.attrGet("href") or ""))
        elif child.type == "image":
            words.append(child.content)
    text = re.sub(r"\s+", " ", "".join(words)).strip()
    return _TASK.sub("", text), tuple(x for x in links if x)


def link_targets(body: str) -> tuple[str, ...]:
    """Every link target of a Markdown body in order, also inside headings and tables."""
    found: list[str] = []
    for token in MarkdownIt("commonmark").enable("table").parse(body):
        if token.type == "inline":
            found.extend(plain(token)[1])
    return tuple(found)


def _without_wikilinks(text: str, links: list[str]) -> str:
    def taken(match: re.Match[str]) -> str:
        links.append(match.group(1).strip())
        return (match.group(2) or match.group(1)).strip()

    return _WIKILINK.sub(taken, text)


def _block(
    shape: str, depth: int, heading: str, token: Token, lines: Sequence[str], first_line: int, text: str, links: tuple[str, ...], level: int = 0
) -> Block:
    start, end = token.map or (0, 0)
    source = "\n".join(line.rstrip("\r") for line in lines[start:end]).strip("\n")
    return Block(shape=shape, depth=depth, heading=heading, level=level, line=first_line + start, markdown=source, text=text, links=links)


def _row(tokens: Sequence[Token], close: int, row: Token, lines: Sequence[str], first_line: int, heading: str) -> Block | None:
    texts = [plain(token) for token in _cells(tokens, close)]
    text = " · ".join(t for t, _ in texts if t)
    if not text:
        return None
    return _block("table", 0, heading, row, lines, first_line, text, tuple(x for _, found in texts for x in found))


def _cells(tokens: Sequence[Token], close: int) -> Iterator[Token]:
    start = close
    while tokens[start].type != "tr_open":
        start -= 1
    for index in range(start, close):
        if tokens[index].type == "inline":
            yield tokens[index]
