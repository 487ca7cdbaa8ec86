"""A scope carried from one database to another is the same scope; a file that is not whole and right is refused with nothing written."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Integer, event, select

from pipelines.errors import Permanent, Refused, Transient
from pipelines.logs.archive import FolderArchive
from pipelines.model import BadSpan, Basis, Finding, OrderKey, Origin, Outcome, Place, Question, Quote, Relation, Ruling, Status, Verdict
from pipelines.ports import Ask, Blobs, Reply, Seen, Segment, Usage
from pipelines.store import ClaimRelation, Decision, Delivery, FindingChange, Placement, Store, open_store, this_process
from pipelines.store import tables as t
from pipelines.store.blobs import DatabaseArchive
from pipelines.store.exported import LEFT, BadExport, Reader, carried, references, zstd
from pipelines.store.transfer import export_scope, import_scope
from tests.contracts.store_builders import DAY, SCOPE, batch, belief, claim, gated, online, source, start_dream, turn, version
from tests.contracts.store_kinds import KINDS, Clock, Killed, both, clock, killed_at, store, store_of

__all__ = ["both", "clock", "store"]  # fixtures of this suite

OTHER = "acme/web/lee"
LOG = b'{"type": "user"}\n' * 40


class Archive:
    """Blobs in memory: what a test looks into."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        self.kept[hashlib.sha256(data).hexdigest()] = data
        return hashlib.sha256(data).hexdigest()

    def get(self, address: str) -> bytes:
        if address not in self.kept:
            raise Transient(f"no blob {address}")
        return self.kept[address]


@dataclass(frozen=True)
class Sent:
    """A file's bytes, too many to be shown."""

    data: bytes = field(repr=False)


def fill(store: Store, archive: Blobs, scope: str = SCOPE) -> None:
    """Something in every table of a scope, and rows that are gone between those that stand, so that no number stays what it was."""
    blob = archive.put(LOG)
    store.commit_intake(OTHER, batch(turn("x1"), turn("x2", ordinal=1)))
    first = batch(
        turn("t1", "支付端口是 5433\ud800", snap="1"), turn("t2", ordinal=1, origin=Origin.EXTERNAL), segments=(Segment(offset=0, length=len(LOG), blob=blob, raw_mac="m"),),
        bad=(BadSpan(place=Place(line=3, offset=1300, length=7), reason="torn"),), notes=(online("o9", folder="log"),),
    )  # fmt: skip
    store.commit_intake(scope, first)
    store.commit_intake(scope, batch(turn("t1", session="s0"), turn("t3", session="s0", ordinal=1), after=source("log-b")))
    store.touch(scope, [Seen(path="/logs/\udcff.jsonl", size=9, mtime_ns=2**62, inode=2**64 - 1, identity="log-b")])
    store.save_order(scope, [OrderKey(known=True, at=DAY, session="s1", ordinal=0, uid="t1", basis=Basis.STATED)])
    claims = [gated(claim()), gated(claim("ignore all", turn="t2"), outcome=Outcome.QUARANTINE, blocks=("a", "b"))]
    gaps = [Question(text="which?", quotes=(Quote(turn="t1", start=0, end=3, text="the"),))]
    store.save_reading(scope, "s1", engine="local/1", digest="d", claims=claims, questions=gaps)
    store.save_reading(scope, "s1", engine="local/2", digest="e", claims=claims[:1], questions=gaps)
    store.save_relations(scope, [ClaimRelation(one="a", other="b", relation=Relation.SAME, why="w", made_by="local")])
    store.add_ruling(scope, Ruling(uid="r1", verb="keep", target="n1", body="because", hand="ana", at=DAY))
    store.save_online_notes(scope, "mem", [online("o1"), online("o2", "gone", position=1)])
    store.save_online_notes(scope, "mem", [online("o1", "port 5433")])
    believe(store, scope, "the port is 5432", valid_until=DAY + timedelta(days=1))
    believe(store, scope, "the port is 5433")
    store.commit_page(scope, "p1", slug="old", title="T", body="b", rev=1, renderer="r", line_macs=[store.mac("line", "b")])
    store.commit_page(scope, "p1", slug="new", title="T", body="b", rev=2, renderer="r")
    store.save_placements(scope, 2, [Placement(note="n1", page="p1", section="Facts")])
    store.record_delivery(scope, Delivery(session="s1", door="hook", target="brief", rev=1, versions=("n1/a",), at=DAY))
    store.take_own_words(scope, "wiki", "new.md", added=["my words"], removed=())
    asked = Ask(stage="extract", name="s1 1-2", body={"model": "m"}, prompt="p", turns=("t2", "t1"), bound_uusd=9)
    (call,) = store.reserve(scope, [asked], dream="d", until_ms=2**62).calls.values()
    store.settle(scope, call, Reply(text="端口\0\ud800", stop="end_turn", model="m", usage=Usage(input=3), cost_uusd=5), asked)
    store.request(scope, request_id="q1", params={"a": 1}, cause="cron", hand="cron")
    (asked_for,) = [d for d in store.dreams(scope) if d.state == "running"]
    store.freeze_dirty(asked_for)
    store.finish_dream(asked_for, "failed", code="tried")
    waiting = start_dream(store, scope, cause="hand", holder=this_process())
    store.stage(waiting, [belief("n1", version("n1", "the port is 1"))], {"n1": [h.token for h in store.heads(scope, notes=["n1"])]})
    store.finish_dream(waiting, "planned")


