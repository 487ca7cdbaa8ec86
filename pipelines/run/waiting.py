"""What waits for an answer: the questions sessions ended with, and those an engine noticed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipelines.engines.local.ending import Ended
from pipelines.engines.local.worklog import WorkRecord
from pipelines.gates import held
from pipelines.model import Question, Quote, Status
from pipelines.notes.identity import identity_of
from pipelines.run.edits import dismissed
from pipelines.run.evidence import gather, latest
from pipelines.run.looking import Look
from pipelines.run.questions import open_questions
from pipelines.run.worked import as_question, recent_records, work_of
from pipelines.store import Store
from pipelines.wiki.brief import WAITING_MAX
from pipelines.wiki.content import Asked, Work
from pipelines.wiki.unfinished import Left, unfinished


@dataclass(frozen=True, slots=True)
class Last:
    """How a session ended: when, and what the assistant asked last without an answer, or the plan it showed (`planned`)."""

    session: str
    ended: datetime | None
    asked: Quote | None
    planned: bool = False


def last_of(record: WorkRecord) -> Last:
    """The end of a session."""
    return Last(record.session, record.ended, record.end.asked, record.end.how is Ended.PLAN)


def waiting(works: Sequence[Work], ends: Iterable[Last]) -> tuple[Last, ...]:
    """The ends of the newest sessions whose question waits: neither they nor a later session have gone on with it."""
    open_ones = [u.work.session for u in unfinished(works) if u.left is Left.QUESTION][:WAITING_MAX]
    return tuple(end for end in ends if end.session in open_ones)


def last_asked(store: Store, scope: str) -> tuple[tuple[Last, ...], tuple[Asked, ...]]:
    """How the sessions of the last two weeks ended, and those questions of theirs, and of an engine, that wait for a person now."""
    records = recent_records(store, scope, Look(store=store, scope=scope))
    ends = tuple(map(last_of, records))
    gone = dismissed(store, scope)
    return ends, tuple(a for a in asked(store, scope, waiting(tuple(map(work_of, records)), ends)) if a.uid not in gone)


def asked(store: Store, scope: str, ends: Iterable[Last]) -> tuple[Asked, ...]:
    """What an engine noticed to be open, and the questions these sessions ended with (`waiting`).

    Words that a draft quotes wait for a person as that draft.
    """
    questions = [q for asked in open_questions(store, scope).values() for q in asked]
    plans: set[str] = set()
    for end in ends:
        if end.asked is not None:
            questions.append(Question(text=end.asked.text if end.planned else as_question(end.asked.text), quotes=(end.asked,)))
            plans |= {end.asked.turn} if end.planned else set()
    drafted = _drafted(store, scope, questions)
    questions = [q for q in questions if not held(q.text) and not any(_within(mine, draft) for mine in q.quotes for draft in drafted[mine.turn])]
    evidence = gather(store, scope, (), (q for asked in questions for q in asked.quotes))
    out: dict[str, Asked] = {}
    for question in questions:
        cites = tuple(c for q in question.quotes if (c := evidence.cite(q)))
        if cites:
            uid = question.quotes[0].turn[:12]
            out[uid] = Asked(uid=uid, text=question.text, cites=cites, at=latest(c.at for c in cites), plan=question.quotes[0].turn in plans)
    return tuple(out[uid] for uid in sorted(out))


def _drafted(store: Store, scope: str, questions: Sequence[Question]) -> Mapping[str, Sequence[Quote]]:
    """What drafts quote of the turns these questions are about, by turn."""
    claims = store.claims(scope, store.quoting(scope, {q.turn for asked in questions for q in asked.quotes}))
    heads = store.heads(scope, notes={identity_of(scope, c).uid for c in claims.values()}, statuses=[Status.DRAFT]) if claims else ()
    quotes: defaultdict[str, list[Quote]] = defaultdict(list)
    for uid in sorted({c for h in heads for c in h.version.claims} & claims.keys()):
        for quote in claims[uid].quotes:
            quotes[quote.turn].append(quote)
    return quotes


def _within(quote: Quote, other: Quote) -> bool:
    """Whether all words of a quote stand in another of its turn."""
    return other.start <= quote.start and quote.end <= other.end
