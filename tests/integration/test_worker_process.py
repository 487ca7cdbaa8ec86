"""Workers as processes over PostgreSQL and Valkey: however one of them ends, the wiki is the one of an undisturbed dream."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy.engine import make_url

from tests import servers
from tests.contracts.store_kinds import administrator
from tests.dreaming import SCOPE, Desk, differences
from tests.redacting import shared_redactor, vendor_keys
from tests.workers import COMMAND, Office, Process, ask, ended, office, sessions, tree, until
from tests.writing import ClaudeLog
from worker.celery_app import make_app
from worker.cli.worker import THREADS

MANY = 8

pytestmark = pytest.mark.timeout(300)  # processes that start side by side, on whatever else this machine does


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, str]:
    """The pages of one dream in one process."""
    desk = Desk(tmp_path_factory.mktemp("undisturbed"), shared_redactor(request))
    sessions(desk, MANY)
    desk.dream()
    return desk.tree()


@pytest.fixture
def at(request: pytest.FixtureRequest, tmp_path: Path, database_url: str, redis_url: str) -> Iterator[Office]:
    with office(request, tmp_path / "empty", database=database_url, redis=redis_url) as made:
        yield made


@pytest.fixture
def desk(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> Desk:
    made = Desk(tmp_path / "desk", shared_redactor(request), url=database_url)
    sessions(made, MANY)
    return made


def test_however_workers_end_the_wiki_is_the_same_and_only_a_kill_counts_against_a_unit(at: Office, desk: Desk, undisturbed: dict[str, str]) -> None:
    ways = {"terminated": (signal.SIGTERM,), "interrupted": (signal.SIGINT,), "twice": (signal.SIGTERM, signal.SIGTERM), "killed": (signal.SIGKILL,),
            "frozen": (signal.SIGSTOP,)}  # fmt: skip
    asked, go = at.cwd / "asked", at.cwd / "go"
    env = {"DREAMD_TEST_ASKED": str(asked)}
    workers = {way: at.worker("--threads", 1, "--until", go, "--ttl-ms", 1500, "--look-s", 0.3, env=env) for way in ways}
    with desk.store() as store:
        dream = ask(desk, store)
        waiting = {str(w.popen.pid) for w in workers.values()}
        until(lambda: asked.exists() and {line.split()[1] for line in asked.read_text().splitlines()} == waiting)  # each holds one session
        for way, signals in ways.items():
            workers[way].send(*signals)
        codes = {way: worker.ended() for way, worker in workers.items() if way != "frozen"}
        assert codes == {"terminated": 0, "interrupted": 0, "twice": 0, "killed": -signal.SIGKILL}, workers["terminated"].said
        last = at.worker("--ttl-ms", 1500, "--look-s", 0.3)
        assert ended(store, dream).state == "completed"
        last.heard("unit_done", stage="extract", claims=2)  # an operator can see that the unit of the killed one was taken over
        go.touch()
        workers["frozen"].send(signal.SIGCONT)  # what it held others have done since
        workers["frozen"].heard("unit_done", outcome="lost")
        for worker in (workers["frozen"], last):
            worker.send(signal.SIGTERM)
            assert worker.ended() == 0, worker.said
        assert store.dream_state(SCOPE, dream).parked == 0
        with store.reading("look at the claims") as conn:
            claims = conn.exec_driver_sql("SELECT claims, failures FROM jobs WHERE stage = 'extract'").all()
        assert sorted(claims) == [(1, 0)] * (MANY - 1) + [(2, 0)]
        assert [w.name.split(":")[1] for w in store.workers(role="worker")] == [str(workers["killed"].popen.pid)]
    assert differences(undisturbed, tree(desk)) == []


def test_workers_who_can_read_neither_logs_nor_wiki_do_the_whole_dream_and_another_process_publishes_it(
    at: Office, desk: Desk, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    _let_in(at.env["DREAMD_DATABASE_URL"])
    wiki = tmp_path / "published"
    wiki.mkdir()
    with desk.store() as store:
        dream = ask(desk, store)
        hidden = (desk.logs, wiki)
        for folder in hidden:
            folder.chmod(0)
        try:
            for folder in hidden:
                with pytest.raises(subprocess.CalledProcessError):
                    subprocess.run(["ls", folder], check=True, capture_output=True, preexec_fn=_plain)
            workers = [at.start(*COMMAND, "worker", "--threads", "2", preexec_fn=_plain) for _ in range(2)]
            assert ended(store, dream).state == "completed", workers[0].said
            for worker in workers:
                worker.send(signal.SIGTERM)
            assert [w.ended() for w in workers] == [0, 0], workers[0].said
            assert sum(w.times("unit_done", outcome="done") for w in workers) >= 6
            assert list(at.cwd.rglob("*.md")) == []
        finally:
            for folder in hidden:
                folder.chmod(0o755)
    published = at.run("publish", "--wiki", str(wiki))
    assert published.returncode == 0, published.stderr
    desk.wiki = wiki
    assert differences(undisturbed, desk.tree()) == []


def _let_in(database: str) -> None:
    """Let others than the server's own user come to a test server's socket."""
    socket = Path(str(make_url(database).query.get("host", "")))
    if os.geteuid() == 0 and socket.is_dir() and socket != Path():
        socket.parent.chmod(0o711)
        socket.chmod(0o711)


def _plain() -> None:
    """As root, let go of the power to read what permissions forbid; whoever is not root has none."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert libc.prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


