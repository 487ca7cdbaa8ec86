"""What is found by words, and which words those are: one text for each turn, note version and line of a note file, the same on every database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Column, Select, Table, func, select

from pipelines.store import tables as t
from pipelines.store.codec import online_of
from pipelines.store.types import load, storable
from pipelines.text.tokens import tokenize

FORM = 2  # of a projection's layout and of the tokenizer; another one in the projection means: build it again
CHUNK_ROWS = 1_000  # rows a transaction of a projection takes in
PIECE_ROWS = 100  # of one that is done while something else is waited for, which may come any moment
TEXT_MAX = 200_000  # characters of one turn that are indexed
TURN, VERSION, ONLINE, KINDS = 0, 1, 2, 3  # a row of a projection is named by the id in the store times the number of kinds, plus the kind
_PLAIN = {i: 0xE000 + i for i in range(128) if not chr(i).isalnum() and chr(i) != " "}


@dataclass(frozen=True, slots=True)
class Source:
    """A table whose rows are found by words; `name` is what a projection calls how far it has come in it."""

    name: str
    kind: int
    table: Table
    columns: tuple[Any, ...]
    words: Callable[[Any], str]

    @property
    def newest(self) -> Select[Any]:
        """The highest id."""
        return select(func.max(self.table.c.id))

    def after(self, row_id: int, rows: int = CHUNK_ROWS) -> Select[Any]:
        """The next rows behind this id."""
        c: Column[Any] = self.table.c.id
        return select(c, self.table.c.scope_id, *self.columns).where(c > row_id).order_by(c).limit(rows)

    def tokens(self, row: Any) -> list[str]:
        """A row's tokens, in order."""
        return encode(" ".join(tokenize(self.words(row)))).split(" ")


def encode(tokens: str) -> str:
    """Tokens, blanks between them, as FTS5 keeps them whole: ASCII punctuation moved out of its sight."""
    return storable(tokens).translate(_PLAIN)


def _turn_words(row: Any) -> str:
    """What a turn is found by: who speaks, what is said, and the words of a tool call."""
    detail = cast(dict[str, Any], load(row.detail)) if row.detail != "{}" else {}
    call = detail.get("call")
    return "\n".join([detail.get("speaker") or "", row.body, *(call_words(call[1], call[2]) if call else ())])[:TEXT_MAX]


def call_words(name: str, arguments: Mapping[str, object]) -> Iterator[str]:
    """The tool's name and the strings among its arguments."""
    yield name
    for value in arguments.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (v for v in value if isinstance(v, str))


def _version_words(row: Any) -> str:
    return "\n".join(filter(None, (row.statement, row.subject, row.qualifier, row.applies_to)))


def _online_words(row: Any) -> str:
    """What a line of a note file is found by: its words, its heading and what its file is called."""
    if row.gone:
        return ""
    note = online_of(row.body)
    return "\n".join(filter(None, (note.text, note.heading, note.title)))[:TEXT_MAX]


_t, _v, _o = t.turns.c, t.note_versions.c, t.online_notes.c
SOURCES = (
    Source("turn", TURN, t.turns, (func.substr(_t.body, 1, TEXT_MAX).label("body"), _t.detail), _turn_words),
    Source("version", VERSION, t.note_versions, (_v.statement, _v.subject, _v.qualifier, _v.applies_to), _version_words),
    Source("online", ONLINE, t.online_notes, (_o.gone, _o.body), _online_words),
)
