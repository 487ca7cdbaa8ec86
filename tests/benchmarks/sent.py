"""What of transcripts is sent to a model: `python -m tests.benchmarks.sent PATH...`.

For every folder below PATH that holds logs: sessions, windows, tokens of the log files as they lie there ("raw"), of what their turns say ("said"), and of whole
requests, prompt and schema included ("sent"). Then how many typed turns there are and how many of them stand whole in a request. Tokens are estimated alike for all
three (`pipelines.engines.claude.tokens`). Nothing is sent. Target: sent at most 35 % of raw, every typed turn whole.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.claude.shorten import is_typed
from pipelines.engines.claude.tokens import tokens
from pipelines.engines.local.engine import LocalEngine
from pipelines.logs.archive import FolderArchive
from pipelines.logs.codec import Source
from pipelines.logs.discovery import discover
from pipelines.logs.intake import intake
from pipelines.logs.redaction import Redactor, open_redactor
from pipelines.ports import Answered, Ask, Meanwhile, Reply, Usage, Window
from pipelines.stages.extractor import prepare
from pipelines.store import open_store


@dataclass
class Kept:
    """An `Asking` that keeps every request and answers that there is nothing to take down."""

    asks: list[Ask] = field(default_factory=list)

    def ask(self, asks: Sequence[Ask], meanwhile: Meanwhile | None = None) -> Sequence[Answered]:
        """Keep the requests."""
        self.asks += asks
        nothing = Reply(text='{"items": [], "questions": []}', stop="end_turn", model="none", usage=Usage(), cost_uusd=0)
        return [Answered(reply=nothing) for _ in asks]


@dataclass
class Count:
    """The figures of one set of logs; tokens are estimates."""

    sessions: int = 0
    windows: int = 0
    raw: int = 0
    said: int = 0
    sent: int = 0
    typed: int = 0
    whole: int = 0

    def __iadd__(self, other: Count) -> Count:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


def main(arguments: Sequence[str]) -> int:
    """Print a line a set and the sum of all."""
    parser = argparse.ArgumentParser(prog="sent", description=__doc__)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    asked = parser.parse_args(arguments)
    total = Count()
    print(f"{'set':24} {'sessions':>8} {'windows':>7} {'raw':>10} {'said':>9} {'sent':>9} {'of raw':>7} {'of said':>7} {'typed':>6} {'whole':>6}")
    for name, files in sorted(sets_of(asked.paths).items()):
        count = _count(files)
        total += count
        _show(name, count)
    _show("all", total)
    return 0 if total.whole == total.typed and total.sent <= 0.35 * total.raw else 1


def _show(name: str, c: Count) -> None:
    shares = [f"{c.sent / whole:7.1%}" if whole else f"{'-':>7}" for whole in (c.raw, c.said)]
    print(f"{name[-24:]:24} {c.sessions:8} {c.windows:7} {c.raw:10} {c.said:9} {c.sent:9} {' '.join(shares)} {c.typed:6} {c.whole:6}")


def sets_of(paths: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The files by the first folder below the path they were found under."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for root in paths:
        for file in discover([root]).files:
            below = Path(file.path).relative_to(root).parts if Path(root).is_dir() else ()
            found[f"{Path(root).name}/{below[0] if len(below) > 1 else ''}"].append(file.path)
    return found


def _count(files: Sequence[str]) -> Count:
    count = Count(raw=sum(map(_raw_tokens, files)))
    engine = ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig())
    for window in windows_of(files):
        kept = Kept()
        engine.read([window], kept)
        count += _of_session(window, kept.asks)
    return count


def _of_session(window: Window, asks: Sequence[Ask]) -> Count:
    shown: defaultdict[str, str] = defaultdict(str)
    for line in (line for stretch in ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig()).stretches(window) for line in stretch.lines):
        shown[line.turn.uid] += line.text
    typed = [turn for turn in window.turns if is_typed(turn) and turn.text.strip()]
    return Count(
        sessions=1, windows=len(asks), said=sum(tokens(turn.text) for turn in window.turns), sent=sum(tokens(_texts(ask)) for ask in asks),
        typed=len(typed), whole=sum(turn.text in shown[turn.uid] for turn in typed),
    )  # fmt: skip


def _texts(ask: Ask) -> str:
    """All words of a request: prompt, schema, log."""
    body = json.loads(json.dumps(dict(ask.body)))
    return "\n".join((*(block["text"] for block in body["system"]), json.dumps(body["output_config"]), *(m["content"] for m in body["messages"])))


def _raw_tokens(path: str) -> int:
    with Source(path) as source:
        return sum(tokens(chunk.decode("utf-8", "replace")) for chunk in source.chunks())


def windows_of(files: Sequence[str], redactor: Redactor | None = None) -> Iterator[Window]:
    """The sessions of the files as an engine gets them, through intake: masked, with their origins."""
    now = datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="dreamd-sent-") as folder, open_store(f"sqlite:///{folder}/store.db", now=lambda: now) as store:
        intake(
            list(files), store=store, scope="local", archive=FolderArchive(Path(folder, "archive")), redactor=redactor or open_redactor(Path(folder)), now=now
        )
        infos = {info.uid: info for info in store.sessions("local")}
        turns = store.turns_of_sessions("local", infos)
        for uid in sorted(infos):
            yield prepare(infos[uid], turns.get(uid, ()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
