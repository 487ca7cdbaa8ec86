"""The plain Redis list on a real server: every message answered, each request one dream, whoever dies and whatever Redis forgets."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import Refused, StoreUnavailable
from pipelines.store import Store
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import clock, store
from worker.messages import FAULTS_MAX, RequestAnswer
from worker.queues import connect
from worker.redis_list import Consumer
from worker.stopping import Stop

__all__ = ["clock", "store"]  # fixtures of this suite

QUEUE = "dreamd:requests"
DEADLINE_S = 30


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with contextlib.closing(connect(redis_url)) as opened:
        yield opened


def message(request_id: str, **more: object) -> bytes:
    return json.dumps({"version": 1, "request_id": request_id, "scope": SCOPE, "reply": "mine", **more}).encode()


def consumer(client: Any, store: Store, name: str = "host:1:1", step: Callable[[str], None] = lambda _: None) -> Consumer:
    return Consumer(client, store, queue=QUEUE, name=name, params={}, ring=lambda _: None, mask=lambda text: text, step=step)


def answers(client: Any) -> list[RequestAnswer]:
    return [RequestAnswer.model_validate_json(a) for a in client.lrange(f"{QUEUE}:reply:mine", 0, -1)]


class Killed(BaseException):
    """Stands for the process ending here."""


def killed_at(step: str) -> Callable[[str], None]:
    def kill(at: str) -> None:
        if at == step:
            raise Killed

    return kill


def test_a_message_is_answered_and_removed(client: Any, store: Store) -> None:
    client.rpush(QUEUE, message("a"), message("b", params={"dry_run": True}), b"\xff{", message("c", budget=5))
    at = consumer(client, store)
    assert at.begin() == 0
    assert [said.answer for _ in range(4) if (said := at.one(wait_s=1))] == ["accepted", "accepted", "refused", "refused"]
    assert at.one(wait_s=0.01) is None
    assert [(a.request_id, a.answer) for a in answers(client)] == [("a", "accepted"), ("b", "accepted"), ("c", "refused")]
    assert 0 < client.ttl(f"{QUEUE}:reply:mine") <= 86_400
    assert not client.exists(QUEUE, f"{QUEUE}:taken:host:1:1")
    assert [x.door for x in store.letters()] == ["redis-list", "redis-list"]


@pytest.mark.parametrize("step", ["taken", "committed", "answered"])
def test_killed_anywhere_between_taking_and_removing_another_consumer_makes_it_one_dream(step: str, client: Any, store: Store) -> None:
    client.rpush(QUEUE, message("a"), message("b"))
    first = consumer(client, store, step=killed_at(step))
    first.begin()
    with pytest.raises(Killed):
        first.one(wait_s=1)
    second = consumer(client, store, "host:2:2")
    assert second.begin() == 0, "the first one may live"
    client.delete(f"{QUEUE}:alive:host:1:1")
    assert second.begin() == 1
    said = [second.one(wait_s=1), second.one(wait_s=1)]
    assert [s.request_id for s in said if s] == ["a", "b"], "in the order they came"
    assert [s.answer for s in said if s] == ["accepted" if step == "taken" else "known", "coalesced"]
    assert len(store.dreams(SCOPE)) == 1
    assert {a.dream for a in answers(client)} == {store.dreams(SCOPE)[0].uid}
    assert client.smembers(f"{QUEUE}:consumers") == {b"host:2:2"}
    assert not client.exists(QUEUE, f"{QUEUE}:taken:host:1:1", f"{QUEUE}:taken:host:2:2")


@pytest.mark.parametrize("step", ["taken", "committed"])
def test_what_redis_forgot_before_the_answer_came_is_sent_again_and_makes_one_dream(step: str, client: Any, store: Store) -> None:
    def forget(at: str) -> None:
        if at == step:
            client.flushall()
            raise Killed

    client.rpush(QUEUE, message("a"))
    with pytest.raises(Killed):
        consumer(client, store, step=forget).one(wait_s=1)
    assert answers(client) == []
    client.rpush(QUEUE, message("a"))
    at = consumer(client, store, "host:2:2")
    at.begin()
    assert at.one(wait_s=1) is not None
    assert [(a.answer, a.dream) for a in answers(client)] == [("accepted" if step == "taken" else "known", store.dreams(SCOPE)[0].uid)]
    assert len(store.dreams(SCOPE)) == 1


def test_a_consumer_paused_past_its_life_does_no_harm_when_it_goes_on(client: Any, store: Store) -> None:
    """Another one took its message back meanwhile: the same request, known; and nothing of the other's is removed."""

    def paused(at: str) -> None:
        if at == "taken":
            client.delete(f"{QUEUE}:alive:host:1:1")
            other = consumer(client, store, "host:2:2")
            assert other.begin() == 1
            assert other.one(wait_s=1) is not None
            client.rpush(QUEUE, message("b"))

    client.rpush(QUEUE, message("a"))
    said = consumer(client, store, step=paused)
    said.begin()
    known = said.one(wait_s=1)
    assert known is not None
    assert known.answer == "known"
    assert client.lrange(QUEUE, 0, -1) == [message("b")]


