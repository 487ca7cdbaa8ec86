"""Notes that fall with others: bound to a version of which a newer one was seen, or resting on what was corrected or taken back."""

from __future__ import annotations

from datetime import datetime

import pytest

from pipelines.model import Origin, Ruling, Standing, Status, Version, Witnessed
from pipelines.notes.bounds import SEEN, bound_of, outdated
from pipelines.notes.dependants import ids_in
from pipelines.notes.identity import identity_of
from pipelines.notes.recheck import CITES_FALLEN, NEWER_SEEN, RESTS_ON_FALLEN
from pipelines.stages.resolver import Beside, resolve

from .heard import day, heard, ruling

READ = day(365)


def states(*claims: Witnessed, rulings: tuple[Ruling, ...] = (), beside: Beside | None = None, read_at: datetime = READ) -> dict[str, tuple[Status, str]]:
    """Statement → status and what it misses, of versions that stand."""
    found = resolve("user", claims, rulings, {}, skew_s=600.0, intake_at=read_at, beside=beside)
    over = {Status.SUPERSEDED, Status.RETRACTED}
    return {v.statement: (v.status, v.missed) for r in found for v in r.versions if v.status not in over}


# --- versions ----------------------------------------------------------------------------------------------------------------------------

LIMIT = heard("50 rows", subject="export", attribute="limit", statement="The export limit is 50 rows", applies_to="app 1.3")


def seen(version: str, *, at: float, session: str = "s2", product: str = "app", origin: Origin = Origin.USER, attribute: str = "version") -> Witnessed:
    return heard(version, subject=product, attribute=attribute, at=at, session=session, origin=origin, statement=f"{product} {version}")


@pytest.mark.parametrize(
    ("text", "product", "numbers"),
    [("app 1.3", ("app",), (1, 3)), ("Node v20.1.0", ("node",), (20, 1)), ("app@1.10", ("app",), (1, 10)), ("version 2.0", (), (2,)), ("1.3", (), (1, 3))],
)
def test_a_bound_is_a_thing_and_numbers(text: str, product: tuple[str, ...], numbers: tuple[int, ...]) -> None:
    bound = bound_of(text)
    assert bound is not None
    assert (bound.product, bound.numbers) == (product, numbers)


@pytest.mark.parametrize("text", [None, "", "app", "app 1.3 and newer", ">= 1.3", "app 1.3+"])
def test_what_names_no_one_version_is_no_bound(text: str | None) -> None:
    assert bound_of(text) is None


@pytest.mark.parametrize(
    "newer",
    [
        seen("1.4", at=3), seen("1.10", at=3), seen("v1.4.0", at=3, origin=Origin.TOOL, attribute=SEEN),
        heard("2", subject="import", attribute="limit", statement="The import limit is 2", applies_to="app 1.4", at=3, session="s2"),
    ],
    ids=["said", "ten is more than three", "shown by the program", "bound to it"],
)  # fmt: skip
def test_a_newer_version_of_the_same_thing_has_what_is_bound_to_the_old_one_checked_again(newer: Witnessed) -> None:
    assert states(LIMIT)[LIMIT.claim.statement] == (Status.CONFIRMED, "")
    assert states(LIMIT, newer)[LIMIT.claim.statement] == (Status.NEEDS_RECHECK, NEWER_SEEN)
    assert states(newer, LIMIT)[LIMIT.claim.statement] == (Status.NEEDS_RECHECK, NEWER_SEEN), "in any order"
    assert states(LIMIT, beside=Beside(shown=(newer,)))[LIMIT.claim.statement] == (Status.NEEDS_RECHECK, NEWER_SEEN)


@pytest.mark.parametrize(
    "other",
    [
        seen("1.3.0", at=3), seen("1.2", at=3), seen("1.4", at=3, product="web"), seen("1.4", at=-3), seen("1.4", at=3, origin=Origin.EXTERNAL),
        seen("1.4", at=3, origin=Origin.ASSISTANT), seen("1.4", at=400),
    ],
    ids=["the same", "an older one", "another thing", "before it was said", "a stranger's page", "the assistant", "a time to come"],
)  # fmt: skip
def test_nothing_else_does(other: Witnessed) -> None:
    assert states(LIMIT, other)[LIMIT.claim.statement] == (Status.CONFIRMED, "")


def test_a_later_confirmation_gives_it_back() -> None:
    newer = seen("1.4", at=3)
    again = heard("50 rows", subject="export", attribute="limit", statement="The export limit is 50 rows", at=5, session="s3")
    assert states(LIMIT, newer, again)[LIMIT.claim.statement] == (Status.CONFIRMED, "")
    note = identity_of("user", LIMIT.claim).uid
    assert states(LIMIT, newer, rulings=(ruling("keep", note, at=5),))[LIMIT.claim.statement] == (Status.CONFIRMED, "")


