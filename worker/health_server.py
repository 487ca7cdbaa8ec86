"""/healthz and /metrics of a process that serves: what the store gets done, measured when asked.

All serving processes of a store tell the same, so those of one host may be given the same address: the first one answers, another takes over when it ends.
Not for a stranger's eyes: the names of scopes stand in it. prometheus-client is imported when somebody asks for metrics.
"""

from __future__ import annotations

import errno
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

import structlog

from pipelines.errors import DreamdError, StoreUnavailable
from pipelines.run.health import Limits, Problem, judge
from pipelines.store import Measured, ScopeHealth, Spread, Store
from worker.settings import Settings

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

KEPT_S: Final = 5.0
"""Who asks again within this is told the same: probes and scrapes together cost one measurement."""
PATIENCE_S: Final = 5.0
"""How long who asks waits for the store: probes give up soon, and one that hangs is no healthy one."""
BIND_S: Final = 5.0
"""How often an address another process holds is tried again."""
LOOK_S: Final = 0.2
REQUEST_S: Final = 10.0
OTHER: Final = "other"
"""The scope label of all scopes that are not told one by one."""

log = structlog.get_logger("dreamd.health")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A measurement and what is wrong with it; `measured` is None when the store did not answer."""

    measured: Measured | None
    problems: tuple[Problem, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong that is an alarm."""
        return not any(p.grave for p in self.problems)

    def as_json(self) -> dict[str, object]:
        """What /healthz says."""
        return {"healthy": self.healthy, "problems": [asdict(p) for p in self.problems]}


def limits_of(loaded: Settings) -> Limits:
    """The limits the settings name."""
    return Limits(**loaded.health.model_dump())


def look(store: Store, limits: Limits, scope: str | None = None) -> Diagnosis:
    """Measure and judge now."""
    try:
        measured = store.health(scope)
    except DreamdError as error:
        return Diagnosis(measured=None, problems=(unreachable(error),))
    return Diagnosis(measured=measured, problems=judge(measured, limits))


def unreachable(error: DreamdError) -> Problem:
    """What is said of a store that does not answer."""
    return Problem(
        code="store_unreachable", about="the store", why=str(error), what_to_do="start the database, or see what holds it: dreamd doctor on its host"
    )  # fmt: skip


@dataclass(slots=True)
class Diagnoses:
    """Answers from one store, each kept for a moment. Safe in any thread: one measures at a time, and nobody waits longer than `patience_s`."""

    store: Store
    limits: Limits
    clock: Callable[[], float] = time.monotonic
    patience_s: float = PATIENCE_S
    _kept: Diagnosis | None = None
    _until: float = 0.0
    _measured: threading.Event | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> Diagnosis:
        """The answer of now, or of a moment ago; that the store does not answer where it takes too long."""
        with self._lock:
            if self._kept is not None and self.clock() < self._until:
                return self._kept
            if self._measured is None:
                self._kept, self._measured = None, threading.Event()
                threading.Thread(target=self._measure, args=(self._measured,), name="dreamd measures", daemon=True).start()
            measured = self._measured
        measured.wait(self.patience_s)
        return self._kept or self._hangs()

    def _measure(self, measured: threading.Event) -> None:
        try:
            answer = look(self.store, self.limits)
            with self._lock:
                self._kept, self._until = answer, self.clock() + KEPT_S
        finally:
            self._measured = None
            measured.set()

    def _hangs(self) -> Diagnosis:
        late = StoreUnavailable(f"measure the health of the store in {self.store.engines.where}: it has not answered for {self.patience_s:g} s")
        return Diagnosis(measured=None, problems=(unreachable(late),))


@contextmanager
def serving_health(store: Store, loaded: Settings) -> Iterator[None]:
    """Diagnosis /healthz and /metrics in threads until the context ends, when the settings name an address."""
    if loaded.metrics_addr is None:
        yield
        return
    with served(Diagnoses(store, limits_of(loaded)), loaded.metrics_addr):
        yield


@contextmanager
def served(source: Callable[[], Diagnosis], address: str) -> Iterator[Callable[[], int]]:
    """As `serving_health`; gives a function that waits until the address is ours and tells the port."""
    server = _Serving(source, address)
    thread = threading.Thread(target=server.run, name="dreamd health", daemon=True)
    thread.start()
    try:
        yield server.port
    finally:
        server.close()
        thread.join()


