"""dreamd status: what a scope holds, what waits, who works on it. It is asked often, so it counts and reads no note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import DreamdError
from pipelines.run.sources import standing_notes
from pipelines.store import Counts, Dream, Measured, ScopeHealth, Store, duration
from pipelines.wiki.inbox import UNASKED
from pipelines.wiki.standing import withheld
from worker import settings, wiring
from worker.cli import common
from worker.cli.output import counted, many, print_json, stalled, unattended, visible
from worker.engines import dollars

BAD_MAX = 100
"""Bad records named."""
WITHHELD_MAX = 5
"""Pages named that are held back."""
_LATELY = 10
"""Dreams among which the last that rendered is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What is told. `waiting` counts what waits for a person, as the inbox of the last dream does; `next_slot` is when a dream is due by schedule,
    `unkept` how many sessions and turns are no longer kept, `withheld` the pages that are held back for a secret."""

    scope: str
    wiki: Path | None
    counts: Counts
    notes: Mapping[str, int]
    online: Mapping[str, int]
    pages: int
    waiting: int
    last: Dream | None
    at_work: bool
    next_slot: datetime | None
    of: ScopeHealth
    workers: int
    money: Money | None
    warned: str
    unkept: Mapping[str, int]
    withheld: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What models have cost the scope, in millionths of a dollar: ever, today (UTC) over all scopes, and what may have been paid beside. `paused` is why
    no call is made now, "" when calls may be made."""

    uusd: int
    today_uusd: int
    presumed_uusd: int
    presumed: int
    paused: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    bad: Annotated[bool, typer.Option("--bad", help="Name the records of logs that could not be read, and why.")] = False,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """What the scope holds, its last dream, what waits for you and for a dream, and when the next one is due."""
    loaded = common.start(config)
    with common.store_of(wiki, loaded) as (store, place):
        if bad:
            return _print_bad(store, common.scope_of(scope, loaded, store), as_json=as_json)
        told = _looked(store, common.scope_of(scope, loaded, store), place, loaded)
    if as_json:
        print_json(_json(told))
    else:
        _print(told)
    return 0


def _looked(store: Store, scope: str, place: wiring.Place | None, loaded: settings.Settings) -> Status:
    dreams = store.dreams(scope, limit=_LATELY)
    last = dreams[0] if dreams else None
    measured: Measured = store.health(scope)
    of = next(iter(measured.scopes), ScopeHealth(scope=scope))
    summary = next((d.summary for d in dreams if d.summary and "waiting" in d.summary), {})
    waiting = n if isinstance(n := summary.get("waiting"), int) else 0
    return Status(
        scope=scope, wiki=place.wiki if place else None, counts=store.counts(scope), notes=_notes(store.standing(scope), summary), online=_verdicts(store, scope),
        pages=store.page_count(scope), waiting=waiting, last=last, at_work=bool(last and not last.ended_at and store.at_work(last, host=place.host if place else "")),
        next_slot=_next_slot(store, scope), of=of,
        workers=sum(p.role == "worker" and p.seen_age_s <= loaded.health.seen_s for p in measured.processes), money=_money(store, scope),
        warned=stalled(of, loaded.health.stalled_dreams), unkept=store.retained_counts(scope), withheld=withheld(place.wiki) if place else (),
    )  # fmt: skip


def _verdicts(store: Store, scope: str) -> Mapping[str, int]:
    """How many lines of the person's own files that stand have which verdict; those that are gone keep theirs, and count no more."""
    findings = store.findings(scope)
    return dict(sorted(Counter(findings[n.uid].verdict.value for n in standing_notes(store.online_notes(scope)) if n.uid in findings).items()))


def _notes(stands: Mapping[str, int], summary: Mapping[str, object]) -> dict[str, int]:
    """How many notes stand as what; drafts a person is not asked about, by the last dream, by themselves."""
    told = summary.get("notes")
    unasked = min(told.get("unasked", 0), stands.get("draft", 0)) if isinstance(told, Mapping) else 0
    counted = {**stands, **({"draft": stands["draft"] - unasked, UNASKED: unasked} if unasked else {})}
    return {status: n for status, n in sorted(counted.items()) if n}


def _money(store: Store, scope: str) -> Money | None:
    """None where no model was ever asked."""
    ever = store.budget("scope", scope)
    if not (ever.spent_uusd or ever.reserved_uusd or ever.presumed_uusd):
        return None
    today = store.budget("day", f"{wiring.utc_now():%Y-%m-%d}")
    pause = store.calls_paused()
    presumed = sum(call.state == "presumed" for call in store.open_calls(scope))
    return Money(
        uusd=ever.spent_uusd, today_uusd=today.spent_uusd, presumed_uusd=ever.presumed_uusd, presumed=presumed, paused=pause.why if pause else ""
    )  # fmt: skip


def _next_slot(store: Store, scope: str) -> datetime | None:
    """When the next dream is due by schedule; a schedule nobody can read is doctor's to tell."""
    found = store.schedules(scope)
    if not found:
        return None
    from worker import slots  # loads APScheduler: only where there is a schedule

    due = []
    for schedule in found:
        try:
            due.append(slots.next_after(schedule, wiring.utc_now()))
        except DreamdError:
            continue
    return min((at for at in due if at is not None), default=None)


