"""What a dream makes of folders of notes without any log: per folder the lines carried, corrected, said twice, numbers out of date and disputes, each named.

python -m tests.benchmarks.folders DIR        # DIR holds a folder of notes each, or is one
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.model import Verdict
from pipelines.notes.stale import stale_numbers
from tests.dreaming import SCOPE, Desk
from worker import wiring

FINDINGS = frozenset({Verdict.CORRECTED, Verdict.SUPERSEDED, Verdict.CONTRADICTED, Verdict.DUPLICATE, Verdict.NEEDS_RECHECK})


def main(argv: list[str]) -> int:
    """Dream over every folder by itself and print what was found."""
    root = Path(argv[0])
    folders = sorted(p for p in root.iterdir() if p.is_dir() and any(p.rglob("*.md"))) or [root]
    redactor = wiring.redactor()
    for folder in folders:
        with TemporaryDirectory() as made:
            _tell(folder, Desk(root=Path(made), redactor=redactor))
    return 0


def _tell(folder: Path, desk: Desk) -> None:
    desk.dream(notes=(folder,))
    with desk.store() as store:
        notes = store.online_notes(SCOPE)
        disputes = sum(h.version.status.value == "disputed" for h in store.heads(SCOPE))
        found = store.findings(SCOPE)
    stale = stale_numbers(notes)
    said = Counter(found[n.uid].verdict for n in notes if n.uid in found)
    print(
        f"{folder.name}: {len(notes)} carried, {said[Verdict.CORRECTED] + said[Verdict.SUPERSEDED]} corrected, {said[Verdict.DUPLICATE]} duplicates, "
        f"{len(stale)} stale numbers, {disputes + said[Verdict.CONTRADICTED]} disputes"
    )
    by_uid = {n.uid: n for n in notes}
    for n in (n for n in notes if n.uid in found and found[n.uid].verdict in FINDINGS):
        first = by_uid.get(found[n.uid].other or "")
        print(f"  {found[n.uid].verdict.value} {n.path}:{n.line} {n.text[:140]!r}" + (f" = {first.path}:{first.line}" if first else f" ({found[n.uid].why})"))
    for s in stale:
        print(f"  stale {s.counted.path}:{s.counted.line} {s.counted.words[:140]!r}, newest {s.newest.value if s.newest else 'unknown'}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
