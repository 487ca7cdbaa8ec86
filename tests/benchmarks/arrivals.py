"""The order in which logs arrive, over generated histories: `python -m tests.benchmarks.arrivals [--histories 100] [--first 0] [--on sqlite,postgres]`.

Each history is some sessions that say, change, end and run things, with forks, wild and jumping clocks, times missing, stamped in bulk or minutes apart. It is dreamed over
at once, and again file by file in another order, where a file may arrive in two parts; both must give the same pages and the same beliefs. Prints each history
that does not, with what differs, and the count; fails when there is one.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random

from pipelines.logs.redaction import Redactor, open_redactor
from tests import servers
from tests.contracts.store_kinds import Postgres, Sqlite
from tests.dreaming import NOW, SCOPE, OpenedDesk, differences
from tests.writing import START, ClaudeLog

WILD = ("2099-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z")
VALUES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("We keep audit logs for {} days.", ("30", "60", "90")), ("The API listens on port {}.", ("8080", "9090", "7070")),
    ("The staging server is called {}.", ("heron", "otter")), ("We use {} for billing.", ("Stripe", "Adyen")), ("The code freeze lasts until {}.", ("tomorrow", "5 May 2026")),
)  # fmt: skip
PLAIN = (
    "Always use pnpm.", "Never use pnpm.", "My goal is to finish the billing migration.", "The billing migration is done.", "I'm allergic to peanuts.",
    "Don't deploy to production until I say so.", "You can deploy to production now.", "I like green tea.", "We no longer use Stripe for billing.",
    "The billing service runs on Node 18.", "The API does not listen on port 8080.", "From now on write tests first.",
)  # fmt: skip
TOLD = (
    "The staging server is slow on Mondays.",
    "The API listens on port 8080.",
    "The billing service needs 2 GB of memory.",
    "The staging server is called otter.",
)
LINES_MAX = 12
Files = Sequence[tuple[str, str]]
COMMANDS = ("make test", "npm run build", "pytest -q")


@cache
def _redactor() -> Redactor:
    return open_redactor(None)


def main(arguments: Sequence[str]) -> int:
    """Try them; 1 when a history depends on the order its logs arrive in."""
    given = argparse.ArgumentParser(prog="arrivals", description=__doc__)
    given.add_argument("--histories", type=int, default=100)
    given.add_argument("--first", type=int, default=0)
    given.add_argument("--on", default="sqlite,postgres")
    asked = given.parse_args(arguments)
    failed = 0
    for kind in asked.on.split(","):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dreamd-arrivals-")))
            made = Postgres(stack.enter_context(servers.postgres())) if kind == "postgres" else Sqlite(folder)
            stack.callback(made.close)
            seeds = range(asked.first, asked.first + asked.histories)
            wrong = [seed for seed in seeds if not _same(made, seed, folder)]
        print(f"{kind}: {len(seeds)} histories, {len(wrong)} depend on the order of arrival {wrong or ''}".rstrip(), flush=True)
        failed += len(wrong)
    return 1 if failed else 0


def history(dice: Random) -> Files:
    """Log files by name."""
    days = sorted(dice.sample(range(24), dice.randint(3, 6)))
    logs = [_session(dice, n, day) for n, day in enumerate(days)]
    if dice.random() < 0.4:  # two machines, minutes apart
        logs[-1] = _moved(logs[-1], logs[-2])
    _with_bad_clocks(dice, logs)
    files = [(f"{log.uuid}.jsonl", log.text()) for log in logs]
    if dice.random() < 0.5:
        parent = dice.choice(logs)
        fork = ClaudeLog(f"fork of {parent.session}", at=parent.at + timedelta(hours=1))
        fork.records = [{**r, "sessionId": fork.uuid} for r in parent.records[: dice.randint(1, len(parent.records))]]
        files.append((f"{fork.uuid}.jsonl", _said(dice, fork).text()))
    return files


def _session(dice: Random, number: int, day: int) -> ClaudeLog:
    log = ClaudeLog(f"session {number}", at=START + timedelta(days=day, hours=dice.choice((0, 14))))
    for _ in range(dice.randint(2, 6)):
        _said(dice, log)
    return log


def _said(dice: Random, log: ClaudeLog) -> ClaudeLog:
    """One more thing that is said or run."""
    match dice.choice("vvvvpppat"):
        case "v":
            words, values = dice.choice(VALUES)
            return log.user(words.format(dice.choice(values)))
        case "p":
            return log.user(dice.choice(PLAIN))
        case "a":
            return log.user("What do you know of it?").assistant(dice.choice(TOLD))
        case _:
            failed = dice.random() < 0.4
            return log.bash(dice.choice(COMMANDS), "1 failed" if failed else "12 passed", exit_code=int(failed))


def _moved(log: ClaudeLog, beside: ClaudeLog) -> ClaudeLog:
    """The same session, begun half a minute after another."""
    moved = ClaudeLog(log.session, at=beside.at + timedelta(seconds=30))
    moved.records = [{**r, "timestamp": f"{moved.at + timedelta(minutes=n):%Y-%m-%dT%H:%M:%S}.000Z"} for n, r in enumerate(log.records)]
    return moved


def _with_bad_clocks(dice: Random, logs: Sequence[ClaudeLog]) -> None:
    """One wild time, a clock set back and forth, a session without times, or one stamped in bulk."""
    log = dice.choice(logs)
    match dice.choice("wjjjjnb.."):
        case "w":
            dice.choice(log.records)["timestamp"] = dice.choice(WILD)
        case "j":
            for record in log.records:
                record["timestamp"] = f"{START + timedelta(days=dice.randrange(24), minutes=dice.randrange(600)):%Y-%m-%dT%H:%M:%S}.000Z"
        case "n":
            for record in log.records:
                del record["timestamp"]
        case "b":
            for record in log.records:
                record["timestamp"] = "2026-03-20T10:07:31.250Z"
        case _:
            pass


def _same(made: Postgres | Sqlite, seed: int, folder: Path) -> bool:
    dice = Random(seed)
    files = history(dice)
    steps = _steps(dice, files)
    days = len(steps)
    tree, held = _dreamed(made, folder / f"{seed}-once", [files], first=days)
    later, then = _dreamed(made, folder / f"{seed}-by-one", [[step] for step in steps], first=1)
    wrong = [*differences(tree, later), *(f"at once: {x}" for x in sorted(held - then)), *(f"one by one: {x}" for x in sorted(then - held))]
    if wrong:
        print(f"history {seed}: " + "\n  ".join(wrong[:LINES_MAX]), flush=True)
    return not wrong


def _steps(dice: Random, files: Files) -> Files:
    """The files in another order; of some first only the beginning arrives."""
    placed: list[tuple[float, str, str]] = []
    for name, text in files:
        lines, at = text.splitlines(keepends=True), sorted((dice.random(), dice.random()))
        if len(lines) > 1 and dice.random() < 0.6:
            placed.append((at[0], name, "".join(lines[: dice.randint(1, len(lines) - 1)])))
        placed.append((at[1], name, text))
    return [(name, text) for _, name, text in sorted(placed)]


def _dreamed(made: Postgres | Sqlite, root: Path, steps: Sequence[Files], *, first: int) -> tuple[dict[str, str], set[str]]:
    """The pages and the beliefs after a dream a step, a day apart, of which the first is so many days from the start."""
    desk = OpenedDesk(root, _redactor(), url="unused", opened=made.emptied(), on_server=isinstance(made, Postgres))
    for n, files in enumerate(steps):
        desk.now = NOW + timedelta(days=first + n)
        for name, text in files:
            (desk.logs / name).write_text(text, encoding="utf-8")
        desk.dream(*(desk.logs / name for name, _ in files), change_share_max=1.0)
    with desk.store() as store:
        held = {repr(head.version) for head in store.heads(SCOPE)}
    tree = desk.tree()
    shutil.rmtree(root)
    return tree, held


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
