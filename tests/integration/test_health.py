"""/healthz and /metrics over HTTP, doctor and status as commands: what is wrong is said, with a code, and what to do."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog

from pipelines.errors import StoreUnavailable
from pipelines.logs.archive import ArchiveUnavailable
from pipelines.run.health import CODES
from pipelines.store import Store, open_store
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import Clock, clock, store
from tests.contracts.work_builders import Ticks, ask, take, ticks
from tests.redacting import rule_cache
from worker import checks
from worker.cli import run
from worker.health_server import KEPT_S, Diagnoses, Diagnosis, limits_of, look, metrics_text, served, serving_health
from worker.settings import Settings

__all__ = ["clock", "store", "ticks"]  # fixtures of this suite

LIMITS = limits_of(Settings())
SAMPLE = Path(__file__).resolve().parents[2] / "deploy" / "sample"


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as told:
            return told.status, told.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_worker_that_answers_and_finishes_nothing_turns_healthz_to_503(store: Store, clock: Clock, ticks: Ticks) -> None:
    ask(store, "work")
    store.process_seen("host:1:2", "worker")
    with served(lambda: look(store, LIMITS), "127.0.0.1:0") as port:
        assert get(port(), "/healthz")[0] == 200
        later = LIMITS.worker_idle_s + 60
        clock.at += timedelta(seconds=later)
        ticks.at += int(later * 1000)
        store.process_seen("host:1:2", "worker")  # it answers
        status, told = get(port(), "/healthz")
        assert status == 503
        assert [p["code"] for p in json.loads(told)["problems"]] == ["worker_stuck"]
        store.finish_job(take(store, "host:1:2:0"))
        store.process_seen("host:1:2", "worker", done=1, finished_ms=ticks.at)
        assert get(port(), "/healthz")[0] == 200, "it finished a unit"


def test_metrics_are_numbers_by_scope_and_role_and_nothing_anybody_said(store: Store, ticks: Ticks) -> None:
    store.request(SCOPE, request_id="my private words", params={"of": "secret"}, cause="test", hand="ana")
    store.process_seen("host:1:2", "worker", done=4, failed=1)
    with served(lambda: look(store, LIMITS), "127.0.0.1:0") as port:
        status, told = get(port(), "/metrics")
    assert status == 200
    for line in (f'dreamd_units_due{{scope="{SCOPE}"}} 1.0', 'dreamd_units_done{role="worker"} 4.0', "dreamd_store_up 1.0"):
        assert line in told.splitlines()
    assert not any(word in told for word in ("private", "secret", "host:1:2"))


def test_of_very_many_scopes_most_are_told_as_other(store: Store) -> None:
    for n in range(52):
        ask(store, "x", scope=f"acme/{n:02}")
    told = metrics_text(look(store, LIMITS)).decode()
    assert told.count("dreamd_units_due{") == 51
    assert 'dreamd_units_due{scope="other"} 2.0' in told
    assert "dreamd_scopes 52.0" in told


def test_other_paths_are_not_there(store: Store) -> None:
    with served(lambda: look(store, LIMITS), "127.0.0.1:0") as port:
        assert get(port(), "/")[0] == 404
        assert get(port(), "/healthz?x=1")[0] == 200


def test_a_store_that_does_not_answer_is_unhealthy_and_still_measured(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(scope: str | None = None) -> None:
        raise StoreUnavailable("measure")

    monkeypatch.setattr(store, "health", away)
    answer = look(store, LIMITS)
    assert [p.code for p in answer.problems] == ["store_unreachable"]
    assert "dreamd_store_up 0.0" in metrics_text(answer).decode()


def test_a_store_that_hangs_keeps_no_probe_waiting_and_is_asked_once_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, asked, measure = threading.Event(), list[None](), store.health

    def hangs(scope: str | None = None) -> object:
        asked.append(None)
        assert goes_on.wait(30)
        return measure(scope)

    monkeypatch.setattr(store, "health", hangs)
    source = Diagnoses(store, LIMITS, patience_s=0.05)
    for answer in (source(), source()):
        assert [p.code for p in answer.problems] == ["store_unreachable"]
        assert "has not answered" in answer.problems[0].why
    goes_on.set()
    source.patience_s = 30
    assert source().healthy
    assert len(asked) == 1


def test_who_asks_again_at_once_is_told_the_same(store: Store) -> None:
    now = [0.0]
    source = Diagnoses(store, LIMITS, clock=lambda: now[0])
    first = source()
    assert source() is first
    now[0] += KEPT_S
    assert source() is not first


def test_an_address_that_is_taken_is_taken_over_when_it_is_free(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.health_server.BIND_S", 0.02)
    healthy = Diagnosis(measured=None, problems=())
    with served(lambda: healthy, "127.0.0.1:0") as first:
        address = f"127.0.0.1:{first()}"
        second = served(lambda: healthy, address)
        port = second.__enter__()
    try:
        assert get(port(), "/healthz")[0] == 200
    finally:
        second.__exit__(None, None, None)


def test_without_an_address_nothing_listens(store: Store) -> None:
    before = threading.active_count()
    with serving_health(store, Settings()):
        assert threading.active_count() == before


# --- doctor ------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    for name in ("DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(rule_cache(request)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


Doctor = Callable[..., tuple[int, dict[str, str]]]


@pytest.fixture
def doctor(home: Path, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """The command; returns its exit code and what is not well, code → state."""

    def command(*more: str) -> tuple[int, dict[str, str]]:
        capsys.readouterr()
        code = run(["doctor", "--json", *more])
        told = json.loads(capsys.readouterr().out)
        return code, {c["code"]: c["state"] for c in told["checks"] if c["state"] != "ok"}

    return command


@pytest.fixture
def shared(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store of its own the settings name."""
    url = f"sqlite:///{home}/shared/store.db"
    monkeypatch.setenv("DREAMD_DATABASE_URL", url)
    with open_store(url, now=lambda: datetime.now(UTC)) as made:
        yield made


