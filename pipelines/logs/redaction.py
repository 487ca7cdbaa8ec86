"""Secrets are masked in place, same length in bytes, before anything is stored (systems R9).

The unit is one line of a source (up to `\\n`), which is a record or part of one: masking is a function of the line alone, so any chunking at
line ends gives the same bytes, and a growing log is masked as it would be in one go. Inside a secret every byte becomes `*`, but quotes and line
ends of the JSON around it stay, so offsets and structure survive.

Two things find secrets: the maintained rules of Kingfisher with our own rules file in the same pass, and `secret_values` and `secret_forms` on lines
that hold a cue. No detection policy is used: under one a log could hide a secret from us with a `gitleaks:allow` remark.

Most lines hold nothing, and a call of the scanner costs as much as the line it reads. So the lines of a chunk are read joined, in one call that other
threads run beside. Between two lines stands a wall that no rule can match across, into or out of (`test_joined_scan` proves it of every rule from its
automaton), so what is found in a line is what is found in it alone. Where a rule also asks what else was found nearby, the line is read again by itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pipelines.errors import Refused
from pipelines.logs.secret_forms import forms_at, token_like
from pipelines.logs.secret_values import Span, decoded, foreign_cues, placeholder, values_at
from pipelines.model import digest

if TYPE_CHECKING:
    from kingfisher_sdk import Finding, Scanner

FILLER: Final = b"*"
_NUMBER_FILLER: Final = b"1"
ROUNDS_MAX: Final = 8
"""A line is scanned again after it was masked, until nothing new is found: masking what is masked changes nothing."""
_CODE_VERSION: Final = "2"
_RULES = files("pipelines.logs").joinpath("redaction_rules.yml")
_MISSING: Final = "the secret scanner (kingfisher-secret-scanner) cannot be loaded, so nothing is read"

# What the scanner reads instead of the line: same length, but no escape, no NUL (taken for UTF-16) and no byte over 0x7f (a Chinese character
# would be a letter to `\b`) stands against a key; "]" and ")" end a key as a space does.
_READING: Final = bytes(0x20 if b in b"\x00\\)]" or b >= 0x80 else b for b in range(256))
_TOKEN = re.compile(rb'\\u[0-9a-fA-F]{4}|\\.|"|[\r\n]+|[^\\"\r\n]+|\\', re.DOTALL)
_UNICODE_ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{4}")
_TAB = re.compile(rb"\\t")
_BEFORE_NUMBER = re.compile(rb'(?<!\\)"[ \t]*:[ \t]*$')


class Found(NamedTuple):
    """Where in a line the scanner found something, by which rule."""

    rule: str
    start: int
    end: int


Lines: TypeAlias = Mapping[Span, "Sequence[Found] | None"]
"""Lines of a chunk in which the scanner found something, and what; None where it has to read the line by itself to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """Masked bytes, as long as the raw ones; `count` secrets were masked by the rules of `version`."""

    data: bytes
    count: int
    version: str


class Redactor:
    """Masks secrets. Holds compiled rules (about 0.3 s to load from a cache, 3 s without), so make one a process; safe to share by threads.

    The rules are loaded when the first bytes are masked: a dream that finds nothing new never pays for them.
    """

    def __init__(self, load: Callable[[], Scanner], mask_version: str, *, joins: bool = False) -> None:
        """`joins`: whether lines may be read joined, which takes rules that stop at a wall."""
        self._load, self._loading, self._joins = load, Lock(), joins
        self._loaded: Scanner | None = None
        self.version = mask_version

    @property
    def _scanner(self) -> Scanner:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def mask(self, data: bytes) -> Masked:
        """The bytes with every secret overwritten. `data` must begin and end where records do. Other threads run beside most of it."""
        suspects = self._suspects(data)
        if not suspects:
            return Masked(data=data, count=0, version=self.version)
        parts, at, count = [], 0, 0
        for (start, end), found in suspects:
            line, masked = _settled(data[start:end], found, self._look)
            parts += [data[at:start], line]
            at, count = end, count + masked
        return Masked(data=b"".join([*parts, data[at:]]), count=count, version=self.version)

    def _suspects(self, data: bytes) -> list[tuple[Span, list[Span]]]:
        """Lines with a secret in them and where in the line."""
        reading, lines, scan = _reading(data), list(_lines(data)), self._scanner.scan
        looked = joined_look(reading, lines, scan) if self._joins and len(lines) > 1 else dict.fromkeys(lines)
        cues = foreign_cues(data)
        cued: dict[Span, Sequence[Found]] = {_line_at(data, cue): () for cue in cues}
        suspects = []
        for (start, end), told in sorted({**cued, **looked}.items()):
            found = _found(scan(reading[start:end])) if told is None else told
            if (found or (start, end) in cued) and (spans := _spans(data[start:end], found)):
                suspects.append(((start, end), spans))
        return suspects

    def _look(self, line: bytes) -> list[Span]:
        return _spans(line, _found(self._scanner.scan(_reading(line))))


