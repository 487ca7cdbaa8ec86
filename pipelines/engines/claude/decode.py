"""The reply to an extract request as claims and questions: strict where it is parsed, trusting nothing it says of where words stand or what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.engines.claude.identify import Said, identify, sentence_around
from pipelines.engines.claude.prompts.extract import IMPLIED, KINDS, STATED
from pipelines.engines.claude.quotes import located, nowhere
from pipelines.engines.claude.reply import Fault, Fields, each, lists_of
from pipelines.engines.claude.windows import Stretch
from pipelines.model import Claim, Kind, Origin, Question, Quote, Turn
from pipelines.ports import Reply
from pipelines.text.mood import standing_mark
from pipelines.text.times import deadline_in

NAME_MAX, STATEMENT_MAX, QUOTE_MAX, REASON_MAX = 120, 500, 2_000, 300
"""Characters of the fields of an item; what is longer was not asked for."""
SHOWN_MAX = 160
"""Characters of a quote a page shows; a longer one is a run-on nobody cut."""
QUOTES_MAX = 4
INFERRED, RUN_ON = "inferred", "run_on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a reply says of a stretch; `dropped` items had a wrong leaf."""

    claims: tuple[Claim, ...] = ()
    questions: tuple[Question, ...] = ()
    dropped: int = 0


def decode(reply: Reply, stretch: Stretch, *, made_by: str) -> Read | Fault:
    """Claims with the identity dreamd's own grammar gives them. A quote that stands nowhere stays one, for the quote gate to refuse and count."""
    lists = lists_of(reply, "items", "questions")
    if isinstance(lists, Fault):
        return lists
    claims, wrong = each(lists[0], lambda item: _claim(item, stretch, made_by))
    questions, bad = each(lists[1], lambda item: _question(item, stretch))
    return Read(claims=tuple({c.uid: c for c in claims}.values()), questions=tuple(dict.fromkeys(questions)), dropped=wrong + bad)


def _claim(item: Fields, stretch: Stretch, made_by: str) -> Claim:
    said = said_of(item, KINDS)
    why, version = item.line("why", REASON_MAX), item.line("version", NAME_MAX)
    sure = item.word("sure", (STATED, IMPLIED))
    return claim_of(said, _quoted(item, stretch), why=why, version=version, made_by=made_by, doubts=(INFERRED,) if sure == IMPLIED else ())


def said_of(item: Fields, kinds: Sequence[str]) -> Said:
    """The fields every stated item has."""
    return Said(
        kind=Kind(item.word("kind", kinds)), about=item.line("about", NAME_MAX), what=item.line("what", NAME_MAX), where=item.line("where", NAME_MAX),
        says=item.line("says", STATEMENT_MAX, empty=False), value=item.line("value", REASON_MAX), was=item.line("was", REASON_MAX), negated=item.yes("negated"),
    )  # fmt: skip


def claim_of(said: Said, found: Sequence[tuple[Quote, Turn]], *, made_by: str, why: str = "", version: str = "", doubts: tuple[str, ...] = ()) -> Claim:
    """The claim of an item whose quotes were looked up: standing, reason, version and end are read by code in the quoted words."""
    known = identify(said, found)
    words = " ".join(quote.text for quote, _ in found)
    first, turn = found[0]
    long = (RUN_ON,) if any(len(quote.text) > SHOWN_MAX for quote, _ in found) else ()
    return Claim(
        kind=said.kind, subject=known.subject, attribute=known.attribute, qualifier=known.qualifier, statement=said.says, value=known.value,
        negated=known.negated, cardinality=known.cardinality, old_value=known.old_value, reason=why if why and why in words else None,
        standing_mark=any(_marked(quote, turn) for quote, turn in found), applies_to=version if version and version in words else None,
        valid_until=deadline_in(first.text, turn.at, turn.zone), quotes=tuple(dict.fromkeys(quote for quote, _ in found)), made_by=made_by,
        doubts=tuple(dict.fromkeys((*doubts, *known.doubts, *long))),
    )  # fmt: skip


def _question(item: Fields, stretch: Stretch) -> Question:
    return Question(text=item.line("asks", REASON_MAX, empty=False), quotes=tuple(dict.fromkeys(quote for quote, _ in _quoted(item, stretch))))


def _quoted(item: Fields, stretch: Stretch) -> list[tuple[Quote, Turn]]:
    """The quotes of an item, looked up in the turns they name; one of a turn nobody was shown stands nowhere."""
    found: list[tuple[Quote, Turn]] = []
    for given in item.many("quotes")[:QUOTES_MAX]:
        number, words = given.number("turn"), given.text("text", QUOTE_MAX, empty=False)
        turn = stretch.turn(number)
        if turn is None:
            turn = stretch.lines[0].turn
            found.append((nowhere(turn.uid, words), turn))
        else:
            found.append((located(turn, words), turn))
    return found


def _marked(quote: Quote, turn: Turn) -> bool:
    """Whether the person's words mark a standing rule."""
    return turn.origin is Origin.USER and quote.end > quote.start and (turn.memory or standing_mark(sentence_around(quote, turn)))
