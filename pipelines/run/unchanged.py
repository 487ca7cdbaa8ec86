"""Nothing new costs nothing: telling, from file stamps alone, that a dream would change nothing.

A dream that reached its end leaves a fingerprint of everything it could have read. When the same files with the same stamps are there, no other
command has brought anything into the store since and nothing expires by now, there is nothing to read: no log is opened. Whether the folder shows what
the store holds is another question.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pipelines.logs.discovery import discover
from pipelines.logs.seen import closed_before
from pipelines.notes.instruction_files import read_instructions
from pipelines.report import DreamReport
from pipelines.run.parts import Parts, Request
from pipelines.run.units.analyse import note_ends
from pipelines.run.versions import BELIEFS, RENDERER
from pipelines.store import Dream


def fingerprint(parts: Parts, request: Request) -> str:
    """A digest of the stamps of all logs and note files under the paths, and of what else decides the outcome."""
    h = hashlib.blake2b(digest_size=20)
    h.update(
        repr(
            (
                parts.engine.name,
                BELIEFS,
                RENDERER,
                parts.redactor.version,
                request.scope,
                request.params.since,
                sorted(request.params.trusted),
                request.params.skew_s,
            )
        ).encode()
    )
    discovery = discover(request.paths, exclude=request.exclude)
    h.update(repr(discovery.missing).encode())
    closed = closed_before(parts.now())  # from then on an unfinished tail is read differently
    lines = (f"{f.path}\0{f.relative}\0{f.size}\0{f.mtime_ns}\0{f.inode}\0{f.named}\0{f.mtime_ns < closed}\n" for f in discovery.files)
    h.update("".join(lines).encode("utf-8", "surrogateescape"))
    for name in _note_stamps(request.notes):
        h.update(name.encode("utf-8", "surrogateescape"))
    if request.instructions is not None:  # a few small files, whose imports only their words tell
        h.update(repr(read_instructions(request.instructions)).encode("utf-8", "backslashreplace"))
    return h.hexdigest()


def nothing_new(parts: Parts, request: Request, mark: str) -> DreamReport | None:
    """The report of a dream that finds nothing to read and nothing to believe anew, or None when there may be something."""
    last = next(iter(parts.store.dreams(request.scope, limit=1)), None)
    return None if request.params.dry_run or last is None or not read_all(parts, last, mark) else _again(last)


def read_all(parts: Parts, last: Dream, mark: str) -> bool:
    """Whether this dream read all there is by now and nothing has run out since: the wiki that is committed is what another dream would commit."""
    now = parts.now()
    over = any(due is not None and due <= now for due in (parts.store.next_expiry(last.scope), note_ends(last.summary or {})))
    return _left(last, mark) and not over and (last.summary or {}).get("inputs") == parts.store.inputs(last.scope)


def _left(last: Dream, mark: str) -> bool:
    told = last.summary or {}
    asked = told.get("asked")
    whole = not told.get("refused") and not told.get("unread") and not (isinstance(asked, dict) and asked.get("over_budget"))
    return last.state == "completed" and told.get("fingerprint") == mark and whole


def _again(last: Dream) -> DreamReport:
    """What the last dream left standing, with nothing read, changed or written."""
    told = last.summary or {}
    counts = {name: told[name] for name in ("sources", "sessions", "turns", "origins", "bloat") if name in told}
    report = DreamReport(dream=last.uid, scope=last.scope, status="completed", engine=str(told.get("engine", "")), next=str(told.get("next", "")))
    return replace(report, **counts)  # type: ignore[arg-type]


def _note_stamps(roots: Iterable[Path]) -> Iterable[str]:
    for root in roots:
        if root.is_file():
            yield _stamp(root)
        for folder, names, files in os.walk(root):
            names.sort()
            yield from (_stamp(Path(folder, f)) for f in sorted(files))


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError as error:
        return f"{path}\0{error.errno}\n"
    return f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}\n"
