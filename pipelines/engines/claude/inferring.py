"""Insights: what three or more pieces of evidence of two or more sessions show together; marked as inferred, so a draft until a person says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipelines.engines.claude.asked import Group, Inferred, about, shown_words, turns_of
from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.decode import INFERRED, NAME_MAX, STATEMENT_MAX, claim_of
from pipelines.engines.claude.identify import Said
from pipelines.engines.claude.prompts import insight
from pipelines.engines.claude.prompts.prompt import ask_of
from pipelines.engines.claude.reply import Fault, Fields, WrongLeaf, each, lists_of
from pipelines.engines.claude.rounds import Job, in_rounds
from pipelines.engines.claude.windows import escaped, fenced
from pipelines.model import Claim, Kind, Quote, Turn
from pipelines.ports import Ask, Asking, Reply

PIECES_MAX, CITED_MAX = 40, 12
"""Pieces of a group that are shown, and that an insight may rest on."""


def insights(groups: Sequence[Group], config: ClaudeConfig, asking: Asking, *, made_by: str) -> tuple[Inferred, ...]:
    """What each group shows; a group without three pieces of two sessions is not asked about."""

    def ask(group: Group, attempt: int) -> Ask:
        shown = group.pieces[:PIECES_MAX]
        name, turns = f"{len(shown)} things together", tuple(turns_of(shown))
        return ask_of(insight.PROMPT, config, insight.content(fenced("\n".join(_pieces(group)))), name=name, turns=turns, attempt=attempt)

    def decode(group: Group, reply: Reply) -> tuple[Claim, ...] | Fault:
        lists = lists_of(reply, "insights")
        if isinstance(lists, Fault):
            return lists
        made, _ = each(lists[0], lambda item: _insight(item, group, made_by))
        return tuple({claim.uid: claim for claim in made}.values())

    asked = [(group,) if _enough(group, range(len(group.pieces[:PIECES_MAX]))) else () for group in groups]
    ended = in_rounds(asked, Job(ask=ask, decode=decode, halves=lambda _: ()), asking)
    return tuple(
        Inferred(claims=tuple(c for end in ends for c in end.result or ()), why=next((end.why for end in ends if end.result is None), "")) for ends in ended
    )


def _insight(item: Fields, group: Group, made_by: str) -> Claim:
    """The claim of an insight; its quotes are those of the pieces it names. Raises WrongLeaf for pieces nobody showed, too few, or of one session."""
    named = tuple(dict.fromkeys(number - 1 for number in item.numbers("pieces")))[:CITED_MAX]
    if not all(0 <= n < len(group.pieces[:PIECES_MAX]) for n in named) or not _enough(group, named):
        raise WrongLeaf("pieces")
    found = [evidence for n in named if (evidence := _evidence(group, n)) is not None]
    said = Said(
        kind=Kind.INSIGHT, about=item.line("about", NAME_MAX), what=item.line("what", NAME_MAX), where="", says=item.line("says", STATEMENT_MAX, empty=False),
        value="", was="", negated=False,
    )  # fmt: skip
    return claim_of(said, found, made_by=made_by, doubts=(INFERRED,))


def _enough(group: Group, named: Sequence[int]) -> bool:
    """Whether the pieces are evidence enough: three different stretches of words, of two sessions."""
    found = {n: evidence for n in named if (evidence := _evidence(group, n)) is not None}
    stretches = {(quote.turn, quote.start, quote.end) for quote, _ in found.values()}
    return len(stretches) >= insight.PIECES_MIN and len({group.roots[n] for n in found}) >= insight.SESSIONS_MIN


def _evidence(group: Group, n: int) -> tuple[Quote, Turn] | None:
    """The words a piece is cited by."""
    contexts = group.pieces[n].contexts
    return (contexts[0].quote, contexts[0].turn) if contexts else None


def _pieces(group: Group) -> Iterator[str]:
    letters = {root: _letter(at) for at, root in enumerate(dict.fromkeys(group.roots))}
    for n, (piece, root) in enumerate(zip(group.pieces[:PIECES_MAX], group.roots, strict=False), 1):
        yield f"[{n}] session {letters[root]}: {escaped(piece.claim.statement)} (about: {about(piece.claim)})"
        yield from shown_words(piece.contexts[:1])


def _letter(at: int) -> str:
    """A, B, … Z, A1, B1, …: a name that tells sessions apart and nothing else."""
    return chr(ord("A") + at % 26) + (str(at // 26) if at >= 26 else "")
