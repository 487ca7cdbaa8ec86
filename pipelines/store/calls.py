"""Calls: reserved before they are sent, booked when they come back, presumed when nobody can tell (systems R10).

    reserve   one transaction for many: a row a call, which only one worker gets, and its bound set aside in every budget
    settle    the answer is recorded and the cost takes the place of the bound, in the budgets of the day it was reserved on
    void      known not to be taken: the bound is given back
    presume   the outcome is unknown: the bound counts as paid, until the call is settled or voided after all

What a call adds to its budgets depends on its state alone (`_counted`), so moving it from any state to another is the difference of the two: a late answer,
a doubt that is cleared up, an outcome told twice all come out right. Locks are taken in the order calls, budgets.
"""

from __future__ import annotations

from base64 import b32encode
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from typing import Any, cast

from sqlalchemy import Connection, bindparam, delete, select, update

from pipelines.errors import LeaseLost, Paused
from pipelines.ports import Ask, Reply
from pipelines.store import tables as t
from pipelines.store.answers import Answers, NewAnswer, answered, record, word
from pipelines.store.budgets import CALLS, Budgets, Moves, Name, limit, locked, move, names_of
from pipelines.store.core import chunks, insert_new, scope_path
from pipelines.store.holder import fate, host_of, process_of
from pipelines.store.money import Budget, Key, Limit, OpenCall, Reserved
from pipelines.store.types import dump, load

ASTRAY_MS = 60_000
"""A call sent later than this from now was sent before the clock was set back: nobody waits for it by this clock."""
FORGOTTEN = "forgotten"
"""Why a call's answer is not kept: something in its scope was forgotten while it was out. What it cost is booked all the same."""
LAPSED = "lapsed"  # why a call was presumed that nobody waited for any more
OPEN = ("sent", "presumed")  # states of calls whose outcome is not known
MacKey = tuple[str, int]
"""A key with the digest under the store's own key: what stands in the tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """Who is about to send: for which dream and day, within which limits, how long the calls count as in flight, in which batch."""

    dream: str
    day: str
    limits: tuple[Limit, ...]
    owner: str
    until_ms: int | None
    batch_id: int | None = None
    intent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a call: answered with its reply, void or presumed with the reason. `inputs` are the turns the request held."""

    state: str
    why: str = ""
    reply: Reply | None = None
    stage: str = ""
    prompt: str = ""
    inputs: tuple[str, ...] = ()


