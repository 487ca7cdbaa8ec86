from __future__ import annotations

import pytest

from pipelines.engines.local.opening import opening
from tests.unit.engines.talk import Talk

PLAN = "# Plan: new login\n\n" + "- a step of it\n" * 120


def first(*prompts: str) -> str | None:
    talk = Talk()
    for prompt in prompts:
        talk.user(prompt)
    found = opening(talk.turns)
    return found[0].text if found else None


@pytest.mark.parametrize(
    "greeting",
    [
        "hi there",
        "Hello Claude!",
        "good morning, team",
        "你好呀！",
        "您好",
        "Hola, buenas",
        "Привет, Claude",
        "مرحبا بك",
        "こんにちは",
        "안녕하세요!",
        "how are you today?",
        "go on",
        "好的",
    ],
)
def test_a_greeting_is_passed_for_the_first_words_that_ask(greeting: str) -> None:
    assert first(greeting, "the export is slow, find out why") == "the export is slow, find out why"
    assert first(f"{greeting}\nthe export is slow, find out why") == "the export is slow, find out why"


def test_a_greeting_that_asks_in_the_same_breath_stays_whole() -> None:
    assert first("hi, can you speed up the export?", "and the import") == "hi, can you speed up the export?"
    assert first("你好，请帮我修复登录页面", "再加测试") == "你好，请帮我修复登录页面"


def test_where_nothing_but_a_greeting_was_typed_it_stands() -> None:
    assert first("Hello Claude!") == "Hello Claude!"


def test_a_heading_is_passed_for_words_below_it_or_later_and_stands_where_there_are_none() -> None:
    assert first("# Export\n\nmake it faster, it takes a minute") == "make it faster, it takes a minute"
    assert first("**Export**\nmake it faster, it takes a minute") == "make it faster, it takes a minute"
    assert first("# Faster export", "make it stream rows") == "make it stream rows"
    assert first("# Faster export") == "Faster export"


def test_of_a_long_document_its_first_sentence_is_told_and_no_heading_or_pasted_line() -> None:
    assert first(PLAN) == "a step of it"
    assert first("Do all of this:\n" + PLAN) == "Do all of this:"
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3\n' * 40
    assert first(trace, "why does this fail only at night?") == "why does this fail only at night?"
    assert first('{"a": 1, "b": [2, 3]}', "turn this into a table") == "turn this into a table"


def test_a_session_of_pasted_text_alone_is_told_by_its_first_line() -> None:
    assert first('{"retries": 3, "hosts": ["a", "b"]}') == '{"retries": 3, "hosts": ["a", "b"]}'
    assert first() is None
