from __future__ import annotations

import pytest

from pipelines.engines.local.facts import Fact, facts_in, named_before
from pipelines.engines.local.speech import body_of


def told(sentence: str) -> list[tuple[str, str, str | None]]:
    return [(f.subject, f.attribute, f.value) for f in facts_in(body_of(sentence), speaker=None)]


@pytest.mark.parametrize(
    ("sentence", "attribute", "value"),
    [
        ("The API listens on port 8080.", "port", "8080"),
        ("The release deadline is March 31.", "date", "March 31"),
        ("The staging URL is https://staging.acme.dev", "url", "https://staging.acme.dev"),
        ("Ana owns the billing service", "owner", "Ana"),
        ("logs are in /var/log/app", "location", "/var/log/app"),
        ("CI runs on Jenkins", "platform", "Jenkins"),
        ("We use pnpm", "use", "pnpm"),
        ("max upload size is 25 MB", "max size", "25 MB"),
        ("The cave is west of the centre", "position from centre", "west"),
        ("数据库端口是5432。", "port", "5432"),
    ],
)
def test_a_stated_value_is_read(sentence: str, attribute: str, value: str) -> None:
    assert [(a, v) for _, a, v in told(sentence)] == [(attribute, value)]


def test_a_correction_names_the_value_that_is_over() -> None:
    (fact,) = facts_in(body_of("no, the cave is west of the centre, not east"), speaker=None)
    assert (fact.subject, fact.value, fact.old_value) == ("cave", "west", "east")


@pytest.mark.parametrize(
    "sentence",
    [
        "We cut releases on Tuesdays now, not on Fridays any more.",
        "Deploys happen on Tuesdays now, not on Fridays anymore.",
        "We deploy on Tuesdays, not on Fridays any longer.",
    ],
)
def test_a_denied_value_is_read_without_what_leads_to_it_and_says_that_it_is_over(sentence: str) -> None:
    (fact,) = facts_in(sentence, speaker=None)
    assert (fact.value, fact.old_value) == ("Tuesday", "Fridays")


def test_a_change_keeps_its_reason() -> None:
    (fact,) = facts_in("We migrated CI from Jenkins to GitHub Actions because the runners are free", speaker=None)
    assert (fact.value, fact.old_value, fact.reason) == ("GitHub Actions", "Jenkins", "the runners are free")


def test_two_halves_of_a_sentence_are_two_facts() -> None:
    assert told("The API listens on port 8080 and the web client on port 5173.") == [("API", "port", "8080"), ("web client", "port", "5173")]


def test_a_measured_custom_is_known_by_its_words_without_the_value() -> None:
    (keep,) = facts_in("We keep the audit log for 90 days because the auditors ask for it.", speaker=None)
    (again,) = facts_in("We keep the audit log for 30 days", speaker=None)
    assert (keep.value, again.value) == ("90 days", "30 days")
    assert keep.attribute == again.attribute


def test_what_is_no_longer_needed_is_denied() -> None:
    (fact,) = facts_in("Node v24 no longer requires the --experimental-strip-types flag", speaker=None)
    assert (fact.subject, fact.value, fact.negated) == ("Node v24", "--experimental-strip-types", True)


@pytest.mark.parametrize(
    ("sentence", "subject"),
    [("My daughter is allergic to peanuts", "user's daughter"), ("my friend Tom moved to Oslo", "user's friend Tom"), ("Lena's birthday is 4 May", "Lena")],
)
def test_other_peoples_facts_are_theirs(sentence: str, subject: str) -> None:
    assert [s for s, _, _ in told(sentence)] == [subject]


