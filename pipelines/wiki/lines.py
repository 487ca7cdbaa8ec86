"""Notes as bullets: the sentence, what we add to it, and the footnotes it stands on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipelines.model import Kind, Status, Verdict
from pipelines.text.controls import without_controls
from pipelines.wiki import inline
from pipelines.wiki.content import Cite, HistoryLine, Item, Side
from pipelines.wiki.inline import Span, Spans, Style, code, join, plain
from pipelines.wiki.page import Block, Line, link, write_bullet

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
CITES_MAX = 4
Part: TypeAlias = str | Spans
Resolve: TypeAlias = Callable[[str], tuple[str, str] | None]
"""From the target of a carried link to (title, page path), or None when no page stands for it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A bullet before its footnotes are numbered."""

    spans: Spans
    notes: tuple[Spans, ...]
    anchor: str
    blocks: tuple[Block, ...] = ()
    depth: int = 0


def number(drafts: Iterable[Draft], footnotes: list[Spans]) -> tuple[Line, ...]:
    """Bullets whose footnotes are numbered in order of appearance; equal footnotes are one. Appends to `footnotes`.

    A bullet whose holder stands elsewhere (another page, History) moves up to where it is held.
    """
    known = {note: n for n, note in enumerate(footnotes, 1)}
    out: list[Line] = []
    for draft in drafts:
        depth = min(draft.depth, out[-1].depth + 1) if out else 0
        for note in draft.notes:
            if note not in known:
                footnotes.append(note)
                known[note] = len(footnotes)
        out.append(Line(spans=draft.spans, cites=tuple(dict.fromkeys(known[n] for n in draft.notes)), anchor=draft.anchor, blocks=draft.blocks, depth=depth))
    return tuple(out)


def weigh(item: Item) -> tuple[int, int]:
    """(lines, bytes) a note takes on its page, its history and its footnotes included; what splitting is decided by."""
    drafts = [d for d in (bullet(item, resolve=lambda _: None), *history(item)) if d]
    notes: list[Spans] = []
    text = "\n".join(write_bullet(line) for line in number(drafts, notes))
    below = "".join(f"\n[^1]: {inline.write_line(note)}\n" for note in notes)
    rows = text.count("\n") + 1
    indent = 2 * item.carried.depth * rows if item.carried else 0
    return rows + below.count("\n"), len((text + below).encode("utf-8", "replace")) + indent


# --- bullets -----------------------------------------------------------------------------------------------------------------------------


def bullet(item: Item, *, resolve: Resolve) -> Draft | None:
    """The one line that says what a note holds now; None for a note of which only history is shown."""
    if item.status is Status.DISPUTED:
        return _dispute(item)
    if item.carried:
        return None if item.verdict in NO_LONGER_TOLD else _carried(item, resolve)
    statement = plain(item.statement)
    if item.kind is Kind.FACT:
        statement = inline.strong_value(statement, item.value)
    return Draft(join(statement, *_remarks(item)), footnotes(item.cites), item.anchor)


NO_LONGER_TOLD = frozenset({Verdict.CONTRADICTED, Verdict.SUPERSEDED, Verdict.DUPLICATE})


def _remarks(item: Item) -> list[Part]:
    """What stands behind the sentence: where it holds, who said it, when it worked, why, and until when."""
    out: list[Part] = []
    for bound in (item.qualifier, item.applies_to or ""):
        if bound and bound.casefold() not in item.statement.casefold():
            out += [" (", plain(bound), ")"]
    if item.said_by and item.kind in {Kind.RULE, Kind.PREFERENCE, Kind.DECISION, Kind.HOLD, Kind.GOAL, Kind.PLAN}:
        said = max((c.at for c in item.cites if c.at), default=None)
        out += [" (", plain(item.said_by), f", {day(said)})" if said else ")"]
    if item.worked_on:
        out.append(worked(item))
    if item.reason and item.reason not in item.statement:
        out += ["" if item.worked_on else _stop(item.statement), *_led(" Reason: ", item.reason, ".")]
    if item.valid_until:
        out.append(f" Until {day(item.valid_until)}.")
    if item.remark:
        out += [" ", (Span(inline.clean(item.remark), Style.EM),)]
    return [*out, *_beside(item)]


def _beside(item: Item) -> list[Part]:
    """What a person should know of where a note is told, and of a file that says otherwise."""
    against = f"{inline.clean(item.against)} says otherwise: not told until you decide" if item.against else ""
    stale = f"number out of date: {inline.clean(item.stale)}" if item.stale else ""
    return [part for said in (against, stale, "pinned" if item.pinned else "") if said for part in (" ", (Span(said, Style.EM),))]


def recheck(item: Item) -> list[Part]:
    """Why a carried line is to be checked again, and the command that worked where its own failed; nothing for another."""
    if not item.carried or not item.missed or not item.remark:
        return []
    instead: list[Part] = ["; ", inline.code(item.reason), " worked"] if item.reason else []
    return [" ", (Span(inline.clean(item.remark), Style.EM),), *instead]


def worked(item: Item) -> str:
    """On which days a procedure worked, to stand behind its sentence."""
    return f", worked on {days(item.worked_on)}." if _stop(item.statement) else f" Worked on {days(item.worked_on)}."


def _stop(text: str) -> str:
    """The full stop a sentence lacks before another one follows it."""
    return "" if text.rstrip().endswith((".", "!", "?", "。", "！", "？", "…")) else "."


def _dispute(item: Item) -> Draft:
    """Both sides of a dispute in one line, each with its speaker and day, and a question mark of ours behind."""
    name = item.attribute or item.subject
    parts: list[Part] = [plain(name), ": "]
    for n, side in enumerate(item.sides):
        parts += [" or " if n else "", _emphasised(side.statement), *_said(side)]
    cites = [c for side in item.sides for c in side.cites[:2]]
    return Draft(join(*parts, "?"), footnotes(cites), item.anchor)


def _emphasised(text: str) -> Spans:
    bare = inline.clean(text).rstrip(".。")
    return inline.normal((Span(bare, Style.EM),)) if "`" not in bare else plain(bare)


def _said(side: Side) -> list[Part]:
    facts = [f for f in (side.said_by, day(side.at) if side.at else "") if f]
    return [" (", plain(", ".join(facts)), ")"] if facts else []


def history(item: Item) -> tuple[Draft, ...]:
    """What the note said before or what was said and not taken, oldest first; for a carried line no longer told, the line itself."""
    told = () if not item.carried or item.verdict not in NO_LONGER_TOLD else (_withdrawn(item),)
    return told + tuple(
        Draft(_past(line), footnotes(line.cites), f"{item.anchor}-{n}") for n, line in enumerate(sorted(item.history, key=_when), 1)
    )  # fmt: skip


def _when(line: HistoryLine) -> tuple[str, str, str, str]:
    return ((line.since or line.until).isoformat() if line.since or line.until else "", line.slot, line.statement, line.said_by)  # type: ignore[union-attr]


def _past(line: HistoryLine) -> Spans:
    who = _led(", ", line.said_by)
    why: list[Part] = [_stop(line.statement), *_led(" Reason: ", line.reason, ".")] if line.reason else []
    if not line.taken:
        when = f" on {day(line.since)}" if line.since else ""
        return join(f"Said{when}", *who, ", not taken: ", plain(line.statement), *why)
    if line.decided:
        said = f" on {day(line.since)}" if line.since else ""
        return join(f"Said{said}", *who, f", and decided against{_on(line.until)} by a person: ", plain(line.statement), *why)
    if line.status is Status.EXPIRED:
        return join(f"Expired{_on(line.until)}: ", plain(line.statement), *why)
    until = f"Until {day(line.until)}" if line.until else "Before"
    return join(until, *who, ": ", plain(line.statement), *why)


def archived(item: Item) -> Draft:
    """A whole note that is over, with its dates."""
    word = "Expired" if item.status is Status.EXPIRED else "Superseded"
    since = f" (since {day(item.oldest_evidence)})" if item.oldest_evidence else ""
    why = _led(" Reason: ", item.reason, ".")
    return Draft(join(f"{word}{_on(item.valid_until)}: ", plain(item.statement), since, *why), footnotes(item.cites), item.anchor)


def _led(label: str, text: str, end: str = "") -> list[Part]:
    """A label of ours and words of others with our full stop behind, or nothing when there are no words."""
    return [label, plain(text), "" if not _stop(text) else end] if text else []


def _on(at: datetime | None) -> str:
    return f" on {day(at)}" if at else ""


# --- carried notes -----------------------------------------------------------------------------------------------------------------------


def _carried(item: Item, resolve: Resolve) -> Draft:
    """A line of a note file as it stood, with its verdict; corrected ones say the right thing first and then what the note said."""
    spans, blocks = carried_text(item.markdown or item.statement, resolve)
    if not spans:
        spans = (Span("Code:"),) if blocks else plain(item.statement)
    if numbered := re.match(r"\s*(\d{1,3})[.)]\s", item.markdown):
        spans = join(f"{numbered[1]}. ", spans)
    if item.verdict is Verdict.CORRECTED and item.corrected_to:
        was = inline.cut_quote(inline.words(spans))
        spans = join(plain(item.corrected_to), f"{_stop(item.corrected_to)} ", (Span("Corrected", Style.EM),), '; the note said: "', plain(was), '"')
    elif item.verdict in _VERDICT_WORDS:
        spans = join(spans, " ", (Span(_VERDICT_WORDS[item.verdict], Style.EM),))
    elif item.verdict is Verdict.NEEDS_RECHECK and item.remark:
        spans = join(spans, *recheck(item))
    return Draft(join(spans, *_beside(item)), footnotes(item.cites), item.anchor, blocks, item.carried.depth if item.carried else 0)


_VERDICT_WORDS = {Verdict.UPHELD: "upheld", Verdict.CORRECTED: "corrected", Verdict.UNSUPPORTED: "unsupported, its session says nothing of it"}
_WITHDRAWN = {  # the words of the verdicts, as the head of the page counts them
    Verdict.CONTRADICTED: "Contradicted by the log",
    Verdict.SUPERSEDED: "Superseded",
    Verdict.DUPLICATE: "Duplicate",
}


def _withdrawn(item: Item) -> Draft:
    assert item.verdict is not None, "only a line with such a verdict is withdrawn"
    spans, _ = carried_text(item.markdown or item.statement, lambda _: None)
    words = inline.words(spans) or item.statement
    right: list[Part] = [_stop(words), *_led(" Now: ", item.corrected_to)] if item.corrected_to and item.verdict is not Verdict.DUPLICATE else []
    under: list[Part] = [" (", plain(item.carried.heading), ")"] if item.carried and item.carried.heading else []
    text = join(_WITHDRAWN[item.verdict], *under, ": ", spans or plain(item.statement), *right)
    return Draft(text, footnotes(item.cites), item.anchor)


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def carried_text(markdown: str, resolve: Resolve) -> tuple[Spans, tuple[Block, ...]]:
    """The words of a note's own Markdown: (first line, what stands under it). Emphasis, code and lists stay; links lead to pages of this wiki or
    become words; tables and HTML stand as code."""
    source = _cells(markdown.replace("\r\n", "\n").expandtabs(4))
    rows = source.split("\n")
    first: Spans = ()
    blocks: list[Block] = []
    tokens = _markdown().parse(source)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "table_open":
            assert token.map is not None, "block tokens know their lines"
            blocks += _code_block("\n".join(rows[token.map[0] : token.map[1]]), "")
            at = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
        elif token.type in {"fence", "code_block", "html_block"}:
            blocks += _code_block(token.content, token.info)
        elif token.type == "inline":
            spans = inline.normal(_inline(token.children or [], resolve))
            if spans and not first and not blocks:
                first = spans
            elif spans:
                blocks.append(Block(spans=spans))
        at += 1
    return first, tuple(blocks)


def _cells(source: str) -> str:
    """A lone row of a table as its cells side by side; anything else unchanged."""
    row = source.strip()
    if "\n" in row or not (row.startswith("|") and row.endswith("|") and len(row) > 2):
        return source
    return " · ".join(cell for cell in (c.strip() for c in re.split(r"(?<!\\)\|", row[1:-1])) if cell)


def _code_block(text: str, info: str) -> list[Block]:
    rows = [
        "".join(ch for ch in row if ch.isprintable() or ch == " ").rstrip() for row in without_controls(text).encode("utf-8", "replace").decode().split("\n")
    ]
    body = "\n".join(rows).strip("\n")
    word = info.strip().split(" ")[0]
    return [Block(code=body, info=word if re.fullmatch(r"[A-Za-z0-9+#.-]{1,20}", word) else "")] if body.strip() else []


def _inline(tokens: Sequence[Token], resolve: Resolve) -> list[Span]:
    out: list[Span] = []
    style, target = Style.TEXT, ""
    for at, token in enumerate(tokens):
        match token.type:
            case "strong_open" | "strong_close" if _dunder(tokens, at):
                continue
            case "text" if _dunder(tokens, at):
                out.append(Span(f"__{token.content}__", Style.CODE))
            case "text":
                out += _wikilinks(token.content, style, target, resolve)
            case "code_inline":
                out.append(Span(token.content, Style.CODE))
            case "softbreak" | "hardbreak":
                out.append(Span(" "))
            case "strong_open":
                style = Style.STRONG
            case "em_open":
                style = Style.EM
            case "strong_close" | "em_close":
                style = Style.TEXT
            case "link_open":
                target = str(token.attrs["href"])
            case "link_close":
                out += _outward(target, out)
                target = ""
            case "image":
                out += [Span(token.content + " "), Span(str(token.attrs["src"]), Style.CODE)]
            case "html_inline":
                out.append(Span(token.content))
            case _:
                out.append(Span(token.content))
    return out


def _dunder(tokens: Sequence[Token], at: int) -> bool:
    """Whether this token is part of a name such as `__tests__` or `__init__`, which Markdown reads as emphasis and a writer meant as it stands."""
    start = at - ("strong_open", "text", "strong_close").index(tokens[at].type)
    three = tokens[max(start, 0) : start + 3]
    return (
        [t.type for t in three] == ["strong_open", "text", "strong_close"]
        and three[0].markup == "__"
        and re.fullmatch(r"[a-z][a-z0-9_]*", three[1].content) is not None
    )


def _wikilinks(text: str, style: Style, target: str, resolve: Resolve) -> list[Span]:
    """Text with `[[slug|words]]` resolved; inside a Markdown link the whole text is the link, when it leads to a page."""
    if target:
        page = resolve(target)
        return [Span(text, Style.LINK, page[1])] if page else [Span(text, style)]
    out: list[Span] = []
    at = 0
    for found in re.finditer(r"\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|([^\[\]]+))?\]\]", text):
        page = resolve(found[1].strip())
        words = (found[2] or (page[0] if page else found[1])).strip()
        out += [Span(text[at : found.start()], style), link(words, page[1]) if page else Span(words, style)]
        at = found.end()
    return [*out, Span(text[at:], style)]


def _outward(target: str, before: list[Span]) -> list[Span]:
    """Behind the words of a link that leads out of the wiki, its address as code, unless the words are the address."""
    if not re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE) or (before and before[-1].text == target):
        return []
    return [Span(" ("), Span(target, Style.CODE), Span(")")]


# --- footnotes ---------------------------------------------------------------------------------------------------------------------------


def footnotes(cites: Sequence[Cite]) -> tuple[Spans, ...]:
    """The footnotes of a sentence, at most four: the first (what it was learnt from) and the newest ones."""
    kept = tuple(cites) if len(cites) <= CITES_MAX else (cites[0], *cites[-(CITES_MAX - 1) :])
    return tuple(dict.fromkeys(footnote(c) for c in kept))


def footnote(cite: Cite) -> Spans:
    """Session, line, time, speaker and the proving words; or the note file, its line and when it was written."""
    if cite.session:
        parts: list[Part] = [code(short_session(cite.session)), f" line {cite.line}" if cite.line else ""]
        parts.append(f", {minute(cite.at)}" if cite.at else ", time unknown")
    else:
        parts = [code(cite.source or ""), f" line {cite.line}" if cite.line else ""]
        parts.append(f", written {day(cite.at)}" if cite.at else "")
    if cite.who:
        parts += [", ", plain(cite.who)]
    if cite.session and cite.source:
        parts += [", writes ", code(cite.source)]
    if cite.quote:
        parts += [': "', plain(inline.cut_quote(cite.quote)), '"']
    if cite.remark:
        parts += [", ", plain(cite.remark)]
    return join(*parts)


def short_session(uid: str) -> str:
    """What a person needs to recognise a session: the first eight characters of a UUID, else at most 24."""
    name = inline.clean(uid)
    keep = 8 if re.match(r"[0-9a-f]{8}-", name) else 24
    return name if len(name) <= keep + 1 else name[:keep] + "…"


def day(at: datetime | date) -> str:
    """`12 Nov 2026`, in English whatever the machine speaks; a time counts in UTC."""
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"


def minute(at: datetime) -> str:
    """`12 Nov 2026 09:41 UTC`."""
    return f"{day(at)} {at.hour:02d}:{at.minute:02d} UTC"


def days(worked: Sequence[date]) -> str:
    """`20 Nov 2026 and 24 Nov 2026`; more than three are counted and the last is named."""
    ordered = sorted(set(worked))
    if len(ordered) > 3:
        return f"{len(ordered)} days, last on {day(ordered[-1])}"
    return " and ".join(day(d) for d in ordered)
