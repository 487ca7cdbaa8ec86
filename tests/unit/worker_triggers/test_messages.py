"""The platform's message is understood whole or refused by its field; what is refused is kept."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import StoreTooNew, StoreUnavailable
from pipelines.store import Asked, Store, StoreDamaged, StoreMisplaced
from tests.contracts.store_builders import SCOPE
from tests.contracts.store_kinds import clock, store
from worker.bell import silent
from worker.celery_app import REQUEST, make_app
from worker.messages import MESSAGE_MAX, BadMessage, Message, RequestAnswer, answer, params_of, read, reply_name, schema
from worker.process import Ears
from worker.stopping import Stop
from worker.tasks import Receiver, register

__all__ = ["clock", "store"]  # fixtures of this suite

PLAIN: dict[str, object] = {"version": 1, "request_id": "nightly-7", "scope": SCOPE}


def raw(**more: object) -> bytes:
    return json.dumps({**PLAIN, **more}).encode()


def say(store: Store, message: bytes) -> RequestAnswer:
    return answer(store, message, door="submit", params={}, ring=silent, mask=lambda text: text.replace("s3cret", "******"))


def test_a_request_is_accepted_then_known_for_ever_and_an_equal_one_joins_it(store: Store) -> None:
    rung: list[int] = []
    first = answer(store, raw(hand="ana"), door="submit", params={}, ring=rung.extend, mask=str)
    assert (first.answer, first.state, first.request_id) == ("accepted", "running", "nightly-7")
    assert len(rung) == 1
    assert say(store, raw()) == first.model_copy(update={"answer": "known"})
    other = say(store, raw(request_id="b"))
    assert (other.answer, other.dream) == ("coalesced", first.dream)
    assert [a.hand for a in store.audit(SCOPE)] == ["ana", ""]


def test_three_pairs_of_unlike_params_queue_and_each_lands_where_it_was_asked(store: Store) -> None:
    asked = [{"dry_run": True}, {"change_share_max": 0.25}, {"dry_run": True, "change_share_max": 1}]
    for n, params in enumerate([{}, *asked]):
        assert say(store, raw(request_id=f"r{n}", params=params)).answer == "accepted"
    dreams = store.dreams(SCOPE)[::-1]
    assert [d.params for d in dreams] == [{}, *asked]
    assert [d.state for d in dreams] == ["running", "pending", "pending", "pending"]
    assert say(store, raw(request_id="again", params={"dry_run": True, "engine": None})).answer == "coalesced"


LOCAL: dict[str, object] = {"engine": "local", "budget_uusd": None, "batch": False, "instructions": ""}
PAID: dict[str, object] = {"engine": "claude", "budget_uusd": 2_000_000, "batch": False, "instructions": "look for ports"}


@pytest.mark.parametrize(
    ("plain", "engine", "comes"),
    [(LOCAL, "local", LOCAL), (LOCAL, None, LOCAL), (PAID, "claude", PAID), (PAID, None, PAID), (PAID, "local", LOCAL)],
)  # fmt: skip
def test_a_message_takes_the_engine_of_the_settings_or_names_it(store: Store, plain: Mapping[str, object], engine: str | None, comes: object) -> None:
    assert answer(store, raw(params={"engine": engine}), door="submit", params=plain, ring=silent, mask=str).answer == "accepted"
    assert [d.params for d in store.dreams(SCOPE)] == [comes]


def test_a_message_cannot_spend_where_nobody_gave_a_budget(store: Store) -> None:
    said = answer(store, raw(params={"engine": "claude"}), door="submit", params=LOCAL, ring=silent, mask=str)
    assert (said.answer, store.dreams(SCOPE)) == ("refused", ())
    assert "budget" in str(said.why)
    assert [letter.why for letter in store.letters()] == [said.why]


@pytest.mark.parametrize(
    "error", [StoreMisplaced("here", "cannot be written"), StoreDamaged("here", "lacks a table"), StoreTooNew("newer"), StoreUnavailable("ask")]
)
def test_a_store_that_cannot_be_used_says_nothing_about_the_message(error: Exception, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as m:
        m.setattr(store, "request", broken)
        with pytest.raises(type(error)):
            say(store, raw())
    assert store.letters() == ()
    assert say(store, raw()).answer == "accepted"


def test_a_request_by_celery_waits_for_a_store_that_has_to_be_mended(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real, away = store.request, [StoreMisplaced("here", "cannot be written"), StoreTooNew("newer")]

    def request(*args: Any, **kwargs: Any) -> Asked:
        if away:
            raise away.pop()
        return real(*args, **kwargs)

    monkeypatch.setattr(store, "request", request)
    monkeypatch.setattr("worker.tasks.AGAIN_S", 0.001)
    with contextlib.closing(Stop()) as stop:
        receiver = Receiver(store=store, queue="q", params={}, ring=silent, mask=str, client=None, stop=stop)
        said = receiver.answer(PLAIN)
        assert said is not None
        assert said.answer == "accepted"
        away.append(StoreTooNew("newer"))
        stop.set()
        assert receiver.answer(PLAIN) is None, "it is put back for another process"


def test_a_request_by_celery_at_which_our_code_fails_each_time_is_a_letter_and_answered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Celery has acknowledged it by then: nobody else will bring it back."""

    def request(*_: object, **__: object) -> Asked:
        raise TypeError("a fault of ours")

    told: list[tuple[str, str]] = []
    client = SimpleNamespace(rpush=lambda key, said: told.append((key, json.loads(said)["answer"])), expire=lambda *_: None)
    monkeypatch.setattr(store, "request", request)
    monkeypatch.setattr("worker.tasks.AGAIN_S", 0.001)
    with contextlib.closing(Stop()) as stop:
        receiver = Receiver(store=store, queue="q", params={}, ring=silent, mask=str, client=client, stop=stop)
        said = receiver.answer({**PLAIN, "reply": "me"})
    assert said is not None
    assert (said.answer, told) == ("refused", [("q:reply:me", "refused")])
    (letter,) = store.letters()
    assert (letter.door, json.loads(letter.body)["request_id"]) == ("celery", PLAIN["request_id"])