def test_the_speaker_is_named_where_the_log_names_them() -> None:
    (fact,) = facts_in("I live in Berlin", speaker="Ana")
    assert fact.subject == "Ana"


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm tired", "The menu is broken", "The build is slow today", "it is on port 8080", "That sounds like a lot of fun", "This is great", "The username I am logged in with is jnarowski",
        "The button looks blue", "The tests are failing again", "Data is showing up", "Rent is too high", "I feel like my abilities are limited", "For now, I'll use the estimates feature",
        "My wife and I are moving to Porto", "He lives in Berlin now", "Balancing work and personal time is essential", "We went to Madrid on 4 May",
    ],
)  # fmt: skip
def test_reports_of_the_moment_and_empty_words_are_not_facts(sentence: str) -> None:
    assert told(sentence) == []


def test_a_correction_without_a_subject_takes_the_one_named_before() -> None:
    (fact,) = facts_in("the port is 5433, not 5432", speaker=None)
    assert fact.unnamed
    found = named_before(fact, "I will migrate. The billing server listens on port 5432. Shall I go on?")
    assert found is not None
    assert (found.subject, found.value, found.unnamed) == ("billing server", "5433", False)


def test_a_subject_is_never_guessed() -> None:
    fact = Fact(subject="project", attribute="port", value="5433", old_value="5432", unnamed=True)
    assert named_before(fact, "The billing server listens on port 9000.") is None


@pytest.mark.parametrize(
    ("sentence", "value", "old"),
    [
        ("We've switched the database to MongoDB because the licence changed", "MongoDB", None),
        ("We use MySQL now, because the host dropped support", "MySQL", None),
        ("因为云厂商不再支持，数据库从PostgreSQL改成了MariaDB", "MariaDB", "PostgreSQL"),
    ],
)
def test_a_database_is_known_by_its_name(sentence: str, value: str, old: str | None) -> None:
    (fact,) = facts_in(sentence, speaker=None)
    assert (fact.subject, fact.attribute, fact.value, fact.old_value) == ("project", "database", value, old)


def test_the_database_of_another_team_is_not_ours() -> None:
    assert facts_in("The other team uses Oracle as their database", speaker=None) == ()


@pytest.mark.parametrize(
    "sentence", ["The API is on port 3100 instead of 8081 now", "The API port is no longer 8081, it's 3100 now", "API 的端口以前是 8081，现在是 3100"]
)
def test_a_moved_port_names_both(sentence: str) -> None:
    (fact,) = facts_in(sentence, speaker=None)
    assert (fact.subject, fact.attribute, fact.value, fact.old_value) == ("API", "port", "3100", "8081")


@pytest.mark.parametrize(
    "sentence",
    ["We serve the API on port 3100", "We moved the API to port 3100", "API 的端口现在是 3100", "API 端口：3100", "API 不用 8081 端口了，现在用 3100"],
)
def test_a_port_is_read_whoever_is_the_subject(sentence: str) -> None:
    (fact,) = facts_in(sentence, speaker=None)
    assert (fact.subject, fact.attribute, fact.value) == ("API", "port", "3100")


def test_a_scope_named_in_the_reason_alone_binds_nothing() -> None:
    (fact,) = facts_in("The API listens on port 3100 now, because macOS grabs the other", speaker=None)
    assert fact.qualifier == ""


def test_people_who_moved_to_a_place_moved_no_thing() -> None:
    assert [f.attribute for f in facts_in("We moved the party to Friday", speaker=None)] == []


def test_what_a_thing_is_now_and_was_is_a_fact_where_both_are_one_name() -> None:
    (fact,) = facts_in("Weapon icons are WebP now, not PNG.", speaker=None)
    assert (fact.subject, fact.attribute, fact.value, fact.old_value, fact.single) == ("Weapon icons", "is", "WebP", "PNG", True)


@pytest.mark.parametrize(
    "sentence",
    [
        "Weapon icons are WebP, not PNG.", "Weapon icons are smaller now, not larger.", "The problem is Redis now, not Postgres.", "It is WebP now, not PNG.",
        "Weapon icons are loaded from WebP and AVIF files by Ana now, not PNG.",
    ],
)  # fmt: skip
def test_what_is_not_said_to_be_new_or_is_a_quality_is_none(sentence: str) -> None:
    assert not [f for f in facts_in(sentence, speaker=None) if f.attribute == "is"]
