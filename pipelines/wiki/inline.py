"""Text of others, written so that it stays text.

Statements, titles and quotes come from logs and notes; any of them may hold Markdown, HTML, footnote marks or front matter. A `Span` is the only
way such text reaches a page: its style is ours, its words are escaped. The escapes are exactly those `mdformat` writes, so that a formatter
leaves a page alone; what no escape survives a formatter for (a footnote mark, a block id) and what would become a link by itself (a bare URL,
an address) stands in a code span, where nothing is alive.
"""

from __future__ import annotations

import html.entities
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import groupby
from typing import assert_never
from urllib.parse import quote

from pipelines.text.controls import without_controls

QUOTE_CHARS_MAX = 160


class Style(StrEnum):
    """How a span looks; `link` is only ever made by dreamd, towards a page of the same wiki."""

    TEXT = "text"
    CODE = "code"
    STRONG = "strong"
    EM = "em"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Span:
    """A run of words in one style; `target` is the page path of a link, relative to the wiki folder."""

    text: str
    style: Style = Style.TEXT
    target: str = ""


Spans = tuple[Span, ...]

_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17))
    + "]"
)
_FRAME = re.compile(r"<(?=[\s/]{0,4}(?:dreamd-brief|system[-_]reminder)\b)", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_ALIVE = re.compile(
    r"""(?P<url>(?:https?://|ftp://|www\.|mailto:|xmpp:)[!#-;=?-_a-~]+)
      | (?P<mail>[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]+)+)
      | (?P<mark>\[\^[^\]]*\]?:?|\^\[[^\]]*\]?|(?<!\S)\^[A-Za-z0-9-]+(?!\S)|<!--|-->|<<+)""",
    re.VERBOSE | re.IGNORECASE,
)
_MAY_LIVE = re.compile(r"[@^<>:]|www\.", re.IGNORECASE)
"""Some character that each of the above holds: most text has none and need not be searched for them all."""
_URL_TAIL = ".,;:!?)'*_~]"


def clean(text: str) -> str:
    """One line of visible text: white space folded to single spaces, controls (whole sequences) and invisible marks dropped, lone surrogates replaced, and no tag of the
    frames that part what a session is told from what a person says."""
    if "<" in text:
        text = _FRAME.sub("‹", text)
    if text.isprintable() and "  " not in text:  # most texts: nothing to fold, drop or replace
        return text.strip(" ")
    visible = _INVISIBLE.sub("", re.sub(r"\s+", " ", without_controls(text)))
    return re.sub(" {2,}", " ", _SURROGATE.sub("\ufffd", visible)).strip()


def plain(text: str) -> Spans:
    """Words of others as spans: code spans they wrote stay code, everything else is text that cannot come alive."""
    return normal(_split_code(clean(text)))


def code(text: str) -> Spans:
    """A name, path or command of others as one code span; nothing when it is empty."""
    return normal((Span(clean(text), Style.CODE),))


def join(*parts: str | Spans) -> Spans:
    """Our own words (str) and spans of others in one run; only trusted, constant text may come as str."""
    return normal(span for part in parts for span in ((Span(part),) if isinstance(part, str) else part))


def strong_value(spans: Spans, value: str | None) -> Spans:
    """The same spans with the one place that names `value` in bold, the value alone without what is said of it; unchanged when it stands there twice, or not
    as a whole word."""
    wanted = _SAID_OF_IT.sub("", clean(value or ""))
    if not wanted or sum(s.text.count(wanted) for s in spans) != 1:
        return spans
    return normal(piece for span in spans for piece in _around(span, wanted))


_SAID_OF_IT = re.compile(
    r"(?:\s+(?:now|already|these days)\b)?\s*[,;]\s+(?:we|i|you|it|they|he|she|the|that|which|since|because|so|and|but)\b.*$|\s+now$", re.IGNORECASE
)


def _around(span: Span, wanted: str) -> Iterator[Span]:
    start = span.text.find(wanted)
    end = start + len(wanted)
    if span.style is not Style.TEXT or start < 0 or _glued(span.text, start) or _glued(span.text, end):
        yield span
        return
    yield Span(span.text[:start])
    yield Span(wanted, Style.STRONG)
    yield Span(span.text[end:])


def _glued(text: str, at: int) -> bool:
    """Whether a cut here would split a word or a number (Latin letters and digits; other scripts have no such border)."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii() and before.isalnum() and after.isalnum():
        return True
    return (before in "._-/" and after.isalnum()) or (before.isalnum() and after in "._-/%" and at + 1 < len(text) and text[at + 1].isalnum())


def _split_code(text: str) -> Iterator[Span]:
    at = 0
    for found in _CODE.finditer(text):
        yield Span(text[at : found.start()])
        yield Span(found[2], Style.CODE)
        at = found.end()
    yield Span(text[at:])


def normal(spans: Iterable[Span]) -> Spans:
    """The one form of a run of spans: cleaned, live text quietened, equal neighbours merged, emphasis only where every reader sees it."""
    settled, before = tuple(spans), None
    while settled != before:  # what was merged or made plain may hold something live again; code only grows, so this ends
        before = settled
        settled = _trim(_settle(_merge(piece for span in before for piece in _quieten(span))))
    if len(settled) == 1 and settled[0].style is Style.TEXT and not any(ch.isalnum() for ch in settled[0].text):
        return (Span(settled[0].text, Style.CODE),)  # "---", "===", "|-": alone on a line these would be a rule, a heading, a table
    return settled


def _quieten(span: Span) -> Iterator[Span]:
    """Put what would become a link, a footnote or a block id into code spans; controls and folded white space are gone afterwards."""
    text = _fold(span.text)
    if span.style is Style.CODE:
        yield Span(text.strip(), Style.CODE)
        return
    if span.style is Style.LINK:
        yield Span(re.sub(r"\^*\[\^*", "[", clean(text)), Style.LINK, span.target)  # no code inside a link: a footnote mark loses its caret
        return
    if not _MAY_LIVE.search(text):
        yield Span(text, span.style)
        return
    at = 0
    for found in _ALIVE.finditer(text):
        word = found[0]
        if found["url"]:
            word = _url(word)
        if not word:
            continue
        yield Span(text[at : found.start()], span.style)
        yield Span(word, Style.CODE)
        at = found.start() + len(word)
    yield Span(text[at:], span.style)


def _url(word: str) -> str:
    """A URL without the punctuation of the sentence around it; a closing bracket stays when it was opened inside."""
    while word and word[-1] in _URL_TAIL and not (word[-1] == ")" and word.count("(") >= word.count(")")):
        word = word[:-1]
    return word


def _fold(text: str) -> str:
    """`clean` without trimming: a space at the edge of a span parts it from its neighbour."""
    if not text.strip():
        return " " if text else ""
    return (" " if text[0].isspace() else "") + clean(text) + (" " if text[-1].isspace() else "")


def _merge(spans: Iterable[Span]) -> list[Span]:
    """Spans that say something, neighbours of one style joined: text and code; each run at once, since a paragraph may have thousands of lines."""
    told = (span for span in spans if span.text and (span.style is Style.TEXT or span.text.strip()))
    out: list[Span] = []
    for style, run in groupby(told, key=lambda span: span.style):
        same = list(run)
        if len(same) == 1 or style not in {Style.TEXT, Style.CODE}:
            out += same
        else:
            words_ = "".join(span.text for span in same)
            out.append(Span(re.sub(" {2,}", " ", words_) if style is Style.TEXT else words_, style))
    return out


def _settle(spans: list[Span]) -> list[Span]:
    """Make emphasis plain where its marks would not be read as such: between letters and punctuation, next to other marks (CommonMark's flanking rules)."""
    loud = {Style.STRONG, Style.EM}
    calm: list[Span] = []
    for n, span in enumerate(spans):
        near = calm[-1] if calm else Span("")
        after = spans[n + 1].text[:1] if n + 1 < len(spans) else ""
        if span.style in loud and (near.style in loud or not _stands(span, near.text[-1:], after)):
            span = Span(span.text)
        if span.style is Style.LINK and near.text.endswith("^"):
            span = Span(span.text)
        calm.append(span)
    merged = _merge(calm)
    return merged if merged == spans else _settle(merged)


def _stands(span: Span, before: str, after: str) -> bool:
    """Whether emphasis opens and closes here: a letter inside each mark, or white space outside it."""
    first, last = span.text[0], span.text[-1]
    opens = first.isalnum() or (not first.isspace() and (not before or before.isspace()))
    closes = last.isalnum() or (not last.isspace() and (not after or after.isspace()))
    return opens and closes


def _trim(spans: list[Span]) -> Spans:
    if spans and spans[0].style is Style.TEXT:
        spans[0] = Span(spans[0].text.lstrip())
    if spans and spans[-1].style is Style.TEXT:
        spans[-1] = Span(spans[-1].text.rstrip())
    return tuple(s for s in spans if s.text)


def words(spans: Iterable[Span]) -> str:
    """The words of spans without any mark: what searching and comparing look at."""
    return "".join(s.text for s in spans)


# --- writing -----------------------------------------------------------------------------------------------------------------------------


def write(spans: Spans, *, here: str = "", readable: bool = False) -> str:
    """Markdown of spans inside a line. `here` is the path of the page they stand on, for relative links; `readable` writes them in their own script."""
    out = ""
    for span in _merge(spans):
        if span.style is Style.LINK and out.endswith("!"):
            out = out[:-1] + "\\!"
        out += _write(span, here, readable)
    return out


def write_line(spans: Spans, *, here: str = "", readable: bool = False) -> str:
    """Markdown of spans that open a line: nothing at its start is read as a heading, a quote, a list, a number or a task."""
    text = write(spans, here=here, readable=readable)
    first = text[:1]
    if first in _LEADS and re.match(r"#{1,6}( |$)|>|[-*+]( |$)", text):
        return "\\" + text
    if first.isdecimal():
        return re.sub(r"^(\d+)([.)])(?= |$)", r"\1\\\2", text)
    return re.sub(r"^\[([ xX])\]", r"\\[\1\\]", text) if first == "[" else text


_LEADS = frozenset("#>-*+")
"""What a heading, a quote or a list begins with."""


def write_heading(spans: Spans) -> str:
    """Markdown of spans inside a heading; a closing hash is a word, not a mark."""
    text = write(spans)
    return text[:-1] + "\\#" if text.endswith("#") else text


def _write(span: Span, here: str, readable: bool) -> str:
    match span.style:
        case Style.TEXT:
            return escape(span.text)
        case Style.CODE:
            return _write_code(span.text)
        case Style.STRONG:
            return f"**{escape(span.text)}**"
        case Style.EM:
            return f"*{escape(span.text)}*"
        case Style.LINK:
            target = relative(span.target, here)
            return f"[{escape(span.text)}]({target if readable else quote(target, safe='/-._~')})"
        case _:
            assert_never(span.style)


def relative(target: str, here: str) -> str:
    """The way from page `here` to page `target`; both are paths below the wiki folder, at most one folder deep."""
    folder = here.rpartition("/")[0]
    if folder and target.startswith(folder + "/"):
        target = target.removeprefix(folder + "/")
    elif folder:
        target = "../" + target
    return target


def _write_code(words_: str) -> str:
    longest = max((len(run) for run in re.findall("`+", words_)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {words_} {ticks}" if longest else f"`{words_}`"


def escape(text: str) -> str:
    """Text with Markdown's characters escaped, in the very form `mdformat` writes. What stands in no text at hand is not looked for by a pattern."""
    text = text.replace("\\", "\\\\")
    text = _escape_runs(text, "*", bare=_between_spaces)
    text = _escape_runs(text, "_", bare=_inside_word_or_between_spaces)
    text = _escape_brackets(text)
    if "<" in text:
        text = re.sub(r"<(?:[^ ]|$)", r"\\\g<0>", text)
    text = text.replace("`", "\\`")
    if "&" in text:
        text = _entities().sub(r"\\\g<0>", text)
    return text.replace("~~", "\\~~")


def _escape_runs(text: str, mark: str, *, bare: Callable[[str, str], bool]) -> str:
    if mark not in text:
        return text
    padded = f"\n{text}\n"
    at_edge = {0, len(text) - 1}
    return "".join(
        ch if ch != mark or (i not in at_edge and bare(padded[i], padded[i + 2])) else "\\" + ch
        for i, ch in enumerate(text)
    )  # fmt: skip


def _between_spaces(before: str, after: str) -> bool:
    return before.isspace() and after.isspace()


def _inside_word_or_between_spaces(before: str, after: str) -> bool:
    return _between_spaces(before, after) or not (_is_border(before) or _is_border(after))


def _is_border(ch: str) -> bool:
    return ch.isspace() or unicodedata.category(ch)[0] in "PS"


def _escape_brackets(text: str) -> str:
    """Escape square brackets unless a pair encloses no other bracket and is followed by neither `(` nor `:` (then it is a link nowhere)."""
    if "[" not in text and "]" not in text:
        return text
    escaped: set[int] = set()
    opened: int | None = None
    for found in re.finditer(r"[\[\]]", text):
        at = found.start()
        if found[0] == "[":
            if opened is not None:
                escaped.add(opened)
            opened = at
        elif opened is None:
            escaped.add(at)
        else:
            if text[at + 1 : at + 2] in {":", "("}:
                escaped |= {opened, at}
            opened = None
    if opened is not None:
        escaped.add(opened)
    return "".join("\\" + ch if i in escaped else ch for i, ch in enumerate(text)) if escaped else text


@cache
def _entities() -> re.Pattern[str]:
    """Character references HTML knows; compiled once, when first needed (the names are 2,000)."""
    names = "|".join(sorted({name.rstrip(";") for name in html.entities.html5}))
    return re.compile(f"&(?:#[0-9]{{1,7}}|#[Xx][0-9A-Fa-f]{{1,6}}|{names});")


# --- quotes ------------------------------------------------------------------------------------------------------------------------------


def cut_quote(text: str, chars_max: int = QUOTE_CHARS_MAX) -> str:
    """At most `chars_max` characters, cut at the text's own punctuation where enough stands before it, else between words; an ellipsis says that it was cut."""
    line = clean(text)
    if len(line) <= chars_max:
        return line
    head = line[: chars_max - 2]
    for marks, least in ((_SENTENCE_END, chars_max // 4), (_CLAUSE_END, chars_max * 2 // 3), (r"\s", chars_max // 4)):
        ends = [m.end() for m in re.finditer(marks, head) if m.end() >= least]
        if ends:
            return head[: ends[-1]].rstrip() + " …"
    return head + " …"


_SENTENCE_END = r"[.!?](?=\s)|[。！？]"
_CLAUSE_END = r"[,;:)](?=\s)|[，；：、）]"