def believe(store: Store, scope: str, statement: str, **more: Any) -> None:
    dream = start_dream(store, scope, cause="hand", holder=this_process())
    finding = FindingChange(finding=Finding(note="o1", verdict=Verdict.UNCHECKED, why=statement), decisions=(Decision(stage="a", verb="v", reason="r"),))
    tokens = [h.token for h in store.heads(scope, notes=["n1"])]
    store.stage(dream, [belief("n1", version("n1", statement, status=Status.CONFIRMED, **more)), finding], {"n1": tokens})
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed", summary={"端": 1})


def exported(store: Store, archive: Blobs, scope: str = SCOPE) -> bytes:
    out = io.BytesIO()
    export_scope(store, scope, archive, out, hand="ana")
    return out.getvalue()


def imported(store: Store, archive: Blobs, data: bytes) -> None:
    import_scope(store, lambda _: archive, lambda: io.BytesIO(data), name="file.zst", hand="ana")


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in zstd.decompress(data).splitlines()]


def told(data: bytes) -> list[Any]:
    """The lines of a file but for what the carrying itself wrote down: the audit, and the last line that counts it."""
    found, table = [], ""
    for line in lines(data)[:-1]:
        table = line["table"] if isinstance(line, dict) and "table" in line else table
        if not (table == "audit" and isinstance(line, list) and line[1] in {"export", "import"}):
            found.append(line)
    return found


def made(*values: Any, end: bool = True) -> bytes:
    """A file of these lines with a last line that is right."""
    raw = b"".join(json.dumps(v).encode() + b"\n" for v in values)
    rows: dict[str, int] = {}
    table = ""
    for value in values:
        if isinstance(value, dict):
            table = str(value.get("table", table))
        else:
            rows[table] = rows.get(table, 0) + 1
    last = json.dumps({"end": True, "rows": rows, "sha256": hashlib.sha256(raw).hexdigest()}).encode() + b"\n"
    return zstd.compress(raw + (last if end else b""))


def everything(store: Store) -> dict[str, list[Any]]:
    """All rows of all tables."""
    with store.engines.read.begin() as conn:
        return {name: [tuple(row) for row in conn.execute(select(table).order_by(table.c.id))] for name, table in t.metadata.tables.items()}


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Sent:
    """The export of a filled scope."""
    archive = Archive()
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('sent')}/store.db", now=lambda: DAY) as opened:
        fill(opened, archive)
        return Sent(exported(opened, archive))


