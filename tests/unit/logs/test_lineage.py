from datetime import UTC, datetime
from itertools import permutations

from pipelines.logs.lineage import RUN_MIN, content_key, roots
from pipelines.model import Origin, Place, Role, Turn
from pipelines.ports import Occurrence

SMALL_TALK = ("hi", "hello, how can I help?", "yes", "ok", "thanks", "you are welcome")


def at(session: str, ordinal: int, turn: str) -> Occurrence:
    return Occurrence(turn=turn, session=session, ordinal=ordinal, source=session, generation=1, place=Place(line=ordinal + 1, offset=0, length=1))


def chat(session: str, texts: tuple[str, ...]) -> tuple[list[Occurrence], dict[str, str]]:
    """A chat without ids and times: uids are its own, only what is said can be compared."""
    said = {f"{session}:{i}": text for i, text in enumerate(texts)}
    return [at(session, i, uid) for i, uid in enumerate(said)], said


def test_a_session_alone_is_its_own_root() -> None:
    assert roots([at("a", 0, "t1")], parents={}, said={}) == {"a": "a"}


def test_sessions_that_share_a_turn_are_one_witness() -> None:
    assert roots([at("b", 0, "t1"), at("a", 0, "t1"), at("c", 0, "t9")], parents={}, said={}) == {"a": "a", "b": "a", "c": "c"}


def test_a_fork_of_a_fork_is_one_witness_in_any_order_of_arrival() -> None:
    places = [at("p", 0, "t1"), at("p", 1, "t2"), at("f1", 0, "t1"), at("f1", 1, "t3"), at("f2", 0, "t3"), at("f2", 1, "t4")]
    parents = {"f1": "p", "f2": "f1"}
    answers = [roots(order, parents=parents, said={}) for order in permutations(places)]
    assert answers == [{"p": "p", "f1": "p", "f2": "p"}] * len(answers)


def test_forks_of_a_session_that_never_arrived_are_one_witness() -> None:
    assert roots([at("f1", 0, "t1"), at("f2", 0, "t2")], parents={"f1": "p", "f2": "p"}, said={}) == {"f1": "p", "f2": "p", "p": "p"}


def test_the_root_is_the_member_without_a_parent_even_if_its_name_sorts_last() -> None:
    assert set(roots([at("a", 0, "t1"), at("z", 0, "t1")], parents={"a": "z"}, said={}).values()) == {"z"}


def test_sessions_that_name_each_other_as_parent_still_get_one_root() -> None:
    assert roots([], parents={"a": "b", "b": "a"}, said={}) == {"a": "a", "b": "a"}


def test_a_hundred_chats_with_equal_small_talk_are_a_hundred_witnesses() -> None:
    assert len(SMALL_TALK) < RUN_MIN
    chats = [chat(f"c{i:03}", SMALL_TALK) for i in range(100)]
    found = roots([o for places, _ in chats for o in places], parents={}, said={k: v for _, said in chats for k, v in said.items()})
    assert len(set(found.values())) == 100


def test_eight_equal_turns_in_a_row_are_a_copy() -> None:
    texts = tuple(f"line {i}" for i in range(8))
    one, said_one = chat("one", ("before", *texts))
    two, said_two = chat("two", (*texts, "after"))
    assert set(roots([*one, *two], parents={}, said={**said_one, **said_two}).values()) == {"one"}


def test_eight_equal_turns_that_are_not_in_a_row_prove_nothing() -> None:
    texts = tuple(f"line {i}" for i in range(8))
    one, said_one = chat("one", texts)
    two, said_two = chat("two", (*texts[:4], "something else", *texts[4:]))
    assert len(set(roots([*one, *two], parents={}, said={**said_one, **said_two}).values())) == 2


def test_a_turn_with_a_time_ends_a_run() -> None:
    texts = tuple(f"line {i}" for i in range(8))
    one, said_one = chat("one", texts)
    two, said_two = chat("two", texts)
    del said_one["one:3"]  # it has a time, so it is compared by uid
    assert len(set(roots([*one, *two], parents={}, said={**said_one, **said_two}).values())) == 2


def test_a_copied_file_does_not_hide_a_run() -> None:
    texts = tuple(f"line {i}" for i in range(8))
    one, said_one = chat("one", texts)
    two, said_two = chat("two", texts)
    assert set(roots([*one, *one, *two], parents={}, said={**said_one, **said_two}).values()) == {"one"}


def test_only_a_turn_without_a_time_has_a_content_key() -> None:
    def turn(role: Role, text: str, when: datetime | None) -> Turn:
        place = Place(line=1, offset=0, length=1)
        return Turn(uid="u", snap="x", session="s", ordinal=0, role=role, origin=Origin.USER, text=text, place=place, at=when)

    assert content_key(turn(Role.USER, "yes", datetime(2026, 1, 1, tzinfo=UTC))) is None
    assert content_key(turn(Role.USER, "yes", None)) == content_key(turn(Role.USER, "yes", None))
    assert content_key(turn(Role.USER, "yes", None)) != content_key(turn(Role.ASSISTANT, "yes", None))
