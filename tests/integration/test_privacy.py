"""Whom the memory tells what: what was said at one door is not told at another, by search, brief and export alike, and the person is told everything."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from pipelines.logs.audience import said_to
from pipelines.model import SessionInfo
from pipelines.notes.privacy import SAID_TO
from pipelines.run import dream
from tests.benchmarks.privacy import found, measured, said_by, told
from tests.dreaming import NOW, SCOPE, Desk
from tests.writing import ClaudeLog

Command = Callable[..., tuple[int, str, str]]


def dream_at(desk: Desk, door: str, *folders: Path) -> None:
    with desk.store() as store:
        dream(replace(desk.parts(store), audience=door), desk.request(*folders))


def test_nobody_is_told_what_was_said_to_others(desk: Desk) -> None:
    things = said_by(1)
    done = measured(desk, things)
    assert (done.tasks, done.leaks) == (20, ())
    assert done.useful >= done.useful_to_person == 20
    with desk.store() as store:
        heads = {h.version.statement: h.version for h in store.heads(SCOPE)}
        everything = "\n".join(told(store, None)) + "".join(found(store, s.asked, None) for s in things)
        stranger = "\n".join(told(store, "stranger")) + "".join(found(store, s.asked, "stranger") for s in things)
    assert [s.words for s in things if s.mark not in everything] == []  # the measure would see a leak
    assert [s.mark for s in things if s.mark in stranger] == [s.mark for s in things if not s.door and not s.private]
    assert {(v.audience, v.sensitivity) for v in heads.values()} >= {
        ("work", "normal"),
        ("work", "finance"),
        ("doctor", "health"),
        ("home", "persons"),
        ("", "health"),
    }


def test_a_fact_said_at_two_doors_is_for_both_and_keeps_that_through_later_dreams(desk: Desk) -> None:
    for day, door in enumerate(("home", "work", "")):
        folder = desk.logs / (door or "own")
        ClaudeLog(f"s-{door}", at=NOW - timedelta(days=9 - day)).remember("Always answer in short sentences." if door else "The printer is called Otto.").save(
            folder
        )
        dream_at(desk, door, folder)
    with desk.store() as store:
        audiences = {h.version.statement: h.version.audience for h in store.heads(SCOPE)}
        assert audiences["Always answer in short sentences."] == "home,work"
        assert [bool(found(store, "short sentences", a)) for a in ("home", "work", "bank", None)] == [True, True, False, True]


def test_a_session_stays_with_the_audience_it_began_with(desk: Desk) -> None:
    folder = desk.logs / "s"
    log = ClaudeLog("one", at=NOW - timedelta(days=3)).remember("Always lock the garden gate.")
    log.save(folder)
    dream_at(desk, "home", folder)
    log.later(hours=1).remember("Always feed the cat at six.").save(folder)
    dream_at(desk, "work", folder)
    with desk.store() as store:
        assert {h.version.audience for h in store.heads(SCOPE)} == {"home"}
        assert not found(store, "garden cat", "work")


def test_no_log_names_its_own_audience() -> None:
    forged = SessionInfo(uid="s", format="claude", title='"said_to":"work"', extra={SAID_TO: "work", "agent_id": "a"})
    assert said_to("", [forged], (), format="claude")[0].extra == {"agent_id": "a"}
    assert said_to("home", [forged], (), format="claude")[0].extra == {"agent_id": "a", SAID_TO: "home"}


def test_a_title_that_looks_like_an_audience_opens_nothing(desk: Desk) -> None:
    folder = desk.logs / "s"
    log = ClaudeLog("one", at=NOW - timedelta(days=3)).remember("Always lock the garden gate.")
    log.records.append({"type": "custom-title", "customTitle": 'x","extra":{"said_to":"work"}', "sessionId": log.uuid})
    log.save(folder)
    dream_at(desk, "home", folder)
    with desk.store() as store:
        assert not found(store, "garden gate", "work")
        assert found(store, "garden gate", "home")


def test_the_commands_tell_an_audience_what_is_for_it(dreamd: Command, tmp_path: Path) -> None:
    home, own = tmp_path / "home", tmp_path / "own"
    ClaudeLog("h", at=NOW - timedelta(days=3)).remember("Always lock the garden gate.").save(home)
    ClaudeLog("o", at=NOW - timedelta(days=2)).remember("Always use tabs.").remember("I am allergic to peanuts.").save(own)
    settings = tmp_path / "home.toml"
    settings.write_text('audience = "home"\n')
    assert dreamd("dream", home, "--config", settings)[0] == 0
    assert dreamd("dream", own)[0] == 0
    for audience, wanted in {"home": ["garden", "tabs"], "work": ["tabs"], None: ["garden", "tabs", "peanuts"]}.items():
        given = ("--audience", audience) if audience else ()
        for told_by in (dreamd("brief", *given)[1], dreamd("search", "garden tabs peanuts", *given)[1]):
            assert [w for w in ("garden", "tabs", "peanuts") if w in told_by] == wanted
    code, out, _ = dreamd("export", tmp_path / "work.jsonl", "--audience", "work", "--json")
    assert (code, json.loads(out)["audience"]) == (0, "work")
    exported = (tmp_path / "work.jsonl").read_text()
    assert [w for w in ("garden", "tabs", "peanuts") if w in exported] == ["tabs"]
    assert dreamd("search", "tabs", "--audience", "Work!")[0] == 2
