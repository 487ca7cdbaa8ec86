"""What the rules read in notes and in sentences of logs, kept beside the search index: reading is most of the work of judging, and most words are old.

Only what follows from words alone is kept, under a digest of these words and of the rules that read them, so that a reading kept is the reading made
anew. What a note is judged by (which lines are near it, what is believed, what was ruled) is looked up each time.
"""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pipelines
from pipelines.gates import held_unless_said
from pipelines.logs.order import order_session
from pipelines.model import Claim, Kind, OnlineNote, Origin, Place, Quote, Role, SessionInfo, Turn, digest
from pipelines.notes.identity import block_keys, statement_of
from pipelines.ports import Engine, Window
from pipelines.run.held import held_note
from pipelines.stages.analyzer import clauses_of, stated_by
from pipelines.store import Store
from pipelines.text.mood import Mood, mood_at
from pipelines.text.sentences import sentences
from pipelines.text.statement import Form, Person, Statement, parse
from pipelines.text.values import Value
from pipelines.text.words import content_words

_STATING = frozenset({Mood.PLAIN, Mood.REPORTED})


@dataclass(frozen=True, slots=True)
class NoteRead:
    """A note as the rules read it.

    `whole`: all its words as one statement. `plain`, `clauses`: what it states, by the engine (else the grammar), and by clauses without a verb. `keys`:
    block keys of the claims of logs that may bear on it. `orders`: the words of each of its sentences that tells its reader what to do. `held`: why it may
    be shown nowhere, "" when it may.
    """

    whole: Statement
    plain: tuple[Statement, ...]
    clauses: tuple[Statement, ...]
    keys: frozenset[str]
    orders: tuple[frozenset[str], ...]
    held: str


@dataclass(slots=True)
class Readings:
    """The readings of one scope; `keep` stores those that were asked for and lets go of the others."""

    store: Store
    scope: str
    engine: Engine
    _epoch: int = 0
    _had: Mapping[str, str] = field(default_factory=dict)
    _used: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._epoch = self.store.tombstones(self.scope).epoch
        self._had = self.store.kept_readings(self.scope)

    def notes(self, notes: Iterable[OnlineNote]) -> dict[str, NoteRead]:
        """What each of these notes says, by uid. A file is read as a whole: a line of it may go on from the one before."""
        files: defaultdict[tuple[str, str], list[OnlineNote]] = defaultdict(list)
        for note in notes:
            files[note.folder, note.path].append(note)
        return {uid: read for of in files.values() for uid, read in self._file(of).items()}

    def sentence(self, words: str, after: str, speaker: str | None, origin: Origin) -> Statement | None:
        """What a sentence of a log, followed by `after`, states; None when it is no statement but a question, wish, condition or order, or orders its reader
        about and no user said it."""

        def read() -> list[Any]:
            states = mood_at(words + after, 0, len(words)) in _STATING and (origin is Origin.USER or not held_unless_said(words))
            return [told(parse(words, speaker=speaker))] if states else []

        found = self._kept(("sentence", words, after, speaker or "", str(speaker is None), origin.value), read)
        return statement_told(found[0]) if found else None

    def keep(self) -> None:
        """Store what was asked for; nothing when all of it was there."""
        if self._used.keys() != self._had.keys():
            self.store.keep_readings(self.scope, self._used, epoch=self._epoch)

    def _file(self, notes: Sequence[OnlineNote]) -> dict[str, NoteRead]:
        found = self._kept(("file", self.engine.name, *map(repr, notes)), lambda: [_row(r) for r in _read(self.engine, notes)])
        return {note.uid: _note_read(row) for note, row in zip(notes, found, strict=True)}

    def _kept(self, key: tuple[str, ...], make: Callable[[], list[Any]]) -> list[Any]:
        name = digest(_rules(), *key)
        if name not in self._used:
            self._used[name] = self._had.get(name) or json.dumps(make(), separators=(",", ":"))
        found: list[Any] = json.loads(self._used[name])
        return found


@cache
def _rules() -> str:
    """The rules as one word: all our code, since there is no telling which of it a reading rests on."""
    root = Path(pipelines.__file__).parent
    return digest(*(part for path in sorted(root.rglob("*.py")) for part in (path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))))


# --- reading -----------------------------------------------------------------------------------------------------------------------------


