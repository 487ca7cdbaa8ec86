"""What `dreamd estimate` says beside what the fake server then books: `python -m tests.benchmarks.estimated [PATH...]`.

Two scopes of sessions with gold annotations, answered from gold; with PATHs then each folder below them that holds logs, with a server that finds nothing in
anything. Each is dreamt over once with the Claude engine. The server counts and books by rules of its own (`tests.oracle.tokens`) and stands in this process: no
call goes over HTTP. Printed: windows; tokens of the first stage, reckoned and counted; cents, reckoned as least, usual and most, and booked.
Targets: tokens within a fifth, and the usual of gold too; what is booked between the least and the most, give or take a fifth.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.claude.plan import Estimate, estimate
from pipelines.engines.local.engine import LocalEngine
from pipelines.logs.redaction import Redactor, open_redactor
from pipelines.ports import Ask, Reply, Usage, Window
from pipelines.stages.extractor import prepare
from pipelines.store import Store
from tests.benchmarks.sent import sets_of
from tests.dreaming import SCOPE
from tests.oracle.gold import SCOPES, all_sessions, save
from tests.oracle.oracle import Oracle
from tests.oracle.server import nothing_found
from tests.oracle.service import Service
from tests.oracle.wire import Body, Handler
from tests.scripted import BUDGET, ModelDesk, asking

LATENCY_S = 0.2
"""Long enough that the calls sent first find no prompt in the cache, as with a provider."""
FIFTH = 0.2


@dataclass
class Straight:
    """A provider that asks the server without HTTP between."""

    service: Service

    def create(self, ask: Ask, *, timeout_s: float) -> Reply:
        """One call."""
        told = json.loads(self.service.message(json.loads(json.dumps(dict(ask.body))), "k").payload)
        used = told["usage"]
        usage = Usage(
            input=used["input_tokens"], output=used["output_tokens"], cache_written=used["cache_creation_input_tokens"],
            cache_read=used["cache_read_input_tokens"],
        )  # fmt: skip
        text = "".join(block["text"] for block in told["content"] if block["type"] == "text")
        return Reply(text=text, stop=told["stop_reason"], model=told["model"], usage=usage, cost_uusd=ask.bound_uusd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An estimate and what was booked for the same dream: tokens of the first stage, millionths of a dollar of all."""

    name: str
    told: Estimate
    counted: int
    booked: int
    gold: bool

    @property
    def reckoned(self) -> int:
        """Tokens of the first stage, as the estimate has them."""
        return sum(s.usage.input + s.usage.cache_written + s.usage.cache_read for s in self.told.stages if s.stage == "extract")

    @property
    def good(self) -> bool:
        """Whether the targets are met."""
        inside = (1 - FIFTH) * self.told.least.uusd <= self.booked <= (1 + FIFTH) * self.told.most.uusd
        usual = abs(self.told.usual.uusd - self.booked) <= FIFTH * self.booked
        return abs(self.reckoned - self.counted) <= FIFTH * self.counted and inside and (usual or not self.gold)


def held(name: str, files: Sequence[Path], handler: Handler, redactor: Redactor, root: Path, *, gold: bool = False) -> Held:
    """Dream over the files once, then reckon what that would cost."""
    service = Service(handler, latency_s=LATENCY_S)
    desk = ModelDesk(root, redactor, messages=Straight(service), slots=16, units=4)
    desk.dream(*files, **asking(budget_uusd=1_000 * BUDGET))
    with desk.store() as store:
        told = estimate(_windows(store), ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig()))
    counted = sum(seen.usage.input for seen in service.answered if seen.usage and _reads(seen.body))
    return Held(name=name, told=told, counted=counted, booked=round(service.booked_uusd), gold=gold)


def _reads(body: Body) -> bool:
    """Whether a request is of the first stage: its reply holds items."""
    return "items" in body["output_config"]["format"]["schema"]["properties"]


def _windows(store: Store) -> Iterator[Window]:
    infos = {info.uid: info for info in store.sessions(SCOPE)}
    turns = store.turns_of_sessions(SCOPE, infos)
    for uid in sorted(infos):
        yield prepare(infos[uid], turns.get(uid, ()))


def main(paths: Sequence[str]) -> int:
    """Print a line a set; 1 when a target is missed."""
    print(f"{'set':26} {'windows':>7} {'tokens':>9} {'counted':>9} {'ratio':>6} {'least':>8} {'usual':>8} {'most':>8} {'booked':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory(prefix="dreamd-estimated-") as folder:
        met = [_show(one) for one in _all(paths, Path(folder))]
    return 0 if all(met) else 1


def _all(paths: Sequence[str], folder: Path) -> Iterator[Held]:
    redactor = open_redactor(folder)
    for scope in SCOPES:
        sessions = [session for session in all_sessions() if session.scope == scope]
        save(sessions, folder / scope / "given")
        yield held(f"gold {scope}", [folder / scope / "given"], Oracle(sessions=sessions), redactor, folder / scope, gold=True)
    for n, (name, files) in enumerate(sorted(sets_of(paths).items())):
        one = held(name, [Path(file) for file in files], nothing_found, redactor, folder / str(n))
        if one.told.windows:
            yield one


def _show(one: Held) -> bool:
    tokens = one.reckoned / one.counted if one.counted else 1.0
    money = [f"{amount / 10_000:8.4f}" for amount in (one.told.least.uusd, one.told.usual.uusd, one.told.most.uusd, one.booked)]
    ratio = one.told.usual.uusd / one.booked if one.booked else 1.0
    print(
        f"{one.name[-26:]:26} {one.told.windows:7} {one.reckoned:9} {one.counted:9} {tokens:6.3f} {' '.join(money)} {ratio:6.2f}{'' if one.good else '  missed'}",
        flush=True,
    )
    return one.good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
