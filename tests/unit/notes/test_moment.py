"""What of a version held at a moment, and that no decision of later makes evidence younger."""

from __future__ import annotations

from pipelines.notes.beliefs import believe
from pipelines.notes.identity import identity_of
from pipelines.notes.moment import true_at
from tests.unit.notes.heard import day, heard, ruling


def test_a_merge_refreshes_no_date() -> None:
    one = heard("5433", at=1, session="s1", subject="payments", attribute="port")
    two = heard("5433", at=9, session="s2", subject="billing", attribute="port")
    names = [identity_of("user", w.claim).uid for w in (one, two)]
    assert names[0] != names[1]
    (merged,) = believe("user", [one, two], [ruling("merge", names[0], names[1], at=50)], skew_s=120, intake_at=day(100))
    assert set(merged.claims) == {one.uid, two.uid}
    assert (merged.valid_from, merged.oldest_evidence, merged.newest_evidence) == (day(1), day(1), day(9))


def test_a_superseded_value_is_true_from_its_beginning_up_to_its_end() -> None:
    old, new = heard("30", at=1, session="s1"), heard("90", at=9, session="s2")
    versions = believe("user", [new, old], skew_s=120, intake_at=day(100))
    told = {n: [v.value for v in versions if true_at(v, day(n))] for n in (0, 1, 5, 9, 20)}
    assert told == {0: [], 1: ["30"], 5: ["30"], 9: ["90"], 20: ["90"]}


def test_of_two_values_nobody_can_order_neither_is_known_to_have_ended() -> None:
    one, two = heard("30", at=1, session="s1", speaker="Ana"), heard("90", at=9, session="s2", speaker="Lee")
    versions = believe("user", [one, two], skew_s=120, intake_at=day(100))
    assert {v.value: v.status.value for v in versions if true_at(v, day(20))} == {"30": "disputed", "90": "disputed"}
