"""Front matter of Markdown files: found, read leniently, unknown keys kept.

Memory formats change monthly, so nothing is assumed but the fences. YAML 1.2 by ruamel.yaml; a block it refuses (`title: foo: bar`) is read
line by line, so that a stray colon costs one value's type and not the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarfloat import ScalarFloat

_FENCED = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\A|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([^\s:#][^:]*):[ \t]*(.*?)[ \t]*$")
_ITEM = re.compile(r"^\s*-[ \t]+(.*?)[ \t]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What stood between the fences: flat text values (nested keys joined by a dot), the body and the 1-based line it starts on."""

    values: Mapping[str, str] = field(default_factory=dict)
    body: str
    body_line: int = 1
    lenient: bool = False

    def get(self, *keys: str) -> str | None:
        """The first of these keys that has a value, with or without the `metadata.` in front."""
        for key in keys:
            for name in (key, f"metadata.{key}"):
                if given := self.values.get(name):
                    return given
        return None


def split_front_matter(text: str) -> FrontMatter:
    """Front matter and body of a Markdown file; a file without fences is all body."""
    found = _FENCED.match(text)
    if not found:
        return FrontMatter(body=text.removeprefix("\ufeff"))
    block = found.group(1)
    values = _by_yaml(block)
    lenient = values is None
    body_line = text[: found.end()].count("\n") + 1
    return FrontMatter(values=values if values is not None else _by_lines(block), body=text[found.end() :], body_line=body_line, lenient=lenient)


def parse_time(text: str | None) -> datetime | None:
    """An ISO date or time as aware UTC; a naive one is read as UTC (memory files give no zone)."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _by_yaml(block: str) -> dict[str, str] | None:
    loader = YAML()  # one loader a call: a shared one fails under threads
    try:
        loaded = loader.load(StringIO(block))
    except (YAMLError, ValueError, RecursionError):
        return None
    if loaded is None:
        return {}
    return _flat(loaded, "") if isinstance(loaded, Mapping) else None


def _flat(node: Mapping[object, object], prefix: str) -> dict[str, str]:
    out: dict[str, str] = {}
    for key, value in node.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            out.update(_flat(value, f"{name}."))
        elif isinstance(value, list | tuple):
            out[name] = ", ".join(_scalar(x) for x in value)
        elif value is not None:
            out[name] = _scalar(value)
    return out


def _scalar(value: object) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, ScalarFloat):
        out = StringIO()
        YAML().dump(value, out)  # the library keeps `1.10` only on the way out
        return out.getvalue().removesuffix("\n").removesuffix("...").strip()
    return str(value)


def _by_lines(block: str) -> dict[str, str]:
    out: dict[str, str] = {}
    listed = ""  # the key whose list goes on
    for line in block.splitlines():
        if pair := _PAIR.match(line.strip()):
            listed = pair.group(1).strip()
            out[listed] = pair.group(2).strip().strip("'\"")
        elif listed and (item := _ITEM.match(line)):
            out[listed] = ", ".join(filter(None, (out[listed], item.group(1).strip("'\""))))
    return out
