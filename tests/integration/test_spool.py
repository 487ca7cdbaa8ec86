"""Session ends out of the spool: one request each, whoever drains, wherever it is killed; what nobody can read is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.errors import Refused, StoreUnavailable
from pipelines.ports import Blobs
from pipelines.run import Parts
from pipelines.run.parts import Params
from pipelines.store import Store
from pipelines.store.faults import StoreMisplaced
from tests.dreaming import NOW, SCOPE, Desk
from tests.writing import ClaudeLog
from worker.spool import HALF_WRITTEN_S, Drained, drain


class Spool:
    """A desk's spool, filled by real hooks."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.folder = desk.data / "spool"

    def end(self, payload: object, *arguments: str, env: dict[str, str] | None = None) -> None:
        """A session ends."""
        told = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DREAMD_")} | {"DREAMD_DATA_DIR": str(self.desk.data), **(env or {})}
        subprocess.run([sys.executable, "-m", "worker", "hook", "session-end", *arguments], input=told, env=kept, check=True, timeout=30)

    def put(self, name: str, payload: object, *arguments: str) -> Path:
        """The same, written by hand."""
        self.folder.mkdir(exist_ok=True)
        told = {"version": 1, "door": "session-end", "at": 0, "cwd": "/", "arguments": arguments, "environment": {}, "payload": json.dumps(payload)}
        path = self.folder / name
        path.write_text(json.dumps(told))
        return path

    def drain(self, parts: Parts, **request: object) -> Drained:
        return drain(parts, self.folder, self.desk.request(**request), host="desk")

    def files(self) -> list[str]:
        return sorted(p.name for p in self.folder.rglob("*") if p.is_file())


@pytest.fixture
def spool(desk: Desk) -> Spool:
    return Spool(desk)


@pytest.fixture
def store(desk: Desk) -> Iterator[Store]:
    with desk.store() as opened:
        yield opened


def session(desk: Desk, name: str, text: str = "From now on always run the linter first.") -> Path:
    return ClaudeLog(name).user(text).assistant("Done.").save(desk.root / "elsewhere" / "-home-ana")


def test_each_end_is_taken_in_becomes_one_request_and_leaves_the_spool(spool: Spool, store: Store) -> None:
    logs = [session(spool.desk, name) for name in ("one", "two")]
    (logs[0].with_suffix("") / "subagents").mkdir(parents=True)
    ClaudeLog("sub").user("Summarize the repository.").save(logs[0].with_suffix("") / "subagents")
    for log in logs:
        spool.end({"session_id": "x", "transcript_path": str(log), "reason": "exit", "unknown": 1})
    done = spool.drain(spool.desk.parts(store))
    assert [a.answer for a in done.asked] == ["accepted", "coalesced"]
    assert (done.letters, done.left, done.problems) == (0, 0, ())
    assert spool.files() == []
    assert store.counts(SCOPE).sessions == 3
    assert [(d.cause, d.params) for d in store.dreams(SCOPE)] == [("session_end", Params().as_json())]
    assert spool.drain(spool.desk.parts(store)) == Drained()


@pytest.mark.parametrize("step", ["session_taken_in", "session_requested"])
def test_killed_at_any_step_the_next_draining_makes_no_second_dream(step: str, spool: Spool, store: Store) -> None:
    """The claim of a process that is gone is taken over; the request's id is the file's."""
    spool.put("00001-1.json", {"transcript_path": str(session(spool.desk, "one"))})

    class Killed(BaseException):
        pass

    def kill(at: str) -> None:
        if at == step:
            raise Killed

    with pytest.raises(Killed):
        spool.drain(replace(spool.desk.parts(store), step=kill))
    (claim,) = (spool.folder / "claimed").iterdir()
    assert spool.drain(spool.desk.parts(store)) == Drained(), "its owner lives"
    with subprocess.Popen(["true"]) as dead:
        pass
    claim.rename(claim.with_name(f"00001-1.json@{dead.pid}-1"))
    done = spool.drain(spool.desk.parts(store))
    assert [a.answer for a in done.asked] == ["accepted" if step == "session_taken_in" else "known"]
    assert len(store.dreams(SCOPE)) == 1
    assert spool.files() == []


