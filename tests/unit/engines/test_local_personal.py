from __future__ import annotations

import pytest

from pipelines.engines.local.personal import personal_facts


def told(sentence: str) -> list[tuple[str, str]]:
    return [(f.attribute, f.value) for f in personal_facts(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I live in Berlin.", [("home", "Berlin")]),
        ("I live in Porto and work at Bosch", [("home", "Porto"), ("employer", "Bosch")]),
        ("I'm based in the San Francisco Bay Area.", [("home", "the San Francisco Bay Area")]),
        ("I moved to Lisbon last month.", [("home", "Lisbon")]),
        ("I just started working at Acme Corp", [("employer", "Acme Corp")]),
        ("I'm a nurse at St. Mary's", [("job", "nurse")]),
        ("I recently accepted a promotion to Senior Director at Halden", [("job", "Senior Director")]),
        ("I got promoted to senior engineer", [("job", "senior engineer")]),
        ("I'm vegetarian", [("diet", "vegetarian")]),
        ("I went vegan last year", [("diet", "vegan")]),
        ("I'm severely allergic to peanuts and shellfish", [("allergy", "peanuts"), ("allergy", "shellfish")]),
        ("I have a peanut allergy", [("allergy", "peanut")]),
        ("I don't eat pork", [("eats", "pork")]),
        ("I have a dog named Rex", [("dog", "Rex")]),
        ("My dog's name is Max, and he loves walks", [("dog", "Max")]),
        ("My name is Emily.", [("name", "Emily")]),
        ("My birthday is May 4th", [("birthday", "May 4th")]),
        ("I always fly Lufthansa", [("airline", "Lufthansa")]),
        ("My car is a 2018 Honda Civic.", [("car", "2018 Honda Civic")]),
        ("my favorite color is green", [("favorite color", "green")]),
        ("My phone is a Pixel 8 now", [("phone", "Pixel 8")]),
        ("I now drink green tea because coffee keeps me awake", [("drink", "green tea")]),
        ("Personally, I use Neovim", [("editor", "Neovim")]),
        ("I speak German", [("speaks", "German")]),
        ("我对花生过敏", [("allergy", "花生")]),
        ("最近搬到上海了", [("home", "上海")]),
        ("我在字节跳动工作", [("employer", "字节跳动")]),
        ("你好，我叫张曼婷，很高兴认识你。", [("name", "张曼婷")]),
        ("我是一名软件工程师", [("job", "软件工程师")]),
        ("我吃素", [("diet", "吃素")]),
        ("I live in Turin, in case that helps", [("home", "Turin")]),
        ("I have a Pixel 7, if you're wondering about my phone", [("phone", "Pixel 7")]),
        ("Our cat's name is Olive, in case I bring her up.", [("cat", "Olive")]),
        ("Whenever I go abroad I fly KLM", [("airline", "KLM")]),
        ("I've worked at Halden Robotics for quite a while.", [("employer", "Halden Robotics")]),
        ("My birthday falls on 5 May.", [("birthday", "5 May")]),
        ("5 May是我的生日", [("birthday", "5 May")]),
        ("我是software engineer。", [("job", "software engineer")]),
        ("我离开Halden Robotics，去了Corvid Media，因为离家近", [("employer", "Corvid Media")]),
        ("我用绿茶代替了可乐，因为牙疼", [("drink", "绿茶")]),
        ("我原来住洛阳，现在搬到厦门了，因为空气好", [("home", "厦门")]),
        ("我已经不在洛阳住了，搬来厦门了", [("home", "厦门")]),
    ],
)
def test_what_people_say_of_themselves_outright_is_read(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert told(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "attribute", "old", "value"),
    [
        ("I moved from Berlin to Porto because rent got too expensive", "home", "Berlin", "Porto"),
        ("I switched from Delta to United because of the legroom", "airline", "Delta", "United"),
        ("I replaced my iPhone with a Fairphone 5", "phone", "iPhone", "Fairphone 5"),
        ("I've switched from Chrome to Firefox", "browser", "Chrome", "Firefox"),
        ("I quit my job at Bosch and joined Siemens", "employer", "Bosch", "Siemens"),
        ("我从北京搬到了上海，因为工作调动", "home", "北京", "上海"),
    ],
)
def test_a_change_names_what_is_over(sentence: str, attribute: str, old: str, value: str) -> None:
    (fact,) = personal_facts(sentence)
    assert (fact.attribute, fact.old, fact.value, fact.single) == (attribute, old, value, True)


