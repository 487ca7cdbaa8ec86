"""Dreams over transcripts with a model that takes down everything it is shown: `python -m tests.benchmarks.parrot PATH...`.

For every folder below PATH that holds logs: two dreams with the Claude engine through the real SDK and the fake server, one with single calls and one with
batches. The model claims the lines of every turn to be facts of the project, word for word, as many as an answer holds, spread over the window, and finds every
check right: the most a careless one could ask of the gates. Printed: sessions, calls, dollars booked, claims told, and of these those in confirmed notes by the origin of their turn; whether both dreams
wrote the same wiki; calls of a second dream, of which there should be none. Exits 1 when the wikis differ, a second dream asks, or a confirmed note rests on
anything but a typed turn, a result or what two sources report.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipelines.engines.claude.client import Provider
from pipelines.logs.redaction import Redactor, open_redactor
from pipelines.model import Outcome, Status
from pipelines.run.runner import DreamWaits
from tests.benchmarks.sent import sets_of
from tests.dreaming import SCOPE
from tests.oracle.server import Service, nothing_found, serving
from tests.oracle.wire import Body, Said
from tests.scripted import ModelDesk, asking

NOW = datetime(2027, 1, 1, tzinfo=UTC)
ANSWER_MAX = 80
"""Items an answer of 8,000 tokens holds."""
SOUND = frozenset({"user", "tool", "external"})
_FENCE = re.compile(r"<(log-\w+)>\n(.*)\n</\1>", re.DOTALL)
_TURN = re.compile(r"^\[(\d+)\] ([^:\n]*): (.*?)(?=\n\[\d+\] |\n-- |\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def parrot(body: Body) -> Said:
    """Every line of the log as a fact; "yes" to whatever is to be checked; nothing else."""
    schema = body["output_config"]["format"]["schema"]["properties"]  # type: ignore[index]
    fenced = _FENCE.search(str(body["messages"][-1]["content"]))
    log = fenced[2] if fenced else ""
    if "items" in schema:
        items = [item for turn in _TURN.finditer(log) for item in _items(turn)]
        return Said(text=json.dumps({"items": items[:: 1 + len(items) // ANSWER_MAX], "questions": []}))
    if "verdicts" in schema:
        return Said(text=json.dumps({"verdicts": [{"item": int(m[1]), "word": "yes"} for m in _ENTRY.finditer(log)]}))
    return nothing_found(body)


def _items(turn: re.Match[str]) -> list[dict[str, Any]]:
    lines = [line.strip() for line in turn[3].splitlines() if line.strip()]
    plain = {"kind": "fact", "about": "project", "where": "", "value": "", "was": "", "why": "", "version": "", "negated": False, "sure": "stated"}
    return [{**plain, "what": line[:30], "says": line, "quotes": [{"turn": int(turn[1]), "text": line}]} for line in lines]


@dataclass
class Dreamt:
    """What a dream left: its wiki, its ledger, and the claims of the model by what became of them."""

    tree: dict[str, str]
    sessions: int
    calls: int
    uusd: int
    told: int
    again: int
    believed: Counter[str] = field(default_factory=Counter)


def main(arguments: list[str]) -> int:
    """Print a row a set."""
    parser = argparse.ArgumentParser(prog="parrot", description=__doc__)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    asked = parser.parse_args(arguments)
    bad = 0
    print(f"{'set':28} {'sessions':>8} {'calls':>6} {'batched':>7} {'dollars':>8} {'told':>6} {'believed':>8}  same wiki  asked again  by origin")
    for name, files in sorted(sets_of(asked.paths).items()):
        with tempfile.TemporaryDirectory(prefix="dreamd-parrot-") as folder:
            redactor = open_redactor(Path(folder))
            plain, batched = (_dreamt(Path(folder, how), redactor, files, batch=how == "batched") for how in ("plain", "batched"))
        same = plain.tree == batched.tree
        bad += not same or plain.again + batched.again > 0 or not set(plain.believed) <= SOUND
        print(
            f"{name[-28:]:28} {plain.sessions:8} {plain.calls:6} {batched.calls:7} {plain.uusd / 1e6:8.3f} {plain.told:6} {plain.believed.total():8}"
            f"  {'yes' if same else 'NO':9}  {plain.again + batched.again:11}  {dict(plain.believed)}",
            flush=True,
        )  # fmt: skip
    return 1 if bad else 0


def _dreamt(root: Path, redactor: Redactor, files: list[str], *, batch: bool) -> Dreamt:
    with serving(parrot) as service, closing(Provider(base_url=service.base_url, key="k", local=True)) as provider:
        desk = ModelDesk(root, redactor, now=NOW, messages=provider, poll_s=1)
        _through(desk, service, files, batch=batch)
        first = len(service.answered)
        tree = desk.tree()
        _through(desk, service, files, batch=batch)
        return _left(desk, tree, first, len(service.answered) - first)


def _through(desk: ModelDesk, service: Service, files: list[str], *, batch: bool) -> None:
    """Dream until it ends, working off the batches that are out."""
    for _ in range(60):
        try:
            desk.dream(*map(Path, files), **asking(batch=batch, change_share_max=1.0, budget_uusd=10**9))
        except DreamWaits:
            service.end_batches()
            desk.now += timedelta(minutes=10)
        else:
            return
    raise RuntimeError("the dream never ended")


def _left(desk: ModelDesk, tree: dict[str, str], calls: int, again: int) -> Dreamt:
    with desk.store() as store:
        rows = store.costs(SCOPE, by=("scope",))
        theirs = {g.claim.uid: g for g in store.all_claims(SCOPE) if g.claim.made_by.startswith("claude/")}
        shown = {uid for head in store.heads(SCOPE, statuses=[Status.CONFIRMED]) for uid in head.version.claims}
        turns = {t.uid: t for found in store.turns_of_sessions(SCOPE, [s.uid for s in store.sessions(SCOPE)]).values() for t in found}
        believed = Counter(str(turns[g.claim.quotes[0].turn].origin.value) for uid, g in theirs.items() if uid in shown and g.outcome is Outcome.PASS)
        return Dreamt(tree, len(store.sessions(SCOPE)), calls, sum(row.uusd for row in rows), len(theirs), again, believed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
