"""What a provider answers becomes one reply or one error of ours, over real HTTP on loopback and through the real SDK."""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pipelines.engines.claude.client import Provider, RemoteBatch
from pipelines.engines.claude.prices import flat_price
from pipelines.errors import Busy, DreamdError, Paused, Permanent, Refused, Transient, Unreachable
from pipelines.ports import Ask, Usage

KEY = "sk-ant-" + "x" * 30
MODEL = "claude-haiku-5-5"
WAIT_S = 10.0
PRICES = {MODEL: flat_price("1", "5")}
CREATED = "2026-11-29T10:00:00Z"


def message(text: str = "{}", **over: Any) -> dict[str, Any]:
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "usage": usage, **over,
    }  # fmt: skip


def error(kind: str, said: str = "no", code: str | None = None) -> dict[str, Any]:
    details = {"details": {"error_code": code}} if code else {}
    return {"type": "error", "error": {"type": kind, "message": said, **details}}


def batch(remote: str = "msgbatch_1", state: str = "in_progress", count: int = 2) -> dict[str, Any]:
    return {
        "id": remote, "type": "message_batch", "processing_status": state, "created_at": CREATED, "expires_at": CREATED,
        "request_counts": {"processing": count, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
    }  # fmt: skip


def ask(model: str = MODEL, **body: Any) -> Ask:
    return Ask(
        stage="extract", name="session s1, turns 1 to 9", prompt="p", turns=("t1",), bound_uusd=77_000,
        body={"model": model, "max_tokens": 1000, "messages": [{"role": "user", "content": "the log says GIRAFFE"}], **body},
    )  # fmt: skip


@dataclass(slots=True)
class Server:
    """What it is told to answer, in order (the last again and again), and what it was asked."""

    answers: list[tuple[int, object, Mapping[str, str]]]
    asked: list[tuple[str, str, Mapping[str, str], Any]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(*answers: tuple[int, object] | tuple[int, object, Mapping[str, str]]) -> Iterator[Server]:
    told = Server([(a[0], a[1], a[2] if len(a) == 3 else {}) for a in answers])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length)
            told.asked.append((self.command, self.path, dict(self.headers), json.loads(body) if body else None))
            status, content, headers = told.answers.pop(0) if len(told.answers) > 1 else told.answers[0]
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response_only(status)
            for name, value in {"content-length": str(len(data)), "request-id": "req_9", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET = answer

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def provider(url: str, **over: Any) -> Iterator[Provider]:
    given = Provider(**{"base_url": url, "key": KEY, "local": True, "prices": PRICES, **over})
    try:
        yield given
    finally:
        given.close()


def asked_once(*answers: Any, **over: Any) -> DreamdError:
    """The error one answer becomes; the server must have been asked exactly once."""
    with serving(*answers) as server, provider(server.url, **over) as given:
        with pytest.raises(DreamdError) as caught:
            given.create(ask(), timeout_s=WAIT_S)
        assert len(server.asked) == 1
        return caught.value


# --- a reply -----------------------------------------------------------------------------------------------------------------------------


def test_a_reply_is_booked_by_its_usage_and_its_text_is_not_looked_into() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 200, "cache_creation_input_tokens": 400, "cache_read_input_tokens": 10_000}
    content = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "half a {"}, {"type": "text", "text": "nswer"}]
    with serving((200, message(content=content, usage=usage, stop_reason="max_tokens"))) as server, provider(server.url) as given:
        reply = given.create(ask(), timeout_s=WAIT_S)
    assert (reply.text, reply.stop, reply.model, reply.request_id) == ("half a {nswer", "max_tokens", MODEL, "req_9")
    assert reply.usage == Usage(input=1000, output=200, cache_written=400, cache_read=10_000)
    assert reply.cost_uusd == 1000 + 400 * 1.25 + 10_000 * 0.1 + 200 * 5  # at 1 and 5 dollars a million


def test_the_body_goes_out_as_it_was_digested_with_our_key_and_no_header_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "ANTHROPIC_API_KEY": "sk-of-the-environment", "ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/elsewhere",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Gateway: secret\nAuthorization: Bearer other", "HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    wanted = ask(system=[{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}], output_config={"effort": "low"}, made_up=1)
    with serving((200, message())) as server, provider(server.url) as given:
        given.create(wanted, timeout_s=WAIT_S)
    method, path, headers, body = server.asked[0]
    assert (method, path, body) == ("POST", "/v1/messages", wanted.body)
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert "secret" not in str(headers)
    assert "traceparent" not in {name.lower() for name in headers}


