"""Kinds of expression that wordings nobody made rules for showed to be missed, each with its near misses."""

from __future__ import annotations

import pytest

from pipelines.model import Kind
from tests.unit.engines.talk import Talk


def told(*messages: str) -> list[tuple[str, str | None, str | None, str | None]]:
    talk = Talk()
    for message in messages:
        talk.user(message).assistant("Noted.")
    return [(c.attribute, c.value, c.old_value, c.reason) for c in talk.claims() if c.kind is Kind.FACT and not c.doubts]


@pytest.mark.parametrize(
    ("sentence", "attribute", "value"),
    [
        ("My birthday? 3 May.", "birthday", "3 May"),
        ("my phone? a Pixel 9.", "phone", "Pixel 9"),
        ("I collect miles with Finnair, that's my airline", "airline", "Finnair"),
        ("airline-wise I'm with Finnair", "airline", "Finnair"),
        ("Home's Bergen.", "home", "Bergen"),
        ("I'm at Acme Labs, fyi", "employer", "Acme Labs"),
        ("the backend uses Turso as its database", "database", "Turso"),
        ("I changed airline, I'm with Foobar now", "airline", "Foobar"),
        ("I switched jobs, I'm with Delta now", "employer", "Delta"),
        ("I'm a baker, so explain it simply please", "job", "baker"),
        ("the dog's name is Bella, in case you hear barking", "dog", "Bella"),
        ("btw (side note: i have an allergy, crab)", "allergy", "crab"),
        ("please leave out anything with prawns, I'm allergic to it", "allergy", "prawns"),
        ("Since I was a child I am allergic against squid.", "allergy", "squid"),
        ("lentils are a no-go for me, I'm allergic", "allergy", "lentils"),
        ("I've got a severe allergy: turbot", "allergy", "turbot"),
        ("My allergy is hazelnut, nothing else.", "allergy", "hazelnut"),
        ("我是导游，对榛果过敏", "allergy", "榛果"),
        ("LOT is my airline now", "airline", "LOT"),
        ("I'm with Foobar for flights now", "airline", "Foobar"),
        ("I've changed my airline to Foobar", "airline", "Foobar"),
        ("I work for Severn Water", "employer", "Severn Water"),
        ("I drink Earl Grey", "drink", "Earl Grey"),
        ("nowadays I drink flat whites", "drink", "flat whites"),
        ("my address has changed to Oslo", "home", "Oslo"),
        ("我在青岛住了六年了。", "home", "青岛"),
        ("我遵义人", "hometown", "遵义"),
        ("家在无锡，所以有时差", "home", "无锡"),
        ("我在用红米K70，手机屏幕小", "phone", "红米K70"),
        ("用的真我GT6这款手机", "phone", "真我GT6"),
        ("2月3日我生日", "birthday", "2月3日"),
        ("我的狗叫小黑，在叫呢", "狗", "小黑"),
        ("后端用Doris做数据库", "database", "Doris"),
    ],
)
def test_a_fact_is_read(sentence: str, attribute: str, value: str) -> None:
    assert (attribute, value) in [(a, v) for a, v, _, _ in told(sentence)]


@pytest.mark.parametrize(
    ("sentence", "value", "old", "reason"),
    [
        ("I work at Acme Labs now, not Bolt Systems. Reason: they pay better.", "Acme Labs", "Bolt Systems", "they pay better"),
        ("goodbye Bergen, hello Oslo! we moved because the rent doubled", "Oslo", "Bergen", "the rent doubled"),
        ("I don't drink decaf any more, I drink cocoa, as coffee got too dear", "cocoa", "decaf", "coffee got too dear"),
        ("I jumped ship from Severn Water to Acme Labs because they pay better", "Acme Labs", "Severn Water", "they pay better"),
        ("I shifted from the Pixel 8 to the Pixel 9 because it was slow", "Pixel 9", "Pixel 8", "it was slow"),
        ("We have shifted the API from port 5055 to port 8080 because the tests clashed", "8080", "5055", "the tests clashed"),
        ("I don't touch decaf any more, I drink cocoa now, because I sleep better", "cocoa", "decaf", "I sleep better"),
        ("I drink cocoa now, my doctor told me off", "cocoa", None, "my doctor told me off"),
        ("one more thing - it rained a lot, so I've moved to Oslo - ok back to work", "Oslo", None, "it rained a lot"),
        ("旧的坏了，所以换努比亚Z60了", "努比亚Z60", None, "旧的坏了"),
    ],
)
def test_a_change_keeps_its_reason_wherever_it_stands(sentence: str, value: str, old: str | None, reason: str) -> None:
    assert (value, old, reason) in [(v, o, r) for _, v, o, r in told(sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "my birthday? no idea",
        "my phone? dead.",
        "Tom collects miles with Finnair, that's his airline",
        "Tom flies Finnair, that's my airline",
        "I'm at Mercy Hospital",
        "I'm at Acme Labs for a visit",
        "my sister is allergic against squid",
        "meetings are a no-go for me, I'm allergic",
        "My only allergy is Mondays.",
        "Caffeine is my employer, really.",
        "my uncle has shifted from Bergen to Oslo",
        "We shifted the focus from Bergen to Oslo",
        "it is NOT my airline",
        "my dream is to work at Acme Labs",
        "我是申请人",
        "我是负责人",
        "换Doris了",
        "我坐飞机都选春航",
        "for the API it's port 7788",
        "The API was fine all night, the printer uses the old one.",
        "my dog? Dead.",
        "my phone? Stolen.",
        "my phone? Tom has it.",
        "My cat? Luna ate it.",
        "our database? Broken.",
        "our database? Redis crashed.",
        "my employer? Awful people.",
        "my drink? Whatever.",
        "my drink? coffee, not any more",
        "My home town? Burned down.",
        "My birthday? 3 May, said the clerk.",
        "Acme Labs, that's my employer's rival",
        "Acme Labs, that's my employer not",
        "Bergen, this is my home no more",
        "Turso, that's our database vendor",
        "I live in Oslo - anyway I did until May",
        "We almost moved the API from port 5055 to port 8080",
        "We almost switched from Redis to Valkey",
        "My phone is a Pixel 9 - next week it won't be",
        "我不住在大理",
        "我没在青岛住过",
        "我在青岛住过六年",
        "我曾在青岛住了六年",
        "我在青岛住了六年，现在不住了",
        "我在医院住了两周",
        "我不喝咖啡",
        "我从不坐国航",
        "我不用红米K70",
        "我不再用红米K70",
        "我没用红米K70",
        "我借用红米K70",
        "我拿着红米K70拍的照",
        "我用红米K70测试过",
        "刚换红米K70了又退了",
        "我是导游，对榛果不过敏",
        "她是导游，对榛果过敏",
        "她是导游，对花生过敏",
        "我是在写小说，对花生过敏的主角",
    ],
)
def test_what_only_looks_like_one_is_not(sentence: str) -> None:
    assert told(sentence) == []


