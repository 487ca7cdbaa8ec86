"""What the engine is asked about beside windows: statements to check, pairs to relate, gaps to fill, evidence to conclude from; and what it says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pipelines.engines.claude.identify import sentence_around
from pipelines.engines.claude.prompts.support import VERDICTS
from pipelines.engines.claude.windows import day_of, escaped
from pipelines.model import Claim, Origin, Question, Quote, Relation, Turn

T = TypeVar("T")
YES, NO, UNSURE = VERDICTS
UNASKED = "unasked"
"""Whether quotes support a statement; UNASKED where a budget was used up."""
NONE = "none"
"""`Found.why` of a question none of its candidates answers."""
SENTENCE_MAX, QUOTE_MAX = 600, 400
"""Characters shown of the sentences around a quote, and of the quote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A quote with the turn it stands in, read again from the log."""

    quote: Quote
    turn: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Supported:
    """A claim to be checked against the words it rests on."""

    claim: Claim
    contexts: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two claims, the older first as far as anybody can tell, whose relation certain matching left open."""

    older: Supported
    newer: Supported


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """How a pair's newer claim relates to the older; None where nobody was asked or nothing usable came. `why` is a constant code: "model",
    what code found against the model's word, or why there is no word."""

    relation: Relation | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """An open question, the words that raise it, and turns in which its answer may stand."""

    question: Question
    contexts: tuple[Evidence, ...]
    candidates: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The claim that answers a question, to pass the gates like any other; or why there is none: NONE, "budget", "refused", "unusable"."""

    claim: Claim | None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Claims something may be concluded from, and the root session of each."""

    pieces: tuple[Supported, ...]
    roots: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.pieces) != len(self.roots):
            raise ValueError("a group has one root session a piece")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """What was concluded of a group, or why nobody was asked or nothing usable came."""

    claims: tuple[Claim, ...] = ()
    why: str = ""


def turns_of(items: Sequence[Supported]) -> Iterator[str]:
    """Uids of the turns whose words are shown of claims."""
    return (evidence.turn.uid for item in items for evidence in item.contexts)


def shown_words(contexts: Sequence[Evidence]) -> Iterator[str]:
    """Who said what, when: the sentences around each quote, and the quote itself where it is only a part of them."""
    for evidence in contexts:
        around = " ".join(sentence_around(evidence.quote, evidence.turn).split())
        quote = " ".join(evidence.quote.text.split())
        spoken = ", ".join(part for part in (speaker_of(evidence.turn), day_of(evidence.turn)) if part)
        yield f"  {spoken}: {escaped(around[:SENTENCE_MAX])}"
        if quote != around:
            yield f"  words quoted: {escaped(quote[:QUOTE_MAX])}"


_SPEAKERS = {Origin.USER: "user", Origin.TOOL: "result of a command", Origin.EXTERNAL: "outside text", Origin.ASSISTANT: "assistant"}


def speaker_of(turn: Turn) -> str:
    """Who speaks, in the words of the prompts."""
    return turn.speaker or _SPEAKERS.get(turn.origin, "other")


def about(claim: Claim) -> str:
    """What a claim is about, on one line."""
    parts = [claim.subject, *([f"on {claim.qualifier}"] if claim.qualifier else []), *([f"version {claim.applies_to}"] if claim.applies_to else [])]
    return escaped(" ".join(", ".join(parts).split()))


def packed(items: Sequence[T], size: Callable[[T], int], *, most: int, room: int) -> tuple[tuple[T, ...], ...]:
    """The items in order, in batches of at most `most` whose sizes add up to at most `room`; one too large stands alone."""
    batches: list[list[T]] = []
    left = 0
    for item in items:
        needs = size(item)
        if not batches or len(batches[-1]) >= most or needs > left:
            batches.append([])
            left = room
        batches[-1].append(item)
        left -= needs
    return tuple(map(tuple, batches))


def in_half(batch: Sequence[T]) -> tuple[tuple[T, ...], ...]:
    """A batch in two, to find what in it cannot be answered; nothing for one that stands alone."""
    middle = len(batch) // 2
    return (tuple(batch[:middle]), tuple(batch[middle:])) if middle else ()