def _read(engine: Engine, notes: Sequence[OnlineNote]) -> Iterator[NoteRead]:
    """The notes of one file, in their order."""
    claims = read_notes(engine, notes)
    for note in notes:
        plain = tuple(statement_of(c) for c in claims[note.uid]) or stated_by(note)
        clauses = clauses_of(note.text)
        keys = frozenset(key for claim in (*claims[note.uid], *_as_claims(note, (*plain, *clauses))) for key in block_keys(claim))
        yield NoteRead(parse(note.text), plain, clauses, keys, tuple(_orders_in(note)), held_note(note))


def read_former(note: OnlineNote) -> NoteRead:
    """A line that stands in its file no more, by the grammar alone."""
    plain, clauses = stated_by(note), clauses_of(note.text)
    keys = frozenset(key for claim in _as_claims(note, (*plain, *clauses)) for key in block_keys(claim))
    return NoteRead(parse(note.text), plain, clauses, keys, (), "")


def read_notes(engine: Engine, notes: Sequence[OnlineNote]) -> dict[str, tuple[Claim, ...]]:
    """What the engine reads in each note, as if a person had said it: the same reading as of the logs, so that both compare. No claim of it is stored."""
    turns = tuple(
        Turn(uid=n.uid, snap="", session="notes", ordinal=i, role=Role.USER, origin=Origin.USER, text=n.text, place=Place(line=n.line, offset=0, length=0))
        for i, n in enumerate(notes)
    )  # fmt: skip
    read = engine.extract(Window(session=SessionInfo(uid="notes", format="notes"), turns=turns, keys=order_session(turns)))
    out: dict[str, tuple[Claim, ...]] = {n.uid: () for n in notes}
    for claim in read.claims:
        out[claim.quotes[0].turn] = (*out[claim.quotes[0].turn], claim)
    return out


def _orders_in(note: OnlineNote) -> Iterator[frozenset[str]]:
    """The words of each sentence of a note, its title among them, that tells its reader what to do."""
    told = filter(None, (note.text, note.title, note.heading, note.description))
    return (frozenset(content_words(text)) for words in told for s in sentences(words) if held_unless_said(text := s.of(words)))


def _as_claims(note: OnlineNote, said: Sequence[Statement]) -> Iterator[Claim]:
    """A note, and each value it states, in the shape block keys are made from; they are looked up with, never stored."""
    nowhere = (Quote(turn=note.uid, start=0, end=len(note.text), text=note.text),)
    yield Claim(kind=Kind.FACT, subject=note.text, attribute="", statement=note.text, quotes=nowhere)
    for s in said:
        if s.form is Form.SLOT and s.value and s.text.strip():
            yield Claim(
                kind=Kind.FACT, subject=s.subject.strip() or "project", attribute=s.attribute, qualifier=s.qualifier, value=s.value, statement=s.text,
                cardinality=s.cardinality, old_value=s.old_value, negated=s.negated, quotes=nowhere,
            )  # fmt: skip


# --- as JSON -----------------------------------------------------------------------------------------------------------------------------

_FIELDS = tuple(f.name for f in dataclasses.fields(Statement))


def told(said: Statement) -> list[Any]:
    """A statement's fields in order, as JSON knows them."""
    parts = {name: getattr(said, name) for name in _FIELDS}
    return list((parts | {"values": [[v.kind, v.canonical, v.start, v.end] for v in said.values], "extra": sorted(said.extra)}).values())


def statement_told(fields: Sequence[Any]) -> Statement:
    """The statement with these fields."""
    parts = dict(zip(_FIELDS, fields, strict=True))
    values = tuple(Value(*v) for v in parts["values"])
    typed = {
        "person": Person(parts["person"]),
        "form": Form(parts["form"]),
        "values": values,
        "words": tuple(parts["words"]),
        "extra": frozenset(parts["extra"]),
    }
    return Statement(**(parts | typed))


def _row(read: NoteRead) -> list[Any]:
    return [told(read.whole), [*map(told, read.plain)], [*map(told, read.clauses)], sorted(read.keys), [sorted(o) for o in read.orders], read.held]


def _note_read(row: Sequence[Any]) -> NoteRead:
    whole, plain, clauses, keys, orders, held = row
    return NoteRead(
        statement_told(whole), tuple(map(statement_told, plain)), tuple(map(statement_told, clauses)), frozenset(keys), tuple(map(frozenset, orders)), held
    )
