"""Copies, forks and forks of forks, read from logs and traced to one witness."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from pipelines.logs.codex import CodexReader
from pipelines.logs.lineage import content_key, roots
from pipelines.logs.reader import Read
from pipelines.ports import Occurrence
from tests.unit.logs.log_records import read

P, F1, F2 = ("0199aaaa-1111-7222-8333-44445555666" + end for end in "123")


def line(kind: str, second: int, **payload: object) -> dict[str, object]:
    return {"timestamp": f"2026-03-02T09:00:{second:02}.000Z", "type": kind, "payload": payload}


def meta(uid: str, **more: object) -> dict[str, object]:
    return line("session_meta", 0, id=uid, **more)


def said(text: str, second: int) -> dict[str, object]:
    return line("response_item", second, type="message", role="user", content=[{"type": "input_text", "text": text}])


def traced(reads: Sequence[Read]) -> dict[str, str]:
    turns = [turn for one in reads for turn in one.turns]
    return roots(
        [Occurrence(turn=t.uid, session=t.session, ordinal=t.ordinal, source=t.session, generation=1, place=t.place) for t in turns],
        parents={info.uid: info.parent for one in reads for info in one.sessions},
        said={t.uid: key for t in turns if (key := content_key(t)) is not None},
    )


@pytest.mark.parametrize("named", [True, False], ids=["forks that name their parent", "forks that only repeat its records"])
@pytest.mark.parametrize("shift", [0, 30], ids=["copied with their times", "written again with new times"])
def test_a_parent_its_fork_and_the_forks_fork_are_one_witness_in_any_order(named: bool, shift: int) -> None:
    def forked(uid: str) -> dict[str, object]:
        return {"forked_from_id": uid} if named else {}

    parent = read(CodexReader(), meta(P), said("Use tabs.", 1), said("Wrap at 100.", 2))
    fork = read(CodexReader(), meta(F1, **forked(P)), meta(P), said("Use tabs.", 1 + shift), said("Use spaces.", 5 + shift))
    forks_fork = read(CodexReader(), meta(F2, **forked(F1)), meta(F1), said("Use spaces.", 5 + 2 * shift % 60), said("Use pnpm.", 9))
    answers = [traced(order) for order in permutations((parent, fork, forks_fork))]
    assert answers == [{P: P, F1: P, F2: P}] * 6


def test_two_people_who_say_the_same_at_different_times_are_two_witnesses() -> None:
    one, two = read(CodexReader(), meta(P), said("Use tabs.", 1)), read(CodexReader(), meta(F1), said("Use tabs.", 2))
    assert traced([one, two]) == {P: P, F1: F1}


def test_a_copy_of_an_old_flat_log_under_another_id_is_one_witness_and_small_talk_is_not() -> None:
    def flat(uid: str, count: int) -> Read:
        talk = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"step {i}"}]} for i in range(count)]
        return read(CodexReader(), {"id": uid, "timestamp": "2025-09-10T18:58:38.331Z", "instructions": None}, *talk)

    assert set(traced([flat(P, 8), flat(F1, 8)]).values()) == {P}
    assert set(traced([flat(P, 7), flat(F1, 7)]).values()) == {P, F1}