@pytest.mark.parametrize("error", [StoreUnavailable("ask for a dream"), RuntimeError("a fault of ours"), MemoryError()])
def test_nothing_that_goes_wrong_ends_the_consuming(error: Exception, client: Any, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real, wrong, waits = store.request, iter([error, error]), []

    def request(*args: Any, **kwargs: Any) -> Any:
        if (now := next(wrong, None)) is not None:
            raise now
        return real(*args, **kwargs)

    def stopped(wait_s: float) -> bool:
        waits.append(wait_s)
        return bool(answers(client))

    monkeypatch.setattr(store, "request", request)
    client.rpush(QUEUE, message("a"))
    consumer(client, store).run(stopped=stopped, clock=time.monotonic)
    assert [a.answer for a in answers(client)] == ["accepted"]
    assert [w for w in waits if w] == [1, 2], "longer each time"


def test_a_message_that_faults_every_time_is_set_aside_and_answered_and_those_behind_it_are_heard(
    client: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = store.request

    def request(*args: Any, **kwargs: Any) -> Any:
        if kwargs["request_id"] == "a":
            raise TypeError("a fault of ours that this message finds every time")
        return real(*args, **kwargs)

    monkeypatch.setattr(store, "request", request)
    client.rpush(QUEUE, message("a"), message("b"))
    tries = iter([False] * 40)
    consumer(client, store).run(stopped=lambda _: next(tries, True) or len(answers(client)) == 2, clock=time.monotonic)
    assert [(a.request_id, a.answer) for a in answers(client)] == [("a", "refused"), ("b", "accepted")]
    assert answers(client)[0].retry_after is not None, "once it is mended, the same may be accepted"
    (letter,) = store.letters()
    assert (letter.door, json.loads(letter.body)["request_id"]) == ("redis-list", "a")
    assert "TypeError" in letter.why
    assert client.keys(f"{QUEUE}*") == [f"{QUEUE}:reply:mine".encode()], "nothing is left of it in the queue"


def test_a_message_that_cannot_even_be_masked_is_set_aside_without_its_words(client: Any, store: Store) -> None:
    def mask(_text: str) -> str:
        raise RuntimeError("a rule that fails at this text")

    client.rpush(QUEUE, b"{ s3cret")
    at = Consumer(client, store, queue=QUEUE, name="host:1:1", params={}, ring=lambda _: None, mask=mask)
    for _ in range(FAULTS_MAX - 1):
        with pytest.raises(RuntimeError):
            at.one(wait_s=1)
        at.begin()
    said = at.one(wait_s=1)
    assert said is not None
    assert said.answer == "refused"
    (letter,) = store.letters()
    assert "s3cret" not in letter.body


def test_a_reply_that_cannot_be_pushed_holds_up_nobody(client: Any, store: Store) -> None:
    client.set(f"{QUEUE}:reply:mine", "a text of the sender's own")
    client.rpush(QUEUE, message("a"), message("b", reply="other"))
    at = consumer(client, store)
    assert [said.request_id for _ in range(2) if (said := at.one(wait_s=1))] == ["a", "b"]
    assert client.llen(f"{QUEUE}:reply:other") == 1
    assert not client.exists(at.taken, QUEUE)


def test_a_message_with_a_number_of_very_many_digits_is_answered(client: Any, store: Store) -> None:
    client.rpush(QUEUE, message("a", hand="@").replace(b'"@"', b"1" * 5_000))
    said = consumer(client, store).one(wait_s=1)
    assert said is not None
    assert [(a.answer, a.request_id) for a in answers(client)] == [("refused", "a")]


def test_a_queue_that_is_no_list_is_waited_for(client: Any, store: Store) -> None:
    """Some platform wrote something else under the name of the queue; once a person has taken it away, requests are heard."""

    def stopped(wait_s: float) -> bool:
        if wait_s:
            client.delete(QUEUE)
            client.rpush(QUEUE, message("a"))
        return bool(answers(client))

    client.set(QUEUE, "no list")
    consumer(client, store).run(stopped=stopped, clock=time.monotonic)
    assert [a.answer for a in answers(client)] == ["accepted"]


def test_while_the_store_is_away_messages_wait_and_then_are_answered_in_order(client: Any, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, real, away = Stop(), store.request, threading.Event()
    tried = threading.Event()

    def request(*args: Any, **kwargs: Any) -> Any:
        if not away.is_set():
            tried.set()
            raise StoreUnavailable("ask for a dream")
        return real(*args, **kwargs)

    monkeypatch.setattr(store, "request", request)
    client.rpush(QUEUE, message("a"), message("b", params={"dry_run": True}))
    thread = threading.Thread(target=lambda: consumer(client, store).run(stopped=lambda s: stop.wait(min(s, 0.02)), clock=time.monotonic))
    thread.start()
    assert tried.wait(DEADLINE_S)
    assert store.dreams(SCOPE) == ()
    away.set()
    assert client.blpop(f"{QUEUE}:reply:mine", DEADLINE_S) is not None
    assert client.blpop(f"{QUEUE}:reply:mine", DEADLINE_S) is not None
    stop.set()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()
    stop.close()
    assert [dict(d.params) for d in store.dreams(SCOPE)] == [{"dry_run": True}, {}]
    assert client.keys("*") == [], "a consumer that leaves leaves nothing behind"


@pytest.mark.parametrize("option", ["bogus=s3cret", "socket_timeout=s3cret", "db=s3cret"])
def test_an_option_redis_does_not_know_is_refused(option: str) -> None:
    with pytest.raises(Refused, match="redis_url has an option that cannot be") as told:
        connect(f"redis://127.0.0.1:1/0?{option}")
    assert "s3cret" not in str(told.value)


def test_a_redis_that_is_away_ends_nothing(store: Store, tmp_path: Path) -> None:
    tries = iter([False] * 6 + [True] * 2)
    with contextlib.closing(connect(f"redis+socket://{tmp_path}/none.sock?virtual_host=0")) as away:
        consumer(away, store).run(stopped=lambda _: next(tries), clock=time.monotonic)
    assert next(tries), "it was asked until it was told to stop"