def test_a_request_by_celery_at_which_even_the_keeping_fails_is_put_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise TypeError("a fault of ours")

    monkeypatch.setattr(store, "request", broken)
    monkeypatch.setattr(store, "keep_letter", broken)
    monkeypatch.setattr("worker.tasks.AGAIN_S", 0.001)
    app, sent, broke = make_app("redis://h/0", queue="q"), list[object](), list[Exception]()
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: sent.append((name, args)))
    with contextlib.closing(Stop()) as stop:
        crew: Any = SimpleNamespace(broke=broke.append)
        register(app, crew, Receiver(store=store, queue="q", params={}, ring=silent, mask=str, client=None, stop=stop), Ears())
        app.tasks[REQUEST](PLAIN)
    assert sent == [(REQUEST, (PLAIN,))]
    assert [type(error) for error in broke] == [TypeError], "this process is started again"


def test_a_full_queue_says_when_to_come_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    say(store, raw())
    monkeypatch.setattr("pipelines.store.requests.PENDING_MAX", 0)
    full = say(store, raw(request_id="b", params={"dry_run": True}))
    assert (full.answer, full.dream) == ("refused", None)
    assert full.retry_after is not None
    assert store.letters() == (), "it may be sent again"


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (raw(budget_usd=5), "budget_usd"), (raw(version=2), "version"), (raw(version="1"), "version"), (raw(version=True), "version"),
        (raw(params={"engine": "oracle"}), "params.engine"), (raw(params={"dry_run": 1}), "params.dry_run"), (raw(params={"x": "s3cret"}), "params.x"),
        (raw(params={"change_share_max": 0}), "params.change_share_max"), (raw(params=None), "params"), (raw(request_id=""), "request_id"),
        (raw(request_id="nightly 2026-11-04"), "request_id"), (raw(request_id="x" * 181), "request_id"), (raw(request_id="x\n"), "request_id"),
        (raw(scope="a//b"), "scope"), (raw(scope="a/../b"), "scope"), (raw(scope=" a"), "scope"), (raw(scope=["a"]), "scope"), (raw(hand="a\x00"), "hand"),
        (raw(reply="a b"), "reply"), (raw(reply="other:key"), "reply"), (b"", "message"), (b"{", "message"), (b"[]", "message"), (b"null", "message"),
        (b"\xff\xfe", "message"), (b'{"version": 1, "version": 2, "request_id": "a", "scope": "s"}', "version"), (b"[" * 5000, "message"),
        (b'"' + b"x" * MESSAGE_MAX + b'"', "message"), (b'{"version":1,"request_id":"a","scope":"\\ud800"}', ""),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused_by_its_field_and_kept_without_its_secrets(message: bytes, field: str, store: Store) -> None:
    said = say(store, message)
    assert said.answer == "refused"
    assert said.why is not None
    assert field in said.why
    assert "s3cret" not in said.why
    assert said.retry_after is None, "the same again is useless"
    (letter,) = store.letters()
    assert (letter.door, letter.why) == ("submit", said.why)
    assert "s3cret" not in letter.body
    assert store.dreams(SCOPE) == ()


