"""What `dreamd doctor` looks at on this host: settings that do not fit together, folders, disk, Redis, clocks, a frozen writer, the spool, the archive.

Each check reads and changes nothing. It gives lines that are fine, worth knowing or wrong; a wrong one names what, where and what to do.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import DreamdError, NotOurFolder, Refused, StoreTooNew, Transient
from pipelines.ports import Blobs
from pipelines.run.health import Problem
from pipelines.run.parts import Params
from pipelines.store import Budget, Schedule, Store, StoreDamaged, StoreMisplaced, duration
from pipelines.wiki.marker import Marker, read_marker
from worker import engines, queues
from worker.hook import SUFFIX, spool_folder
from worker.settings import Settings, data_folder

if TYPE_CHECKING:
    from pipelines.engines.claude.client import RemoteBatch

FREE_MIN: Final = 512 * 1024 * 1024
"""Bytes a disk must have left: a dream writes pages, archive and write-ahead log."""
SKEW_MAX_S: Final = 5.0
"""A host and its database further apart than this put times into the wrong order."""
USED_SHARE: Final = 0.95
"""Of a limit from which on it counts as used up: what is left holds hardly a call."""
SAMPLE: Final = 32
"""Blobs of the archive that are read."""

CODES: Final = frozenset(
    {
        "archive_unreadable", "batch_unknown", "budget_used", "calls_paused", "calls_presumed", "clock_skew", "disk_full", "engine_cannot_ask", "extra_missing", "folder_open", "folder_unwritable", "forget_missed", "left_over", "redis_evicts", "redis_forgets", "redis_key_taken",
        "redis_unreachable", "redis_unread", "schedule_unreadable", "schema", "spool", "store_damaged", "store_misplaced", "store_unreachable", "wiki_gone",
        "wiki_of_another", "writer_frozen",
    }
)  # fmt: skip
"""Every code a check may give beside those of `pipelines.run.health`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line: `state` is ok, note (worth knowing) or problem."""

    code: str
    state: str
    about: str
    why: str
    what_to_do: str = ""


def fine(code: str, about: str, why: str) -> Check:
    """A line that is well."""
    return Check(code=code, state="ok", about=about, why=why)


def wrong(code: str, about: str, why: str, what_to_do: str, *, grave: bool = True) -> Check:
    """A line that is not: a problem, or a note where it may be meant so."""
    return Check(code=code, state="problem" if grave else "note", about=about, why=why, what_to_do=what_to_do)


def of_problem(problem: Problem) -> Check:
    """A judged problem as a line."""
    return wrong(problem.code, problem.about, problem.why, problem.what_to_do, grave=problem.grave)


# --- the store ---------------------------------------------------------------------------------------------------------------------------


def of_fault(error: DreamdError, where: str) -> Check:
    """Why a store could not be opened."""
    match error:
        case StoreTooNew():
            return wrong("schema", where, str(error), "install the newer dreamd here, too")
        case StoreDamaged():
            return wrong("store_damaged", where, str(error), "restore a copy; the runbook says how (Restore)")
        case NotOurFolder():
            return wrong("store_misplaced", where, str(error), "set data_dir to the data folder this wiki was made with")
        case StoreMisplaced():
            return wrong("store_misplaced", where, str(error), "move the store with data_dir (DREAMD_DATA_DIR) or database_url (DREAMD_DATABASE_URL)")
    return wrong("store_unreachable", where, str(error), "start the database; check database_url (DREAMD_DATABASE_URL), its user and password")


def extras(loaded: Settings) -> tuple[Check, ...]:
    """Whether what the settings need is installed."""
    url = loaded.database_url.get_secret_value() if loaded.database_url else ""
    if url.startswith("postgresql") and importlib.util.find_spec("psycopg") is None:
        return (
            wrong(
                "extra_missing",
                "psycopg",
                "the store is a PostgreSQL database and its driver is not installed",
                "pip install 'psycopg[binary]' (the extra postgres)",
            ),
        )
    return ()


def clock(store: Store) -> tuple[Check, ...]:
    """How far this host's clock is from the database's. A store that is a file has none of its own."""
    if store.on_sqlite:
        return ()
    before = time.time()
    with store.reading("read the clock") as conn:
        there = store.clock_ms(conn) / 1000
    after = time.time()
    skew = max(0.0, before - there, there - after)
    told = f"this host and the database are {skew:.1f} s apart"
    if skew <= SKEW_MAX_S:
        return (fine("clock_skew", "the clocks", told),)
    return (wrong("clock_skew", "the clocks", told, "let both keep time by NTP"),)


def schedules(found: Iterable[Schedule], now: datetime) -> tuple[Check, ...]:
    """Schedules nobody can read."""
    from worker import slots  # loads APScheduler: only where there is a schedule

    out = []
    for s in found:
        try:
            slots.due(s, now)
        except DreamdError as error:
            out.append(wrong("schedule_unreadable", s.scope, f"{s.kind} {s.spec}: {error}", f"dreamd schedule add {s.kind} WHEN --scope {s.scope}"))
    return tuple(out)


def archive(store: Store, scope: str, blobs: Blobs, share_max: float) -> tuple[Check, ...]:
    """Whether what was archived last can be read. What cannot is not gone: nothing is believed less for it (systems R20)."""
    sample = store.newest_blobs(scope, SAMPLE)
    failed = [error for address in dict.fromkeys(sample) if (error := _unreadable(blobs, address))]
    if not failed:
        return (fine("archive_unreadable", scope, f"{len(sample)} pieces of its archive read"),) if sample else ()
    told = f"{len(failed)} of the {len(sample)} pieces archived last cannot be read: {failed[0]}"
    if len(failed) / len(sample) <= share_max:
        return (wrong("archive_unreadable", scope, told, "dreamd verify names the citations they hold", grave=False),)
    return (wrong("archive_unreadable", scope, told, "mount or restore the archive this store was made with; nothing is deleted meanwhile"),)


def leftovers(store: Store) -> tuple[Check, ...]:
    """Whether what was forgotten or let go still lies in files of this store."""
    found = store.leftovers()
    if not found:
        return ()
    told = ", ".join(f"{n} {what}" for what, n in sorted(Counter(what for what, _ in found).items()))
    what_to_do = "dreamd dream, dreamd schedule or dreamd up cleans it; a wiki folder is cleaned where it is published"
    return (wrong("left_over", "the store", f"what was forgotten or is no longer kept still lies in files: {told}", what_to_do, grave=False),)


def forgets(data: Path, store: Store) -> tuple[Check, ...]:
    """Whether this is a copy of a store that is older than what was forgotten."""
    from worker import mirror  # what it needs to forget takes a while to load

    try:
        missing = mirror.behind(data, store)
    except Refused as error:
        return (wrong("forget_missed", "the store", str(error), "see Restore in deploy/RUNBOOK.md"),)
    if not missing:
        return ()
    why = f"it is a copy from before {len(missing)} forgets ({', '.join(stone.uid for stone in missing[:3])}): it may hold what was forgotten"
    return (wrong("forget_missed", "the store", why, "dreamd dream, or dreamd rebuild, forgets it here again before anything else"),)


def _unreadable(blobs: Blobs, address: str) -> str:
    try:
        blobs.get(address)
    except Transient as error:
        return str(error)
    return ""


# --- money -------------------------------------------------------------------------------------------------------------------------------


def engine(loaded: Settings) -> tuple[Check, ...]:
    """Which engine the settings make of a dream, and whether it can ask. Nobody is asked here."""
    about = "the engine"
    try:
        choice = engines.choose(loaded)
        engines.require(loaded, choice.engine)
        if choice.engine == engines.CLAUDE:
            engines.config_of(loaded, engines.params_of(loaded, choice, Params()))
    except Refused as error:
        return (wrong("engine_cannot_ask", about, str(error), 'set it, or take engine = "local"'),)
    return (fine("engine_cannot_ask", about, _engine_told(choice)),)


def _engine_told(choice: engines.Choice) -> str:
    """Which engine dreams use, and why, as a sentence that is right by itself."""
    if choice.engine == engines.LOCAL:
        why = f", since {choice.why}" if choice.why.startswith("claude ") else f", {choice.why}"
        return f"dreams read by rules on this machine (local) and ask no model{why}"
    return f"dreams ask {choice.engine}: {choice.why}"


def money(store: Store, loaded: Settings, scope: str | None, now: datetime) -> tuple[Check, ...]:
    """Calls that are paused, calls nobody knows the end of, and budgets that are used up. Nothing where no model was ever asked."""
    out = []
    if (pause := store.calls_paused()) is not None:
        left = duration(max(0.0, pause.until_ms / 1000 - now.timestamp()))
        out.append(
            wrong("calls_paused", "calls to models", f"the provider wants to be paid first ({pause.why}); tried again in {left}", "pay the bill, or raise the spending limit at the provider: dreams go on by themselves, at once after dreamd costs --go-on")
        )  # fmt: skip
    presumed = [call for call in store.open_calls(scope) if call.state == "presumed"]
    if presumed:
        told = (
            f"{len(presumed)} ended with nobody listening: perhaps paid, at most {engines.dollars(sum(call.bound_uusd for call in presumed))}; budgets count it"
        )
        out.append(
            wrong(
                "calls_presumed",
                "calls to models",
                told,
                "the provider's invoice says what was paid; if none of them was: dreamd costs --not-paid",
                grave=False,
            )
        )
    claude = loaded.claude
    limits = [("day", f"{now:%Y-%m-%d}", claude.day_usd), *(("scope", name, claude.scope_usd) for name in ([scope] if scope else store.scopes()))]
    for kind, name, most in limits:
        out += _used(store.budget(kind, name), engines.uusd(most))  # type: ignore[arg-type]
    return tuple(out)


def _used(budget: Budget, limit_uusd: int | None) -> tuple[Check, ...]:
    """Whether nearly nothing is left of a limit of the settings."""
    used = budget.spent_uusd + budget.reserved_uusd + budget.presumed_uusd
    if limit_uusd is None or used < USED_SHARE * limit_uusd:
        return ()
    what = "today (UTC)" if budget.kind == "day" else budget.name
    when = "dreams go on tomorrow" if budget.kind == "day" else "nothing more is asked there"
    told = f"{engines.dollars(used)} of {engines.dollars(limit_uusd)} are used or set aside; {when}"
    return (wrong("budget_used", what, told, f"raise claude.{budget.kind}_usd, or leave it", grave=False),)


def foreign_batches(store: Store, recent: Callable[[], Iterable[RemoteBatch]]) -> tuple[Check, ...]:
    """Batches in the workspace of our key that this store knows nothing of: while one is under way, a batch of ours without an answer may be taken for it."""
    ours = store.remote_batches()
    if not ours:
        return ()
    try:
        others = [batch for batch in recent() if batch.id not in ours]
    except DreamdError as error:
        return (wrong("batch_unknown", "the provider", f"its batches cannot be listed: {error}", "see claude in the settings", grave=False),)
    if not others:
        return (fine("batch_unknown", "the provider", "knows no batch but ours"),)
    told = f"{len(others)} batches in the workspace of the key are not of this store, the newest {others[0].id}"
    return (wrong("batch_unknown", "the provider", told, "give dreamd a workspace of its own there", grave=False),)


# --- this host ---------------------------------------------------------------------------------------------------------------------------


def folder(path: Path, what: str, *, private: bool = True) -> tuple[Check, ...]:
    """Whether a folder of ours can be written, is this user's alone if it must be, and what is left on its disk. One that is not there yet is fine."""
    if not path.is_dir():
        return ()
    about, out = f"{what} {path}", []
    mode = stat.S_IMODE(path.stat().st_mode)
    if private and mode & 0o077:
        out.append(wrong("folder_open", about, f"others may look into it (mode {mode:04o}), and it holds what sessions said", f"chmod 700 {path}"))
    if not os.access(path, os.W_OK | os.X_OK):
        out.append(wrong("folder_unwritable", about, "this user may not write there", "give it to the user dreamd runs as"))
    free = shutil.disk_usage(path).free
    if free < FREE_MIN:
        out.append(wrong("disk_full", about, f"{free // 2**20} MB are left on its disk", "make room; nothing is lost, dreams go on then"))
    return tuple(out) or (fine("folder_open", about, f"{free // 2**20} MB left"),)


