"""Memory folders replayed through their edit history: `python -m tests.benchmarks.replayed PATH...`.

Each PATH holds folders with a `history.jsonl` (commit, date, file, removed and added lines, oldest first). The files are written as they stood at some moments
of the history, each dreamed over with the local engine, and at the end: how many lines that were taken out or rewritten still stand on a page as live, and how
many notes that stand in the files are on no page. Lines are compared by their words, without markup; there is no log, so nothing but the files can decide.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pipelines.logs.redaction import Redactor, open_redactor
from pipelines.run.sources import standing_notes
from pipelines.text.words import content_words
from tests.dreaming import SCOPE, Desk

DREAMS = 6
"""Moments of a history that are dreamed over, its last among them."""
WORDS_MIN = 4
"""A line of fewer words stands in many files."""


def main(arguments: Sequence[str]) -> int:
    """Print one row a folder."""
    parser = argparse.ArgumentParser(prog="replayed", description=__doc__)
    parser.add_argument("paths", metavar="PATH", type=Path, nargs="+")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="dreamd-replayed-") as folder:
        redactor = open_redactor(Path(folder))
        for history in sorted(h for path in asked.paths for h in path.rglob("history.jsonl")):
            print(measure(history, Path(folder), redactor), flush=True)
    return 0


def measure(history: Path, folder: Path, redactor: Redactor) -> str:
    """Replay one history and say what stands at its end."""
    edits = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    desk = Desk(folder / history.parent.name, redactor, now=datetime.fromisoformat(edits[-1]["date"]))
    files: dict[str, list[str]] = {}
    stops = {round((n + 1) * len(edits) / DREAMS) for n in range(DREAMS)}
    for number, edit in enumerate(edits, 1):
        _apply(files, edit)
        if number in stops:
            _write(desk, files)
            desk.dream()
    stand = {words for lines in files.values() for line in lines if (words := _words(line))}
    taken_out = {words for edit in edits for line in edit["removed"] if (words := _words(line))} - stand
    with desk.store() as store:
        notes, places = standing_notes(store.online_notes(SCOPE)), store.placements(SCOPE)
    placed = [n for n in notes if (at := places.get(n.uid[:12])) and at.page]
    stale = len(taken_out & {_words(n.text) for n in placed})
    lost = len(notes) - len(placed)
    return f"{history.parent.name:20} edits {len(edits):4}  stale lines live {stale} of {len(taken_out)}  good lines lost {lost} of {len(notes)}"


def _apply(files: dict[str, list[str]], edit: Mapping[str, Any]) -> None:
    """One edit of one file; the order of its lines is not told, and none is needed."""
    lines = files.pop(edit["old_file"] or edit["file"], [])
    for line in edit["removed"]:
        if line in lines:
            lines.remove(line)
    if edit["status"] != "D":
        files[edit["file"]] = [*lines, *edit["added"]]


def _write(desk: Desk, files: Mapping[str, Sequence[str]]) -> None:
    for old in desk.notes.rglob("*.md"):
        old.unlink()
    for name, lines in files.items():
        if name.endswith(".md"):
            desk.note(name.lstrip("/."), "\n".join(lines) + "\n")


def _words(line: str) -> str:
    """What a line says, as it is compared."""
    words = content_words(re.sub(r"[*_`#\[\]()]", " ", line))
    return " ".join(words) if len(list(words)) >= WORDS_MIN else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
