"""What every database behind the store promises of looking back: what was true, what was believed, what was stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pipelines.model import Finding, OnlineNote, Status, Verdict, Version
from pipelines.notes.moment import Moment
from pipelines.recall.search import search
from pipelines.store import Decision, FindingChange, Store, this_process
from tests.contracts.store_builders import DAY, SCOPE, batch, belief, online, source, start_dream, turn, version
from tests.contracts.store_kinds import Clock, clock, store

__all__ = ["clock", "store"]  # fixtures of this suite

JAN, FEB, MAR, APR = (datetime(2026, month, 10, 12, 0, tzinfo=UTC) for month in (1, 2, 3, 4))
HOUR = timedelta(hours=1)


def believe(store: Store, note: str, *versions: Version) -> None:
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    tokens = [h.token for h in store.heads(SCOPE, notes=[note])]
    store.stage(dream, [belief(note, *versions)], {note: tokens})
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")


def thirty_then_ninety(store: Store, clock: Clock) -> None:
    """Logs are kept 30 days since January, which is believed on 1 May; 90 days since March, which is believed on 2 May."""
    clock.at = DAY
    believe(store, "n1", version("n1", "logs are kept 30 days", slot="30", valid_from=JAN))
    clock.at = DAY + timedelta(days=1)
    over = version("n1", "logs are kept 30 days", slot="30", status=Status.SUPERSEDED, valid_from=JAN, valid_until=MAR)
    believe(store, "n1", over, version("n1", "logs are kept 90 days", slot="90", valid_from=MAR))
    clock.at = DAY + timedelta(days=2)


def found(store: Store, query: str = "logs kept", **moment: datetime) -> list[str]:
    return [h.text for h in search(store, SCOPE, query, limit=10, now=store.now(), moment=Moment(**moment)) if h.kind == "note"]


def then(store: Store, **moment: datetime) -> list[tuple[str, Status]]:
    heads = store.heads_then(SCOPE, Moment(**moment), now=store.now())
    return [(h.version.statement, h.version.status) for h in heads]


WHY = Decision(stage="analyzer", verb="analyse", reason="no_log")
THIRTY, NINETY = "logs are kept 30 days", "logs are kept 90 days"


def test_as_of_tells_what_was_true_whenever_it_became_known(store: Store, clock: Clock) -> None:
    thirty_then_ninety(store, clock)
    assert found(store) == [NINETY]
    assert found(store, as_of=FEB) == [THIRTY]
    assert found(store, as_of=MAR - HOUR) == [THIRTY]
    assert found(store, as_of=MAR) == [NINETY], "what begins at a moment is true at it, what ends at it is not"
    assert found(store, as_of=JAN - HOUR) == []
    assert then(store, as_of=FEB) == [(THIRTY, Status.CONFIRMED)]


def test_known_at_tells_what_was_believed_whenever_it_was_true(store: Store, clock: Clock) -> None:
    thirty_then_ninety(store, clock)
    assert found(store, known_at=DAY - HOUR) == []
    assert found(store, known_at=DAY + HOUR) == [THIRTY]
    assert found(store, known_at=DAY + timedelta(days=1)) == [NINETY]
    assert then(store, known_at=DAY + HOUR) == [(THIRTY, Status.CONFIRMED)]


def test_both_together_tell_what_was_believed_to_be_true(store: Store, clock: Clock) -> None:
    thirty_then_ninety(store, clock)
    assert found(store, as_of=APR, known_at=DAY + HOUR) == [THIRTY], "nobody knew of the change yet"
    assert found(store, as_of=APR, known_at=DAY + timedelta(days=1)) == [NINETY]
    assert found(store, as_of=FEB, known_at=DAY + timedelta(days=1)) == [THIRTY]
    assert found(store, as_of=FEB, known_at=DAY - HOUR) == []


def test_what_was_taken_back_was_believed_and_was_never_true(store: Store, clock: Clock) -> None:
    believe(store, "n1", version("n1", THIRTY, slot="30", valid_from=JAN))
    clock.at = DAY + timedelta(days=1)
    believe(store, "n1", version("n1", THIRTY, slot="30.retracted", status=Status.RETRACTED, valid_from=JAN, valid_until=APR))
    assert found(store) == found(store, as_of=FEB) == []
    assert found(store, known_at=DAY) == [THIRTY]
    assert found(store, as_of=FEB, known_at=DAY) == [THIRTY]


def test_what_runs_out_leaves_search_by_the_readers_clock_and_was_true_before(store: Store, clock: Clock) -> None:
    believe(store, "n1", version("n1", THIRTY, slot="30", valid_from=JAN, valid_until=DAY + HOUR))
    clock.at = DAY + HOUR
    assert found(store) == [], "nobody has expired it"
    assert then(store) == []
    assert found(store, known_at=DAY) == found(store, as_of=FEB) == [THIRTY]
    store.expire(SCOPE, clock.at)
    assert found(store) == []
    assert found(store, known_at=DAY) == found(store, as_of=FEB) == [THIRTY]
    assert found(store, as_of=DAY + HOUR) == []


def test_what_weighed_less_or_ended_at_no_known_time_was_never_known_to_be_true(store: Store) -> None:
    believe(store, "n1", version("n1", THIRTY, slot="30.lower", status=Status.SUPERSEDED, reason="lower_standing", valid_from=JAN))
    believe(store, "n2", version("n2", NINETY, slot="90", status=Status.SUPERSEDED, valid_from=JAN))
    assert found(store, as_of=FEB) == []


def test_a_value_nobody_stated_is_told_as_the_value_it_was(store: Store) -> None:
    said = "we went from 30 to 90 days of logs kept"
    told = version("n1", said, slot="30.told", status=Status.SUPERSEDED, subject="logs kept", attribute="days", value="30", valid_until=MAR)
    believe(store, "n1", told, version("n1", said, slot="90", value="90", valid_from=MAR))
    assert found(store, as_of=FEB) == ["logs kept days: 30"]
    assert found(store, as_of=APR) == [said]


def test_turns_are_those_said_and_stored_by_then(store: Store, clock: Clock) -> None:
    clock.at = DAY
    store.commit_intake(SCOPE, batch(turn("early", "logs are kept in March", at=MAR), turn("undated", "logs are kept somewhere", ordinal=4, at=None)))
    clock.at = DAY + timedelta(days=3)
    store.commit_intake(SCOPE, batch(turn("late", "logs were kept in January", session="s2", at=JAN), after=source("log-b")))

    def turns(**moment: datetime) -> set[str]:
        return {h.uid for h in search(store, SCOPE, "logs kept", limit=10, now=clock.at, moment=Moment(**moment))}

    assert turns() == {"early", "late", "undated"}
    assert turns(as_of=FEB) == {"late"}, "a turn without a time was said at no known one"
    assert turns(as_of=APR) == {"early", "late"}
    assert turns(known_at=DAY - HOUR) == set()
    assert turns(known_at=DAY) == {"early", "undated"}, "it stood in a log, and nobody had read that log"
    assert turns(as_of=FEB, known_at=DAY) == set()


def test_a_line_of_a_note_file_that_is_over_by_its_own_words_ends_without_an_engine(store: Store, clock: Clock) -> None:
    dated = {"dated_by": "modified", "written_at": datetime(2026, 5, 1, 8, 0, tzinfo=UTC)}
    lines = [_line("frozen", "The main branch is frozen until 10 May 2026.", **dated), _line("port", "The port is 5433.", position=1, **dated)]
    store.save_online_notes(SCOPE, "mem", lines)
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    store.stage(dream, [FindingChange(finding=Finding(note=n.uid, verdict=Verdict.UNCHECKED, why="no_log"), decisions=(WHY,)) for n in lines], {})
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")
    over = datetime(2026, 5, 11, tzinfo=UTC)
    assert store.expiring(over - HOUR) == ()
    assert store.expiring(over) == (SCOPE,)
    rev = store.revision(SCOPE)
    asked = store.expire_and_render(SCOPE, over)
    assert asked is not None
    assert asked.answer == "accepted"
    assert {uid: f.verdict for uid, f in store.findings(SCOPE).items()} == {"frozen": Verdict.SUPERSEDED, "port": Verdict.UNCHECKED}
    assert store.expiring(over) == ()
    assert store.expire_and_render(SCOPE, over) is None
    assert {f.verdict for f in store.findings(SCOPE, rev=rev).values()} == {Verdict.UNCHECKED}


def _line(uid: str, text: str, *, position: int = 0, **more: object) -> OnlineNote:
    return replace(online(uid, text, position=position), **more)  # type: ignore[arg-type]
