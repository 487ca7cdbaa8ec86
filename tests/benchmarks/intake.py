"""What intake costs beside its parts: `python -m tests.benchmarks.intake PATH [--runs N] [--processes N] [--times N]`, and how many small logs cost: `... --small N`.

The parts are what any intake must do with the bytes under PATH, each measured alone: read the files, `orjson` a line, SHA-256, zstd, and the secret
scan of each line. The whole is `intake` into a new store and archive, waiting for the disk included. Both are the best of N runs of this process, in
seconds by the clock and in processor seconds (which other work on the machine disturbs less). One profiled run more says where the time of the main
thread went. Target: the whole at most 1.6 times the sum of the parts. The look for secrets runs in a thread beside the main one, so on one core, or on
a busy machine, the ratio by the clock is that of the processor.

`--processes N` shares the whole among so many, as a dream does that has much to read; starting them is part of it. `--times N` takes so many copies of
what lies under PATH, each with session and record ids of its own: a person's logs of some months.

`--small N` takes in N logs of one line each, and one log with the same lines.
"""

from __future__ import annotations

import argparse
import cProfile
import hashlib
import os
import pstats
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from pipelines.logs.archive import FolderArchive
from pipelines.logs.codec import Source, compress
from pipelines.logs.discovery import discover
from pipelines.logs.intake import intake
from pipelines.logs.redaction import Redactor, open_redactor, open_scanner
from pipelines.run import Params
from pipelines.store import open_store
from tests.benchmarks.timing import Cost, best, once
from worker.hands import helped
from worker.settings import load
from worker.wiring import Place, open_parts

