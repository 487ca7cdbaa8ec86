"""The commands around triggers, in this process for speed: submit, schedule add, list and remove, watch --once, and the help of the hook."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.run.parts import Params
from pipelines.store import Store, open_store
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.cli import run


@dataclass(frozen=True)
class Told:
    """What a command said."""

    code: int
    out: str
    err: str


PLAIN = Params().as_json()
Command = Callable[..., Told]


@pytest.fixture
def dreamd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in a home of its own."""
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))

    def command(*arguments: object) -> Told:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        said = capsys.readouterr()
        return Told(code, said.out, said.err)

    return command


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A shared store, named by the settings: no wiki is needed."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    monkeypatch.setenv("DREAMD_DATABASE_URL", url)
    return url


def opened(url: str) -> Store:
    return open_store(url, now=lambda: datetime.now(UTC))


def test_submit_asks_once_and_tells_the_dream_again_for_the_same_id(dreamd: Command, shared: str) -> None:
    first = dreamd("submit", "--scope", "acme/web", "--request-id", "r1", "--hand", "ana")
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("accepted: request r1, dream ")
    assert "it waits, since no worker runs now: start dreamd worker" in first.out
    again = json.loads(dreamd("submit", "--scope", "acme/web", "--request-id", "r1", "--json").out)
    assert again["answer"] == "known"
    assert again["dream"] in first.out
    unlike = dreamd("submit", "--scope", "acme/web", "--dry-run")
    assert unlike.out.startswith("accepted: ")
    with opened(shared) as store:
        assert [(d.cause, d.params, d.state) for d in store.dreams("acme/web")] == [
            ("platform", {**PLAIN, "dry_run": True}, "pending"),
            ("platform", PLAIN, "running"),
        ]


def test_submit_takes_a_message_from_a_file_or_standard_input(dreamd: Command, shared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"version": 1, "request_id": "r1", "scope": "acme"}))
    assert dreamd("submit", tmp_path / "m.json").out.startswith("accepted: request r1")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "m.json").read_bytes())))
    assert dreamd("submit", "-").out.startswith("known: request r1")
    assert dreamd("submit", tmp_path / "m.json", "--dry-run").code == 2
    missing = dreamd("submit", tmp_path / "none.json")
    assert (missing.code, missing.out) == (1, "")
    assert "none.json: cannot be read" in missing.err


def test_submit_refuses_what_it_does_not_know_with_the_reason_and_keeps_it(dreamd: Command, shared: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"version": 1, "request_id": "r1", "scope": "acme", "budget_usd": 5}))
    said = dreamd("submit", tmp_path / "m.json")
    assert (said.code, said.out) == (3, "")
    assert said.err == "refused: budget_usd: there is no such field in version 1\n"
    assert json.loads(dreamd("submit", tmp_path / "m.json", "--json").out)["answer"] == "refused"
    with opened(shared) as store:
        assert len(store.letters()) == 1
        assert store.scopes() == ()


def test_submit_prints_its_schema_without_a_store(dreamd: Command) -> None:
    told = dreamd("submit", "--schema")
    assert told.code == 0
    assert set(json.loads(told.out)) == {"message", "answer"}
    assert dreamd("submit").code == 3, "no wiki and no shared store"


def test_a_schedule_is_added_listed_changed_and_removed(dreamd: Command, shared: str) -> None:
    assert dreamd("schedule", "add", "nightly", "0 3 * * 0", "--zone", "Europe/Berlin", "--scope", "acme").out == "acme: nightly 0 3 * * 0 (Europe/Berlin)\n"
    assert dreamd("schedule", "add", "adaptive", "1h score=40", "--scope", "acme", "--dry-run").code == 0
    assert dreamd("schedule", "add", "nightly", "0 4 * * sun", "--scope", "acme").code == 0
    listed = json.loads(dreamd("schedule", "list", "--json").out)["schedules"]
    assert [(s["kind"], s["spec"], s["zone"], s["params"]) for s in listed] == [
        ("adaptive", "1h score=40", "UTC", {"dry_run": True}),
        ("nightly", "0 4 * * sun", "UTC", {}),
    ]
    assert dreamd("schedule", "list").out.splitlines()[1] == "acme: nightly 0 4 * * sun (UTC), has not fired yet"
    assert dreamd("schedule", "remove", "nightly", "--scope", "acme").code == 0
    gone = dreamd("schedule", "remove", "nightly", "--scope", "acme")
    assert (gone.code, "has no nightly schedule" in gone.err) == (3, True)