def open_redactor(cache_dir: Path | None) -> Redactor:
    """A redactor with the maintained rules and ours; compiled rules are kept in `cache_dir` (None: compiled anew, about 3 s).

    Raises Refused when there is no scanner, masking does when its rules cannot be loaded: nothing is ever stored unmasked.
    """
    try:
        scanner = version("kingfisher-secret-scanner")
    except PackageNotFoundError as error:
        raise Refused(f"{_MISSING}: it is not installed") from error
    parts = digest(_RULES.read_bytes(), scanner, _CODE_VERSION)
    return Redactor(partial(open_scanner, cache_dir), f"{_CODE_VERSION}-{parts[:12]}", joins=scanner in _PROVEN)


def open_scanner(cache_dir: Path | None) -> Scanner:
    """The scanner a redactor reads lines with; raises Refused when it cannot be loaded."""
    try:
        from kingfisher_sdk import Rules, Scanner

        with as_file(_RULES) as path:
            return Scanner(Rules([path], cache=cache_dir is not None, cache_dir=cache_dir))
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        raise Refused(f"{_MISSING}: {error}") from error


# --- lines joined ------------------------------------------------------------------------------------------------------------------------

_SHUT: Final = b"\"}'}/" + b"\x1f\n" * 12
WALL: Final = _SHUT + b"\x1f" * 64 + b"\n"
"""Stands between two lines: what is open closes where it may not, and the rest has more bytes and lines than any gap a rule allows."""
HIGH_WALL: Final = _SHUT + b"\x1f" * 1200 + b"\n"
"""Stops even the one rule with a gap of a thousand bytes; `FAR` finds where that one begins."""
FAR: Final = "dreamd.far.kubernetes"
_FAR_REACH: Final = 2048
_PROVEN: Final = frozenset({"1.5.0"})
"""Versions of the scanner whose rules are known to stop at a wall; lines are read one by one by any other."""


def joined_look(reading: bytes, lines: Sequence[Span], scan: Callable[[bytes], Sequence[Finding]]) -> Lines:
    """What is found in each line of the scanner's copy, by reading them joined.

    Joined are lines that are an object from end to end: no rule looks for one of its edges, or for what an open quote before it would let through.
    """
    whole = [line for line in lines if reading.startswith(b'{"', *line) and reading.endswith(b"}\n", *line)]
    looked: dict[Span, Sequence[Found] | None] = dict.fromkeys(set(lines).difference(whole))
    low = _scanned(reading, whole, WALL, scan)
    far = _within_reach(whole, [line for line, found in low.items() if any(f.rule_id == FAR for f, _ in found)])
    high = _scanned(reading, far, HIGH_WALL, scan) if far else {}
    for line, found in ({line: found for line, found in low.items() if line not in far} | high).items():
        if not all(f.rule_id.startswith(_OURS) for f, _ in found):
            looked[line] = None
        elif kept := [Found(f.rule_id, f.location["start_offset"] - at, f.location["end_offset"] - at) for f, at in found if f.rule_id != FAR]:
            looked[line] = kept
    return looked


def _scanned(reading: bytes, lines: Sequence[Span], wall: bytes, scan: Callable[[bytes], Sequence[Finding]]) -> dict[Span, list[tuple[Finding, int]]]:
    """The findings in each line, with the place its bytes have among all that were read."""
    begins, at = [], 0
    for start, end in lines:
        begins.append(at)
        at += end - start + len(wall)
    found: dict[Span, list[tuple[Finding, int]]] = {}
    for finding in scan(wall.join([reading[start:end] for start, end in lines])):
        number = bisect_right(begins, finding.location["start_offset"]) - 1
        found.setdefault(lines[number], []).append((finding, begins[number]))
    return found


def _within_reach(lines: Sequence[Span], heads: Iterable[Span]) -> list[Span]:
    """The heads and the lines that begin within reach of one's end."""
    begins = [start for start, _ in lines]
    near = {n for start, end in heads for n in range(bisect_left(begins, start), bisect_left(begins, end + _FAR_REACH))}
    return [lines[n] for n in sorted(near)]


# --- one line ----------------------------------------------------------------------------------------------------------------------------


