"""What a forget reaches: the turns that were asked for, and all that was read in them, believed of them, found beside them or carries their words.

Read only. Nothing is decided by time of arrival: equal stores give equal reaches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, Table, select

from pipelines.store import tables as t
from pipelines.store.codec import online_of
from pipelines.store.core import chunks
from pipelines.store.types import load
from pipelines.text.traces import Traces, folded, may_hold, strings_of, telling, words_of

ID_MIN = 8
"""Characters of an id of a session that pages print: a shorter one may be a word."""
OURS = frozenset({"project", "question", "user"})
"""Words an engine puts into a claim on its own account, for the work as a whole and for the person: in a claim they say nothing of where it comes from."""
Blob = Callable[[str], bytes]
SourceKey = tuple[int, int]
"""Row id of a source, and its generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person wants forgotten: sessions, notes (by uid, or lines of note files by theirs), turns, a phrase, everything before a time, or the whole scope."""

    sessions: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    online: frozenset[str] = frozenset()
    turns: frozenset[str] = frozenset()
    subject: str = ""
    before: datetime | None = None
    everything: bool = False

    @property
    def how(self) -> str:
        """The kind of choice, in one word."""
        if self.everything:
            return "scope"
        if self.before:
            return "before"
        if self.turns:
            return "restored"
        return "subject" if self.subject else "session" if self.sessions else "note"

    @property
    def phrase(self) -> tuple[str, ...]:
        """The words of the subject."""
        return tuple(words_of(self.subject))


@dataclass(slots=True)
class Reach:
    """Row ids and uids of all that goes. `words` finds text derived from it, `names` text of people: only what tells it apart for certain.

    `quoting` are the claims that quote a turn that goes; the others only say its words, and the sessions they were read in, `again`, are to be read again. `rested` are the notes
    that were asked for or that a claim of the former moved: people's decisions about them go with the last evidence, those about the others stay.
    """

    turns: dict[int, str] = field(default_factory=dict)
    sessions: dict[int, str] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    sources: set[SourceKey] = field(default_factory=set)
    claims: dict[int, str] = field(default_factory=dict)
    quoting: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)
    notes: dict[int, str] = field(default_factory=dict)
    rested: set[str] = field(default_factory=set)
    online: set[str] = field(default_factory=set)
    words: Traces = field(default_factory=Traces)
    names: Traces = field(default_factory=Traces)
    untimed: int = 0

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the sessions that go, long enough to be no word."""
        return frozenset(uid for uid in self.sessions.values() if len(uid) >= ID_MIN)

    @property
    def uids(self) -> frozenset[str]:
        """Uids of the turns that go."""
        return frozenset(self.turns.values())


def reach_of(conn: Connection, scope_id: int, choice: Choice, blob: Blob) -> Reach:
    """Everything a choice reaches in a scope."""
    found = Reach()
    chosen = set(_chosen_turns(conn, scope_id, choice, found))
    if choice.phrase:
        chosen |= _raw_turns(conn, scope_id, choice.phrase, blob, found)
    _take_records(conn, scope_id, chosen, found)
    _take_sessions(conn, scope_id, choice, found)
    _take_online(conn, scope_id, choice, found)
    _find_words(conn, scope_id, choice, found)
    take_claims(conn, scope_id, found)
    _find_names(conn, choice, found)
    take_notes(conn, scope_id, choice, found)
    return found


# --- turns -------------------------------------------------------------------------------------------------------------------------------


def said(row: Any) -> str:
    """All text of a turn's row."""
    return "\n".join([row.body, *strings_of(load(row.detail), names=False)]) if row.detail != "{}" else str(row.body)


def told(value: str) -> str:
    """What a column says: of JSON its strings, since our own names for them say nothing."""
    if value[:1] in {"{", "["}:
        try:
            return "\n".join(strings_of(load(value), names=False))
        except ValueError:
            return value
    return value