@pytest.mark.parametrize(("arguments", "field"), [(("nightly", "0 25 * * *"), "hour"), (("nightly", "0 3 * * *", "--zone", "Mars/Olympus"), "zone"),
                                                  (("interval", "often"), "spec"), (("weekly", "x"), "kind")])  # fmt: skip
def test_a_schedule_nobody_could_read_is_refused_by_its_field(arguments: tuple[str, ...], field: str, dreamd: Command, shared: str) -> None:
    said = dreamd("schedule", "add", *arguments, "--scope", "acme")
    assert (said.code, said.out) == (2, ""), "a matter of usage"
    assert f"{field}: " in said.err


def test_the_nightly_schedule_of_the_settings_is_set_and_follows_them(dreamd: Command, shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_NIGHTLY", "0 3 * * *")
    assert dreamd("schedule", "--once").out == "nothing is due\n"
    with opened(shared) as store:
        (before,) = store.schedules("local")
    monkeypatch.setenv("DREAMD_ZONE", "Asia/Tokyo")
    assert dreamd("schedule", "--once").code == 0
    with opened(shared) as store:
        (after,) = store.schedules("local")
    assert (before.zone, after.zone, after.since) == ("UTC", "Asia/Tokyo", before.since)
    monkeypatch.setenv("DREAMD_NIGHTLY", "at night")
    assert dreamd("schedule", "--once").code == 3


def test_watching_once_takes_in_what_is_quiet_and_drains_the_spool(dreamd: Command, tmp_path: Path) -> None:
    log = ClaudeLog("one").user("The port is 5433.").save(tmp_path / "logs")
    os.utime(log, (1_800_000_000, 1_700_000_000))
    ClaudeLog("two").user("The port is 5433.").save(tmp_path / "logs")
    spool = tmp_path / "data" / "dreamd" / "spool"
    spool.mkdir(parents=True)
    told = {"version": 1, "door": "session-end", "at": 0, "cwd": "/", "arguments": [], "environment": {}, "payload": "{}"}
    (spool / "1.json").write_text(json.dumps(told))
    (spool / "2.json").write_text("{")
    said = dreamd("watch", tmp_path / "logs", "--once", "--json", "--wiki", tmp_path / "wiki")
    assert said.code == 0, said.err
    looked = json.loads(said.out)
    assert {k: looked[k] for k in ("ended", "letters", "left", "problems")} == {"ended": 1, "letters": 1, "left": 0, "problems": []}
    assert [a["answer"] for a in looked["asked"]] == ["accepted", "coalesced"]
    text = dreamd("watch", tmp_path / "logs", "--once", "--wiki", tmp_path / "wiki").out
    assert [re.sub(r"[0-9a-z]{12}", "ID", line) for line in text.splitlines()] == [
        "nothing new: what is there was taken in",
        "  asked for dream ID before (running)",
    ]
    ClaudeLog("three").user("The port is 5433.").save(tmp_path / "logs")
    text = dreamd("watch", tmp_path / "logs", "--once", "--wiki", tmp_path / "wiki").out
    assert text.startswith("1 log grew and is not quiet yet: a session has ended after 600 s without more\n")
    (spool / "3.json").write_text(json.dumps({**told, "at": 1}))
    text = dreamd("watch", tmp_path / "logs", "--once", "--quiet", "0", "--wiki", tmp_path / "wiki").out.splitlines()
    assert text[0] == "1 session end of a hook, 1 log taken in"
    assert [re.sub(r"[0-9a-z]{12}", "ID", line) for line in text[1:]] == ["  joins dream ID, which has not begun (running)"] * 2


def test_the_hook_has_a_help(dreamd: Command) -> None:
    assert "exits 0, always" in " ".join(dreamd("hook", "session-end", "--help").out.split())
