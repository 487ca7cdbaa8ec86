"""Filling gaps: which line of other turns answers a question. The answer is a claim like any other, quoted from that line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipelines.engines.claude.asked import NONE, Found, Gap, in_half, packed, shown_words, speaker_of
from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.decode import claim_of, said_of
from pipelines.engines.claude.identify import sentence_around
from pipelines.engines.claude.prompts import answer
from pipelines.engines.claude.prompts.extract import KINDS
from pipelines.engines.claude.prompts.prompt import ask_of
from pipelines.engines.claude.quotes import located
from pipelines.engines.claude.reply import Fault, Fields, each, lists_of
from pipelines.engines.claude.rounds import Job, in_rounds
from pipelines.engines.claude.windows import day_of, escaped, fenced
from pipelines.model import Claim, Quote, Turn
from pipelines.ports import Ask, Asking, Reply
from pipelines.text.words import content_words

GAPS_MAX, GAPS_CHARACTERS = 5, 24_000
"""Questions of one request, and characters of theirs with their candidates."""
CANDIDATES_MAX, LINE_MAX = 12, 600
"""Candidates of a question that are shown, and characters of each."""
ANSWER_QUOTE_MAX = 2_000


def answers(gaps: Sequence[Gap], config: ClaudeConfig, asking: Asking, *, made_by: str) -> tuple[Found, ...]:
    """For each question the claim that answers it, or why there is none."""
    batches = packed(gaps, lambda gap: sum(map(len, _gap(gap, 1, {}))), most=GAPS_MAX, room=GAPS_CHARACTERS)

    def ask(batch: tuple[Gap, ...], attempt: int) -> Ask:
        body = "\n".join(line for n, gap in enumerate(batch, 1) for line in _gap(gap, n, _numbers(batch)))
        turns = [uid for gap in batch for uid in (*(e.turn.uid for e in gap.contexts), *(t.uid for t in _candidates(gap)))]
        return ask_of(answer.PROMPT, config, answer.content(fenced(body)), name=f"{len(batch)} questions", turns=turns, attempt=attempt)

    def decode(batch: tuple[Gap, ...], reply: Reply) -> tuple[Found, ...] | Fault:
        lists = lists_of(reply, "answers")
        if isinstance(lists, Fault):
            return lists
        given, _ = each(lists[0], lambda item: _answer(item, batch, made_by))
        return tuple(_found([claim for number, claim in given if number == n]) for n in range(1, len(batch) + 1))

    (ends,) = in_rounds([batches], Job(ask=ask, decode=decode, halves=in_half), asking)
    return tuple(one for end in ends for one in (end.result or (Found(claim=None, why=end.why),) * len(end.unit)))


def _found(claims: Sequence[Claim | None]) -> Found:
    """The one claim that answers; none where the model gave two or said there is none."""
    told = {claim.uid: claim for claim in claims if claim is not None}
    return Found(claim=next(iter(told.values()))) if len(told) == 1 and len(claims) == 1 else Found(claim=None, why=NONE)


def _answer(item: Fields, batch: Sequence[Gap], made_by: str) -> tuple[int, Claim | None]:
    """The number of the question and the claim; no claim for a line that does not stand under that question, nor for one that speaks of something else."""
    number, line = item.number("question"), item.number("line")
    under = {at: turn for (n, at), turn in _placed(batch) if n == number}
    turn = under.get(line)
    if turn is None:
        return number, None
    words = item.text("quote", ANSWER_QUOTE_MAX, empty=False)
    found: list[tuple[Quote, Turn]] = [(located(turn, words), turn)]
    said = said_of(item, KINDS)
    bears = _bears_on(batch[number - 1], f"{said.says} {said.about} {said.what} {words}")
    return number, claim_of(said, found, made_by=made_by) if bears else None


def _bears_on(gap: Gap, said: str) -> bool:
    """Whether an answer speaks of what is asked: it, or what it is said to be about, holds a word of the question or of the sentence that raises it."""
    asked = " ".join((gap.question.text, *(sentence_around(e.quote, e.turn) for e in gap.contexts)))
    return not set(content_words(asked)).isdisjoint(content_words(said))


# --- as it is shown ----------------------------------------------------------------------------------------------------------------------


def _gap(gap: Gap, number: int, numbers: Mapping[tuple[int, int], int]) -> Iterator[str]:
    yield f"question {number}: {escaped(gap.question.text)}"
    yield from shown_words(gap.contexts[:2])
    yield "lines:"
    for at, turn in enumerate(_candidates(gap)):
        spoken = ", ".join(part for part in (speaker_of(turn), day_of(turn)) if part)
        yield f"[{numbers.get((number, at), at + 1)}] {spoken}: {escaped(turn.text.strip()[:LINE_MAX])}"


def _candidates(gap: Gap) -> tuple[Turn, ...]:
    return gap.candidates[:CANDIDATES_MAX]


def _numbers(batch: Sequence[Gap]) -> Mapping[tuple[int, int], int]:
    """The number of each candidate, counted through all questions, by (question, place under it)."""
    places = [(n, at) for n, gap in enumerate(batch, 1) for at in range(len(_candidates(gap)))]
    return {place: number for number, place in enumerate(places, 1)}


def _placed(batch: Sequence[Gap]) -> Iterator[tuple[tuple[int, int], Turn]]:
    """((question, number of the line), its turn) of every candidate."""
    numbers = _numbers(batch)
    for n, gap in enumerate(batch, 1):
        for at, turn in enumerate(_candidates(gap)):
            yield (n, numbers[n, at]), turn
