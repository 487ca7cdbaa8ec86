"""What the `user` scope tells every project below it: its confirmed notes, but for those the project has its own value of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.model import Claim, Kind, Status
from pipelines.notes.identity import group_key, identity_of
from pipelines.run.looking import Look
from pipelines.run.noted import note_items
from pipelines.run.telling import versions_of
from pipelines.wiki import inline
from pipelines.wiki.brief import LINE_CHARS_MAX
from pipelines.wiki.content import Item
from pipelines.wiki.doors import Entry
from pipelines.wiki.inline import plain
from pipelines.wiki.signs import COMMANDS, FACTS, RULES, rank, section_of

TOLD = (RULES, COMMANDS, FACTS)
_STANDS = frozenset({Status.CONFIRMED, Status.DISPUTED, Status.NEEDS_RECHECK})


@dataclass(frozen=True, slots=True)
class Above:
    """What stands above a project: section of a brief → its lines, best first; and line → the note versions it tells, as deliveries name them."""

    sections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def told_in(self, text: str) -> tuple[str, ...]:
        """The note versions that a brief tells: those whose line stands in it."""
        return tuple(version for line in text.split("\n") for version in self.versions.get(line, ()))


def told_above(above: Look, below: Look) -> Above:
    """What the upper scope tells the lower one. High stakes are told nowhere but on their own page."""
    hidden = overruled(above, below)
    items = [i for i in note_items(above.store, above.scope, look=above).items.values() if i.uid not in hidden and not i.high_stakes]
    sections = {section: sorted((i for i in items if section_of(i) == section), key=rank) for section in TOLD}
    versions = versions_of(above.store, above.scope, [i.uid for told in sections.values() for i in told])
    return Above(
        {section: [_line(i) for i in told] for section, told in sections.items()}, {_line(i): versions[i.uid] for told in sections.values() for i in told}
    )


def _line(item: Item) -> str:
    return Entry(plain(inline.cut_quote(inline.clean(item.statement), LINE_CHARS_MAX)), None, item.uid).tell()


def overruled(above: Look, below: Look) -> frozenset[str]:
    """Notes of the upper scope of which the lower one has its own: nearest first. The note's first twelve characters are enough of its id anywhere."""
    claims = _claims(above)
    groups = {group_key(c) for cs in claims.values() for c in cs}
    own = [g.claim for g in below.store.claims_in_groups(below.scope, groups)] if groups else []
    standing = {h.version.note for h in below.heads({identity_of(below.scope, c).uid for c in own}) if h.version.status in _STANDS} if own else set()
    keys = {key for c in own if identity_of(below.scope, c).uid in standing for key in _keys(c)}
    return frozenset(note for note, cs in claims.items() if any(keys & _keys(c) for c in cs))


def _claims(at: Look) -> Mapping[str, Sequence[Claim]]:
    """What every standing note rests on, read at once: each session begins with it."""
    rests: dict[str, set[str]] = {}
    for head in at.heads():
        if head.version.status in _STANDS:
            rests.setdefault(head.version.note, set()).update(head.version.claims)
    found = at.store.claims(at.scope, {uid for uids in rests.values() for uid in uids})
    return {note: [found[uid] for uid in sorted(uids) if uid in found] for note, uids in rests.items()}


def _keys(claim: Claim) -> frozenset[str]:
    """What two statements share that speak of the same: their identity, and but for what people like and dislike the attribute as a whole."""
    own = identity_of("", claim).uid
    return frozenset({own} if claim.kind is Kind.PREFERENCE else {own, group_key(claim)})
