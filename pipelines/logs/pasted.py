"""Finds what a person pasted into a message they typed: quotes, fenced code, logs, stack traces, code, terminal output, long documents.

Lines are judged by shape alone. A line of a log, a stack trace or a prompt counts by itself; code and data need company, since people write
`name: value` too. What stands between pasted lines without being prose is pasted with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

DOCUMENT_CHARS = 1200
"""A message of this length with `DOCUMENT_MARKS` headings or list items in `DOCUMENT_LINES` lines is a document somebody wrote, not an utterance."""
DOCUMENT_MARKS = 3
DOCUMENT_LINES = 8
INTRODUCED_CHARS = 600
"""What stands behind "summarize the text below:" is shown, not said, when it is at least this long."""
SHAPE_MAX = 1000
"""Characters of a line that tell what it is; bounds the work of the patterns."""
GAP_LINES = 3
"""How many lines that say nothing by themselves may stand between two pasted ones."""


def quoted_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of `text` that the person did not say but show: ordered, apart, each of whole lines."""
    if "\n" not in text and len(text) < DOCUMENT_CHARS and not _STRONG.match(text):
        return ()
    lines = text.splitlines(keepends=True)
    marked = _joined(lines, _marks(lines))
    starts = (_document_start(text, lines), _introduced_start(lines), _shown_start(lines), _mail_start(lines))
    start = min((found for found in starts if found is not None), default=None)
    if start is not None:
        marked = [pasted or number >= start for number, pasted in enumerate(marked)]
    return _spans(lines, marked)


class _Mark(IntEnum):
    """What a line looks like by itself."""

    PROSE = 0
    NEUTRAL = 1
    WEAK = 2
    STRONG = 3


_FENCE = re.compile(r"\s*(?:```|~~~)")
_STRONG = re.compile(
    r"""
      \s*>(?!\d)                                                      # a quoted line, a Python prompt
    | \s*\[?\d{4}-\d\d-\d\d[T\x20]\d\d:\d\d                           # logs: times, levels
    | \s*\[?\d\d:\d\d:\d\d[\].,\x20]
    | \s*(?:\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|CRITICAL|NOTICE)\]?)[:\s\]]
    | [A-Z][a-z]{2}\s+\d+\s\d\d:\d\d
    | \s+at\s\S.*[):\d]\s*$                                           # stack traces
    | \s*File\s".*",\sline\s\d+ | Traceback\s | Caused\sby: | panic:\s | goroutine\s\d+
    | \s*(?:\w+\.)*\w*(?:Error|Exception)(?:\s\[\w+\])?:\s
    | \s*[\w./\\-]+\.\w+:\d+(?::\d+)?[:\s]                            # compilers and linters
    | \s*(?:error|warning)(?:\[\w+\])?:\s | npm\s(?:ERR!|WARN|error|warn) | \s*(?:FAIL|PASS|FAILED|PASSED)\s
    | \s*\d+\s[|│]\s | \s*[│┃╭╰├└┌┐▌⏺●✻✽⎿❯➜✗✓✔×⏵]
    | \$\s\S | %\s\S | \w[\w.-]*@[\w.-]+[:~\s][^\n]*[$\#%]            # prompts
    | diff\s--git | @@\s-\d | \+\+\+\s | ---\s[ab]/ | index\s[0-9a-f]{7,}\.\.
    | On\s.{5,80}\swrote:\s*$ | \s*(?:From|Sent|Subject):\s.*$ | -{3,}\s?(?:Original|Forwarded)
    """,
    re.VERBOSE,
)
_WEAK = re.compile(
    r"""
      .*[{};]\s*$ | .*=>\s*[{(]?\s*$ | .*\)\s*:\s*$                   # code
    | \s*(?:import|from|export|const|let|var|function|async|def|class|return|public|private|static|package|use|pub|fn|func|type|interface|if|for|while)\b.*[;:{()=]
    | \s*[}\])][}\]);,]*\s*$ | \s*</?[A-Za-z].*>\s*$ | \s*</?[A-Za-z][\w.]*\s*$ | \s*/?>\s*$
    | \s*(?://|/\*|\*/|\*\s@|\#!|--\s) | \s*@\w+(?:\(|\s*$)
    | \s+["']?[\w.-]+["']?\s*[:=]\s*\S | \s*"[^"]+"\s*:\s            # data
    | \s*\|.*\|\s*$ | \s*[-=_*]{5,}\s*$ | [+-](?![\s-])\S | \s*[\w./-]+\s*\|\s*\d+\s[+-]
    | (?:export\s)?[A-Z][A-Z0-9_]{2,}=\S
    """,
    re.VERBOSE,
)
_STRUCTURE = re.compile(r"\s*(?:#{1,6}\s|[-*•·–]\s|\d{1,2}[.)、．]\s*\S|[一二三四五六七八九十]+[、.．]|\*\*[^*]+\*\*|\([a-z0-9]\)\s|\|)")
_INTRODUCES = re.compile(
    r"(?:\b(?:below|following|here(?:'s|\u2019s| is| are)|this (?:text|article|e-?mail|message|log|plan|review|feedback|document))\b|以下|下面|如下|這[份篇段封]|这[份篇段封])"
    r"[^\n]*[:：]\s*$",
    re.IGNORECASE,
)
_DOCUMENT = (
    r"(?:readme|file|page|article|blog|posts?|docs?|documents?|documentation|spec|rfc|tickets?|issue|bug report|pull request|pr|e-?mails?|letter|thread|comments?"
    r"|threads?|transcript|chat|output|logs?|runbook|wiki|policy|contract|changelog|snippet|review|answer|reply|paragraph|text|message|prompt)"
)
_SHOWS = re.compile(
    rf"\b(?:that|the|his|her|their|\w+['’]s)\s+(?:[\w'’.-]+\s+){{0,2}}?{_DOCUMENT}\b[^\n]{{0,80}}[:：]\s*$"
    rf"|(?:\b(?:this|these|following|attached)\s+(?:[\w'’.-]+\s+){{0,2}}?{_DOCUMENT}\b"
    r"|(?:这|這|下面|以下|那)(?:[份篇段封个個条條些]|的|是)?.{0,6}?(?:邮件|郵件|文档|文檔|文件|文章|网页|網頁|日志|日誌|工单|消息|报告|說明|说明|内容|README))[^\n]{0,80}[:：?？]\s*$",
    re.IGNORECASE,
)
_MAIL = re.compile(
    r"\s*(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To|Message-ID|发件人|收件人|主题|日期|Von|An|Betreff|De|À|Objet|Para|Asunto|От|Кому|Тема|差出人|宛先|件名)\s?[:：]\s?\S"
)
_PROSE_WORDS = 6
_PROSE_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{6}")


