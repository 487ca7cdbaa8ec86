"""Which statements are put beside each other for a model: those that are alike, found without comparing each with each."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from pipelines.model import Witnessed
from pipelines.stages import pairs
from pipelines.stages.pairs import open_pairs
from pipelines.text.words import content_words
from tests.unit.notes.heard import heard

WORDS = ("port", "server", "backup", "amber", "cobalt", "violet", "granite", "marble", "copper", "silver")
SUBJECTS = ("user", "payments", "harbor")
SAYING = st.tuples(st.sampled_from(SUBJECTS), st.lists(st.sampled_from(WORDS), min_size=1, max_size=9, unique=True).map(" ".join))


def told(subject: str, text: str, n: int) -> Witnessed:
    """The n-th thing said, in a turn of its own."""
    return heard(None, at=float(n), ordinal=n, subject=subject, attribute="", statement=text, cardinality="set")


def alike(one: tuple[str, str], two: tuple[str, str]) -> bool:
    """The rule itself: two words and a third of all in common, or a word beside one particular subject."""
    a, b = (set(content_words(" ".join(said))) for said in (one, two))
    return (len(a & b) >= 2 and len(a & b) / len(a | b) >= 0.34) or (one[0] == two[0] != "user" and bool(a & b - {one[0], one[0].rstrip("s")}))


@given(st.lists(SAYING, min_size=2, max_size=14, unique=True))
def test_every_statement_that_is_alike_to_another_is_found(said: list[tuple[str, str]]) -> None:
    spoken = pairs._spoken([told(subject, text, n) for n, (subject, text) in enumerate(said)])
    likely = pairs._Likely(spoken)
    of = {uid: (one.witness.claim.subject, one.witness.claim.statement) for uid, one in spoken.items()}
    for one, two in product(spoken, spoken):
        assert one == two or not alike(of[one], of[two]) or two in likely.to(one)


def test_a_word_that_all_statements_share_puts_none_beside_another() -> None:
    said = [told("user", f"{one} {two}", n) for n, (one, two) in enumerate(zip(WORDS[::2], WORDS[1::2], strict=True))]
    likely = pairs._Likely(spoken := pairs._spoken(said))
    assert {uid: likely.to(uid) for uid in spoken} == dict.fromkeys(spoken, frozenset())


def test_the_likest_two_that_may_be_related_are_asked_about() -> None:
    texts = ("amber cobalt violet granite", "amber cobalt violet marble", "amber cobalt violet port copper", "amber cobalt violet port copper backup")
    said = [told("harbor", text, n) for n, text in enumerate(texts)]
    found = {(p.older.claim.statement, p.newer.claim.statement) for p in open_pairs(said[:1], said, {}, frozenset())}
    assert found == {(texts[0], texts[1]), (texts[0], texts[2])}
