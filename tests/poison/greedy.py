"""A model that was taken in: it claims everything it reads, as a rule, as a fact and as reported, in its own words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.engines.local.engine import LocalEngine
from pipelines.model import Claim, Kind, Origin, Quote, Turn
from pipelines.ports import Extracted, Window
from pipelines.text.sentences import sentences

TEXT_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyEngine:
    """An `Engine`. What the rules read it reads too."""

    name: str = "local/takes-all"

    def extract(self, window: Window) -> Extracted:
        """Every sentence of every turn, twice or thrice."""
        read = LocalEngine().extract(window)
        claims = {c.uid: c for turn in window.turns for c in _claimed(turn)}
        return Extracted(claims=(*read.claims, *claims.values()), questions=read.questions)


def _claimed(turn: Turn) -> Iterator[Claim]:
    for span in sentences(turn.text[:TEXT_MAX]):
        text = span.of(turn.text)
        quotes = (Quote(turn=turn.uid, start=span.start, end=span.end, text=text),)
        yield Claim(kind=Kind.RULE, subject="project", attribute="", statement=text, quotes=quotes, standing_mark=True)
        yield Claim(kind=Kind.FACT, subject="project", attribute="", statement=text, quotes=quotes)
        if turn.origin is Origin.EXTERNAL:
            yield Claim(kind=Kind.FACT, subject="project", attribute="", statement=f"According to a page: {text}", quotes=quotes)
