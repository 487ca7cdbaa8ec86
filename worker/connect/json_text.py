"""Edits a JSON settings file as text: one hook more or one less, and every other byte as it was. Pure.

The agents' programs write these files, and so do people: order, indentation and keys nobody here knows stay. What is no plain JSON with LF line ends is
refused, since it could not be given back as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pipelines.errors import Refused

HOOKS: Final = "hooks"
_BLANK: Final = re.compile(r"[ \t\n]*")
_PLAIN: Final = re.compile(r"[^ \t\n,\]}]+")
_UNIT: Final = "  "


@dataclass(frozen=True, slots=True)
class _Child:
    """A member or an item: where it begins (with its key) and ends, its key, and its value."""

    start: int
    end: int
    key: str
    value: _Node


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the text: where it stands, and what stands in it."""

    start: int
    end: int
    children: tuple[_Child, ...] = ()

    def member(self, key: str) -> _Child | None:
        return next((c for c in self.children if c.key == key), None)


def checked(data: bytes) -> str:
    """The text of a settings file that can be edited. Raises Refused saying what is in the way; the caller names the file."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise Refused("it begins with a byte order mark: save it as UTF-8 without one")
    if b"\r" in data:
        raise Refused("its lines end in CR LF: save it with LF line ends")
    try:
        text = data.decode()
        said = json.loads(text, object_pairs_hook=_unlike, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8") from None
    except RecursionError:
        raise Refused("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Refused(f"line {error.lineno} is not JSON ({error.msg}; comments and commas behind the last item are none)") from None
    _require_hooks(said)
    return text


def with_hooks(text: str, hooks: Mapping[str, Mapping[str, Any]]) -> str:
    """The text with one group of hooks more for each event."""
    for event, group in hooks.items():
        text = _added(text, event, group)
    return text


def without_hooks(text: str, commands: Collection[str], *, stood: str = "{}") -> str:
    """The text without the hooks that run one of these commands, and without what was made for them alone: what stood in `stood` stays, even empty."""
    before = json.loads(stood).get(HOOKS)
    kept = {HOOKS, *before} if isinstance(before, dict) else set()
    while (cut := _cut(text, commands, kept)) is not None:
        text = cut
    return text


def commands_of(text: str) -> Mapping[str, tuple[str, ...]]:
    """Event → the commands its hooks run."""
    said = json.loads(text).get(HOOKS, {})
    return {event: tuple(_commands(groups)) for event, groups in said.items()}


# --- what is there -----------------------------------------------------------------------------------------------------------------------


def _unlike(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    out = dict(pairs)
    if len(out) < len(pairs):
        twice = next(k for k, _ in pairs if sum(k == other for other, _ in pairs) > 1)
        raise Refused(f"it says {twice!r} twice")
    return out


def _no_constant(name: str) -> None:
    raise Refused(f"{name} is not JSON")


def _require_hooks(said: object) -> None:
    if not isinstance(said, dict):
        raise Refused("it holds no JSON object")
    hooks = said.get(HOOKS, {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise Refused('its "hooks" are not a list for each event')


def _commands(groups: object) -> Iterator[str]:
    for group in groups if isinstance(groups, list) else ():
        inner = group.get(HOOKS) if isinstance(group, dict) else None
        for hook in inner if isinstance(inner, list) else ():
            if isinstance(hook, dict) and isinstance(hook.get("command"), str):
                yield hook["command"]


def _parsed(text: str, at: int = 0) -> _Node:
    """The value at a place of a text that is known to be JSON."""
    start = _skip(text, at)
    if text[start] in "{[":
        return _container(text, start)
    if text[start] == '"':
        return _Node(start, _string(text, start)[1])
    found = _PLAIN.match(text, start)
    assert found is not None, "JSON that was read before"
    return _Node(start, found.end())


def _container(text: str, start: int) -> _Node:
    named, close = text[start] == "{", "}" if text[start] == "{" else "]"
    children: list[_Child] = []
    at = _skip(text, start + 1)
    while text[at] != close:
        at = _skip(text, at + 1) if text[at] == "," else at
        begin, key = at, ""
        if named:
            key, at = _string(text, at)
            at = _skip(text, at) + 1  # the colon
        value = _parsed(text, at)
        children.append(_Child(begin, value.end, key, value))
        at = _skip(text, value.end)
    return _Node(start, at + 1, tuple(children))


def _string(text: str, start: int) -> tuple[str, int]:
    said, end = json.JSONDecoder().raw_decode(text, start)
    return str(said), end


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None, "it matches everywhere"
    return found.end()


# --- one more ----------------------------------------------------------------------------------------------------------------------------


def _added(text: str, event: str, group: Mapping[str, Any]) -> str:
    root = _parsed(text)
    hooks = root.member(HOOKS)
    if hooks is None:
        return _appended(text, root, HOOKS, {event: [group]}, root)
    groups = hooks.value.member(event)
    if groups is None:
        return _appended(text, hooks.value, event, [group], root)
    return _appended(text, groups.value, "", group, root)


def _appended(text: str, into: _Node, key: str, value: object, root: _Node) -> str:
    """A child more at the end of an object or a list, as its neighbours are written: each on a line of its own, or all in one."""
    unit = _unit(text, root)
    named = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    if into.children:
        last = into.children[-1]
        indent = _indent(text, last.start)
        if indent is None:
            return f"{text[: last.end]}, {named}{json.dumps(value, ensure_ascii=False)}{text[last.end :]}"
        return f"{text[: last.end]},\n{indent}{named}{_written(value, indent, unit)}{text[last.end :]}"
    around = _line_indent(text, into.start)
    inner = around + unit
    return f"{text[: into.start + 1]}\n{inner}{named}{_written(value, inner, unit)}\n{around}{text[into.end - 1 :]}"


def _written(value: object, indent: str, unit: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", "\n" + indent)


def _unit(text: str, root: _Node) -> str:
    """How deep the file indents a level."""
    return (_indent(text, root.children[0].start) if root.children else None) or _UNIT


def _indent(text: str, at: int) -> str | None:
    """The blanks before a child that begins its line; None where something stands before it."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if "\n" in text[:at] and not before.strip(" \t") else None


