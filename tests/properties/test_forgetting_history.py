"""Whatever is said, remembered, taken back, reverted, forgotten and let go of, in whichever order: the wiki is that of a store that never saw what was forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from pipelines.errors import Refused
from pipelines.model import Status
from pipelines.run import Parts
from pipelines.run.forgetting import NothingChosen, forget
from pipelines.run.retention import Keep
from pipelines.run.reverting import revert
from pipelines.run.ruling import rule
from pipelines.store import Store
from pipelines.store.blobs import DatabaseArchive
from pipelines.store.reach import Choice
from tests.auditing import files_with, tables_with
from tests.contracts.store_kinds import KINDS, Clock, store_of
from tests.dreaming import SCOPE, Desk, differences
from tests.redacting import shared_redactor
from tests.writing import START, ClaudeLog

HISTORIES = (363, 204)
"""Those a test run looks at, on each database: two short ones that between them do everything there is to do. Any other number is another history."""
SAYINGS = (
    "The staging port is 5432.", "The staging port is 5433.", "The staging host is blue-1.", "Always run migrations with `make migrate`.",
    "Never deploy on Fridays.",
)  # fmt: skip
DOES = ("say", "say", "say", "remember", "retract", "revert", "forget", "forget", "let_go")
SAYS = frozenset({"say", "remember"})
LIVE = frozenset({Status.CONFIRMED, Status.DISPUTED, Status.DRAFT})
Step = tuple[str, int]


@dataclass
class Past(Desk):
    """A desk over a store that is emptied for it, whose clock a history moves on. `read` is the dream that read what a step said."""

    opened: Store | None = None
    on_server: bool = False
    keep: Keep = field(default_factory=Keep)
    read: dict[int, str] = field(default_factory=dict)

    @contextmanager
    def store(self) -> Iterator[Store]:
        assert self.opened is not None
        self.opened.now = lambda: self.now
        yield self.opened

    def parts(self, store: Store) -> Parts:
        parts = replace(super().parts(store), keep=self.keep)
        return replace(parts, archive=DatabaseArchive(store, SCOPE)) if self.on_server else parts


def history(dice: Random) -> tuple[Step, ...]:
    """Something said, then four to seven steps: what is done, and to which of the things there are."""
    return (("say", dice.randrange(5)), *((dice.choice(DOES), dice.randrange(5)) for _ in range(dice.randint(4, 7))))


def meant(steps: Sequence[Step], at: int) -> int:
    """The step that said what the step `at` is about."""
    said = [place for place, (did, _) in enumerate(steps[:at]) if did in SAYS]
    return said[steps[at][1] % len(said)]


def word(step: int) -> str:
    """Stands in a line nothing rests on, of one session."""
    return f"zanzibar{step}quux"


def session(step: int, saying: int, *, memory: bool) -> ClaudeLog:
    log = ClaudeLog(f"s{step}", at=START + timedelta(days=step)).user(f"I had a coffee with {word(step)}, it rained a lot.")
    return (log.remember if memory else log.user)(SAYINGS[saying])


def live(past: Past, steps: Sequence[Step], notes: dict[int, Sequence[str]], *, never: frozenset[int] | None = None) -> None:
    """Live through a history; with `never` without these sessions, with no forget and no retention, taking back what it took back (`notes`, by step)."""
    for at, (what, n) in enumerate(steps):
        past.now = START + timedelta(days=at, hours=8)
        if what in SAYS and at not in (never or ()):
            session(at, n, memory=what == "remember").save(past.logs)
            past.read[at] = past.dream().report.dream
        elif what == "retract":
            notes.setdefault(at, standing(past, n))
            retract(past, notes[at])
        elif what == "revert" and (dream := past.read.get(meant(steps, at))):
            with past.store() as store:
                revert(past.parts(store), past.request(), dream, again=False, dry_run=False, hand="test")
        elif never is None and what in {"forget", "let_go"}:
            take_out(past, steps, at)
    past.now = START + timedelta(days=len(steps), hours=8)
    past.dream()


def standing(past: Past, place: int) -> Sequence[str]:
    """One of the notes that stand; none when none does."""
    with past.store() as store:
        found = sorted({(h.version.statement, h.version.note) for h in store.heads(SCOPE) if h.version.status in LIVE})
    return [found[place % len(found)][1]] if found else []


def retract(past: Past, notes: Sequence[str]) -> None:
    for note in notes:
        with past.store() as store, suppress(Refused):  # what was forgotten is no note
            rule(store, SCOPE, "retract", note, at=past.now, hand="test")
    past.dream()


def take_out(past: Past, steps: Sequence[Step], at: int) -> None:
    if steps[at][0] == "let_go":
        past.keep = Keep(turns_days=1)
        past.dream()
        return
    uid = session(meant(steps, at), 0, memory=False).uuid
    with past.store() as store, suppress(NothingChosen):  # it is forgotten already
        forget(past.parts(store), past.request(), Choice(sessions=frozenset({uid})), hand="test")


def believed(past: Past) -> set[tuple[object, ...]]:
    with past.store() as store:
        heads = [h.version for h in store.heads(SCOPE)]
    return {(v.note, v.slot, v.statement, v.status.value, v.roots, v.valid_from, v.valid_until) for v in heads if v.status in LIVE}


def shown(past: Past) -> Mapping[str, str]:
    """The wiki but for the work log, which retention cuts."""
    return {path: text for path, text in past.tree().items() if path != "recent.md"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", HISTORIES)
def test_any_history_ends_as_one_that_never_saw_what_was_forgotten(kind: str, seed: int, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    steps = history(Random(seed))
    assert {what for each in HISTORIES for what, _ in history(Random(each))} == set(DOES)
    gone = frozenset(meant(steps, at) for at, (what, _) in enumerate(steps) if what == "forget")
    notes: dict[int, Sequence[str]] = {}
    redactor, server = shared_redactor(request), kind == "postgres"
    first = Past(tmp_path / "first", redactor, url="unused", opened=store_of(kind, request, Clock()), on_server=server)
    live(first, steps, notes)
    with first.store() as store:
        for step in gone:
            assert (tables_with(store, word(step)), files_with([first.data, first.wiki], word(step))) == ([], []), steps
    beliefs, pages = believed(first), shown(first)
    other = Past(tmp_path / "other", redactor, url="unused", opened=store_of(kind, request, Clock()), on_server=server)
    live(other, steps, notes, never=gone)
    assert beliefs == believed(other), steps
    assert differences(pages, shown(other)) == [], steps
