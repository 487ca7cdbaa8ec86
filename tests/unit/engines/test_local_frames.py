from __future__ import annotations

import pytest

from pipelines.engines.local.allergens import is_allergen
from pipelines.engines.local.facts import facts_in
from pipelines.engines.local.frames import told_in
from pipelines.engines.local.frames_zh import told_in_chinese
from pipelines.engines.local.ports import port_in
from pipelines.engines.local.speech import body_of
from pipelines.model import Kind
from tests.unit.engines.talk import Talk


@pytest.mark.parametrize(
    ("sentence", "attribute", "old", "value"),
    [
        ("just moved into a flat in Oslo", "home", None, "Oslo"),
        ("we live up in Oslo these days", "home", None, "Oslo"),
        ("im with Acme Labs now, they pay better", "employer", None, "Acme Labs"),
        ("got hired by Acme Labs last week", "employer", None, "Acme Labs"),
        ("my new phone's a Galaxy S25", "phone", None, "Galaxy S25"),
        ("I start the day with white tea", "drink", None, "white tea"),
        ("only ever fly Lufthansa", "airline", None, "Lufthansa"),
        ("the app now talks to Turso", "database", None, "Turso"),
        ("Bergen is where I grew up", "hometown", None, "Bergen"),
        ("my full name's Hanna Berg", "name", None, "Hanna Berg"),
        ("our dog Bella is snoring", "dog", None, "Bella"),
        ("I jumped ship from Acme Labs to Bolt Systems", "employer", "Acme Labs", "Bolt Systems"),
        ("the rent doubled, so I left Oslo and live in Bergen now", "home", "Oslo", "Bergen"),
        ("gave up espresso, drinking rooibos now", "drink", "espresso", "rooibos"),
        ("I traded the iPhone 14 in for a Pixel 9 cos the screen cracked", "phone", "iPhone 14", "Pixel 9"),
        ("we're no longer on Neon; it's Turso now", "database", "Neon", "Turso"),
        ("I ended up switching from Firefox to Brave", "browser", "Firefox", "Brave"),
        ("We moved from Heroku to Railway because it's cheaper", "use", "Heroku", "Railway"),
    ],
)
def test_a_sentence_is_understood_by_its_names_and_the_words_between(sentence: str, attribute: str, old: str | None, value: str) -> None:
    assert [(t.attribute, t.old, t.value) for t in told_in(sentence)] == [(attribute, old, value)]


def test_two_things_in_one_sentence_are_two_facts() -> None:
    assert [(t.attribute, t.value) for t in told_in("I'm from Bergen and I live in Oslo")] == [("hometown", "Bergen"), ("home", "Oslo")]
    assert [(t.attribute, t.value) for t in told_in("I live in Oslo, so I fly Norwegian")] == [("home", "Oslo"), ("airline", "Norwegian")]


@pytest.mark.parametrize(
    "sentence",
    [
        "our designer moved to Oslo", "my folks live in Oslo", "Kim works at Acme Labs", "they live in Oslo", "I'd never live in Oslo", "I'm moving from Oslo to Bergen", "I'm leaving Acme Labs for Bolt Systems",
        "I was at Acme Labs before", "I lived in Oslo for a year", "I'm in Oslo this week", "I almost moved to Oslo", "if I lived in Oslo", "I practically live in Jira", "I'm flying to Oslo with SAS tomorrow",
        "We moved from chapter 2 to chapter 3", "I moved the file from Alpha to Beta", "do I live in Oslo", "I live in Oslo, just kidding", "I work for my inbox", "we had a flat white at Nero", "I'm flying Spirit Airlines", "I'm with XYZ Internet", "I traded in my old phone, iPhone 12", "Looky here", "Name: Linda Woo",
    ],
)  # fmt: skip
def test_what_a_word_outside_the_vocabulary_turns_is_not_understood(sentence: str) -> None:
    assert told_in(sentence) == ()


@pytest.mark.parametrize(
    ("sentence", "attribute", "old", "value"),
    [
        ("房租涨了，所以我从苏州搬到大理了", "home", "苏州", "大理"),
        ("我戒了可乐，改喝绿茶了", "drink", "可乐", "绿茶"),
        ("之前用小米13，刚换一加13", "phone", "小米13", "一加13"),
        ("数据库换成Turso了", "database", None, "Turso"),
        ("本人在远山科技打工", "employer", None, "远山科技"),
        ("老家嘛，大理", "hometown", None, "大理"),
        ("我的狗狗叫花卷", "狗", None, "花卷"),
        ("我碰到榴莲虾就过敏", "allergy", None, "榴莲虾"),
    ],
)
def test_a_chinese_sentence_is_read_by_topic(sentence: str, attribute: str, old: str | None, value: str) -> None:
    assert [(t.attribute, t.old, t.value) for t in told_in_chinese(sentence)] == [(attribute, old, value)]


@pytest.mark.parametrize(
    "sentence",
    [
        "组长搬到大理了",
        "我同学从苏州搬到大理了",
        "我想搬到大理",
        "我能喝一桶可乐",
        "我对开会过敏",
        "我在大理待过，以前",
        "好想去远山科技上班",
        "我像住在大理的人吗",
    ],
)
def test_others_wishes_and_jokes_in_chinese_are_not(sentence: str) -> None:
    assert told_in_chinese(sentence) == ()


