"""What the gates hold back of real logs and notes: `python -m tests.benchmarks.held PATH... [--sample N] [--every N]` (logs, note folders, LoCoMo's and HaluMem's files).

Read by the local engine and by one that claims everything (`tests.poison.greedy`). Printed a set and engine: claims by who speaks and those under quarantine,
with the gates that hold them; turns that search does not find because of such a claim; and, of what others than the user say, sentences and characters that
search leaves out of the turns it finds. For note folders: lines, and those held. `--sample` prints so many of what is held, spread over all of it, to judge.
Measuring only: nothing that is read is written anywhere but to a folder that is deleted at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.engines.local.engine import LocalEngine
from pipelines.gates import Company, Lineage, company_of, speaker_gate, voice_of, without_orders
from pipelines.logs.discovery import discover
from pipelines.model import GateResult, Origin, Outcome, Turn, digest
from pipelines.notes.folder import read_folder
from pipelines.ports import Engine, Window
from pipelines.run.held import held_note
from pipelines.stages.extractor import Judged, judge_all, prepare
from pipelines.text.sentences import sentences
from tests.benchmarks import annotated
from tests.benchmarks.sent import windows_of
from tests.poison.greedy import GreedyEngine

OTHERS = (Origin.TOOL, Origin.EXTERNAL, Origin.ASSISTANT)
ENGINES: tuple[Engine, ...] = (LocalEngine(), GreedyEngine())
TEXT_MAX = 20_000
"""Characters of a turn whose sentences are looked at: dumps say the same all the way down."""

Sample = tuple[str, str, str]
"""Which gate, who speaks, and the words."""


@dataclass
class Found:
    """The figures of one set and engine."""

    claims: Counter[Origin] = field(default_factory=Counter)
    held: Counter[tuple[Origin, str]] = field(default_factory=Counter)
    turns: Counter[Origin] = field(default_factory=Counter)
    hidden: Counter[Origin] = field(default_factory=Counter)
    samples: set[Sample] = field(default_factory=set)


def main(arguments: Sequence[str]) -> int:
    """Print a block a path."""
    parser = argparse.ArgumentParser(prog="held", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="Have the engine that claims everything read every Nth turn.")
    asked = parser.parse_args(arguments)
    samples: set[Sample] = set()
    for path in asked.paths:
        samples |= _notes(path) if path.is_dir() and not discover([str(path)]).files else _logs(path, asked.every)
    for gate, who, text in sorted(samples, key=lambda s: digest(*s))[: asked.sample]:
        print(f"[{gate}/{who}] {' '.join(text.split())[:300]}")
    return 0


# --- note folders ------------------------------------------------------------------------------------------------------------------------


def _notes(path: Path) -> set[Sample]:
    """Lines of a memory folder, and those that may stand nowhere."""
    notes = read_folder(path, name=path.name).notes
    held = [(why, n) for n in notes if (why := held_note(n))]
    print(f"{path.parent.name}/{path.name:20} {len(notes):6} lines of notes, {len(held)} held")
    return {(why, "note", note.text) for why, note in held}


# --- logs --------------------------------------------------------------------------------------------------------------------------------


def _logs(path: Path, every: int) -> set[Sample]:
    with tempfile.TemporaryDirectory(prefix="dreamd-held-") as folder:
        windows = list(windows_of(_files(path, Path(folder))))
    company = company_of({w.session.uid: _lineage(w) for w in windows})
    samples = _left_out(path.name, windows)
    for engine in ENGINES:
        found = Found()
        for window in windows:
            _read(engine, window if engine is ENGINES[0] else prepare(window.session, window.turns[::every]), company, found)
        _print(f"{path.name}, {engine.name}", found)
        samples |= found.samples
    return samples


def _files(path: Path, folder: Path) -> list[str]:
    """The logs below a path; an annotated set is written as a plain conversation first."""
    if path.parent.name not in {"locomo", "halumem"}:
        return [file.path for file in discover([str(path)]).files]
    read = annotated.halumem if path.suffix == ".jsonl" else annotated.locomo
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in read(path).rows), encoding="utf-8")
    return [str(rows)]


def _lineage(window: Window) -> Lineage:
    voices = frozenset(voice_of(t.speaker) for t in window.turns if t.speaker and t.origin is Origin.USER)
    return Lineage(began=min((t.at for t in window.turns if t.at), default=None), voices=voices)


def _left_out(name: str, windows: Sequence[Window]) -> set[Sample]:
    """Of what others than the user say, the sentences search leaves out of a turn that it finds."""
    said: Counter[Origin] = Counter()
    lost: Counter[Origin] = Counter()
    samples: set[Sample] = set()
    for turn in (t for w in windows for t in w.turns if t.origin in OTHERS):
        for text in (span.of(turn.text) for span in sentences(turn.text[:TEXT_MAX])):
            said[turn.origin] += 1
            if without_orders(text, turn.origin) != text:
                lost[turn.origin] += 1
                samples.add(("search", turn.origin.value, text))
    for origin in OTHERS:
        if said[origin]:
            print(f"{name:28} {origin.value:10} {said[origin]:7} sentences, left out of search {lost[origin]:6} {lost[origin] / said[origin]:6.2%}")
    return samples


def _read(engine: Engine, window: Window, company: Company, found: Found) -> None:
    turns = {t.uid: t for t in window.turns}
    found.turns.update(t.origin for t in window.turns if t.text)
    locked: set[str] = set()
    for judged in judge_all(engine.extract(window), window):
        quoted = [turns[q.turn] for q in judged.claim.quotes if q.turn in turns]
        if not quoted:
            continue
        found.claims[quoted[0].origin] += 1
        if held := _holding(judged, turns, company):
            found.held[quoted[0].origin, f"{held.gate}:{held.why}"] += 1
            found.samples.add((f"{held.gate}:{held.why}", quoted[0].origin.value, judged.claim.quotes[0].text))
            locked |= {t.uid for t in quoted}
    found.hidden.update(turns[uid].origin for uid in locked)


def _holding(judged: Judged, turns: Mapping[str, Turn], company: Company) -> GateResult | None:
    if judged.outcome is Outcome.QUARANTINE:
        return next(r for r in judged.results if r.outcome is Outcome.QUARANTINE)
    word = speaker_gate(judged.claim, turns, company, {})
    return word if word.outcome is Outcome.QUARANTINE and judged.outcome is not Outcome.REJECT else None


def _print(name: str, found: Found) -> None:
    for origin in sorted(found.claims, key=str):
        gates = ", ".join(f"{gate} {n}" for gate, n in sorted(_of(found.held, origin)))
        print(
            f"{name:28} {origin.value:10} {found.claims[origin]:7} claims, held {sum(n for _, n in _of(found.held, origin)):5} ({gates});"
            f" {found.turns[origin]} turns, not found for it {found.hidden[origin]} {found.hidden[origin] / max(1, found.turns[origin]):.2%}"
        )


def _of(held: Counter[tuple[Origin, str]], origin: Origin) -> Iterator[tuple[str, int]]:
    return ((gate, n) for (who, gate), n in held.items() if who is origin)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