def _chosen_turns(conn: Connection, scope_id: int, choice: Choice, found: Reach) -> Iterator[int]:
    c, o, s = t.turns.c, t.occurrences.c, t.sessions.c
    if choice.everything:
        yield from conn.scalars(select(c.id).where(c.scope_id == scope_id))
    for part in chunks(sorted(choice.turns)):
        yield from conn.scalars(select(c.id).where(c.scope_id == scope_id, c.uid.in_(part)))
    if choice.sessions:
        of = select(o.turn_id).join_from(t.occurrences, t.sessions, s.id == o.session_id)
        for part in chunks(sorted(choice.sessions)):
            yield from conn.scalars(of.where(s.scope_id == scope_id, s.uid.in_(part)))
    if choice.notes:
        uids = _quoted_by(conn, scope_id, choice.notes)
        for part in chunks(sorted(uids)):
            yield from conn.scalars(select(c.id).where(c.scope_id == scope_id, c.uid.in_(part)))
    if choice.phrase:
        phrases = Traces(phrases=frozenset({choice.phrase}))
        rows = conn.execute(select(c.id, c.body, c.detail).where(c.scope_id == scope_id))
        yield from (r.id for r in rows if phrases.within(r.body) or phrases.within(r.detail))
    if choice.before is not None:
        yield from _before(conn, scope_id, choice.before, found)


def _before(conn: Connection, scope_id: int, at: datetime, found: Reach) -> Iterator[int]:
    """Turns said before a time; of one that tells no time, the time it was given in its session."""
    c, g = t.turns.c, t.turn_order.c
    given = {r.turn_uid: r.order_at for r in conn.execute(select(g.turn_uid, g.order_at).where(g.scope_id == scope_id, g.order_at.is_not(None)))}
    for row in conn.execute(select(c.id, c.uid, c.event_at).where(c.scope_id == scope_id)).all():
        when = row.event_at or given.get(row.uid)
        if when is None:
            found.untimed += 1
        elif when < at:
            yield row.id


def _quoted_by(conn: Connection, scope_id: int, notes: Iterable[str]) -> set[str]:
    """The turns all versions of these notes ever rested on."""
    v, n, c, q = t.note_versions.c, t.notes.c, t.claims.c, t.quotes.c
    rows = conn.execute(select(v.claims).join_from(t.note_versions, t.notes, n.id == v.note_id).where(n.scope_id == scope_id, n.uid.in_(sorted(notes))))
    claims = {uid for row in rows for uid in cast(list[str], load(row.claims))}
    query = select(q.turn_uid).join_from(t.quotes, t.claims, c.id == q.claim_id).where(c.scope_id == scope_id)
    return {uid for part in chunks(sorted(claims)) for uid in conn.scalars(query.where(c.uid.in_(part)))}


def _raw_turns(conn: Connection, scope_id: int, phrase: tuple[str, ...], blob: Blob, found: Reach) -> set[int]:
    """Turns whose record holds the phrase beside what is shown of it. Sources that hold it in a record nobody cites are cleaned of such records."""
    g, o = t.segments.c, t.occurrences.c
    wanted = Traces(phrases=frozenset({phrase}))
    turns: set[int] = set()
    for row in conn.execute(select(g.source_id, g.generation, g.offset, g.blob).where(g.scope_id == scope_id)).all():
        spans = [(row.offset + a, row.offset + b) for a, b in _lines_with(blob(row.blob), wanted)]
        if not spans:
            continue
        found.sources.add((row.source_id, row.generation))
        places = conn.execute(select(o.turn_id, o.offset, o.length).where(o.source_id == row.source_id, o.generation == row.generation)).all()
        turns |= {p.turn_id for p in places for a, b in spans if p.offset < b and a < p.offset + p.length}
    return turns


def _lines_with(data: bytes, wanted: Traces) -> Iterator[tuple[int, int]]:
    """Spans of the lines of archived bytes that hold a phrase, as they stand or as JSON spells it."""
    at = 0
    for line in data.splitlines(keepends=True):
        if wanted.within(plain(line)):
            yield at, at + len(line)
        at += len(line)


def plain(line: bytes) -> str:
    """A line of a log as text; JSON's escapes told as what they stand for."""
    text = line.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    try:
        return "\n".join([text, *strings_of(load(text))])
    except ValueError:
        return text


