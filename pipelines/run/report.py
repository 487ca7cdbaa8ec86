"""The report of a dream, from what the store holds and what its units left behind: the same wherever they ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pipelines.errors import Permanent
from pipelines.model import Status, Verdict
from pipelines.report import BriefSize, DreamReport, NoteCounts, OnlineCounts, PageCounts, Records, RefusedSource
from pipelines.run.asking_read import UNREACHABLE
from pipelines.run.sources import Taken, counts_of
from pipelines.stages.resolver import Verb
from pipelines.store import Dream, Store

BROUGHT = "brought"
"""The name under which a dream's params hold what its host brought in for it."""
NAMED_MAX = 1000
"""Sources named as refused or rewritten; more are in the host's own report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a host took in before it asked for a dream: sums over its files, what it refused, what was rewritten; `mark` is the fingerprint of the files."""

    lines: int = 0
    good: int = 0
    bad: int = 0
    pending: int = 0
    redacted: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    rewritten: tuple[str, ...] = ()
    mark: str = ""

    def as_json(self) -> dict[str, object]:
        """As it travels with the request."""
        return {"lines": self.lines, "good": self.good, "bad": self.bad, "pending": self.pending, "redacted": self.redacted,
                "refused": [list(r) for r in self.refused[:NAMED_MAX]], "rewritten": list(self.rewritten[:NAMED_MAX]), "mark": self.mark}  # fmt: skip


def brought_by(taken: Taken, mark: str) -> Brought:
    """What one intake brought."""
    n = counts_of(taken.logs)
    return Brought(
        lines=n["lines"], good=n["good"], bad=n["bad"], pending=n["pending"], redacted=n["redacted"], refused=taken.problems, rewritten=taken.logs.rewritten,
        mark=mark,
    )  # fmt: skip


def brought_for(dream: Dream) -> Brought:
    """What came in for a dream; nothing for one that no host asked for with its own files. Raises Permanent when it is not of this version."""
    told = dream.params.get(BROUGHT)
    if not isinstance(told, Mapping):
        return Brought()
    try:
        refused = tuple((str(path), str(why)) for path, why in told.get("refused", ()))
        rewritten = tuple(map(str, told.get("rewritten", ())))
        return Brought(**{**_known(Brought, told), "refused": refused, "rewritten": rewritten})
    except (TypeError, ValueError) as error:
        raise Permanent(f"what came in for dream {dream.uid} is not told as this version does ({error}): request it again") from error


def report_of(
    store: Store, dream: Dream, *, engine: str, status: str, now: datetime, pages: PageCounts | None = None, brief: BriefSize | None = None, bloat: float = 0.0
) -> DreamReport:  # fmt: skip
    """The whole outcome so far. Its `next` is for the host to fill in, who knows where the wiki lies."""
    counts, brought, extracted = store.counts(dream.scope), brought_for(dream), _results(store, dream, "extract")
    verdicts = verdicts_of(store, dream)
    refused = (*brought.refused, *_parked(store, dream))
    return DreamReport(
        dream=dream.uid, scope=dream.scope, status=status, engine=engine, sources=counts.sources, sessions=counts.sessions, turns=counts.turns,
        origins=dict(counts.origins), lines=brought.lines, records=Records(good=brought.good, bad=brought.bad, pending=brought.pending),
        refused=tuple(RefusedSource(path=p, why=w) for p, w in refused), redacted=brought.redacted, claims=sum(_number(r, "claims") for r in extracted),
        rejected=dict(sorted(_sum(r.get("rejected") for r in extracted).items())), asked=_asked(store, dream), unread=_named(extracted, "unread"),
        left=_named(extracted, "left"), notes=_notes(store, dream, verdicts), online=_online(verdicts),
        pages=pages or PageCounts(), brief=brief or BriefSize(), archive={"bytes": counts.archived}, bloat=bloat,
        seconds=round((now - dream.started_at).total_seconds(), 3),
    )  # fmt: skip


def verdicts_of(store: Store, dream: Dream) -> Counter[str]:
    """How many of the agent's own notes had which verdict when this dream looked."""
    return _sum(r.get("verdicts") for r in _results(store, dream, "analyse"))


def report_from(told: Mapping[str, Any]) -> DreamReport:
    """A report as it was kept with its dream."""
    inside: dict[str, Callable[[Any], object]] = {
        "records": lambda x: Records(**_known(Records, x)), "notes": lambda x: NoteCounts(**_known(NoteCounts, x)),
        "online": lambda x: OnlineCounts(**_known(OnlineCounts, x)), "pages": lambda x: PageCounts(**_known(PageCounts, x)),
        "brief": lambda x: BriefSize(**_known(BriefSize, x)), "refused": lambda x: tuple(RefusedSource(**_known(RefusedSource, r)) for r in x),
    }  # fmt: skip
    values: dict[str, Any] = {name: inside[name](value) if name in inside else value for name, value in _known(DreamReport, told).items()}
    return DreamReport(**values)


