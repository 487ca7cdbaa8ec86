"""Lines are read joined only because no rule can match across the walls between them: shown here of every rule, from its automaton."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Set
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from pipelines.logs.redaction import FAR, HIGH_WALL, WALL, joined_look, open_scanner
from tests.redacting import private_key, rule_cache, shared_redactor, vendor_keys

c: Any = import_module("re._constants")  # Python's own parser of patterns, which has no types
parser: Any = import_module("re._parser")
REPLACED = "betterleaks.private-key"
"""Follows a key block over anything; nobody asks what it finds."""
KUBERNETES = "betterleaks.kubernetes-secret-yaml"
"""The one rule that only the higher wall stops."""


@cache
def category(name: object) -> frozenset[int]:
    classes = {c.CATEGORY_DIGIT: rb"\d", c.CATEGORY_SPACE: rb"\s", c.CATEGORY_WORD: rb"\w"}
    if name in classes:
        return frozenset(b for b in range(256) if re.match(classes[name], bytes([b]))) - {0x1C, 0x1D, 0x1E, 0x1F}  # to Rust these are no spaces
    opposite = {c.CATEGORY_NOT_DIGIT: c.CATEGORY_DIGIT, c.CATEGORY_NOT_SPACE: c.CATEGORY_SPACE, c.CATEGORY_NOT_WORD: c.CATEGORY_WORD}
    return frozenset(range(256)) - category(opposite[name])


def both_cases(codes: Iterable[int]) -> frozenset[int]:
    """The bytes in either case: every rule is read as one that does not mind."""
    return frozenset(ord(x) for code in codes if code < 128 for x in chr(code).lower() + chr(code).upper())


def members(op: Any, arg: Any, dot_is_all: bool) -> frozenset[int]:
    """The bytes one step of a pattern takes."""
    every = frozenset(range(256))
    if op is c.ANY:
        return every if dot_is_all else every - {10}
    if op is c.LITERAL:
        return both_cases([arg])
    if op is c.NOT_LITERAL:
        return every - {arg}
    if op is c.RANGE:
        return both_cases(range(arg[0], arg[1] + 1)) | frozenset(range(max(128, arg[0]), min(256, arg[1] + 1)))
    if op is c.CATEGORY:
        return category(arg)
    assert op is c.IN, op
    taken = frozenset[int]().union(*(members(o, a, dot_is_all) for o, a in arg if o is not c.NEGATE))
    return every - taken if arg[0][0] is c.NEGATE else taken


class Automaton:
    """A rule's pattern as states: `free` moves, and `steps` that take a byte. It may match more than the rule does (`\\b` is always true), never less."""

    def __init__(self, pattern: str) -> None:
        pattern = re.sub(r"\(\?-?i:", "(?:", re.sub(r"\(\?-?i\)", "", pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]")))
        dot_is_all = pattern.startswith("(?s)")
        self.free: list[list[int]] = []
        self.steps: list[tuple[frozenset[int], int] | None] = []
        self.before_end: set[int] = set()
        self.behind_begin: set[int] = set()
        self.start = self._state()
        self.accept = self._all(parser.parse(pattern.removeprefix("(?s)")), self.start, dot_is_all)

    def _state(self) -> int:
        self.free.append([])
        self.steps.append(None)
        return len(self.free) - 1

    def _all(self, parsed: Any, at: int, dot_is_all: bool) -> int:
        for op, arg in parsed:
            at = self._one(op, arg, at, dot_is_all)
        return at

    def _one(self, op: Any, arg: Any, at: int, dot_is_all: bool) -> int:
        if op is c.SUBPATTERN:
            _, on, off, inside = arg
            return self._all(inside, at, (dot_is_all or bool(on & re.DOTALL)) and not off & re.DOTALL)
        if op is c.BRANCH:
            end = self._state()
            for way in arg[1]:
                self.free[self._all(way, at, dot_is_all)].append(end)
            return end
        if op in {c.MAX_REPEAT, c.MIN_REPEAT}:
            low, high, inside = arg
            return self._repeated(low, high, inside, at, dot_is_all)
        end = self._state()
        if op is not c.AT:
            self.free[at].append(step := self._state())
            self.steps[step] = (members(op, arg, dot_is_all), end)
        elif arg in {c.AT_END, c.AT_END_STRING}:
            self.before_end.add(at)
        elif arg in {c.AT_BEGINNING, c.AT_BEGINNING_STRING}:
            self.behind_begin.add(end)
        else:
            self.free[at].append(end)
        return end

    def _repeated(self, low: int, high: Any, inside: Any, at: int, dot_is_all: bool) -> int:
        for _ in range(low):
            at = self._all(inside, at, dot_is_all)
        end = self._state()
        if high is c.MAXREPEAT:
            self.free[at].append(begin := self._state())
            self.free[begin].append(end)
            self.free[self._all(inside, begin, dot_is_all)].append(begin)
            return end
        for _ in range(high - low):
            self.free[at].append(end)
            at = self._all(inside, at, dot_is_all)
        self.free[at].append(end)
        return end

    def reached(self, states: Iterable[int]) -> Set[int]:
        seen = set(states)
        waiting = list(seen)
        while waiting:
            for state in self.free[waiting.pop()]:
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return seen

    def read(self, states: Iterable[int], byte: int) -> Set[int]:
        return self.reached({step[1] for state in states if (step := self.steps[state]) is not None and byte in step[0]})

    def after(self, states: Set[int], text: bytes) -> Iterator[Set[int]]:
        """The states after each byte of the text, while any is left."""
        for byte in text:
            states = self.read(states, byte)
            yield states
            if not states:
                return


def faults(automaton: Automaton, wall: bytes) -> Iterator[str]:
    """What could be found otherwise in a line `{"...}` of joined ones than in the line alone."""
    anywhere: Set[int] = set(range(len(automaton.free)))
    *_, at_end = automaton.after(anywhere, b"}\n")
    if at_end & automaton.before_end:
        yield "asks for the end of a line"
    behind = list(automaton.after(at_end, wall + b'{"'))
    if any(automaton.accept in states for states in behind):
        yield "ends in a wall"
    if behind and behind[-1]:
        yield "crosses a wall"
    if automaton.read(automaton.reached(automaton.behind_begin), ord("{")):
        yield "asks for the beginning of a line"
    begins, last = automaton.reached([automaton.start]), None
    inside: Set[int] = frozenset()
    for byte in wall:
        after = automaton.read(begins | inside, byte)
        if byte == last and after == inside:
            continue
        inside, last = after, byte
    if any(automaton.accept in states for states in automaton.after(inside, b'{"')) or list(automaton.after(inside, b'{"'))[-1]:
        yield "begins in a wall"


@pytest.fixture(scope="module")
def rules(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    loaded = open_scanner(rule_cache(request)).rules
    return {rule["id"]: loaded.detail(rule["id"]) for rule in loaded.metadata()}


def test_no_rule_matches_across_a_wall_into_it_or_out_of_it(rules: dict[str, dict[str, Any]]) -> None:
    automata = {name: Automaton(rule["detection_regex"]) for name, rule in rules.items()}
    low = {name: list(found) for name, automaton in automata.items() if (found := tuple(faults(automaton, WALL)))}
    assert low == {REPLACED: ["crosses a wall"], KUBERNETES: ["crosses a wall"]}
    assert not list(faults(automata[KUBERNETES], HIGH_WALL))
    assert len(automata) > 500


def test_the_rule_that_crosses_a_wall_begins_with_what_is_looked_for(rules: dict[str, dict[str, Any]]) -> None:
    pattern, head = rules[KUBERNETES]["detection_regex"], rules[FAR]["detection_regex"]
    assert re.fullmatch(r"\(\?i\)\(\?:\\bkind:\[ \\t\]\*\[\"'\]\?\\bsecret\\b.*\|\\bdata:.*\)", pattern)
    assert head == r"""(?i)\b(kind:[ \t]*["']?secret|data:)"""
    assert max(int(n) for n in re.findall(r"\(\?s:\.\)\{0,(\d+)\}", pattern)) == 1000


def test_no_rule_of_ours_asks_for_more_than_its_pattern(rules: dict[str, dict[str, Any]]) -> None:
    ours = [rule for name, rule in rules.items() if name.startswith("dreamd.")]
    assert ours
    assert not any(rule["betterleaks_filter"] or rule["depends_on_rule"] or rule["pattern_requirements"] for rule in ours)


def test_what_is_found_in_joined_lines_is_what_is_found_in_each_alone(request: pytest.FixtureRequest) -> None:
    redactor = shared_redactor(request)
    texts = [
        *vendor_keys().values(), private_key(3), "the password is hun" + "ter2", "curl -u ann:", "-u ann:" + "s3cret-" * 3, "amplitude key", "0123456789abcdef" * 2,
        "kind: Secret data: password: " + "aGVsbG8gd29y" * 2, "data:", "password: " + "aGVsbG8gd29y" * 2 + " kind: secret", '"client_secret": "a', "plain words",
    ]  # fmt: skip
    lines = [json.dumps({"type": "user", "text": f"{before} {text}"}).encode() + b"\n" for text in texts for before in ("", "so:", "password =", "data:")]
    alone = b"".join(redactor.mask(line).data for line in lines)
    for order in (lines, lines[::-1], lines[::3] + lines[1::3] + lines[2::3]):
        masked = redactor.mask(b"".join(order)).data
        assert sorted(masked.splitlines()) == sorted(alone.splitlines())
    assert alone != b"".join(lines)


def test_a_line_that_is_no_object_from_end_to_end_is_read_by_itself() -> None:
    read: list[bytes] = []

    def scan(data: bytes) -> list[Any]:
        read.append(data)
        return []

    reading = b'{"a":1}\nplain\n{"b":2}\n'
    assert joined_look(reading, [(0, 8), (8, 14), (14, 22)], scan) == {(8, 14): None}
    assert read == [b'{"a":1}\n' + WALL + b'{"b":2}\n']
