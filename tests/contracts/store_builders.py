"""Small values for the store's tests, written by hand so that expectations do not come from the code under test."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from pipelines.model import (
    Basis,
    Claim,
    GateResult,
    Kind,
    OnlineNote,
    Origin,
    Outcome,
    Place,
    Quote,
    Role,
    SessionInfo,
    Standing,
    Status,
    Turn,
    Version,
)
from pipelines.ports import IntakeBatch, Seen, SourceState
from pipelines.store import BeliefChange, Decision, Dream, GatedClaim, Store
from pipelines.store import tables as t
from pipelines.store.types import dump

SCOPE = "acme/web/ana"
DAY = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)


def turn(uid: str, text: str = "the port is 5433", *, session: str = "s1", ordinal: int = 0, snap: str = "", **more: object) -> Turn:
    fields: dict[str, object] = {
        "role": Role.USER,
        "origin": Origin.USER,
        "at": DAY + timedelta(minutes=ordinal),
        "place": Place(line=ordinal + 1, offset=ordinal * 100, length=99),
        **more,
    }
    return Turn(uid=uid, snap=snap or text, session=session, ordinal=ordinal, text=text, **fields)  # type: ignore[arg-type]


def source(identity: str = "log-a", *, generation: int = 0, offset: int = 1000, line: int = 10, pending: int = 0) -> SourceState:
    return SourceState(
        identity=identity,
        format="claude",
        generation=generation,
        offset=offset,
        line=line,
        head_mac="h",
        tail_mac="t",
        pending=pending,
        carry={"ordinal": 3},
    )


def batch(*turns: Turn, after: SourceState | None = None, expected: tuple[int, int] | None = None, **more: object) -> IntakeBatch:
    after = after or source()
    seen = Seen(path=f"/logs/{after.identity}.jsonl", size=after.offset, mtime_ns=7, inode=2**64 - 1, identity=after.identity)
    sessions = tuple(SessionInfo(uid=uid, format="claude") for uid in sorted({t.session for t in turns}))
    fields: dict[str, object] = {"sessions": sessions, "turns": turns, **more}
    return IntakeBatch(seen=seen, expected=expected, after=after, **fields)  # type: ignore[arg-type]


def claim(statement: str = "the port is 5433", *, turn: str = "t1", subject: str = "payments", **more: object) -> Claim:
    fields: dict[str, object] = {"kind": Kind.FACT, "attribute": "port", "quotes": (Quote(turn=turn, start=0, end=4, text="port"),), **more}
    return Claim(subject=subject, statement=statement, **fields)  # type: ignore[arg-type]


def gated(made: Claim, *, group: str = "payments|port", blocks: tuple[str, ...] = ("payments",), outcome: Outcome = Outcome.PASS) -> GatedClaim:
    return GatedClaim(claim=made, results=(GateResult(gate="quote", outcome=outcome, why="w"),), group=group, blocks=blocks)


def online(uid: str, text: str = "port 5432", *, folder: str = "mem", position: int = 0) -> OnlineNote:
    return OnlineNote(uid=uid, folder=folder, path="MEMORY.md", line=1, position=position, title="Memory", text=text, markdown=f"- {text}")


def version(note: str = "n1", statement: str = "the port is 5433", *, slot: str = "a", status: Status = Status.CONFIRMED, **more: object) -> Version:
    fields: dict[str, object] = {
        "kind": Kind.FACT,
        "subject": "payments",
        "attribute": "port",
        "qualifier": "",
        "value": None,
        "standing": Standing.TOOL,
        "basis": Basis.STATED,
        "claims": ("c1",),
        "newest_evidence": DAY,
        **more,
    }
    return Version(note=note, slot=slot, statement=statement, status=status, **fields)  # type: ignore[arg-type]


def belief(note: str, *versions: Version, verb: str = "new") -> BeliefChange:
    return BeliefChange(note=note, versions=versions, decisions=(Decision(stage="resolver", verb=verb, reason="said_twice", note=note),))


def start_dream(store: Store, scope: str, *, cause: str, holder: str, params: Mapping[str, object] | None = None) -> Dream:
    """A dream that runs and has no jobs, as the first release began one: whoever stages, applies and ends it is the test."""
    with store.writing("start a dream") as conn:
        scope_id = store.locked_scope(conn, scope)
        before = conn.scalar(select(func.count()).select_from(t.dreams).where(t.dreams.c.scope_id == scope_id))
        row = {"scope_id": scope_id, "uid": f"dream{before:07}", "state": "running", "cause": cause, "params": dump(dict(params or {})), "holder": holder,
               "input_rev": store.revision(scope), "code": "", "started_at": store.now()}  # fmt: skip
        conn.execute(t.dreams.insert(), row)
    return store.dream(scope, row["uid"])