def metrics_text(answer: Diagnosis) -> bytes:
    """The answer in the text format of Prometheus."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(answer))
    return generate_latest(registry)


# --- the server --------------------------------------------------------------------------------------------------------------------------


class _Serving:
    """A server that waits for its address to be free."""

    def __init__(self, source: Callable[[], Diagnosis], address: str) -> None:
        host, _, port = address.rpartition(":")
        self.source, self.at = source, (host.strip("[]"), int(port))
        self.over, self.bound = threading.Event(), threading.Event()
        self.server: HTTPServer | None = None

    def run(self) -> None:
        """Serve until closed, as soon as the address is ours."""
        told = False
        while not self.over.is_set():
            try:
                self.server = _server(self.at, self.source)
            except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host
                if not told:
                    self._tell(error)
                told = True
                self.over.wait(BIND_S)
                continue
            self.server.timeout = LOOK_S
            self.bound.set()
            with self.server:
                while not self.over.is_set():
                    self.server.handle_request()
            return

    def _tell(self, error: OSError | UnicodeError) -> None:
        """Say why the address is not ours: mostly another process of ours has it, and all is well."""
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        told = log.info if taken else log.warning
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        told("health_served_by_another" if taken else "health_not_served", address=f"{self.at[0]}:{self.at[1]}", why=why, again_in_s=BIND_S)

    def port(self) -> int:
        """Wait for the server and tell its port."""
        if not self.bound.wait(60) or self.server is None:
            raise RuntimeError(f"nothing could be bound to {self.at}")
        return int(self.server.server_address[1])

    def close(self) -> None:
        """Ask the server to end; it does within a moment."""
        self.over.set()


def _server(at: tuple[str, int], source: Callable[[], Diagnosis]) -> HTTPServer:
    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Who asks and goes away is no trouble of ours."""

    class Handler(_Handler):
        answer = staticmethod(source)

    return Server(at, Handler)


