"""dreamd submit: a platform's request for a dream, from a file, standard input or options."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UnreadableSource
from pipelines.run.health import missing
from worker import messages
from worker.cli import common, serving
from worker.cli.output import print_json, visible
from worker.health_server import limits_of

DOOR = "submit"
REFUSED = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("submit")(submit)


def submit(
    file: Annotated[str | None, typer.Argument(metavar="[FILE|-]", help="A message as JSON (see --schema), or - for standard input.")] = None,
    request_id: Annotated[
        str | None, typer.Option("--request-id", metavar="ID", help="The sender's own id: sending it again is safe. Default: a new one.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan everything, change nothing.")] = False,
    hand: Annotated[str, typer.Option("--hand", metavar="WHO", help="Who asks, for the audit.")] = "",
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schemas of message and answer.")] = False,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Ask for a dream. Accepted means that it is recorded; `dreamd dreams show` tells what became of it."""
    if schema:
        print(json.dumps(messages.schema(), indent=2))
        return 0
    if file is not None and (request_id or dry_run or hand or scope):
        raise typer.BadParameter("a message says all by itself: name a file, or give options", param_hint="FILE")
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, _):
        if file is None:
            at = common.scope_of(scope, loaded, store)
            told = {"version": messages.VERSION, "request_id": request_id or uuid.uuid4().hex, "scope": at, "params": {"dry_run": dry_run}, "hand": hand}
            raw = json.dumps(told).encode()
        else:
            raw = _content(file)
        said = messages.answer(store, raw, door=DOOR, params=serving.plain_params(loaded), ring=serving.bell(loaded), mask=serving.masked)
        absent = missing(store.health(), limits_of(loaded)) if said.state == "running" and not as_json else ()
    if as_json:
        print_json(said.model_dump())
    else:
        _print(said)
        for problem in absent:
            if problem.code == "no_worker":
                print(f"it waits, since no worker runs now: {problem.what_to_do}")
    return REFUSED if said.answer == "refused" else 0


def _content(file: str) -> bytes:
    """The message, and one byte more than a message may have."""
    if file == "-":
        return sys.stdin.buffer.read(messages.MESSAGE_MAX + 1)
    try:
        with Path(file).expanduser().open("rb") as opened:
            return opened.read(messages.MESSAGE_MAX + 1)
    except OSError as error:
        raise UnreadableSource(file, f"cannot be read: {error.strerror}") from error


def _print(said: messages.RequestAnswer) -> None:
    if said.answer == "refused":
        again = f"; try again in {said.retry_after} s" if said.retry_after is not None else ""
        print(f"refused: {visible(said.why or '')}{again}", file=sys.stderr)
    else:
        print(f"{said.answer}: request {said.request_id}, dream {said.dream} ({said.state})")