def test_without_a_key_none_is_sent_though_the_environment_holds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
    with serving((200, message())) as server, provider(server.url, key="", paid=False) as given:
        reply = given.create(ask(model="qwen"), timeout_s=WAIT_S)
    assert reply.cost_uusd == 0
    assert "sk-of-the-environment" not in str(server.asked)


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": "9", "output_tokens": 1}, {"input_tokens": -9, "output_tokens": 1}, [1]])
def test_a_paid_reply_that_does_not_say_what_it_used_costs_its_bound(usage: object) -> None:
    with serving((200, message(usage=usage))) as server, provider(server.url) as given:
        assert given.create(ask(), timeout_s=WAIT_S).cost_uusd == 77_000


def test_a_refusal_is_a_reply_without_text() -> None:
    with serving((200, message(content=[], stop_reason="refusal"))) as server, provider(server.url) as given:
        reply = given.create(ask(), timeout_s=WAIT_S)
    assert (reply.text, reply.stop) == ("", "refusal")


def test_a_model_the_sdk_calls_old_and_a_long_answer_are_asked_for_all_the_same() -> None:
    with warnings.catch_warnings(), serving((200, message())) as server, provider(server.url, prices={"claude-sonnet-4-5": flat_price("3", "15")}) as given:
        warnings.simplefilter("error")
        given.create(ask(model="claude-sonnet-4-5", max_tokens=60_000), timeout_s=WAIT_S)
    assert server.asked[0][3]["max_tokens"] == 60_000


@pytest.mark.parametrize("content", [b"<html>sign in</html>", b"[]", b"", b'{"content": "text"}', b'{"content": [1]}', b"[" * 5000, b"\xff\xfe"])
def test_what_is_no_reply_of_the_api_may_have_been_paid_for(content: bytes) -> None:
    told = asked_once((200, content))
    assert isinstance(told, Unreachable)
    assert told.accepted


def test_answers_side_by_side_come_from_one_client() -> None:
    with serving((200, message("x"))) as server, provider(server.url) as given:
        threads = [threading.Thread(target=given.create, args=(ask(),), kwargs={"timeout_s": WAIT_S}) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
    assert len(server.asked) == 8


# --- what goes wrong ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "headers", "after_s"),
    [
        (429, "rate_limit_error", {"retry-after": "37"}, 37.0),
        (429, "rate_limit_error", {"retry-after": "9", "retry-after-ms": "1500"}, 1.5),
        (429, "rate_limit_error", {"retry-after": "Mon, 30 Nov 2026 10:01:00 GMT", "date": "Mon, 30 Nov 2026 10:00:20 GMT"}, 40.0),
        (429, "rate_limit_error", {"retry-after": "Mon, 30 Nov 2026 10:01:00"}, 15.0),
        (429, "rate_limit_error", {"retry-after": "1e99"}, 86_400.0),
        (529, "overloaded_error", {"retry-after": "nan"}, 15.0),
        (529, "overloaded_error", {"retry-after": "-3"}, 15.0),
        (500, "api_error", {}, 15.0),
        (503, "", {}, 15.0),
        (504, "timeout_error", {}, 15.0),
        (408, "", {}, 15.0),
        (409, "conflict_error", {}, 15.0),
        (400, "invalid_request_error", {"x-should-retry": "true"}, 15.0),
    ],
)
def test_a_busy_provider_says_for_how_long(status: int, kind: str, headers: Mapping[str, str], after_s: float) -> None:
    told = asked_once((status, error(kind) if kind else b"", headers))
    assert isinstance(told, Busy)
    assert told.after_s == after_s


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, b""),
        (402, error("billing_error")),
        (403, error("permission_error", code="contract_spend_limit_reached")),
        (429, error("rate_limit_error", code="enforced_spend_limit_reached")),
        (400, error("invalid_request_error", "Your credit balance is too low to access the API.")),
    ],
)
def test_a_bill_pauses(status: int, body: object) -> None:
    told = asked_once((status, body))
    assert isinstance(told, Paused)
    assert told.why == "billing"