def _print_bad(store: Store, scope: str, *, as_json: bool) -> int:
    """The records that could not be read: they stay in the archive, and everything around them was read."""
    count, found = store.counts(scope).bad, store.bad_records(scope, limit=BAD_MAX)
    if as_json:
        print_json({"bad": count, "records": [asdict(r) for r in found]})
        return 0
    for r in found:
        print(f"{visible(r.source)} line {r.line}: {r.reason.replace('_', ' ')} ({many(r.length, 'byte')})")
    more = f", {count - len(found)} of them not shown" if count > len(found) else ""
    print(f"{many(count, 'record')} could not be read{more}; the rest of each log was" if count else "every record could be read")
    return 0


def _json(s: Status) -> dict[str, object]:
    of = s.of
    return {
        "scope": s.scope, "wiki": str(s.wiki) if s.wiki else None, "sources": s.counts.sources, "sessions": s.counts.sessions, "turns": s.counts.turns, "origins": s.counts.origins,
        "notes": s.notes, "online": s.online, "pages": s.pages, "waiting": s.waiting,
        "last": {"dream": s.last.uid, "state": s.last.state, "ended_at": s.last.ended_at} if s.last else None,
        "last_success_age_s": of.success_age_s, "pending": of.pending, "pending_age_s": of.pending_age_s, "due": of.due, "unread": of.unread,
        "running": of.running, "workers": s.workers, "next_slot": s.next_slot, "money": asdict(s.money) if s.money else None, "warning": s.warned or None,
        "no_longer_kept": dict(s.unkept), "withheld": list(s.withheld),
    }  # fmt: skip


def _print(s: Status) -> None:
    bad = f"; {many(s.counts.bad, 'bad record')}, named by dreamd status --bad" if s.counts.bad else ""
    print(
        f"{s.scope}: {many(s.counts.sources, 'source')}, {many(s.counts.sessions, 'session')}, {many(s.counts.turns, 'turn')} ({counted(s.counts.origins)}){bad}"
    )
    print(f"notes: {counted(s.notes)}; your own: {counted(s.online)}; {many(s.pages, 'page')}{f' in {s.wiki}' if s.wiki else ''}")
    if s.unkept["sessions"]:
        print(f"no longer kept (retention): {many(s.unkept['turns'], 'turn')} of {many(s.unkept['sessions'], 'session')}")
    if s.withheld:
        print(_held_back(s.withheld))
    print(f"last dream: {_last(s)}" if s.last else "no dream yet")
    if lines := list(_work(s)):
        print("; ".join(lines))
    if s.warned:
        print(s.warned)
    if s.money:
        print(_spent(s.money))
    if s.waiting:
        print(f"{many(s.waiting, 'thing')} {'waits' if s.waiting == 1 else 'wait'} for you in {s.wiki / 'inbox.md' if s.wiki else 'inbox.md'}")


def _held_back(paths: Sequence[str]) -> str:
    """What a person has to do so that these pages are published."""
    named = ", ".join(paths[:WITHHELD_MAX]) + (f" and {len(paths) - WITHHELD_MAX} more" if len(paths) > WITHHELD_MAX else "")
    stand = "it stands as it was before" if len(paths) == 1 else "they stand as they were before"
    return f"held back, since a secret seems to stand there: {named}; {stand}: dreamd scrub masks it where it came from, then dreamd publish"


def _spent(m: Money) -> str:
    """What models have cost."""
    perhaps = f", perhaps {dollars(m.presumed_uusd)} more ({many(m.presumed, 'call')} ended with nobody listening)" if m.presumed else ""
    paused = f"; calls are paused ({m.paused})" if m.paused else ""
    return f"models: {dollars(m.uusd)}, {dollars(m.today_uusd)} today{perhaps}{paused}"


def _last(s: Status) -> str:
    assert s.last is not None
    ended = f"{s.last.ended_at:%Y-%m-%d %H:%M} UTC" if s.last.ended_at else "still running" if s.at_work else unattended(s.last, s.workers)
    well = ""
    if s.last.state != "completed":
        well = ", none has completed" if s.of.success_age_s is None else f", the last that completed {duration(s.of.success_age_s)} ago"
    return f"{s.last.uid}, {s.last.state}, {ended}{well}"


def _work(s: Status) -> Iterable[str]:
    of = s.of
    if of.unread:
        yield f"{many(of.unread, 'session')} not read yet"
    if of.pending:
        yield f"{many(of.pending, 'request')} {'waits' if of.pending == 1 else 'wait'} for {duration(of.pending_age_s or 0)}"
    if of.running:
        yield f"a dream runs, {many(of.due, 'unit')} due"
    if s.workers:
        yield f"{many(s.workers, 'worker')} seen"
    if s.next_slot is not None:
        yield f"next by schedule {s.next_slot:%Y-%m-%d %H:%M} UTC"
