"""Batches: intended before they are posted, found again when nobody knows whether they were taken, fetched before anyone looks into their answers.

    intend ──▶ POST ──▶ posted ──▶ … ended ──▶ save_results (any number of times) ──▶ settled
      │          ├── not taken, for certain ──▶ unposted: all its calls are void
      │          └── no answer, or the process died (`lapsed`) ──▶ in_doubt ──▶ posted(adopted) · post_again · unposted
      └── its calls are `sent` from then on: reserved, and nobody else's to send

Every step is one conditional write that may be done twice; a step that no longer fits raises Conflict. Several processes may look after one batch.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, delete, insert, select, update

from pipelines.errors import Conflict
from pipelines.ports import Ask, Reply
from pipelines.store import tables as t
from pipelines.store.answers import word
from pipelines.store.calls import ASTRAY_MS, Calls, MacKey, Outcome, Sending, inputs_of
from pipelines.store.core import chunks, scope_path
from pipelines.store.holder import fate, process_of
from pipelines.store.money import BATCH_OPEN, Batch, BatchState, Intended, Key, Limit
from pipelines.store.types import dump, load

_LATE = "late "  # why a call of a batch was added, before the name of the remote batch that turned up
MISSING = "no_result"  # why a call was presumed whose batch ended without a word of it


class Batches(Calls):
    """What becomes of requests that are sent together. Unknown intents are a mistake of the caller's (ValueError)."""

    def intend(
        self, scope: str, asks: Sequence[Ask], *, dream: str, until_ms: int, limits: Sequence[Limit] = (), job: int | None = None
    ) -> Intended:  # fmt: skip
        """Reserve requests as one batch, as many as fit, as `reserve` does; it may then be posted, with these custom ids, by `until_ms` of the store's clock.

        From then on, or when the process that holds `job` is dead, it counts as `lapsed` until it is posted.
        """
        return self.atomically("intend a batch", lambda: self._intend(scope_path(scope), asks, dream, until_ms, tuple(limits), job))

    def posted(self, intent: str, remote: str, *, adopted: bool = False) -> None:
        """The provider has it, under the name `remote`: told by the POST, or found by looking (`adopted`). Raises Conflict when it has another one already."""
        with self.writing("note that a batch is posted") as conn:
            if self._row_of(conn, intent, lock=True).remote_id != remote:
                row = self._step(conn, intent, "posted", ("intended", "unknown"), remote_id=remote, adopted=adopted, posted_at=self.now())
                if row.remote_id != remote:
                    raise Conflict(f"batch {intent} is {row.remote_id} already, and not {remote}")

    def in_doubt(self, intent: str, why: str) -> None:
        """Nobody knows whether its POST was taken: it has to be looked for at the provider."""
        with self.writing("doubt a batch") as conn:
            self._step(conn, intent, "unknown", ("intended",), why=word(why))

    def post_again(self, intent: str, asks: Iterable[Ask], *, until_ms: int, job: int | None = None) -> Mapping[Key, str]:
        """It was looked for and is nowhere: one worker, whoever comes first, may post it once more, with these custom ids.

        `asks` must hold every request of it. Raises Conflict otherwise, and for who comes second; Paused while calls are paused.
        """
        with self.writing("post a batch again") as conn:
            row = self._row_of(conn, intent, lock=True)
            _, owner, _ = self.start_sending(conn, row.path, job)
            if row.state != "unknown":
                raise Conflict(f"batch {intent} is {row.state} by now")
            self._step(conn, intent, "intended", ("unknown",), owner=owner, until_ms=until_ms, posts=row.posts + 1, why="")
            c = t.calls.c
            calls = {(r.request_mac, r.attempt): r.custom_id for r in conn.execute(select(t.calls).where(c.batch_id == row.id, c.state == "sent"))}
            keys = {self._mac_key(ask): (ask.digest, ask.attempt) for ask in asks}
            if not calls.keys() <= keys.keys():
                raise Conflict(f"batch {intent} has {len(calls.keys() - keys.keys())} requests that are not asked any more")
            return {keys[mac]: custom_id for mac, custom_id in calls.items()}

    def unposted(self, intent: str, why: str) -> None:
        """The provider did not take it, for certain: nothing of it is paid, and its requests may be sent anew."""
        with self.writing("give a batch up") as conn:
            row = self._step(conn, intent, "refused", ("intended", "unknown"), why=word(why), ended_at=self.now())
            self._close_rest(conn, row, Outcome(state="void", why="unposted"))

    def not_ours(self, intent: str) -> None:
        """The remote batch that was adopted for it holds other requests: it is not adopted again, and ours is looked for anew."""
        with self.writing("disown a batch") as conn:
            row = self._row_of(conn, intent, lock=True)
            if row.adopted and row.remote_id is not None:
                foreign = dump([*_foreign(row), row.remote_id])
                self._step(conn, intent, "unknown", ("posted", "canceling", "ended"), remote_id=None, adopted=False, foreign_ids=foreign, posted_at=None)

    def canceling(self, intent: str) -> None:
        """The provider was asked to stop it; what it has answered by then is still paid and kept."""
        with self.writing("cancel a batch") as conn:
            self._step(conn, intent, "canceling", ("posted",))

    def ended(self, intent: str) -> None:
        """The provider has done with it; its results can be fetched."""
        with self.writing("note that a batch has ended") as conn:
            self._step(conn, intent, "ended", ("posted", "canceling"), ended_at=self.now())

    def save_results(self, intent: str, results: Mapping[str, Reply | str]) -> frozenset[str]:
        """Record what came of requests, by custom id, in one transaction: a reply, or why there is none and nothing is paid ("errored", "expired", "canceled").

        Returns the custom ids that are not of this batch: of those nothing is recorded.
        """

        def work() -> frozenset[str]:
            with self.writing("save results of a batch") as conn:
                row = self._row_of(conn, intent, lock=True)
                calls = {call.custom_id: call for call in _calls(conn, row, results)}
                outcomes = {call.id: _outcome(call, results[name]) for name, call in calls.items()}
                self.close_calls(conn, row.path, sorted(calls.values(), key=lambda call: int(call.id)), outcomes)
            return frozenset(results.keys() - calls.keys())

        return self.atomically("save results of a batch", work)

    def save_late_results(self, intent: str, remote: str, results: Mapping[str, Reply | str]) -> frozenset[str]:
        """Record results of a batch that turned up under the name `remote` after it was posted again: every reply is booked as paid once more.

        Requests that have no answer yet have one then. Returns the custom ids that are not of this batch.
        """

        def work() -> frozenset[str]:
            with self.writing("book a late batch") as conn:
                row = self._row_of(conn, intent, lock=True)
                why = word(f"{_LATE}{remote}")
                calls = {call.custom_id: call for call in _calls(conn, row, results)}
                booked = _booked(conn, row, results, why)
                late = {name: reply for name, reply in results.items() if isinstance(reply, Reply) and name in calls and name not in booked}
                self._book(conn, row, {name: calls[name] for name in late}, late, why)
            return frozenset(results.keys() - calls.keys() - booked)

        return self.atomically("book a late batch", work)

    def settled(self, intent: str) -> None:
        """All its results are saved. Calls it said nothing of are presumed."""
        with self.writing("settle a batch") as conn:
            row = self._step(conn, intent, "settled", ("ended",))
            self._close_rest(conn, row, Outcome(state="presumed", why=MISSING))

    # --- looking ---

    def batches(self, scope: str | None = None, *, states: Collection[BatchState] = BATCH_OPEN, host: str = "") -> tuple[Batch, ...]:
        """Batches in these states, oldest first; `host` is this machine's name, to tell whether the process that posts one still lives."""
        b, s = t.batches.c, t.scopes.c
        query = select(t.batches, s.path).join_from(t.batches, t.scopes, s.id == b.scope_id).where(b.state.in_(sorted(states))).order_by(b.id)
        with self.reading("look for batches") as conn:
            rows = conn.execute(query if scope is None else query.where(s.path == scope)).all()
            now = self.clock_ms(conn) if rows else 0
        return tuple(_batch(row, now, host) for row in rows)

    def batch(self, intent: str, *, host: str = "") -> Batch:
        """One batch by our name for it."""
        with self.reading("look at a batch") as conn:
            return _batch(self._row_of(conn, intent), self.clock_ms(conn), host)

    def in_batches(self, scope: str, keys: Iterable[Key]) -> Mapping[Key, str]:
        """Which of these requests are in flight in a batch, and in which (its intent)."""
        c, b = t.calls.c, t.batches.c
        macs = {(self.request_mac(digest), attempt): (digest, attempt) for digest, attempt in keys}
        query = select(c.request_mac, c.attempt, b.intent).join_from(t.calls, t.batches, b.id == c.batch_id)
        found: dict[Key, str] = {}
        with self.reading("look for requests in batches") as conn:
            scope_id = self.scope_of(conn, scope)
            for part in chunks(sorted({mac for mac, _ in macs})):
                for row in conn.execute(query.where(c.scope_id == scope_id, c.state == "sent", c.request_mac.in_(part))):
                    if (key := macs.get((row.request_mac, row.attempt))) is not None:
                        found[key] = row.intent
        return found

    def remote_batches(self) -> frozenset[str]:
        """Every name a provider has for a batch of this store: whatever else it lists may be one we lost, or another program's."""
        with self.reading("list remote batches") as conn:
            return frozenset(conn.scalars(select(t.batches.c.remote_id).where(t.batches.c.remote_id.is_not(None))))

    # --- rows ---

    def _intend(self, scope: str, asks: Sequence[Ask], dream: str, until_ms: int, limits: tuple[Limit, ...], job: int | None) -> Intended:
        with self.writing("intend a batch") as conn:
            scope_id, owner, now = self.start_sending(conn, scope, job)
            intent = secrets.token_hex(8)
            row = {
                "scope_id": scope_id, "intent": intent, "remote_id": None, "state": "intended", "dream": dream, "requests": 0, "posts": 1, "adopted": False,
                "foreign_ids": "[]", "owner": owner, "until_ms": until_ms, "why": "", "intended_at": self.now(), "posted_at": None, "ended_at": None,
            }  # fmt: skip
            batch_id: int = conn.execute(insert(t.batches).values(row).returning(t.batches.c.id)).scalar_one()
            sending = Sending(dream=dream, day=self.day_of(limits), limits=limits, owner=owner, until_ms=None, batch_id=batch_id, intent=intent)
            reserved = self.enter(conn, scope, scope_id, asks, sending, now)
            of = t.batches.c.id == batch_id
            if not reserved.calls:
                conn.execute(delete(t.batches).where(of))
                return Intended(batch=None, custom_ids={}, reserved=reserved)
            conn.execute(update(t.batches).where(of).values(requests=len(reserved.calls)))
            ids = {key: self.custom_id(intent, (self.request_mac(key[0]), key[1])) for key in reserved.calls}
            return Intended(batch=_batch(self._row_of(conn, intent), now, ""), custom_ids=ids, reserved=reserved)

    def _row_of(self, conn: Connection, intent: str, *, lock: bool = False) -> Any:
        """The batch's row and its scope's path; `lock` keeps it as it is until the transaction ends."""
        b, s = t.batches.c, t.scopes.c
        query = select(t.batches, s.path).join_from(t.batches, t.scopes, s.id == b.scope_id).where(b.intent == intent)
        row = conn.execute(query.with_for_update(of=t.batches) if lock else query).one_or_none()
        if row is None:
            raise ValueError(f"{self.engines.where} has no batch {intent}")
        return row

    def _step(self, conn: Connection, intent: str, to: BatchState, of: tuple[BatchState, ...], **values: object) -> Any:
        """Move a batch from one of the states `of`; returns its row as it is then. One that is there already is left as it is; any other raises Conflict."""
        b = t.batches.c
        moved = conn.execute(update(t.batches).where(b.intent == intent, b.state.in_(of)).values(state=to, **values)).rowcount
        row = self._row_of(conn, intent)
        if not moved and row.state != to:
            raise Conflict(f"batch {intent} is {row.state} and cannot be {to} any more")
        return row

    def _close_rest(self, conn: Connection, row: Any, outcome: Outcome) -> None:
        """Give all calls of a batch that are still in flight the same outcome."""
        c = t.calls.c
        rest = conn.execute(select(t.calls).where(c.batch_id == row.id, c.state == "sent").order_by(c.id).with_for_update()).all()
        self.close_calls(conn, row.path, rest, {call.id: outcome for call in rest})

    def _book(self, conn: Connection, row: Any, calls: Mapping[str, Any], replies: Mapping[str, Reply], why: str) -> None:
        """Add a call that was sent and answered for each of these, beside the one there was."""
        c = t.calls.c
        if not calls:
            return
        left_out = {"id", "state", "why", "inputs", "cost_uusd", "ended_at"}
        kept = [column.name for column in t.calls.columns if column.name not in left_out]
        rows = [{**{name: getattr(call, name) for name in kept}, "state": "void", "why": why, "inputs": call.inputs, "cost_uusd": 0, "ended_at": None}
                for _, call in sorted(calls.items())]  # fmt: skip
        made = {r.custom_id: r.id for r in conn.execute(insert(t.calls).returning(c.id, c.custom_id), rows)}
        new = conn.execute(select(t.calls).where(c.id.in_(sorted(made.values()))).order_by(c.id)).all()
        self.close_calls(conn, row.path, new, {r.id: _outcome(r, replies[r.custom_id], why) for r in new})

    def _mac_key(self, ask: Ask) -> MacKey:
        return self.request_mac(ask.digest), ask.attempt


