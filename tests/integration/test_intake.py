"""Intake over real files, a real store and a real archive: every byte accounted for, each thing read once, logs never touched."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.errors import Conflict, Transient
from pipelines.logs import intake as module
from pipelines.logs.archive import FolderArchive
from pipelines.logs.codec import Source
from pipelines.logs.counting import TakenIn
from pipelines.logs.desk import IntakeStore
from pipelines.logs.intake import IntakeReport, intake
from pipelines.logs.outbox import Receipt
from pipelines.logs.redaction import Redactor
from pipelines.ports import IntakeBatch, Seen, SourceState, Tombstones
from pipelines.store import Store, open_store
from tests.redacting import shared_redactor, vendor_keys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def row(n: int, text: str = "", *, session: str = "s1-3f9c2a7d51e0") -> bytes:
    """One record of a plain conversation."""
    at = (datetime(2026, 3, 1, tzinfo=UTC) + timedelta(minutes=n)).isoformat()
    return json.dumps({"session": session, "speaker": "Ana", "time": at, "text": text or f"message number {n}"}, ensure_ascii=False).encode() + b"\n"


class Bench:
    """Logs and an archive in a folder, a scope of its own in a shared store, and short words for what the tests do with them."""

    def __init__(self, root: Path, store: Store, redactor: Redactor) -> None:
        self.root = root
        self.scope = f"user/{root.name}"
        self.logs = root / "logs"
        self.logs.mkdir()
        self.store = store
        self.archive = FolderArchive(root / "archive")
        self.redactor = redactor

    def write(self, name: str, content: bytes) -> Path:
        path = self.logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def take(self, *paths: Path, store: IntakeStore | None = None, now: datetime = NOW) -> IntakeReport:
        named = [str(p) for p in paths] or [str(self.logs)]
        return intake(named, store=store or self.store, scope=self.scope, archive=self.archive, redactor=self.redactor, now=now)

    def take_one(self, *paths: Path, store: IntakeStore | None = None) -> TakenIn:
        (taken,) = self.take(*paths, store=store).files
        return taken

    def texts(self) -> list[str]:
        return [t.text for s in self.store.sessions(self.scope) for t in self.store.turns_of(self.scope, s.uid)]


@pytest.fixture(scope="module")
def redactor(request: pytest.FixtureRequest) -> Redactor:
    return shared_redactor(request)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'store.db'}", now=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def bench(tmp_path: Path, store: Store, redactor: Redactor) -> Bench:
    return Bench(tmp_path, store, redactor)


class Watching:
    """A store that keeps the batches it commits, and can do something before each commit."""

    def __init__(self, store: Store) -> None:
        self.inner = store
        self.batches: list[IntakeBatch] = []
        self.commits = 0
        self.touches: list[int] = []
        self.before = iter(())

    def mac(self, *parts: str | bytes) -> str:
        return self.inner.mac(*parts)

    def seen_files(self, scope: str) -> Mapping[str, Seen]:
        return self.inner.seen_files(scope)

    def seen_file(self, scope: str, path: str) -> Seen | None:
        return self.inner.seen_file(scope, path)

    def source(self, scope: str, identity: str) -> SourceState | None:
        return self.inner.source(scope, identity)

    def tombstones(self, scope: str) -> Tombstones:
        return self.inner.tombstones(scope)

    def touch(self, scope: str, seen: Sequence[Seen]) -> None:
        self.touches.append(len(seen))
        self.inner.touch(scope, seen)

    def commit_batches(self, scope: str, batches: Sequence[IntakeBatch]) -> Sequence[Receipt]:
        next(self.before, None)
        self.batches += batches
        self.commits += 1
        return self.inner.commit_batches(scope, batches)


# --- the ordinary way --------------------------------------------------------------------------------------------------------------------


def test_a_new_log_is_taken_in_whole_and_the_second_time_not_opened(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"".join(row(n) for n in range(5))
    path = bench.write("a.jsonl", content)
    taken = bench.take_one()
    assert (taken.format, taken.new_turns, taken.good, taken.bytes, taken.lines) == ("conversation", 5, 5, len(content), 5)
    assert bench.texts() == [f"message number {n}" for n in range(5)]
    monkeypatch.setattr("pipelines.logs.ahead.Source", None)
    again = bench.take(path)
    assert (again.files, again.unchanged) == ((), 1)


def test_growth_reads_only_the_new_part(bench: Bench) -> None:
    path = bench.write("a.jsonl", b"".join(row(n) for n in range(5)))
    first = bench.take_one()
    with path.open("ab") as file:
        file.write(row(5) + row(6))
    second = bench.take_one()
    assert second.identity == first.identity
    assert (second.new_turns, second.turns, second.good_bytes, second.generation, second.rewritten) == (2, 2, len(row(5) + row(6)), 0, False)
    assert bench.texts() == [f"message number {n}" for n in range(7)]


def test_an_unfinished_tail_waits_until_it_is_complete(bench: Bench) -> None:
    path = bench.write("a.jsonl", row(0) + row(1)[:20])
    first = bench.take_one()
    assert (first.new_turns, first.pending, first.good_bytes) == (1, 20, len(row(0)))
    with path.open("ab") as file:
        file.write(row(1)[20:])
    second = bench.take_one()
    assert (second.new_turns, second.pending) == (1, 0)
    assert bench.texts() == ["message number 0", "message number 1"]


def test_a_log_whose_first_record_is_not_complete_is_no_refusal(bench: Bench) -> None:
    path = bench.write("a.jsonl", row(0)[:20])
    report = bench.take()
    assert (report.refused, report.files[0].pending, report.files[0].bytes) == ((), 20, 20)
    path.write_bytes(row(0))
    assert bench.take_one().new_turns == 1


def test_a_copy_a_move_and_a_compressed_copy_are_the_same_source(bench: Bench) -> None:
    content = b"".join(row(n) for n in range(50))
    path = bench.write("a.jsonl", content)
    first = bench.take_one()
    bench.write("copy.jsonl", content)
    path.rename(bench.logs / "moved.jsonl")
    bench.write("packed.jsonl.zst", zstd.compress(content))
    bench.write("packed.jsonl.gz", gzip.compress(content))
    report = bench.take()
    assert [(f.identity, f.turns, f.bytes) for f in report.files] == [(first.identity, 0, 0)] * 4
    assert report.unchanged == 0
    again = bench.take()
    assert (again.files, again.unchanged) == ((), 4)


def test_files_in_which_nothing_is_new_are_remembered_together(bench: Bench) -> None:
    """A transaction a file would wait for the disk as often: a folder that was copied back has thousands."""
    paths = [bench.write(f"{n}.jsonl", row(n, session=f"s{n}-3f9c2a7d51e0")) for n in range(300)]
    bench.take()
    for path in paths:
        os.utime(path, (1_790_000_000, 1_790_000_000))
    watching = Watching(bench.store)
    assert [f.turns for f in bench.take(store=watching).files] == [0] * 300
    assert (watching.commits, sum(watching.touches)) == (0, 300)
    assert len(watching.touches) == 2
    assert bench.take().unchanged == 300


def test_a_log_that_was_compressed_after_it_grew_goes_on_at_its_cursor(bench: Bench) -> None:
    rows = [row(n) for n in range(8)]
    path = bench.write("r.jsonl", b"".join(rows[:5]))
    bench.take()
    path.unlink()
    bench.write("r.jsonl.zst", zstd.compress(b"".join(rows[:6])) + zstd.compress(b"".join(rows[6:])))
    taken = bench.take_one()
    assert (taken.new_turns, taken.good_bytes) == (3, len(b"".join(rows[5:])))
    assert bench.texts() == [f"message number {n}" for n in range(8)]


def test_a_rewritten_log_is_a_new_generation_and_reported(bench: Bench) -> None:
    path = bench.write("a.jsonl", row(0) + row(1) + row(2))
    bench.take()
    path.write_bytes(row(0) + row(1, "changed") + row(2) + row(3))
    report = bench.take()
    assert report.rewritten == (str(path),)
    assert (report.files[0].generation, report.files[0].new_turns, report.files[0].turns) == (1, 1 + 1, 4)
    path.write_bytes(row(0))
    assert bench.take_one().generation == 2


def test_two_logs_that_share_their_beginning_stay_two_sources(bench: Bench) -> None:
    bench.write("a.jsonl", row(0) + row(1) + row(2, "one way"))
    bench.write("b.jsonl", row(0) + row(1) + row(2, "the other way"))
    bench.write("c.jsonl", row(0) + row(1))
    report = bench.take()
    assert len({f.identity for f in report.files}) == 3
    assert not any(f.rewritten for f in report.files)
    assert {"one way", "the other way"} <= set(bench.texts())
    assert bench.take().unchanged == 3


def test_a_copy_that_fell_behind_is_no_rewrite_of_the_log_that_went_on(bench: Bench) -> None:
    path = bench.write("a.jsonl", row(0) + row(1))
    copy = bench.write("backup/a.jsonl", row(0) + row(1))
    first, _ = bench.take().files
    path.write_bytes(row(0) + row(1) + row(2))
    bench.take()
    os.utime(copy, ns=(1, 1))
    late = bench.take_one()
    assert (late.rewritten, late.new_turns, late.generation) == (False, 0, 0)
    assert late.identity != first.identity
    with path.open("ab") as file:
        file.write(row(3))
    grown = bench.take_one()
    assert (grown.rewritten, grown.new_turns, grown.identity) == (False, 1, first.identity)


# --- what must never happen --------------------------------------------------------------------------------------------------------------


def test_logs_are_never_modified(bench: Bench) -> None:
    bench.write("a.jsonl", row(0) + b'{"torn": \n' + row(1))
    bench.write("b.jsonl.zst", zstd.compress(row(5, session="s2-3f9c2a7d51e0")))
    bench.write("c.json", b"not json")

    def looks() -> dict[str, tuple[str, int, int]]:
        return {p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns, p.stat().st_ctime_ns) for p in sorted(bench.logs.iterdir())}

    before = looks()
    bench.take()
    bench.take()
    assert looks() == before


def test_secrets_reach_neither_archive_nor_store(bench: Bench) -> None:
    key = vendor_keys()["github"]
    bench.write("a.jsonl", row(0, f"push with {key} please") + row(1, "the password is hun" + "ter2"))
    watching = Watching(bench.store)
    taken = bench.take_one(store=watching)
    assert taken.redacted == 2
    assert bench.texts() == [f"push with {'*' * len(key)} please", "the password is *******"]
    stored = b"".join(bench.archive.get(s.blob) for b in watching.batches for s in b.segments)
    assert len(stored) == taken.bytes
    assert key.encode() not in stored
    assert watching.batches[0].mask_version == bench.redactor.version


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(bench: Bench) -> None:
    bench.write("good.jsonl", row(0))
    bench.write("strange.jsonl", b'{"what": "ever"}\n')
    bench.write("binary.jsonl", bytes(range(256)) * 50)
    bench.write("words.jsonl", b"just a text\nof two lines\n")
    bench.write("package.json", b'{"name": "not a log"}')
    bench.write("empty.jsonl", b"")
    bench.write("cut.jsonl.gz", gzip.compress(b"".join(row(n, os.urandom(40).hex(), session="s9-3f9c2a7d51e0") for n in range(400)))[:-900])
    report = bench.take(bench.logs, bench.root / "missing.jsonl")
    reasons = {os.path.basename(path): why for path, why in report.refused}
    assert set(reasons) == {"strange.jsonl", "binary.jsonl", "words.jsonl", "missing.jsonl", "cut.jsonl.gz"}
    assert "no log format dreamd knows" in reasons["strange.jsonl"]
    assert reasons["binary.jsonl"] == "a binary file"
    assert reasons["words.jsonl"] == "no JSON record in it"
    assert reasons["missing.jsonl"] == "No such file or directory"
    assert "breaks off" in reasons["cut.jsonl.gz"]
    turns = {os.path.basename(f.path): f.new_turns for f in report.files}
    assert turns["good.jsonl"] == 1
    assert 0 < turns["cut.jsonl.gz"] < 400
    assert {os.path.basename(f.path): f.refused for f in report.files if f.skipped and f.refused}["empty.jsonl"] == "empty"


def test_bytes_that_are_no_record_are_kept_with_place_and_reason(bench: Bench) -> None:
    torn = b'{"session": "s1", "spea\n'
    bench.write("a.jsonl", row(0) + torn + b"\n" + row(1))
    watching = Watching(bench.store)
    taken = bench.take_one(store=watching)
    assert (taken.good, taken.bad, taken.bad_bytes) == (2, 1, len(torn))
    (span,) = watching.batches[0].bad
    assert (span.place.offset, span.place.length, span.place.line, span.reason) == (len(row(0)), len(torn), 2, "torn")


def test_a_full_archive_stops_everything_and_moves_no_cursor(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.jsonl", row(0))

    def full(data: bytes) -> str:
        raise Transient("no space left")

    monkeypatch.setattr(bench.archive, "put", full)
    with pytest.raises(Transient, match="no space left"):
        bench.take()
    monkeypatch.undo()
    assert bench.store.seen_files(bench.scope) == {}
    assert bench.take_one().new_turns == 1


# --- while others write ------------------------------------------------------------------------------------------------------------------


def test_a_log_rewritten_while_it_is_read_is_read_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = row(0) + row(1, "old!") + row(2), row(0) + row(1, "new!") + row(2)
    path = bench.write("a.jsonl", before)
    stamp = path.stat()
    reads = iter([after])
    chunks = Source.chunks

    def chunks_then_rewrite(self: Source, start: int = 0) -> Iterator[bytes]:
        yield from chunks(self, start)
        for content in reads:
            with open(self.path, "r+b") as file:  # in place: same inode, same size, and the time set back
                file.write(content)
            os.utime(self.path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    monkeypatch.setattr(Source, "chunks", chunks_then_rewrite)
    taken = bench.take_one()
    assert (taken.new_turns, taken.turns, taken.generation) == (3, 3, 0)
    assert bench.texts() == ["message number 0", "new!", "message number 2"]


def test_an_append_while_it_is_read_disturbs_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.jsonl", row(0) + row(1))
    chunks = Source.chunks

    def chunks_then_append(self: Source, start: int = 0) -> Iterator[bytes]:
        yield from chunks(self, start)
        with open(self.path, "ab") as file:
            file.write(row(2))

    with monkeypatch.context() as patch:
        patch.setattr(Source, "chunks", chunks_then_append)
        assert bench.take_one().new_turns == 2
    assert bench.take_one().new_turns == 1


def test_a_log_that_never_holds_still_is_refused_and_its_cursor_stays(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench.write("a.jsonl", row(0) + row(1))
    chunks = Source.chunks

    def chunks_then_rewrite(self: Source, start: int = 0) -> Iterator[bytes]:
        yield from chunks(self, start)
        path.write_bytes(row(0, os.urandom(4).hex()))

    monkeypatch.setattr(Source, "chunks", chunks_then_rewrite)
    report = bench.take()
    assert report.refused == ((str(path), "it changes while it is read: try again when its writer is done"),)
    assert bench.store.seen_files(bench.scope) == {}


def test_a_cursor_that_another_process_moved_is_read_anew(bench: Bench) -> None:
    path = bench.write("a.jsonl", row(0) + row(1))
    watching = Watching(bench.store)

    def other_process() -> Iterator[None]:
        bench.take(path)
        yield

    watching.before = other_process()
    taken = bench.take_one(store=watching)
    assert (taken.refused, taken.turns) == (None, 0)
    assert bench.texts() == ["message number 0", "message number 1"]


def test_small_logs_are_committed_together(bench: Bench) -> None:
    for n in range(5):
        bench.write(f"{n}.jsonl", row(n, session=f"s{n}"))

    watching = Watching(bench.store)
    report = bench.take(store=watching)
    assert (watching.commits, [f.new_turns for f in report.files]) == (1, [1] * 5)
    assert bench.take().unchanged == 5


def test_a_copy_of_a_log_that_waits_for_its_commit_is_no_conflict(bench: Bench) -> None:
    content = row(0) + row(1)
    bench.write("a.jsonl", content)
    bench.write("b.jsonl", content + row(2))
    watching = Watching(bench.store)
    report = bench.take(store=watching)
    assert [(f.new_turns, f.turns, f.identity) for f in report.files] == [(2, 2, report.files[0].identity), (1, 1, report.files[0].identity)]
    assert [b.expected for b in watching.batches] == [None, (0, len(content))]


def test_a_source_no_file_stands_for_any_more_is_known_when_it_comes_back(bench: Bench) -> None:
    first = bench.write("a.jsonl", row(0) + row(1))
    identity = bench.take_one().identity
    first.write_bytes(row(0, session="s2"))
    assert bench.take_one().identity != identity
    bench.write("b.jsonl", row(0) + row(1) + row(2))
    back = bench.take_one(bench.logs / "b.jsonl")
    assert (back.identity, back.new_turns, back.turns, back.refused) == (identity, 1, 1, None)


def test_a_log_that_begins_with_much_that_is_no_record_is_still_known(bench: Bench) -> None:
    bench.write("a.jsonl", b"not a record\n" * 100 + b"".join(row(n) for n in range(3)))
    assert (taken := bench.take_one()).format == "conversation"
    assert taken.new_turns == 3


def test_a_log_whose_cursor_moved_holds_up_no_other_and_is_read_on(bench: Bench) -> None:
    paths = [bench.write(f"{n}.jsonl", row(n, session=f"s{n}")) for n in range(3)]
    watching = Watching(bench.store)

    def other_process() -> Iterator[None]:
        bench.take(paths[1])
        paths[1].write_bytes(row(1, session="s1") + row(9, session="s1"))
        yield

    watching.before = other_process()
    report = bench.take(store=watching)
    assert [(f.refused, f.new_turns) for f in report.files] == [(None, 1), (None, 1), (None, 1)]
    assert sorted(bench.texts()) == ["message number 0", "message number 1", "message number 2", "message number 9"]


def test_a_conflict_without_end_is_reported(bench: Bench) -> None:
    path = bench.write("a.jsonl", row(0))

    class Contended(Watching):
        def commit_batches(self, scope: str, batches: Sequence[IntakeBatch]) -> Sequence[Receipt]:
            raise Conflict("moved")

    assert bench.take(store=Contended(bench.store)).refused[0][0] == str(path)


# --- in parts ----------------------------------------------------------------------------------------------------------------------------


def test_a_crash_between_two_batches_loses_nothing_and_doubles_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 1)
    monkeypatch.setattr("pipelines.logs.codec.CHUNK", 300)
    bench.write("a.jsonl", b"".join(row(n) for n in range(20)))

    class Killed(Exception):
        pass

    class Dying(Watching):
        def commit_batches(self, scope: str, batches: Sequence[IntakeBatch]) -> Sequence[Receipt]:
            if len(self.batches) == 4:
                raise Killed
            return super().commit_batches(scope, batches)

    with pytest.raises(Killed):
        bench.take(store=Dying(bench.store))
    rest = bench.take_one()
    assert 0 < rest.new_turns < 20
    assert bench.texts() == [f"message number {n}" for n in range(20)]
    assert bench.take().unchanged == 1


def test_many_small_logs_are_few_commits_and_few_files_of_the_archive(bench: Bench) -> None:
    for n in range(300):
        bench.write(f"{n:03}.jsonl", row(n, session=f"s{n}-3f9c2a7d51e0"))
    bench.write("150a.jsonl", b"\x00 no log")
    watching = Watching(bench.store)
    report = bench.take(store=watching)
    assert [why for _, why in report.refused] == ["a binary file"]
    assert (sum(f.new_turns for f in report.files), len(watching.batches), watching.commits) == (300, 300, 2)
    assert len([p for p in (bench.root / "archive").rglob("*") if p.is_file()]) == 2
    assert b"".join(bench.archive.get(s.blob) for b in watching.batches for s in b.segments) == b"".join(
        row(n, session=f"s{n}-3f9c2a7d51e0") for n in range(300)
    )


def test_small_logs_taken_in_before_a_crash_are_whole_and_stay(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.logs.outbox.FILES_MAX", 4)
    for n in range(10):
        bench.write(f"{n}.jsonl", row(n, session=f"s{n}-3f9c2a7d51e0"))

    class Killed(Exception):
        pass

    class Dying(Watching):
        def commit_batches(self, scope: str, batches: Sequence[IntakeBatch]) -> Sequence[Receipt]:
            if len(self.batches) == 8:
                raise Killed
            return super().commit_batches(scope, batches)

    with pytest.raises(Killed):
        bench.take(store=Dying(bench.store))
    assert bench.texts() == [f"message number {n}" for n in range(8)]
    rest = bench.take()
    assert (rest.unchanged, sum(f.new_turns for f in rest.files)) == (8, 2)


def test_short_records_are_committed_by_their_number(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECES_MAX", 3)
    bench.write("a.jsonl", b"".join(row(n) for n in range(10)))
    watching = Watching(bench.store)
    assert bench.take_one(store=watching).new_turns == 10
    assert [len(b.turns) for b in watching.batches] == [3, 3, 3, 1]


def test_batches_and_segments_tile_the_log_and_the_cursor_ends_at_its_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 500)
    monkeypatch.setattr("pipelines.logs.feed.SEGMENT_MAX", 400)
    monkeypatch.setattr("pipelines.logs.ahead.LINE_MAX", 100)
    monkeypatch.setattr("pipelines.logs.codec.CHUNK", 300)
    content = row(0) + row(1, "long " * 500) + b"\n" + row(2) + row(3)[:-5]
    bench.write("a.jsonl", content)
    watching = Watching(bench.store)
    taken = bench.take_one(store=watching)
    assert taken.refused is None
    segments = sorted((s.offset, s.length) for b in watching.batches for s in b.segments)
    assert [a + n for a, n in segments] == [a for a, _ in segments[1:]] + [len(content) - taken.pending]
    assert segments[0][0] == 0
    assert len(segments) > 3
    archived = b"".join(bench.archive.get(s.blob) for b in watching.batches for s in b.segments)
    assert archived == content[: len(content) - taken.pending]
    assert taken.bytes == len(content)
    assert (watching.batches[-1].after.offset, watching.batches[-1].after.line) == (len(content) - taken.pending, 5)


def test_a_line_longer_than_a_record_may_be_is_one_bad_span(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    split_stream = module.split_stream
    monkeypatch.setattr(module, "split_stream", lambda chunks, **how: split_stream(chunks, record_max=4000, **how))
    monkeypatch.setattr("pipelines.logs.ahead.LINE_MAX", 1000)
    monkeypatch.setattr("pipelines.logs.feed.SEGMENT_MAX", 2000)
    monkeypatch.setattr("pipelines.logs.codec.CHUNK", 700)
    key = vendor_keys()["github"]
    long = row(1, f"words and more words {key} " * 400)
    bench.write("a.jsonl", row(0) + long + row(2))
    watching = Watching(bench.store)
    taken = bench.take_one(store=watching)
    assert (taken.good, taken.bad, taken.bad_bytes, taken.bytes) == (2, 1, len(long), len(row(0) + long + row(2)))
    archived = b"".join(bench.archive.get(s.blob) for b in watching.batches for s in b.segments)
    assert len(archived) == taken.bytes
    assert key.encode() not in archived


def test_a_log_that_begins_with_a_line_longer_than_a_record_may_be_is_refused_with_the_limit(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.logs.identity.RECORD_MAX", 3 << 20)
    bench.write("a.jsonl", row(0, "word " * 900_000) + row(1))
    taken = bench.take_one()
    assert taken.refused == "its first record is longer than 3 MB, which no record of an agent is"


_parts = st.one_of(
    st.builds(row, st.integers(0, 50)),
    st.builds(lambda n, cut: row(n)[:cut], st.integers(0, 50), st.integers(1, 60)),
    st.sampled_from(
        [
            b"\n",
            b"\r\n",
            b"  \n",
            b"\x00" * 40,
            b"\xff\xfe\n",
            b"not json\n",
            b"42\n",
            b'{"session":',
            b'{"a": {"b": [1, 2\n',
            b"[",
            b"]",
            b",",
            b"}",
            b"\xef\xbb\xbf",
        ]
    ),
    st.binary(max_size=20),
)


@given(parts=st.lists(_parts, max_size=8), cuts=st.lists(st.integers(0, 600), max_size=3), batch=st.sampled_from([1, 200, 10**6]))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_byte_is_accounted_for_however_a_log_grows(
    tmp_path_factory: pytest.TempPathFactory, store: Store, redactor: Redactor, parts: list[bytes], cuts: list[int], batch: int
) -> None:
    content = row(0) + b"".join(parts)
    bench = Bench(tmp_path_factory.mktemp("bytes"), store, redactor)
    path = bench.write("a.jsonl", b"")
    watching = Watching(bench.store)
    settled, before = 0, module.BATCH
    module.BATCH = batch  # type: ignore[misc]
    try:
        for end in [*sorted(len(row(0)) + cut for cut in cuts), len(content)]:
            if (new := content[path.stat().st_size : end]) or end == len(content):
                with path.open("ab") as file:
                    file.write(new)
                for taken in bench.take(store=watching).files:
                    assert taken.refused is None
                    settled += taken.good_bytes + taken.bad_bytes + taken.blank_bytes
                    assert settled + taken.pending == path.stat().st_size
        assert settled == sum(s.length for b in watching.batches for s in b.segments)
    finally:
        module.BATCH = before  # type: ignore[misc]


def test_the_report_counts_one_reading_and_not_the_state() -> None:
    one = TakenIn(path="a", good_bytes=5, bad_bytes=2, blank_bytes=1, pending=4)
    report = IntakeReport(
        files=(one, replace(one, path="b", refused="why"), replace(one, path="c", refused="why", skipped=True)), unchanged=0, missing=(), skipped={}
    )
    assert one.bytes == 12
    assert report.refused == (("b", "why"),)


def test_records_behind_an_object_that_never_ends_are_found_once_the_log_is_closed(bench: Bench) -> None:
    behind = row(2).replace(b'{"session"', b'{ "session"')
    path = bench.write("s.jsonl", row(1) + b'{\n "session": "s", "torn": [\n' + behind)
    written = NOW.timestamp()
    os.utime(path, (written, written))
    assert bench.take(now=NOW + timedelta(hours=1)).files[0].pending > 0
    assert bench.texts() == ["message number 1"]
    bench.take(now=NOW + timedelta(days=2))
    assert bench.texts() == ["message number 1", "message number 2"]
    assert bench.take(now=NOW + timedelta(days=3)).unchanged == 1
