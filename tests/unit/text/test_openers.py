from __future__ import annotations

import pytest

from pipelines.text.mood import Mood, mood_of
from pipelines.text.openers import BACK_TO_WORK, answered, answers, without_opening
from pipelines.text.reasons import reason_in, told_first, without_reason


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("oh and by the way, I live in Oslo", "I live in Oslo"),
        ("one more thing - just moved to Oslo", "just moved to Oslo"),
        ("so, my lease ran out", "my lease ran out"),
        ("对了，家在大理", "家在大理"),
        ("so far I live in Oslo", "so far I live in Oslo"),
        ("and so on", "so on"),
        ("Kim just moved to Oslo", "Kim just moved to Oslo"),
        ("right-handed people", "right-handed people"),
        ("btw", "btw"),
    ],
)
def test_only_words_that_lead_in_are_left_out(text: str, rest: str) -> None:
    assert without_opening(text) == rest


@pytest.mark.parametrize("text", ["My birthday?", "oh, and my phone?", "our database?"])
def test_a_question_that_names_what_is_told_next_asks_nobody(text: str) -> None:
    assert answers(text, "Bolt 3.")


@pytest.mark.parametrize("text", ["What is my birthday?", "my turn?", "Your birthday?", "is it my phone?", "my birthday"])
def test_other_questions_ask(text: str) -> None:
    assert not answers(text, "Bolt 3.")


@pytest.mark.parametrize("words", ["Dead.", "Stolen.", "Tom has it.", "Awful people.", "no idea", "3 May, said the clerk.", "Is it?", "A B C D E F G."])
def test_how_it_is_with_something_is_no_answer(words: str) -> None:
    assert not answers("my dog?", words)


def test_a_drink_is_answered_in_small_letters() -> None:
    assert answers("my drink?", "oat latte.")
    assert not answers("my drink?", "coffee, not any more")
    assert not answers("my phone?", "oat latte.")


def test_what_one_answers_oneself_is_stated() -> None:
    assert answered("My birthday? 3 May.") == "My birthday is 3 May."
    assert mood_of("My birthday? 3 May.") is Mood.PLAIN
    assert mood_of("My birthday?") is Mood.QUESTION
    assert mood_of("My birthday? is it 3 May?") is Mood.QUESTION


@pytest.mark.parametrize(
    ("text", "reason", "told"),
    [
        ("just so you know, my doctor told me off, so I drink tea now", "my doctor told me off", "I drink tea now"),
        ("对了，那边给得多，所以我跳到远山科技了", "那边给得多", "我跳到远山科技了"),
        ("I drink tea, as coffee got too dear", "coffee got too dear", "I drink tea"),
        ("I drink tea now, my doctor told me off", "my doctor told me off", "I drink tea now"),
        ("I moved because I was burnt out - ok back to work", "I was burnt out", "I moved"),
        ("I live here since I was a child", None, "I live here since I was a child"),
        ("because my lease ran out I now live in Oslo", "my lease ran out", "I now live in Oslo"),
        ("Given that it rains, I moved to Oslo", "it rains", "I moved to Oslo"),
        ("I moved to Oslo, seeing as it rains Please do the next page.", "it rains", "I moved to Oslo"),
        ("because I drink tea when I am tired", "I drink tea when I am tired", "because I drink tea when I am tired"),
        ("I drink tea as well now", None, "I drink tea as well now"),
        ("The API is on 80 now, the web client is on 81", None, "The API is on 80 now, the web client is on 81"),
        ("I live in Oslo now, I work at Bolt Systems", None, "I live in Oslo now, I work at Bolt Systems"),
    ],
)
def test_a_reason_is_told_from_what_stands_around_it(text: str, reason: str | None, told: str) -> None:
    assert reason_in(text) == reason
    assert without_reason(text) == told


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("I live in Oslo - ok, back to the table", "I live in Oslo"),
        ("I live in Oslo Please do the needful.", "I live in Oslo"),
        ("I live in Oslo, so there you go", "I live in Oslo"),
        ("I live in Oslo - next: the table", "I live in Oslo"),
        ("I live in Oslo - ok not really", "I live in Oslo - ok not really"),
        ("I live in Oslo - anyway I did until May", "I live in Oslo - anyway I did until May"),
        ("I live in Oslo - next week I won't", "I live in Oslo - next week I won't"),
        ("our paper is called Please Mind The Gap", "our paper is called Please Mind The Gap"),
        ("I live in Oslo - right at the harbour", "I live in Oslo - right at the harbour"),
        ("we please everybody", "we please everybody"),
    ],
)
def test_what_goes_on_with_the_work_is_no_part_of_what_is_told(text: str, rest: str) -> None:
    assert BACK_TO_WORK.sub("", text) == rest


def test_what_another_thing_follows_from_is_given_in_chinese_too() -> None:
    assert told_first("家在大理，所以有时差") == "家在大理"


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("our database is a parrot, ha ha", Mood.JOKE),
        ("I'm a couch potato by trade, hehe", Mood.JOKE),
        ("我住在龙宫里，开个玩笑", Mood.JOKE),
        ("my dream is to work at Pixar", Mood.WISH),
        ("he hems and haws", Mood.PLAIN),
        ("the dog's name is Bella, in case you hear barking", Mood.PLAIN),
        ("delete the cache in case you see an error", Mood.CONDITION),
        ("I'm a baker, so explain it simply please", Mood.PLAIN),
        ("explain it simply please", Mood.REQUEST),
    ],
)
def test_jokes_wishes_and_what_only_says_why_it_is_told(text: str, mood: Mood) -> None:
    assert mood_of(text) is mood