class Calls(Answers, Budgets):
    """Money set aside, and what became of it."""

    def reserve(
        self, scope: str, asks: Sequence[Ask], *, dream: str, until_ms: int, limits: Sequence[Limit] = (), job: int | None = None
    ) -> Reserved:  # fmt: skip
        """Set the bounds of these requests aside, in order, as many as fit in all limits; each is ours to send, once, by the id it has in `calls`.

        A call counts as in flight until `until_ms` of the store's clock, or until the process that holds `job` is known to be dead; then it is presumed,
        and the same request may be reserved anew. Raises Paused while all calls are paused, LeaseLost when `job` was canceled.
        """
        return self.atomically("reserve calls", lambda: self._reserve(scope_path(scope), asks, dream, until_ms, tuple(limits), job))

    def settle(self, scope: str, call: int, reply: Reply, ask: Ask) -> None:
        """Record the reply as the answer to `ask`, and book what it cost. An answer that is there already stays; the cost is booked all the same."""
        self.settle_many(scope, [(call, reply, ask)])

    def settle_many(
        self, scope: str, came: Iterable[tuple[int, Reply, Ask]], *, void: Mapping[int, str] | None = None, presumed: Iterable[int] = ()
    ) -> None:  # fmt: skip
        """What became of several calls, in one transaction: replies, calls known not to be taken with the reason, calls of which nobody knows."""
        outcomes = {call: Outcome(state="presumed", why="no_answer") for call in presumed}
        outcomes |= {call: Outcome(state="void", why=why) for call, why in (void or {}).items()}
        outcomes |= {call: Outcome(state="answered", reply=reply, stage=ask.stage, prompt=ask.prompt, inputs=ask.turns) for call, reply, ask in came}
        if outcomes:
            self.atomically("settle calls", lambda: self._settle(scope, outcomes))

    def void(self, scope: str, call: int, why: str) -> None:
        """The call was not taken, for certain (or so it turned out): nothing is paid."""
        self.settle_many(scope, [], void={call: why})

    def presume(self, scope: str, call: int) -> None:
        """Nobody can tell whether the call was taken: its bound counts as paid."""
        self.settle_many(scope, [], presumed=[call])

    def presume_lapsed(self, scope: str | None = None, *, host: str) -> tuple[OpenCall, ...]:
        """Presume calls nobody waits for any more, as far as `host` can tell, of all scopes or one; returns them."""
        with self.reading("look for calls that were left") as conn:
            lapsed = [call for call in self._open_calls(conn, scope, ("sent",), host, batched=False) if call.lapsed]
        done: list[OpenCall] = []
        for path, calls in groupby(sorted(lapsed, key=lambda call: call.scope), key=lambda call: call.scope):
            done += self.atomically("presume calls", partial(self._presume_left, path, {call.id: call for call in calls}))
        return tuple(done)

    def open_calls(self, scope: str | None = None, *, host: str = "", states: Collection[str] = OPEN) -> tuple[OpenCall, ...]:
        """Calls whose outcome is not known, by when they were sent: those in flight (sent), and those presumed since nobody could tell."""
        with self.reading("look for open calls") as conn:
            return self._open_calls(conn, scope, states, host)

    # --- reserving ---

    def _reserve(self, scope: str, asks: Sequence[Ask], dream: str, until_ms: int, limits: tuple[Limit, ...], job: int | None) -> Reserved:
        with self.writing("reserve calls") as conn:
            scope_id, owner, now = self.start_sending(conn, scope, job)
            sending = Sending(dream=dream, day=self.day_of(limits), limits=limits, owner=owner, until_ms=until_ms)
            return self.enter(conn, scope, scope_id, asks, sending, now)

    def start_sending(self, conn: Connection, scope: str, job: int | None) -> tuple[int, str, int]:
        """The scope's row id, who holds the job, and the time; raises Paused while calls are paused."""
        j, p, s = t.jobs.c, t.pauses.c, t.scopes.c
        query = select(
            select(s.id).where(s.path == scope).scalar_subquery().label("scope_id"), select(j.owner).where(j.id == (job or 0)).scalar_subquery().label("owner"),
            select(j.state).where(j.id == (job or 0)).scalar_subquery().label("state"),
            select(p.why).where(p.what == CALLS).scalar_subquery().label("why"), select(p.until_ms).where(p.what == CALLS).scalar_subquery().label("until_ms"),
            self.clock(conn).label("now"),
        )  # fmt: skip
        row = conn.execute(query).one()
        if row.state == "canceled":
            raise LeaseLost("the unit that asks was canceled: its dream is over, or what it read was forgotten")
        if row.until_ms is not None and row.until_ms > row.now:
            raise Paused(f"all calls are paused: {row.why}", why=row.why, for_s=(row.until_ms - row.now) / 1000)
        return row.scope_id or self.locked_scope(conn, scope), row.owner or "", int(row.now)

    def day_of(self, limits: Iterable[Limit]) -> str:
        """The day calls are booked on: the one their limit names, else today."""
        return next((told.name for told in limits if told.kind == "day"), f"{self.now():%Y-%m-%d}")

    def enter(self, conn: Connection, scope: str, scope_id: int, asks: Iterable[Ask], sending: Sending, now: int) -> Reserved:
        """Make a call of each request nobody has in flight or answered, as far as it fits.

        The rows are made first: whoever made one may then look for an answer that came in meanwhile, and no other worker can be between the two.
        """
        keys = {(ask.digest, ask.attempt): ask for ask in asks}
        macs = {(self.request_mac(digest), attempt): (digest, attempt) for digest, attempt in keys}
        rows = {mac: self._row(scope_id, mac, keys[key], sending, now) for mac, key in macs.items()}
        made = _insert(conn, rows)
        if len(made) < len(rows):
            self._presume_gone(conn, scope, scope_id, [mac for mac in rows if mac not in made], host_of(process_of(sending.owner)), now)
            made |= _insert(conn, {mac: row for mac, row in rows.items() if mac not in made})
        known = answered(conn, scope_id, sorted({mac for mac, _ in made})) & made.keys()
        fresh = {macs[mac]: rows[mac]["bound_uusd"] for mac in rows if mac in made and mac not in known}
        refused = self._set_aside(conn, scope, fresh, sending)
        calls = {macs[mac]: call for mac, call in made.items() if macs[mac] in fresh and macs[mac] not in refused}
        _delete(conn, [call for mac, call in made.items() if macs[mac] not in calls])
        return Reserved(calls={key: calls[key] for key in keys if key in calls}, busy=frozenset(keys.keys() - fresh.keys()), refused=refused)

    def _row(self, scope_id: int, mac: MacKey, ask: Ask, sending: Sending, now: int) -> dict[str, Any]:
        return {
            "scope_id": scope_id, "request_mac": mac[0], "attempt": mac[1], "state": "sent", "stage": ask.stage, "name": ask.name,
            "model": word(str(ask.body.get("model", ""))), "prompt": ask.prompt, "dream": sending.dream, "day": sending.day, "owner": sending.owner,
            "sent_ms": now, "until_ms": sending.until_ms, "batch_id": sending.batch_id, "custom_id": self.custom_id(sending.intent, mac) if sending.intent else None,
            "inputs": dump(sorted(set(ask.turns))) if sending.intent else None, "bound_uusd": ask.bound_uusd, "cost_uusd": 0, "fresh": 0,
            "written": 0, "cached": 0, "output": 0, "request_id": "", "why": "", "sent_at": self.now(), "ended_at": None,
        }  # fmt: skip

    def custom_id(self, intent: str, mac: MacKey) -> str:
        """What a request is called in a batch: another name in each batch, and nothing of its body."""
        return b32encode(bytes.fromhex(self.mac("custom", intent, mac[0], str(mac[1])))).decode().lower()

    def _presume_gone(self, conn: Connection, scope: str, scope_id: int, macs: Iterable[MacKey], host: str, now: int) -> None:
        """Presume those of these requests that are in flight with nobody waiting."""
        c, wanted = t.calls.c, set(macs)
        for part in chunks(sorted({mac for mac, _ in wanted})):
            rows = conn.execute(select(t.calls).where(c.scope_id == scope_id, c.state == "sent", c.request_mac.in_(part))).all()
            self._presume(conn, scope, [row.id for row in rows if (row.request_mac, row.attempt) in wanted and _is_lapsed(row, now, host)])

    def _presume_left(self, scope: str, calls: Mapping[int, OpenCall]) -> list[OpenCall]:
        with self.writing("presume calls") as conn:
            return [calls[call] for call in self._presume(conn, scope, calls)]

    def _presume(self, conn: Connection, scope: str, calls: Iterable[int]) -> list[int]:
        """Presume those of these calls that are still in flight, now that they are locked; returns them."""
        gone = [row for row in _lock(conn, calls) if row.state == "sent"]
        self.close_calls(conn, scope, gone, {row.id: Outcome(state="presumed", why=LAPSED) for row in gone})
        return [row.id for row in gone]

    def _set_aside(self, conn: Connection, scope: str, bounds: Mapping[Key, int], sending: Sending) -> Mapping[Key, Limit]:
        """Reserve these bounds in order where they fit in every limit; returns those that do not, each with a limit it would break."""
        names = names_of(scope, sending.dream, sending.day)
        foreign = [told for told in sending.limits if (told.kind, told.name) not in names]
        if foreign:
            raise ValueError(f"{foreign[0]} is no limit of dream {sending.dream} on {sending.day} in {scope}")
        if not any(bounds.values()):
            return {}
        found = locked(conn, names)
        limit(conn, [told for told in sending.limits if found[told.kind, told.name].limit_uusd != told.limit_uusd])
        fits, refused = _fitting(bounds, tuple(dict.fromkeys(sending.limits)), found)
        move(conn, {name: Counter(reserved=sum(bounds[key] for key in fits)) for name in names})
        return refused

    # --- settling ---

    def _settle(self, scope: str, outcomes: Mapping[int, Outcome]) -> None:
        with self.writing("settle calls") as conn:
            scope_id = self.scope_of(conn, scope)
            rows = [row for row in _lock(conn, outcomes) if row.scope_id == scope_id]
            if len(rows) < len(outcomes):
                raise ValueError(f"{scope} has no call {min(outcomes.keys() - {row.id for row in rows})}")
            self.close_calls(conn, scope, rows, outcomes)

    def close_calls(self, conn: Connection, scope: str, rows: Sequence[Any], outcomes: Mapping[int, Outcome]) -> None:
        """Move locked calls to what became of them; one that is answered stays so."""
        moving = [(row, outcomes[row.id]) for row in rows if row.state not in {"answered", outcomes[row.id].state}]
        if not moving:
            return
        new = [_new_answer(row, outcome) for row, outcome in moving if outcome.reply is not None and row.why != FORGOTTEN]
        if new:
            record(self, conn, moving[0][0].scope_id, new)
        moves: Moves = {}
        for row, outcome in moving:
            by = _counted(outcome.state, row.bound_uusd, _cost(outcome))
            by.subtract(_counted(row.state, row.bound_uusd, row.cost_uusd))
            for name in names_of(scope, row.dream, row.day):
                moves.setdefault(name, Counter()).update(by)
        now = self.now()
        conn.execute(_closing(), [{"of_id": row.id, **_closed(row, outcome), "new_ended_at": now} for row, outcome in moving])
        move(conn, moves)

    def _open_calls(self, conn: Connection, scope: str | None, states: Collection[str], host: str, *, batched: bool = True) -> tuple[OpenCall, ...]:
        c, s, b = t.calls.c, t.scopes.c, t.batches.c
        query = select(t.calls, s.path, b.intent).join_from(t.calls, t.scopes, s.id == c.scope_id).outerjoin(t.batches, b.id == c.batch_id)
        query = query.where(c.state.in_(sorted(states)), *(() if batched else (c.batch_id.is_(None),))).order_by(c.sent_ms, s.path, c.stage, c.name, c.id)
        rows = conn.execute(query if scope is None else query.where(c.scope_id == self.scope_of(conn, scope))).all()
        now = self.clock_ms(conn) if rows else 0
        return tuple(_open_call(row, lapsed=row.state == "sent" and _is_lapsed(row, now, host)) for row in rows)