def answer(redis_url: str, worker: Process) -> bytes:
    """The next answer to the platform."""
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        found: list[Any] = []
        until(lambda: bool(found.append(client.lpop("dreamd:requests:reply:me")) or found[-1]), why=lambda: worker.said)
    return bytes(found[-1])


def test_work_goes_on_while_redis_is_away_and_bells_are_heard_again_when_it_is_back(
    request: pytest.FixtureRequest, tmp_path: Path, database_url: str, desk: Desk, undisturbed: dict[str, str]
) -> None:
    with servers.restartable_valkey() as valkey:
        valkey.stop(signal.SIGKILL)
        with office(request, tmp_path / "empty", database=database_url, redis=f"unix://{valkey.address}") as at, desk.store() as store:
            worker = at.worker("--look-s", 0.3)
            dream = ask(desk, store)
            assert ended(store, dream).state == "completed", worker.said
            valkey.start()
            app = make_app(f"unix://{valkey.address}", queue="dreamd:requests")
            message = {"version": 1, "request_id": "again", "scope": "other", "reply": "me"}
            app.send_task("dreamd.request", (message,), retry=False)
            assert b'"accepted"' in answer(f"unix://{valkey.address}", worker)
            until(lambda: store.dreams("other")[0].state == "completed")
            worker.send(signal.SIGTERM)
            assert worker.ended() == 0
    assert differences(undisturbed, tree(desk)) == []


def test_every_line_is_json_without_secrets_or_words_of_turns_and_a_schema_that_moved_on_ends_the_worker_in_good_order(
    at: Office, desk: Desk, database_url: str
) -> None:
    secret, words = vendor_keys()["anthropic"], "Never tell the kraken"
    ClaudeLog("planted").user(f"{words} about the reef.").assistant("Noted.").save(desk.logs)
    worker = at.worker("--look-s", 0.3, "--raise-in", "kraken", secret, env={"DREAMD_LOG_LEVEL": "debug"})
    with desk.store() as store:
        dream = ask(desk, store)
        assert ended(store, dream).state == "completed"
        parked = worker.heard("unit_done", outcome="parked")
    with administrator(database_url) as admin:
        admin.execute("UPDATE store SET oldest_code = '9999'; UPDATE alembic_version SET version_num = '9999'")
        worker.heard("store_outside", error="StoreTooNew")
        assert worker.ended() == 3
        assert admin.execute("SELECT count(*) FROM processes").fetchone() == (0,)
    assert [line for line in worker.raw if not line.startswith("{")] == []
    assert {k: parked[k] for k in ("dream", "scope", "stage", "error")} == {"dream": dream, "scope": SCOPE, "stage": "extract", "error": "RuntimeError"}
    assert parked["session"]
    assert parked["job"] > 0
    assert parked["at"][-1].startswith("fake_worker.py:")
    done = [x for x in worker.lines if x["event"] == "unit_done"]
    assert {x["stage"] for x in done} == {"plan", "extract", "resolve", "analyse", "apply", "render"}
    assert all(isinstance(x["seconds"], float) and x["outcome"] for x in done)
    for line in worker.raw:
        assert secret not in line
        assert "kraken" not in line


