"""The work of the newest sessions, brought up to date at the cost of those that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, cast

from pipelines.model import Quote, SessionInfo
from pipelines.run.held import shown as may_show
from pipelines.run.waiting import Last, last_of, waiting
from pipelines.run.worked import RECENT, work_of, work_record
from pipelines.store import Moves, ShownSession, Store
from pipelines.store.types import dump, load
from pipelines.wiki.content import Work
from pipelines.wiki.packed import pack
from pipelines.wiki.packed import work_of as unpacked_work

UNNAMED = "local"
"""The scope of a wiki nobody gave one: it says nothing of what the memory is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Rows that changed, the folders all sessions ran in by name, of the recent ones the work by uid in order, and the ends of those whose question waits."""

    changed: Mapping[str, ShownSession]
    folders: Mapping[str, int]
    work: tuple[Work, ...]
    ends: tuple[Last, ...]


def bring_sessions(store: Store, scope: str, moves: Moves) -> Sessions:
    """The sessions of a scope as they are shown now, with the work of recent ones that changed read anew."""
    ids = [s[0] for s in moves.sessions]
    spans, infos, stood = store.spans_of(scope, ids), store.infos_of(scope, ids), store.shown_sessions(scope, ids)
    changed = {}
    for id_, uid, what, started in moves.sessions:
        first, last = spans.get(id_, (None, None))
        changed[uid] = ShownSession(id_, what, started, first, last, folder_of(infos[uid]), work_mark="", work="")
    folders = Counter(store.folder_counts(scope))
    folders.subtract(s.folder for s in stood.values())
    folders.update(s.folder for s in changed.values())
    times = [t for t in (store.newest_session(scope), *(s.last_at for s in changed.values())) if t]
    newest = max(times, default=None)
    recents: dict[str, ShownSession] = {}
    if newest:
        recents = {uid: s for uid, s in store.shown_sessions(scope, since=newest - RECENT).items() if uid not in changed}
        recents |= {uid: s for uid, s in changed.items() if s.last_at and newest - s.last_at <= RECENT}
    fresh = [s.session_id for s in recents.values() if not s.work]
    told = {**infos, **store.infos_of(scope, [i for i in fresh if i not in set(ids)])}
    for uid, session in list(recents.items()):
        if not session.work:
            changed[uid] = recents[uid] = replace(session, work=_work(store, scope, told[uid]))
    works = [_done(uid, s.work) for uid, s in sorted(recents.items()) if s.work != "null"]
    shown = tuple(w for w, _ in works)
    return Sessions(changed=changed, folders={f: n for f, n in folders.items() if n > 0 and f}, work=shown, ends=waiting(shown, (e for _, e in works)))


def folder_of(info: SessionInfo) -> str:
    """The folder a session ran in, by a slash and its name; "" when that is not known, or may not be shown."""
    return "/" + PurePosixPath(info.cwd.replace("\\", "/")).name if info.cwd and may_show(info.cwd) else ""


def title_from(folders: Mapping[str, int], scope: str) -> str:
    """What the memory is of: the last name of the scope somebody gave it, else the folder most sessions ran in. `folders` as `folder_of` gives them.

    A session may begin in a folder far below its project; whoever named the scope knows better.
    """
    if scope != UNNAMED:
        return scope.rsplit("/", 1)[-1]
    names = Counter({folder.removeprefix("/"): n for folder, n in folders.items() if folder})
    for name in sorted(names):  # worktrees of a project: "harbor-fix" beside "harbor"
        if trunk := next((n for n in names if n != name and name.startswith((f"{n}-", f"{n}_", f"{n}."))), None):
            names[trunk] += names[name]
    best = min(names, key=lambda n: (-names[n], n), default="")
    return best or scope


def _work(store: Store, scope: str, info: SessionInfo) -> str:
    record = work_record(store, scope, info)
    if record is None:
        return "null"
    end = last_of(record)
    words = [end.asked.turn, end.asked.start, end.asked.end, end.asked.text, end.planned] if end.asked else None
    return dump([pack(work_of(record)), end.ended.isoformat() if end.ended else None, words])


def _done(uid: str, told: str) -> tuple[Work, Last]:
    work, ended, words = cast(list[Any], load(told))
    asked_last = Quote(turn=words[0], start=words[1], end=words[2], text=words[3]) if words else None
    return unpacked_work(work), Last(uid, datetime.fromisoformat(ended) if ended else None, asked_last, planned=bool(words and words[4]))
