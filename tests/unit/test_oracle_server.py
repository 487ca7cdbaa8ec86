"""The fake Messages server as the real SDK sees it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from typing import Any
from urllib.request import Request, urlopen

import anthropic
import pytest

from tests.oracle.server import Faults, Service, nothing_found, serving
from tests.oracle.tokens import Tokens, count, dollars, head
from tests.oracle.wire import Body, Drops, Fails, Said, busy

HAIKU, SONNET = "claude-haiku-5-5", "claude-sonnet-5-5"
SCHEMA = {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "string"}}}, "required": ["items"], "additionalProperties": False}


def echo(body: Body) -> Said:
    """Answers with the last message."""
    return Said(text=str(body["messages"][-1]["content"]))


def client(service: Service, key: str = "k") -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=service.base_url, api_key=key, max_retries=0, timeout=20)


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(echo) as service:
        yield service


@pytest.fixture
def sdk(service: Service) -> Iterator[anthropic.Anthropic]:
    with closing(client(service)) as sdk:
        yield sdk


def ask(sdk: anthropic.Anthropic, text: str = "hello there", **given: Any) -> anthropic.types.Message:
    return sdk.messages.create(**{"model": HAIKU, "max_tokens": 100, "messages": [{"role": "user", "content": text}], **given})


def items(*texts: str) -> list[Any]:
    return [{"custom_id": f"c-{n}", "params": {"model": HAIKU, "max_tokens": 50, "messages": [{"role": "user", "content": t}]}} for n, t in enumerate(texts)]


# --- tokens and money ---


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("hello", 1), ("hello there", 2), ("port 5433", 3), ("我喜欢茶", 4), ("a\n\n  b", 3), ("=====", 2), ("internationally", 3)]
)
def test_tokens_are_counted_by_pieces_of_words_and_by_chinese_characters(text: str, tokens: int) -> None:
    assert count(text) == tokens


def test_the_head_of_a_text_is_so_many_of_its_tokens() -> None:
    assert head("hello there, 我喜欢", 4) == "hello there, "
    assert head("hello", 9) == "hello"


def test_a_cached_token_a_dear_prompt_and_a_batch_are_priced_as_listed() -> None:
    assert dollars(SONNET, Tokens(fresh=1000, output=100, written=2000, read=4000)) == Fraction(2 * (1000 + 2500 + 200) + 1000, 1_000_000)
    assert dollars(HAIKU, Tokens(fresh=100_001, output=10)) == Fraction("0.5") * Fraction(100_001, 1_000_000) + Fraction(25, 1_000_000)
    assert dollars(HAIKU, Tokens(fresh=1_000_000, output=0, read=0), batch=True) == Fraction("0.25")


# --- messages ---


def test_a_message_is_answered_with_usage_and_a_request_id(sdk: anthropic.Anthropic, service: Service) -> None:
    message = ask(sdk)
    assert [block.text for block in message.content if block.type == "text"] == ["hello there"]
    assert (message.stop_reason, message.usage.output_tokens, message.model) == ("end_turn", 2, HAIKU)
    (seen,) = service.log
    assert message._request_id == f"req_{seen.number:08d}"
    assert (seen.what, seen.status, seen.key, seen.sent) == ("message", 200, "k", 1)
    assert service.booked_uusd == Fraction("0.1") * message.usage.input_tokens + Fraction("0.5") * 2


def test_an_answer_that_is_too_long_is_cut_at_max_tokens_and_thinking_counts(service: Service, sdk: anthropic.Anthropic) -> None:
    message = ask(sdk, "one two three four five", max_tokens=3)
    assert (message.content[0].text, message.stop_reason, message.usage.output_tokens) == ("one two three", "max_tokens", 3)
    service.next(Said(text="one two", thinking=40))
    message = ask(sdk, max_tokens=41)
    assert (message.content[1].text, message.stop_reason, message.usage.output_tokens) == ("one", "max_tokens", 41)


def test_a_refusal_is_an_answer_that_is_paid_for(service: Service, sdk: anthropic.Anthropic) -> None:
    service.next(Said(text="", stop="refusal"))
    message = ask(sdk)
    assert message.stop_reason == "refusal"
    assert message.content == []
    assert service.booked_uusd > 0


def test_a_marked_prefix_is_written_once_and_read_afterwards(service: Service, sdk: anthropic.Anthropic) -> None:
    system = [{"type": "text", "text": "word " * 600, "cache_control": {"type": "ephemeral"}}]
    first, second = (ask(sdk, text, system=system).usage for text in ("a", "b"))
    assert (first.cache_creation_input_tokens, first.cache_read_input_tokens) == (second.cache_read_input_tokens, second.cache_creation_input_tokens)
    assert first.cache_creation_input_tokens >= 600
    other = ask(sdk, "a", system=[{**system[0], "text": "word " * 601}]).usage
    assert other.cache_read_input_tokens == 0


def test_a_prefix_below_the_models_minimum_is_not_cached(sdk: anthropic.Anthropic) -> None:
    system = [{"type": "text", "text": "word " * 600, "cache_control": {"type": "ephemeral"}}]
    for _ in range(2):
        usage = ask(sdk, system=system, model=SONNET).usage
        assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)
        assert usage.input_tokens > 600


def test_counting_agrees_with_what_a_message_uses(sdk: anthropic.Anthropic) -> None:
    given: dict[str, Any] = {"system": "Say 你好.", "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    counted = sdk.messages.count_tokens(model=HAIKU, messages=[{"role": "user", "content": "hello there"}], **given)
    assert counted.input_tokens == ask(sdk, **given).usage.input_tokens


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"extra_body": {"temperature": 0.5}}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"extra_body": {"colour": 1}}, "colour"),
        ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}}, "additionalProperties"),
        ({"output_config": {"format": {"type": "json_schema", "schema": {**SCHEMA, "maxProperties": 3}}}}, "maxProperties"),
    ],
)
def test_what_the_api_does_not_take_is_refused_by_name(sdk: anthropic.Anthropic, service: Service, given: dict[str, Any], word: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=word):
        ask(sdk, **given)
    assert service.booked_uusd == 0


def test_a_wrong_key_is_refused() -> None:
    with serving(echo, key="right") as service, closing(client(service, "wrong")) as wrong, closing(client(service, "right")) as right:
        with pytest.raises(anthropic.AuthenticationError):
            ask(wrong)
        assert ask(right).stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (busy(7), anthropic.RateLimitError), (Fails(status=529), anthropic.OverloadedError), (Fails(status=500), anthropic.InternalServerError),
        (Fails(status=402), anthropic.PaymentRequiredError),
    ],
)  # fmt: skip
def test_errors_come_as_the_sdks_own_classes_and_cost_nothing(
    sdk: anthropic.Anthropic, service: Service, outcome: Fails, error: type[anthropic.APIStatusError]
) -> None:
    service.next(outcome)
    with pytest.raises(error) as caught:
        ask(sdk)
    assert caught.value.request_id == "req_00000001"
    assert caught.value.response.headers.get("retry-after") == ("7" if outcome.status == 429 else None)
    assert service.booked_uusd == 0
    assert ask(sdk).stop_reason == "end_turn"


@pytest.mark.parametrize("accepted", [False, True])
def test_a_dropped_connection_is_booked_only_when_it_was_accepted(sdk: anthropic.Anthropic, service: Service, accepted: bool) -> None:
    service.next(Drops(accepted=accepted))
    with pytest.raises(anthropic.APIConnectionError):
        ask(sdk)
    assert (service.booked_uusd > 0) is accepted
    assert ask(sdk).stop_reason == "end_turn"
    assert len(service.paid_twice) == accepted


def test_requests_in_flight_are_counted_and_held_until_they_are_let_go(service: Service, sdk: anthropic.Anthropic) -> None:
    service.hold()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, sdk, f"number {n}") for n in range(8)]
        service.wait_in_flight(8)
        assert service.log == ()
        service.release()
        assert {a.result().content[0].text for a in asked} == {f"number {n}" for n in range(8)}
    assert service.most_at_once == 8


def test_faults_are_drawn_alike_in_every_run_and_anew_when_sent_again() -> None:
    faults = Faults(busy=0.3, overloaded=0.2, refused=0.2, seed=5)
    drawn = [faults.drawn(f"body {n}", 1)[0] for n in range(400)]
    assert drawn == [faults.drawn(f"body {n}", 1)[0] for n in range(400)]
    statuses = [o.status for o in drawn if isinstance(o, Fails)]
    assert 90 < statuses.count(429) < 150
    assert 50 < statuses.count(529) < 110
    assert 100 < drawn.count(None) < 160
    assert any(faults.drawn(f"body {n}", 1) != faults.drawn(f"body {n}", 2) for n in range(20))


def test_a_truncating_server_gives_half_an_answer() -> None:
    with serving(echo, faults=Faults(truncated=1.0)) as service, closing(client(service)) as sdk:
        message = ask(sdk, "one two three four")
    assert (message.content[0].text, message.stop_reason) == ("one two t", "max_tokens")


def test_nothing_found_has_the_shape_that_was_asked_for() -> None:
    body = {"output_config": {"format": {"schema": {**SCHEMA, "properties": {**SCHEMA["properties"], "n": {"type": "integer"}}}}}}
    assert json.loads(nothing_found(body).text) == {"items": [], "n": 0}


# --- batches ---


def test_a_batch_is_worked_off_when_told_and_its_results_are_half_price(service: Service, sdk: anthropic.Anthropic) -> None:
    batch = sdk.messages.batches.create(requests=items("first", "second"))
    assert (batch.processing_status, batch.request_counts.processing, batch.results_url) == ("in_progress", 2, None)
    with pytest.raises(anthropic.AnthropicError):
        sdk.messages.batches.results(batch.id)
    service.end_batches()
    done = sdk.messages.batches.retrieve(batch.id)
    assert (done.processing_status, done.request_counts.succeeded, done.request_counts.processing) == ("ended", 2, 0)
    results = list(sdk.messages.batches.results(batch.id))
    assert [r.custom_id for r in results] == ["c-1", "c-0"]
    assert [r.result.message.content[0].text for r in results if r.result.type == "succeeded"] == ["second", "first"]
    single = ask(sdk, "first", max_tokens=50)
    booked = {seen.text: seen.cost for seen in service.answered if seen.what == "batch item"}
    assert booked["first"] == dollars(HAIKU, Tokens(fresh=single.usage.input_tokens, output=1)) / 2


def test_a_batch_can_end_at_its_third_look_with_a_fate_for_each_request() -> None:
    fates = {"c-0": "succeeded", "c-1": "errored", "c-2": "expired", "c-3": "canceled"}
    with serving(echo, looks_to_end=3, fate=lambda custom_id, _: fates[custom_id]) as service, closing(client(service)) as sdk:
        batch = sdk.messages.batches.create(requests=items("a", "b", "c", "d"))
        assert [sdk.messages.batches.retrieve(batch.id).processing_status for _ in range(3)] == ["in_progress", "in_progress", "ended"]
        assert {r.custom_id: r.result.type for r in sdk.messages.batches.results(batch.id)} == fates
        assert len(service.answered) == 1


def test_a_canceled_batch_ends_with_nothing_booked(service: Service, sdk: anthropic.Anthropic) -> None:
    batch = sdk.messages.batches.create(requests=items("a", "b"))
    assert sdk.messages.batches.cancel(batch.id).processing_status == "canceling"
    service.end_batches()
    assert sdk.messages.batches.retrieve(batch.id).request_counts.canceled == 2
    assert service.booked_uusd == 0


@pytest.mark.parametrize(("drop", "there"), [(Drops(accepted=True), 1), (Drops(accepted=False), 0), (Drops(accepted=True, late=True), 0)])
def test_a_post_without_an_answer_may_have_been_taken_or_not_or_later(service: Service, sdk: anthropic.Anthropic, drop: Drops, there: int) -> None:
    service.next(drop)
    with pytest.raises(anthropic.APIConnectionError):
        sdk.messages.batches.create(requests=items("a", "b"))
    assert len(sdk.messages.batches.list().data) == there
    service.deliver_late()
    assert len(sdk.messages.batches.list().data) == (drop.accepted or drop.late)


def test_batches_are_listed_newest_first_in_pages_somebody_elses_among_them(service: Service, sdk: anthropic.Anthropic) -> None:
    mine = [sdk.messages.batches.create(requests=items(str(n))).id for n in range(3)]
    other = service.foreign_batch(4)
    listed = list(sdk.messages.batches.list(limit=2))
    assert [b.id for b in listed] == [other.id, *mine[::-1]]
    assert listed[0].request_counts.processing == 4


def test_a_batch_with_two_equal_names_is_refused(sdk: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="unique"):
        sdk.messages.batches.create(requests=[*items("a"), *items("b")])


# --- time ---


def test_an_answer_is_due_its_latency_after_the_request_came_thinking_it_up_included(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def thinks(body: Body) -> Said:
        now[0] += 5.0
        return echo(body)

    waits: list[float | None] = []
    service = Service(thinks, latency_s=7.0, clock=lambda: now[0])
    monkeypatch.setattr(service._stopping, "wait", waits.append)
    service.message({"model": HAIKU, "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}, "k")
    assert waits == [2.0]


# --- as a process ---


def test_the_server_runs_as_a_process_and_tells_what_it_saw() -> None:
    with subprocess.Popen([sys.executable, "-m", "tests.oracle", "--looks", "1"], stdout=subprocess.PIPE, text=True) as process:
        killer = threading.Timer(30, process.kill)
        killer.start()
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with closing(anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)) as sdk:
                ask(sdk)
            with urlopen(Request(f"{url}/_log"), timeout=10) as response:
                told = json.load(response)
        finally:
            process.terminate()
            killer.cancel()
    assert [r["what"] for r in told["requests"]] == ["message"]
    assert process.returncode == 0
