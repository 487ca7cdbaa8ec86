"""The Messages API through the SDK of its provider: one request in, one reply or one error of ours out. The only file that names the SDK.

The SDK is used for its transport, and for nothing it decides by itself: it takes 1 s to import, so that is done at the first call; it retries nothing
(one layer does, which puts the unit back); key, address and headers are the ones given here, never those the environment or a profile of the SDK holds;
no redirect is followed, and no address a reply names is asked; no span is made. The body goes out as it was digested.

No error carries the SDK's own: that one holds the request with its key, and the whole of what came back.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pipelines.engines.claude.prices import LIST_PRICES, Price, cost_uusd
from pipelines.errors import Busy, DreamdError, Paused, Permanent, Refused, Unreachable
from pipelines.ports import Ask, Reply, Usage

if TYPE_CHECKING:
    import anthropic
    import httpx2

HOSTED: Final = "https://api.anthropic.com"
CONNECT_S: Final = 10.0
SEND_S: Final = 60.0
"""How long one write may take; a window is some tens of kilobytes."""
LOOK_S: Final = 60.0
"""How long a question about a batch or a count may take."""
POST_S: Final = 300.0
"""How long the posting of a batch may take: its body may have 256 MB."""
REPLY_MAX: Final = 32 * 1024 * 1024
"""Bytes of one reply; the longest answer has some hundred kilobytes."""
LINE_MAX: Final = REPLY_MAX
BUSY_S: Final = 15.0
"""How long a provider is left alone that does not say for how long."""
AFTER_MAX_S: Final = 86_400.0
BILL_S: Final = 900.0
"""How often a bill that was not paid is tried again."""
SAID_MAX: Final = 200
"""Characters kept of what a provider says about an error."""
RECENT_MAX: Final = 100

BILLING, RATE = "billing", "rate"
"""Why calls pause: a bill or a spending limit; the provider asks to be left alone, and not to be tried again before."""
IN_PROGRESS, CANCELING, ENDED = "in_progress", "canceling", "ended"
ERRORED, CANCELED, EXPIRED = "errored", "canceled", "expired"

_BILLS: Final = frozenset(
    {
        "contract_spend_limit_reached", "enforced_spend_limit_reached", "linked_organization_billing_unavailable", "linked_organization_spend_limit_reached",
        "organization_on_hold", "user_profile_billing_not_authorized", "user_profile_not_billable",
    }
)  # fmt: skip
"""Codes of errors that somebody has to pay or to raise a limit for, whatever their status."""
_OF_BATCHES: Final = "/v1/messages/batches/"
_REMOTE: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SENT: Final = frozenset(
    {
        "accept", "accept-encoding", "anthropic-version", "authorization", "connection", "content-length", "content-type", "host", "idempotency-key",
        "transfer-encoding", "user-agent",
    }
)  # fmt: skip
"""Headers of a request beside those that name the SDK; what ANTHROPIC_CUSTOM_HEADERS would add is meant for another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBatch:
    """A batch as its provider tells it; `state` is in_progress, canceling or ended, `count` its requests."""

    id: str
    state: str
    count: int
    created_at: datetime