# --- decisions -------------------------------------------------------------------------------------------------------------------------------


def _is_lapsed(row: Any, now: int, host: str) -> bool:
    """Whether nobody waits for a call that was sent. One in a batch is waited for until the batch is known to have ended."""
    if row.batch_id is not None:
        return False
    return row.until_ms <= now or row.sent_ms > now + ASTRAY_MS or fate(process_of(row.owner), host=host) is False


def _fitting(bounds: Mapping[Key, int], limits: Sequence[Limit], used: Mapping[Name, Budget]) -> tuple[list[Key], dict[Key, Limit]]:
    """Which requests fit, taken in order; of each other one the first limit that it would break."""
    left = {told: told.limit_uusd - _used(used[told.kind, told.name]) for told in limits}
    fits: list[Key] = []
    refused: dict[Key, Limit] = {}
    for key, bound in bounds.items():
        broken = next((told for told in limits if bound > max(0, left[told])), None)
        if broken is not None:
            refused[key] = broken
            continue
        fits.append(key)
        for told in limits:
            left[told] -= bound
    return fits, refused


def _used(budget: Budget) -> int:
    return budget.spent_uusd + budget.reserved_uusd + budget.presumed_uusd


def _counted(state: str, bound: int, cost: int) -> Counter[str]:
    """What a call in this state adds to its budgets."""
    return Counter({"sent": {"reserved": bound}, "presumed": {"presumed": bound}, "answered": {"spent": cost}, "void": {}}[state])


