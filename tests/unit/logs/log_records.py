"""Turns Python values into the records a reader gets, through real bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pipelines.logs.reader import FileContext, Read, Reader
from pipelines.logs.split import Record, split


def records(*values: Mapping[str, object]) -> list[Record]:
    """The values as the records of one JSONL file."""
    data = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()
    return [piece for piece in split(data, final=True) if isinstance(piece, Record)]


def read(reader: Reader, *values: Mapping[str, object], name: str = "log.jsonl") -> Read:
    """What the reader makes of one file with these records."""
    return reader.read(records(*values), {}, FileContext(name=name))
