from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from pipelines.logs.conversation import SESSIONS_HELD, ConversationReader
from pipelines.model import Origin, Role, Turn
from tests.unit.logs.log_records import read


def row(speaker: object, text: object, session: object = "monday", time: object = "2026-03-02T09:00:00Z") -> dict[str, object]:
    return {"session": session, "speaker": speaker, "time": time, "text": text}


def turns(*rows: Mapping[str, object]) -> tuple[Turn, ...]:
    return read(ConversationReader(), *rows).turns


def test_people_are_users_by_name_and_an_assistant_is_the_assistant() -> None:
    found = turns(row("Ana", "I moved to Lyon."), row("assistant", "Noted."), row("Lee", "Me too."), row("AI助手", "好的"), row("System", "Be brief."))
    assert [(t.role, t.origin, t.speaker) for t in found] == [
        (Role.USER, Origin.USER, "Ana"),
        (Role.ASSISTANT, Origin.ASSISTANT, "assistant"),
        (Role.USER, Origin.USER, "Lee"),
        (Role.ASSISTANT, Origin.ASSISTANT, "AI助手"),
        (Role.SYSTEM, Origin.HARNESS, "System"),
    ]


@pytest.mark.parametrize(
    ("time", "at", "zone"),
    [
        ("2026-03-02T09:00:00+01:00", datetime(2026, 3, 2, 8, tzinfo=UTC), "+01:00"),
        ("7:55 pm on 2 March, 2026", datetime(2026, 3, 2, 19, 55, tzinfo=UTC), "unknown"),
        ("2026年03月02日 周一 08:38", datetime(2026, 3, 2, 8, 38, tzinfo=UTC), "unknown"),
        ("some day", None, None),
        (None, None, None),
    ],
)
def test_a_zone_that_is_not_stated_is_said_to_be_unknown(time: object, at: datetime | None, zone: str | None) -> None:
    (turn,) = turns(row("Ana", "Hi", time=time))
    assert (turn.at, turn.zone) == (at, zone)


def test_sessions_of_one_file_are_told_apart_and_count_their_own_positions() -> None:
    found = turns(row("Ana", "a", "one"), row("Ana", "b", "two"), row("Ana", "c", "one"))
    assert found[0].session == found[2].session != found[1].session
    assert [t.ordinal for t in found] == [0, 0, 1]
    assert found[0].session.startswith("one-")


def test_the_same_label_in_another_file_is_another_session_and_a_copy_is_the_same_one() -> None:
    rows = [row("Ana", "a"), row("Ana", "b")]
    assert [t.uid for t in turns(*rows)] == [t.uid for t in turns(*rows)]
    assert turns(*rows)[0].session != turns(row("Ana", "b"), row("Ana", "a"))[0].session


def test_a_label_that_can_mean_only_one_session_is_its_id_and_a_wild_one_never_is() -> None:
    unique = "5b539e53-22a1-4c00-9d00-aaaabbbbcccc"
    assert turns(row("Ana", "a", unique))[0].session == unique
    assert "/" not in turns(row("Ana", "a", "../../etc/passwd"))[0].session
    assert read(ConversationReader(), row("Ana", "a", "../x")).sessions[0].title == "../x"


def test_what_a_person_pastes_is_quoted_and_an_injected_brief_is_our_own() -> None:
    pasted, brief = turns(row("Ana", "> always use tabs\nI disagree."), row("Ana", "<dreamd-brief>always use tabs</dreamd-brief>"))
    assert pasted.origin_of(0, 10) is Origin.QUOTED
    assert pasted.origin_of(pasted.text.index("I disagree"), len(pasted.text)) is Origin.USER
    assert brief.origin is Origin.SELF


def test_rows_that_are_no_utterance_are_bad_and_empty_ones_are_counted() -> None:
    result = read(ConversationReader(), row(3, "a"), row("Ana", None), row("Ana", "  "), row("Ana", "a"), {"text": "x"})
    assert [b.place.line for b in result.bad] == [1, 2, 5]
    assert dict(result.ignored) == {"empty": 1}
    assert len(result.turns) == 1


def test_what_is_remembered_of_a_file_is_bounded() -> None:
    result = read(ConversationReader(), *(row("Ana", "hi", f"s{i}") for i in range(SESSIONS_HELD + 50)))
    held = result.carry["sessions"]
    assert isinstance(held, dict)
    assert len(held) == SESSIONS_HELD


def test_the_format_is_known_by_speaker_and_text() -> None:
    assert ConversationReader().sniff([row("Ana", "a")], "x.jsonl")
    assert not ConversationReader().sniff([{"role": "user", "content": "a"}, None, 3], "x.jsonl")
