"""From a world's logs to beliefs without a store: readers, engine, gates and beliefs called one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipelines.engines.local.engine import LocalEngine
from pipelines.logs.detect import detect
from pipelines.logs.reader import FileContext
from pipelines.logs.split import Record, split
from pipelines.model import Claim, OrderKey, Origin, SessionInfo, Standing, Turn, Version, Witnessed
from pipelines.notes.beliefs import believe
from pipelines.stages.extractor import Judged, judge_all, prepare
from tests.worlds.generator import FIRST_DAY, Log, User

SKEW_S = 120.0
SCOPE = "world"
_STRENGTH = (Origin.USER, Origin.TOOL, Origin.EXTERNAL, Origin.ASSISTANT)
_STANDING = {Origin.USER: Standing.VERIFIED, Origin.TOOL: Standing.TOOL, Origin.EXTERNAL: Standing.EXTERNAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the engine read in all sessions: claims as the gates left them, each with the number of its session."""

    witnessed: tuple[tuple[int, Witnessed], ...]

    @property
    def claims(self) -> dict[str, Claim]:
        """Every claim by uid."""
        return {w.uid: w.claim for _, w in self.witnessed}

    def beliefs(self, after: int) -> tuple[Version, ...]:
        """What is believed when only the sessions up to this one have been read."""
        heard = [w for n, w in self.witnessed if n <= after]
        return believe(SCOPE, heard, skew_s=SKEW_S, intake_at=_evening(after))


def read(user: User) -> Reading:
    """Every session of a user through the local engine and the gates."""
    engine = LocalEngine()
    return Reading(witnessed=tuple((n, w) for n, log in enumerate(user.logs, 1) for w in _witnesses(engine, log)))


def _evening(session: int) -> datetime:
    """After the session's last line."""
    return FIRST_DAY + timedelta(days=3 * session)


def _witnesses(engine: LocalEngine, log: Log) -> Iterator[Witnessed]:
    info, turns = session_turns(log)
    window = prepare(info, turns)
    by_uid = {t.uid: t for t in turns}
    keys = {key.uid: key for key in window.keys}
    for judged in judge_all(engine.extract(window), window):
        mine = [by_uid[q.turn] for q in judged.claim.quotes]
        yield _witness(judged, mine, max((keys[t.uid] for t in mine), key=lambda k: k.sort))


def session_turns(log: Log) -> tuple[SessionInfo, Sequence[Turn]]:
    """The one session a log holds, as its reader gives it."""
    records = [piece for piece in split(log.text.encode(), final=True) if isinstance(piece, Record)]
    reader = detect([r.value for r in records[:10]], log.name)
    given = reader.read(records, {}, FileContext(name=log.name))
    (info,) = given.sessions
    assert not given.bad, "a world writes no bad record"
    return info, given.turns


def _witness(judged: Judged, turns: Sequence[Turn], order: OrderKey) -> Witnessed:
    claim = judged.claim
    origin = max((t.origin_of(q.start, q.end) for t, q in zip(turns, claim.quotes, strict=True)), key=_weakness)
    return Witnessed(
        claim=claim, uid=claim.uid, origin=origin, standing=Standing.VERIFIED if claim.verified_by else _STANDING.get(origin, Standing.INFERRED),
        order=order, roots=frozenset(t.session for t in turns), speaker=next(_speakers(turns), None), outcome=judged.outcome, missed=judged.missed,
    )  # fmt: skip


def _weakness(origin: Origin) -> int:
    return _STRENGTH.index(origin) if origin in _STRENGTH else len(_STRENGTH)


def _speakers(turns: Iterable[Turn]) -> Iterator[str]:
    return (t.speaker for t in turns if t.speaker)