def test_doctor_of_a_host_without_a_wiki_says_so_and_is_content(doctor: Doctor) -> None:
    assert doctor() == (0, {"store_unreachable": "note"})


def test_doctor_finds_a_healthy_store_healthy(doctor: Doctor, shared: Store) -> None:
    assert doctor() == (0, {})


def test_doctor_says_at_once_who_is_missing_for_what_waits(doctor: Doctor, home: Path, shared: Store) -> None:
    """Long before it is an alarm: whoever has just set it up asks whether it will work."""
    ask(shared, "now")
    assert doctor() == (0, {"no_worker": "note"})
    shared.process_seen("host:1:2", "worker")
    shared.set_schedule(SCOPE, "nightly", "0 3 * * *", "UTC")
    assert doctor() == (0, {"no_scheduler": "note"})
    shared.process_seen("host:1:3", "schedule")
    assert doctor() == (0, {})
    spool = home / "data" / "dreamd" / "spool"
    spool.mkdir(parents=True)
    (spool / "1.json").write_text("{}")
    assert doctor() == (0, {"spool": "note"})


def test_doctor_tells_in_text_what_where_and_what_to_do(doctor: Doctor, home: Path, shared: Store, capsys: pytest.CaptureFixture[str]) -> None:
    shared.keep_letter("submit", "no JSON", "{")
    (home / "shared").chmod(0o755)
    assert run(["doctor"]) == 1
    told = capsys.readouterr().out
    assert f"problem  folder_open: store folder {home / 'shared'}: others may look into it" in told
    assert f"→ chmod 700 {home / 'shared'}" in told
    assert "note     letters: the store: messages nobody could act on came in the last day: 1" in told
    fine = [line for line in told.splitlines() if line.startswith("ok ")]
    assert fine
    assert not [line for line in fine if line.split()[1].rstrip(":") in CODES | checks.CODES], "a code names what is wrong"


def test_letters_are_no_alarm_and_are_cleared_when_they_were_read(doctor: Doctor, shared: Store, capsys: pytest.CaptureFixture[str]) -> None:
    shared.keep_letter("submit", "no JSON", "{")
    assert doctor() == (0, {"letters": "note"})
    assert look(shared, LIMITS).healthy
    assert run(["letters", "--clear"]) == 0
    told = capsys.readouterr().out
    assert "submit: no JSON" in told
    assert "1 letter cleared" in told
    assert doctor() == (0, {})
    shared.keep_letter("submit", "no JSON", "{")
    assert doctor() == (0, {"letters": "note"}), "the same sent again is news"