def test_a_command_and_when_to_run_it_is_a_rule_where_it_is_to_be_remembered() -> None:
    def rules(sentence: str) -> list[bool]:
        return [c.standing_mark for c in Talk().user("hi").assistant("Hi.").user(sentence).claims() if c.kind is Kind.RULE]

    assert rules("remember: `make lint` before each commit") == [True]
    assert rules("往后每次提交，先跑 `make lint`") == [True]
    assert rules("`make lint` before each commit") == []
    assert rules("往后推一天再说") == []


@pytest.mark.parametrize(
    "messages",
    [
        ("let's rehearse the call, I'm the angry customer", "hello, I live in Grimsby", "ok stop, that was good practice"),
        ("我们来演一段，你是签证官，我是申请人", "您好，我住在大理", "好，演完了"),
    ],
)
def test_what_is_said_in_a_rehearsal_is_nobodys_fact(messages: tuple[str, ...]) -> None:
    assert told(*messages) == []
    assert [v for _, v, _, _ in told(*messages, "I live in Oslo.")] == ["Oslo"]


def test_practising_the_work_is_no_play() -> None:
    assert [v for _, v, _, _ in told("let's practise the migration on staging first", "I live in Oslo.")] == ["Oslo"]


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("你是对的，我是北京人", "北京"),
        ("昨天排练到很晚。我是北京人。", "北京"),
        ("你是上海的，我是北京人", "北京"),
        ("排练室很吵。我是北京人。", "北京"),
        ("不过我住在大理", "大理"),
        ("我不久前搬到大理", "大理"),
        ("不好意思，我住在大理", "大理"),
        ("我的狗叫不点", "不点"),
        ("我手机改用红米K70了", "红米K70"),
    ],
)
def test_words_that_only_look_like_a_play_or_a_no_hide_no_fact(sentence: str, value: str) -> None:
    assert value in [v for _, v, _, _ in told(sentence)]


@pytest.mark.parametrize("sentence", ["I'm a vegetarian, so no meat please", "家在无锡，所以想家", "I live in Cork, so I fly Aer Lingus"])
def test_no_fact_is_its_own_reason(sentence: str) -> None:
    assert all(reason is None or str(value) not in reason for _, value, _, reason in told(sentence))
    assert told(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "往后要下雨",
        "往后都会好的",
        "往后用不着了",
        "往后都这样就惨了",
        "以后都会好的",
        "以后用不着了",
        "永远先生",
        "永远先进",
        "每次部署后跑得很慢",
        "每次之后运行就崩",
        "每次重启后执行失败",
    ],
)
def test_what_will_be_or_happens_each_time_is_no_rule(sentence: str) -> None:
    assert [c.statement for c in Talk().user("hi").assistant("Hi.").user(sentence).claims() if c.kind is Kind.RULE] == []


@pytest.mark.parametrize("sentence", ["往后都要先跑测试", "往后提交信息都用中文写", "每次提交之前跑 `make lint`", "永远先跑测试", "往后要先跑测试"])
def test_what_is_to_be_done_from_now_on_is_still_one(sentence: str) -> None:
    assert [c.kind for c in Talk().user("hi").assistant("Hi.").user(sentence).claims()] == [Kind.RULE]


@pytest.mark.parametrize("where", ["in staging", "in staging only", "on the new host"])
def test_a_port_that_moved_is_its_number_wherever_it_is_said_to_be(where: str) -> None:
    assert [(v, o) for _, v, o, _ in told(f"We have moved the API from port 5055 to port 8080 {where}")] == [("8080", "5055")]