def spool(loaded: Settings, *, now: float) -> tuple[Check, ...]:
    """Session ends that nobody has drained."""
    place = Path(spool_folder(str(data_folder(loaded))))
    try:
        waits = [(place / n).stat().st_mtime for n in os.listdir(place) if n.endswith(SUFFIX)]
    except FileNotFoundError:
        return ()
    except OSError as error:
        return (wrong("spool", str(place), f"session ends wait here and cannot be read: {error.strerror}", "make it this user's own"),)
    if not waits:
        return (fine("spool", str(place), "no session end waits"),)
    age = now - min(waits)
    told = f"{len(waits)} session ends wait, the oldest for {duration(age)}"
    late = age > loaded.health.wait_s
    return (wrong("spool", str(place), told, "start dreamd up or dreamd watch on this host: they take them within seconds", grave=late),)


def redis(url: str, *, queue: str) -> tuple[Check, ...]:
    """Whether Redis answers, whether it may throw away or forget what a platform pushed, and whether anybody takes it. Bells may be lost: they are rung
    again."""
    from redis import RedisError  # only where one is set

    try:
        client = queues.connect(url)
    except Refused as error:
        return (wrong("redis_unreachable", "redis", str(error), "mend redis_url (DREAMD_REDIS_URL)"),)
    try:
        client.ping()
        told = _told(client.config_get, "maxmemory-policy", "appendonly", "save")
        lists = _lists(client, queue)
    except (RedisError, OSError) as error:
        return (
            wrong("redis_unreachable", "redis", f"it does not answer ({type(error).__name__})", "start it, or check redis_url (DREAMD_REDIS_URL); work goes on without bells, later"),
        )  # fmt: skip
    finally:
        client.close()
    policy, saves = str(told.get("maxmemory-policy", "")), told.get("appendonly") == "yes" or bool(told.get("save"))
    out = []
    if policy not in {"", "noeviction"}:
        out.append(wrong("redis_evicts", "redis", f"its policy {policy} throws requests away when memory is short", "CONFIG SET maxmemory-policy noeviction"))
    if "appendonly" in told and not saves:
        out.append(
            wrong("redis_forgets", "redis", "it keeps nothing over a restart", "turn on appendonly, or let senders send again until they are answered", grave=False)
        )  # fmt: skip
    return (*out, *lists) or (fine("redis_unreachable", "redis", "answers"),)


