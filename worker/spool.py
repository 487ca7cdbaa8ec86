"""Drains what hooks left: each session end is taken in where the logs are, becomes one request, and is removed; each session that was told a brief becomes
a row.

A file is claimed by renaming it, so that two processes do not do the same work; a claim whose process died is taken over. Killed between any two steps the
file is still there, and doing it again changes nothing: intake goes on from its cursor, and the request's id comes from the file. What cannot be
understood is kept as a letter.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pipelines.errors import DreamdError, Permanent, Refused, StoreUnusable
from pipelines.logs.intake import intake
from pipelines.model import digest
from pipelines.ports import Blobs
from pipelines.run import Parts, Request
from pipelines.run.sources import take_in
from pipelines.store import Asked, Delivery, alive, this_process
from worker.hook import SUFFIX, VERSION, option, spool_folder
from worker.projects import first_folder, root_of
from worker.registry import registered
from worker.settings import Settings, data_folder, scope_path

DOOR: Final = "session-end"
TOLD: Final = "session-start"
CAUSE: Final = "session_end"
HALF_WRITTEN_S: Final = 60
"""A file its hook has not finished after so long never will be."""
_CLAIMED: Final = "claimed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd:
    """One session end as its hook told it. `transcript` and `notes` are absolute; `wiki` and `scope` are those the hook was told, if any; `folder` is where
    the session stood when it ended."""

    transcript: Path | None
    notes: tuple[Path, ...]
    wiki: Path | None
    scope: str | None
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTold:
    """A session that was told the brief of a wiki."""

    wiki: Path
    scope: str
    delivery: Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What came of one draining: the requests made, sessions that were told something, files kept as letters, files left for another wiki or another time, and
    logs that could not be read."""

    asked: tuple[Asked, ...] = ()
    told: int = 0
    letters: int = 0
    left: int = 0
    problems: tuple[tuple[str, str], ...] = ()
    ring: tuple[int, ...] = field(default=())

    def __add__(self, other: Drained) -> Drained:
        return Drained(
            asked=self.asked + other.asked, told=self.told + other.told, letters=self.letters + other.letters, left=self.left + other.left,
            problems=self.problems + other.problems, ring=self.ring + other.ring,
        )  # fmt: skip


def spool_of(settings: Settings) -> Path:
    """Where the hooks of these settings leave session ends."""
    return Path(spool_folder(str(data_folder(settings))))


class BadFile(Exception):
    """A spool file that is none; the message says why."""


def drain(
    parts: Parts, folder: Path, request: Request, *, host: str, archive_of: Callable[[str], Blobs] | None = None, stop: Callable[[], bool] = lambda: False,
    asks: bool = True,
) -> Drained:  # fmt: skip
    """Do everything that waits for this wiki, oldest first. `request` says whose it is: scope, wiki, what decides its dreams, what is never taken in.
    `archive_of` gives the archive of a scope a hook named; without it there is one for all. `asks` False is for who dreams anyway: nothing is asked for, and
    a session that is not known to be this wiki's is left.

    A file that cannot be done is told as a problem and left, and the others are done. Raises what stops everything (a store that does not answer or cannot
    be used, an archive that cannot be written); the file at hand then waits where it was.
    """
    draining = _Draining(parts, folder, request, host, archive_of or (lambda _: parts.archive), asks)
    done = Drained()
    for name in draining.waiting():
        if stop():
            break
        done += draining.one(name)
    return done


def understood(content: str) -> SessionEnd | SessionTold:
    """A spool file's content. Raises BadFile."""
    try:
        told = json.loads(content)
        payload = told["payload"]
        arguments, cwd, around = _words(told["arguments"]), Path(told["cwd"]), dict(told["environment"])
        if told["version"] != VERSION or told["door"] not in {DOOR, TOLD}:
            raise BadFile(f"version {told['version']!r} of door {told['door']!r} is not known here")
    except (ValueError, TypeError, KeyError) as error:
        raise BadFile(f"not written whole by dreamd hook {DOOR} ({type(error).__name__})") from None
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):
        raise BadFile("what the agent told its hook is no JSON") from None
    if not isinstance(event, dict):
        raise BadFile("what the agent told its hook is no JSON object")
    if told["door"] == TOLD:
        return _session_told(event, told)
    return _session_end(event, arguments, cwd, around)


