"""Where the answer to an open question may stand: the lines of other turns that hold most of its rarer words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log

from pipelines.model import Origin, Question, Turn
from pipelines.text.words import content_words

LINES_MAX = 8
"""Turns a question is looked up in."""
LENGTH_MAX = 4_000
"""Characters of a turn that may be a line; longer ones are texts that hold every word."""
_SPEAKING = frozenset({Origin.USER, Origin.TOOL, Origin.EXTERNAL})


def words_of(question: Question, around: Iterable[str]) -> str:
    """What to search with: the question, and the sentences that raise it."""
    return " ".join((question.text, *around))


def likeliest(question: Question, around: Iterable[str], turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Of these turns the likeliest to answer, best first. Only who can be evidence speaks, and no turn answers itself."""
    asked = frozenset(content_words(words_of(question, around)))
    raised = {q.turn for q in question.quotes}
    speaking = {t.uid: t for t in turns if t.origin in _SPEAKING and t.uid not in raised and len(t.text) <= LENGTH_MAX}
    held = {uid: asked & frozenset(content_words(t.text)) for uid, t in speaking.items()}
    common = Counter(word for words in held.values() for word in words)
    score = {uid: sum(log(1 + len(held) / common[word]) for word in words) for uid, words in held.items() if words}
    best = sorted(score, key=lambda uid: (-score[uid], len(speaking[uid].text), uid))
    return tuple(speaking[uid] for uid in best[:LINES_MAX])
