"""Notes judged little by little, dream after dream, are judged as all of them at once would be, each alone and with nothing kept of an earlier time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from pipelines.engines.local.engine import LocalEngine
from pipelines.model import Finding, Verdict
from pipelines.run import verdicts
from pipelines.run.forgetting import forget
from pipelines.run.readings import statement_told, told
from pipelines.run.ruling import is_out, rule
from pipelines.run.sources import standing_notes
from pipelines.run.units.analyse import believed_with
from pipelines.stages.analyzer import clauses_of, statements_of
from pipelines.store import open_store
from pipelines.store.reach import Choice
from pipelines.text.statement import parse
from tests.dreaming import SCOPE, Desk
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog

THINGS = ("gateway", "payments db", "harbor service", "tide gate")
TAILS = ("", " Restart it after each deploy.", " See `make restart`.", " Ana looks after it.")


def sentence(dice: Random) -> str:
    """One of few things said, so that notes and logs often speak of the same one."""
    thing, number = dice.choice(THINGS), dice.choice([5432, 5433, 8080])
    said = dice.choice(["The {} listens on port {}.", "The {} port is {}.", "We moved the {} to port {}.", "Never restart the {} before {} jobs are done."])
    return said.format(thing, number)


@dataclass
class Past:
    """A desk, and what its logs and note files hold so far."""

    desk: Desk
    logs: list[ClaudeLog] = field(default_factory=list)
    files: dict[str, list[str]] = field(default_factory=dict)

    def written(self, name: str, lines: Sequence[str]) -> None:
        """A note file is saved."""
        self.files[name] = list(lines)
        self.desk.note(name, "".join(f"- {line}\n" for line in lines), mtime=self.desk.now)


def says(past: Past, dice: Random) -> None:
    """A session begins."""
    past.logs.append(ClaudeLog(f"s{len(past.logs)}", at=past.desk.now - timedelta(hours=3)))
    goes_on(past, dice)


def goes_on(past: Past, dice: Random) -> None:
    """A session grows: by what the person says, a page says, or a command shows."""
    if not past.logs:
        return says(past, dice)
    log = dice.choice(past.logs)
    for _ in range(dice.randrange(1, 4)):
        match dice.randrange(4):
            case 0:
                log.fetch("https://example.org/ports", sentence(dice))
            case 1:
                log.bash("make restart", "all up", exit_code=dice.choice([0, 0, 2]))
            case _:
                log.user(sentence(dice) + dice.choice(TAILS))
    log.save(past.desk.logs)


def writes(past: Past, dice: Random) -> None:
    """The agent saves a note file: some lines more, or one less."""
    name = dice.choice(["ports.md", "habits.md"])
    lines = past.files.get(name, [])
    if len(lines) > 3 and dice.random() < 0.5:
        lines.pop(dice.randrange(len(lines)))
    else:
        lines = [*lines, *(sentence(dice) + dice.choice(TAILS) for _ in range(3))]
    past.written(name, lines)


def changes(past: Past, dice: Random) -> None:
    """The agent saves a note file with each of its lines another."""
    name = dice.choice(sorted(past.files))
    past.written(name, [sentence(dice) for _ in past.files[name]])


def remembers(past: Past, dice: Random) -> None:
    """The person tells something."""
    past.logs.append(ClaudeLog(f"r{len(past.logs)}", at=past.desk.now - timedelta(minutes=5)).remember(sentence(dice)))
    past.logs[-1].save(past.desk.logs)


def retracts(past: Past, dice: Random) -> None:
    """The person takes a note back."""
    with past.desk.store() as store:
        by_note = {h.version.note: (h.version,) for h in store.heads(SCOPE)}
        notes = sorted(n for n, versions in by_note.items() if not is_out(versions))
        if notes:
            rule(store, SCOPE, "retract", dice.choice(notes), at=past.desk.now, hand="test")


def forgets(past: Past, dice: Random) -> None:
    """A session is forgotten, as if it had never been."""
    if past.logs:
        log = past.logs.pop(dice.randrange(len(past.logs)))
        (past.desk.logs / f"{log.uuid}.jsonl").unlink(missing_ok=True)
        with past.desk.store() as store:
            known = {info.uid for info in store.sessions(SCOPE)}
            if log.uuid in known:
                forget(past.desk.parts(store), past.desk.request(), Choice(sessions=frozenset({log.uuid})), hand="test")


EVENTS: Sequence[Callable[[Past, Random], None]] = (says, goes_on, goes_on, writes, changes, changes, remembers, retracts, forgets)


def judged(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> dict[str, Finding]:
    """All standing notes, each looked up alone, in a copy of the store beside which nothing is kept: no search index, no reading."""
    there = desk.root / "copy"
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(desk.data, there, ignore=shutil.ignore_patterns("*.search.db*", "archive"))
    with open_store(f"sqlite:///{there / 'store.db'}", now=lambda: desk.now) as store, monkeypatch.context() as patched:
        patched.setattr(verdicts, "AT_ONCE", 1)
        assert store.kept_readings(SCOPE) == {}
        notes = standing_notes(store.online_notes(SCOPE))
        believed = believed_with(store, SCOPE, [])
        return dict(verdicts.assess_notes(store, LocalEngine(), SCOPE, notes, believed, skew_s=desk.request().params.skew_s, now=desk.now))


def stored(desk: Desk, among: Mapping[str, Finding]) -> dict[str, Finding]:
    """The findings that dreams left."""
    with desk.store() as store:
        return {uid: f for uid, f in store.findings(SCOPE).items() if uid in among}


def test_notes_judged_dream_after_dream_are_judged_as_all_at_once(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    seen: set[Verdict] = set()
    kept = 0
    for seed in (4, 6):
        dice = Random(seed)
        past = Past(Desk(tmp_path / str(seed), shared_redactor(request)))
        past.written("ports.md", ["The gateway listens on port 5432.", "The gateway listens on port 5432.", "The tide gate port is 8080."])
        for event in dice.sample(EVENTS, len(EVENTS)):
            past.desk.now += timedelta(hours=1)
            event(past, dice)
            past.desk.dream()
            alone = judged(past.desk, monkeypatch)
            assert stored(past.desk, alone) == alone, (seed, event.__name__)
            with past.desk.store() as store:
                kept += len(store.kept_readings(SCOPE))
            seen |= {f.verdict for f in alone.values()}
    assert seen >= {Verdict.UPHELD, Verdict.CORRECTED, Verdict.SUPERSEDED, Verdict.DUPLICATE, Verdict.NEEDS_RECHECK, Verdict.UNCHECKED}
    assert kept > 20, "dreams went on from what earlier ones had read"


TEXTS = (
    "The gateway listens on port 5433 (formerly 5432), because 5432 is taken.", "Ana's desk: Foundry on port 30000, CI on Node 18", "支付数据库的端口是 5433，不是 5432。",
    "\ud800 is half a letter", "Never push to `main` — ask first!", "", "My name is Ana and I also like C++ and tea.", "x" * 700,
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_statement_that_was_kept_is_the_statement_that_is_read(text: str) -> None:
    for said in (parse(text), parse(text, speaker="Ana"), *statements_of(text), *clauses_of(text)):
        assert statement_told(json.loads(json.dumps(told(said)))) == said


def test_readings_are_kept_for_a_scope_until_others_take_their_place_or_the_projection_is_made_again(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    desk = Desk(tmp_path, shared_redactor(request))
    past = Past(desk)
    says(past, Random(1))
    desk.dream()
    with desk.store() as store:
        store.keep_readings(SCOPE, {"a": "1", "b": "2"}, epoch=0)
        store.keep_readings("elsewhere", {"c": "3"}, epoch=0)
        assert store.kept_readings(SCOPE) == {"a": "1", "b": "2"}
        assert store.kept_readings("elsewhere") == {}, "a scope the store does not know"
        store.keep_readings(SCOPE, {"b": "2", "c": "3"}, epoch=0)
        assert store.kept_readings(SCOPE) == {"b": "2", "c": "3"}
        store.rebuild_search()
        assert store.kept_readings(SCOPE) == {}
        store.keep_readings(SCOPE, {"b": "2"}, epoch=0)
        store.keep_readings(SCOPE, {}, epoch=0)
        assert store.kept_readings(SCOPE) == {}


def test_readings_of_before_a_forget_are_not_kept_after_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A dream that runs while something is forgotten ends after it: what it read may hold what is gone."""
    desk = Desk(tmp_path, shared_redactor(request))
    past = Past(desk)
    says(past, Random(1))
    desk.dream()
    with desk.store() as store:
        before = store.tombstones(SCOPE).epoch
        forget(desk.parts(store), desk.request(), Choice(sessions=frozenset({past.logs[0].uuid})), hand="test")
        store.keep_readings(SCOPE, {"a": "what was forgotten"}, epoch=before)
        assert store.kept_readings(SCOPE) == {}
        store.keep_readings(SCOPE, {"b": "what is left"}, epoch=store.tombstones(SCOPE).epoch)
        assert store.kept_readings(SCOPE) == {"b": "what is left"}