def _session_told(event: dict[str, Any], told: dict[str, Any]) -> SessionTold:
    try:
        about = told["told"]
        delivery = Delivery(
            session=str(event["session_id"]), door=str(about["agent"]), target="brief", rev=int(about["rev"]), versions=tuple(_words(about["versions"])),
            at=datetime.fromtimestamp(told["at"], UTC), agent=str(about["agent"]),
        )  # fmt: skip
        return SessionTold(wiki=Path(str(about["wiki"])), scope=scope_path(str(about["scope"])), delivery=delivery)
    except (ValueError, TypeError, KeyError, OverflowError, OSError) as error:
        raise BadFile(f"not written whole by dreamd hook {TOLD} ({type(error).__name__})") from None


def _words(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise TypeError("a list of words")
    return value


def _session_end(event: dict[str, Any], arguments: list[str], cwd: Path, around: dict[str, Any]) -> SessionEnd:
    scope = option(arguments, "--scope") or around.get("DREAMD_SCOPE")
    try:
        scope = scope_path(str(scope)) if scope else None
    except ValueError as error:
        raise BadFile(f"the hook's scope {error}") from None
    wiki = option(arguments, "--wiki") or around.get("DREAMD_WIKI")
    transcript, stood = event.get("transcript_path"), event.get("cwd")
    return SessionEnd(
        transcript=None if transcript is None else _path("transcript_path", cwd, transcript),
        notes=tuple(_path("--notes", cwd, n) for n in _every(arguments, "--notes")), wiki=_path("the wiki", cwd, wiki) if wiki else None, scope=scope,
        folder=cwd / stood if isinstance(stood, str) and "\0" not in stood else cwd,
    )  # fmt: skip


def _path(name: str, cwd: Path, told: object) -> Path:
    """What a hook told as a path, absolute. Raises BadFile for what no system takes as one: a NUL, a lone surrogate, the home of a user there is not."""
    if not isinstance(told, str) or not told:
        raise BadFile(f"{name} is no path")
    try:
        path = cwd / Path(told).expanduser()
        if b"\0" not in os.fsencode(path):
            return path
    except (RuntimeError, UnicodeEncodeError):
        pass
    raise BadFile(f"{name} is no path")


def _every(arguments: Sequence[str], name: str) -> Iterator[str]:
    for n, word in enumerate(arguments):
        if word == name and n + 1 < len(arguments):
            yield arguments[n + 1]
        elif word.startswith(name + "="):
            yield word[len(name) + 1 :]


def _logs(transcript: Path | None) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """What is read of a session, and what of it is not. A folder named as the transcript is never walked: it may be any, without an end."""
    if transcript is None:
        return [], ()
    if os.path.exists(transcript) and not os.path.isfile(transcript):
        return [], ((str(transcript), "is no file; a session end names the file of one session"),)
    beside = transcript.with_suffix("")
    return [str(transcript), *([str(beside)] if os.path.isdir(beside) else [])], ()


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refused(f"{folder}: session ends wait here and cannot be taken out: {error.strerror}; make it this user's own") from error


class _Draining:
    """One draining of one spool."""

    def __init__(self, parts: Parts, folder: Path, request: Request, host: str, archive_of: Callable[[str], Blobs], asks: bool) -> None:
        self.parts = parts
        self.asks = asks
        self.folder = folder
        self.claimed = folder / _CLAIMED
        self.request = request
        self.host = host
        self.archive_of = archive_of
        self.me = this_process(host).removeprefix(f"{host}:").replace(":", "-")

    def waiting(self) -> list[str]:
        """Names of all files that may be claimed, oldest first; those of dead processes are put back, half-written ones are let through."""
        with _usable(self.folder):
            return self._waiting()

    def _waiting(self) -> list[str]:
        for claim in self._in(self.claimed):
            name, _, owner = claim.rpartition("@")
            if not alive(f"{self.host}:{owner.replace('-', ':')}", host=self.host):
                self._move(self.claimed / claim, self.folder / name)
        for part in self._in(self.folder):
            if part.startswith(".") and part.endswith(".part") and self._is_old(self.folder / part):
                self._move(self.folder / part, self.folder / f"{part[1:].removesuffix('.part')}{SUFFIX}")
        return sorted(name for name in self._in(self.folder) if name.endswith(SUFFIX) and not name.startswith("."))

    def one(self, name: str) -> Drained:
        """Claim a file, do it, remove it; put back what another wiki or another time must do."""
        claim = self.claimed / f"{name}@{self.me}"
        with _usable(self.folder):
            self.claimed.mkdir(mode=0o700, exist_ok=True)
            if not self._move(self.folder / name, claim):
                return Drained()  # another process was first
            content = claim.read_bytes().decode("utf-8", "surrogateescape")
        try:
            done = self._do_or_leave(name, content)
        except DreamdError:
            self._put_back(claim, name)
            raise
        if done.left:
            self._put_back(claim, name)
        else:
            with _usable(self.folder):
                claim.unlink(missing_ok=True)
        return done

    def _put_back(self, claim: Path, name: str) -> None:
        with _usable(self.folder):
            self._move(claim, self.folder / name)

    def _do_or_leave(self, name: str, content: str) -> Drained:
        """Do a file. What is wrong with it alone keeps no other from being done: for ever, it is a letter; until somebody mends it, it is told and left."""
        try:
            return self._do(name, content)
        except StoreUnusable:
            raise
        except (BadFile, Permanent) as bad:
            self.parts.store.keep_letter(DOOR, str(bad), self._masked(content))
            return Drained(letters=1)
        except (Refused, OSError) as error:
            return Drained(left=1, problems=((str(self.folder / name), str(error)),))

    def _do(self, name: str, content: str) -> Drained:
        end = understood(content)
        if self._is_anothers(end):
            return Drained(left=1)
        if isinstance(end, SessionTold):
            self._deliver(end)
            return Drained(told=1)
        scope = end.scope or self.request.scope
        problems = self._take_in(end, scope)
        self.parts.step("session_taken_in")
        if not self.asks:
            return Drained(problems=problems)
        asked = self.parts.store.request(scope, request_id=f"{DOOR} {digest(name, content)}", params=self.request.params.as_json(), cause=CAUSE)
        self.parts.step("session_requested")
        return Drained(asked=(asked,), left=int(asked.answer == "refused"), problems=problems, ring=asked.ring)

    def _is_anothers(self, end: SessionEnd | SessionTold) -> bool:
        """Whether it is for another wiki than ours: the one the hook was told, else that of the session's project. One that is nobody's is for whoever asks
        for dreams."""
        wiki = end.wiki or (self._of_project(end) if isinstance(end, SessionEnd) else None)
        if wiki is None:
            return not self.asks
        return os.path.realpath(wiki) != os.path.realpath(self.request.wiki)

    def _of_project(self, end: SessionEnd) -> Path | None:
        """The wiki of the project a session belongs to: that of its first working directory, whichever it stood in at its end."""
        first = first_folder(str(end.transcript)) if end.transcript and os.path.isfile(end.transcript) else None
        known = registered(self.folder.parent, root_of(first or end.folder))
        return known.wiki if known else None

    def _deliver(self, told: SessionTold) -> None:
        """One row, also when a draining was killed before the file was gone."""
        if told.delivery not in self.parts.store.deliveries(told.scope, session=told.delivery.session):
            self.parts.store.record_delivery(told.scope, told.delivery)
        self.parts.step("delivery_recorded")

    def _take_in(self, end: SessionEnd, scope: str) -> tuple[tuple[str, str], ...]:
        """The transcript, and the sessions of subagents that lie in a folder of its name beside it.

        A hook naming a file is not a person naming it: nobody vouches for its events.
        """
        paths, problems = _logs(end.transcript)
        p = replace(self.parts, archive=self.archive_of(scope))
        logs = intake(
            paths, store=p.store, scope=scope, archive=p.archive, redactor=p.redactor, readers=p.readers, now=p.now(), exclude=self.request.exclude,
            audience=p.audience,
        )  # fmt: skip
        notes = take_in(p, replace(self.request, scope=scope, paths=(), notes=end.notes))
        return (*problems, *logs.refused, *notes.problems)

    def _masked(self, text: str) -> str:
        return self.parts.redactor.mask(text.encode("utf-8", "surrogateescape")).data.decode("utf-8", "replace")

    @staticmethod
    def _in(folder: Path) -> list[str]:
        try:
            return os.listdir(folder)
        except FileNotFoundError:
            return []

    def _is_old(self, path: Path) -> bool:
        with suppress(OSError):
            return self.parts.now().timestamp() - path.stat().st_mtime > HALF_WRITTEN_S
        return False

    @staticmethod
    def _move(source: Path, to: Path) -> bool:
        try:
            source.rename(to)
        except FileNotFoundError:
            return False
        return True