def _marks(lines: Sequence[str]) -> list[_Mark]:
    marks: list[_Mark] = []
    fenced = False
    for line in lines:
        fence = _FENCE.match(line) is not None
        marks.append(_Mark.STRONG if fenced or fence else _mark(line))
        fenced = fenced != fence
    return marks


def _mark(line: str) -> _Mark:
    line = line[:SHAPE_MAX]
    if _STRONG.match(line):
        return _Mark.STRONG
    if _WEAK.match(line):
        return _Mark.WEAK
    return _Mark.PROSE if len(line.split()) >= _PROSE_WORDS or _PROSE_CJK.search(line) else _Mark.NEUTRAL


def _joined(lines: Sequence[str], marks: Sequence[_Mark]) -> list[bool]:
    """Which lines are pasted: runs of marked lines with small gaps, that hold a strong one or two weak ones; then the rest of their paragraph."""
    pasted = [False] * len(lines)
    for start, end in _runs(marks):
        inside = marks[start:end]
        if _Mark.STRONG in inside or sum(mark is _Mark.WEAK for mark in inside) >= 2:
            pasted[start:end] = [True] * (end - start)
    for number in range(1, len(lines)):
        # A pasted paragraph goes on until a blank line, unless the person answers it in prose.
        if pasted[number - 1] and not pasted[number] and lines[number].strip() and lines[number][:1] in " \t":
            pasted[number] = True
    return pasted


def _runs(marks: Sequence[_Mark]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number, mark in enumerate(marks):
        if mark < _Mark.WEAK:
            continue
        gap = marks[runs[-1][1] : number] if runs else ()
        if runs and len(gap) <= GAP_LINES and _Mark.PROSE not in gap:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def _document_start(text: str, lines: Sequence[str]) -> int | None:
    structured = [number for number, line in enumerate(lines) if _STRUCTURE.match(line)]
    if len(text) < DOCUMENT_CHARS or len(structured) < DOCUMENT_MARKS or sum(1 for line in lines if line.strip()) < DOCUMENT_LINES:
        return None
    return structured[0]


def _introduced_start(lines: Sequence[str]) -> int | None:
    """The line behind one of the first three that introduces a long text."""
    introduced = next((number + 1 for number, line in enumerate(lines[:3]) if len(line) < INTRODUCED_CHARS and _INTRODUCES.search(line)), None)
    if introduced is None or sum(map(len, lines[introduced:])) < INTRODUCED_CHARS:
        return None
    return introduced


def _shown_start(lines: Sequence[str]) -> int | None:
    """The line behind one of the first three that names a document and is followed by a blank line: "Review this mail:", "what does this README say?"."""
    return next(
        (n + 1 for n, line in enumerate(lines[:3]) if len(line) < INTRODUCED_CHARS and _SHOWS.search(line) and not "".join(lines[n + 1 : n + 2]).strip()), None
    )


def _mail_start(lines: Sequence[str]) -> int | None:
    """The first of two header lines of a mail: all behind them is its body, however the person goes on."""
    return next((n for n in range(len(lines) - 1) if _MAIL.match(lines[n]) and _MAIL.match(lines[n + 1])), None)


def _spans(lines: Sequence[str], pasted: Sequence[bool]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    at = 0
    for line, is_pasted in zip(lines, pasted, strict=True):
        end = at + len(line)
        if is_pasted:
            if spans and spans[-1][1] == at:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((at, end))
        at = end
    return tuple(spans)
