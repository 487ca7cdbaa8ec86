"""dreamd metrics: what /metrics says, printed once or served by a process of its own."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pipelines.errors import Refused
from worker.cli import common, serving
from worker.health_server import limits_of, look, metrics_text, serving_health
from worker.stopping import stopping


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("metrics")(metrics)


def metrics(
    once: Annotated[bool, typer.Option("--once", help="Print the metrics and end.")] = False,
    wiki: common.Wiki = None,
    config: common.Config = None,
) -> int:
    """Serve /healthz and /metrics at metrics_addr until SIGTERM. A worker, a scheduler and dreamd up do so beside their work."""
    loaded = common.start(config)
    if not once and loaded.metrics_addr is None:
        raise Refused("no address is set: name one with metrics_addr (DREAMD_METRICS_ADDR), such as 127.0.0.1:9464, or print the metrics with --once")
    with serving.open_serving(wiki, loaded) as (store, _):
        if once:
            sys.stdout.write(metrics_text(look(store, limits_of(loaded))).decode())
            return 0
        with stopping() as stop, serving_health(store, loaded):
            stop.wait()
    return 0