def test_an_embedded_worker_needs_no_server_and_looks_by_itself(request: pytest.FixtureRequest, tmp_path: Path, undisturbed: dict[str, str]) -> None:
    desk = Desk(tmp_path / "desk", shared_redactor(request))
    sessions(desk, MANY)
    with office(request, tmp_path / "empty", database=f"sqlite:///{desk.data / 'store.db'}") as at, desk.store() as store:
        first = at.worker("--engine-ms", 300)
        dream = ask(desk, store)
        first.heard("unit_done", stage="extract")
        first.send(signal.SIGKILL)
        first.ended()
        done = at.run("worker", "--once", "--threads", str(THREADS))
        assert done.returncode == 0, done.stderr
        assert store.dream(SCOPE, dream).state == "completed"
    assert differences(undisturbed, tree(desk)) == []


def test_what_is_no_message_of_ours_is_kept_as_a_letter_and_the_next_one_is_heard(at: Office, desk: Desk, redis_url: str) -> None:
    app, secret = make_app(redis_url, queue="dreamd:requests"), vendor_keys()["github"]
    good = {"version": 1, "request_id": "good", "scope": "ana", "reply": "me"}
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        client.rpush("dream:dreamd:requests", "no message at all", "[]", '{"body": "x", "properties": {"delivery_tag": "t", "body_encoding": "base64"}}')
        app.send_task("dreamd.request", (good,), queue="dreamd:requests", retry=False)
        envelope = json.loads(client.lpop("dream:dreamd:requests"))
        for n, odd in enumerate(
            ({"timelimit": 5}, {"stamps": 1, "stamped_headers": 5}, {"id": None}, {"id": [1]}, {"compression": "bogus"}, {"timelimit": [1]})
        ):
            told = {**envelope, "headers": {**envelope["headers"], **odd}, "properties": {**envelope["properties"], "delivery_tag": f"odd-{n}"}}
            client.rpush("dream:dreamd:requests", json.dumps(told))  # more than the worker has places for messages
    for name, args, kwargs in (
        ("dreamd.work", ("seven",), {}), ("dreamd.work", (7,), {"version": 2}), ("dreamd.work", (7,), {"colour": secret}), ("celery.ping", (), {}),
        ("dreamd.request", ({**good, "version": 2, "hand": secret},), {}), ("dreamd.request", (good,), {}),
    ):  # fmt: skip
        app.send_task(name, args, kwargs, queue="dreamd:requests", retry=False)
    worker = at.worker("--look-s", 0.3, env={"DREAMD_LOG_LEVEL": "debug"})
    answers = [answer(redis_url, worker) for _ in range(2)]
    assert [b'"refused"' in a for a in answers].count(True) == 1, worker.said
    with desk.store() as store:
        until(lambda: store.dreams("ana") != () and store.dreams("ana")[0].state == "completed", why=lambda: worker.said)
        whys = sorted(letter.why for letter in store.letters())
        assert len(whys) >= 5, whys
        assert all(letter.door == "celery" and secret not in letter.body for letter in store.letters())
    worker.send(signal.SIGTERM)
    assert worker.ended() == 0
    assert [line for line in worker.raw if secret in line or not line.startswith("{")] == []
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        assert client.hlen("dream:unacked") == 0, "what Celery cannot read holds no place, now or after a restart"


def test_a_list_of_celery_that_is_none_ends_no_worker_and_requests_are_heard_once_it_is_one_again(at: Office, redis_url: str) -> None:
    app, good = make_app(redis_url, queue="dreamd:requests"), {"version": 1, "request_id": "good", "scope": "ana", "reply": "me"}
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        client.set("dream:dreamd:requests", "no list")
        worker = at.worker("--look-s", 0.3)
        assert worker.heard("queue_unreadable")["error"] == "ResponseError"
        client.delete("dream:dreamd:requests")
    app.send_task("dreamd.request", (good,), queue="dreamd:requests", retry=False)
    assert b'"accepted"' in answer(redis_url, worker)
    worker.send(signal.SIGTERM)
    assert worker.ended() == 0, worker.said
    assert worker.times("queue_unreadable") < 5, "said now and then, and no loop without rest"
