"""Sessions that ended without telling anyone: a log that grew and then was quiet for a while is taken in and a dream is asked for.

Files are looked at by stat alone, over the same discovery intake uses; what was taken in before is known from the store, so a restart begins where the
last one stood. The request's id comes from what is unread, so asking again after a crash or a restart is answered with the same dream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from pipelines.logs.discovery import Found, discover
from pipelines.logs.seen import path_key
from pipelines.model import digest
from pipelines.ports import Seen
from pipelines.run import Parts, Request
from pipelines.run.sources import take_in
from pipelines.store import Asked

CAUSE: Final = "session_end"
POLL_MIN_S: Final = 1.0
POLL_MAX_S: Final = 30.0

_Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """What one look brought: how many logs were read, what could not be, the request if one was made, and how many logs grew and are not quiet yet."""

    read: int = 0
    problems: tuple[tuple[str, str], ...] = ()
    asked: Asked | None = None
    waiting: int = 0

    @property
    def ring(self) -> tuple[int, ...]:
        """Jobs to ring for."""
        return self.asked.ring if self.asked else ()


def poll_s(quiet_s: float) -> float:
    """How often to look: a tenth of the quiet time, within bounds."""
    return min(max(quiet_s / 10, POLL_MIN_S), POLL_MAX_S)


@dataclass(slots=True, kw_only=True)
class Quiet:
    """Which of the logs that grew are quiet. A modification time in the future counts from when it was first seen."""

    quiet: timedelta
    _first: dict[str, tuple[_Stamp, datetime]] = field(default_factory=dict)

    def ended(self, grown: Iterable[Found], now: datetime) -> tuple[Found, ...]:
        """Those that have not changed for the quiet time."""
        before, self._first = self._first, {}
        out = []
        for found in grown:
            stamp = _stamp(found)
            known = before.get(found.path)
            first = known[1] if known and known[0] == stamp else now
            self._first[found.path] = (stamp, first)
            written = datetime.fromtimestamp(found.mtime_ns / 1e9, now.tzinfo)
            if now - (written if written <= now else first) >= self.quiet:
                out.append(found)
        return tuple(out)


def grown(files: Iterable[Found], seen: Mapping[str, Seen], key: Callable[[str], str]) -> tuple[Found, ...]:
    """The files that are new or other than they were when they were taken in."""
    return tuple(f for f in files if (s := seen.get(key(f.path))) is None or (s.size, s.mtime_ns, s.inode) != _stamp(f))


class Watcher:
    """Looks at the paths of a request again and again; `look` is one look."""

    def __init__(self, parts: Parts, request: Request, *, quiet_s: float) -> None:
        self.parts = parts
        self.request = request
        self._quiet = Quiet(quiet=timedelta(seconds=quiet_s))
        self._tried: dict[str, _Stamp] = {}
        self._last: tuple[Found, ...] | None = None
        self._waiting = 0
        self._owed = True
        """Whether a request may be wanting for what is taken in: by an earlier watcher, by a look that failed, or because it was refused for now."""

    def look(self) -> Polled:
        """When a session ended, take in what grew and ask for a dream over it. The first look asks for what an earlier watcher took in and did not ask for."""
        files = discover(self.request.paths, exclude=self.request.exclude).files
        if not self._waiting and not self._owed and files == self._last:
            return Polled()  # a look at stamps alone: the store is not asked
        new = [f for f in files if self._tried.get(f.path) != _stamp(f)]
        fresh = grown(new, self.parts.store.seen_files(self.request.scope), lambda path: path_key(self.parts.redactor, path))
        ended = self._quiet.ended(fresh, self.parts.now())
        self._waiting = len(fresh) - len(ended)
        done = self._taken_in(ended) if ended else Polled()
        asked = self._ask() if self._owed else None
        self._owed = asked is not None and asked.answer == "refused"
        self._last = files  # last: a look that did not come so far is done again, whether or not a file changes
        return replace(done, asked=asked, waiting=self._waiting)

    def _taken_in(self, ended: Iterable[Found]) -> Polled:
        """Take in all that grew, since a log says more of itself below the folder a person named than by its own name: a subagent's words are not the
        person's."""
        self._owed = True  # before: what was taken in when the rest failed is no longer new to the next look
        taken = take_in(self.parts, self.request)
        self._tried.update((f.path, _stamp(f)) for f in ended)  # one that is no log is not read again until it changes
        self.parts.step("watched_taken_in")
        return Polled(read=len(taken.logs.files), problems=taken.problems)

    def _ask(self) -> Asked | None:
        """A request for exactly what is unread now; None when nothing is."""
        unread = self.parts.store.unread(self.request.scope, self.parts.engine.name)
        if not unread:
            return None
        request_id = f"quiet {digest(*(part for item in unread.items() for part in item))}"
        return self.parts.store.request(self.request.scope, request_id=request_id, params=self.request.params.as_json(), cause=CAUSE)


def _stamp(found: Found) -> _Stamp:
    return (found.size, found.mtime_ns, found.inode)
