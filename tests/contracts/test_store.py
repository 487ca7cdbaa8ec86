"""What every database behind the store promises: one suite, run against each of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipelines.errors import Conflict, Permanent, Refused
from pipelines.model import BadSpan, Basis, Call, Event, OrderKey, Origin, Outcome, Place, Question, Quote, Relation, Result, Role, Ruling, SessionInfo
from pipelines.ports import Seen, Segment
from pipelines.store import ClaimRelation, Store, this_process
from tests.contracts.store_builders import DAY, SCOPE, batch, claim, gated, online, source, start_dream, turn
from tests.contracts.store_kinds import clock, store

__all__ = ["clock", "store"]  # fixtures of this suite

# --- intake ------------------------------------------------------------------------------------------------------------------------------


def test_a_turn_comes_back_as_it_went_in(store: Store) -> None:
    full = turn(
        "t1", "支付端口是 5433\nüber\t'quoted' \"too\"", role=Role.ASSISTANT, origin=Origin.EXTERNAL, zone="+08:00", speaker="Lee", parent="t0", sidechain=True,
        memory=True, corrects="call-1", quoted=((1, 3), (5, 9)), flagged=True, call=Call(call_id="c", name="Bash", arguments={"command": "ls", "n": 2**70}),
        result=Result(call_id="c", exit=3, failed=True), event=Event(topic="db", value="up", status="verified", producer="cron"),
    )  # fmt: skip
    plain = turn("t2", "", ordinal=1, at=None)
    store.commit_intake(SCOPE, batch(full, plain))
    assert store.turns_of(SCOPE, "s1") == (full, plain)
    assert store.turns(SCOPE, ["t2", "t1", "missing"]) == {"t1": full, "t2": plain}


def test_text_no_database_takes_is_stored_with_its_offsets_kept(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1", "a\0b\ud800c", snap="1")))
    assert store.turns_of(SCOPE, "s1")[0].text == "a\ufffdb\ufffdc"


def test_an_id_no_database_takes_is_a_typed_refusal(store: Store) -> None:
    with pytest.raises(Permanent, match="no text a database takes"):
        store.commit_intake(SCOPE, batch(turn("t\ud800")))
    assert store.source(SCOPE, "log-a") is None


def test_the_cursor_moves_with_the_turns_it_stands_for(store: Store) -> None:
    assert store.source(SCOPE, "log-a") is None
    assert store.commit_intake(SCOPE, batch(turn("t1"))).new_turns == 1
    assert store.source(SCOPE, "log-a") == source()
    grown = source(offset=2000, line=20, pending=5)
    store.commit_intake(SCOPE, batch(turn("t2", ordinal=1), after=grown, expected=(0, 1000)))
    assert store.source(SCOPE, "log-a") == grown
    assert [t.uid for t in store.turns_of(SCOPE, "s1")] == ["t1", "t2"]


@pytest.mark.parametrize("expected", [None, (0, 999), (1, 1000)])
def test_a_read_from_an_older_cursor_is_refused_whole(store: Store, expected: tuple[int, int] | None) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    with pytest.raises(Conflict, match=r"/logs/log-a\.jsonl"):
        store.commit_intake(SCOPE, batch(turn("t2", session="s9"), after=source(offset=2000), expected=expected))
    assert store.source(SCOPE, "log-a") == source()
    assert [s.uid for s in store.sessions(SCOPE)] == ["s1"]


def test_a_copy_of_a_log_adds_places_and_no_turns(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), turn("t2", ordinal=1)))
    copied = batch(turn("t1", session="s0"), turn("t2", session="s0", ordinal=1), turn("t3", session="s0", ordinal=2), after=source("log-b"))
    receipt = store.commit_intake(SCOPE, copied)
    assert (receipt.new_turns, receipt.known_turns, receipt.sessions) == (1, 2, ("s0",))
    assert store.counts(SCOPE).origins == {"user": 3}
    places = store.occurrences(SCOPE, ["t1"])["t1"]
    assert [(p.session, p.source, p.ordinal) for p in places] == [("s0", "log-b", 0), ("s1", "log-a", 0)]
    assert store.members(SCOPE) == {"s0": {"t1", "t2", "t3"}, "s1": {"t1", "t2"}}


def test_a_turn_is_cited_from_the_session_that_starts_first(store: Store) -> None:
    early = turn("t0", session="s9", at=DAY - timedelta(days=1))
    store.commit_intake(SCOPE, batch(turn("t1")))
    store.commit_intake(SCOPE, batch(early, turn("t1", session="s9", ordinal=1), after=source("log-b")))
    assert store.turns(SCOPE, ["t1"])["t1"].session == "s9"


def test_a_turn_is_cited_where_its_words_stand_and_not_where_another_log_says_something_else_under_its_uid(store: Store) -> None:
    early = turn("t0", session="s9", at=DAY - timedelta(days=1))
    store.commit_intake(SCOPE, batch(early, turn("t1", "the port is 5433", session="s9", ordinal=1), after=source("log-b")))
    store.commit_intake(SCOPE, batch(turn("t1", "the backups run at 04:20 and not before")))
    cited = store.turns(SCOPE, ["t1"])["t1"]
    assert (cited.session, cited.text) == ("s1", "the backups run at 04:20 and not before")
    assert [p.session for p in store.occurrences(SCOPE, ["t1"])["t1"]] == ["s1", "s9"]


def test_the_longest_snapshot_of_a_turn_counts_wherever_it_came_from(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1", "the port is 5433, and")))
    before = store.session_digest(SCOPE)["s1"]
    store.commit_intake(SCOPE, batch(turn("t1", "the port is 5433, and nothing else", session="s2"), after=source("log-b")))
    assert store.turns_of(SCOPE, "s1")[0].text == "the port is 5433, and nothing else"
    assert store.session_digest(SCOPE)["s1"] != before, "a session whose words changed must be read again"


def test_session_digests_depend_on_the_turns_and_not_on_how_they_came(store: Store) -> None:
    a, b, c = turn("t1"), turn("t2", ordinal=1), turn("t1", "the port is 5433 now", ordinal=0)
    store.commit_intake("one", batch(a, b))
    store.commit_intake("one", batch(c, after=source("log-b")))
    store.commit_intake("two", batch(c, after=source("log-b")))
    store.commit_intake("two", batch(b, after=source("log-c")))
    store.commit_intake("two", batch(a, after=source("log-a")))
    assert store.session_digest("one") == store.session_digest("two")
    assert store.turns_of("one", "s1") == store.turns_of("two", "s1")


def test_a_rewritten_source_shows_turns_where_they_stand_now(store: Store) -> None:
    first = turn("t1", ordinal=2, place=Place(line=3, offset=40, length=9))
    moved = replace(first, ordinal=5, place=Place(line=6, offset=500, length=9))
    store.commit_intake(SCOPE, batch(first))
    store.commit_intake(SCOPE, batch(moved, after=source(generation=1), expected=(0, 1000), rewritten=True))
    assert store.turns_of(SCOPE, "s1") == (moved,)
    assert store.turns(SCOPE, ["t1"]) == {"t1": moved}
    assert {p.generation for p in store.occurrences(SCOPE, ["t1"])["t1"]} == {0, 1}


def test_batches_committed_together_say_what_they_say_one_by_one(store: Store) -> None:
    shared, longer = turn("t1", "the port is 5433"), turn("t1", "the port is 5433, and nothing else", session="s2")
    own = turn("t2", "only here", session="s2", ordinal=1)
    batches = [batch(shared, after=source("log-a")), batch(longer, own, after=source("log-b")), batch(turn("t1", session="s3"), after=source("log-c"))]
    together = store.commit_batches("one", batches)
    single = [store.commit_intake("two", b) for b in batches]
    assert [(r.new_turns, r.known_turns, r.sessions) for r in together] == [(1, 0, ("s1",)), (2, 0, ("s2",)), (0, 1, ("s3",))]
    assert list(together) == single
    assert store.session_digest("one") == store.session_digest("two")
    assert [store.turns_of("one", s) for s in ("s1", "s2", "s3")] == [store.turns_of("two", s) for s in ("s1", "s2", "s3")]


def test_batches_are_committed_all_or_none(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    behind = batch(turn("t2", session="s9"), after=source(offset=2000), expected=(0, 999))
    with pytest.raises(Conflict):
        store.commit_batches(SCOPE, [batch(turn("t3"), after=source("log-b")), behind])
    assert (store.source(SCOPE, "log-b"), store.turns(SCOPE, ["t2", "t3"])) == (None, {})
    with pytest.raises(ValueError, match="one batch a source"):
        store.commit_batches(SCOPE, [batch(turn("t4")), batch(turn("t5"))])


def test_scopes_never_see_each_other(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    for other in ("acme/web/an", "acme/web/ana/x", "acme/web", "ACME/web/ana"):
        assert store.turns_of(other, "s1") == ()
        assert store.turns(other, ["t1"]) == {}
        assert store.seen_files(other) == {}
        assert store.counts(other).turns == 0


@pytest.mark.parametrize("bad", ["", "a//b", "../b", "a/..", "a/./b", "/a", "a/", "a\0b", "a/ b", "a\\b", "a\nb", "a\ud800"])
def test_a_scope_that_could_name_another_place_is_refused(store: Store, bad: str) -> None:
    with pytest.raises(Refused, match="scope"):
        store.touch(bad, [Seen(path="/x", size=1, mtime_ns=1, inode=1, identity="i")])


@pytest.mark.parametrize("name", ["/logs/a.jsonl", "/logs/\udcff\udcfe.jsonl", "/logs/日志.jsonl", "/logs/\x01.jsonl"])
def test_files_are_remembered_by_any_name(store: Store, name: str) -> None:
    seen = Seen(path=name, size=10, mtime_ns=1_700_000_000_000_000_001, inode=2**64 - 1, identity="i")
    store.touch(SCOPE, [seen])
    store.touch(SCOPE, [replace(seen, size=11)])
    assert store.seen_files(SCOPE) == {name: replace(seen, size=11)}


def test_counts_say_what_a_scope_holds(store: Store) -> None:
    bad = (BadSpan(place=Place(line=3, offset=300, length=7), reason="torn"),)
    segments = (Segment(offset=0, length=600, blob="b1", raw_mac="m"), Segment(offset=600, length=400, blob="b2", raw_mac="m"))
    tool = turn("t2", ordinal=1, origin=Origin.TOOL)
    store.commit_intake(SCOPE, batch(turn("t1"), tool, after=source(pending=12), bad=bad, segments=segments, redacted=2, mask_version="1"))
    counts = store.counts(SCOPE)
    assert counts.origins == {"tool": 1, "user": 1}
    assert (counts.sources, counts.sessions, counts.turns, counts.lines) == (1, 1, 2, 10)
    assert (counts.bad, counts.pending, counts.redacted, counts.archived) == (1, 12, 2, 1000)


def test_what_a_log_tells_of_a_session_is_completed_as_it_grows(store: Store) -> None:
    first = SessionInfo(uid="s1", format="claude", cwd="/srv/a", extra={"k": "1", "x": "y"})
    later = SessionInfo(uid="s1", format="claude", title="Fix the port", extra={"k": "2"})
    store.commit_intake(SCOPE, batch(sessions=(first,)))
    store.commit_intake(SCOPE, batch(after=source(offset=2000), expected=(0, 1000), sessions=(later,)))
    assert store.sessions(SCOPE) == (SessionInfo(uid="s1", format="claude", cwd="/srv/a", title="Fix the port", extra={"k": "2", "x": "y"}),)


def test_order_keys_are_kept_by_session_and_read_by_cited_session(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), turn("t2", ordinal=1)))
    store.commit_intake(SCOPE, batch(turn("t1", session="s2", ordinal=4), after=source("log-b")))
    mine = [OrderKey(known=True, at=DAY, session="s1", ordinal=i, uid=f"t{i + 1}", basis=Basis.STATED) for i in range(2)]
    copy = OrderKey(known=True, at=DAY, session="s2", ordinal=4, uid="t1", basis=Basis.STATED)
    store.save_order(SCOPE, [*mine, copy])
    assert store.order(SCOPE, ["t1", "t2", "t3"]) == {"t1": mine[0], "t2": mine[1]}
    unknown = replace(mine[0], known=False, at=None, basis=Basis.UNKNOWN)
    store.save_order(SCOPE, [unknown])
    assert store.order(SCOPE, ["t1", "t2"]) == {"t1": unknown}


def test_claims_whose_turns_are_ordered_otherwise_than_before_are_looked_at_again(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), turn("t2", ordinal=1), turn("t3", ordinal=2)))
    first, second, gone = claim(), claim("the host is db1", attribute="host", turn="t2"), claim("the owner is Lee", attribute="owner", turn="t2")
    read = [gated(first), gated(second, group="payments|host")]
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[*read, gated(gone, group="payments|owner")])
    store.save_reading(SCOPE, "s1", engine="local/2", digest="d", claims=read)
    keys = [OrderKey(known=True, at=DAY, session="s1", ordinal=i, uid=f"t{i + 1}", basis=Basis.STATED) for i in range(2)]
    store.save_order(SCOPE, keys)
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    assert store.freeze_dirty(dream) == {first.uid, second.uid, gone.uid}
    store.apply(dream, max_share=1)
    last = OrderKey(known=True, at=DAY, session="s1", ordinal=2, uid="t3", basis=Basis.STATED)
    store.save_order(SCOPE, [*keys, last])
    assert store.dirty(SCOPE) == frozenset(), "a turn that came behind moves no other"
    store.save_order(SCOPE, [keys[0], replace(keys[1], at=DAY - timedelta(days=1), basis=Basis.CARRIED), last])
    assert store.dirty(SCOPE) == {second.uid}, "and no claim that is read no more"
    store.save_order(SCOPE, [keys[1], last])
    assert store.dirty(SCOPE) == {first.uid, second.uid}, "a turn that has left its session has its place elsewhere"


# --- readings, claims ----------------------------------------------------------------------------------------------------------------------


def test_a_session_is_unread_until_an_engine_has_read_its_present_turns(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    unread = store.unread(SCOPE, "local/1")
    assert list(unread) == ["s1"]
    store.save_reading(SCOPE, "s1", engine="local/1", digest=unread["s1"], claims=())
    assert store.unread(SCOPE, "local/1") == {}
    assert list(store.unread(SCOPE, "local/2")) == ["s1"]
    store.commit_intake(SCOPE, batch(turn("t2", ordinal=1), after=source(offset=2000), expected=(0, 1000)))
    assert store.unread(SCOPE, "local/1") == {"s1": store.session_digest(SCOPE)["s1"]}


def test_a_new_reading_takes_the_place_of_the_old_one_of_its_family(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    port, host = claim(), claim("the host is db1", attribute="host", valid_until=DAY, doubts=("said_once",), old_value="db0", reason="moved")
    came = store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[gated(port), gated(host, group="payments|host")])
    assert came == {port.uid, host.uid}
    assert {g.claim for g in store.all_claims(SCOPE)} == {port, host}
    assert store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[gated(host, group="payments|host"), gated(port)]) == frozenset()
    surer = replace(host, doubts=())
    assert store.save_reading(SCOPE, "s1", engine="local/2", digest="d", claims=[gated(surer, group="payments|host")]) == {port.uid, host.uid}
    assert [g.claim for g in store.all_claims(SCOPE)] == [surer]
    other = claim("the owner is Lee", attribute="owner")
    store.save_reading(SCOPE, "s1", engine="claude/1", digest="d", claims=[gated(other)])
    assert {g.claim for g in store.all_claims(SCOPE)} == {surer, other}
    assert store.claims(SCOPE, [port.uid]) == {port.uid: port}, "what an old version rests on can still be shown"


def test_a_changed_gate_result_or_key_is_a_change_of_the_claim(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    port = claim()
    for made, changed in [
        (gated(port), True),
        (gated(port, outcome=Outcome.DRAFT), True),
        (gated(port, group="g2"), True),
        (gated(port, group="g2", blocks=("b2", "b1")), True),
        (gated(port, group="g2", blocks=("b1", "b2")), False),
    ]:
        assert bool(store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[made])) is changed


def test_claims_are_found_by_group_and_by_block(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), turn("t2", session="s2")))
    port, host = claim(), claim("主机是 db1", attribute="host", turn="t2", subject="支付")
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[gated(port, blocks=("payments", "port"))])
    store.save_reading(SCOPE, "s2", engine="local/1", digest="d", claims=[gated(host, group="支付|host", blocks=("支付", "port"))])
    assert [g.claim for g in store.claims_in_groups(SCOPE, ["支付|host", "none"])] == [host]
    assert {g.claim for g in store.claims_in_blocks(SCOPE, ["port"])} == {port, host}
    assert {g.claim for g in store.claims_in_blocks(SCOPE, ["port"], without={port.uid})} == {host}
    assert {g.claim for g in store.all_claims(SCOPE, without={host.uid})} == {port}
    assert [g.blocks for g in store.claims_in_blocks(SCOPE, ["支付"])] == [("port", "支付")]
    assert store.claims_in_groups("acme/web/lee", ["支付|host"]) == ()


def test_a_claim_read_in_two_copies_is_one(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    store.commit_intake(SCOPE, batch(turn("t1", session="s2"), after=source("log-b")))
    for session in ("s1", "s2"):
        store.save_reading(SCOPE, session, engine="local/1", digest="d", claims=[gated(claim())])
    assert [g.claim for g in store.all_claims(SCOPE)] == [claim()]


def test_whether_readings_hold_other_claims_is_told_without_reading_them(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), turn("t1", session="s2")))
    assert store.holds_only(SCOPE, frozenset())
    mine, other = claim("mine"), claim("other")
    for session in ("s1", "s2"):
        store.save_reading(SCOPE, session, engine="local/1", digest="d", claims=[gated(mine)])
    assert store.holds_only(SCOPE, {mine.uid})
    assert not store.holds_only(SCOPE, frozenset())
    store.save_reading(SCOPE, "s2", engine="claude/1", digest="d", claims=[gated(other)])
    assert not store.holds_only(SCOPE, {mine.uid, "of nobody"})
    assert store.holds_only(SCOPE, {mine.uid, other.uid})


def test_turns_of_a_session_are_found_and_those_of_them_that_a_claim_quotes(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), turn("t2", ordinal=1), turn("t3", session="s2", ordinal=2)))
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[gated(claim()), gated(claim("another", turn="t3"))])
    assert store.turns_in(SCOPE, ["s1"]) == {"t1", "t2"}
    assert store.turns_in(SCOPE, ["s1"], quoted=True) == {"t1"}


def test_sessions_that_share_a_turn_are_kin_whenever_they_come(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), turn("t1", session="s2", ordinal=3), turn("t2", session="s3", ordinal=1), turn("t3", session="s4", ordinal=2)))
    assert {frozenset(pair) for pair in store.kin(SCOPE)} == {frozenset({"s1", "s2"})}
    store.commit_intake(SCOPE, batch(turn("t2", "longer than before", session="s5", ordinal=1), after=source("log-b")))
    store.commit_intake("elsewhere", batch(turn("t3", session="s6", ordinal=2)))
    assert {frozenset(pair) for pair in store.kin(SCOPE)} == {frozenset({"s1", "s2"}), frozenset({"s3", "s5"})}


def test_questions_stay_with_their_reading(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1")))
    asked = Question(text="which port?", quotes=(Quote(turn="t1", start=0, end=3, text="the"),))
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=(), questions=[asked])
    assert store.questions(SCOPE) == {"s1": (asked,)}
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=())
    assert store.questions(SCOPE) == {}


def test_a_reading_of_an_unknown_session_is_refused(store: Store) -> None:
    with pytest.raises(Permanent, match="s404"):
        store.save_reading(SCOPE, "s404", engine="local/1", digest="d", claims=())


def test_a_verdict_on_a_pair_is_one_whichever_claim_is_named_first(store: Store) -> None:
    store.save_relations(SCOPE, [ClaimRelation(one="b", other="a", relation=Relation.SAME, why="equal", made_by="relate/1")])
    store.save_relations(SCOPE, [ClaimRelation(one="a", other="b", relation=Relation.OTHER, why="late", made_by="relate/1")])
    store.save_relations(SCOPE, [ClaimRelation(one="a", other="c", relation=Relation.UPDATE, why="new", made_by="relate/1")])
    assert [(r.one, r.other, r.relation) for r in store.relations(SCOPE, ["a", "b"])] == [("a", "b", Relation.SAME)]
    assert store.relations(SCOPE, ["a", "b"], made_by="relate/2") == ()


def test_rulings_are_kept_once_and_found_by_either_side(store: Store) -> None:
    merge = Ruling(uid="r1", verb="merge", target="n1", other="n2", body="same thing", at=DAY)
    ban = Ruling(uid="r2", verb="ban", target="n3", hand="Ana")
    assert [store.add_ruling(SCOPE, r) for r in (merge, ban, merge)] == [True, True, False]
    assert store.rulings(SCOPE) == (ban, merge)
    assert store.rulings(SCOPE, ["n2"]) == (merge,)
    assert store.rulings("acme/web/lee") == ()


# --- online notes ----------------------------------------------------------------------------------------------------------------------------


def test_a_folder_of_notes_is_followed_as_it_changes(store: Store) -> None:
    assert store.save_online_notes(SCOPE, "mem", [online("o1"), online("o2", "east", position=1)]) == 2
    assert store.save_online_notes(SCOPE, "mem", [online("o1"), online("o2", "east", position=1)]) == 0
    assert store.save_online_notes(SCOPE, "mem", [online("o2", "west", position=1)]) == 2
    assert store.online_notes(SCOPE) == (online("o2", "west", position=1),)
    assert store.save_online_notes(SCOPE, "mem", [online("o2", "west", position=1)]) == 0, "a note that is gone goes once"
    store.save_online_notes(SCOPE, "mem", [online("o1")])
    assert store.online_notes(SCOPE) == (online("o1"),)


def test_notes_found_in_a_log_stay_when_a_folder_is_read(store: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), notes=(online("o1", "from the log"), online("o9", "only in the log", position=9))))
    store.save_online_notes(SCOPE, "mem", [online("o1", "from the file")])
    assert [n.text for n in store.online_notes(SCOPE)] == ["from the file", "only in the log"]