@pytest.mark.parametrize(
    ("sentence", "thing", "old", "value"),
    [
        ("the dashboard is on port 4100 now, used to be 4000", "dashboard", "4000", "4100"),
        ("moved the dashboard from 4000 to 4100 because vite took it", "dashboard", "4000", "4100"),
        ("our docs site runs on localhost:4100", "docs site", None, "4100"),
        ("port for the dashboard is 4100", "dashboard", None, "4100"),
        ("网关端口由 4000 改成 4100 了", "网关", "4000", "4100"),
        ("网关不在 4000 端口了，在 4100 端口", "网关", "4000", "4100"),
    ],
)
def test_a_port_is_told_of_one_thing(sentence: str, thing: str, old: str | None, value: str) -> None:
    port = port_in(sentence)
    assert port is not None
    assert (port.thing, port.old, port.value) == (thing, old, value)


@pytest.mark.parametrize(
    "sentence",
    [
        "The API is on port 4000 and the web client on port 4100",
        "the build took 4000 ms on 4 cores",
        "it's on port 4100",
        "my brother's API is on port 4100",
        "what about port 4100",
    ],
)
def test_two_things_others_things_and_counts_are_no_port(sentence: str) -> None:
    assert port_in(sentence) is None


@pytest.mark.parametrize(
    ("value", "sentence"),
    [("prawns", ""), ("cefuroxime", "the test results say I'm allergic to cefuroxime"), ("egg whites", ""), ("pine pollen", ""), ("榛子", "")],
)
def test_food_medicine_and_animals_are_allergens_and_medicine_vouches_for_the_rest(value: str, sentence: str) -> None:
    assert is_allergen(value, sentence)


@pytest.mark.parametrize("value", ["code review", "Mondays", "small talk", "deadlines", "早会", "加班"])
def test_what_people_dread_is_no_allergen(value: str) -> None:
    assert not is_allergen(value, f"my doctor says I'm allergic to {value}")
    assert [f for f in facts_in(f"I'm allergic to {value}", speaker=None) if f.attribute == "allergy"] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "I can't eat prawns, allergic", "no prawns for me please, I'm allergic", "please leave the prawns out, I'm allergic", "I have a nasty prawn allergy", "(fyi, I'm allergic to prawns)", "Allergies: prawns",
        "by the way I'm super allergic to prawns, sorry",
    ],
)  # fmt: skip
def test_an_allergy_is_heard_however_it_is_told(sentence: str) -> None:
    (allergy,) = [c for c in Talk().user("hello").user(sentence).claims() if c.attribute == "allergy"]
    assert (allergy.subject, allergy.value in {"prawns", "prawn"}, allergy.doubts) == ("user", True, ())


def test_what_a_document_says_is_set_right() -> None:
    (fact,) = facts_in("the README says the port is 8080 but it's 9090", speaker=None)
    assert (fact.attribute, fact.value, fact.old_value) == ("port", "9090", "8080")


def test_what_a_version_does_not_need_is_denied() -> None:
    (fact,) = facts_in(body_of("so we're using the latest Node v24, which doesn't need --experimental-strip-types"), speaker=None)
    assert (fact.subject, fact.value, fact.negated) == ("Node v24", "--experimental-strip-types", True)


@pytest.mark.parametrize("text", ["bullets would be nice, thanks", "as a bulleted list please", "dot points please", "分点说吧", "请一条一条列给我"])
def test_bullet_points_asked_for_once_are_a_draft_preference(text: str) -> None:
    (claim,) = Talk().user("hello").user(text).claims()
    assert claim.kind is Kind.PREFERENCE
    assert "said_once" in claim.doubts


@pytest.mark.parametrize(
    "text", ["add bullet points to slide 3 please", "the bullets on the second page look odd, can you fix them", "please align these bullet points"]
)
def test_the_bullets_of_a_page_are_no_wish_for_answers(text: str) -> None:
    assert [c for c in Talk().user("hello").user(text).claims() if c.kind is Kind.PREFERENCE] == []


def test_no_trailer_is_a_draft_preference() -> None:
    (claim,) = Talk().user("hello").user("no co-author trailer in commits").claims()
    assert (claim.kind, claim.doubts) == (Kind.PREFERENCE, ("said_once",))


@pytest.mark.parametrize("text", ["Code freeze: don't deploy anything until 10 March.", "The staging URL is https://s.acme.dev until 10 March."])
def test_what_holds_until_a_day_is_over_then(text: str) -> None:
    claims = Talk().user("hello").user(text).claims()
    assert claims
    assert {c.valid_until.date().isoformat() for c in claims if c.valid_until} == {"2026-03-11"}


def test_in_a_mock_interview_nothing_said_is_the_speakers() -> None:
    talk = Talk().user("let's do a mock interview, you ask").user("I live in Oslo and I work at Acme Labs").user("ok, interview over").user("I live in Bergen")
    assert [(c.attribute, c.value) for c in talk.claims()] == [("home", "Bergen")]


def test_a_letter_that_is_shown_is_nobodys_word() -> None:
    talk = Talk().user("what do you think of this letter?\n\nDear all,\nI live in Oslo. I am allergic to prawns.\n")
    assert list(talk.claims()) == []
