"""What every database behind the store promises of dreams, beliefs and pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipelines.errors import Conflict, Refused
from pipelines.model import Finding, Quote, Status, Verdict, digest
from pipelines.store import Applied, Decision, Delivery, Dream, FindingChange, Placement, Reader, Store, this_process
from tests.contracts.store_builders import DAY, SCOPE, belief, start_dream, version
from tests.contracts.store_kinds import Clock, Killed, clock, killed_at, store

__all__ = ["clock", "store"]  # fixtures of this suite

EVERYBODY = Reader(now=DAY)


def start(store: Store, scope: str = SCOPE) -> Dream:
    return start_dream(store, scope, cause="hand", holder=this_process(), params={"since": "日"})


def dream_of(store: Store, *notes: str, statement: str = "the port is 5433", max_share: float = 1.0, **more: object) -> Applied:
    """One whole dream that makes each note say the statement."""
    dream = start(store)
    changes = [belief(note, version(note, statement, **more)) for note in notes]  # type: ignore[arg-type]
    store.stage(dream, changes, tokens(store, *notes))
    applied = store.apply(dream, max_share=max_share)
    store.finish_dream(dream, "held" if applied.held else "completed")
    return applied


def tokens(store: Store, *notes: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {note: [] for note in notes}
    for head in store.heads(SCOPE, notes=notes):
        found[head.version.note].append(head.token)
    return found


def said(store: Store) -> dict[tuple[str, str], tuple[str, str]]:
    return {(h.version.note, h.version.slot): (h.version.statement, h.version.status.value) for h in store.heads(SCOPE)}


# --- staged, then applied once -----------------------------------------------------------------------------------------------------------


def test_nothing_is_believed_before_the_apply_and_everything_after_it(store: Store) -> None:
    dream = start(store)
    full = version("n1", "端口是 5433", value="5433", valid_from=DAY, valid_until=DAY + timedelta(days=9), verified_by="exit_status", applies_to="app 1.3",
                   reason="moved", ended_by="c9", missed="said_once", roots=3, agent="codex", claims=("c1", "c2"))  # fmt: skip
    store.stage(dream, [belief("n1", full)], {"n1": ()})
    assert (store.heads(SCOPE), store.revision(SCOPE)) == ((), 0)
    assert store.apply(dream, max_share=0.3) == Applied(revision=1, inserted=1)
    head = store.heads(SCOPE)[0]
    assert (head.version, head.rev, head.recorded_at, head.verified_at) == (full, 1, DAY, DAY)
    assert store.finish_dream(dream, "completed", summary={"notes": 1}).summary == {"notes": 1}
    assert [(r.rev, r.cause, r.dream) for r in store.revisions(SCOPE)] == [(1, "hand", dream.uid)]


def test_the_same_belief_again_is_no_revision_no_row_and_no_decision(store: Store) -> None:
    dream_of(store, "n1")
    again = dream_of(store, "n1")
    assert again == Applied(revision=1, inserted=0)
    assert len(store.decisions(SCOPE)) == 1
    assert [d.applied_rev for d in store.dreams(SCOPE)] == [None, 1]


def test_a_changed_belief_replaces_and_a_slot_no_longer_wanted_is_closed(store: Store) -> None:
    dream = start(store)
    store.stage(dream, [belief("n1", version("n1", "30 days", slot="a"), version("n1", "90 days", slot="b", status=Status.DRAFT))], {"n1": ()})
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")
    dream_of(store, "n1", statement="45 days")
    assert said(store) == {("n1", "a"): ("45 days", "confirmed")}
    assert [(h.rev, h.version.slot, h.version.status, h.version.reason) for h in store.history(SCOPE, ["n1"])] == [
        (1, "a", "confirmed", None), (1, "b", "draft", None), (2, "a", "confirmed", None), (2, "b", "retracted", "recomputed"),
    ]  # fmt: skip
    dream = start(store)
    store.stage(dream, [belief("n1", version("n1", "45 days"), version("n1", "90 days", slot="b"))], tokens(store, "n1"))
    store.apply(dream, max_share=1)
    assert said(store) == {("n1", "a"): ("45 days", "confirmed"), ("n1", "b"): ("90 days", "confirmed")}, "a slot can come back"


def test_what_was_believed_at_a_revision_stays_known(store: Store, clock: Clock) -> None:
    dream_of(store, "n1", statement="30 days")
    clock.at += timedelta(hours=1)
    dream_of(store, "n1", statement="90 days")
    clock.at += timedelta(hours=1)
    dream_of(store, "n1", "n2", statement="30 days")
    assert [[h.version.statement for h in store.believed(SCOPE, rev)] for rev in range(4)] == [[], ["30 days"], ["90 days"], ["30 days"] * 2]
    assert store.believed(SCOPE, 3, notes=["n2"]) == store.heads(SCOPE, notes=["n2"])


def test_record_time_never_runs_backwards(store: Store, clock: Clock) -> None:
    dream_of(store, "n1")
    clock.at -= timedelta(hours=1)
    dream_of(store, "n2")
    assert [r.recorded_at for r in store.revisions(SCOPE)] == [DAY, DAY]


def test_an_apply_against_moved_heads_is_refused_whole_and_names_them(store: Store) -> None:
    dream_of(store, "n1", "n2")
    planned = start(store)
    store.stage(planned, [belief("n2", version("n2", "late")), belief("n3", version("n3", "new"))], {**tokens(store, "n1", "n2"), "n3": ()})
    store.finish_dream(planned, "planned")
    dream_of(store, "n1", statement="moved")
    before = said(store)
    with pytest.raises(Conflict, match="n1"):
        store.apply(planned, max_share=1)
    assert said(store) == before


def test_two_dreams_that_both_found_a_note_absent_do_not_both_make_it(store: Store) -> None:
    one = start(store)
    store.stage(one, [belief("n1", version("n1", "one"))], {"n1": ()})
    store.finish_dream(one, "planned")
    dream_of(store, "n1", statement="two")
    with pytest.raises(Conflict):
        store.apply(one, max_share=1)
    assert said(store) == {("n1", "a"): ("two", "confirmed")}


def test_a_planned_dream_can_be_applied_later(store: Store) -> None:
    dream = start(store)
    change = belief("n1", version())
    store.stage(dream, [change], {"n1": ()})
    store.finish_dream(dream, "planned")
    assert store.planned(dream) == (change,)
    dream_of(store, "n2")
    assert store.apply(store.dream(SCOPE, dream.uid), max_share=0.3).revision == 2
    assert store.planned(dream) == ()


def test_a_unit_planned_again_replaces_what_it_staged(store: Store) -> None:
    dream = start(store)
    store.stage(dream, [belief("n1", version("n1", "first"))], {"n1": ()})
    store.stage(dream, [belief("n1", version("n1", "second"))], {"n1": ()})
    store.apply(dream, max_share=1)
    assert said(store) == {("n1", "a"): ("second", "confirmed")}


def test_a_change_must_say_what_it_was_planned_against(store: Store) -> None:
    with pytest.raises(ValueError, match="n1"):
        store.stage(start(store), [belief("n1", version())], {})


# --- the guard ---------------------------------------------------------------------------------------------------------------------------


def test_a_dream_that_would_change_too_much_is_held_in_that_part_until_a_person_applies_it(store: Store) -> None:
    old = [f"n{i:02}" for i in range(20)]
    dream_of(store, *old)
    dream = start(store)
    changes = [belief(note, version(note, "lost", status=Status.EXPIRED)) for note in old[:12]] + [belief("new", version("new", "learnt"))]
    store.stage(dream, changes, {**tokens(store, *old), "new": ()})
    assert store.apply(dream, max_share=0.5) == Applied(revision=2, inserted=1, held=tuple(old[:12]))
    assert {status for _, status in said(store).values()} == {"confirmed"}
    held = store.finish_dream(dream, "held")
    assert [c.note for c in store.planned(held)] == old[:12]
    dream_of(store, "other")
    assert store.apply(held, max_share=1.0) == Applied(revision=4, inserted=12)
    assert [said(store)[note, "a"] for note in old[:12]] == [("lost", "expired")] * 12
    assert store.finish_dream(held, "completed").state == "completed"


def test_a_newer_plan_of_a_note_takes_the_place_of_older_ones_that_wait(store: Store) -> None:
    dream_of(store, *(f"n{i}" for i in range(8)))
    waiting = []
    for statement, notes in (("first", range(8)), ("second", range(6))):
        dream = start(store)
        told = [f"n{i}" for i in notes]
        store.stage(dream, [belief(note, version(note, statement)) for note in told], tokens(store, *told))
        assert len(store.apply(dream, max_share=0.1).held) == len(told)
        waiting.append(store.finish_dream(dream, "held"))
    assert [[c.note for c in store.planned(dream)] for dream in waiting] == [["n6", "n7"], [f"n{i}" for i in range(6)]]
    assert store.apply(waiting[0], max_share=1.0).inserted == 2
    assert store.apply(waiting[1], max_share=1.0).inserted == 6
    assert [said(store)[f"n{i}", "a"][0] for i in range(8)] == ["second"] * 6 + ["first"] * 2


def test_new_evidence_for_what_stands_trips_no_guard(store: Store) -> None:
    notes = [f"n{i:02}" for i in range(20)]
    dream_of(store, *notes)
    assert dream_of(store, *notes, claims=("c1", "c2"), max_share=0.1).held == ()


@pytest.mark.parametrize(("changed", "held"), [(5, 0), (6, 6)])
def test_a_small_scope_may_change_up_to_the_floor(store: Store, changed: int, held: int) -> None:
    notes = [f"n{i}" for i in range(8)]
    dream_of(store, *notes)
    assert len(dream_of(store, *notes[:changed], statement="other", max_share=0.1).held) == held


def test_closing_a_confirmed_note_counts_for_the_guard(store: Store) -> None:
    notes = [f"n{i}" for i in range(8)]
    dream_of(store, *notes)
    dream = start(store)
    store.stage(dream, [belief(note, verb="merge_into") for note in notes], tokens(store, *notes))
    assert len(store.apply(dream, max_share=0.5).held) == 8


# --- one dream a scope -------------------------------------------------------------------------------------------------------------------


def test_a_planned_dream_does_not_occupy_its_scope(store: Store) -> None:
    store.finish_dream(start(store), "planned")
    assert start(store).state == "running"


def test_a_dream_that_is_canceled_leaves_nothing_and_one_that_was_applied_has_nothing_left(store: Store) -> None:
    dream = start(store)
    store.stage(dream, [belief("n1", version())], {"n1": ()})
    assert store.finish_dream(dream, "canceled").state == "canceled"
    assert store.planned(dream) == ()
    dream = start(store)
    store.stage(dream, [belief("n1", version())], {"n1": ()})
    store.apply(dream, max_share=1)
    with pytest.raises(Refused, match="nothing left"):
        store.apply(dream, max_share=1)


# --- killed between any two statements -----------------------------------------------------------------------------------------------------


def test_an_apply_that_dies_between_any_two_statements_leaves_the_old_beliefs_and_can_be_repeated(store: Store) -> None:
    dream_of(store, "n1", "n2")
    finding = FindingChange(finding=Finding(note="o1", verdict=Verdict.UPHELD, why="said"), decisions=(Decision(stage="analyzer", verb="uphold", reason="x"),))
    before = (said(store), store.revision(SCOPE), store.decisions(SCOPE))
    dream = start(store)
    changes = [belief("n1", version("n1", "new")), belief("n2", verb="retract"), belief("n3", version("n3")), finding]
    store.stage(dream, changes, {**tokens(store, "n1", "n2"), "n3": ()})
    deaths = 0
    while True:
        with killed_at(store.engines.write, deaths) as ran:
            try:
                store.apply(dream, max_share=1)
            except Killed:
                assert (said(store), store.revision(SCOPE), store.decisions(SCOPE), store.findings(SCOPE)) == (*before, {})
                assert len(store.planned(dream)) == 4
                deaths += 1
                continue
        break
    assert deaths == len(ran) > 15
    assert said(store) == {("n1", "a"): ("new", "confirmed"), ("n3", "a"): ("the port is 5433", "confirmed")}
    assert store.findings(SCOPE) == {"o1": finding.finding}
    assert len(store.decisions(SCOPE)) == 2 + 4


# --- findings, decisions, expiry -----------------------------------------------------------------------------------------------------------


def test_a_finding_replaces_the_last_word_on_its_note(store: Store) -> None:
    first = Finding(note="o1", verdict=Verdict.UPHELD, why="said", quotes=(Quote(turn="t1", start=0, end=3, text="the"),), version="n1/a")
    second = replace(first, verdict=Verdict.CORRECTED, why="later_turn", corrected="port 5433", other="o2")
    why = (Decision(stage="analyzer", verb="correct", reason="later_turn", refs=("t1",), note="o1", engine="local/1", cost_micros=5),)
    for finding, rows in ((first, 1), (first, 0), (second, 1)):
        dream = start(store)
        store.stage(dream, [FindingChange(finding=finding, decisions=why)], {})
        assert store.apply(dream, max_share=0.1).inserted == rows
        store.finish_dream(dream, "completed")
    assert store.findings(SCOPE) == {"o1": second}
    recorded = store.decisions(SCOPE, note="o1")
    assert [(r.decision, r.rev) for r in recorded] == [(why[0], 1), (why[0], 2)]
    assert store.decisions(SCOPE, dream=recorded[1].dream) == recorded[1:]
    assert store.decisions(SCOPE, rev=1) == recorded[:1]


def test_validity_ends_without_an_engine_and_the_next_dream_leaves_it_so(store: Store) -> None:
    ends = DAY + timedelta(days=1)
    dream_of(store, "n1", valid_until=ends)
    dream_of(store, "n2", valid_until=ends + timedelta(days=1))
    assert store.next_expiry(SCOPE) == ends
    assert store.expire(SCOPE, ends - timedelta(seconds=1)) == ()
    assert store.expire(SCOPE, ends) == ("n1",)
    assert store.expire(SCOPE, ends) == ()
    assert [(h.version.note, h.version.status) for h in store.heads(SCOPE)] == [("n1", "expired"), ("n2", "confirmed")]
    assert store.revisions(SCOPE)[-1].cause == "expiry"
    assert [d.decision.verb for d in store.decisions(SCOPE, rev=3)] == ["expire"]
    assert dream_of(store, "n1", valid_until=ends).inserted == 0
    assert dream_of(store, "n1", valid_until=ends + timedelta(days=5)).inserted == 1
    assert store.next_expiry(SCOPE) == ends + timedelta(days=1)


def test_heads_are_found_by_note_status_and_subject(store: Store) -> None:
    dream_of(store, "n1")
    dream_of(store, "n2", subject="主机", status=Status.QUARANTINED)
    assert [h.version.note for h in store.heads(SCOPE, subjects=["主机", "none"])] == ["n2"]
    assert [h.version.note for h in store.heads(SCOPE, statuses=[Status.CONFIRMED])] == ["n1"]
    assert [h.version.note for h in store.heads(SCOPE, notes=["n1"], subjects=["payments", "主机"])] == ["n1"]
    assert [h.version.note for h in store.heads(SCOPE, limit=1)] == ["n1"]
    assert store.heads("acme/web/lee") == ()


# --- what may be seen ----------------------------------------------------------------------------------------------------------------------


def test_a_reader_sees_only_what_is_for_it_and_still_valid(store: Store) -> None:
    dream_of(store, "all")
    dream_of(store, "short", valid_until=DAY + timedelta(hours=1))
    dream_of(store, "ana", audience="ana")
    dream_of(store, "salary", sensitivity="sensitive")
    dream_of(store, "poison", status=Status.QUARANTINED)
    dream_of(store, "wrong", status=Status.RETRACTED)
    dream_of(store, "old", status=Status.SUPERSEDED, valid_until=DAY)

    def names(reader: Reader, **more: object) -> list[str]:
        return [h.version.note for h in store.seen(SCOPE, reader, **more)]  # type: ignore[arg-type]

    assert names(EVERYBODY) == ["all", "short"]
    assert names(replace(EVERYBODY, now=DAY + timedelta(hours=1))) == ["all"]
    assert names(replace(EVERYBODY, audience="ana", sensitive=True)) == ["all", "ana", "salary", "short"]
    assert names(EVERYBODY, statuses=list(Status)) == ["all", "old", "short"], "not even asked for by status"
    assert names(EVERYBODY, notes=["short", "poison"]) == ["short"]
    assert store.seen("acme/web/lee", EVERYBODY) == ()


# --- pages -----------------------------------------------------------------------------------------------------------------------------------


def commit(store: Store, page: str = "p1", slug: str = "payments", body: str = "# Payments\n", rev: int = 1, macs: tuple[str, ...] = ()) -> int:
    return store.commit_page(SCOPE, page, slug=slug, title=slug.title(), body=body, rev=rev, renderer="r1", line_macs=macs).seq


def test_a_page_moves_only_to_a_higher_revision(store: Store) -> None:
    assert [commit(store), commit(store), commit(store, body="v2", rev=3)] == [1, 1, 2]
    for rev in (1, 2, 3):
        with pytest.raises(Conflict, match="revision 3"):
            commit(store, body="late", rev=rev)
    head = store.pages(SCOPE)["p1"]
    assert (head.slug, head.title, head.seq, head.rev, head.body, head.digest) == ("payments", "Payments", 2, 3, "v2", digest("v2"))
    assert [h.body for h in store.page_history(SCOPE, "payments")] == ["# Payments\n", "v2"]


@pytest.mark.parametrize("clash", ["PAYMENTS", "payments"])
def test_two_live_pages_never_share_a_name_on_disk(store: Store, clash: str) -> None:
    commit(store)
    with pytest.raises(Conflict, match="p1 has the name"):
        commit(store, "p2", slug=clash)
    assert list(store.pages(SCOPE)) == ["p1"]
    commit(store, "p3", slug="strasse")
    with pytest.raises(Conflict):
        commit(store, "p4", slug="straße")
    commit(store, "p5", slug="cafe\u0301")
    with pytest.raises(Conflict):
        commit(store, "p6", slug="café")


def test_a_renamed_page_leaves_a_redirect_that_a_new_page_of_that_name_ends(store: Store) -> None:
    commit(store)
    commit(store, slug="payments-db", rev=2)
    assert {slug: r.page for slug, r in store.redirects(SCOPE).items()} == {"payments": "p1"}
    commit(store, "p2", rev=3)
    assert store.redirects(SCOPE) == {}
    assert [h.uid for h in store.page_history(SCOPE, "payments")] == ["p1", "p1", "p2"]
    commit(store, slug="payments-db2", rev=4)
    commit(store, slug="payments-db", rev=5)
    assert {slug: r.page for slug, r in store.redirects(SCOPE).items()} == {"payments-db2": "p1"}, "a name taken back is no loop"


def test_a_page_joined_into_another_redirects_there_in_one_hop(store: Store) -> None:
    commit(store)
    commit(store, slug="payments-db", rev=2)
    commit(store, "p2", slug="databases", rev=2)
    store.retire_page(SCOPE, "p1", rev=3, into="p2")
    assert {slug: r.page for slug, r in store.redirects(SCOPE).items()} == {"payments": "p2", "payments-db": "p2"}
    assert list(store.pages(SCOPE)) == ["p2"]
    store.retire_page(SCOPE, "p2", rev=3)
    assert (store.redirects(SCOPE), store.pages(SCOPE)) == ({}, {})
    assert commit(store, "p9", slug="databases", rev=4) == 1
    assert commit(store, rev=5) == 3, "a page can come back"


def test_our_own_pages_and_lines_are_known_again(store: Store) -> None:
    mine, other = store.mac("- The port is 5433."), store.mac("- Somebody else's line.")
    commit(store, body="v1", macs=(mine,))
    commit(store, body="v2", rev=2, macs=(mine,))
    assert (store.is_ours(SCOPE, digest("v1")), store.is_ours(SCOPE, digest("v3"))) == (True, False)
    assert store.are_our_lines(SCOPE, [mine, other]) == {mine}
    assert store.are_our_lines("acme/web/lee", [mine]) == frozenset()


def test_placements_follow_the_revisions(store: Store) -> None:
    here = [Placement(note="n1", page="p1", section="Facts"), Placement(note="n2", page="p1", section="Rules"), Placement(note="n3", page=None, section="")]
    assert store.save_placements(SCOPE, 1, here) == 2
    assert store.save_placements(SCOPE, 2, here) == 0
    assert store.save_placements(SCOPE, 3, [Placement(note="n1", page="p2", section="Facts"), Placement(note="n2", page=None, section="")]) == 2
    assert store.placements(SCOPE) == {"n1": Placement(note="n1", page="p2", section="Facts", rev=3)}


def test_deliveries_and_wikis_are_remembered(store: Store, clock: Clock) -> None:
    told = Delivery(session="s1", door="hook", target="brief", rev=3, versions=("n1/a",), at=DAY, agent="claude", audience="ana")
    store.record_delivery(SCOPE, told)
    assert store.deliveries(SCOPE) == store.deliveries(SCOPE, session="s1") == (told,)
    assert store.deliveries(SCOPE, session="s2") == ()
    assert store.wiki("m") is None
    store.save_wiki(SCOPE, marker="m", host="laptop", shown_rev=1)
    clock.at += timedelta(days=1)
    state = store.save_wiki(SCOPE, marker="m", host="laptop", shown_rev=2)
    assert store.wiki("m") == state
    assert (state.scope, state.epoch, state.shown_rev, state.seen_at) == (SCOPE, store.epoch, 2, DAY + timedelta(days=1))


def test_a_revision_can_be_raised_without_a_change_of_beliefs(store: Store) -> None:
    assert [store.raise_revision(SCOPE, cause="renderer", above=0), store.raise_revision(SCOPE, cause="edit", hand="person", above=1)] == [1, 2]
    with pytest.raises(Conflict, match="stands at revision 2"):
        store.raise_revision(SCOPE, cause="renderer", above=1)
    assert [r.hand for r in store.revisions(SCOPE)] == ["dreamd", "person"]
