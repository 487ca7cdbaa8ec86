"""dreamd costs: what calls to models have cost, by day, scope, stage, model or dream, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from itertools import groupby
from typing import Annotated, Final

import typer

from pipelines.store import CallsPaused, CostRow, Kept, OpenCall, Store
from worker.cli import common, serving
from worker.cli.output import many, print_json, table, visible
from worker.engines import dollars

BY: Final = ("day", "scope", "stage", "model", "dream")
CALLS_MAX: Final = 20
"""Calls without a known end that are named."""
NOT_PAID: Final = "not_paid"
"""Why a call is void that a person found on no invoice."""
_COUNTS: Final = (
    "calls", "fresh", "written", "cached", "output", "uusd", "presumed", "presumed_uusd", "open", "reserved_uusd", "voided"
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("costs")(costs)


def _keys(text: str) -> str:
    names = text.split(",")
    if unknown := [name for name in names if name not in BY]:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(BY)}; several are joined by commas")
    return ",".join(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is shown. `kept` is there only over all time: notes have no day on which they were paid for."""

    by: tuple[str, ...]
    rows: tuple[CostRow, ...]
    total: CostRow
    kept: Kept | None
    waiting: tuple[OpenCall, ...]
    paused: CallsPaused | None


def costs(
    by: Annotated[str, typer.Option("--by", metavar="WHAT", callback=_keys, help="day, scope, stage, model or dream; several joined by commas.")] = "day,model",
    since: Annotated[str | None, typer.Option("--since", metavar="DATE", help="Only from this day on (YYYY-MM-DD, UTC).")] = None,
    not_paid: Annotated[
        bool, typer.Option("--not-paid", help="Free what calls with no known end hold of the budgets: the provider's invoice shows that none was paid.")
    ] = False,
    go_on: Annotated[bool, typer.Option("--go-on", help="Ask models again at once after a pause: the bill is paid.")] = False,
    scope: common.Scope = None,
    wiki: common.Wiki = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """What models have cost: calls, tokens (fresh at full price, written to and read from the provider's cache), dollars, and the price of a kept note.

    Over all scopes of the store unless one is named. Costs of calls whose end nobody knows are upper bounds and told apart.
    """
    loaded, first, keys = common.start(config), _day(since), tuple(by.split(","))
    with serving.open_serving(wiki, loaded) as (store, host):
        if go_on:
            typer.echo("calls to models go on" if store.resume_calls() else "calls to models were not paused", err=True)
        if not_paid:
            freed = _free(store, scope)
            typer.echo(f"{many(len(freed), 'call')} taken as not paid: {dollars(sum(call.bound_uusd for call in freed))} of the budgets free again", err=True)
        rows = store.costs(scope, since=first, by=keys)
        told = Told(
            by=keys, rows=rows, total=total_of(rows), kept=None if first else store.kept_notes(scope), waiting=store.open_calls(scope, host=host or ""),
            paused=store.calls_paused(),
        )  # fmt: skip
    if as_json:
        print_json(_json(told))
    else:
        _print(told)
    return 0


def _free(store: Store, scope: str | None) -> list[OpenCall]:
    """Take every call nobody knows the end of as not taken; returns them."""
    freed = [call for call in store.open_calls(scope) if call.state == "presumed"]
    for path, calls in groupby(sorted(freed, key=lambda call: call.scope), key=lambda call: call.scope):
        store.settle_many(path, [], void={call.id: NOT_PAID for call in calls})
    return freed


def total_of(rows: Iterable[CostRow]) -> CostRow:
    """All rows added up."""
    rows = tuple(rows)
    return CostRow(**{name: sum(getattr(row, name) for row in rows) for name in _COUNTS})


def per_note(told: Told) -> int | None:
    """Millionths of a dollar a note, what is presumed included; None when no note rests on what a model read."""
    if told.kept is None or not told.kept.read:
        return None
    return -(-(told.total.uusd + told.total.presumed_uusd) // told.kept.read)


def _json(told: Told) -> dict[str, object]:
    """Amounts are whole millionths of a dollar."""
    rows = [{**{name: getattr(row, name) for name in told.by}, **_counts(row)} for row in told.rows]
    notes = None if told.kept is None else {"confirmed": told.kept.notes, "read_by_a_model": told.kept.read, "uusd_each": per_note(told)}
    return {
        "by": told.by, "rows": rows, "total": _counts(told.total), "notes": notes, "paused": asdict(told.paused) if told.paused else None,
        "without_an_end": [asdict(call) for call in told.waiting],
    }  # fmt: skip


def _counts(row: CostRow) -> dict[str, int]:
    return {name: getattr(row, name) for name in _COUNTS}


def _print(told: Told) -> None:
    if not told.rows:
        print("no model was asked")
        return
    heads = (*told.by, "calls", "fresh", "written", "cached", "output", "cost", "perhaps")
    lines = [(*(getattr(row, name) for name in told.by), *_cells(row)) for row in told.rows]
    if len(lines) > 1:
        lines.append((*("total" if name == told.by[0] else "" for name in told.by), *_cells(told.total)))
    table(heads, lines, words=len(told.by))
    for line in _after(told):
        print(line)


def _cells(row: CostRow) -> tuple[str, ...]:
    perhaps = dollars(row.presumed_uusd + row.reserved_uusd) if row.presumed or row.open else ""
    return (*(f"{n:,}" for n in (row.calls, row.fresh, row.written, row.cached, row.output)), dollars(row.uusd), perhaps)


def _after(told: Told) -> Iterable[str]:
    """What the table leaves open."""
    each = per_note(told)
    if told.kept is not None:
        price = f", {dollars(each)} a note" if each is not None else ""
        yield f"{told.kept.read} of {many(told.kept.notes, 'confirmed note')} rest on what a model read{price}"
    if told.total.presumed:
        yield f"{many(told.total.presumed, 'call')} ended with nobody listening: perhaps paid, at most {dollars(told.total.presumed_uusd)}; budgets count it (--not-paid frees it)"
    if told.total.open:
        yield f"{many(told.total.open, 'call')} in flight or in a batch: at most {dollars(told.total.reserved_uusd)}"
    for call in told.waiting[:CALLS_MAX]:
        where = f" in batch {call.batch}" if call.batch else ""
        yield f"  {call.state:8} {call.sent_at:%Y-%m-%d %H:%M} {call.stage} {visible(call.name)} ({call.model}){where}, at most {dollars(call.bound_uusd)}"
    if len(told.waiting) > CALLS_MAX:
        yield f"  and {len(told.waiting) - CALLS_MAX} more"
    if told.paused is not None:
        yield f"calls are paused ({told.paused.why}); dreamd doctor says what to do"


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date such as 2026-03-02", param_hint="--since") from None
