"""What was forgotten, told beside the stores: a copy of a store that is older than a forget learns of it before anybody works on it (systems hole 74).

One file a key in the data folder, a line a forget: its scope, id and tombstones, keyed digests all. It holds no word of what went.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from pipelines.errors import Refused
from pipelines.ports import Blobs
from pipelines.run import Parts, Request
from pipelines.run.forgetting import forget
from pipelines.store import Store
from pipelines.store.tombstones import Stone, StoneRow

FOLDER: Final = "forgotten"
Key = tuple[str, str]
"""Scope and id of a forget."""


def file_of(data: Path, store: Store) -> Path:
    """Where the forgets of stores of this key are told."""
    return data / FOLDER / f"{store.mac('mirror')[:24]}.jsonl"


def behind(data: Path, store: Store) -> tuple[Stone, ...]:
    """Forgets that are told beside the store and that it knows nothing of. Raises Refused when the file cannot be read."""
    told = _read(file_of(data, store))
    if not told:
        return ()
    known = {(stone.scope, stone.uid) for stone in store.stones()}
    return tuple(stone for key, stone in told.items() if key not in known and stone.rows)


def catch_up(data: Path, parts: Parts, archive_of: Callable[[str], Blobs], *, host: str) -> Mapping[str, int]:
    """Forget in this store what other copies of it have forgotten; returns how many turns went, by scope. Killed anywhere, the next call does the rest."""
    store, gone = parts.store, Counter[str]()
    missing = [stone for stone in behind(data, store) if stone.scope in store.scopes()]
    for scope in sorted({stone.scope for stone in missing}):
        mine = [stone for stone in missing if stone.scope == scope]
        choice = store.named(scope, mine)
        gone[scope] = 0
        if choice.sessions or choice.turns or choice.online:
            # of no wiki: its folder is published by whoever publishes it next
            request = Request(scope=scope, paths=(), wiki=data / "no-wiki", wiki_id="", host=host, cause="forget", params=parts.defaults)
            gone[scope] = forget(replace(parts, archive=archive_of(scope)), request, choice, hand="restore").counts.get("turns", 0)
        store.lay(mine)
    return dict(gone)


def say_caught_up(gone: Mapping[str, int]) -> None:
    """Tell a person on standard error."""
    for scope, turns in gone.items():
        print(
            f"{scope}: this copy of the store is older than a forget; what was forgotten is forgotten here again ({turns} {'turn' if turns == 1 else 'turns'})",
            file=sys.stderr,
        )


def tell(data: Path, store: Store) -> None:
    """Write down every forget of the store, beside those that are told already; one that was lifted here is so there."""
    mine = {(stone.scope, stone.uid): stone for stone in store.stones()}
    path = file_of(data, store)
    before = _read(path)
    if not mine or {**before, **mine} == before:
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            out.writelines(json.dumps({**asdict(stone), "at": stone.at.isoformat()}, ensure_ascii=False) + "\n" for stone in {**before, **mine}.values())
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _read(path: Path) -> Mapping[Key, Stone]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}, where forgets are told, cannot be read ({type(error).__name__}): mend its mode, or restore it") from error
    try:
        stones = [_stone(json.loads(line)) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(
            f"{path}, where forgets are told, is damaged: restore it from a copy; without it an old store would learn again what was forgotten"
        ) from error
    return {(stone.scope, stone.uid): stone for stone in stones}


def _stone(told: Mapping[str, object]) -> Stone:
    rows = told["rows"]
    if not isinstance(rows, list):
        raise TypeError("rows is no list")
    found = tuple(StoneRow(str(kind), str(mac), int(words)) for kind, mac, words in rows)
    at = datetime.fromisoformat(str(told["at"]))
    return Stone(scope=str(told["scope"]), uid=str(told["uid"]), how=str(told["how"]), hand=str(told["hand"]), at=at, rows=found)
