"""Beliefs are a function of what was heard, not of the order in which it arrived."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.model import Kind, Origin, Outcome, Ruling, Status, Witnessed
from pipelines.notes.beliefs import believe
from pipelines.notes.identity import block_keys, components, identity_of, linked, unique
from tests.unit.notes.heard import day, heard, ruling

MINUTE = 1 / 24 / 60
TIMES = st.sampled_from([None, 0.0, 0.0, MINUTE, 5 * MINUTE, 0.5, 3.0, 3.0, 40.0, 9000.0])
SESSIONS = st.sampled_from(["s1", "s2", "s3"])
ORIGINS = st.sampled_from([Origin.USER, Origin.USER, Origin.TOOL, Origin.EXTERNAL, Origin.ASSISTANT])
# A chain of near-duplicates: neighbours are one rule, the ends of the chain differ by a number or a denial.
CHAIN = [
    "Keep answers short.",
    "Please keep your replies brief.",
    "Keep replies short",
    "Always keep answers short",
    "Keep answers under 5 lines.",
    "Never keep answers short.",
]


def slots() -> st.SearchStrategy[Witnessed]:
    return st.builds(
        lambda value, at, session, ordinal, origin, speaker, negated, old, checked, qualifier: heard(
            value, at=at, session=session, ordinal=ordinal, origin=origin, speaker=speaker, negated=negated, subject="api", attribute="port", old_value=old,
            verified_by="exit_status" if checked and origin is Origin.TOOL else None, qualifier=qualifier,
        ),
        st.sampled_from(["30", "45", "90"]), TIMES, SESSIONS, st.integers(0, 3), ORIGINS, st.sampled_from([None, "Ana", "Lee"]),
        st.sampled_from([False, False, False, True]), st.sampled_from([None, None, "30", "45"]), st.booleans(), st.sampled_from(["", "", "staging"]),
    )  # fmt: skip


def members() -> st.SearchStrategy[Witnessed]:
    return st.builds(
        lambda value, at, session, negated, old: heard(
            value, at=at, session=session, negated=negated, subject="project", attribute="use", cardinality="set", old_value=old,
            statement=f"We {'no longer ' if negated else ''}use {value}" + (f" instead of {old}" if old else ""),
        ),
        st.sampled_from(["npm", "pnpm", "yarn"]), TIMES, SESSIONS, st.booleans(), st.sampled_from([None, "npm"]),
    )  # fmt: skip


def rules() -> st.SearchStrategy[Witnessed]:
    return st.builds(
        lambda text, at, session, mark: heard(
            None, at=at, session=session, subject="answers", attribute=text, statement=text, kind=Kind.RULE, mark=mark, negated=text.startswith("Never")
        ),
        st.sampled_from(CHAIN), TIMES, SESSIONS, st.booleans(),
    )  # fmt: skip


CLAIMS = st.lists(st.one_of(slots(), members(), rules()), min_size=1, max_size=9)
TARGETS = st.integers(0, 20)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Witnessed], list[Ruling]]:
    claims = draw(CLAIMS)
    notes = sorted({identity_of("user", w.claim).uid for w in claims})
    verbs = draw(st.lists(st.sampled_from(["retract", "reject", "approve", "keep", "edit", "merge", "unmerge", "ban", "lift"]), max_size=3))
    rulings = []
    for number, verb in enumerate(verbs):
        target = notes[draw(TARGETS) % len(notes)]
        other = notes[draw(TARGETS) % len(notes)] if verb in {"merge", "unmerge", "ban"} else None
        at = draw(st.sampled_from([None, 1.0, 50.0]))
        rulings.append(ruling(verb, "r0" if verb == "lift" else target, other, body="The port is 60" if verb == "edit" else None, at=at, uid=f"r{number}"))
    return claims, rulings


@given(worlds(), st.randoms(use_true_random=False))
def test_beliefs_do_not_depend_on_the_order_of_arrival(world: tuple[list[Witnessed], list[Ruling]], shuffle) -> None:  # type: ignore[no-untyped-def]
    claims, rulings = world
    expected = believe("user", claims, rulings, skew_s=120, intake_at=day(100))
    again, decided = [*claims, *claims[:2]], list(rulings)
    shuffle.shuffle(again)
    shuffle.shuffle(decided)
    assert believe("user", again, decided, skew_s=120, intake_at=day(100)) == expected


@given(CLAIMS)
def test_every_claim_that_passed_stands_in_exactly_one_note_and_slots_are_unique(claims: list[Witnessed]) -> None:
    versions = believe("user", claims, skew_s=120, intake_at=day(100))
    assert {uid for v in versions for uid in v.claims} == {w.uid for w in claims}
    notes = {(uid, v.note) for v in versions for uid in v.claims}
    assert len(notes) == len({uid for uid, _ in notes})
    assert max(Counter((v.note, v.slot) for v in versions).values()) == 1


@given(st.lists(slots(), min_size=1, max_size=9))
def test_a_single_valued_note_never_confirms_two_values(claims: list[Witnessed]) -> None:
    versions = believe("user", claims, skew_s=120, intake_at=day(100))
    confirmed = Counter(v.note for v in versions if v.status is Status.CONFIRMED and not v.statement.count(" not "))
    assert all(count == 1 for count in confirmed.values())


@given(st.lists(slots(), min_size=1, max_size=7))
def test_what_the_assistant_infers_confirms_and_ends_nothing(claims: list[Witnessed]) -> None:
    claims = list(unique(claims))
    sound = [w for w in claims if w.origin is not Origin.ASSISTANT]
    inferred = {w.uid for w in claims} - {w.uid for w in sound}
    versions = believe("user", claims, skew_s=120, intake_at=day(100))
    assert not any(v.status in {Status.CONFIRMED, Status.DISPUTED} and set(v.claims) <= inferred for v in versions)
    assert not any(v.ended_by in inferred and not set(v.claims) <= inferred and "told" not in v.slot for v in versions)


@given(st.lists(rules(), min_size=2, max_size=6))
def test_components_are_the_same_for_every_permutation_of_a_near_duplicate_chain(claims: list[Witnessed]) -> None:
    expected = components(claims)
    for some in list(permutations(claims))[::17]:
        assert components(some) == expected
    for part in expected:
        assert len({w.claim.negated for w in part}) == 1
        assert len({"5" in w.claim.statement for w in part}) == 1


@given(CLAIMS, st.integers(0, 8))
def test_the_claims_linked_to_one_decide_its_note_as_all_of_them_do(claims: list[Witnessed], index: int) -> None:
    claims = list(unique(claims))
    seed = claims[index % len(claims)]
    near = linked([seed], lambda keys: [w for w in claims if block_keys(w.claim) & keys])
    every = {v for v in believe("user", claims, skew_s=120, intake_at=day(100)) if seed.uid in v.claims}
    some = {v for v in believe("user", near, skew_s=120, intake_at=day(100)) if seed.uid in v.claims}
    assert some == every


@given(CLAIMS)
def test_copies_in_a_fork_add_no_witness(claims: list[Witnessed]) -> None:
    copies = [replace(w, order=replace(w.order, session=f"{w.order.session}-fork")) for w in claims]
    both = believe("user", [*claims, *copies], skew_s=120, intake_at=day(100))
    assert [(v.note, v.slot, v.status, v.roots) for v in both] == [
        (v.note, v.slot, v.status, v.roots) for v in believe("user", claims, skew_s=120, intake_at=day(100))
    ]
    assert len(unique([*claims, *copies])) == len({w.uid for w in claims})


@given(CLAIMS)
def test_what_the_gates_refused_changes_nothing(claims: list[Witnessed]) -> None:
    refused = [replace(w, uid=f"{w.uid}-x", outcome=Outcome.QUARANTINE, standing=w.standing) for w in claims]
    assert believe("user", [*claims, *refused], skew_s=120, intake_at=None) == believe("user", claims, skew_s=120, intake_at=None)
