"""Leaves what the next session is told where its hook finds it without asking anything: one file a wiki in the data folder, and blocks a person asked for."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import structlog

from pipelines.errors import DreamdError
from pipelines.model import digest
from pipelines.run.above import Above
from pipelines.run.telling import Told, told_at
from pipelines.store import Store
from pipelines.wiki.above import with_above
from pipelines.wiki.budget import DOORS, at_door, room_of
from worker.above import lines_above
from worker.connect.block import refreshed
from worker.connect.ledger import Entry, Ledger, read_file, replace_file, write_file

FOLDER: Final = "briefs"
"""Below the data folder; `worker.session_start` reads there."""

log = structlog.get_logger("dreamd.connect")


AGAIN_MAX: Final = 5
"""How often briefs are put in place anew because others committed meanwhile; they put theirs in place then."""


def leave_briefs(store: Store, scope: str, *, data: Path, wiki: Path) -> bool:
    """Put the briefs of the present revision in place; whether they are others than those that stood there. A store never dreamt in leaves none."""
    changed = False
    for _ in range(AGAIN_MAX):
        told = told_at(store, scope)
        if not told:
            return changed
        changed |= _leave(store, scope, told, data=data, wiki=wiki)
        if told_at(store, scope) == told:  # else we wrote over what a process that was faster had left, and it may hold what was forgotten since
            break
    return changed


def _leave(store: Store, scope: str, told: tuple[Told, ...], *, data: Path, wiki: Path) -> bool:
    last = next(iter(store.dreams(scope, limit=1)), None)
    waiting = (last.summary or {}).get("waiting") if last else None
    lines = _lines(wiki, waiting if isinstance(waiting, int) else 0)
    everywhere = lines_above(store, scope, data=data, now=store.now())
    texts = {t.door: at_door(with_above(t.text, everywhere.sections, room_of(t.door)), DOORS[t.door], *lines) for t in told}
    place = brief_file(data, wiki)
    content = json.dumps(_json(told, texts, everywhere, scope, wiki), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if place.is_file() and place.read_bytes() == content:
        return False
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(place, content, mode=0o600)
    _refresh_blocks(Ledger(data), wiki, texts.get("codex", ""))
    return True


def brief_file(data: Path, wiki: Path) -> Path:
    """Where the briefs of a wiki lie."""
    return data / FOLDER / f"{digest(os.path.realpath(wiki))[:24]}.json"


def brief_at(data: Path, wiki: Path, door: str) -> str:
    """The brief that lies ready for a door; "" when there is none yet."""
    found = read_file(brief_file(data, wiki))
    return str(json.loads(found)["doors"][door]["text"]) if found else ""


def _json(told: tuple[Told, ...], texts: dict[str, str], everywhere: Above, scope: str, wiki: Path) -> dict[str, object]:
    doors = {t.door: {"text": texts[t.door], "versions": [*t.versions, *everywhere.told_in(texts[t.door])]} for t in told}
    return {"version": 1, "wiki": str(wiki), "scope": scope, "rev": told[0].rev, "doors": doors}


def _lines(wiki: Path, waiting: int) -> tuple[str, ...]:
    """What only this host knows: where the pages lie; and what waits for the person."""
    place = str(wiki.absolute())
    named = () if re.search(r"[\x00-\x1f\x7f<>`\ud800-\udfff]", place) else (f"- The pages lie in `{place}`",)
    things = "1 thing waits" if waiting == 1 else f"{waiting} things wait"
    return (*named, *((f"- {things} for the person's decision: `dreamd review`",) if waiting else ()))


def _refresh_blocks(ledger: Ledger, wiki: Path, text: str) -> None:
    """Bring the blocks that tell of this wiki up to date; one that a person changed stays as it is."""
    for entry in ledger.entries():
        if entry.what == "block" and text and os.path.realpath(entry.wiki) == os.path.realpath(wiki):
            try:
                _refresh(ledger, entry, text)
            except DreamdError as error:
                log.warning("block_not_refreshed", path=entry.path, why=str(error))


def _refresh(ledger: Ledger, entry: Entry, text: str) -> None:
    found = read_file(Path(entry.path))
    after = refreshed(found, entry.mark, text) if found is not None else None
    if found is None or after is None or after == found:
        return
    ours = digest(found) == entry.after
    ledger.keep(replace(entry, mark=digest(text), after=digest(after) if ours else entry.after))
    write_file(Path(entry.path), after, expected=found)