@dataclass(slots=True, kw_only=True)
class Provider:
    """A hosted provider, a gateway or a local server. Safe to call from several threads.

    `base_url` is the address without `/v1`. `key` is sent to it and to nobody else; "" where none is asked for. `local` says that it is on this machine: then
    no proxy of the environment comes between. `paid` False books every reply at nothing. `prices` are those of the models asked.
    """

    base_url: str = HOSTED
    key: str = field(default="", repr=False)
    local: bool = False
    paid: bool = True
    prices: Mapping[str, Price] = field(default_factory=lambda: LIST_PRICES)
    connect_s: float = CONNECT_S
    _client: anthropic.Anthropic | None = field(default=None, repr=False, init=False)
    _making: threading.Lock = field(default_factory=threading.Lock, repr=False, init=False)

    # --- one request -------------------------------------------------------------------------------------------------------------------------

    def create(self, ask: Ask, *, timeout_s: float) -> Reply:
        """Ask once, and wait for at most `timeout_s` in all.

        Raises Busy (429, 529, 5xx), Unreachable, Paused (billing), Refused (the key or a model: a person has to act), Permanent (this request is not taken).
        """
        about = f"{ask.stage} {ask.name}"
        found = self._post("/v1/messages", ask.body, about=about, timeout_s=timeout_s)
        return self._reply(found.content, ask, about=about, request_id=found.request_id, batch=False)

    def count_tokens(self, body: Mapping[str, object], *, timeout_s: float = LOOK_S) -> int:
        """Input tokens of a Messages request as the provider counts them; costs nothing. Raises as `create` does."""
        asked = {name: value for name, value in body.items() if name not in {"max_tokens", "metadata"}}
        found = self._post("/v1/messages/count_tokens", asked, about="a count of tokens", timeout_s=timeout_s).content
        tokens = found.get("input_tokens")
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
            raise Permanent(f"{self._where} does not count tokens as the Messages API does")
        return tokens

    # --- batches -----------------------------------------------------------------------------------------------------------------------------

    def post(self, asks: Mapping[str, Ask], *, timeout_s: float = POST_S) -> str:
        """Hand in one batch, an ask by custom id; returns the provider's name for it. Raises as `create` does: after Unreachable with `accepted` nobody knows
        whether there is a batch, and `recent` tells."""
        requests = [{"custom_id": name, "params": dict(ask.body)} for name, ask in asks.items()]
        found = self._post("/v1/messages/batches", {"requests": requests}, about=f"a batch of {len(requests)}", timeout_s=timeout_s).content
        return self._batch(found).id

    def look(self, remote: str) -> RemoteBatch:
        """How a batch stands. Raises Permanent for one the provider does not know (any more), else as `create` does."""
        return self._batch(self._get(f"{_OF_BATCHES}{_named(remote)}", about=f"batch {remote}"))

    def cancel(self, remote: str) -> RemoteBatch:
        """Ask for a batch to be cancelled: it ends later, with results for what was done. One that has ended stays as it is."""
        try:
            return self._batch(self._post(f"{_OF_BATCHES}{_named(remote)}/cancel", {}, about=f"batch {remote}", timeout_s=LOOK_S).content)
        except Permanent:
            stands = self.look(remote)
            if stands.state != ENDED:
                raise
            return stands

    def recent(self, limit: int = RECENT_MAX, *, timeout_s: float = LOOK_S) -> tuple[RemoteBatch, ...]:
        """The batches of the key's workspace, newest first, whoever posted them."""
        found = self._get(f"/v1/messages/batches?limit={min(limit, RECENT_MAX)}", about="the list of batches", timeout_s=timeout_s)
        told = found.get("data")
        if not isinstance(told, list):
            raise Permanent(f"{self._where} does not list batches as the Messages API does")
        return tuple(self._batch(one) for one in told)

    def results(self, remote: str, asks: Mapping[str, Ask]) -> Iterator[tuple[str, Reply | str]]:
        """What became of each request of a batch that has ended, in any order: its reply, or why there is none ("errored:<type>", "canceled", "expired").

        `asks` are those posted, by custom id; a result of an unknown id comes too, priced by the model that answered. Raises as `create` does, also between
        two results: what was given until then is good.
        """
        about = f"results of batch {remote}"
        with self._answered("get", f"{_OF_BATCHES}{_named(remote)}/results", None, about=about, timeout_s=POST_S) as response:
            for line in self._lines(response, about):
                found = self._parsed(line, about)
                name, result = found.get("custom_id"), found.get("result")
                if not isinstance(name, str) or not isinstance(result, dict):
                    raise Unreachable(f"{about}: a line is none of the Messages API", accepted=True)
                yield name, self._result(result, asks.get(name), about=f"{about}, {name}")

    def close(self) -> None:
        """Close the connections."""
        with self._making:
            if self._client is not None:
                self._client.close()
                self._client = None

    # --- what came back ----------------------------------------------------------------------------------------------------------------------

    def _result(self, result: Mapping[str, Any], ask: Ask | None, *, about: str) -> Reply | str:
        match result.get("type"):
            case "succeeded" if isinstance(message := result.get("message"), dict):
                return self._reply(message, ask, about=about, request_id="", batch=True)
            case "errored":
                kind = _at(result, "error", "error", "type") or _at(result, "error", "type")
                return f"{ERRORED}:{kind if isinstance(kind, str) else 'unknown'}"
            case "canceled" | "expired" as told:
                return str(told)
        raise Unreachable(f"{about}: a result is none of the Messages API", accepted=True)

    def _reply(self, message: Mapping[str, Any], ask: Ask | None, *, about: str, request_id: str, batch: bool) -> Reply:
        """A Messages reply, read strictly in what money and text depend on; whatever else it holds is not looked at."""
        blocks, stop, model = message.get("content"), message.get("stop_reason"), message.get("model")
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise Unreachable(f"{about}: {self._where} answered with something that is no reply of the Messages API", accepted=True)
        text = "".join(block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str))
        usage = _usage(message.get("usage"))
        asked = str(ask.body.get("model", "")) if ask else ""
        return Reply(
            text=text, stop=stop if isinstance(stop, str) else "", model=model if isinstance(model, str) and model else asked, usage=usage or Usage(),
            cost_uusd=self._cost(usage, ask, asked or str(model), batch=batch), request_id=request_id,
        )  # fmt: skip

    def _cost(self, usage: Usage | None, ask: Ask | None, model: str, *, batch: bool) -> int:
        """What a reply costs. One that does not say what it used has cost its bound; one of a model without a price, what the dearest would."""
        if not self.paid:
            return 0
        if usage is None:
            return ask.bound_uusd if ask else 0
        try:
            return cost_uusd(model, usage, batch=batch, prices=self.prices)
        except Refused:
            return max(cost_uusd(name, usage, batch=batch, prices=self.prices) for name in self.prices)

    def _batch(self, found: object) -> RemoteBatch:
        remote, state, counts = _at(found, "id"), _at(found, "processing_status"), _at(found, "request_counts")
        created = _time(_at(found, "created_at"))
        if not isinstance(remote, str) or not _REMOTE.fullmatch(remote) or state not in {IN_PROGRESS, CANCELING, ENDED} or created is None:
            raise Unreachable(f"{self._where} answered with something that is no batch of the Messages API", accepted=True)
        numbers = counts.values() if isinstance(counts, dict) else ()
        return RemoteBatch(id=remote, state=str(state), count=sum(n for n in numbers if isinstance(n, int)), created_at=created)

    # --- the wire ----------------------------------------------------------------------------------------------------------------------------

    def _post(self, path: str, body: Mapping[str, object], *, about: str, timeout_s: float) -> _Found:
        with self._answered("post", path, body, about=about, timeout_s=timeout_s) as response:
            data = b"".join(self._chunks(response, about, timeout_s))
            request_id = response.headers.get("request-id", "")
        return _Found(content=self._parsed(data, about), request_id=request_id[:SAID_MAX])

    def _get(self, path: str, *, about: str, timeout_s: float = LOOK_S) -> Mapping[str, Any]:
        with self._answered("get", path, None, about=about, timeout_s=timeout_s) as response:
            data = b"".join(self._chunks(response, about, timeout_s))
        return self._parsed(data, about)

    @contextmanager
    def _answered(self, method: str, path: str, body: Mapping[str, object] | None, *, about: str, timeout_s: float) -> Iterator[httpx2.Response]:
        """A response whose status is success, its content not read yet. Every error of the SDK and of its transport becomes one of ours."""
        import anthropic
        import httpx2

        trouble: DreamdError
        try:
            response = self._send(method, path, body, timeout_s)
            try:
                yield response
                return
            finally:
                response.close()
        except anthropic.APIStatusError as error:
            trouble = self._status(error, about, named=path.startswith(_OF_BATCHES))
        except anthropic.APIConnectionError as error:
            trouble = self._connection(error.__cause__, about, timeout_s)
        except httpx2.HTTPError as error:  # while the content came
            trouble = self._connection(error, about, timeout_s)
        raise trouble from None

    def _send(self, method: str, path: str, body: Mapping[str, object] | None, timeout_s: float) -> httpx2.Response:
        import anthropic
        import httpx2

        timeout = httpx2.Timeout(timeout_s, connect=min(self.connect_s, timeout_s), write=min(SEND_S, timeout_s), pool=timeout_s)
        streamed: Any = {"cast_to": httpx2.Response, "options": {"timeout": timeout}, "stream": True, "stream_cls": anthropic.Stream[Any]}
        client: Any = self._connected()  # its types know no response that is not read yet
        found: httpx2.Response = client.get(path, **streamed) if method == "get" else client.post(path, body=dict(body or {}), **streamed)
        return found

    def get_ready(self) -> None:
        """Do now what the first call does before it is sent, in a process that waits for work: the SDK takes 1 s to import. What is wrong the first call tells."""
        with suppress(Refused):
            self._connected()

    def _connected(self) -> anthropic.Anthropic:
        """The SDK's client, made at the first call. Raises Refused when the environment holds a proxy that cannot be used."""
        with self._making:
            if self._client is None:
                self._client = self._made()
            return self._client

    def _made(self) -> anthropic.Anthropic:
        import anthropic

        key = self.key or "none"  # the SDK wants one, and would look for another in the environment
        try:
            http = anthropic.DefaultHttpxClient(follow_redirects=False, trust_env=not self.local, event_hooks={"request": [_only_ours]})
        except (ValueError, OSError, ImportError) as error:
            raise Refused(f"the connection to {self._where} cannot be set up ({type(error).__name__}): see the proxy and certificate variables of the environment") from None  # fmt: skip
        return anthropic.Anthropic(
            api_key=key, base_url=self.base_url, max_retries=0, default_headers={"Authorization": f"Bearer {key}"}, open_telemetry=False, http_client=http,
        )  # fmt: skip

    def _chunks(self, response: httpx2.Response, about: str, timeout_s: float) -> Iterator[bytes]:
        """The content, bounded in size and time: a server that dribbles is given up as one that is silent. Raises Unreachable."""
        until, size = time.monotonic() + timeout_s, 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > REPLY_MAX or time.monotonic() > until:
                why = f"more than {REPLY_MAX} bytes" if size > REPLY_MAX else f"no end within {timeout_s:g} s"
                raise Unreachable(f"{about}: the answer of {self._where} has {why}", accepted=True)
            yield chunk

    def _lines(self, response: httpx2.Response, about: str) -> Iterator[bytes]:
        """Lines of a content of any length, each bounded."""
        rest = b""
        for chunk in response.iter_bytes():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line for line in lines if line.strip())
            if len(rest) > LINE_MAX:
                raise Unreachable(f"{about}: a line has more than {LINE_MAX} bytes", accepted=True)
        if rest.strip():
            yield rest

    def _parsed(self, data: bytes, about: str) -> Mapping[str, Any]:
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unreachable(f"{about}: {self._where} answered with something that is no JSON object: see claude.base_url", accepted=True)
        return found

    # --- what went wrong ---------------------------------------------------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return urlsplit(self.base_url).netloc.rpartition("@")[2] or self.base_url

    def _connection(self, cause: BaseException | None, about: str, timeout_s: float) -> Unreachable:
        """No answer. A request that was not sent whole was not taken; one that was may have been, and paid for."""
        import httpx2

        never = (
            httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError,
            httpx2.WriteError, httpx2.WriteTimeout,
        )  # fmt: skip
        kind = type(cause).__name__ if cause is not None else "connection lost"
        if isinstance(cause, never):
            return Unreachable(f"{about}: {self._where} cannot be reached ({kind}): see that it runs, and claude.base_url", accepted=False)
        waited = f" within {timeout_s:g} s" if isinstance(cause, httpx2.TimeoutException) else ""
        return Unreachable(f"{about}: no answer from {self._where}{waited} ({kind}); it may have been taken all the same", accepted=True)

    def _status(self, error: anthropic.APIStatusError, about: str, *, named: bool) -> DreamdError:
        """What a status means for the unit. `named` says that something the provider has given a name was asked for: that is what it does not know then."""
        status, kind, code = error.status_code, error.type if isinstance(error.type, str) else "", error.error_code or ""
        said = self._said(error)
        told = " ".join(x for x in (f"{about}: {self._where} answers {status}", kind, code and f"({code})", said and f"“{said}”", _request(error)) if x)
        if status == 402 or kind == "billing_error" or code in _BILLS or (status == 400 and _is_low_credit(said)):
            return Paused(f"{told}: calls are paused until the bill is paid or the limit raised at the provider", why=BILLING, for_s=BILL_S)
        again = error.response.headers.get("x-should-retry")
        if status in {408, 409, 429, 499} or status >= 500 or again == "true":
            return self._later(error, told, kind, again)
        match status:
            case 401:
                return Refused(f"{told}: the key is not valid there; set claude.api_key (DREAMD_CLAUDE__API_KEY) or ANTHROPIC_API_KEY anew")
            case 403:
                return Refused(f"{told}: the key may not do this; give it the permission at the provider, or name another model (claude.model, or model under the stage)")  # fmt: skip
            case 404 if not named:
                return Refused(f"{told}: there is no such model there, or no Messages API; see claude.model (or model under the stage) and claude.base_url")
            case _ if 300 <= status < 400:
                return Refused(f"{told}: it sends elsewhere, which is not followed; set claude.base_url to where the Messages API is")
        return Permanent(f"{told}: it does not take this request")

    def _later(self, error: anthropic.APIStatusError, told: str, kind: str, again: str | None) -> DreamdError:
        status, after_s = error.status_code, _after_s(error.response.headers)
        if not kind and status in {502, 504}:  # said by something in between, which does not know what became of the request
            return Unreachable(f"{told}; it may have been taken all the same", accepted=True)
        if again == "false" and status == 429:
            return Paused(told, why=RATE, for_s=BILL_S if after_s is None else after_s)
        if again == "false":
            return Permanent(f"{told}: it asks not to be sent this again")
        return Busy(told, after_s=BUSY_S if after_s is None else after_s)

    def _said(self, error: anthropic.APIStatusError) -> str:
        """The provider's own words on one line, cut, and without our key, should it repeat that."""
        said = error.api_message if isinstance(error.api_message, str) else ""
        said = said.replace(self.key, "***") if self.key else said
        return " ".join(said.split())[:SAID_MAX]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    content: Mapping[str, Any]
    request_id: str