def test_a_sighting_is_no_note() -> None:
    assert states(seen("1.4", at=3, origin=Origin.TOOL, attribute=SEEN)) == {}
    assert outdated((), (), {}, read_at=READ) == ()


# --- without evidence of their own --------------------------------------------------------------------------------------------------------

PORT = heard("5432", subject="staging database", attribute="port", statement="The staging database listens on port 5432")
GUESS = heard(
    "Postgres", subject="staging database", attribute="kind", statement="The staging database is Postgres", at=1, session="s2", origin=Origin.ASSISTANT
)
FIXED = heard("5433", subject="staging database", attribute="port", statement="The staging database listens on port 5433", at=3, session="s3")
SAID = heard("Postgres", subject="staging database", attribute="kind", statement="The staging database is Postgres", at=4, session="s4")


def test_a_note_without_evidence_of_its_own_falls_with_the_note_of_its_subject_that_was_corrected() -> None:
    assert states(PORT, GUESS)[GUESS.claim.statement][0] is Status.DRAFT
    assert states(PORT, GUESS, FIXED)[GUESS.claim.statement] == (Status.NEEDS_RECHECK, RESTS_ON_FALLEN)


def test_it_falls_with_the_one_that_was_taken_back_and_comes_back_when_that_is() -> None:
    note = identity_of("user", PORT.claim).uid
    back = ruling("retract", note, at=5)
    assert states(PORT, GUESS, rulings=(back,))[GUESS.claim.statement] == (Status.NEEDS_RECHECK, RESTS_ON_FALLEN)
    lifted = ruling("lift", back.uid, at=6, uid="r2")
    assert states(PORT, GUESS, rulings=(back, lifted))[GUESS.claim.statement][0] is Status.DRAFT


def test_with_evidence_of_its_own_said_later_or_of_another_subject_it_stands() -> None:
    assert states(PORT, GUESS, FIXED, SAID)[SAID.claim.statement] == (Status.CONFIRMED, "")
    later = heard("TLS", subject="staging database", attribute="wire", statement="It speaks TLS", at=9, session="s9", origin=Origin.ASSISTANT)
    assert states(PORT, FIXED, later)[later.claim.statement][0] is Status.DRAFT
    other = heard("Redis", subject="cache", attribute="kind", statement="The cache is Redis", at=1, session="s2", origin=Origin.ASSISTANT)
    assert states(PORT, other, FIXED)[other.claim.statement][0] is Status.DRAFT


def test_what_fell_elsewhere_counts_too() -> None:
    over = Version(
        note="n", slot="s", kind=PORT.claim.kind, subject="Staging database", attribute="port", qualifier="", statement="It was 5432", value="5432",
        status=Status.RETRACTED, standing=Standing.VERIFIED, basis=PORT.order.basis, claims=("c",), valid_until=day(5), ended_by="r9",
    )  # fmt: skip
    assert states(GUESS, beside=Beside(fallen=(over,)))[GUESS.claim.statement] == (Status.NEEDS_RECHECK, RESTS_ON_FALLEN)


# --- naming another note ----------------------------------------------------------------------------------------------------------------

NAMED = identity_of("user", PORT.claim).uid
CITING = heard("Friday", subject="backups", attribute="day", statement=f"Backups run on Friday, see n-{NAMED}", at=1, session="s2")


def test_a_note_that_names_another_by_its_id_falls_with_it_though_it_has_evidence_of_its_own() -> None:
    assert states(PORT, CITING)[CITING.claim.statement] == (Status.CONFIRMED, "")
    assert states(PORT, CITING, FIXED)[CITING.claim.statement] == (Status.NEEDS_RECHECK, CITES_FALLEN)
    back = ruling("retract", NAMED, at=5)
    assert states(PORT, CITING, rulings=(back,))[CITING.claim.statement] == (Status.NEEDS_RECHECK, CITES_FALLEN)


def test_said_again_after_the_other_fell_it_stands() -> None:
    again = heard("Friday", subject="backups", attribute="day", statement="Backups run on Friday", at=9, session="s9")
    assert states(PORT, CITING, FIXED, again)[CITING.claim.statement] == (Status.CONFIRMED, "")


@pytest.mark.parametrize("text", ["see n-{}x", "see xn-{}", "see {}", "see n-abc"])
def test_what_is_no_id_names_no_note(text: str) -> None:
    assert ids_in(text.format(NAMED)) == frozenset()
