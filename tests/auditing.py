"""Looks for a word everywhere: every column of every table, and the bytes of every file, archives unpacked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import inspect, text

from pipelines.logs.codec import decompress
from pipelines.store import Store

ZSTD = b"\x28\xb5\x2f\xfd"


def tables_with(store: Store, word: str) -> list[str]:
    """`table.column` of every value that holds the word, whatever case it has; archived bytes unpacked."""
    found = set()
    with store.engines.read.connect() as conn:
        for table in inspect(conn).get_table_names():
            columns = [c["name"] for c in inspect(conn).get_columns(table)]
            for row in conn.execute(text(f"SELECT * FROM {table}")):
                found |= {f"{table}.{name}" for name, value in zip(columns, row, strict=True) if value is not None and holds(value, word)}
    return sorted(found)


def files_with(folders: Iterable[Path], word: str) -> list[str]:
    """Every file below these folders whose bytes or name hold the word: as UTF-8, and as UTF-16 in case a database keeps it so."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and (holds(path.name, word) or holds(path.read_bytes(), word)):
                found.append(str(path.relative_to(folder.parent)))
    return found


def holds(value: object, word: str) -> bool:
    """Whether a value holds the word, as it stands or as JSON spells it."""
    if isinstance(value, str):
        return word.casefold() in value.casefold() or json.dumps(word)[1:-1].casefold() in value.casefold()
    if isinstance(value, memoryview):
        value = bytes(value)
    if not isinstance(value, bytes):
        return False
    data = decompress(value) if value.startswith(ZSTD) else value
    return word.casefold().encode() in data.lower() or word.encode() in data or json.dumps(word)[1:-1].encode() in data
