"""Which people speak in which session, by name: kept beside what logs tell of a session when its turns are taken in, so that nobody has to look at turns.

And what is said no to because of who speaks: a gate's word on claims of current readings, replaced when the company changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import Connection, or_, select, update

from pipelines.model import GateResult, Origin, Outcome, Turn, outcome
from pipelines.store import tables as t
from pipelines.store.codec import SPEAKERS, results_of, results_out
from pipelines.store.core import Core, chunks
from pipelines.store.dirty import mark
from pipelines.store.types import dump, load
from pipelines.text.voices import voice_of

MOVED: Final = ""
"""The digest by which the work log's record of a session is made anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """When a session began by its turns, and the people who speak in it, as `voice_of` has their names."""

    began: datetime | None
    voices: frozenset[str]


class Speakers(Core):
    """Who speaks where, and the gate that goes by it."""

    def spoken(self, scope: str) -> Mapping[str, Spoken]:
        """Sessions in which somebody speaks by name, by uid; none in a scope of agents' logs alone."""
        s, i, h = t.sessions.c, t.session_infos.c, t.session_heads.c
        query = select(s.uid, i.info, h.started_at).join_from(t.session_infos, t.sessions, s.id == i.session_id)
        query = query.outerjoin(t.session_heads, h.session_id == s.id)
        named = or_(*(i.info.contains(f'"{SPEAKERS}":{space}[', autoescape=True) for space in ("", " ")))
        found: dict[str, Spoken] = {}
        with self.reading("read who speaks") as conn:
            for row in conn.execute(query.where(i.scope_id == self.scope_of(conn, scope), named)):
                voices = frozenset(speakers_in(load(row.info)))
                before = found[row.uid].voices if row.uid in found else frozenset()
                if voices:
                    found[row.uid] = Spoken(began=row.started_at, voices=before | voices)
        return found

    def say(self, scope: str, gate: str, said: Mapping[str, GateResult]) -> frozenset[str]:
        """Replace what one gate says of these claims; a PASS is not written down. Those whose results changed are returned, and dirty from now on."""
        c, r = t.claims.c, t.read_claims.c
        changed: set[str] = set()
        with self.writing("hold or let go claims") as conn:
            scope_id = self.locked_scope(conn, scope)
            query = select(c.uid, r.id, r.results).join_from(t.read_claims, t.claims, c.id == r.claim_id).where(r.scope_id == scope_id)
            for part in chunks(sorted(said)):
                mine = select(c.id).where(c.scope_id == scope_id, c.uid.in_(part))
                for row in conn.execute(query.where(r.claim_id.in_(mine))).all():
                    results = with_word(results_of(row.results), gate, said[row.uid])
                    if (told := results_out(results)) != row.results:
                        conn.execute(update(t.read_claims).where(r.id == row.id).values(results=told, outcome=outcome(results).value))
                        changed.add(row.uid)
            mark(conn, scope_id, changed, gate)
            _tell_anew(conn, scope_id, changed)
        return frozenset(changed)

    def withheld(self, scope: str, turns: Iterable[str]) -> frozenset[str]:
        """Those of these turns that hold the words of a claim under quarantine."""
        q, r = t.quotes.c, t.read_claims.c
        query = select(q.turn_uid).join_from(t.quotes, t.read_claims, r.claim_id == q.claim_id).where(r.outcome == Outcome.QUARANTINE.value)
        with self.reading("look for words that are held") as conn:
            query = query.where(q.scope_id == self.scope_of(conn, scope)).distinct()
            return frozenset(uid for part in chunks(sorted(set(turns))) for uid in conn.scalars(query.where(q.turn_uid.in_(part))))


def with_word(results: Sequence[GateResult], gate: str, word: GateResult) -> tuple[GateResult, ...]:
    """The results with this word of the gate; PASS leaves it out."""
    return (*(r for r in results if r.gate != gate), *(() if word.outcome is Outcome.PASS else (word,)))


def speakers_in(info: Any) -> list[str]:
    """The speakers a session's record names."""
    return [name for name in cast(dict[str, Any], info).get(SPEAKERS, ()) if isinstance(name, str) and name]


def speakers_of(turns: Iterable[Turn]) -> Mapping[str, frozenset[str]]:
    """The people who speak by name, by session."""
    found: dict[str, set[str]] = {}
    for turn in turns:
        if turn.origin is Origin.USER and turn.speaker and (voice := voice_of(turn.speaker)):
            found.setdefault(turn.session, set()).add(voice)
    return {session: frozenset(voices) for session, voices in found.items()}


def keep_speakers(conn: Connection, session: int) -> None:
    """Strike from a session's records whoever no longer speaks in it, once some of its turns were deleted."""
    i, o, c = t.session_infos.c, t.occurrences.c, t.turns.c
    rows = [r for r in conn.execute(select(i.id, i.info).where(i.session_id == session)) if speakers_in(load(r.info))]
    if not rows:
        return
    query = select(c.detail).join_from(t.occurrences, t.turns, c.id == o.turn_id).where(o.session_id == session, c.origin == Origin.USER.value)
    still = {voice_of(name) for detail in conn.scalars(query.distinct()) if (name := cast(dict[str, Any], load(detail)).get("speaker"))}
    for row in rows:
        told = cast(dict[str, Any], load(row.info))
        conn.execute(update(t.session_infos).where(i.id == row.id).values(info=dump({**told, SPEAKERS: sorted(still.intersection(told[SPEAKERS]))})))


def _tell_anew(conn: Connection, scope_id: int, claims: Iterable[str]) -> None:
    """Have the work log's records of the sessions made anew in which words of these claims stand."""
    c, q, v, o, p = t.claims.c, t.quotes.c, t.turns.c, t.occurrences.c, t.shown_sessions.c
    for part in chunks(sorted(claims)):
        turns = select(q.turn_uid).join_from(t.quotes, t.claims, c.id == q.claim_id).where(c.scope_id == scope_id, c.uid.in_(part))
        rows = select(v.id).where(v.scope_id == scope_id, v.uid.in_(turns))
        sessions = select(o.session_id).where(o.turn_id.in_(rows))
        conn.execute(update(t.shown_sessions).where(p.scope_id == scope_id, p.session_id.in_(sessions)).values(digest=MOVED))