def _lines(data: bytes) -> Iterator[Span]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield start, end
        start = end


def _line_at(data: bytes, place: int) -> Span:
    return data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place) + 1 or len(data)


def _found(findings: Iterable[Finding]) -> list[Found]:
    """What a line is judged by."""
    return [Found(f.rule_id, f.location["start_offset"], f.location["end_offset"]) for f in findings if f.visible and f.rule_id not in _IGNORED]


def _reading(data: bytes) -> bytes:
    plain = _TAB.sub(b" \t", _UNICODE_ESCAPE.sub(b" " * 6, data))  # rare ones: a pattern looks for two bytes in a third of the time that `replace` takes
    return plain.replace(b"\\n", b" \n").translate(_READING)


def _spans(line: bytes, found: Iterable[Found]) -> list[Span]:
    """Where secrets stand in a line, by what the scanner says of it; unsorted, may overlap."""
    cues = foreign_cues(line)
    spans: list[Span] = []
    for rule, start, end in found:
        if rule.startswith(_CUE):
            cues.append(start)
        elif _is_secret(rule, line[start:end]):
            spans.append((start, end))
    plain = decoded(line) if cues else b""
    return [*spans, *(span for cue in cues for look in (values_at, forms_at) for span in look(plain, cue))]


def _is_secret(rule: str, value: bytes) -> bool:
    """The maintained rules are trusted but for stand-ins; our `value` rules need a value that looks like one."""
    if placeholder(value.strip(b"\"'`\\")):
        return False
    if rule in _TOKENS:
        return token_like(value)
    return not rule.endswith("uri") or value.lower() not in _STAND_INS


_TOKENS: Final = frozenset({"dreamd.value.bearer", "dreamd.value.user"})
"""Rules whose words stand before harmless things as often: the value has to be a machine's."""
_CUE: Final = "dreamd.cue."
_OURS: Final = "dreamd."
"""Rules of our own file: they ask for nothing but their pattern."""
_IGNORED: Final = frozenset({"betterleaks.private-key", FAR})
"""Rules that say nothing of a line: ours, and a maintained one whose work `secret_values` does better (it takes the lines around the key and misses one
that is cut off)."""
_STAND_INS: Final = frozenset({b"password", b"pass", b"passwd", b"pwd", b"pw"})


def _settled(line: bytes, spans: Sequence[Span], look: Callable[[bytes], list[Span]]) -> tuple[bytes, int]:
    """The line masked until a look at it finds nothing that is still readable; also how many secrets there were."""
    count = 0
    for _ in range(ROUNDS_MAX):
        masked, changed = _masked(line, spans)
        count += changed
        if masked == line:
            break
        line = masked
        spans = look(line)
    return line, count


def _masked(line: bytes, spans: Iterable[Span]) -> tuple[bytes, int]:
    """The line with the spans overwritten, and how many (overlapping ones joined) held a readable byte."""
    parts, at, count = [], 0, 0
    for start, end in _joined(spans):
        start = _after_escape(line, start)
        if start < end:
            filled = _NUMBER_FILLER * (end - start) if _is_number(line, start, end) else _filled(line[start:end])
            count += filled != line[start:end]
            parts += [line[at:start], filled]
            at = end
    return b"".join([*parts, line[at:]]), count


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _after_escape(line: bytes, start: int) -> int:
    """The start moved behind an escape it would cut in two (`\\` before it escapes its first byte)."""
    slashes = start - len(line[:start].rstrip(b"\\"))
    if slashes % 2 == 0:
        return start
    return start + 5 if line[start : start + 1] == b"u" else start + 1


def _is_number(line: bytes, start: int, end: int) -> bool:
    """Whether the span is a JSON number outside any string (`"pin": 1234`), which would not parse as stars."""
    return (
        line[start:end].isdigit()
        and _BEFORE_NUMBER.search(line, max(0, start - 32), start) is not None
        and line[end : end + 1] in (b",", b"}", b"]", b" ", b"\n", b"\r", b"")
    )


def _filled(secret: bytes) -> bytes:
    """Filler for a secret, up to the end of the JSON string it stands in: what a rule took beyond is another value, or a key.

    Line ends stay, and a last backslash, which escapes the byte behind the secret.
    """
    parts, inside = [], not secret.startswith(b'"')
    tokens = iter(_TOKEN.findall(secret))
    for token in tokens:
        if token == b'"':
            parts.append(token)
            if inside:
                break
            inside = True
        else:
            parts.append(token if token[:1] in (b"\r", b"\n") or token == b"\\" else FILLER * len(token))
    return b"".join([*parts, *tokens])