def _lists(client: Any, queue: str) -> tuple[Check, ...]:
    """Whether the keys are ours, and whether somebody takes what lies in them."""
    found = {key: client.type(key).decode() for key in queues.kinds(queue)}
    taken = [key for key, kind in queues.kinds(queue).items() if found[key] not in {kind, "none"}]
    if taken:
        do = "see whose it is, and rename it (RENAME), or set another queue (DREAMD_QUEUE) here and at every sender"
        return tuple(wrong("redis_key_taken", f"redis key {key}", f"it is a {found[key]}, not a {queues.kinds(queue)[key]}", do) for key in taken)
    consumers = [name.decode("utf-8", "replace") for name in client.smembers(queues.consumers_of(queue))]
    plain, by_celery = client.llen(queue), client.llen(f"{queues.KEY_PREFIX}{queue}")
    out = []
    if plain and not any(client.exists(queues.alive_of(queue, name)) for name in consumers):
        out.append(wrong("redis_unread", f"redis list {queue}", f"{plain} requests wait, and nobody takes them", "start dreamd schedule or dreamd up"))
    if by_celery:
        told = f"{by_celery} requests wait for a worker"
        out.append(wrong("redis_unread", f"celery queue {queue}", told, "start dreamd worker or dreamd up, where none runs", grave=False))
    return tuple(out)


