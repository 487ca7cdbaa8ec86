"""What models answered, recorded before anyone looks into it: an answer that is here is never asked for again, in its scope (systems R10, R8).

Requests are known by keyed digests of their bodies, so that nothing of a body is left when a forget deletes its answer. `inputs` lists the turns the body was
made of: read whole by a forget, which is rare, since a row a turn made storing an answer three times as slow (two hundred turns a window). The text is kept as JSON, which bears whatever characters a model says on both databases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection, bindparam, select

from pipelines.ports import Reply, Usage
from pipelines.store import tables as t
from pipelines.store.clock import Clocked
from pipelines.store.core import chunks, insert_new
from pipelines.store.money import Answer, Key
from pipelines.store.types import dump, load, storable

_WORD_MAX = 200
"""Characters kept of a provider's own words (model, stop, id), which are not ours to trust."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAnswer:
    """A reply to be recorded under the keyed digest of its request."""

    mac: str
    attempt: int
    stage: str
    prompt: str
    reply: Reply
    turns: tuple[str, ...]


class Answers(Clocked):
    """Recorded answers of one scope; those of another scope are never found."""

    def answers(self, scope: str, keys: Iterable[Key]) -> Mapping[Key, Answer]:
        """The answers recorded for these requests, by key; what is not there was not answered."""
        wanted = {(self.request_mac(digest), attempt): (digest, attempt) for digest, attempt in keys}
        found: dict[Key, Answer] = {}
        if not wanted:
            return found
        with self.reading("look for answers") as conn:
            scope_id = self.scope_of(conn, scope)
            for part in chunks(sorted({mac for mac, _ in wanted})):
                for row in conn.execute(_of_requests(), {"of": scope_id, "macs": part}):
                    if (key := wanted.get((row.request_mac, row.attempt))) is not None:
                        found[key] = _answer(key, row)
        return found

    def lost_answers(self, scope: str, dream: str) -> tuple[tuple[str, str], ...]:
        """Stage and name of each call of a dream (by uid) that was answered and whose answer is kept no more, in the order they were sent."""
        c, a = t.calls.c, t.answers.c
        kept = (a.scope_id == c.scope_id) & (a.request_mac == c.request_mac) & (a.attempt == c.attempt)
        query = select(c.stage, c.name).outerjoin(t.answers, kept).where(c.dream == dream, c.state == "answered", a.id.is_(None)).order_by(c.id)
        with self.reading("look for lost answers") as conn:
            return tuple((row.stage, row.name) for row in conn.execute(query.where(c.scope_id == self.scope_of(conn, scope))))

    def request_mac(self, digest: str) -> str:
        """What a request is known by in the tables."""
        return self.mac("request", digest)


def record(core: Clocked, conn: Connection, scope_id: int, answers: Iterable[NewAnswer]) -> None:
    """Keep these answers; one that was there first stays, whatever else is said later."""
    now = core.now()
    rows = [{"scope_id": scope_id, **_row(new), "recorded_at": now} for new in sorted(answers, key=lambda new: (new.mac, new.attempt))]
    if rows:
        conn.execute(insert_new(conn, t.answers), rows)


def answered(conn: Connection, scope_id: int, macs: Iterable[str]) -> set[tuple[str, int]]:
    """Which of these requests have answers: digest under the key, and attempt."""
    rows = (row for part in chunks(macs) for row in conn.execute(_known(), {"of": scope_id, "macs": part}))
    return {(row.request_mac, row.attempt) for row in rows}


def word(said: str) -> str:
    """A provider's own word, as any database takes it."""
    return storable(said[:_WORD_MAX])


def _row(new: NewAnswer) -> dict[str, Any]:
    reply, usage = new.reply, new.reply.usage
    return {
        "request_mac": new.mac, "attempt": new.attempt, "stage": new.stage, "prompt": new.prompt, "model": word(reply.model), "response": dump(reply.text),
        "stop": word(reply.stop), "usage": dump([usage.input, usage.output, usage.cache_written, usage.cache_read]), "cost_uusd": reply.cost_uusd,
        "request_id": word(reply.request_id), "inputs": dump(sorted(set(new.turns))),
    }  # fmt: skip


def _answer(key: Key, row: Any) -> Answer:
    usage = Usage(**dict(zip(("input", "output", "cache_written", "cache_read"), cast(list[int], load(row.usage)), strict=True)))
    text = cast(str, load(row.response))
    reply = Reply(text=text, stop=row.stop, model=row.model, usage=usage, cost_uusd=row.cost_uusd, request_id=row.request_id)
    return Answer(digest=key[0], attempt=key[1], reply=reply, prompt=row.prompt, stage=row.stage, at=row.recorded_at)


@cache
def _of_requests() -> Any:
    a = t.answers.c
    return select(t.answers).where(a.scope_id == bindparam("of"), a.request_mac.in_(bindparam("macs", expanding=True)))


@cache
def _known() -> Any:
    a = t.answers.c
    return select(a.request_mac, a.attempt).where(a.scope_id == bindparam("of"), a.request_mac.in_(bindparam("macs", expanding=True)))
