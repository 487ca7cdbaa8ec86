import pytest

from pipelines.text.reasons import reason_in, reason_of_change, told_first, without_reason


@pytest.mark.parametrize(
    ("sentence", "reason", "rest"),
    [
        ("I moved to Oslo because the rent doubled", "the rent doubled", "I moved to Oslo"),
        ("the rent doubled, so I moved to Oslo", "the rent doubled", "I moved to Oslo"),
        ("Since my lease ended, I live in Oslo", "my lease ended", "I live in Oslo"),
        ("I moved to Oslo bc it rains less", "it rains less", "I moved to Oslo"),
        ("I live in Oslo now, as my job is there", "my job is there", "I live in Oslo now"),
        ("I moved to Oslo. Reason: it is quiet.", "it is quiet", "I moved to Oslo"),
        ("I moved to Oslo (because it is quiet)", "it is quiet", "I moved to Oslo"),
        ("因为房租涨了，我搬到大理了", "房租涨了", "我搬到大理了"),
        ("房租涨了，所以我搬到大理了", "房租涨了", "我搬到大理了"),
        ("我搬到大理了，主要是因为安静。", "安静", "我搬到大理了"),
    ],
)
def test_the_reason_is_found_on_either_side_of_what_it_explains(sentence: str, reason: str, rest: str) -> None:
    assert reason_in(sentence) == reason
    assert without_reason(sentence) == rest


@pytest.mark.parametrize(
    "sentence", ["I have lived here since 2019", "I've been here since last May", "I use it as my main phone", "We deploy on Thursdays", "因此很好"]
)
def test_a_date_and_a_role_are_no_reason(sentence: str) -> None:
    assert reason_in(sentence) is None
    assert without_reason(sentence) == sentence


def test_the_clause_that_only_follows_a_change_is_its_reason() -> None:
    assert reason_of_change("I moved to Oslo last month, my lease ran out") == "my lease ran out"
    assert reason_of_change("I moved to Oslo last month") is None


def test_what_stands_before_so_may_be_a_fact_of_its_own() -> None:
    assert told_first("I live in Oslo, so I fly SAS") == "I live in Oslo"


@pytest.mark.parametrize(
    ("told", "mark", "why"),
    [
        ("We deploy at night", "(", "because the rent doubled"),
        ("We deploy at night", " ", "because the rent doubled"),
        ("我们夜里部署", "，", "因为白天忙"),
        ("我们夜里部署", "（", "因为白天忙"),
    ],
)
def test_marks_without_end_before_a_reason_are_read_in_linear_time(told: str, mark: str, why: str) -> None:
    assert without_reason(f"{told}{mark * 60_000}{why}") == told
    assert without_reason(f"{told}{mark * 60_000}always") == f"{told}{mark * 60_000}always"