def test_a_store_that_is_away_leaves_the_file_where_it_was(spool: Spool, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.put("00001-1.json", {"session_id": "x"})

    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("ask for a dream")

    with monkeypatch.context() as m:
        m.setattr(store, "request", away)
        with pytest.raises(StoreUnavailable):
            spool.drain(spool.desk.parts(store))
    assert spool.files() == ["00001-1.json"]
    assert [a.answer for a in spool.drain(spool.desk.parts(store)).asked] == ["accepted"]


def test_a_request_that_is_refused_for_now_stays_in_the_spool(spool: Spool, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.put("00001-1.json", {"session_id": "x"})
    store.request(SCOPE, request_id="a", params={"n": 1}, cause="platform")
    with monkeypatch.context() as m:
        m.setattr("pipelines.store.requests.PENDING_MAX", 0)
        assert spool.drain(spool.desk.parts(store)).left == 1
    assert [a.answer for a in spool.drain(spool.desk.parts(store)).asked] == ["accepted"]


@pytest.mark.parametrize(
    ("payload", "arguments", "why"),
    [
        (b"{", (), "no JSON"),
        (b"[1]", (), "no JSON object"),
        (b"\xff\x00", (), "no JSON"),
        (b"[" * 100_000, (), "no JSON"),
        ({"transcript_path": 7}, (), "transcript_path"),
        ({"transcript_path": "a\0b"}, (), "transcript_path"),
        ({"session_id": "x"}, ("--scope", "a//b"), "scope"),
        ({"session_id": "x"}, ("--scope", "a\\b"), "scope"),
        ({"session_id": "x"}, ("--scope", "a/ b"), "scope"),
        ({"transcript_path": "~nobody-of-this-name/x.jsonl"}, (), "transcript_path"),
        ({"transcript_path": "/tmp/\ud800x"}, (), "transcript_path"),
        ({"session_id": "x"}, ("--wiki", "~nobody-of-this-name/w"), "wiki"),
        ({"session_id": "x"}, ("--notes", "~nobody-of-this-name/n"), "--notes"),
    ],
)
def test_what_nobody_can_read_is_kept_as_a_letter(payload: object, arguments: tuple[str, ...], why: str, spool: Spool, store: Store) -> None:
    spool.end(payload, *arguments)
    assert spool.drain(spool.desk.parts(store)) == Drained(letters=1)
    (letter,) = store.letters()
    assert letter.door == "session-end"
    assert why in letter.why
    assert spool.files() == []
    assert store.dreams(SCOPE) == ()


@pytest.mark.parametrize("content", ["", "{}", '{"version": 1}', "[]", '{"version":9,"door":"session-end","cwd":"/","arguments":[],"environment":{},"payload":"{}"}',
                                     '{"version":1,"door":"session-end","cwd":4,"arguments":[],"environment":{},"payload":"{}"}',
                                     '{"version":1,"door":"session-end","cwd":"/","arguments":"x","environment":[],"payload":{}}'])  # fmt: skip
def test_a_file_that_is_no_session_end_is_kept_as_a_letter(content: str, spool: Spool, store: Store) -> None:
    spool.folder.mkdir()
    (spool.folder / "00001-1.json").write_text(content)
    assert spool.drain(spool.desk.parts(store)).letters == 1
    assert [x.body for x in store.letters()] == [content]


def test_secrets_in_a_letter_are_masked(spool: Spool, store: Store) -> None:
    key = "sk-ant-api03-" + "Q7xk2Lm9" * 11 + "AA"
    spool.end(f'{{"token": "{key}"'.encode())
    spool.drain(spool.desk.parts(store))
    (letter,) = store.letters()
    assert key not in letter.body


def test_a_file_half_written_is_waited_for_and_then_taken_or_kept(spool: Spool, store: Store) -> None:
    whole = spool.put(".00001-1.part", {"session_id": "x"})
    half = spool.put(".00002-1.part", {"session_id": "y"})
    half.write_text(half.read_text()[:40])
    for path in (whole, half):
        os.utime(path, (NOW.timestamp() - HALF_WRITTEN_S + 1,) * 2)
    assert spool.drain(spool.desk.parts(store)) == Drained()
    for path in (whole, half):
        os.utime(path, (NOW.timestamp() - HALF_WRITTEN_S - 1,) * 2)
    done = spool.drain(spool.desk.parts(store))
    assert ([a.answer for a in done.asked], done.letters) == (["accepted"], 1)
    assert spool.files() == []


def test_a_session_of_another_wiki_waits_for_it_and_a_scope_named_is_kept(spool: Spool, store: Store) -> None:
    desk = spool.desk
    spool.end({"session_id": "a"}, "--wiki", str(desk.root / "other"))
    spool.end({"session_id": "b"}, env={"DREAMD_WIKI": str(desk.wiki), "DREAMD_SCOPE": "acme/web"})
    spool.end({"session_id": "c"}, f"--wiki={desk.wiki}", "--scope=acme/api")
    done = spool.drain(desk.parts(store))
    assert (len(done.asked), done.left) == (2, 1)
    assert store.scopes() == ("acme/api", "acme/web")
    assert len(spool.files()) == 1
    assert len(spool.drain(desk.parts(store), wiki=desk.root / "other").asked) == 1


def test_a_transcript_that_is_gone_is_told_and_asked_for_all_the_same(spool: Spool, store: Store) -> None:
    spool.put("00001-1.json", {"transcript_path": str(spool.desk.root / "none.jsonl")})
    done = spool.drain(spool.desk.parts(store))
    assert len(done.asked) == 1
    ((path, why),) = done.problems
    assert path.endswith("none.jsonl")
    assert "No such file" in why


@pytest.mark.parametrize(("transcript", "why"), [("/" + "x" * 300, "too long"), ("/proc/self", "no file"), ("/", "no file"), ("/dev/null", "no file")])
def test_a_transcript_that_is_no_file_is_told_and_the_next_session_end_is_done(transcript: str, why: str, spool: Spool, store: Store) -> None:
    spool.put("00001-1.json", {"transcript_path": transcript})
    spool.put("00002-1.json", {"transcript_path": str(session(spool.desk, "good"))})
    done = spool.drain(spool.desk.parts(store))
    assert [a.answer for a in done.asked] == ["accepted", "coalesced"]
    ((path, told),) = done.problems
    assert path == transcript
    assert why in told
    assert store.counts(SCOPE).sessions == 1
    assert spool.files() == []


@pytest.mark.parametrize("error", [Refused("the archive is another's"), OSError("no such device")])
def test_a_file_that_cannot_be_done_is_told_and_left_and_the_next_is_done(error: Exception, spool: Spool, store: Store) -> None:
    spool.put("00001-1.json", {"session_id": "x"}, "--scope", "acme/bad")
    spool.put("00002-1.json", {"session_id": "y"})
    parts = spool.desk.parts(store)

    def archive_of(scope: str) -> Blobs:
        if scope == "acme/bad":
            raise error
        return parts.archive

    done = drain(parts, spool.folder, spool.desk.request(), host="desk", archive_of=archive_of)
    assert (len(done.asked), done.left, done.letters) == (1, 1, 0)
    assert done.problems == ((str(spool.folder / "00001-1.json"), str(error)),)
    assert spool.files() == ["00001-1.json"]


def test_a_store_that_cannot_be_used_stops_the_draining(spool: Spool, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.put("00001-1.json", {"session_id": "x"})

    def misplaced(*_: object, **__: object) -> None:
        raise StoreMisplaced("here", "cannot be written")

    monkeypatch.setattr(store, "request", misplaced)
    with pytest.raises(StoreMisplaced):
        spool.drain(spool.desk.parts(store))
    assert spool.files() == ["00001-1.json"]


def test_a_hook_that_names_an_events_file_vouches_for_nothing(spool: Spool, store: Store) -> None:
    log = spool.desk.root / "x.events.jsonl"
    log.write_text(json.dumps({"topic": "port", "value": "1", "status": "verified", "observed_at": "2026-03-02T00:00:00Z", "source": "evil"}) + "\n")
    spool.put("00001-1.json", {"transcript_path": str(log)})
    assert len(spool.drain(spool.desk.parts(store)).asked) == 1
    assert store.counts(SCOPE).sessions == 1
    assert store.rulings(SCOPE) == ()


def test_two_that_drain_at_once_do_each_file_once(spool: Spool, store: Store) -> None:
    for n in range(40):
        spool.put(f"{n:05d}-1.json", {"session_id": str(n)})
    at_once, done = threading.Barrier(3), []

    def draining() -> None:
        at_once.wait(30)
        done.append(spool.drain(spool.desk.parts(store)))

    threads = [threading.Thread(target=draining) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
    assert sum(len(d.asked) for d in done) == 40
    assert all(a.answer != "known" for d in done for a in d.asked)
    assert spool.files() == []


def test_a_spool_that_is_no_folder_is_told(spool: Spool, store: Store) -> None:
    assert spool.drain(spool.desk.parts(store)) == Drained(), "no hook ran yet"
    spool.folder.write_text("")
    with pytest.raises(Refused, match="spool"):
        spool.drain(spool.desk.parts(store))