def _cost(outcome: Outcome) -> int:
    return 0 if outcome.reply is None else outcome.reply.cost_uusd


def _new_answer(row: Any, outcome: Outcome) -> NewAnswer:
    assert outcome.reply is not None, "only answered calls have answers"
    return NewAnswer(
        mac=row.request_mac, attempt=row.attempt, stage=outcome.stage, prompt=outcome.prompt, reply=outcome.reply, turns=outcome.inputs,
    )  # fmt: skip


def _closed(row: Any, outcome: Outcome) -> dict[str, Any]:
    why = FORGOTTEN if row.why == FORGOTTEN else word(outcome.why)
    told: dict[str, Any] = {"state": outcome.state, "why": why, "cost_uusd": _cost(outcome), "fresh": 0, "written": 0, "cached": 0, "output": 0,
                            "request_id": "", "inputs": row.inputs}  # fmt: skip
    if (reply := outcome.reply) is not None:
        usage = reply.usage
        told |= {
            "fresh": usage.input,
            "written": usage.cache_written,
            "cached": usage.cache_read,
            "output": usage.output,
            "request_id": word(reply.request_id),
            "inputs": None,
        }
    return {f"new_{name}": value for name, value in told.items()}


def inputs_of(row: Any) -> tuple[str, ...]:
    """The turns a call of a batch was made of."""
    return tuple(cast(list[str], load(row.inputs or "[]")))


