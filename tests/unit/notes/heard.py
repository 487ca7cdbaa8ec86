"""Claims as the gates hand them on, for tests of beliefs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pipelines.model import Basis, Claim, Kind, OrderKey, Origin, Outcome, Quote, Ruling, Standing, Witnessed

DAY0 = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


def day(number: float) -> datetime:
    """The time `number` days after the first day of the tests."""
    return DAY0 + timedelta(days=number)


def heard(
    value: str | None = "30",
    *,
    at: float | None = 0.0,
    session: str = "s1",
    ordinal: int = 0,
    subject: str = "retention-days",
    attribute: str = "value",
    qualifier: str = "",
    statement: str | None = None,
    kind: Kind = Kind.FACT,
    origin: Origin = Origin.USER,
    standing: Standing | None = None,
    speaker: str | None = None,
    verified_by: str | None = None,
    negated: bool = False,
    cardinality: str = "single",
    old_value: str | None = None,
    reason: str | None = None,
    mark: bool = False,
    doubts: tuple[str, ...] = (),
    roots: frozenset[str] | None = None,
    missed: str = "",
    valid_until: datetime | None = None,
    applies_to: str | None = None,
) -> Witnessed:
    """A claim heard `at` days after the first one; an assistant's is a draft by inference, everybody else's passed the gates."""
    words = statement or f"{subject} {attribute} is {'not ' if negated else ''}{value}"
    inferred = origin is Origin.ASSISTANT
    claim = Claim(
        kind=kind, subject=subject, attribute=attribute, statement=words, qualifier=qualifier, value=value, negated=negated, cardinality=cardinality,
        old_value=old_value, reason=reason, standing_mark=mark, verified_by=verified_by, doubts=doubts, valid_until=valid_until, applies_to=applies_to,
        quotes=(Quote(turn=f"{session}:{ordinal}", start=0, end=len(words), text=words),),
    )  # fmt: skip
    default = {Origin.USER: Standing.VERIFIED, Origin.TOOL: Standing.TOOL, Origin.EXTERNAL: Standing.EXTERNAL}.get(origin, Standing.INFERRED)
    order = OrderKey(
        known=at is not None, at=None if at is None else day(at), session=session, ordinal=ordinal, uid=f"{session}:{ordinal}",
        basis=Basis.UNKNOWN if at is None else Basis.STATED,
    )  # fmt: skip
    return Witnessed(
        claim=claim, uid=claim.uid, origin=origin, standing=standing if standing is not None else Standing.VERIFIED if verified_by else default, order=order,
        roots=frozenset({session}) if roots is None else roots, speaker=speaker, outcome=Outcome.DRAFT if inferred or missed or doubts else Outcome.PASS,
        missed=missed or ("only_the_assistant_says_so" if inferred else ""),
    )  # fmt: skip


def ruling(
    verb: str, target: str, other: str | None = None, *, body: str | None = None, at: float | None = 100.0, uid: str = "r1", hand: str = "person"
) -> Ruling:
    """A person's decision, made on day `at`."""
    return Ruling(uid=uid, verb=verb, target=target, other=other, body=body, hand=hand, at=None if at is None else day(at))
