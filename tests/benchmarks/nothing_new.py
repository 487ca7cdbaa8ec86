"""What a dream costs that finds nothing new: `python -m tests.benchmarks.nothing_new [--sources N] [--runs N]`.

Writes N small logs (10,000 unless told otherwise) into folders of a hundred below the temporary folder, dreams over them once, and then again, in this
process and with the store open: the second dream beside `os.stat` on each of the files. Target: at most 3 times as long.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from pipelines.engines.local.engine import LocalEngine
from pipelines.logs.archive import FolderArchive
from pipelines.logs.detect import READERS
from pipelines.logs.redaction import open_redactor
from pipelines.run import Parts, Request, dream
from pipelines.run.unchanged import fingerprint
from pipelines.store import open_store, this_process
from tests.benchmarks.timing import best, once

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def main(arguments: Sequence[str]) -> int:
    """Print both and their ratio; 1 when the second dream found something to do."""
    parser = argparse.ArgumentParser(prog="nothing_new", description=__doc__)
    parser.add_argument("--sources", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=7)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="dreamd-nothing-new-") as folder:
        paths = [str(path) for path in _logs(Path(folder, "logs"), asked.sources)]
        with open_store(f"sqlite:///{folder}/store.db", now=_now) as store:
            parts = Parts(
                store=store, archive=FolderArchive(Path(folder, "archive")), redactor=open_redactor(Path(folder)), engine=LocalEngine(), readers=READERS,
                now=_now, holder=this_process(),
            )  # fmt: skip
            request = Request(scope="local", paths=(str(Path(folder, "logs")),), wiki=Path(folder, "wiki"), wiki_id="0" * 16, host="here")
            first = once(lambda: dream(parts, request))
            stat = best(lambda: [os.stat(path) for path in paths], asked.runs)
            marks = best(lambda: fingerprint(parts, request), asked.runs)
            again = best(lambda: dream(parts, request), asked.runs)
            done = dream(parts, request).taken.logs.files
        print(f"{len(paths)} sources; the best of {asked.runs} runs, the first dream of one")
        for name, cost in {"first dream": first, "stat": stat, "fingerprint": marks, "second dream": again}.items():
            print(f"{name:20} {cost.seconds:8.4f} s  {cost.processor:8.4f} s of processor")
        print(f"{'ratio':20} {again.seconds / stat.seconds:8.2f}    {again.processor / stat.processor:8.2f}")
        return 1 if done else 0


def _logs(folder: Path, count: int) -> Iterator[Path]:
    for number in range(count):
        path = folder / f"{number // 100:04}" / f"{number:06}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        at = (BEGIN + timedelta(hours=number)).isoformat()
        path.write_bytes(orjson.dumps({"session": f"s{number}", "speaker": "Ana", "time": at, "text": f"run number {number} went through"}) + b"\n")
        yield path


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
