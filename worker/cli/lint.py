"""dreamd lint: what an agent would load of a memory or instruction file, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UnreadableSource
from pipelines.model import Origin
from pipelines.notes.lint import lint
from pipelines.text.tokens import tokenize
from pipelines.text.words import content_words
from worker import wiring
from worker.cli import common
from worker.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("lint")(lint_command)


def lint_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="MEMORY.md, CLAUDE.md, AGENTS.md or a note.")],
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Name lines no session loads, duplicates, long entries, dead links, and orders no user gave. Nothing is changed."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnreadableSource(str(file), f"cannot be read: {error.strerror}") from error
    loaded = common.start(config)

    def look(from_user: Callable[[str], bool] | None) -> int:
        found = lint(text, name=file.name, exists=lambda target: (file.parent / target).exists(), from_user=from_user)
        if as_json:
            print_json({"file": str(file), "problems": [{"line": p.line, "code": p.code, "message": p.message} for p in found]})
        else:
            for p in found:
                print(f"{file}:{p.line}: {p.code}: {p.message}")
            print(f"{len(found)} findings" if found else "nothing to mend")
        return 0

    try:
        place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
    except wiring.NoWiki:
        return look(None)
    with wiring.open_only_store(place) as store:
        at = common.scope_of(scope, loaded, store)

        def said(line: str) -> bool:
            wanted = set(content_words(line))
            hits = store.search_turns(at, tokenize(line), limit=20)
            return any(h.origin == Origin.USER and len(wanted & set(content_words(h.text))) * 2 >= len(wanted) for h in hits)

        return look(said)
