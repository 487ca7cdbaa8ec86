"""Questions that are still open: those no line of another turn was found to answer, by a claim that stands.

A claim the gates or the check hold as a draft answers nothing: a model that makes an answer up would else take the question from the person's queue.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.gates import SAID_ONCE, first_missed
from pipelines.model import Outcome, Question, digest
from pipelines.store import GatedClaim, Store

ANSWER = "answer-"
"""How the readings are named that hold the answers to questions: one reading a question, kept with the session that raised it, under the dream's uid."""


def answer_name(question: Question) -> str:
    """What a question's answer is kept under, whichever engine found it."""
    raised = (f"{q.turn}:{q.start}:{q.end}" for q in question.quotes)
    return f"{ANSWER}{digest(question.text, *raised)[:16]}"


def open_questions(store: Store, scope: str, *, dream: str = "") -> Mapping[str, tuple[Question, ...]]:
    """Questions of current readings by session, without those that are answered; with `dream` as they were before that dream answered any."""
    asked = store.questions(scope)
    told = store.readings_named(scope, ANSWER) if asked else ()
    stand = {gated.claim.uid for gated in store.claims_of(scope, {uid for r in told for uid in r.claims}) if _stands(gated)}
    answered = {(r.session, r.engine.split("/", 1)[0]) for r in told if stand.intersection(r.claims) and r.digest != dream}
    left = {session: tuple(q for q in questions if (session, answer_name(q)) not in answered) for session, questions in asked.items()}
    return {session: questions for session, questions in left.items() if questions}


def _stands(gated: GatedClaim) -> bool:
    """Whether a claim is believed, or would be once it is heard again."""
    return gated.outcome is Outcome.PASS or (gated.outcome is Outcome.DRAFT and first_missed(gated.results) == SAID_ONCE)
