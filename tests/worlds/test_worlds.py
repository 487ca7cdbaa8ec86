from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from pipelines.model import Basis, Claim, Kind, Origin, Quote, Standing, Status, Version
from tests.worlds.direct import session_turns
from tests.worlds.generator import BULLETS_IN, Half, User, user
from tests.worlds.gold import Change, Gold, Never, Told, Way
from tests.worlds.held_out import HELD_BULLETS, HELD_ITEMS, HELD_TRAPS
from tests.worlds.held_out2 import HELD2_BULLETS, HELD2_ITEMS, HELD2_TRAPS
from tests.worlds.held_out3 import HELD3_BULLETS, HELD3_ITEMS, HELD3_TRAPS
from tests.worlds.judge import Score, judge
from tests.worlds.phrases import BULLETS, EN, ITEMS, TRAPS, ZH, Item, Trap, Words
from tests.worlds.table import TARGETS, Target, rows, world

SESSIONS = 12


@pytest.fixture(scope="module")
def people() -> tuple[User, ...]:
    return tuple(user(7, n, sessions=SESSIONS, tokens=600) for n in range(3))


# --- the generator -----------------------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others() -> None:
    def made(seed: int) -> User:
        return user(seed, 1, sessions=4, tokens=400)

    assert made(7) == made(7)
    assert made(7).logs != made(8).logs


def test_every_gold_sentence_stands_in_the_log_of_its_session(people: tuple[User, ...]) -> None:
    for person in people:
        gold = person.gold
        sentences: list[Told | Change | Never] = [*gold.told, *gold.changes, *gold.never]
        for said in sentences:
            _, turns = session_turns(person.logs[said.session - 1])
            assert any(said.sentence in turn.text for turn in turns), said


def test_what_the_person_types_is_the_persons_and_filler_is_not(people: tuple[User, ...]) -> None:
    for person in people:
        origins = Counter(turn.origin for log in person.logs for turn in session_turns(log)[1])
        assert set(origins) == {Origin.USER, Origin.ASSISTANT, Origin.TOOL}
        typed = [turn.text for log in person.logs for turn in session_turns(log)[1] if turn.origin is Origin.USER]
        said = {t.sentence for t in person.gold.told} | {c.sentence for c in person.gold.changes}
        assert all(any(sentence in text for text in typed) for sentence in said)


def test_a_session_has_about_the_size_asked_for() -> None:
    log = user(7, 0, sessions=1, tokens=12_000).logs[0]
    chars = sum(len(turn.text) for turn in session_turns(log)[1])
    assert 0.7 * 48_000 < chars < 1.3 * 48_000


def test_half_of_the_six_changes_name_the_old_value_and_each_gives_a_reason(people: tuple[User, ...]) -> None:
    for person in people:
        first: dict[str, Change] = {}
        for change in person.gold.changes:
            first.setdefault(change.item, change)
        assert Counter(c.way for c in first.values()) == {Way.NAMED: 3, Way.UNNAMED: 3}
        assert all((c.old in c.sentence) == (c.way is Way.NAMED) and c.reason in c.sentence for c in first.values())


def test_bullet_points_are_asked_for_once(people: tuple[User, ...]) -> None:
    for person in people:
        assert person.gold.bullets is not None
        texts = [(n, turn.text) for n, log in enumerate(person.logs, 1) for turn in session_turns(log)[1]]
        assert [n for n, text in texts if text == person.gold.bullets.sentence] == [BULLETS_IN]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_each_item_is_said_in_six_ways_in_each_language(item: Item) -> None:
    for wordings in (item.said, *(w for w in (item.named, item.unnamed) if w)):
        assert all(len(set(wordings[language])) >= 6 for language in (EN, ZH))


def test_no_trap_speaks_of_a_value_that_somebody_may_truly_have() -> None:
    own = {value for item in (*ITEMS, *HELD2_ITEMS.values(), *HELD3_ITEMS.values()) for values in item.values.values() for value in values}
    assert not own & {value for told in (TRAPS, HELD_TRAPS, HELD2_TRAPS, HELD3_TRAPS) for traps in told.values() for trap in traps for value in trap.values}


