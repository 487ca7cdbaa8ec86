"""What the fake server does, without HTTP: takes requests, lets the handler answer, counts, caches, books, and keeps a log for assertions."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.oracle import wire
from tests.oracle.batches import Batch, Batches, Fate, all_succeed
from tests.oracle.batches import faults as batch_faults
from tests.oracle.tokens import Cache, Tokens, dollars, input_tokens
from tests.oracle.wire import Body, Drops, Fails, Handler, Outcome, Said, cut, error_json, message_json

WAIT_S = 30.0
"""How long anybody waits for something to happen at the server."""
REFUSED_LINE = "I can't help with this."


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Shares of requests that meet a fault of the transport, drawn by the request and how often it was sent: sent again, it is drawn again."""

    slow: float = 0.0
    slow_s: float = 1.0
    drop_before: float = 0.0
    drop_after: float = 0.0
    busy: float = 0.0
    overloaded: float = 0.0
    broken: float = 0.0
    unpaid: float = 0.0
    refused: float = 0.0
    truncated: float = 0.0
    retry_after_s: float | None = 1.0
    seed: int = 0

    def drawn(self, digest: str, sent: int) -> tuple[Outcome | None, bool]:
        """What befalls a request instead of an answer, and whether it is slow."""
        rng = random.Random(f"{self.seed}:{digest}:{sent}")
        slow = rng.random() < self.slow
        fates: list[tuple[float, Outcome]] = [
            (self.drop_before, Drops(accepted=False)), (self.drop_after, Drops(accepted=True)), (self.busy, wire.busy(self.retry_after_s)),
            (self.overloaded, Fails(status=529)), (self.broken, Fails(status=500)), (self.unpaid, Fails(status=402)),
            (self.refused, Said(text=REFUSED_LINE, stop="refusal")), (self.truncated, Said(text="", stop="max_tokens")),
        ]  # fmt: skip
        draw = rng.random()
        for share, fate in fates:
            if draw < share:
                return fate, slow
            draw -= share
        return None, slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as the server saw it. `digest` names its body, `sent` counts equal bodies from 1, `began` and `ended` are seconds of one clock.

    `what` is message, batch item, batch or count; `status` the HTTP status, 0 for a broken connection. `at_once` counts requests in flight with it.
    `usage` and `cost` stand where something was booked, `text` is what was answered.
    """

    number: int
    what: str
    body: Body
    digest: str
    sent: int
    began: float
    ended: float = 0.0
    status: int = 200
    at_once: int = 1
    stop: str = ""
    text: str = ""
    usage: Tokens | None = None
    cost: Fraction = Fraction(0)
    custom_id: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """What HTTP carries back; None for `status` is a broken connection."""

    status: int | None
    payload: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def digest_of(body: Any) -> str:
    """The identity of a body: equal JSON, equal digest."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Service:
    """The API's state. Everything is safe to call from any thread; `clock` gives seconds and never goes back."""

    def __init__(
        self, handler: Handler, *, latency_s: float = 0.0, faults: Faults | None = None, key: str | None = None, looks_to_end: int | None = None,
        fate: Fate = all_succeed, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.handler, self.latency_s, self.faults, self.key = handler, latency_s, faults or Faults(), key
        self.looks_to_end, self.fate, self.clock = looks_to_end, fate, clock
        self.base_url = ""
        self.batches = Batches()
        self._cache = Cache()
        self._log: list[Seen] = []
        self._sent: Counter[str] = Counter()
        self._scripted: deque[Outcome] = deque()
        self._in_flight = 0
        self._numbers = 0
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._gate = threading.Event()
        self._gate.set()

    # --- what a test tells it ---

    def next(self, *outcomes: Outcome) -> None:
        """What befalls the next requests (messages and batch posts), in order, instead of an answer."""
        with self._changed:
            self._scripted.extend(outcomes)

    def hold(self) -> None:
        """Keep every message that arrives from now on waiting."""
        self._gate.clear()

    def release(self) -> None:
        """Let go of what waits."""
        self._gate.set()

    def stop(self) -> None:
        """Let go of everything at once."""
        self._stopping.set()
        self._gate.set()

    def end_batches(self) -> None:
        """Work off every batch that is out."""
        for batch in tuple(self.batches.all.values()):
            self._end(batch)

    def foreign_batch(self, size: int) -> Batch:
        """A batch that somebody else made in the same workspace."""
        body = {"model": "claude-haiku-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Somebody else's."}]}
        with self._changed:
            return self.batches.make([(f"other-{n}", body) for n in range(size)], foreign=True)

    def deliver_late(self) -> list[Batch]:
        """The posts that a gateway kept back arrive."""
        with self._changed:
            waiting, self.batches.waiting = self.batches.waiting, []
            return [self.batches.make(requests) for requests in waiting]

    # --- what a test asks it ---

    @property
    def log(self) -> tuple[Seen, ...]:
        """Every request that is over, in the order they ended."""
        with self._changed:
            return tuple(self._log)

    @property
    def messages(self) -> tuple[Seen, ...]:
        """The requests for a message, plain or in a batch."""
        return tuple(seen for seen in self.log if seen.what in {"message", "batch item"})

    @property
    def answered(self) -> tuple[Seen, ...]:
        """The messages that were answered and booked."""
        return tuple(seen for seen in self.messages if seen.usage is not None)

    @property
    def booked_uusd(self) -> Fraction:
        """Millionths of a dollar booked so far, exactly."""
        return sum((seen.cost for seen in self.log), Fraction(0)) * 1_000_000

    @property
    def most_at_once(self) -> int:
        """The most messages that were in flight at one time."""
        return max((seen.at_once for seen in self.log if seen.what == "message"), default=0)

    @property
    def paid_twice(self) -> tuple[str, ...]:
        """Digests of the bodies that were answered more than once."""
        times = Counter(seen.digest for seen in self.answered)
        return tuple(digest for digest, n in times.items() if n > 1)

    def wait_in_flight(self, number: int) -> None:
        """Return when so many requests are in flight; TimeoutError after `WAIT_S`."""
        self._wait(lambda: self._in_flight >= number, f"{number} requests in flight")

    def wait_log(self, number: int) -> None:
        """Return when so many requests are over; TimeoutError after `WAIT_S`."""
        self._wait(lambda: len(self._log) >= number, f"{number} requests in the log")

    def _wait(self, met: Callable[[], bool], what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(met, WAIT_S):
                raise TimeoutError(f"the fake server never saw {what}")

    # --- messages ---

    def message(self, body: Any, key: str) -> Response:
        """POST /v1/messages."""
        seen = self._arrive("message", body, key)
        outcome, slow = self._decided(seen, wire.faults(body))
        self._gate.wait(WAIT_S)
        due = self.clock() + self.latency_s + (self.faults.slow_s if slow else 0.0)
        outcome = self._outcome(seen, outcome)
        self._stopping.wait(due - self.clock())
        return self._answer(seen, outcome)

    def count_tokens(self, body: Any, key: str) -> Response:
        """POST /v1/messages/count_tokens."""
        seen = self._arrive("count", body, key)
        if refused := [*self._unknown(key), *wire.faults(body, counting=True)]:
            return self._over(seen, self._error(Fails(status=400, message=refused[0]), seen))
        return self._over(seen, self._json({"input_tokens": input_tokens(body)}, seen))

    def _arrive(self, what: str, body: Any, key: str) -> Seen:
        digest = digest_of(body)
        with self._changed:
            self._numbers += 1
            self._sent[digest] += 1
            self._in_flight += what == "message"
            self._changed.notify_all()
            return Seen(
                number=self._numbers, what=what, body=body, digest=digest, sent=self._sent[digest], began=self.clock(), at_once=self._in_flight, key=key
            )  # fmt: skip

    def _decided(self, seen: Seen, refused: Iterable[str]) -> tuple[Outcome | None, bool]:
        """What befalls a request but for an answer: a key that is not ours, a body that is refused, a script, a draw."""
        if self._unknown(seen.key):
            return Fails(status=401, message="invalid bearer token"), False
        for fault in refused:
            return Fails(status=400, message=fault), False
        with self._changed:
            if self._scripted:
                return self._scripted.popleft(), False
        return self.faults.drawn(seen.digest, seen.sent)

    def _unknown(self, key: str) -> list[str]:
        return [] if self.key is None or key == self.key else ["invalid bearer token"]

    def _outcome(self, seen: Seen, outcome: Outcome | None) -> Outcome:
        """What becomes of a request: a fault that was drawn for it, else the handler's answer."""
        if outcome == Said(text="", stop="max_tokens"):
            return self._cut_short(seen.body)
        return outcome or self.handler(seen.body)

    def _answer(self, seen: Seen, outcome: Outcome) -> Response:
        if isinstance(outcome, Fails):
            return self._over(seen, self._error(outcome, seen))
        if isinstance(outcome, Drops):
            if outcome.accepted:
                said = self.handler(seen.body)
                seen = self._booked(seen, said, batch=False)[0] if isinstance(said, Said) else seen
            return self._over(seen, Response(None))
        booked, message = self._booked(seen, outcome, batch=False)
        return self._over(booked, self._json(message, booked))

    def _cut_short(self, body: Body) -> Outcome:
        """The handler's own answer, cut in its middle as if it had been too long."""
        said = self.handler(body)
        return replace(said, text=said.text[: len(said.text) // 2], stop="max_tokens") if isinstance(said, Said) else said

    def _booked(self, seen: Seen, said: Said, *, batch: bool) -> tuple[Seen, dict[str, Any]]:
        """The request with what it used and cost, and the message for the client."""
        said, output = cut(said, int(seen.body["max_tokens"]))
        with self._changed:
            now = self.clock()
            fresh, written, read = self._cache.look(seen.body, seen.began)
            self._cache.keep(seen.body, now)
        used = Tokens(fresh=fresh, output=output, written=written, read=read)
        cost = dollars(str(seen.body["model"]), used, batch=batch)
        return replace(seen, usage=used, cost=cost, stop=said.stop, text=said.text), message_json(said, seen.body, used, seen.number)

    def _over(self, seen: Seen, response: Response) -> Response:
        with self._changed:
            self._in_flight -= seen.what == "message"
            self._log.append(replace(seen, ended=self.clock(), status=response.status or 0))
            self._changed.notify_all()
        return response

    def _error(self, failed: Fails, seen: Seen) -> Response:
        return replace(self._json(error_json(failed, _request_id(seen)), seen, failed.headers), status=failed.status)

    def _json(self, payload: Mapping[str, Any], seen: Seen, headers: Mapping[str, str] | None = None) -> Response:
        data = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return Response(200, data, {"content-type": "application/json", "request-id": _request_id(seen), **(headers or {})})

    # --- batches ---

    def post_batch(self, body: Any, key: str) -> Response:
        """POST /v1/messages/batches."""
        seen = self._arrive("batch", body, key)
        outcome, _ = self._decided(seen, (*batch_faults(body), *_item_faults(body)))
        if isinstance(outcome, Fails):
            return self._over(seen, self._error(outcome, seen))
        requests = [(r["custom_id"], r["params"]) for r in body["requests"]]
        if isinstance(outcome, Drops):
            self._take_dropped(requests, outcome)
            return self._over(seen, Response(None))
        with self._changed:
            batch = self.batches.make(requests)
        return self._over(seen, self._json(batch.json(self.base_url), seen))

    def _take_dropped(self, requests: Sequence[tuple[str, Body]], outcome: Drops) -> None:
        with self._changed:
            if outcome.late:
                self.batches.waiting.append(requests)
            elif outcome.accepted:
                self.batches.make(requests)

    def look_batch(self, name: str) -> Response:
        """GET /v1/messages/batches/{id}; the look that is the last one needed ends it."""
        batch = self.batches.all.get(name)
        if batch is None:
            return self._aside(None)
        batch.looks += 1
        if self.looks_to_end is not None and batch.looks >= self.looks_to_end:
            self._end(batch)
        return self._aside(batch.json(self.base_url))

    def list_batches(self, query: Mapping[str, str]) -> Response:
        """GET /v1/messages/batches, newest first, in pages."""
        with self._changed:
            page, more = self.batches.page(limit=int(query.get("limit", 20)), after=query.get("after_id"), before=query.get("before_id"))
        data = [batch.json(self.base_url) for batch in page]
        return self._aside({"data": data, "has_more": more, "first_id": page[0].id if page else None, "last_id": page[-1].id if page else None})

    def cancel_batch(self, name: str) -> Response:
        """POST /v1/messages/batches/{id}/cancel: it ends as canceled when it is worked off."""
        batch = self.batches.all.get(name)
        if batch is not None and batch.status == "in_progress":
            batch.status, batch.canceled = "canceling", True
        return self._aside(batch.json(self.base_url) if batch else None)

    def batch_results(self, name: str) -> Response:
        """GET /v1/messages/batches/{id}/results, one JSON a line."""
        batch = self.batches.all.get(name)
        if batch is None or batch.status != "ended" or batch.archived:
            return self._aside(None)
        lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in batch.results)
        return Response(200, lines.encode("utf-8", "surrogatepass"), {"content-type": "application/x-jsonl", "request-id": "req_results"})

    def delete_batch(self, name: str) -> Response:
        """DELETE /v1/messages/batches/{id}."""
        gone = self.batches.all.pop(name, None)
        return self._aside({"id": name, "type": "message_batch_deleted"} if gone else None)

    def _aside(self, payload: Mapping[str, Any] | None) -> Response:
        headers = {"content-type": "application/json", "request-id": "req_aside"}
        if payload is None:
            return Response(404, json.dumps(error_json(Fails(status=404), "req_aside")).encode(), headers)
        return Response(200, json.dumps(payload).encode(), headers)

    def _end(self, batch: Batch) -> None:
        if batch.status == "ended":
            return
        lines = [self._item(batch, custom_id, body) for custom_id, body in batch.requests]
        with self._changed:
            if batch.status != "ended":
                batch.results, batch.status = lines[::-1], "ended"
                self._changed.notify_all()

    def _item(self, batch: Batch, custom_id: str, body: Body) -> dict[str, Any]:
        """The result of one request of a batch, booked if there was an answer; what is not answered costs nothing."""
        fate = "canceled" if batch.canceled else self.fate(custom_id, body)
        seen = replace(self._arrive("batch item", body, ""), custom_id=custom_id)
        outcome = self.handler(body) if fate == "succeeded" else None
        if isinstance(outcome, Said):
            seen, message = self._booked(seen, outcome, batch=True)
            result: dict[str, Any] = {"type": "succeeded", "message": message}
        elif fate in {"canceled", "expired"}:
            result = {"type": fate}
        else:
            failed = outcome if isinstance(outcome, Fails) else Fails(status=500)
            result = {"type": "errored", "error": error_json(failed, _request_id(seen))}
        self._over(seen, Response(200 if result["type"] == "succeeded" else 500))
        return {"custom_id": custom_id, "result": result}


def _request_id(seen: Seen) -> str:
    return f"req_{seen.number:08d}"


def _item_faults(body: Any) -> Iterable[str]:
    requests = body.get("requests", ()) if isinstance(body, dict) else ()
    return (f"requests.{n}.params.{fault}" for n, r in enumerate(requests) if isinstance(r, dict) for fault in wire.faults(r.get("params")))
