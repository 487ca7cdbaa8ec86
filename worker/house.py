"""What a process that serves does beside dreams: it lets go of what is old, and cleans out of files what a forget or a crash left there.

Both are made of transactions that stand alone; any number of processes may do them at once.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import structlog

from pipelines.errors import DreamdError
from pipelines.run import Parts, Request
from pipelines.run.forgetting import clean_leftovers
from pipelines.run.retention import retain
from pipelines.store import Store
from worker import wiring
from worker.settings import Settings, data_folder

EVERY_S: Final = 600.0
"""Seconds between two looks: what is old goes by whole days, and a file that is in use is tried again then."""

log = structlog.get_logger("dreamd.house")


@dataclass(slots=True, kw_only=True)
class House:
    """The scopes of a store, kept clean. `place` is the wiki whose archive is a folder; a store on a server has its own archive, and no wiki here."""

    store: Store
    settings: Settings
    place: wiring.Place | None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def turn(self) -> bool:
        """Look at every scope once; False when something has to be tried again. Trouble is logged and leaves the other scopes alone."""
        with self._lock:
            return all([self._scope(scope) for scope in self._busy()])

    def _busy(self) -> tuple[str, ...]:
        """The scopes with something to do: all where something may be old, else those of which something was left over."""
        try:
            if self.store.on_sqlite and self.place is None:
                return ()  # the folder of the archive is not known here
            scopes, keep = self.store.scopes(), wiring.keep_of(self.settings)
            return tuple(s for s in scopes if keep.of(s) or self.store.leftovers(s))
        except DreamdError as error:
            log.warning("house_failed", error=type(error).__name__, why=str(error))
            return ()

    def _scope(self, scope: str) -> bool:
        try:
            parts = self._parts(scope)
            gone = retain(self.store, scope, parts.archive, parts.keep, now=parts.now())
            if gone:
                log.info("let_go", scope=scope, **gone)
            left = clean_leftovers(parts, self._request(scope)) if self.store.leftovers(scope) else ()
        except DreamdError as error:
            log.warning("house_failed", scope=scope, error=type(error).__name__, why=str(error))
            return False
        for what, why in left:
            log.warning("left_over", scope=scope, what=what, why=why)
        return not left

    def _parts(self, scope: str) -> Parts:
        parts = wiring.working_parts(self.store, self.settings, host=self.place.host if self.place else None)
        return replace(parts, archive=wiring.archive_of(self.place, self.store, scope))

    def _request(self, scope: str) -> Request:
        wiki = self.place.wiki if self.place else Path(data_folder(self.settings)) / "no-wiki"
        return Request(
            scope=scope, paths=(), wiki=wiki, wiki_id=self.place.wiki_id if self.place else "", host=self.place.host if self.place else "", cause="forget"
        )