@pytest.mark.parametrize(
    "sentence",
    [
        "I had sushi yesterday", "I'm tired", "I'm so happy today", "I used to live in Madrid", "I'm moving to Porto next month", "I might move to Oslo", "If I lived in Paris I'd be happy",
        "I would love to live in Rome", "When I was a kid I lived in Kyiv", "I'm thinking of going vegan", "I flew Delta yesterday", "I ordered a latte", "my colleague has a dog named Bo",
        "My friend moved to Oslo", "My nephew is allergic to nuts", "He lives in Berlin", "Imagine I'm a pilot", "I'm a teapot", "I'm a nervous driver", "I'm a bit of a writer", "Do I live in Berlin", "我最近一直在找工作",
        "我妻子在字节工作", "我打算搬到杭州", "我小时候住在苏州", "I moved the file to Archive", "I work for myself", "I'm vegan, just kidding lol",
    ],
)  # fmt: skip
def test_events_moods_plans_jokes_and_other_people_are_not(sentence: str) -> None:
    assert told(sentence) == []


def test_what_is_no_longer_so_is_denied() -> None:
    (fact,) = personal_facts("I'm no longer vegetarian")
    assert (fact.attribute, fact.value, fact.negated) == ("diet", "vegetarian", True)


@pytest.mark.parametrize(
    ("sentence", "attribute", "old", "value"),
    [
        ("I swapped the Fairphone 4 for a OnePlus 12 because work wanted a second SIM", "phone", "Fairphone 4", "OnePlus 12"),
        ("I don't live in Leeds any more, I live in Graz now", "home", "Leeds", "Graz"),
        ("We left Utrecht and moved to Ghent because the rent doubled", "home", "Utrecht", "Ghent"),
        ("My home is now Graz instead of Leeds", "home", "Leeds", "Graz"),
        ("For flights I went from Austrian to Norwegian because the route was dropped", "airline", "Austrian", "Norwegian"),
        ("No more kombucha for me, I drink oat latte now", "drink", "kombucha", "oat latte"),
        ("我不坐深航了，改坐川航，因为直飞航线没了", "airline", "深航", "川航"),
        ("以前喝豆浆，现在喝乌龙茶", "drink", "豆浆", "乌龙茶"),
    ],
)
def test_what_was_given_up_for_what_is_read_by_its_topic(sentence: str, attribute: str, old: str, value: str) -> None:
    assert [(f.attribute, f.old, f.value) for f in personal_facts(sentence)] == [(attribute, old, value)]


@pytest.mark.parametrize(
    "sentence",
    [
        "I moved the file from Alpha to Beta", "My ex lives in Calgary", "My boss always flies Lufthansa", "室友从合肥搬到了南昌，因为她在那边读书", "我侄子对鸡蛋过敏", "隔壁的小李住在贵阳", "I'm allergic to meetings before ten",
        "我对周一过敏", "Picture this: I fly Icelandair every week",
    ],
)  # fmt: skip
def test_other_peoples_changes_and_dry_jokes_are_not(sentence: str) -> None:
    assert told(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "I live in Turin, if the deal goes through",
        "I live in Turin, if you can call that living",
        "When I was a student I lived in Turin",
        "When I retire I'll fly KLM",
        "I was in Turin for a while",
        "我离开会议室，去了食堂",
        "我把茶几换成了书桌",
        "我爸住在洛阳。",
        "我们组长住在洛阳。",
        "我们会计出差总坐国航。",
        "我徒弟平时喝普洱",
        "我原来住在洛阳。",
        "I'm allergic to phone calls",
        "我用豆腐代替了牛肉",
    ],
)
def test_a_real_condition_a_stay_and_the_past_stay_unread(sentence: str) -> None:
    assert told(sentence) == []
