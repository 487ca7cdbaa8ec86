"""dreamd worker: works on the units of dreams, of all scopes, until it is told to leave.

What loads Celery is imported where a Redis is set: the embedded default does without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from pipelines.run import Parts
from pipelines.run.runner import DEADLINE_MS, TTL_MS
from pipelines.store import Store
from pipelines.store.postgres import THREADS_MAX
from worker import settings, wiring
from worker.bell import Bell
from worker.cli import common, serving
from worker.crew import Crew
from worker.health_server import serving_health
from worker.process import LOOK_S, work_alone
from worker.stopping import Stop

THREADS = 4


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker")(worker)


def worker(
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", min=1, max=THREADS_MAX, help="Units worked on at once; for more, start more processes.")
    ] = THREADS,
    once: Annotated[bool, typer.Option("--once", help="Do what is due, without waiting for a bell, and end.")] = False,
    wiki: common.Wiki = None,
    config: common.Config = None,
) -> int:
    """Work on the units of dreams until SIGTERM, which is obeyed within 5 s. It needs the database, and Redis where one is set; neither logs nor wiki."""
    loaded = serving.start(config)
    with serving.open_serving(wiki, loaded) as (store, host), serving_health(store, loaded):
        parts = wiring.working_parts(store, loaded, host=host)
        return serve(loaded, {name: parts for name in (parts.defaults.engine, *parts.engines)}, threads=threads, once=once)


def serve(
    loaded: settings.Settings, engines: Mapping[str, Parts], *, threads: int, once: bool = False, ttl_ms: int = TTL_MS, deadline_ms: int = DEADLINE_MS,
    look_s: float = LOOK_S,
) -> int:  # fmt: skip
    """Work with these engines, the first for dreams that ask for none in particular, until told to leave; returns the exit code."""
    stop = Stop()
    ring = serving.bell(loaded)
    crew = Crew(engines=engines, default=next(iter(engines)), ring=ring, stop=stop, threads=threads, ttl_ms=ttl_ms, deadline_ms=deadline_ms)
    if loaded.redis_url is None or once:
        return work_alone(crew, stop, once=once)
    return _behind_celery(loaded, crew, ring, stop, look_s)


def _behind_celery(loaded: settings.Settings, crew: Crew, ring: Bell, stop: Stop, look_s: float) -> int:
    from worker.celery_app import make_app
    from worker.hearing import work_behind
    from worker.queues import connect
    from worker.tasks import Receiver

    assert loaded.redis_url is not None
    url = loaded.redis_url.get_secret_value()
    store: Store = crew.parts.store
    client = connect(url)
    receiver = Receiver(
        store=store, queue=loaded.queue, params=serving.plain_params(loaded), ring=ring, mask=serving.masked, client=client, stop=stop
    )  # fmt: skip
    try:
        return work_behind(make_app(url, queue=loaded.queue), crew, receiver, stop, look_s=look_s)
    finally:
        client.close()
