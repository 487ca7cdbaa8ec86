"""How much memory a large log takes: `python -m tests.benchmarks.memory [FOLDER] [--mb N] [--line-mb N]`.

Writes a log of N megabytes (1,000 unless told otherwise) below FOLDER or the temporary folder, takes it in, and removes everything again. Its records
are messages of about 2 kB, the second and one after each hundred megabytes of `--line-mb` megabytes (1). Prints how much was taken in, the speed, and
the peak of resident memory of this process. Target: under 300 MB whatever the size of the log. A record takes some 10 times its own size while it is read.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from pipelines.logs.archive import FolderArchive
from pipelines.logs.intake import IntakeReport, intake
from pipelines.logs.redaction import open_redactor
from pipelines.store import open_store
from tests.benchmarks.timing import once

MB = 1_000_000
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ("the port of the billing service is 5433 now", "please run the tests again", "config/app.toml holds the value", "计费服务的端口", "retry in 30 s")


def main(arguments: Sequence[str]) -> int:
    """Print what was taken in and the peak; 1 when a byte is unaccounted for."""
    parser = argparse.ArgumentParser(prog="memory", description=__doc__)
    parser.add_argument("folder", nargs="?", metavar="FOLDER")
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--line-mb", type=int, default=1)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="dreamd-memory-", dir=asked.folder) as folder:
        log = Path(folder, "log.jsonl")
        size = _write(log, asked.mb * MB, asked.line_mb * MB)
        before, reports = _peak_mb(), list[IntakeReport]()
        cost = once(lambda: reports.append(_take(log, Path(folder))))
        (taken,) = reports[0].files
        print(f"{size / MB:.0f} MB, {taken.good} records, {taken.bad} bad, {taken.turns} turns, {taken.refused or 'nothing refused'}")
        print(f"{cost.seconds:.1f} s, {cost.processor:.1f} s of processor, {size / MB / cost.seconds:.1f} MB/s")
        print(f"peak {_peak_mb():.0f} MB of resident memory ({before:.0f} MB before)")
        return 0 if taken.bytes == size else 1


def _write(path: Path, size: int, long: int) -> int:
    """The log, a record at a time; returns its size."""
    written, number, since = 0, 0, 100 * MB
    with path.open("wb") as file:
        while written < size:
            longer = bool(number) and since >= 100 * MB
            begun = written
            for part in _line(number, long if longer else 0):
                written += file.write(part)
            number, since = number + 1, 0 if longer else since + written - begun
    return written


def _line(number: int, size: int) -> Iterator[bytes]:
    """A record of so many bytes or about 2 kB, in parts: this process shall not be larger than what it measures."""
    words = " ".join(WORDS[(number + i) % len(WORDS)] for i in range(50)).encode()
    at = (BEGIN + timedelta(seconds=number)).isoformat()
    yield orjson.dumps({"session": f"s{number // 1000}", "speaker": "Ana", "time": at, "text": f"{number}: "})[:-2]
    for _ in range(max(1, size // len(words))):
        yield words
    yield b'"}\n'


def _take(log: Path, folder: Path) -> IntakeReport:
    redactor = open_redactor(folder)
    with open_store(f"sqlite:///{folder}/store.db", now=lambda: datetime.now(UTC)) as store:
        return intake([str(log)], store=store, scope="local", archive=FolderArchive(folder / "archive"), redactor=redactor, now=datetime.now(UTC))


def _peak_mb() -> float:
    """Linux counts in kilobytes, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MB if sys.platform == "darwin" else peak * 1024 / MB


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