def _calls(conn: Connection, row: Any, names: Iterable[str]) -> list[Any]:
    """The calls of a batch with these custom ids, locked; those booked late are not among them."""
    c = t.calls.c
    query = select(t.calls).where(c.batch_id == row.id, ~c.why.startswith(_LATE)).order_by(c.id).with_for_update()
    return [call for part in chunks(sorted(names)) for call in conn.execute(query.where(c.custom_id.in_(part)))]


def _booked(conn: Connection, row: Any, names: Iterable[str], why: str) -> frozenset[str]:
    """Which of these were booked late already, for this reason."""
    c = t.calls.c
    query = select(c.custom_id).where(c.batch_id == row.id, c.why == why)
    return frozenset(str(name) for part in chunks(sorted(names)) for name in conn.scalars(query.where(c.custom_id.in_(part))))


def _outcome(call: Any, result: Reply | str, why: str = "") -> Outcome:
    if isinstance(result, str):
        return Outcome(state="void", why=result)
    return Outcome(state="answered", why=why, reply=result, stage=call.stage, prompt=call.prompt, inputs=inputs_of(call))


def _foreign(row: Any) -> tuple[str, ...]:
    return tuple(cast(list[str], load(row.foreign_ids)))


def _batch(row: Any, now: int, host: str) -> Batch:
    slow = row.until_ms <= now or row.until_ms - now > _FAR_MS or fate(process_of(row.owner), host=host) is False
    return Batch(
        intent=row.intent, scope=row.path, dream=row.dream, state=cast(BatchState, row.state), requests=row.requests, remote=row.remote_id, posts=row.posts,
        adopted=row.adopted, foreign=_foreign(row), lapsed=row.state == "intended" and slow, why=row.why, intended_at=row.intended_at,
        posted_at=row.posted_at, ended_at=row.ended_at,
    )  # fmt: skip


_FAR_MS = 86_400_000 + ASTRAY_MS
"""A POST that counts as under way for longer than this from now began before the clock was set back."""
