"""What a shell command line says of itself: its parts, what joins them, and whether its exit status tells the truth about each part.

A reader of POSIX-like lines (sh, bash, zsh) good enough for logs; it runs nothing. A line it cannot read (an unclosed quote) has no parts.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from functools import lru_cache

_OPERATORS = ("&&", "||", "|&", ";;", "|", ";", "&", "\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_REDIRECTION = re.compile(r"(?:\d?>{1,2}|&>{1,2}|<)(?P<target>&?\S+)?")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One simple command of a line: its text as it stands, where it begins, and the operator that follows it ("" at the end).

    `environment` are the leading `NAME=value` words; `words` the others, quotes kept as written, without redirections and a trailing comment;
    `bare` is the command without a redirection or comment at its end (`2>&1`, `> log`): a prefix of `text`.
    """

    text: str
    start: int
    then: str
    environment: tuple[str, ...]
    words: tuple[str, ...]
    bare: str


NESTED_MAX = 50
"""Brackets in one another that are followed; nobody types more, and a log may hold any number."""


def _depth(line: str) -> int:
    return max(itertools.accumulate((ch == "(") - (ch == ")") for ch in line if ch in "()"), default=0)


@lru_cache(maxsize=1024)
def parts(line: str) -> tuple[Part, ...]:
    """The simple commands of a line in order; empty when quotes or brackets do not close, or are nested beyond NESTED_MAX."""
    if _depth(line) > NESTED_MAX:
        return ()
    found: list[Part] = []
    begin = 0
    at = 0
    while at < len(line):
        step = _skip(line, at)
        if step is None:
            return ()
        if step > at:
            at = step
            continue
        operator = _operator(line, at)
        if operator:
            _add(found, line, begin, at, operator)
            at += len(operator)
            begin = at
        else:
            at += 1
    _add(found, line, begin, len(line), "")
    return tuple(found)


def shown_status(given: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts whose success an exit status of 0 proves: those joined by `&&` to the end of the line, with no pipe, `||` or `&` after them."""
    if not given or given[-1].then not in {"", ";", "\n"}:
        return ()
    proved: list[Part] = []
    for part in reversed(given):
        if part is not given[-1] and part.then != "&&":
            break
        proved.append(part)
    if len(proved) < len(given) and given[-len(proved) - 1].then in {"|", "|&", "||"}:
        proved.pop()  # the first of them is the end of a pipe or the second choice: its status is not that of the command before it
    return tuple(reversed(proved))


def _add(found: list[Part], line: str, begin: int, end: int, operator: str) -> None:
    text = line[begin:end]
    lead = len(text) - len(text.lstrip(" \t(\n"))
    text = text.strip(" \t\n").lstrip("( \t\n")
    if text and not text.startswith("#"):
        found.append(_part(text, begin + lead, operator))
    elif found and operator and not found[-1].then:
        found[-1] = replace(found[-1], then=operator)


def _part(text: str, start: int, then: str) -> Part:
    plain = _plain(_words(text))
    words = [w for w, _ in plain]
    environment = tuple(itertools.takewhile(_ASSIGNMENT.match, words))
    bare = text[: plain[-1][1] + len(plain[-1][0])] if plain else text
    return Part(text=text, start=start, then=then, environment=environment, words=tuple(words[len(environment) :]), bare=bare)


def _operator(line: str, at: int) -> str:
    if line[at] == "&" and (line[at - 1 : at] in {">", "<"} or line[at + 1 : at + 2] == ">"):
        return ""
    return next((o for o in _OPERATORS if line.startswith(o, at)), "")


def _skip(line: str, at: int) -> int | None:
    """The end of the quoted, escaped, substituted or here-document stretch at `at`; `at` itself when there is none, None when it never closes."""
    mark = line[at]
    if mark == "\\":
        return min(at + 2, len(line))
    if mark == "'":
        end = line.find("'", at + 1)
        return None if end < 0 else end + 1
    if mark in {'"', "`"}:
        return _closing(line, at, mark)
    if line.startswith("$(", at):
        return _bracket(line, at + 1)
    if line.startswith("<<", at) and (here := _HEREDOC.match(line, at)):
        end_mark = re.compile(rf"^\s*{re.escape(here[2])}\s*$", re.MULTILINE).search(line, here.end())
        return None if end_mark is None else end_mark.end()
    if mark == "#" and (at == 0 or line[at - 1].isspace()):
        end = line.find("\n", at)
        return len(line) if end < 0 else end
    return at


def _closing(line: str, at: int, mark: str) -> int | None:
    i = at + 1
    while i < len(line):
        if line[i] == "\\":
            i += 2
        elif line[i] == mark:
            return i + 1
        elif mark == '"' and line.startswith("$(", i):
            inner = _bracket(line, i + 1)
            if inner is None:
                return None
            i = inner
        else:
            i += 1
    return None


def _bracket(line: str, at: int) -> int | None:
    """The end of the `( … )` that opens at `at`."""
    i = at + 1
    while i < len(line):
        if line[i] == ")":
            return i + 1
        if line[i] == "(":
            inner = _bracket(line, i)
            if inner is None:
                return None
            i = inner
            continue
        step = _skip(line, i)
        if step is None:
            return None
        i = step if step > i else i + 1
    return None


def _plain(words: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The words that are neither a redirection, nor its target, nor a comment."""
    found: list[tuple[str, int]] = []
    target = False
    for word, at in words:
        redirection = _REDIRECTION.fullmatch(word)
        if target:
            target = False
        elif redirection:
            target = redirection["target"] is None
        elif word.startswith("#"):
            break
        else:
            found.append((word, at))
    return found


def _words(text: str) -> list[tuple[str, int]]:
    """The words of a command with where each begins; a comment is one word."""
    found: list[tuple[str, int]] = []
    word_at: int | None = None
    at = 0
    while at < len(text):
        if text[at].isspace():
            if word_at is not None:
                found.append((text[word_at:at], word_at))
                word_at = None
            at += 1
            continue
        word_at = at if word_at is None else word_at
        step = _skip(text, at)
        at = at + 1 if step is None or step == at else step
    if word_at is not None:
        found.append((text[word_at:], word_at))
    return found
