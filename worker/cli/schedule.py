"""dreamd schedule: fires what is due, for as long as it runs; and the table of schedules.

What loads APScheduler is imported where it is used: other commands should not pay for it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer

from pipelines.errors import Refused
from pipelines.store import Store, this_process
from worker import settings, wiring
from worker.cli import common, serving
from worker.cli.output import print_json
from worker.health_server import serving_health
from worker.stopping import Stop, stopping

if TYPE_CHECKING:
    from worker.scheduler import Ticked

TICK_S = 15.0
WHEN_HELP = (
    "nightly: five cron fields, '0 3 * * *' (minute hour day month weekday; 0 is Sunday, names work). interval: a number with s, m, h or d, '6h'. adaptive: how often "
    "to look, and from when on a dream is worth it, '1h score=40 importance=200' (the default): importance is what was said and written since the last dream, score is "
    "importance times how often its notes were read; either is enough."
)
TOLD = 20
"""Schedules named when it starts."""

log = structlog.get_logger("dreamd.schedule")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    schedule = typer.Typer(rich_markup_mode=None)
    schedule.callback(invoke_without_command=True)(run)
    schedule.command("add")(add)
    schedule.command("list")(list_schedules)
    schedule.command("remove")(remove)
    app.add_typer(schedule, name="schedule")


def run(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Fire what is due now and end.")] = False,
    every: Annotated[float, typer.Option("--every", metavar="S", min=0.1, max=3600, help="Seconds between two looks.")] = TICK_S,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Ask for the dreams that are due, expire notes, let go of what is old, ring for what lies; any number of these may run at once.

    With a Redis it also takes the platform's requests off the plain list.
    """
    if context.invoked_subcommand is not None:
        return 0
    from worker.house import EVERY_S as HOUSE_S
    from worker.house import House
    from worker.scheduler import Scheduler, tick, waking

    loaded = common.start(config) if once else serving.start(config)
    with serving.open_serving(wiki, loaded) as (store, host):
        ring, params = serving.bell(loaded), serving.plain_params(loaded, nightly=True)
        set_nightly(store, loaded, common.scope_of(scope, loaded, store))
        house = House(store=store, settings=loaded, place=_place(wiki, loaded) if store.on_sqlite else None)
        if once:
            house.turn()
            _print(tick(store, wiring.utc_now(), params=params, ring=ring, host=host), as_json=as_json)
            return 0
        with stopping() as stop:
            replica = Scheduler(store=store, now=wiring.utc_now, params=params, ring=ring, name=this_process(host), host=host, stop=stop)
            with serving_health(store, loaded), consuming(store, loaded, stop), waking(replica.turn, every_s=every), waking(house.turn, every_s=HOUSE_S):
                requests = ", and takes requests off the Redis list" if loaded.redis_url is not None else ""
                log.info(
                    "schedule_started", does=f"asks for the dreams that are due and expires notes{requests}, until SIGTERM or Ctrl-C",
                    schedules=[f"{s.scope}: {s.kind} {s.spec} ({s.zone})" for s in store.schedules()[:TOLD]], every_s=every,
                )  # fmt: skip
                stop.wait()
                log.info("schedule_stopping")
            replica.leave()
    return 0


def _place(wiki: Path | None, loaded: settings.Settings) -> wiring.Place | None:
    """Where the archive of a store that is a file lies; None where no wiki says so."""
    with contextlib.suppress(wiring.NoWiki):
        return wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    return None


def set_nightly(store: Store, loaded: settings.Settings, scope: str) -> None:
    """The nightly schedule of the settings, if they name one. Setting it again changes nothing."""
    if loaded.nightly is None:
        return
    from worker import slots

    slots.check("nightly", loaded.nightly, loaded.zone)
    if not any((s.kind, s.spec, s.zone) == ("nightly", loaded.nightly, loaded.zone) for s in store.schedules(scope)):
        store.set_schedule(scope, "nightly", loaded.nightly, loaded.zone)


@contextlib.contextmanager
def consuming(store: Store, loaded: settings.Settings, stop: Stop) -> Iterator[None]:
    """Take requests off the plain list in a thread until the context ends; without a Redis there is none."""
    if loaded.redis_url is None:
        yield
        return
    from worker.queues import connect
    from worker.redis_list import Consumer  # only here: the embedded default never loads redis

    client = connect(loaded.redis_url.get_secret_value())
    consumer = Consumer(
        client, store, queue=loaded.queue, name=f"{this_process()}:{id(store)}", params=serving.plain_params(loaded), ring=serving.bell(loaded), mask=serving.masked
    )  # fmt: skip
    stopped: Callable[[float], bool] = stop.wait
    thread = threading.Thread(target=lambda: consumer.run(stopped=stopped, clock=time.monotonic), name="redis-list", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        client.close()


def add(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="nightly: at a time of the day; interval: every so often; adaptive: when it is worth it.")],
    spec: Annotated[str, typer.Argument(metavar="WHEN", help=WHEN_HELP)],
    zone: Annotated[str | None, typer.Option("--zone", metavar="TZ", help="The time zone of a nightly schedule; default: the setting.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Its dreams plan everything and change nothing.")] = False,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Add the scope's schedule of a kind, or change it. What fired does not fire again; a new one owes nothing from before now."""
    from worker import slots

    loaded = common.start(config)
    where = zone or loaded.zone
    try:
        slots.check(kind, spec, where)
    except slots.BadSchedule as error:
        raise typer.BadParameter(str(error)) from None
    with serving.open_serving(wiki, loaded) as (store, _):
        params: dict[str, object] = {"dry_run": True} if dry_run else {}
        made = store.set_schedule(common.scope_of(scope, loaded, store), kind, spec, where, params)
    if as_json:
        print_json({"scope": made.scope, "kind": kind, "spec": spec, "zone": where})
    else:
        print(f"{made.scope}: {kind} {spec} ({where})")
    return 0


def list_schedules(wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """The schedules, of all scopes or of one."""
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, _):
        found = store.schedules(scope)
    if as_json:
        print_json({"schedules": [{n: getattr(s, n) for n in ("scope", "kind", "spec", "zone", "since", "last_slot", "params")} for s in found]})
        return 0
    for s in found:
        fired = f"fired last for {s.last_slot}" if s.last_slot else "has not fired yet"
        print(f"{s.scope}: {s.kind} {s.spec} ({s.zone}), {fired}")
    if not found:
        print("no schedule: add one with dreamd schedule add nightly '0 3 * * *'")
    return 0


def remove(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="nightly, interval or adaptive.")],
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
) -> int:
    """Take a schedule off."""
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, _):
        at = common.scope_of(scope, loaded, store)
        if not store.drop_schedule(at, kind):
            raise Refused(f"{at} has no {kind} schedule: dreamd schedule list shows those there are")
    print(f"{at}: {kind} removed")
    return 0


def _print(done: Ticked, *, as_json: bool) -> None:
    if as_json:
        print_json({n: getattr(done, n) for n in ("fired", "expired", "reset", "unreadable", "rung")})
        return
    for scope, kind, slot, said in done.fired:
        print(f"{scope}: {kind} {slot}: {said}")
    for scope in done.expired:
        print(f"{scope}: notes expired")
    for scope, kind in done.reset:
        print(f"{scope}: the last slot of {kind} lay in the future (a wrong clock?) and was taken back")
    for scope, kind, why in done.unreadable:
        print(f"{scope}: {kind} is not fired: {why}")
    if not any((done.fired, done.expired, done.reset, done.unreadable)):
        print("nothing is due")
