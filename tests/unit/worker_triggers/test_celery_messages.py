"""A Celery message is a bell or a request, whole, or it is kept as a letter; and the bell never fails and never waits for a broker twice."""

from __future__ import annotations

import contextlib
import json
from types import SimpleNamespace
from typing import Any

import celery.worker.state
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.celery_app import REQUEST, WORK, make_app
from worker.doorbell import PAUSE_S, Doorbell
from worker.hearing import _end_with
from worker.messages import MESSAGE_MAX
from worker.queues import bells_of, broker_url
from worker.stopping import Stop
from worker.tasks import BadEnvelope, as_bytes, check

AFTER = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
JSON = "application/json"


def body(args: Any = (7,), kwargs: Any = None, after: Any = None) -> bytes:
    return json.dumps([args, kwargs or {}, AFTER if after is None else after]).encode()


@pytest.mark.parametrize("kwargs", [{}, {"version": 1}])
def test_a_bell_is_one_number(kwargs: dict[str, object]) -> None:
    check({"task": WORK, "id": "a"}, JSON, body((7,), kwargs))


@pytest.mark.parametrize("message", [{"version": 1}, '{"version": 1}'])
def test_a_request_is_one_object_or_its_text(message: object) -> None:
    check({"task": REQUEST, "id": "a"}, JSON, body((message,)))


@pytest.mark.parametrize(
    ("headers", "kind", "told", "why"),
    [
        ({"task": "celery.chord"}, JSON, body(), "names no task"),
        ({}, JSON, body(), "names no task"),
        (None, JSON, body(), "names no task"),
        ({"task": [WORK]}, JSON, body(), "names no task"),
        ({"task": WORK}, "application/x-python-serialize", b"cos\nsystem\n(S'true'\ntR.", "only JSON"),
        ({"task": WORK}, None, body(), "only JSON"),
        ({"task": WORK, "eta": "2030-01-01T00:00:00"}, JSON, body(), "eta"),
        ({"task": REQUEST, "expires": 5}, JSON, body(({},)), "expires"),
        ({"task": WORK}, JSON, b"{", "no JSON"),
        ({"task": WORK}, JSON, b"[" * 100_000, "no JSON"),
        ({"task": WORK}, JSON, b"\xff", "no JSON"),
        ({"task": WORK}, JSON, b"7", "not [arguments"),
        ({"task": WORK}, JSON, body(after={"chain": [{"task": "x"}]}), "nothing may follow"),
        ({"task": WORK}, JSON, body(("7",)), "one argument"),
        ({"task": WORK}, JSON, body((True,)), "one argument"),
        ({"task": WORK}, JSON, body((7, 8)), "one argument"),
        ({"task": WORK}, JSON, body((7,), {"colour": "red"}), "no such field"),
        ({"task": WORK}, JSON, body((7,), {"version": 2}), "version"),
        ({"task": WORK}, JSON, body((7,), {"version": True}), "version"),
        ({"task": REQUEST}, JSON, body((7,)), "one argument"),
        ({"task": REQUEST}, JSON, body(({},), {"reply": "x"}), "no named"),
        ({"task": REQUEST}, JSON, body(({},)), "id:"),
        ({"task": REQUEST, "id": ["a"]}, JSON, body(({},)), "id:"),
        ({"task": REQUEST, "id": "a", "compression": "bogus"}, JSON, body(({},)), "compression"),
        ({"task": REQUEST}, JSON, b" " * (2 * MESSAGE_MAX + 1), "at most"),
    ],
)
def test_anything_else_is_refused_by_what_is_wrong_with_it(headers: Any, kind: str | None, told: bytes, why: str) -> None:
    with pytest.raises(BadEnvelope, match=why.replace("[", r"\[")):
        check(headers, kind, told)


def test_when_the_crew_leaves_by_itself_requests_that_wait_for_the_store_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(celery.worker.state, "should_stop", None)
    with contextlib.closing(Stop()) as stop:
        crew: Any = SimpleNamespace(leaving=lambda: True)
        _end_with(crew, SimpleNamespace(stop=stop))  # type: ignore[arg-type]
        assert stop()
    assert celery.worker.state.should_stop == 0


leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
tree = st.recursive(leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8)


@given(task=st.sampled_from([WORK, REQUEST, "x", None, 3]), told=st.lists(tree, max_size=4) | tree, raw=st.binary(max_size=20) | st.none())
def test_any_message_is_taken_or_refused(task: object, told: object, raw: bytes | None) -> None:
    with contextlib.suppress(BadEnvelope):
        check({"task": task}, JSON, json.dumps(told).encode() if raw is None else raw)


def test_a_message_reaches_the_desk_as_it_was_sent() -> None:
    assert json.loads(as_bytes({"scope": "文/ana"})) == {"scope": "文/ana"}
    assert as_bytes('{"a": 1}') == b'{"a": 1}'


def test_a_broker_that_does_not_answer_is_left_alone_for_a_while() -> None:
    at = [0.0]
    app = make_app("redis://127.0.0.1:1/0", queue="q")
    bell = Doorbell(app, clock=lambda: at[0])
    bell((1, 2, 3))
    asked: list[object] = []
    app.send_task = lambda *a, **k: asked.append(a)  # type: ignore[method-assign]
    bell((4,))
    assert asked == []
    at[0] += PAUSE_S
    bell(())
    assert asked == []
    bell((5,))
    assert [a[1] for a in asked] == [(5,)]  # type: ignore[index]


def test_the_broker_is_the_one_of_the_settings_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CELERY_BROKER_URL", "CELERY_BROKER_READ_URL", "CELERY_BROKER_WRITE_URL"):
        monkeypatch.setenv(name, "redis://elsewhere:6379/0")
    app = make_app("redis://here:6379/0", queue="q")
    assert {c.hostname for c in (app.connection_for_read(), app.connection_for_write())} == {"here"}


def test_a_socket_is_spelt_as_celery_does() -> None:
    assert broker_url("unix:///run/v.sock?db=2") == "redis+socket:///run/v.sock?virtual_host=2"
    assert broker_url("rediss://h:1/2") == "rediss://h:1/2"
    assert bells_of("dreamd:requests") != "dreamd:requests"


def test_the_app_is_set_as_the_measured_facts_demand() -> None:
    conf = make_app("redis://h/0", queue="q").conf
    assert (conf.task_acks_late, conf.task_ignore_result, conf.result_backend, conf.worker_prefetch_multiplier) == (False, True, None, 1)
    assert (list(conf.accept_content), conf.worker_hijack_root_logger, conf.broker_connection_retry_on_startup) == (["json"], False, True)
    options = conf.broker_transport_options
    assert (options["socket_timeout"], options["socket_connect_timeout"], options["visibility_timeout"]) == (5, 2, 3600)
    assert options["global_keyprefix"] == "dream:"