class _Handler(BaseHTTPRequestHandler):
    answer: Callable[[], Diagnosis]
    timeout = REQUEST_S
    server_version, sys_version = "dreamd", ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/healthz":
            told = self.answer()
            self._send(200 if told.healthy else 503, "application/json", json.dumps(told.as_json(), ensure_ascii=False).encode())
        elif path == "/metrics":
            self._send(200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(self.answer()))
        else:
            self._send(404, "text/plain; charset=utf-8", b"there are /healthz and /metrics\n")

    do_HEAD = do_GET

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Probes are no events."""


# --- the metrics -------------------------------------------------------------------------------------------------------------------------

_AGES: Final = {
    "dreamd_last_success_age_seconds": ("success_age_s", "since a dream last completed"),
    "dreamd_request_oldest_age_seconds": ("pending_age_s", "since the oldest request was made whose dream has not begun"),
    "dreamd_unit_oldest_age_seconds": ("due_age_s", "since the oldest unit became due that nobody works on"),
    "dreamd_unread_oldest_age_seconds": ("unread_age_s", "since the oldest session began that nobody has read"),
    "dreamd_verify_age_seconds": ("verify_age_s", "since all citations were last read again"),
}
_COUNTS: Final = {
    "dreamd_requests_pending": ("pending", "requests whose dream has not begun"),
    "dreamd_units_due": ("due", "units somebody could work on now"),
    "dreamd_dreams_running": ("running", "dreams that run"),
    "dreamd_dreams_held": ("held", "dreams that wait for a person"),
    "dreamd_dreams_failed_in_row": ("failed_in_row", "dreams that failed since one ended otherwise"),
    "dreamd_dreams_without_promotion": ("unpromoted", "dreams that ended since one confirmed a note"),
    "dreamd_promotions_eligible": ("eligible", "claims and notes that could be believed and are not"),
    "dreamd_sessions_unread": ("unread", "of the newest sessions, those nobody has read"),
    "dreamd_engine_failures": ("engine_failures", "units of the newest dreams the engine failed at"),
    "dreamd_verify_failed": ("verify_failed", "citations that did not hold when they were last read again"),
}
_SPREADS: Final = {
    "dreamd_session_to_page_seconds": ("to_page", "from the newest event a dream read to the commit of its pages, over the newest dreams"),
    "dreamd_request_to_page_seconds": ("asked_to_page", "from a dream's request to the commit of its pages, over the newest dreams"),
}
_SUMMED: Final = {"pending": "other_pending", "due": "other_due"}


@dataclass(frozen=True, slots=True, eq=False)
class _Collector:
    """Gauges of one answer. Labels are scopes (at most SCOPES_MAX, and `other`), roles and our own codes: never anything a log says."""

    answer: Diagnosis

    def collect(self) -> Iterator[GaugeMetricFamily]:
        m = self.answer.measured
        yield _gauge("dreamd_store_up", "whether the store answers", [((), float(m is not None))])
        yield _gauge("dreamd_problem", "a problem by its code: the runbook says what it means", _problems(self.answer.problems), ("code", "scope"))
        if m is not None:
            yield from _scopes(m)
            yield from _store(m)


def _gauge(name: str, says: str, samples: Any, labels: tuple[str, ...] = ()) -> GaugeMetricFamily:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(name, says, labels=labels)
    for values, number in samples:
        family.add_metric(values, number)
    return family


def _problems(problems: tuple[Problem, ...]) -> list[tuple[tuple[str, str], float]]:
    """Only scopes are told as what a problem is about: names of processes come and go without end."""
    counted: dict[tuple[str, str], float] = {}
    for p in problems:
        about = "" if p.code in _OF_NO_SCOPE else p.about
        counted[(p.code, about)] = counted.get((p.code, about), 0.0) + 1
    return sorted(counted.items())


_OF_NO_SCOPE: Final = frozenset({"store_unreachable", "worker_stuck", "no_worker", "no_scheduler", "faults", "letters"})


def _scopes(m: Measured) -> Iterator[GaugeMetricFamily]:
    for name, (attribute, says) in (*_AGES.items(), *_COUNTS.items()):
        told = [((s.scope,), float(value)) for s in m.scopes if (value := getattr(s, attribute)) is not None]
        if m.others and attribute in _SUMMED:
            told.append(((OTHER,), float(getattr(m, _SUMMED[attribute]))))
        yield _gauge(name, says, told, ("scope",))
    for name, (attribute, says) in _SPREADS.items():
        yield _gauge(name, says, [row for s in m.scopes for row in _quantiles(s, getattr(s, attribute))], ("scope", "quantile"))
    yield _gauge("dreamd_units_parked", "units the last dream went on without", _counts_of(m.scopes, "parked"), ("scope", "code"))
    behind = [((s.scope,), max(f.behind_s or 0.0 for f in s.folders)) for s in m.scopes if s.folders]
    yield _gauge("dreamd_wiki_behind_seconds", "since when a wiki folder shows an older revision", behind, ("scope",))


def _quantiles(s: ScopeHealth, took: Spread | None) -> list[tuple[tuple[str, str], float]]:
    return [] if took is None else [((s.scope, "0.5"), took.p50_s), ((s.scope, "0.95"), took.p95_s)]


def _counts_of(scopes: tuple[ScopeHealth, ...], attribute: str) -> list[tuple[tuple[str, str], float]]:
    counted: list[tuple[str, Mapping[str, int]]] = [(s.scope, getattr(s, attribute)) for s in scopes]
    return [((scope, code), float(n)) for scope, counts in counted for code, n in counts.items()]


def _store(m: Measured) -> Iterator[GaugeMetricFamily]:
    yield _gauge("dreamd_scopes", "scopes of the store", [((), float(len(m.scopes) + m.others))])
    yield _gauge("dreamd_letters", "messages kept that nobody could act on", [((), float(m.letters))])
    yield _gauge("dreamd_faults_day", "repairs of the last day", [((code,), float(n)) for code, n in m.faults.items()], ("code",))
    roles = sorted({p.role for p in m.processes})
    told = {role: [p for p in m.processes if p.role == role] for role in roles}
    yield _gauge("dreamd_processes", "registered processes", [((role,), float(len(of))) for role, of in told.items()], ("role",))
    yield _gauge(
        "dreamd_units_done", "units the registered processes finished", [((role,), float(sum(p.done for p in of))) for role, of in told.items()], ("role",)
    )
    failed = [((role,), float(sum(p.failed for p in of))) for role, of in told.items()]
    yield _gauge("dreamd_units_failed", "units that failed at the registered processes", failed, ("role",))
    seen = [((role,), min(p.seen_age_s for p in of)) for role, of in told.items()]
    yield _gauge("dreamd_process_seen_age_seconds", "since a process of the role was last seen", seen, ("role",))
