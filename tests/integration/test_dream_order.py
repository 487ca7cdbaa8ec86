"""Arrival never decides: the same sessions in any order, one by one or all at once, in one piece or two, give the same tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dreaming import Desk, differences
from tests.writing import START, ClaudeLog, conversation, events, memory

SAID = (
    "The staging port is 5432.",
    "The staging port is 5433.",
    "Actually the staging port is 5433, not 5432.",
    "The staging port is 5432 again.",
    "The production port is 5432.",
    "Always use pnpm in the web folder.",
    "Always use pnpm in web/.",
    "Never use npm in the web folder.",
    "From now on use yarn in the web folder instead of pnpm.",
    "I moved from Leiden to Utrecht.",
    "I live in Leiden.",
    "We keep audit logs for 90 days because the auditors ask for it.",
    "We keep audit logs for 30 days.",
    "以后提交信息一律用英文。",
    "Please move the backups to the other host.",
)  # fmt: skip
RAN = (
    ("make migrate", "error: DATABASE_URL is not set", 2),
    ("DATABASE_URL=x make migrate", "Applied 3 migrations.", 0),
    ("HARBOR_ENV=test pytest -q", "12 passed in 1.20s", 0),
    ("cat config.toml", "port = 5433", 0),
)  # fmt: skip
STARTS = (START, START, START + timedelta(seconds=60), START + timedelta(days=3), START + timedelta(days=9))


@dataclass(frozen=True)
class Written:
    """A log file: its name and bytes, and where it may be cut so that its first part is read before the rest."""

    name: str
    data: bytes
    cut: int | None = None


@st.composite
def claude_logs(draw: st.DrawFn, number: int) -> list[Written]:
    """A session, perhaps with a fork of it that goes on elsewhere, perhaps with a copy under another name."""
    log = ClaudeLog(f"session {number}", at=draw(st.sampled_from(STARTS)))
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            log.user(draw(st.sampled_from(SAID)))
        else:
            command, output, code = draw(st.sampled_from(RAN))
            log.bash(command, output, exit_code=code)
    data = log.text().encode()
    cut = draw(st.none() | st.integers(1, len(data) - 1))
    out = [Written(f"{log.uuid}.jsonl", data, cut)]
    if draw(st.booleans()):
        out.append(Written(f"copy of {number}.jsonl", data))
    if draw(st.booleans()):
        fork = ClaudeLog(f"fork of {number}", at=log.at + draw(st.sampled_from((timedelta(0), timedelta(days=2)))))
        fork.records = [{**r, "sessionId": fork.uuid} for r in log.records]
        out.append(Written(f"{fork.uuid}.jsonl", fork.user(draw(st.sampled_from(SAID))).text().encode()))
    return out


@st.composite
def talks(draw: st.DrawFn, number: int) -> list[Written]:
    """A plain conversation, with times or without."""
    lines = [(draw(st.sampled_from(("Ana", "Bo"))), draw(st.sampled_from(SAID))) for _ in range(draw(st.integers(1, 3)))]
    at: datetime | None = draw(st.sampled_from((None, *STARTS)))
    return [Written(f"talk {number}.jsonl", conversation(f"talk-{number}", lines, at=at).encode())]


@st.composite
def event_logs(draw: st.DrawFn, number: int) -> list[Written]:
    """A few rows about one topic."""
    rows = [
        ("retention-days", draw(st.sampled_from(("30", "90"))), draw(st.sampled_from(("verified", "inferred"))), f"2026-03-0{draw(st.integers(1, 4))}T08:00:00Z")
        for _ in range(draw(st.integers(1, 3)))
    ]  # fmt: skip
    return [Written(f"seen {number}.events.jsonl", events(rows, producer=f"watcher-{number}").encode())]


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[Written], list[list[int]]]:
    """Files, and the dreams they arrive in: every file once."""
    kinds = st.sampled_from((claude_logs, claude_logs, talks, event_logs))
    files = [f for n in range(draw(st.integers(2, 3))) for f in draw(draw(kinds)(n))]
    order = draw(st.permutations(range(len(files))))
    ends = sorted({*draw(st.lists(st.integers(1, len(files)), max_size=3)), len(files)})
    return files, [list(order[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def notes_of(desk: Desk) -> None:
    desk.note("ports.md", memory("ports", "The staging port is 5432.", modified="2026-03-02T09:30:00Z"))
    desk.note("web.md", memory("web", "The web folder uses pnpm. See [[ports]].", modified="2026-03-04T09:30:00Z"))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(given_arrival=arrivals())
def test_any_arrival_of_the_same_sessions_gives_the_same_tree(desks: Callable[[], Desk], given_arrival: tuple[list[Written], list[list[int]]]) -> None:
    files, groups = given_arrival
    at_once, by_group = desks(), desks()
    notes_of(at_once)
    notes_of(by_group)
    at_once.dream(*_written(at_once, files))
    for group in groups:
        early = [Written(files[i].name, files[i].data[: files[i].cut]) for i in group if files[i].cut]
        if early:
            by_group.dream(*_written(by_group, early))
        by_group.dream(*_written(by_group, [files[i] for i in group]))
    assert differences(at_once.tree(), by_group.tree()) == []


def _written(desk: Desk, files: list[Written]) -> list[Path]:
    for file in files:
        (desk.logs / file.name).write_bytes(file.data)
    return [desk.logs / file.name for file in files]