def test_a_driver_that_is_missing_is_blamed_once(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_DATABASE_URL", "postgresql://ana@127.0.0.1:1/notes")
    monkeypatch.setattr("worker.checks.importlib.util.find_spec", lambda _name: None)
    assert doctor() == (1, {"extra_missing": "problem"})


def test_doctor_looks_at_the_folder_of_the_wiki(doctor: Doctor, home: Path) -> None:
    wiki = home / "wiki"
    at = ("--wiki", str(wiki))
    assert run(["dream", str(SAMPLE / "sessions"), *at]) == 0
    assert doctor(*at) == (0, {})
    marker = wiki / ".dreamd" / "marker.json"
    ours = marker.read_text()
    for field in ("host", "epoch"):
        marker.write_text(json.dumps({**json.loads(ours), field: "another"}))
        assert doctor(*at) == (1, {"wiki_of_another": "problem"})
    marker.write_text(ours)
    wiki.rename(home / "unmounted")
    assert doctor(*at) == (1, {"wiki_gone": "problem"})
    wiki.mkdir()
    assert doctor(*at) == (1, {"wiki_gone": "problem"})


def test_a_folder_that_may_not_be_written_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.checks.os.access", lambda _path, _mode: False)
    assert [(c.code, c.state) for c in checks.folder(home, "wiki", private=False)] == [("folder_unwritable", "problem")]


def test_doctor_names_a_damaged_store_and_goes_on(doctor: Doctor, home: Path, shared: Store) -> None:
    with sqlite3.connect(home / "shared" / "store.db") as conn:
        conn.execute("DROP TRIGGER revisions_no_update")
    assert doctor() == (1, {"store_damaged": "problem"})


def test_doctor_names_what_others_may_read(doctor: Doctor, home: Path, shared: Store) -> None:
    (home / "shared").chmod(0o755)
    assert doctor() == (1, {"folder_open": "problem"})


def test_doctor_names_a_redis_that_does_not_answer(doctor: Doctor, home: Path, shared: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_REDIS_URL", f"unix://{home}/none.sock")
    assert doctor() == (1, {"redis_unreachable": "problem"})


def test_a_redis_that_may_throw_requests_away_is_named(redis_url: str) -> None:
    import redis

    with redis.Redis.from_url(redis_url) as client:
        kept = {n: v for n in ("maxmemory-policy", "save", "appendonly") for n, v in client.config_get(n).items()}
        try:
            client.config_set("maxmemory-policy", "allkeys-lru")
            client.config_set("save", "")
            assert {c.code: c.state for c in checks.redis(redis_url, queue="q")} == {"redis_evicts": "problem", "redis_forgets": "note"}
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("save", "3600 1")
            assert [c.state for c in checks.redis(redis_url, queue="q")] == ["ok"]
        finally:
            for name, value in kept.items():
                client.config_set(name, value)


@pytest.mark.parametrize("key", ["q", "q:consumers", "dream:q", "dream:q:bells"])
def test_a_key_of_redis_that_holds_something_else_is_named(key: str, redis_url: str) -> None:
    import redis

    with redis.Redis.from_url(redis_url) as client:
        client.set(key, "a text of somebody's")
    told = [c for c in checks.redis(redis_url, queue="q") if c.code == "redis_key_taken"]
    assert [(c.state, c.about) for c in told] == [("problem", f"redis key {key}")]


def test_requests_in_redis_that_nobody_takes_are_named(redis_url: str) -> None:
    import redis

    def said() -> dict[str, str]:
        return {c.code: c.state for c in checks.redis(redis_url, queue="q") if c.state != "ok" and c.code != "redis_forgets"}

    with redis.Redis.from_url(redis_url) as client:
        client.rpush("q", "{}")
        assert said() == {"redis_unread": "problem"}
        client.sadd("q:consumers", "host:1:2")
        assert said() == {"redis_unread": "problem"}, "it died"
        client.set("q:alive:host:1:2", "1")
        assert said() == {}
        client.delete("q")
        client.rpush("dream:q", "{}")
        assert said() == {"redis_unread": "note"}, "a worker may be about to take it"


def test_doctor_names_session_ends_nobody_drains(doctor: Doctor, home: Path, shared: Store) -> None:
    spool = home / "data" / "dreamd" / "spool"
    spool.mkdir(parents=True)
    (spool / "1.json").write_text("{}")
    assert doctor() == (0, {"spool": "note"})
    os.utime(spool / "1.json", (1, 1))
    assert doctor() == (1, {"spool": "problem"})


def test_doctor_names_a_schedule_nobody_can_read(doctor: Doctor, shared: Store) -> None:
    shared.set_schedule(SCOPE, "nightly", "99 * * * *", "UTC")
    shared.process_seen("host:1:2", "schedule")
    assert doctor() == (1, {"schedule_unreadable": "problem"})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a lock")
def test_doctor_names_the_process_that_is_frozen_in_a_write(doctor: Doctor, home: Path, shared: Store) -> None:
    path = home / "shared" / "store.db"
    frozen = """
import os, signal, sqlite3, sys
conn = sqlite3.connect(sys.argv[1], isolation_level=None)
conn.execute("BEGIN IMMEDIATE")
print("writing", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""
    with subprocess.Popen([sys.executable, "-c", frozen, str(path)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            _until(lambda: checks._state(process.pid) == "T")
            [named] = checks.writer(path)
            assert str(process.pid) in named.why
            assert doctor()[1]["writer_frozen"] == "problem"
        finally:
            process.kill()
    assert checks.writer(path) == ()


def _until(ready: Callable[[], bool]) -> None:
    ends = time.monotonic() + 30
    pause = threading.Event()
    while not ready():
        assert time.monotonic() < ends
        pause.wait(0.01)


def test_an_archive_that_cannot_be_read_is_an_alarm_and_changes_nothing(shared: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        def get(self, address: str) -> bytes:
            raise ArchiveUnavailable(f"blob {address} cannot be read")

        def put(self, data: bytes) -> str:
            raise AssertionError("nothing is written")

    monkeypatch.setattr(shared, "newest_blobs", lambda scope, limit: ("a", "b"))
    [check] = checks.archive(shared, SCOPE, Away(), 0.05)
    assert (check.code, check.state) == ("archive_unreadable", "problem")
    [check] = checks.archive(shared, SCOPE, Away(), 1.0)
    assert check.state == "note"


def test_a_host_whose_clock_is_off_is_named(shared: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "on_sqlite", False)
    shared.ticks = lambda: int(time.time() * 1000) - 60_000
    [check] = checks.clock(shared)
    assert (check.code, check.state) == ("clock_skew", "problem")
    shared.ticks = lambda: int(time.time() * 1000)
    assert checks.clock(shared)[0].state == "ok"


def test_codes_of_checks_and_of_the_judge_are_two_sets() -> None:
    assert not checks.CODES & CODES


# --- status, metrics, verify -------------------------------------------------------------------------------------------------------------


def test_status_tells_what_waits_and_when_the_next_dream_is_due(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wiki = ["--wiki", str(home / "wiki")]
    assert run(["dream", str(SAMPLE / "sessions"), *wiki]) == 0
    assert run(["schedule", "add", "nightly", "0 3 * * *", "--zone", "Europe/Berlin", *wiki]) == 0
    assert run(["submit", "--request-id", "r1", *wiki]) == 0
    capsys.readouterr()
    assert run(["status", *wiki]) == 0
    told = capsys.readouterr().out
    assert "a dream runs, 1 unit due; next by schedule 20" in told
    assert run(["status", "--json", *wiki]) == 0
    as_json = json.loads(capsys.readouterr().out)
    assert (as_json["running"], as_json["due"], as_json["workers"], as_json["unread"]) == (1, 1, 0, 0)
    assert as_json["last_success_age_s"] < 3600
    assert as_json["next_slot"][11:16] in {"01:00", "02:00"}
    assert run(["metrics", "--once", *wiki]) == 0
    assert 'dreamd_units_due{scope="local"} 1.0' in capsys.readouterr().out
    assert run(["verify", *wiki]) == 0
    assert run(["metrics", "--once", *wiki]) == 0
    assert 'dreamd_verify_failed{scope="local"} 0.0' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("address", "event", "level"),
    [("taken", "health_served_by_another", "info"), ("192.0.2.1:9", "health_not_served", "warning"), ("a" * 70 + ".example:9", "health_not_served", "warning")],
)
def test_an_address_that_is_not_ours_is_told_by_its_reason(address: str, event: str, level: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, structlog.testing.capture_logs() as logs:
        at = f"127.0.0.1:{other.getsockname()[1]}" if address == "taken" else address
        with served(lambda: Diagnosis(measured=None, problems=()), at):
            _until(lambda: bool(logs))
    assert [(x["event"], x["log_level"]) for x in logs] == [(event, level)]


def test_metrics_without_an_address_are_refused_with_the_setting(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["metrics"]) == 3
    assert "metrics_addr" in capsys.readouterr().err
