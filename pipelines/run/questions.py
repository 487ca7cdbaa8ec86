"""Questions that are still open: those no line of another turn was found to answer."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.model import Question, digest
from pipelines.store import Store

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
    answered = {(r.session, r.engine.split("/", 1)[0]) for r in told if r.claims and r.digest != dream}
    left = {session: tuple(q for q in questions if (session, answer_name(q)) not in answered) for session, questions in asked.items()}
    return {session: questions for session, questions in left.items() if questions}