def test_a_limit_that_asks_not_to_be_tried_before_is_a_pause_for_as_long() -> None:
    told = asked_once((429, error("rate_limit_error"), {"x-should-retry": "false", "retry-after": "1800"}))
    assert isinstance(told, Paused)
    assert (told.why, told.for_s) == ("rate", 1800.0)


@pytest.mark.parametrize(
    ("status", "kind", "names"),
    [(401, "authentication_error", "claude.api_key"), (403, "permission_error", "claude.model"), (404, "not_found_error", "claude.base_url"), (307, "", "claude.base_url")],
)  # fmt: skip
def test_what_a_person_has_to_change_names_the_setting(status: int, kind: str, names: str) -> None:
    told = asked_once((status, error(kind), {"location": "http://127.0.0.1:9/"} if status == 307 else {}))
    assert isinstance(told, Refused)
    assert names in str(told)
    assert "req_9" in str(told)


@pytest.mark.parametrize("status", [400, 413, 422, 431])
def test_a_request_that_is_not_taken_is_parked(status: int) -> None:
    told = asked_once((status, error("invalid_request_error", "max_tokens: too many")))
    assert type(told) is Permanent
    assert "max_tokens: too many" in str(told)


def test_an_error_of_something_in_between_leaves_open_whether_the_request_was_taken() -> None:
    told = asked_once((504, b"<html>gateway</html>"))
    assert isinstance(told, Unreachable)
    assert told.accepted


def test_a_server_that_is_not_there_has_taken_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with provider(url) as given, pytest.raises(Unreachable, match=r"cannot be reached.*claude\.base_url") as caught:
        given.create(ask(), timeout_s=WAIT_S)
    assert not caught.value.accepted