def test_the_halves_share_no_phrasing() -> None:
    for wordings in (BULLETS[EN], *(item.said[EN] for item in ITEMS)):
        assert not set(Half.DEV.of(wordings)) & set(Half.TEST.of(wordings))
        assert set(Half.DEV.of(wordings)) | set(Half.TEST.of(wordings)) == set(wordings)


@pytest.mark.parametrize("wording", [HELD_ITEMS, HELD2_ITEMS, HELD3_ITEMS], ids=["held", "held2", "held3"])
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_the_held_out_wording_says_the_same_in_other_words(item: Item, wording: dict[str, Item]) -> None:
    held = wording[item.name]
    for language in (EN, ZH):
        for known, other in ((item.said, held.said), (item.named, held.named), (item.unnamed, held.unnamed)):
            if known:
                assert len(set(other[language])) >= 4
                assert not set(known[language]) & set(other[language])
        assert all("{v}" in said or "{a_v}" in said for said in held.said[language])
        assert all({"{old}", "{why}"} <= set(re.findall(r"{\w+}", said)) for said in held.named.get(language, ()))
        assert all("{why}" in said for said in held.unnamed.get(language, ()))
        assert not item.reasons or not set(item.reasons[language]) & set(held.reasons[language])


@pytest.mark.parametrize(
    ("traps", "bullets"), [(HELD_TRAPS, HELD_BULLETS), (HELD2_TRAPS, HELD2_BULLETS), (HELD3_TRAPS, HELD3_BULLETS)], ids=["held", "held2", "held3"]
)
def test_held_out_traps_and_requests_are_other_ones(traps: dict[str, tuple[Trap, ...]], bullets: Words) -> None:
    for language in (EN, ZH):
        assert not {t.text for t in TRAPS[language]} & {t.text for t in traps[language]}
        assert {t.kind for t in TRAPS[language]} == {t.kind for t in traps[language]}
        assert not set(BULLETS[language]) & set(bullets[language])


@pytest.mark.parametrize("half", [Half.HELD2, Half.HELD3])
@pytest.mark.parametrize("number", range(3))
def test_a_sentence_may_say_two_things_of_a_person(number: int, half: Half) -> None:
    gold = user(7, number, sessions=6, tokens=200, half=half).gold
    sentences = Counter(t.sentence for t in gold.told)
    (both,) = [t for t in sentences if sentences[t] == 2]
    assert all(t.value in both for t in gold.told if t.sentence == both)


def test_gold_knows_what_holds_after_each_session() -> None:
    assert [GOLD.believed(n).get("home") for n in (1, 2, 5, 9)] == [None, "Leeds", "Cork", "Leeds"]
    (first, back) = GOLD.changes
    assert [GOLD.over(first, n) for n in (5, 9)] == [True, False]
    assert GOLD.over(back, 9)


# --- the judge ---------------------------------------------------------------------------------------------------------------------------

GOLD = Gold(
    user="ana",
    language="en",
    names=("user", "ana"),
    told=(
        Told(item="allergy", value="latex", session=1, sentence="I'm allergic to latex."),
        Told(item="home", value="Leeds", session=2, sentence="I live in Leeds."),
    ),
    changes=(
        Change(
            item="home",
            old="Leeds",
            new="Cork",
            reason="the rent had doubled",
            way=Way.UNNAMED,
            session=5,
            sentence="I live in Cork now, because the rent had doubled.",
        ),
        Change(item="home", old="Cork", new="Leeds", reason="it rained", way=Way.NAMED, session=9, sentence="I moved from Cork to Leeds because it rained."),
    ),
    never=(
        Never(kind="other", session=1, sentence="My ex lives in Calgary.", values=("Calgary",)),
        Never(kind="joke", session=1, sentence="I live on the moon, haha.", values=("moon",)),
    ),
    bullets=Told(item="bullets", value="bullets", session=1, sentence="bullet points please"),
)


