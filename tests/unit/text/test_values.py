import pytest

from pipelines.text.values import same_values, typed_values, value_keys


def kinds(text: str) -> list[tuple[str, str]]:
    return [(value.kind, value.canonical) for value in typed_values(text)]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("the limit is 25MB", "the limit is 25 MB"),
        ("２５ＭＢ", "25 mb"),
        ("3月底", "the end of March"),
        ("before March ends", "by the end of March"),
        ("周四", "Thursday"),
        ("星期天", "on Sundays"),
        ("九点半", "9:30"),
        ("下午三点", "3 pm"),
        ("4月14日", "April 14"),
        ("2026年11月28日", "28 November 2026"),
        ("Nov 28, 2026", "2026-11-28"),
        ("28.11.2026", "2026-11-28"),
        ("TTL: 300s", "the TTL is 5 minutes"),
        ("五分钟", "300 seconds"),
        ("两杯", "2杯"),
        ("我女儿七岁", "7 years"),
        ("30%", "百分之三十"),
        ("$5", "5 dollars"),
        ("1,000", "1000"),
        ("10k", "10000"),
        ("三万", "30000"),
        ("Node v24", "Node 24"),
        ("Vue3", "Vue 3"),
        ("`5432`", "5432"),
        ("端口5432", "port 5432"),
        ("the config is in `src/app/`", "the config is in ./src/app"),
        ("生产环境开启了缓存", "the cache is enabled"),
        ("在西边", "to the west"),
        ("红色", "red"),
        ("昨天", "yesterday"),
        ("since 2019", "2019"),
        ("週四", "Thursday"),
        ("兩個月", "two months"),
        ("注释用英文写", "comments in English"),
    ],
)
def test_two_spellings_of_one_value_are_equal(a: str, b: str) -> None:
    assert value_keys(a) & value_keys(b)
    assert not (value_keys(a) ^ value_keys(b)) - {("identifier", "ttl"), ("identifier", "node")}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Python 3.1", "Python 3.10"),
        ("version 1.10", "version 1.1"),
        ("25 MB", "25 seconds"),
        ("C", "C++"),
        ("C++", "C#"),
        ("March 31", "March 30"),
        ("2026-11-28", "2025-11-28"),
        ("east of the cave", "west of the cave"),
        ("debug is on.", "debug is off."),
        ("小李负责支付", "小王负责支付"),
        ("port 5432", "port 5433"),
        ("端口5432", "端口5433"),
        ("at least 5", "at most 5"),
        ("不超过5个", "至少5个"),
        ("-v", "-V"),
        ("src/a.py", "src/b.py"),
        ("9:30 UTC", "9:30 CET"),
        ("yesterday", "tomorrow"),
        ("5 minutes", "5 hours"),
        ("$5", "€5"),
    ],
)
def test_two_different_values_are_different(a: str, b: str) -> None:
    assert not same_values(a, b)


def test_each_kind_is_told_from_its_lookalikes() -> None:
    assert kinds("the port 2024 is open since 2019") == [("port", "2024"), ("date", "2019")]
    assert kinds("localhost:8080 at 08:30") == [("port", "8080"), ("time", "08:30")]
    assert kinds("1.2.3 on 10.0.0.1") == [("version", "1.2.3"), ("address", "10.0.0.1")]
    assert kinds("see FW-005, #4573 and db1") == [("identifier", "fw-005"), ("identifier", "#4573"), ("identifier", "db1")]
    assert kinds("mail ana@example.org or https://example.org/a.") == [("email", "ana@example.org"), ("url", "https://example.org/a")]


@pytest.mark.parametrize(
    "text",
    ["I may go on", "the new one is a long-term plan", "yes/no and/or", "一点问题", "买东西", "e.g. that", "they march in", "the right way", "Don't worry."],
)
def test_ordinary_words_are_no_values(text: str) -> None:
    assert kinds(text) == []


def test_a_name_is_a_capital_that_was_a_choice() -> None:
    assert kinds("Deploys happen often.") == []
    assert kinds("Ben prefers tea") == [("name", "ben")]
    assert kinds("ask Ben about Golf") == [("name", "ben"), ("name", "golf")]
    assert kinds("PLEASE STOP NOW") == []


def test_chinese_names_are_found_inside_a_sentence() -> None:
    assert kinds("张伟明住在杭州") == [("name", "张伟明"), ("name", "杭州")]
    assert kinds("小王负责支付模块") == [("name", "小王")]


def test_offsets_spell_the_value() -> None:
    text = "😀 端口５４３２，see `a b` since 28 Nov 2026"
    assert [text[v.start : v.end] for v in typed_values(text)] == ["５４３２", "a b", "28 Nov 2026"]


def test_values_can_be_compared_by_kind() -> None:
    assert same_values("Ben has 5 GB", "Ana has 5 GB", kinds=frozenset({"quantity"}))
    assert not same_values("Ben has 5 GB", "Ana has 5 GB")