PLACES = {
    "kingfisher_sdk": "secret scan", "logs/redaction": "masking", "logs/secret_values": "masking", "logs/split": "splitting", "logs/json_": "splitting",
    "logs/archive": "archive", "logs/codec": "archive",
    "logs/intake": "intake", "logs/cursor": "intake", "logs/feed": "intake", "logs/identity": "intake", "logs/counting": "intake",
    "pipelines/logs": "readers", "pipelines/notes": "readers", "pipelines/store": "store",
    "sqlalchemy": "store", "sqlite3": "store", "pipelines/model": "digests and values",
}  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Print the parts, the whole, their ratio, and where the time went."""
    parser = argparse.ArgumentParser(prog="intake", description=__doc__)
    parser.add_argument("path", nargs="?", metavar="PATH")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--small", type=int, default=0, metavar="N")
    asked = parser.parse_args(arguments)
    if asked.small:
        _small(asked.small)
    if asked.path is None:
        return 0
    with tempfile.TemporaryDirectory(prefix="dreamd-copies-") as copies:
        _compare(asked.path if asked.times == 1 else _copied(asked.path, asked.times, Path(copies)), asked.runs, asked.processes)
    return 0


def _compare(path: str, runs: int, processes: int) -> None:
    paths = [found.path for found in discover([path]).files]
    data = [_bytes(path) for path in paths]
    size = sum(map(len, data)) / 1e6
    print(f"{len(paths)} files, {sum(d.count(10) for d in data)} lines, {size:.1f} MB; the best of {runs} runs; {processes} processes")
    with tempfile.TemporaryDirectory(prefix="dreamd-rules-") as rules:
        parts = {name: best(work, runs) for name, work in _parts(paths, data, Path(rules)).items()}
        del data
        redactor = open_redactor(Path(rules))
        costs = [_whole(path, redactor) if processes == 1 else _shared(path, processes) for _ in range(runs)]
        whole = Cost(min(c.seconds for c in costs), min(c.processor for c in costs))
        total = Cost(sum(c.seconds for c in parts.values()), sum(c.processor for c in parts.values()))
        for name, cost in {**parts, "sum of the parts": total, "intake": whole}.items():
            print(f"{name:20} {cost.seconds:7.3f} s  {cost.processor:7.3f} s of processor")
        print(f"{'ratio':20} {whole.seconds / total.seconds:7.2f}    {whole.processor / total.processor:7.2f}")
        print(f"{'speed':20} {size / whole.seconds:7.1f} MB/s")
        if processes == 1:
            profile = cProfile.Profile(time.thread_time)
            _whole(path, redactor, profile)
            print("where the main thread's processor time went")
            for place, share in _shares(profile):
                print(f"{place:20} {share:7.0%}")


_ID = re.compile(rb"\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)")


def _copied(path: str, times: int, folder: Path) -> str:
    """So many copies of the logs, each as if other sessions had said the same."""
    for number in range(times):

        def renamed(found: re.Match[bytes], number: int = number) -> bytes:
            return b"%08x" % ((int(found[0], 16) + number * 0x01010101) & 0xFFFFFFFF)

        for log in discover([path]).files:
            to = folder / str(number) / log.relative.removesuffix(".gz").removesuffix(".zst")
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(_ID.sub(renamed, _bytes(log.path)))
    return str(folder)


def _bytes(path: str) -> bytes:
    with Source(path) as source:
        return b"".join(source.chunks())


def _parts(paths: Sequence[str], data: Sequence[bytes], rules: Path) -> dict[str, Callable[[], object]]:
    lines = [line for d in data for line in d.splitlines(keepends=True)]
    scanner = open_scanner(rules)
    return {
        "read": lambda: [_bytes(path) for path in paths],
        "orjson": lambda: [_json(line) for line in lines],
        "sha256": lambda: [hashlib.sha256(d).digest() for d in data],
        "zstd": lambda: [compress(d) for d in data],
        "secret scan": lambda: [scanner.scan(line) for line in lines],
    }


def _json(line: bytes) -> object:
    try:
        return orjson.loads(line)
    except ValueError:
        return None


def _small(logs: int) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    lines = [
        orjson.dumps({"session": f"s{n}-3f9c2a7d51e0", "speaker": "Ana", "time": (begin + timedelta(minutes=n)).isoformat(), "text": f"message number {n}"})
        for n in range(logs)
    ]
    with tempfile.TemporaryDirectory(prefix="dreamd-small-") as folder:
        redactor = open_redactor(Path(folder))
        redactor.mask(b"loads the rules\n")
        one, many = Path(folder, "one"), Path(folder, "many")
        for made in (one, many):
            made.mkdir()
        one.joinpath("all.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
        for n, line in enumerate(lines):
            many.joinpath(f"{n:06}.jsonl").write_bytes(line + b"\n")
        for name, path in {"one log": one, f"{logs} logs": many}.items():
            cost = _whole(str(path), redactor)
            print(f"{name:20} {cost.seconds:7.3f} s  {cost.processor:7.3f} s of processor, {cost.processor / logs * 1e3:.2f} ms a line")


def _whole(path: str, redactor: Redactor, profile: cProfile.Profile | None = None) -> Cost:
    """One intake into a new store; making the store and closing it is not part of it."""
    with tempfile.TemporaryDirectory(prefix="dreamd-intake-") as folder, open_store(f"sqlite:///{folder}/store.db", now=lambda: datetime.now(UTC)) as store:
        archive, now = FolderArchive(Path(folder, "archive")), datetime.now(UTC)

        def work() -> None:
            intake([path], store=store, scope="local", archive=archive, redactor=redactor, now=now)

        return once(work) if profile is None else once(lambda: profile.runcall(work))


def _shared(path: str, processes: int) -> Cost:
    """One intake that several processes share; `processor` is that of this one, and of those it started and waited for."""
    os.environ["DREAMD_PROCESSES"] = str(processes)
    with tempfile.TemporaryDirectory(prefix="dreamd-intake-") as name:
        folder = Path(name)
        place = Place(
            wiki=folder / "wiki", wiki_id="0" * 16, store_url=f"sqlite:///{folder}/store/store.db", archive=folder / "store/archive", private=folder / "store",
            host="benchmark",
        )  # fmt: skip
        settings = load(None)
        with open_parts(place, settings, scope="local") as alone, helped(alone, place, settings, scope="local", params=Params()) as parts:
            assert parts.hands is not None
            among = partial(parts.hands.take_in, "local")
            children = resource.getrusage(resource.RUSAGE_CHILDREN)

            def work() -> None:
                intake([path], store=parts.store, scope="local", archive=parts.archive, redactor=parts.redactor, now=datetime.now(UTC), among=among)

            cost = once(work)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return cost._replace(processor=cost.processor + after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime)


def _shares(profile: cProfile.Profile) -> list[tuple[str, float]]:
    """Time by place; what is built in counts for its caller."""
    spent: Counter[str] = Counter()
    stats: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    for (file, _, name), (_, _, own, _, callers) in stats.items():
        if file == "~" and "sqlite3" not in name and "_native" not in name:
            for (caller, _, _), (_, _, part, _) in callers.items():
                spent[_place(caller)] += part
        else:
            spent[_place(f"{file} {name}")] += own
    total = sum(spent.values())
    return [(place, seconds / total) for place, seconds in spent.most_common()]


def _place(where: str) -> str:
    return next((place for mark, place in PLACES.items() if mark in where), "the rest")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