def _told(ask: Any, *names: str) -> dict[str, str]:
    """Settings of a Redis that tells them; a hosted one may not."""
    from redis import ResponseError

    try:
        return {str(k): str(v) for name in names for k, v in ask(name).items()}
    except ResponseError:
        return {}


# --- the folder of the wiki --------------------------------------------------------------------------------------------------------------


def wiki(at: Path, *, marker: Marker, published: bool) -> tuple[Check, ...]:
    """Whether the folder is there, is published by this host and store (`marker` is how it must be marked), and can be written. `published`: it once was."""
    about = f"wiki {at}"
    try:
        found = read_marker(at) if at.is_dir() else None
    except PermissionError:
        return (wrong("folder_unwritable", about, "this user may not look into it", "give it to the user dreamd runs as"),)
    if found is None:
        gone = "it has lost its marker" if at.is_dir() else "it is not there"
        return (wrong("wiki_gone", about, gone, "mount it, or write it anew: dreamd rebuild; nothing is taken as deleted"),) if published else ()
    if found.epoch != marker.epoch:
        return (
            wrong(
                "wiki_of_another",
                about,
                "another store, or another copy of this one, publishes it",
                "name another folder (--wiki, DREAMD_WIKI) if it was only found from here, else set data_dir or database_url to that store; the runbook says more (Restore)",
            ),
        )
    if found.host != marker.host:
        return (wrong("wiki_of_another", about, f"host {found.host} publishes it, this is {marker.host}", "dream and publish there; when that host is gone: dreamd publish --take-over"),)  # fmt: skip
    return folder(at, "wiki", private=False)


# --- a writer that stands still ----------------------------------------------------------------------------------------------------------

_WRITE_LOCK: Final = 120  # the byte of the shared memory file that SQLite's one writer locks


def writer(path: Path) -> tuple[Check, ...]:
    """A process that is stopped while it writes to a store that is a file: all others wait for it (systems R14). Linux tells, others do not."""
    pid = writing_pid(path)
    if pid is None or _state(pid) not in {"T", "t"}:
        return ()
    return (wrong("writer_frozen", str(path), f"process {pid} is stopped while it writes, and all others wait for it", f"let it go on (kill -CONT {pid}) or end it (kill -9 {pid}): nothing is half-written"),)  # fmt: skip


def writing_pid(path: Path, locks: str | None = None) -> int | None:
    """The process that writes to a store now. `locks` is the kernel's table of locks."""
    try:
        inode = path.with_name(f"{path.name}-shm").stat().st_ino
        table = Path("/proc/locks").read_text() if locks is None else locks
    except OSError:
        return None
    for line in table.splitlines():
        fields = line.replace("-> ", "").split()
        if len(fields) == 8 and fields[3] == "WRITE" and fields[5].rpartition(":")[2] == str(inode) and _covers(fields[6], fields[7]):
            return int(fields[4]) if int(fields[4]) > 0 else None
    return None


def _covers(first: str, last: str) -> bool:
    return int(first) <= _WRITE_LOCK and (last == "EOF" or int(last) >= _WRITE_LOCK)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