def _only_ours(request: httpx2.Request) -> None:
    """Leave out of a request what no setting of ours put in."""
    for name in {*request.headers}:
        if name.lower() not in _SENT and not name.lower().startswith("x-stainless-"):
            del request.headers[name]


def _request(error: anthropic.APIStatusError) -> str:
    return f"[request {error.request_id[:SAID_MAX]}]" if error.request_id else ""


def _is_low_credit(said: str) -> bool:
    """An empty account is told as a bad request with these words. Taken for one, every unit would be parked instead of waiting for the bill."""
    return "credit balance is too low" in said.lower()


def _after_s(headers: Mapping[str, str]) -> float | None:
    """How long a response asks to be left alone: `retry-after-ms`, else `retry-after` in seconds or as a date against the response's own; None if it says
    nothing that can be."""
    told, date = headers.get("retry-after"), headers.get("date")
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return min(ms / 1000, AFTER_MAX_S)
    if (seconds := _number(told)) is not None:
        return min(seconds, AFTER_MAX_S)
    try:
        wait = (parsedate_to_datetime(told or "") - parsedate_to_datetime(date or "")).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(wait, 0.0), AFTER_MAX_S)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _usage(told: object) -> Usage | None:
    """Token counts of a reply; None when it does not say."""
    if not isinstance(told, dict):
        return None
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    numbers = [told.get(name) or 0 for name in names]
    if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in numbers) or told.get("output_tokens") is None:
        return None
    return Usage(input=numbers[0], output=numbers[1], cache_written=numbers[2], cache_read=numbers[3])


def _at(found: object, *names: str) -> object:
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _time(told: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _named(remote: str) -> str:
    """A provider's name for a batch, as part of a path. Raises Permanent for what cannot be one."""
    if not _REMOTE.fullmatch(remote):
        raise Permanent(f"{remote!r} is no name of a batch")
    return remote
