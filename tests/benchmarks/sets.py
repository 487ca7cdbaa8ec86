"""The main job over sets of real logs and memory folders: `python -m tests.benchmarks.sets [--notes] [--keep DIR] PATH...`.

Every PATH is one set, dreamed over in a store and a wiki of its own. A set is a folder of logs; `LOGS+FOLDER` reads FOLDER as the agent's own notes
beside them, `+FOLDER` the notes alone. Prints one row a set; `--notes` prints every confirmed note with its quotes and every verdict on an own note that
says more than "not checked", `--keep` leaves the wikis there. Fails when a byte of a log is in no piece, a line of a note file on no page, or a line of
the folder's index in neither the brief nor the journal.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.model import Origin, Role, Status, Verdict
from pipelines.run import Outcome, Params, Parts, Request, dream
from pipelines.run.sources import standing_notes
from pipelines.store import Store
from worker import wiring
from worker.settings import Settings

SCOPE = "local"
ORIGINS = ("user", "assistant", "tool", "external", "harness", "instructions", "quoted", "model_summary", "self")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one set gave: cells by column, confirmed notes with their quotes, and what is accounted for nowhere (must be none)."""

    cells: dict[str, str]
    notes: tuple[str, ...]
    lost: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 when something is unaccounted for."""
    parser = argparse.ArgumentParser(prog="sets", description=__doc__)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--notes", action="store_true")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args(arguments)
    rows = list(_rows(asked.paths, asked.keep))
    columns = list(rows[0].cells)
    print("| " + " | ".join(columns) + " |")
    print("| " + " | ".join("---" for _ in columns) + " |")
    for row in rows:
        print("| " + " | ".join(row.cells[c] for c in columns) + " |")
    for row in rows:
        for line in row.notes if asked.notes else ():
            print(f"{row.cells['set']}: {line}")
    lost = [line for row in rows for line in row.lost]
    for line in lost:
        print(f"not accounted for: {line}", file=sys.stderr)
    return 1 if lost else 0


def _rows(paths: Sequence[str], keep: Path | None) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="dreamd-sets-") as temporary:
        base = keep or Path(temporary)
        for given in paths:
            logs, _, notes = given.partition("+")
            name = "_".join(Path(logs or notes).parts[-2:])
            yield _one(name, logs, Path(notes) if notes else None, base / name)


def _one(name: str, logs: str, notes: Path | None, base: Path) -> Row:
    base.mkdir(parents=True, exist_ok=True)
    empty = base / "no-logs"
    if not logs:
        empty.mkdir(exist_ok=True)
    settings = Settings(data_dir=base / "data")
    place = wiring.place_of(base / "wiki", settings, create=True)
    with wiring.open_parts(place, settings) as parts:
        request = Request(
            scope=SCOPE, paths=(logs or str(empty),), wiki=place.wiki, wiki_id=place.wiki_id, host="sets", notes=(notes,) if notes else (),
            params=Params(skew_s=settings.skew_s, change_share_max=1.0),
        )  # fmt: skip
        outcome = dream(parts, request)
        lost = (*_lost(outcome), *(_dropped(notes, place.wiki) if notes else ()))
        return Row(cells=_cells(name, outcome, parts), notes=(*_notes(parts.store), *_verdicts(parts.store)), lost=lost)


def _cells(name: str, outcome: Outcome, parts: Parts) -> dict[str, str]:
    report, files = outcome.report, outcome.taken.logs.files
    statuses = [h.version.status for h in parts.store.heads(SCOPE)]
    cells: dict[str, object] = {
        "set": name, "files": sum(1 for f in files if not f.skipped and f.refused is None), "refused": len(report.refused), "lines": report.lines,
        "good": report.records.good, "bad": report.records.bad, "pending": report.records.pending, "turns": report.turns,
        **{origin: report.origins.get(origin, 0) for origin in ORIGINS}, "typed": _typed(parts.store), "claims": report.claims,
        "confirmed": statuses.count(Status.CONFIRMED), "drafts": report.notes.drafts + report.notes.unasked, "own": report.online.carried,
        "pages": report.pages.written, "brief": report.brief.lines, "bloat": report.bloat, "seconds": f"{report.seconds:.1f}",
    }  # fmt: skip
    return {column: str(value) for column, value in cells.items()}


def _typed(store: Store) -> str:
    """Turns a person typed of all turns a log gives role user and text."""
    said = [t for info in store.sessions(SCOPE) for t in store.turns_of(SCOPE, info.uid) if t.role is Role.USER and t.text.strip()]
    typed = sum(t.origin is Origin.USER for t in said)
    return f"{typed}/{len(said)}"


def _lost(outcome: Outcome) -> Iterator[str]:
    """Files whose pieces do not add up to their size; compressed ones are counted by decompressed bytes and not compared, copies were read once."""
    read: set[str] = set()
    for file in outcome.taken.logs.files:
        size = Path(file.path).stat().st_size
        copy = file.identity in read and not file.bytes
        if file.refused is None and not copy and not file.path.endswith((".zst", ".gz")) and file.bytes != size:
            yield f"{file.path}: {file.bytes} of {size} bytes"
        read.add(file.identity)


def _dropped(notes: Path, wiki: Path) -> Iterator[str]:
    """Lines of note files whose words stand on no page, and index lines told in neither the brief nor the journal. Looks at the files alone."""
    pages = _bare("\n".join(p.read_text("utf-8") for p in sorted(wiki.rglob("*.md")) if p.name != "MEMORY.md" and p.parent.name != "journal"))
    reports = "\n".join(p.read_text("utf-8") for p in [wiki / "MEMORY.md", *sorted((wiki / "journal").glob("*.md"))] if p.exists())
    told, cut = _bare(reports), tuple(filter(None, map(_bare, _CUT.findall(reports))))
    for file in sorted(notes.rglob("*.md")):
        text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text("utf-8", "replace").replace("\r\n", "\n"), flags=re.DOTALL)
        for row in text.split("\n"):
            pieces = [_bare(piece) for piece in re.split(_LINK, row)]
            if not all(piece in pages or (row.startswith("#") and piece in told) for piece in pieces):
                yield f"on no page: {file.relative_to(notes)}: {row}"
            elif file.name == "MEMORY.md" and not row.startswith("#") and not all(piece in told or piece.startswith(cut) for piece in pieces):
                yield f"not told: {file.relative_to(notes)}: {row}"


_LINK = r"\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)|https?://\S+"
"""What a page may show under another name or as an address: a line is looked for by what stands around it."""

_CUT = re.compile(r"(?m)^  - Pages: (.+) … \(")
"""What the journal names by its beginning alone."""


def _bare(text: str) -> str:
    """Letters and digits alone, without footnotes, ids and marks of lists."""
    plain = re.sub(r"(?m)^\[\^\d+\]:.*$| \[\^\d+\]| \^n-[\w-]+|^\s*(?:[-*+]\s)?\[[xX]\]|^\s*\d+[.)]|^---$|<!--.*?-->", "", text)
    return re.sub(r"[\W_]+", "", plain)


def _verdicts(store: Store) -> Iterator[str]:
    notes = {n.uid: n for n in standing_notes(store.online_notes(SCOPE))}
    for uid, finding in sorted(store.findings(SCOPE).items(), key=lambda pair: (pair[1].verdict, notes[pair[0]].path, notes[pair[0]].line)):
        if finding.verdict not in {Verdict.NO_LOG, Verdict.UNCHECKED, Verdict.UNSUPPORTED}:
            note = notes[uid]
            yield f"{finding.verdict} ({finding.why}) {note.path}:{note.line} {' '.join(note.text.split())[:200]}"
            yield from (f"    {' '.join(q.text.split())[:200]}" for q in finding.quotes)
            if finding.other and finding.other in notes:
                yield f"    = {notes[finding.other].path}:{notes[finding.other].line}"


def _notes(store: Store) -> Iterator[str]:
    heads = [h.version for h in store.heads(SCOPE, statuses=[Status.CONFIRMED])]
    claims = store.claims(SCOPE, {c for v in heads for c in v.claims})
    turns = store.turns(SCOPE, {q.turn for c in claims.values() for q in c.quotes})
    for v in sorted(heads, key=lambda v: (v.kind, v.statement)):
        yield f"{v.kind} [{v.subject} / {v.attribute}{' / ' + v.qualifier if v.qualifier else ''} = {v.value}] {v.statement}"
        for quote in dict.fromkeys(q for c in v.claims if c in claims for q in claims[c].quotes):
            turn = turns[quote.turn]
            yield f"    {turn.session[:8]}:{turn.place.line} {turn.origin}: {' '.join(quote.text.split())[:200]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