@contextmanager
def raw(act: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """A server that takes one request whole and then does what it is told."""
    over = threading.Event()

    def serve() -> None:
        conn, _ = listening.accept()
        with conn:
            data = b""
            while b"GIRAFFE" not in data:
                data += conn.recv(65536)
            act(conn, over)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        over.set()
        thread.join(WAIT_S)


def silence(conn: socket.socket, over: threading.Event) -> None:
    over.wait(WAIT_S)


def half(conn: socket.socket, over: threading.Event) -> None:
    conn.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"content": [')


def dribble(conn: socket.socket, over: threading.Event) -> None:
    conn.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    while not over.wait(0.02):
        try:
            conn.sendall(b" ")
        except OSError:
            return


@pytest.mark.parametrize("act", [silence, half, dribble, lambda conn, over: None], ids=["silent", "half an answer", "dribbles", "drops"])
def test_a_connection_lost_after_the_request_was_sent_may_have_been_paid_for(act: Callable[[socket.socket, threading.Event], None]) -> None:
    with raw(act) as url, provider(url) as given:
        with pytest.raises(Unreachable) as caught:
            given.create(ask(), timeout_s=0.2)
        assert caught.value.accepted


@pytest.mark.parametrize("status", [400, 401, 402, 404, 429, 500, 504])
def test_no_error_tells_the_key_or_what_was_sent(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    told = asked_once((status, error("authentication_error", f"bad key {KEY}\nin\theader")))
    whole = "".join(traceback.format_exception(told)) + caplog.text + repr(told.__cause__) + repr(told.args)
    assert KEY not in whole
    assert "GIRAFFE" not in whole
    assert "\n" not in str(told)


def test_a_provider_shows_neither_its_key_nor_its_client() -> None:
    given = Provider(key=KEY)
    assert KEY not in repr(given)


def test_the_sdk_is_loaded_at_the_first_call_and_not_before() -> None:
    code = "import sys, pipelines.engines.claude.client as c; c.Provider(); sys.exit('anthropic' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- batches -----------------------------------------------------------------------------------------------------------------------------


def test_a_batch_is_posted_looked_at_cancelled_and_listed() -> None:
    asks = {"a": ask(), "b": ask(model="other")}
    answers = ((200, batch()), (200, batch(state="ended")), (200, batch(state="canceling")), (200, {"data": [batch("msgbatch_2"), batch()]}))
    with serving(*answers) as server, provider(server.url) as given:
        assert given.post(asks) == "msgbatch_1"
        assert given.look("msgbatch_1").state == "ended"
        assert given.cancel("msgbatch_1").state == "canceling"
        recent = given.recent()
    assert [(b.id, b.count) for b in recent] == [("msgbatch_2", 2), ("msgbatch_1", 2)]
    assert isinstance(recent[0], RemoteBatch)
    assert recent[0].created_at.tzinfo is not None
    assert [(m, p) for m, p, _, _ in server.asked] == [
        ("POST", "/v1/messages/batches"), ("GET", "/v1/messages/batches/msgbatch_1"), ("POST", "/v1/messages/batches/msgbatch_1/cancel"),
        ("GET", "/v1/messages/batches?limit=100"),
    ]  # fmt: skip
    assert server.asked[0][3] == {"requests": [{"custom_id": name, "params": one.body} for name, one in asks.items()]}


def test_cancelling_a_batch_that_has_ended_is_no_error() -> None:
    with serving((400, error("invalid_request_error")), (200, batch(state="ended"))) as server, provider(server.url) as given:
        assert given.cancel("msgbatch_1").state == "ended"


def test_a_batch_the_provider_does_not_know_is_no_wrong_setting() -> None:
    with serving((404, error("not_found_error"))) as server, provider(server.url) as given:
        for ask_for in (given.look, given.cancel, lambda remote: next(given.results(remote, {}))):
            with pytest.raises(Permanent, match="batch msgbatch_1"):
                ask_for("msgbatch_1")


def lines(*results: object) -> bytes:
    return b"\n".join(json.dumps(r).encode() for r in results) + b"\n"


def test_results_come_one_by_one_each_with_its_reply_at_half_the_price_or_why_there_is_none() -> None:
    told = lines(
        {"custom_id": "b", "result": {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}}},
        {"custom_id": "a", "result": {"type": "succeeded", "message": message("yes")}},
        {"custom_id": "c", "result": {"type": "expired"}},
        {"custom_id": "d", "result": {"type": "canceled"}},
        {"custom_id": "z", "result": {"type": "succeeded", "message": message("late", model="unheard-of")}},
    )
    with serving((200, told)) as server, provider(server.url) as given:
        found = dict(given.results("msgbatch_1", {name: ask() for name in "abcd"}))
    assert {name: one if isinstance(one, str) else (one.text, one.cost_uusd) for name, one in found.items()} == {
        "a": ("yes", 100), "b": "errored:overloaded_error", "c": "expired", "d": "canceled", "z": ("late", 100),
    }  # fmt: skip
    assert server.asked[0][1] == "/v1/messages/batches/msgbatch_1/results"


def test_a_broken_line_of_results_is_told_after_the_good_ones() -> None:
    told = lines({"custom_id": "a", "result": {"type": "succeeded", "message": message("yes")}}) + b'{"custom_id": "b", "res'
    with serving((200, told)) as server, provider(server.url) as given:
        results = given.results("msgbatch_1", {"a": ask()})
        assert next(results)[0] == "a"
        with pytest.raises(Unreachable):
            next(results)


@pytest.mark.parametrize("remote", ["", "../x", "a/b", "a?b", "a" * 200])
def test_what_cannot_be_the_name_of_a_batch_is_not_asked_for(remote: str) -> None:
    with serving((200, batch())) as server, provider(server.url) as given:
        with pytest.raises(Permanent):
            given.look(remote)
        assert not server.asked


@pytest.mark.parametrize("found", [{}, {"id": "a/b"}, batch() | {"processing_status": "new"}, batch() | {"created_at": 3}])
def test_what_is_no_batch_is_not_taken_for_one(found: object) -> None:
    with serving((200, found)) as server, provider(server.url) as given, pytest.raises(Transient):
        given.look("msgbatch_1")


def test_tokens_are_counted_without_the_limit_of_the_answer() -> None:
    with serving((200, {"input_tokens": 321})) as server, provider(server.url) as given:
        assert given.count_tokens(ask().body) == 321
    assert server.asked[0][1] == "/v1/messages/count_tokens"
    assert "max_tokens" not in server.asked[0][3]


def test_a_leaf_of_the_wrong_kind_never_raises_past_the_edge() -> None:
    wrong: Sequence[object] = (None, True, -1, "x", [], {}, [None], {"x": []}, 1e308)
    for name in ("content", "usage", "stop_reason", "model", "id"):
        for leaf in wrong:
            with serving((200, {**message(), name: leaf})) as server, provider(server.url) as given:
                try:
                    reply = given.create(ask(), timeout_s=WAIT_S)
                except DreamdError:
                    continue
                assert isinstance(reply.text, str)
                assert isinstance(reply.cost_uusd, int)