class Books:
    """Beliefs in the making: each line is a version and the claim it rests on."""

    def __init__(self) -> None:
        self.versions: list[Version] = []
        self.claims: dict[str, Claim] = {}

    def add(
        self, quote: str, value: str | None, *, subject: str = "user", status: Status = Status.CONFIRMED, reason: str | None = None, negated: bool = False
    ) -> Books:
        claim = Claim(
            kind=Kind.FACT, subject=subject, attribute="a", statement=quote, value=value, negated=negated, quotes=(Quote(turn="t", start=0, end=len(quote), text=quote),)
        )  # fmt: skip
        self.claims[claim.uid] = claim
        self.versions.append(
            Version(
                note=f"n{len(self.versions)}", slot="s", kind=Kind.FACT, subject=subject, attribute="a", qualifier="", statement=quote, value=value, status=status,
                standing=Standing.VERIFIED, basis=Basis.STATED, claims=(claim.uid,), reason=reason, valid_from=datetime(2026, 1, 5, tzinfo=UTC),
            )
        )  # fmt: skip
        return self

    def judged(self, after: int) -> Score:
        return judge(GOLD, self.versions, self.claims, after=after)


def right() -> Books:
    """Everything as it should be after session 5."""
    books = Books().add("I'm allergic to latex.", "latex").add("bullet points please", None, status=Status.DRAFT)
    books.add("I live in Cork now, because the rent had doubled.", "Cork")
    return books.add("I live in Leeds.", "Leeds", status=Status.SUPERSEDED, reason="the rent had doubled")


def failed(score: Score) -> Iterator[str]:
    return (target.measure for target in TARGETS if not target.met(score))


def test_right_beliefs_meet_every_target() -> None:
    score = right().judged(5)
    assert list(failed(score)) == []
    assert score.misses == ()
    assert {m: score.share(m) for m in ("recall", "precision", "old and reason in History")} == {
        "recall": 1.0,
        "precision": 1.0,
        "old and reason in History": 1.0,
    }


def test_what_stands_under_its_true_owner_or_is_denied_is_no_fault() -> None:
    books = (
        right().add("My ex lives in Calgary.", "Calgary", subject="user's ex").add("I live in Cork now, because the rent had doubled.", "Leeds", negated=True)
    )
    assert books.judged(5).misses == ()


@pytest.mark.parametrize(
    ("books", "measure"),
    [
        (right().add("My ex lives in Calgary.", "Calgary", status=Status.DRAFT), "others' value as the user's"),
        (right().add("I live on the moon, haha.", "moon", status=Status.DRAFT), "mood stored"),
        (right().add("I live on the moon, haha.", "moon"), "mood stored as confirmed"),
        (right().add("I live in Leeds.", "Leeds"), "old shown as current, told outright"),
        (right().add("bullet points please", None), "bullet points confirmed"),
        (Books(), "allergy live"),
        (Books().add("bullet points please", None, status=Status.SUPERSEDED), "bullet points live"),
        (Books().add("I live in Leeds.", "Leeds", status=Status.SUPERSEDED, reason="I wanted to"), "old and reason in History"),
    ],
)
def test_each_fault_is_found(books: Books, measure: str) -> None:
    assert measure in set(failed(books.judged(5)))


def test_a_value_that_came_back_is_no_old_value() -> None:
    books = (
        Books().add("I moved from Cork to Leeds because it rained.", "Leeds").add("I live in Cork now.", "Cork", status=Status.SUPERSEDED, reason="it rained")
    )
    score = books.judged(9)
    assert score.hits["old shown as current, told outright"] == 0
    assert score.hits["old and reason in History"] == 1


def test_a_wrong_confirmed_version_costs_precision() -> None:
    score = right().add("ok, thanks", "thanks").judged(5)
    assert (score.hits["precision"], score.cases["precision"]) == (2, 3)


# --- a small world through readers, engine, gates and beliefs ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> Score:
    return world(seed=7, users=3, sessions=SESSIONS, tokens=600, afters=[SESSIONS])[SESSIONS]


@pytest.mark.parametrize("target", [t for t in TARGETS if t.least is not None or t.most is not None], ids=lambda t: t.measure)
def test_a_small_world_meets_its_targets(small: Score, target: Target) -> None:
    assert target.met(small), [m for m in small.misses if m.measure == target.measure]


def test_the_table_has_a_row_for_each_measure(small: Score) -> None:
    lines = rows({SESSIONS: small})
    assert [target.measure for target in TARGETS] == [line[:44].strip() for line in lines[1 : len(TARGETS) + 1]]
