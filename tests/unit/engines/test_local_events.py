from __future__ import annotations

from tests.unit.engines.talk import Talk

TRUSTED = {"events_trusted": "yes"}


def test_a_verified_row_of_a_trusted_file_is_verified() -> None:
    (claim,) = Talk(format="events", extra=TRUSTED).event("retention-days", "30", "verified").claims()
    assert (claim.subject, claim.value, claim.cardinality, claim.verified_by, claim.doubts) == ("retention-days", "30", "single", "events:verified", ())
    assert claim.quotes[0].text == "retention-days = 30"


def test_a_row_of_an_untrusted_file_verifies_nothing() -> None:
    (claim,) = Talk(format="events").event("retention-days", "30", "verified").claims()
    assert (claim.verified_by, claim.doubts) == (None, ("inferred",))


def test_a_producer_of_the_settings_is_trusted_and_its_namesakes_are_not() -> None:
    extra = {"events_trusted": "no", "events_producers": "prober\nwatcher"}
    said = [Talk(format="events", extra=extra).event("retention-days", "30", "verified", producer=p).claims()[0] for p in ("watcher", "watch", "")]
    assert [c.verified_by for c in said] == ["events:verified", None, None]


def test_an_inferred_row_is_a_draft_even_from_a_trusted_file() -> None:
    (claim,) = Talk(format="events", extra=TRUSTED).event("retention-days", "90", "inferred").claims()
    assert (claim.verified_by, claim.doubts) == (None, ("inferred",))


def test_a_value_too_long_to_quote_is_left_to_search() -> None:
    assert Talk(format="events").event("notes", "x" * 200, "verified").claims() == ()