def _take_records(conn: Connection, scope_id: int, chosen: set[int], found: Reach) -> None:
    """The turns, every snapshot of them, and whatever stands in the same records: a record is filled as a whole."""
    c, o = t.turns.c, t.occurrences.c
    new = chosen
    while new:
        uids = {r.uid for part in chunks(sorted(new)) for r in conn.execute(select(c.uid).where(c.id.in_(part)))}
        rows = [r for part in chunks(sorted(uids)) for r in conn.execute(select(c.id, c.uid).where(c.scope_id == scope_id, c.uid.in_(part)))]
        found.turns |= {r.id: r.uid for r in rows}
        spots = [r for part in chunks(sorted(r.id for r in rows)) for r in conn.execute(_spots().where(o.turn_id.in_(part)))]
        found.touched |= {r.session_id for r in spots}
        here = defaultdict(set)
        for r in spots:
            here[r.source_id, r.generation].add(r.offset)
        found.sources |= here.keys()
        beside = (
            x for (source, generation), offsets in here.items() for part in chunks(sorted(offsets))
            for x in conn.scalars(select(o.turn_id).where(o.source_id == source, o.generation == generation, o.offset.in_(part)))
        )  # fmt: skip
        new = set(beside) - found.turns.keys()


def _spots() -> Any:
    o = t.occurrences.c
    return select(o.turn_id, o.session_id, o.source_id, o.generation, o.offset)


def _take_sessions(conn: Connection, scope_id: int, choice: Choice, found: Reach) -> None:
    """Sessions that were asked for, or of which nothing is left."""
    s, o = t.sessions.c, t.occurrences.c
    for row in conn.execute(select(s.id, s.uid).where(s.scope_id == scope_id)).all():
        if (
            choice.everything
            or row.uid in choice.sessions
            or (row.id in found.touched and all(x in found.turns for x in conn.scalars(select(o.turn_id).where(o.session_id == row.id))))
        ):
            found.sessions[row.id] = row.uid
    if choice.everything:
        g = t.segments.c
        found.sources |= {(r.source_id, r.generation) for r in conn.execute(select(g.source_id, g.generation).where(g.scope_id == scope_id).distinct())}


def _take_online(conn: Connection, scope_id: int, choice: Choice, found: Reach) -> None:
    """Lines of note files that were asked for, that hold the phrase, or that a log shows being written where it is forgotten."""
    c = t.online_notes.c
    phrase = Traces(phrases=frozenset({choice.phrase} if choice.phrase else ()))
    gone, uids = set(found.sessions.values()), found.uids
    for row in conn.execute(select(c.uid, c.folder, c.gone, c.body).where(c.scope_id == scope_id)):
        if (
            choice.everything
            or row.uid in choice.online
            or (phrase and (phrase.within(row.folder) or phrase.within(row.body)))
            or (not row.gone and (note := online_of(row.body)) and (note.turn in uids or note.session in gone))
        ):
            found.online.add(row.uid)


# --- words -------------------------------------------------------------------------------------------------------------------------------


def _find_words(conn: Connection, scope_id: int, choice: Choice, found: Reach) -> None:
    """What only the forgotten turns say, beside the phrase and the ids of sessions that are gone."""
    c, o = t.turns.c, t.online_notes.c
    mine: set[str] = set()
    others: list[str] = []
    for row in conn.execute(select(c.id, c.body, c.detail).where(c.scope_id == scope_id).execution_options(yield_per=500)):
        if row.id in found.turns:
            mine |= telling(said(row))
        elif found.turns:
            others.append(said(row))
    for uid, body in conn.execute(select(o.uid, o.body).where(o.scope_id == scope_id)):
        if uid in found.online:
            mine |= telling(told(body))
        else:
            others.append(told(body))
    for text in others:
        if not mine:
            break
        if may_hold(frozenset(mine), folded(text)):
            mine -= telling(text)
    found.words = Traces(phrases=frozenset({choice.phrase} if choice.phrase else ()), tokens=frozenset(mine - OURS))


