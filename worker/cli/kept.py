"""dreamd letters: messages nobody could act on. dreamd audit: who asked for what, took it back or applied it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from pipelines.store import Letter
from worker import wiring
from worker.cli import common, serving
from worker.cli.output import many, print_json, visible

SHOWN = 200
"""Characters told of one letter: enough to know its sender by."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("letters")(letters)
    app.command("audit")(audit)


def letters(
    clear: Annotated[bool, typer.Option("--clear", help="Print them, and forget all: dreamd doctor is content again.")] = False,
    wiki: common.Wiki = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """The newest messages nobody could act on, of every scope: the door each came through, when, why it was refused, and how it begins."""
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, _):
        found = store.letters()
        cleared = store.clear_letters() if clear else 0
    told = _told(found)
    if as_json:
        print_json({"letters": told, "cleared": cleared})
        return 0
    for letter, said in zip(found, told, strict=True):
        print(f"{_at(letter.recorded_at)}  {letter.door}: {said['why']}")
        print(f"  {said['begins']}")
    if not found:
        print("no letter: every message could be acted on")
    if cleared:
        print(f"{many(cleared, 'letter')} cleared")
    return 0


def audit(wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """Who did what to the scope's dreams, oldest first: what was asked for, canceled, applied by hand, verified."""
    loaded = common.start(config)
    with serving.open_serving(wiki, loaded) as (store, _):
        at = common.scope_of(scope, loaded, store)
        found = store.audit(at)
        nothing = "" if found else common.nothing_in(at, "nobody asked for anything", store)
    if as_json:
        print_json({"audit": [{"at": a.at, "verb": a.verb, "hand": a.hand, "about": a.about} for a in found]})
        return 0
    for a in found:
        print(f"{_at(a.at)}  {a.verb:8} {visible(a.about)}  by {visible(a.hand) or 'nobody named'}")
    if nothing:
        print(visible(nothing))
    return 0


def _told(found: Sequence[Letter]) -> list[dict[str, object]]:
    """How each letter begins, as a terminal may show it. All were masked when they were kept; the rules may know more by now, and need whole secrets."""
    if not found:
        return []
    redactor = wiring.redactor()  # takes a while to open: once for all

    def shown(text: str) -> str:
        return visible(redactor.mask(text.encode("utf-8", "surrogatepass")).data.decode("utf-8", "replace"))[:SHOWN]

    return [{"door": x.door, "at": x.recorded_at, "why": shown(x.why), "begins": shown(x.body)} for x in found]


def _at(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
