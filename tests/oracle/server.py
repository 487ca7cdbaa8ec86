"""The fake Messages server: real HTTP on loopback in front of a `Service`, as a fixture's context or a process (`python -m tests.oracle`)."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.oracle.batches import Fate, all_succeed
from tests.oracle.service import Faults, Response, Service
from tests.oracle.wire import Body, Fails, Handler, Said, error_json

__all__ = ["Faults", "Service", "nothing_found", "serving"]

IDLE_S = 60.0
_BATCH = re.compile(r"/v1/messages/batches/(?P<id>[\w-]+)(?P<rest>/results|/cancel)?")


@contextlib.contextmanager
def serving(
    handler: Handler, *, latency_s: float = 0.0, faults: Faults | None = None, key: str | None = None, looks_to_end: int | None = None,
    fate: Fate = all_succeed, port: int = 0,
) -> Iterator[Service]:  # fmt: skip
    """A server that answers for as long as the block lasts; `service.base_url` is what the SDK takes.

    `latency_s` is how long every answer takes, thinking it up included. `key` is the only bearer token taken; None takes all. `looks_to_end` ends a batch at its nth look,
    None leaves it to `end_batches`. `fate` says what becomes of each request of a batch.
    """
    service = Service(handler, latency_s=latency_s, faults=faults, key=key, looks_to_end=looks_to_end, fate=fate)
    http = _Http(service, port)
    service.base_url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, name="oracle-server", daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.stop()
        http.shutdown()
        http.hang_up()
        http.server_close()
        thread.join()


def nothing_found(body: Body) -> Said:
    """A handler that finds nothing in anything: the least answer of the shape that was asked for."""
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    return Said(text=json.dumps(_least(schema)) if schema else "{}")


def _least(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: _least(one) for name, one in schema.get("properties", {}).items()}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False}.get(str(schema.get("type")))


class _Http(ThreadingHTTPServer):
    """One thread a connection; all are hung up at the end."""

    daemon_threads = True
    block_on_close = True
    request_queue_size = 128

    def __init__(self, service: Service, port: int) -> None:
        self.service = service
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), _Requests)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End every connection, so that its thread ends."""
        with self._guard:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone is nothing to print; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "oracle"
    disable_nagle_algorithm = True
    timeout = IDLE_S
    server: _Http

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        service = self.server.service
        if url.path == "/v1/messages/batches":
            self._send(service.list_batches(dict(parse_qsl(url.query))))
        elif match := _BATCH.fullmatch(url.path):
            self._send(service.batch_results(match["id"]) if match["rest"] == "/results" else service.look_batch(match["id"]))
        elif url.path == "/_log":
            self._send(_log_json(service))
        else:
            self._send(_unknown(url.path))

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        service, key = self.server.service, self._key()
        if path == "/_end":
            service.end_batches()
            self._send(Response(200, b"{}", {"content-type": "application/json"}))
        elif (match := _BATCH.fullmatch(path)) and match["rest"] == "/cancel":
            self._send(service.cancel_batch(match["id"]))
        elif path in _POSTS:
            self._send(_POSTS[path](service, _parsed(raw), key))
        else:
            self._send(_unknown(path))

    def do_DELETE(self) -> None:
        match = _BATCH.fullmatch(urlsplit(self.path).path)
        self._send(self.server.service.delete_batch(match["id"]) if match else _unknown(self.path))

    def _key(self) -> str:
        bearer = self.headers.get("authorization") or ""
        return bearer.removeprefix("Bearer ") or self.headers.get("x-api-key") or ""

    def _send(self, response: Response) -> None:
        if response.status is None:
            self.close_connection = True
            return
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(response.payload)))
        self.end_headers()
        self.wfile.write(response.payload)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed: the service keeps the log."""


_POSTS = {"/v1/messages": Service.message, "/v1/messages/batches": Service.post_batch, "/v1/messages/count_tokens": Service.count_tokens}


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _unknown(path: str) -> Response:
    return Response(
        404, json.dumps(error_json(Fails(status=404, message=f"no such path: {path}"), "req_unknown")).encode(), {"content-type": "application/json"}
    )


def _log_json(service: Service) -> Response:
    """The log without the bodies, for whoever runs the server as a process."""
    rows = [
        {
            "number": s.number, "what": s.what, "digest": s.digest, "sent": s.sent, "status": s.status, "at_once": s.at_once, "stop": s.stop,
            "seconds": s.ended - s.began, "model": s.body.get("model") if isinstance(s.body, dict) else None, "input_tokens": s.usage.input if s.usage else 0,
            "output_tokens": s.usage.output if s.usage else 0, "read": s.usage.read if s.usage else 0, "written": s.usage.written if s.usage else 0,
            "uusd": float(s.cost * 1_000_000), "custom_id": s.custom_id,
        }
        for s in service.log
    ]  # fmt: skip
    return Response(200, json.dumps({"requests": rows, "booked_uusd": float(service.booked_uusd)}).encode(), {"content-type": "application/json"})
