"""The notes a person means who names no id and no page but some words of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final

from pipelines.run.looking import Look
from pipelines.run.sources import standing_notes
from pipelines.text.tokens import tokenize, tokens_of_query

LOOKED_AT: Final = 200
"""Notes with any of the words that are looked at for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A note that holds the words: its id as `why` takes it, and what it says."""

    note: str
    text: str


def notes_with(look: Look, said: str, *, now: datetime) -> tuple[Named, ...]:
    """The notes whose statement holds all of these words, best first; where none does, those of pages whose title does, or of a note file of that name.
    Only what search may find: nothing under quarantine."""
    tokens = tokens_of_query(said)
    if not tokens:
        return ()
    found = look.store.search_notes(look.scope, tokens, now=now, limit=LOOKED_AT, audience=look.audience, moment=look.moment)
    wanted = frozenset(tokens)
    return tuple(Named(note=n.uid, text=n.text) for n in found if wanted <= set(tokenize(n.text))) or _on_pages(look, said, wanted)


def _on_pages(look: Look, said: str, wanted: frozenset[str]) -> tuple[Named, ...]:
    pages = {p.uid for p in look.store.pages(look.scope).values() if wanted <= set(tokenize(p.title))}
    placed = look.store.placements(look.scope)
    file = said.strip().removesuffix(".md").casefold()
    lines = {n.uid[:12]: n for n in standing_notes(look.online_notes())}
    of_file = {uid for uid, n in lines.items() if uid in placed and PurePosixPath(n.path).stem.casefold() == file}
    notes = sorted(of_file | {note for note, p in placed.items() if p.page in pages})
    texts = {h.version.note: h.version.statement for h in look.heads([n for n in notes if n not in lines])} | {uid: n.text for uid, n in lines.items()}
    return tuple(Named(note=n, text=texts[n]) for n in notes if n in texts)
