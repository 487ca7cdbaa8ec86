"""Whatever is dreamt, applied late, refused or expired: history is linear, the past never changes, and heads are what history says."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pipelines.errors import Conflict
from pipelines.model import Status
from pipelines.store import Dream, Head, open_store
from tests.contracts.store_builders import DAY, SCOPE, belief, start_dream, version

Slots = dict[str, tuple[str, Status, int | None]]  # slot -> statement, status, hour its validity ends
NOTES = ("n1", "n2", "n3")
LIVE = {Status.CONFIRMED, Status.DRAFT}

wanted = st.dictionaries(
    st.sampled_from("ab"),
    st.tuples(st.sampled_from(["30", "90"]), st.sampled_from([Status.CONFIRMED, Status.DRAFT, Status.SUPERSEDED]), st.none() | st.integers(1, 4)),
    max_size=2,
)


@cache
def template() -> Path:
    """A migrated store to copy."""
    path = Path(tempfile.mkdtemp(prefix="dreamd-test-")) / "store.db"
    open_store(f"sqlite:///{path}", now=lambda: DAY).close()
    return path


class History(RuleBasedStateMachine):
    """A store beside a plain dict of what each revision believed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        shutil.copyfile(template(), Path(self.folder.name) / "store.db")
        self.hour = 0
        self.store = open_store(f"sqlite:///{self.folder.name}/store.db", now=lambda: DAY + timedelta(hours=self.hour))
        self.past: list[dict[str, Slots]] = [{}]
        self.asked: dict[str, Slots] = {}  # what was last wanted of each note: expiry by the clock does not change it
        self.waiting: tuple[Dream, dict[str, Slots], dict[str, Slots]] | None = None

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def start(self, wants: dict[str, Slots]) -> Dream:
        dream = start_dream(self.store, SCOPE, cause="test", holder="me")
        changes = [belief(note, *(self.version(note, slot, *what) for slot, what in slots.items())) for note, slots in wants.items()]
        reads: dict[str, list[int]] = {note: [] for note in wants}
        for head in self.store.heads(SCOPE, notes=wants):
            reads[head.version.note].append(head.token)
        self.store.stage(dream, changes, reads)
        return dream

    def version(self, note: str, slot: str, statement: str, status: Status, ends: int | None):  # type: ignore[no-untyped-def]
        until = None if ends is None else DAY + timedelta(hours=ends)
        return version(note, statement, slot=slot, status=status, valid_until=until)

    def believed(self, wants: dict[str, Slots]) -> None:
        """Move the model: a note whose wanted slots are what was wanted before keeps what the clock made of them."""
        new = dict(self.past[-1])
        for note, slots in wants.items():
            before = self.asked.get(note, {})
            kept = {s: self.past[-1][note][s] if before.get(s) == what else what for s, what in slots.items()}
            new[note] = kept
            self.asked[note] = dict(slots)
        if any(self.past[-1].get(n, {}) != new[n] for n in wants) or self.store.revision(SCOPE) == len(self.past):
            self.past.append({n: slots for n, slots in new.items() if slots})

    @rule(wants=st.dictionaries(st.sampled_from(NOTES), wanted, min_size=1))
    def dream(self, wants: dict[str, Slots]) -> None:
        dream = self.start(wants)
        self.store.apply(dream, max_share=1.0)
        self.store.finish_dream(dream, "completed")
        self.believed(wants)

    @precondition(lambda self: self.waiting is None)
    @rule(wants=st.dictionaries(st.sampled_from(NOTES), wanted, min_size=1))
    def plan(self, wants: dict[str, Slots]) -> None:
        dream = self.start(wants)
        self.store.finish_dream(dream, "planned")
        self.waiting = (dream, wants, {note: self.past[-1].get(note, {}) for note in wants})

    @precondition(lambda self: self.waiting is not None)
    @rule()
    def apply_the_plan(self) -> None:
        assert self.waiting is not None
        dream, wants, seen = self.waiting
        try:
            self.store.apply(dream, max_share=1.0)
        except Conflict:
            self.store.finish_dream(dream, "failed")
        else:
            assert seen == {note: self.past[-1].get(note, {}) for note in wants}, "a plan made for other beliefs was applied"
            self.store.finish_dream(dream, "completed")
            self.believed(wants)
        self.waiting = None

    @rule()
    def clock(self) -> None:
        self.hour += 1
        gone = {
            (note, slot)
            for note, slots in self.past[-1].items()
            for slot, (_, status, ends) in slots.items()
            if status in LIVE and ends is not None and ends <= self.hour
        }
        assert set(self.store.expire(SCOPE, DAY + timedelta(hours=self.hour))) == {note for note, _ in gone}
        if gone:
            self.past.append(
                {
                    note: {slot: (what[0], Status.EXPIRED if (note, slot) in gone else what[1], what[2]) for slot, what in slots.items()}
                    for note, slots in self.past[-1].items()
                }
            )

    @invariant()
    def every_revision_still_believes_what_it_did(self) -> None:
        assert self.store.revision(SCOPE) == len(self.past) - 1
        for rev, model in enumerate(self.past):
            assert said(self.store.believed(SCOPE, rev)) == model

    @invariant()
    def heads_are_what_history_says(self) -> None:
        assert self.store.heads(SCOPE) == self.store.believed(SCOPE, len(self.past) - 1)

    @invariant()
    def every_row_has_at_most_one_successor(self) -> None:
        with self.store.engines.read.begin() as conn:
            twice = conn.exec_driver_sql("SELECT replaces FROM note_versions WHERE replaces IS NOT NULL GROUP BY replaces HAVING count(*) > 1").all()
            loose = conn.exec_driver_sql(
                "SELECT note_id, slot FROM note_versions WHERE id NOT IN (SELECT replaces FROM note_versions WHERE replaces IS NOT NULL)"
                " GROUP BY note_id, slot HAVING count(*) > 1"
            ).all()
        assert (twice, loose) == ([], [])

    @invariant()
    def every_revision_has_its_decisions(self) -> None:
        assert {d.rev for d in self.store.decisions(SCOPE)} == set(range(1, len(self.past)))


def said(heads: tuple[Head, ...]) -> dict[str, Slots]:
    found: dict[str, Slots] = {}
    for head in heads:
        v = head.version
        ends = None if v.valid_until is None else int((v.valid_until - DAY) / timedelta(hours=1))
        found.setdefault(v.note, {})[v.slot] = (v.statement, v.status, ends)
    return found


History.TestCase.settings = settings(max_examples=20, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck))
TestHistory = History.TestCase
