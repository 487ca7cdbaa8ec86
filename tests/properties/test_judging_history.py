"""Notes judged little by little, dream after dream, are judged as all of them at once would be, each alone and with nothing kept of an earlier time."""

from __future__ import annotations

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
from pipelines.run.ruling import is_out, rule
from pipelines.run.sources import standing_notes
from pipelines.run.units.analyse import believed_with
from pipelines.store.reach import Choice
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
    """The agent saves a note file: a line more, another or one less."""
    name = dice.choice(["ports.md", "habits.md"])
    lines = past.files.get(name, [])
    match dice.randrange(4):
        case 0 if lines:
            lines.pop(dice.randrange(len(lines)))
        case 1 if lines:
            lines[dice.randrange(len(lines))] = sentence(dice)
        case _:
            lines = [*lines, *(sentence(dice) + dice.choice(TAILS) for _ in range(3))]
    past.written(name, lines)


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
        (past.desk.logs / f"{log.uuid}.jsonl").unlink()
        with past.desk.store() as store:
            known = {info.uid for info in store.sessions(SCOPE)}
            if log.uuid in known:
                forget(past.desk.parts(store), past.desk.request(), Choice(sessions=frozenset({log.uuid})), hand="test")


EVENTS: Sequence[Callable[[Past, Random], None]] = (says, goes_on, goes_on, writes, writes, remembers, retracts, forgets)


def judged(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> dict[str, Finding]:
    """All standing notes, each looked up alone, with nothing known of earlier times; the search index made anew."""
    with desk.store() as store, monkeypatch.context() as patched:
        patched.setattr(verdicts, "AT_ONCE", 1)
        store.rebuild_search()
        notes = standing_notes(store.online_notes(SCOPE))
        return dict(
            verdicts.assess_notes(store, LocalEngine(), SCOPE, notes, believed_with(store, SCOPE, []), skew_s=desk.request().params.skew_s, now=desk.now)
        )


def stored(desk: Desk, among: Mapping[str, Finding]) -> dict[str, Finding]:
    """The findings that dreams left."""
    with desk.store() as store:
        return {uid: f for uid, f in store.findings(SCOPE).items() if uid in among}


def test_notes_judged_dream_after_dream_are_judged_as_all_at_once(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    seen: set[Verdict] = set()
    for seed in range(2):
        dice = Random(seed)
        past = Past(Desk(tmp_path / str(seed), shared_redactor(request)))
        past.written("ports.md", ["The gateway listens on port 5432.", "The gateway listens on port 5432.", "The tide gate port is 8080."])
        for event in dice.sample(EVENTS, len(EVENTS)):
            past.desk.now += timedelta(hours=1)
            event(past, dice)
            past.desk.dream()
            alone = judged(past.desk, monkeypatch)
            assert stored(past.desk, alone) == alone, (seed, event.__name__)
            seen |= {f.verdict for f in alone.values()}
    assert seen >= {Verdict.UPHELD, Verdict.CORRECTED, Verdict.SUPERSEDED, Verdict.DUPLICATE, Verdict.NEEDS_RECHECK, Verdict.UNCHECKED}