class Down:
    """A store that is away."""

    def request(self, scope: str, *, request_id: str, params: Mapping[str, object], cause: str, hand: str = "", slot: str | None = None) -> Asked:
        raise StoreUnavailable("ask for a dream")

    def keep_letter(self, door: str, why: str, body: str) -> None:
        raise StoreUnavailable("keep a letter")


@pytest.mark.parametrize("message", [raw(), b"{"])
def test_nothing_is_answered_while_the_store_is_away(message: bytes) -> None:
    with pytest.raises(StoreUnavailable):
        answer(Down(), message, door="submit", params={}, ring=silent, mask=str)


_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["local", "acme/web", "x" * 300])
_values = st.recursive(_leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2), max_leaves=4)


@given(st.fixed_dictionaries({k: st.just(v) | _values for k, v in PLAIN.items()}, optional={k: _values for k in ("params", "hand", "reply", "more")}))
def test_a_message_with_any_leaf_wrong_is_read_or_refused(told: dict[str, object]) -> None:
    message = json.dumps(told).encode()
    reply_name(message)
    try:
        understood = read(message)
    except BadMessage:
        return
    assert set(told) <= set(Message.model_fields)
    assert params_of(understood).keys() <= {"dry_run", "change_share_max"}


def test_the_name_of_a_reply_is_a_plain_name_also_in_a_wrong_message() -> None:
    assert reply_name(raw(reply="mine-1")) == "mine-1"
    assert reply_name(raw(reply="mine-1", version=9)) == "mine-1"
    assert [reply_name(m) for m in (raw(), raw(reply="dreamd:requests"), raw(reply="x" * 121), raw(reply=3), b"{", b"[]", b"[" * 5000)] == [None] * 7


def test_the_schema_refuses_unknown_fields_and_describes_each() -> None:
    told = schema()
    json.dumps(told)
    message = told["message"]
    assert isinstance(message, dict)
    assert message["additionalProperties"] is False
    assert set(message["required"]) == {"version", "request_id", "scope"}
    assert message["properties"]["version"]["const"] == 1
    assert set(message["properties"]) == set(Message.model_fields)


def test_the_message_of_the_documentation_is_one() -> None:
    assert read(b'{"version": 1, "request_id": "2026-11-04/acme", "scope": "acme/web", "params": {"dry_run": true}, "hand": "console"}').params.dry_run