@pytest.fixture
def third(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/third.db", now=lambda: DAY) as opened:
        yield opened


# --- there and back -------------------------------------------------------------------------------------------------------------------------


def test_a_dream_over_an_imported_scope_sees_that_nothing_is_new(store: Store, third: Store) -> None:
    """No number stays what it was: what decides must not be one."""
    archive = Archive()
    fill(store, archive)
    imported(third, Archive(), exported(store, archive))
    before = third.inputs(SCOPE)
    assert before == store.inputs(SCOPE)
    third.add_ruling(SCOPE, Ruling(uid="r2", verb="keep", target="n1", body="because", hand="ana", at=DAY))
    assert third.inputs(SCOPE) not in {before, third.inputs(OTHER)}
    with_ruling = third.inputs(SCOPE)
    third.save_online_notes(SCOPE, "mem", [online("o1", "port 5434")])
    assert third.inputs(SCOPE) not in {before, with_ruling}


def test_every_table_of_a_scope_is_carried_or_left_for_a_reason(sent: Sent) -> None:
    walled = {name for name, table in t.metadata.tables.items() if "scope_id" in table.c}
    assert {table.name for table in carried()} | LEFT.keys() == walled
    rows = lines(sent.data)[-1]["rows"]
    assert {table.name for table in carried()} - rows.keys() <= {"slots", "schedules", "forgets", "tombstones", "retained"}


def test_every_number_that_is_carried_is_known_not_to_be_a_row_id() -> None:
    """A column that names a row without a foreign key would be carried wrong: whoever adds one says here what it is."""
    plain = {
        "n", "rev", "n_", "generation", "offset", "length", "line", "pending", "redacted", "size", "mtime_ns", "turns", "ordinal", "start", "stop", "standing",
        "roots", "cost_micros", "input_rev", "applied_rev", "replans", "claimed_ms", "open", "fence", "lease_ms", "ttl_ms", "deadline_ms", "run_ms", "rung_ms",
        "rings", "claims", "failures", "head_seq", "head_rev", "since_rev", "seq", "attempt", "cost_uusd", "words", "turns_days", "bytes_days",
    }  # fmt: skip
    mapped = {"dirty_upto", "upto"}
    for table in carried():
        numbers = {c.name for c in table.columns if isinstance(c.type, Integer)} - {"id", "scope_id"} - references(table).keys()
        assert numbers <= plain | mapped, table.name


def test_a_scope_comes_back_from_another_database_as_it_went(both: tuple[Store, ...], third: Store) -> None:
    server, file = both
    archives = [Archive() for _ in range(3)]
    fill(file, archives[0])
    before = exported(file, archives[0])
    imported(server, archives[1], before)
    there = exported(server, archives[1])
    imported(third, archives[2], there)
    assert told(there) == told(before)
    assert told(exported(third, archives[2])) == told(before)
    assert archives[0].kept == archives[1].kept == archives[2].kept


def test_what_is_asked_of_the_copy_has_the_same_answer(store: Store, sent: Sent, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/first.db", now=lambda: DAY) as first:
        fill(first, Archive())
        imported(store, Archive(), sent.data)
        asked: list[Callable[[Store], Any]] = [
            lambda s: s.turns_of(SCOPE, "s1"), lambda s: s.occurrences(SCOPE, ["t1", "t3"]), lambda s: s.sessions(SCOPE), lambda s: s.source(SCOPE, "log-a"),
            lambda s: s.seen_files(SCOPE), lambda s: s.all_claims(SCOPE), lambda s: s.relations(SCOPE, ["a", "b"]), lambda s: s.rulings(SCOPE),
            lambda s: s.online_notes(SCOPE), lambda s: s.findings(SCOPE), lambda s: [(h.version, h.rev, h.recorded_at) for h in s.history(SCOPE, ["n1"])],
            lambda s: s.revisions(SCOPE), lambda s: s.decisions(SCOPE), lambda s: s.page_history(SCOPE, "new"), lambda s: s.redirects(SCOPE),
            lambda s: s.placements(SCOPE), lambda s: s.counts(SCOPE), lambda s: s.dirty(SCOPE), lambda s: s.segments(SCOPE), lambda s: s.own_words(SCOPE),
            lambda s: [(d.state, d.cause, d.summary) for d in s.dreams(SCOPE)], lambda s: s.unread(SCOPE, "local/2"), lambda s: s.order(SCOPE, ["t1"]),
            lambda s: s.answers(SCOPE, [(Ask(stage="", name="", body={"model": "m"}, prompt="", turns=(), bound_uusd=0).digest, 1)]),
        ]  # fmt: skip
        for ask in asked:
            assert ask(store) == ask(first)
        assert store.are_our_lines(SCOPE, [store.mac("line", "b")]), "the key came along"


def test_work_goes_on_over_the_copy(store: Store, sent: Sent) -> None:
    imported(store, Archive(), sent.data)
    assert store.commit_intake(SCOPE, batch(turn("t9", ordinal=9), after=source(offset=2000), expected=(0, 1000))).new_turns == 1
    planned = next(d for d in store.dreams(SCOPE) if d.state == "planned")
    assert store.apply(planned, max_share=1).inserted == 1, "what was staged there is applied here: its reads are still current"
    assert store.heads(SCOPE, notes=["n1"])[0].version.statement == "the port is 1"
    assert store.request(SCOPE, request_id="q1", params={"a": 1}, cause="cron").answer == "known"
    assert [a.verb for a in store.audit(SCOPE)][-1] == "import"


def test_bytes_of_logs_go_from_a_folder_into_a_folder(tmp_path: Path, sent: Sent, third: Store) -> None:
    archive = FolderArchive(tmp_path / "archive")
    imported(third, archive, sent.data)
    assert archive.get(hashlib.sha256(LOG).hexdigest()) == LOG


def test_scopes_of_one_store_follow_one_another_and_keep_their_key(store: Store, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/first.db", now=lambda: DAY) as first:
        archive = Archive()
        fill(first, archive)
        for scope in (SCOPE, OTHER):
            imported(store, archive, exported(first, archive, scope))
        assert store.scopes() == (SCOPE, OTHER)
        assert store.mac("x") == first.mac("x")


def test_a_process_that_had_the_store_open_before_notices_that_its_key_is_another(tmp_path: Path, sent: Sent, third: Store) -> None:
    with open_store(f"sqlite:///{tmp_path}/third.db", now=lambda: DAY) as other:
        imported(third, Archive(), sent.data)
        with pytest.raises(Refused, match="start this process again"):
            other.check_schema()
        third.check_schema()


# --- refused ----------------------------------------------------------------------------------------------------------------------------------


def test_a_scope_over_which_a_dream_runs_is_not_exported(store: Store) -> None:
    start_dream(store, SCOPE, cause="hand", holder=this_process())
    out = io.BytesIO()
    with pytest.raises(Refused, match=r"dream .* runs over acme/web/ana"):
        export_scope(store, SCOPE, Archive(), out, hand="ana")
    with pytest.raises(Refused, match=f"no scope {OTHER}"):
        export_scope(store, OTHER, Archive(), out, hand="ana")


def test_an_export_whose_logs_cannot_be_read_has_no_last_line(store: Store, third: Store) -> None:
    store.commit_intake(SCOPE, batch(turn("t1"), segments=(Segment(offset=0, length=9, blob="0" * 64, raw_mac="m"),)))
    out = io.BytesIO()
    with pytest.raises(Transient):
        export_scope(store, SCOPE, Archive(), out, hand="ana")
    with pytest.raises(BadExport):
        imported(third, Archive(), out.getvalue())


def test_a_scope_that_is_there_already_is_not_written_over(store: Store, sent: Sent) -> None:
    store.add_ruling(SCOPE, Ruling(uid="mine", verb="keep", target="n1"))
    before = everything(store)
    with pytest.raises(Refused, match="already holds something of acme/web/ana"):
        imported(store, Archive(), sent.data)
    assert everything(store) == before


def test_a_store_of_other_scopes_under_another_key_is_left_alone(store: Store, sent: Sent) -> None:
    store.add_ruling(OTHER, Ruling(uid="mine", verb="keep", target="n1"))
    before = everything(store)
    with pytest.raises(Refused, match=r"another one than that of file\.zst"):
        imported(store, Archive(), sent.data)
    assert everything(store) == before


def test_a_file_cut_or_changed_anywhere_is_refused_by_name_and_nothing_is_written(third: Store, sent: Sent) -> None:
    data, archive = sent.data, Archive()
    before = everything(third)
    step = max(1, len(data) // 40)
    cut = [data[:at] for at in range(0, len(data), step)]
    flipped = [data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :] for at in range(4, len(data), step)]
    for bad in (*cut, *flipped):
        with pytest.raises(BadExport, match=r"file\.zst"):
            imported(third, archive, bad)
    assert everything(third) == before
    assert archive.kept == {}


@pytest.mark.parametrize(
    "data", [b"", b"words", zstd.compress(b""), zstd.compress(b"words\n"), zstd.compress(b"[]\n"), zstd.compress(b'{"dreamd": "scope"}\n'),
             zstd.compress(b"\xff\xfe\n"), zstd.compress(b"[" * 100_000 + b"\n"), b"PK\x03\x04" * 9],
)  # fmt: skip
def test_a_foreign_file_is_refused_by_name(third: Store, data: bytes) -> None:
    with pytest.raises(BadExport, match=r"file\.zst is"):
        imported(third, Archive(), data)


def test_lines_taken_out_or_said_twice_are_noticed(third: Store, sent: Sent) -> None:
    raw = zstd.decompress(sent.data).splitlines(keepends=True)
    for changed in (raw[:-1], raw[:5] + raw[6:], [*raw[:5], raw[4], *raw[5:]], [*raw, raw[-1]]):
        with pytest.raises(BadExport):
            imported(third, Archive(), zstd.compress(b"".join(changed)))
    assert third.scopes() == ()


wrong = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.text(max_size=3), st.just([]), st.just({}), st.floats(allow_nan=False))


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_wrong_leaf_anywhere_is_refused_or_is_what_it_says(sent: Sent, request: pytest.FixtureRequest, clock: Clock, data: st.DataObject) -> None:
    values = lines(sent.data)[:-1]
    line = data.draw(st.integers(0, len(values) - 1))
    if isinstance(values[line], dict):
        values[line][data.draw(st.sampled_from(sorted(values[line])))] = data.draw(wrong)
    else:
        values[line][data.draw(st.integers(0, len(values[line]) - 1))] = data.draw(wrong)
    changed = made(*values)
    try:
        list(Reader(io.BytesIO(changed), "file.zst"))
    except BadExport:
        return
    into = store_of("sqlite", request, clock)
    try:
        imported(into, Archive(), changed)
    except (Refused, Permanent):  # a name no database takes is told as such
        assert into.scopes() == ()


def test_bytes_that_are_not_what_their_address_says_are_refused(third: Store, sent: Sent) -> None:
    values = lines(sent.data)[:-1]
    at = next(i for i, v in enumerate(values) if isinstance(v, list))
    values[at][1] = base64.b64encode(b"other").decode()
    archive = Archive()
    with pytest.raises(BadExport, match="not those their address names"):
        imported(third, archive, made(*values))
    assert archive.kept == {}


def test_a_file_of_a_newer_schema_or_form_names_what_to_install(third: Store, sent: Sent) -> None:
    values = lines(sent.data)[:-1]
    for change in ({"schema": "9999"}, {"form": 2}):
        with pytest.raises(BadExport, match="install the dreamd that wrote it"):
            imported(third, Archive(), made({**values[0], **change}, *values[1:]))


def test_an_import_killed_before_any_of_its_statements_leaves_nothing(sent: Sent, request: pytest.FixtureRequest, clock: Clock) -> None:
    for kind in KINDS:
        into = store_of(kind, request, clock)
        before = everything(into)
        for death in (0, 1, 2, 5, 9, 30, 60, 90):
            with pytest.raises(Killed), killed_at(into.engines.write, death):
                imported(into, Archive(), sent.data)
            assert everything(into) == before
        imported(into, Archive(), sent.data)


def test_an_import_killed_between_bytes_of_logs_leaves_none_of_them_in_a_database(sent: Sent, request: pytest.FixtureRequest, clock: Clock) -> None:
    into = store_of("postgres", request, clock)
    archive, before = DatabaseArchive(into, SCOPE), everything(into)
    for death in (1, 2, 3, 5, 30):
        with pytest.raises(Killed), killed_at(into.engines.write, death):
            imported(into, archive, sent.data)
        assert everything(into) == before
    imported(into, archive, sent.data)
    digests = {line[0] for line in lines(sent.data) if isinstance(line, list) and isinstance(line[0], str) and len(line[0]) == 64}
    assert archive.addresses() == digests != set()


def test_an_archive_that_takes_longer_than_a_server_lets_a_snapshot_stand_idle_is_exported(store: Store) -> None:
    idle_ms, many = 1_000, 4
    archive = Archive()
    pause = threading.Event()

    class Slow(Archive):
        def get(self, address: str) -> bytes:
            pause.wait(idle_ms * 0.4 / 1000)
            return archive.get(address)

    kept = (Segment(offset=n, length=1, blob=archive.put(bytes([n])), raw_mac=f"m{n}") for n in range(many))
    store.commit_intake(SCOPE, batch(turn("t1"), segments=tuple(kept)))

    def lower(conn: Any) -> None:
        if not store.on_sqlite:
            conn.exec_driver_sql(f"SET LOCAL idle_in_transaction_session_timeout = {idle_ms}")

    event.listen(store.engines.read, "begin", lower)
    try:
        assert export_scope(store, SCOPE, Slow(), io.BytesIO(), hand="ana").blobs == many
    finally:
        event.remove(store.engines.read, "begin", lower)