def _open_call(row: Any, *, lapsed: bool) -> OpenCall:
    return OpenCall(
        id=row.id, scope=row.path, stage=row.stage, name=row.name, model=row.model, dream=row.dream, day=row.day, state=row.state, bound_uusd=row.bound_uusd,
        sent_at=row.sent_at, owner=row.owner, lapsed=lapsed, batch=row.intent or "",
    )  # fmt: skip


# --- statements ------------------------------------------------------------------------------------------------------------------------------


def _insert(conn: Connection, rows: Mapping[MacKey, Mapping[str, Any]]) -> dict[MacKey, int]:
    """Make the calls nobody has in flight; returns their ids. In the order of keys, so that two workers with the same requests do not wait for one another."""
    c = t.calls.c
    made: dict[MacKey, int] = {}
    for part in chunks(sorted(rows)):
        for row in conn.execute(insert_new(conn, t.calls).returning(c.id, c.request_mac, c.attempt), [rows[mac] for mac in part]):
            made[row.request_mac, row.attempt] = row.id
    return made


def _delete(conn: Connection, calls: Iterable[int]) -> None:
    for part in chunks(sorted(calls)):
        conn.execute(delete(t.calls).where(t.calls.c.id.in_(part)))


def _lock(conn: Connection, calls: Iterable[int]) -> list[Any]:
    """These calls, locked until the transaction ends."""
    return [row for part in chunks(sorted(calls)) for row in conn.execute(_locking(), {"ids": part})]


@cache
def _locking() -> Any:
    c = t.calls.c
    return select(t.calls).where(c.id.in_(bindparam("ids", expanding=True))).order_by(c.id).with_for_update()


@cache
def _closing() -> Any:
    names = ("state", "why", "cost_uusd", "fresh", "written", "cached", "output", "request_id", "inputs", "ended_at")
    return update(t.calls).where(t.calls.c.id == bindparam("of_id")).values({name: bindparam(f"new_{name}") for name in names})
