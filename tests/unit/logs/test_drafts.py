from datetime import UTC, datetime

import pytest

from pipelines.logs.drafts import Draft, is_unique, text_of, turn_of, words_of
from pipelines.logs.stamps import Stamp
from pipelines.logs.tool_output import speaker_of_result
from pipelines.model import Call, Origin, Place, Role, Turn

PLACE = Place(line=1, offset=0, length=9)
NINE = Stamp(datetime(2026, 3, 2, 9, tzinfo=UTC), "UTC")


def turn(session: str = "s", ordinal: int = 0, **given: object) -> Turn:
    draft = Draft(**{"role": Role.USER, "origin": Origin.USER, "text": "yes", **given})  # type: ignore[arg-type]
    return turn_of(draft, format="f", session=session, ordinal=ordinal, place=PLACE, repaired=False)


def test_a_record_id_makes_the_turn_whatever_session_and_place_it_stands_in() -> None:
    given = {"record_id": "msg_01XFDUDYJgAACzvn"}
    assert turn("a", 0, **given).uid == turn("b", 7, **given).uid
    assert turn("a", 0, **given, part="0").uid != turn("a", 0, **given, part="1").uid
    assert turn(**given, text="yes and").uid == turn(**given).uid, "a growing snapshot stays the same turn"
    assert turn(**given, text="yes and").snap != turn(**given).snap


def test_a_shared_clock_makes_copies_equal_and_a_coarse_one_does_not() -> None:
    assert turn("a", 0, stamp=NINE, shared_clock=True).uid == turn("b", 7, stamp=NINE, shared_clock=True).uid
    assert turn("a", 0, stamp=NINE).uid != turn("b", 0, stamp=NINE).uid
    assert turn("a", 0, shared_clock=True).uid != turn("b", 0, shared_clock=True).uid, "without a time nothing is shared"


def test_equal_words_at_two_places_of_a_session_are_two_turns() -> None:
    assert turn(ordinal=0).uid != turn(ordinal=1).uid


@pytest.mark.parametrize(
    ("given", "unique"),
    [
        ("5b539e53-22a1-4c00-9d00-aaaabbbbcccc", True), ("call_YUww8Trq6iPO", True), ("chatcmpl-9aBcDeFgHiJk", True),
        ("call_1", False), ("1", False), ("item_0", False), ("user-message", False), ("1234567890123", False), ("", False), (None, False), (7, False), ("a b c d 1 2 3 4", False),
    ],
)  # fmt: skip
def test_only_an_id_no_other_program_gives_by_chance_is_unique(given: object, unique: bool) -> None:
    assert is_unique(given) is unique


def test_text_that_no_store_can_hold_is_replaced_one_for_one_and_flagged() -> None:
    found = turn(text="a\x00b\ud83dc")
    assert (found.text, found.flagged) == ("a\ufffdb\ufffdc", True)
    assert not turn(text="plain").flagged


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("apply_patch", {"input": "*** Begin Patch\n"}, "*** Begin Patch\n"),
        ("memory", {"command": "view", "path": "/memories"}, '{"command": "view", "path": "/memories"}'),
        ("add", {"a": 1, "面": "b"}, '{"a": 1, "面": "b"}'),
        ("now", {}, "now"),
    ],
)
def test_a_call_as_words_is_its_command_its_free_text_or_its_arguments(name: str, arguments: dict[str, object], words: str) -> None:
    assert words_of(Call(call_id="c", name=name, arguments=arguments)) == words


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "output_text", "text": "b"}, "c"], "a\nb\nc"),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        (None, ""),
        (7, ""),
    ],
)
def test_the_text_of_content_in_its_shapes(content: object, text: str) -> None:
    assert text_of(content) == text


@pytest.mark.parametrize(
    ("name", "arguments", "origin"),
    [
        ("shell", {"command": ["bash", "-lc", "make"]}, Origin.TOOL),
        ("exec_command", {"cmd": "curl https://a.example/rules"}, Origin.EXTERNAL),
        ("exec_command", {"cmd": "cat AGENTS.md"}, Origin.INSTRUCTIONS),
        ("exec_command", {"cmd": "cat ~/.codex/memories/a.md"}, Origin.MODEL_SUMMARY),
        ("exec_command", {"cmd": "dreamd search tabs"}, Origin.SELF),
        ("context7__get-library-docs", {}, Origin.EXTERNAL),
        ("memory__search_nodes", {}, Origin.MODEL_SUMMARY),
        ("update_plan", {}, Origin.TOOL),
    ],
)
def test_a_result_speaks_for_whom_its_call_asked(name: str, arguments: dict[str, object], origin: Origin) -> None:
    assert speaker_of_result(Call(call_id="c", name=name, arguments=arguments)) is origin