def _find_names(conn: Connection, choice: Choice, found: Reach) -> None:
    """What tells people's own words apart for certain: the phrase, or the values and things the forgotten claims name that nobody else says; whole quotes
    of turns that go."""
    c, q = t.claims.c, t.quotes.c
    said: list[str] = []
    quotes: list[str] = []
    for part in chunks(sorted(found.claims)):
        said += ["\n".join(filter(None, r)) for r in conn.execute(select(c.subject, c.value, c.qualifier, c.applies_to).where(c.id.in_(part)))]
        quotes += (r.text for r in conn.execute(select(q.text, q.turn_uid).where(q.claim_id.in_(part))) if r.turn_uid in found.uids)
    tokens = frozenset() if choice.phrase else frozenset().union(*map(telling, said)) & found.words.tokens
    phrases = {tuple(words) for text in quotes if len(words := words_of(text)) > 3}
    found.names = Traces(phrases=found.words.phrases | phrases, tokens=tokens, ids=found.ids)


# --- what was read and believed ----------------------------------------------------------------------------------------------------------


def take_claims(conn: Connection, scope_id: int, found: Reach) -> None:
    """Claims that quote a turn that goes, or say what only those said; of the latter, the sessions they were read in."""
    c, q = t.claims.c, t.quotes.c
    query = select(c.id, c.uid).join_from(t.quotes, t.claims, c.id == q.claim_id).where(c.scope_id == scope_id)
    for part in chunks(sorted(found.uids)):
        found.claims |= {r.id: r.uid for r in conn.execute(query.where(q.turn_uid.in_(part)))}
    found.quoting = set(found.claims.values())
    worded = {r.id: r.uid for r in carrying(conn, scope_id, t.claims, found.words) if r.id not in found.claims}
    found.claims |= worded
    found.again = set(_read_in(conn, scope_id, worded, found.sessions.keys()))


def _read_in(conn: Connection, scope_id: int, claims: Iterable[int], but: Set[int]) -> Iterator[str]:
    """The sessions claims were read in, by uid, but for those that go."""
    s, r, x = t.sessions.c, t.session_reads.c, t.read_claims.c
    query = select(s.id, s.uid).join_from(t.read_claims, t.session_reads, r.id == x.read_id).join(t.sessions, s.id == r.session_id)
    for part in chunks(sorted(claims)):
        yield from (row.uid for row in conn.execute(query.where(x.scope_id == scope_id, x.claim_id.in_(part)).distinct()) if row.id not in but)


def take_notes(conn: Connection, scope_id: int, choice: Choice, found: Reach) -> None:
    """Notes of which a version rests on a claim that goes, was ended by one, or says what only those said. All their versions go (systems hole 70)."""
    v, n = t.note_versions.c, t.notes.c
    claims = set(found.claims.values())
    for row in conn.execute(select(n.id, n.uid, v.claims, v.ended_by).join_from(t.note_versions, t.notes, n.id == v.note_id).where(n.scope_id == scope_id)):
        moved = {row.ended_by, *cast(list[str], load(row.claims))}
        if row.uid in choice.notes or not claims.isdisjoint(moved):
            found.notes[row.id] = row.uid
        if row.uid in choice.notes or not found.quoting.isdisjoint(moved):
            found.rested.add(row.uid)
    touched = {r.note_id for r in carrying(conn, scope_id, t.note_versions, found.words)}
    for part in chunks(sorted(touched - found.notes.keys())):
        found.notes |= {r.id: r.uid for r in conn.execute(select(n.id, n.uid).where(n.id.in_(part)))}


def carrying(conn: Connection, scope_id: int | None, table: Table, traces: Traces) -> Iterator[Any]:
    """Rows of a table of which a content column carries any of the traces."""
    if not traces:
        return
    names = [c.name for c in table.columns if c.info["holds"] == "content"]
    query = select(table) if scope_id is None else select(table).where(table.c.scope_id == scope_id)
    for row in conn.execute(query).all():
        if any(isinstance(value := getattr(row, name), str) and traces.within(told(value)) for name in names):
            yield row


def surviving(conn: Connection, source: SourceKey, gone: Mapping[int, str]) -> list[tuple[int, int]]:
    """The spans of a source that turns which stay stand in."""
    o = t.occurrences.c
    rows = conn.execute(select(o.turn_id, o.offset, o.length).where(o.source_id == source[0], o.generation == source[1]))
    return sorted({(r.offset, r.offset + r.length) for r in rows if r.turn_id not in gone})