def _line_indent(text: str, at: int) -> str:
    """The blanks the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


# --- one less ----------------------------------------------------------------------------------------------------------------------------


def _cut(text: str, commands: Collection[str], kept: Collection[str]) -> str | None:
    """The text without the first hook of ours, or without what is left empty by it; None when there is none."""
    root = _parsed(text)
    hooks = root.member(HOOKS)
    for event in hooks.value.children if hooks else ():
        for n, group in enumerate(event.value.children):
            inner = group.value.member(HOOKS)
            mine = [i for i, hook in enumerate(inner.value.children) if _runs(text, hook, commands)] if inner else []
            if not inner or not mine:
                continue
            if len(mine) < len(inner.value.children):
                return _dropped(text, inner.value, mine[0])
            if len(event.value.children) > 1 or event.key in kept:
                return _dropped(text, event.value, n)
            assert hooks is not None, "its event stands in it"
            if len(hooks.value.children) > 1 or HOOKS in kept:
                return _dropped(text, hooks.value, hooks.value.children.index(event))
            return _dropped(text, root, root.children.index(hooks))
    return None


def _runs(text: str, hook: _Child, commands: Collection[str]) -> bool:
    command = hook.value.member("command")
    return command is not None and json.loads(text[command.value.start : command.value.end]) in commands


def _dropped(text: str, of: _Node, n: int) -> str:
    """A child less, with the comma that parted it from its neighbour: what `_appended` added goes whole."""
    if len(of.children) == 1:
        return text[: of.start + 1] + text[of.end - 1 :]
    if n == len(of.children) - 1:
        return text[: of.children[n - 1].end] + text[of.children[n].end :]
    return text[: of.children[n].start] + text[of.children[n + 1].start :]