def _known(kind: type[Any], told: Mapping[str, Any]) -> dict[str, Any]:
    names = {f.name for f in fields(kind)}
    return {name: value for name, value in told.items() if name in names}


def _results(store: Store, dream: Dream, stage: str) -> list[Mapping[str, object]]:
    return list(store.results(dream, stage).values())


def _number(told: Mapping[str, object], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) else 0


def _sum(counts: Iterable[object]) -> Counter[str]:
    total: Counter[str] = Counter()
    for told in counts:
        total.update(told if isinstance(told, dict) else {})
    return total


def _named(results: Iterable[Mapping[str, object]], name: str) -> dict[str, int]:
    return dict(sorted(_sum(r.get(name) for r in results).items()))


def _asked(store: Store, dream: Dream) -> dict[str, int]:
    """What the units of this dream asked a model, added up."""
    return _named((r for stage in ASKING for r in _results(store, dream, stage)), "asked")


ASKING = ("extract", "resolve")
"""Stages in which an engine may ask."""
UNREADABLE_MAX = 20
"""Stretches named that could not be read."""


def not_read(store: Store, dream: Dream) -> tuple[str, ...]:
    """What a person should know of what was not read: sessions a later dream reads, and stretches no model would answer for."""
    extracted = _results(store, dream, "extract")
    unread = _named(extracted, "unread")
    unasked, spent = unread.get(UNREACHABLE, 0), sum(n for why, n in unread.items() if why != UNREACHABLE)
    told = [f"{_sessions(n)} left to the next dream: the budget is used up" for n in (spent,) if n]
    told += [f"{_sessions(n)} left to the next dream but for what the rules read: the model cannot be reached" for n in (unasked,) if n]
    parked = [row for r in extracted for row in _rows(r.get("parked"))]
    told += [
        f"session {session}: {turns} {'turn was' if turns == 1 else 'turns were'} not read, the model's answer to them is {why}"
        for session, why, turns in parked[:UNREADABLE_MAX]
    ]
    more = len(parked) - UNREADABLE_MAX
    return (*told, *([f"{more} more stretches were not read"] if more > 0 else []))


def _sessions(n: int) -> str:
    return "1 session is" if n == 1 else f"{n} sessions are"


def _rows(told: object) -> list[list[object]]:
    return [row for row in told if isinstance(row, list) and len(row) == 3] if isinstance(told, list) else []


def _parked(store: Store, dream: Dream) -> list[tuple[str, str]]:
    """Units the dream went on without, as sources that were not taken in: they are read by the next dream."""
    return [(unit if unit.startswith("session ") else f"{stage} {unit}", error or code) for stage, unit, code, error in store.parked(dream)]


def _notes(store: Store, dream: Dream, said: Mapping[str, int]) -> NoteCounts:
    verbs = _sum(r.get("verbs") for r in _results(store, dream, "resolve"))
    stands = Counter(store.standing(dream.scope))
    said = Counter(said)
    return NoteCounts(
        added=verbs[Verb.NEW], same=verbs[Verb.SAME], extended=verbs[Verb.EXTENDS], superseded=verbs[Verb.SUPERSEDES], corrected=said[Verdict.CORRECTED],
        conflicting=stands[Status.DISPUTED], merged=verbs[Verb.MERGES] + said[Verdict.DUPLICATE], expired=stands[Status.EXPIRED],
        quarantined=stands[Status.QUARANTINED], drafts=stands[Status.DRAFT], needs_recheck=stands[Status.NEEDS_RECHECK] + said[Verdict.NEEDS_RECHECK],
    )  # fmt: skip


def _online(said: Counter[str]) -> OnlineCounts:
    shown = sum(n for verdict, n in said.items() if verdict != Verdict.NEEDS_RECHECK)
    return OnlineCounts(
        carried=shown, upheld=said[Verdict.UPHELD], corrected=said[Verdict.CORRECTED], contradicted=said[Verdict.CONTRADICTED],
        superseded=said[Verdict.SUPERSEDED], duplicate=said[Verdict.DUPLICATE], unsupported=said[Verdict.UNSUPPORTED], unchecked=said[Verdict.UNCHECKED],
        no_log=said[Verdict.NO_LOG],
    )  # fmt: skip
