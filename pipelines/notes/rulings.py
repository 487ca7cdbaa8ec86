"""People's decisions as inputs to beliefs: which claims they void, and which new claims they are.

A ruling is an event like any other: it is stronger than what was heard before it and gives way to what the person says after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from pipelines.model import Basis, Claim, Kind, OrderKey, Origin, Outcome, Quote, Ruling, Standing, Witnessed, short_uid
from pipelines.text.statement import parse

from .promotion import PERSON

SESSION = "ruling"
"""Session of the claims a ruling makes; their uid is the ruling's, their quote cites `ruling:<uid>`."""

VOIDING = frozenset({"retract", "reject", "ban"})
TAKING_BACK = frozenset({"retract", "reject"})
"""Verbs by which a person takes out words whose effect stands: what these words said to be over stays over."""
SETTLING = frozenset({"approve", "keep", "edit"})
EDIT = f"{SESSION}:edit"
"""`Claim.made_by` of a claim in the person's own words."""


def slot_head(value_name: str, negated: bool) -> str:
    """First part of a version's slot: tells the values of a note apart."""
    return short_uid("slot", value_name, str(negated))


def voids(ruling: Ruling, names: frozenset[str], head: str, witness: Witnessed) -> bool:
    """Whether a ruling takes a claim of the note called `names` out.

    Aimed at a claim it always does. Aimed at a note (and, with `other`, one slot of it) it does for all that was heard before it, and for later claims of
    lower standing than the person's own words: what was rejected is not learnt again from the same lines, nor from an echo of them.
    """
    if ruling.verb not in VOIDING:
        return False
    if ruling.target == witness.uid:
        return ruling.other is None
    if ruling.target not in names or (ruling.other is not None and ruling.other.split(".")[0] != head):
        return False
    return not _after(witness, ruling) or witness.standing < Standing.VERIFIED or witness.outcome is not Outcome.PASS


def before(witnesses: Iterable[Witnessed], ruling: Ruling) -> Iterator[Witnessed]:
    """What had been heard when a ruling was made; what has no time counts as heard."""
    return (witness for witness in witnesses if heard_before(witness, ruling))


def heard_before(witness: Witnessed, ruling: Ruling) -> bool:
    """Whether a claim had been heard when a ruling was made."""
    return not _after(witness, ruling)


def _after(witness: Witnessed, ruling: Ruling) -> bool:
    at = witness.order.at
    return ruling.at is not None and witness.order.known and at is not None and at > ruling.at


def settled(ruling: Ruling, model: Witnessed, latest: datetime | None) -> Witnessed:
    """The claim an approval, a keep or an edit makes: in the words of `model`, or of the edit, with a person's word behind it.

    An edit found in a file whose hand is unknown stays a draft: it is nobody's word yet.
    """
    claim = replace(model.claim, verified_by=PERSON, doubts=(), reason=ruling.body if ruling.verb != "edit" else None)
    if ruling.verb == "edit" and ruling.body:
        claim = _edited(claim, ruling.body)
    text = ruling.body or claim.statement
    claim = replace(claim, quotes=(Quote(turn=f"{SESSION}:{ruling.uid}", start=0, end=len(text), text=text),), made_by=f"{SESSION}:{ruling.verb}")
    own = ruling.hand == PERSON
    if not own:
        claim = replace(claim, verified_by=None)
    at = ruling.at or latest
    order = OrderKey(known=at is not None, at=at, session=SESSION, ordinal=0, uid=ruling.uid, basis=Basis.STATED if at else Basis.UNKNOWN)
    return Witnessed(
        claim=claim, uid=ruling.uid, origin=Origin.USER, standing=Standing.VERIFIED if own else Standing.INFERRED, order=order, roots=frozenset(),
        speaker=None, outcome=Outcome.PASS if own else Outcome.DRAFT, missed="" if own else "file_edit",
    )  # fmt: skip


def _edited(claim: Claim, body: str) -> Claim:
    """The note in the person's words; a rule of theirs is a standing one."""
    read = parse(body)
    value = read.value if claim.value is not None else None
    return replace(
        claim, statement=body, value=value if claim.value is None or value else body, negated=read.negated, old_value=None,
        standing_mark=claim.standing_mark or claim.kind in {Kind.RULE, Kind.PREFERENCE},
    )  # fmt: skip


def is_ruling(witness: Witnessed) -> bool:
    """Whether a claim was made by a ruling."""
    return witness.order.session == SESSION
