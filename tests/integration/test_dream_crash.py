"""A dream that is killed, interrupted or runs out of disk at any step leaves nothing half done: the next one ends where an undisturbed one would have."""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, event

from pipelines.errors import DreamdError, Transient
from pipelines.logs import archive as archive_module
from pipelines.run import dream
from pipelines.store import DreamRunning
from pipelines.wiki import folder as folder_module
from tests.dreaming import SCOPE, Desk, differences
from tests.integration.test_dream_again import a_week_of_work
from tests.writing import ClaudeLog, events

STEPS = (
    "taken_in", "session_read", "staged", "applied", "expired", "pages_committed", "locked", "intent", "opened:*", "written:*", "staged:*", "exchanged:*",
    "phase:pages", "phase:index", "manifest", "published",
)  # fmt: skip
GONE = f"{socket.gethostname()}:{2**30}:1"
"""A holder whose process is no more."""


class Stopped(Exception):
    """What a failing step raises."""


def at(wanted: str, act: Callable[[], None], *, nth: int = 1) -> Callable[[str], None]:
    """Act when the nth step of this name is reached; `*` stands for any page."""
    seen = 0

    def step(name: str) -> None:
        nonlocal seen
        if name == wanted or (wanted.endswith("*") and name.startswith(wanted[:-1])):
            seen += 1
            if seen == nth:
                act()

    return step


def stop() -> None:
    raise Stopped


def interrupt() -> None:
    raise KeyboardInterrupt


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def more_work(desk: Desk) -> None:
    """What came after the first dream: another value, another rule, another event."""
    ClaudeLog("tuesday").later(days=1).user("Actually the staging database listens on port 5434, not 5433.").user("Never push to main.").save(desk.logs)
    (desk.logs / "seen.events.jsonl").write_text(
        events([("api-replicas", "3", "verified", "2026-03-04T08:00:00Z"), ("api-replicas", "5", "verified", "2026-03-05T08:00:00Z")]), encoding="utf-8"
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Trees of undisturbed runs, filled by the first test that needs one."""
    return {}


def wanted(name: str, known: dict[str, dict[str, str]], desk: Desk, *works: Callable[[Desk], None]) -> dict[str, str]:
    if name not in known:
        for work in works:
            work(desk)
            desk.dream()
        known[name] = desk.tree()
    return known[name]


@pytest.mark.parametrize("act", [stop, interrupt], ids=["failure", "ctrl-c"])
def test_a_first_dream_that_stops_at_every_step_in_turn_ends_as_an_undisturbed_one(
    desk: Desk, desks: Callable[[], Desk], act: Callable[[], None], undisturbed: dict[str, dict[str, str]]
) -> None:
    a_week_of_work(desk)
    for name in STEPS:
        desk.step = at(name, act)
        with pytest.raises((Stopped, KeyboardInterrupt)):
            desk.dream()
    with desk.store() as store:
        assert [d.state for d in store.dreams(SCOPE)] == ["failed"] * len(STEPS)
    desk.step = lambda _: None
    desk.dream()
    assert differences(wanted("first", undisturbed, desks(), a_week_of_work), desk.tree()) == []


@pytest.mark.parametrize("name", ["session_read", "staged", "applied", "pages_committed", "intent", "exchanged:*", "phase:pages", "manifest"])
def test_a_further_dream_killed_at_a_step_ends_as_an_undisturbed_one(
    desk: Desk, desks: Callable[[], Desk], name: str, undisturbed: dict[str, dict[str, str]]
) -> None:
    a_week_of_work(desk)
    desk.dream()
    more_work(desk)
    child = os.fork()
    if child == 0:  # a process of its own: what it holds open dies with it
        desk.holder = f"{socket.gethostname()}:{os.getpid()}:0"
        desk.step = at(name, kill)
        desk.dream()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "the step was reached"
    desk.dream()
    assert differences(wanted("further", undisturbed, desks(), a_week_of_work, more_work), desk.tree()) == []


def test_while_another_process_dreams_a_second_one_is_told_who(desk: Desk) -> None:
    a_week_of_work(desk)
    with desk.store() as store:
        store.start_dream(SCOPE, cause="command", holder=f"{socket.gethostname()}:{os.getpid()}:0")
        with pytest.raises(DreamRunning) as running:
            desk.dream()
    assert f"{socket.gethostname()}:{os.getpid()}" in str(running.value)


# --- no room left ------------------------------------------------------------------------------------------------------------------------


def fails(code: int) -> Callable[..., None]:
    """Stands for a call the system refuses."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


def test_a_full_disk_at_the_archive_loses_nothing(
    desk: Desk, desks: Callable[[], Desk], undisturbed: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    a_week_of_work(desk)
    with monkeypatch.context() as patch:
        patch.setattr(archive_module, "_write_whole", fails(errno.ENOSPC))
        with pytest.raises(Transient, match=r"archive .* cannot be written.*[Nn]o space"):
            desk.dream()
    assert not desk.wiki.exists()
    desk.dream()
    assert differences(wanted("first", undisturbed, desks(), a_week_of_work), desk.tree()) == []


@pytest.mark.parametrize("pages", [0, 1])
def test_a_full_disk_at_the_store_loses_nothing(desk: Desk, desks: Callable[[], Desk], undisturbed: dict[str, dict[str, str]], pages: int) -> None:
    a_week_of_work(desk)
    desk.holder = GONE  # a process that cannot even write that it failed ends
    with desk.store() as store:
        size = (desk.data / "store.db").stat().st_size // 4096

        def fill(conn: Connection) -> None:
            conn.exec_driver_sql(f"PRAGMA max_page_count={size + pages}")

        event.listen(store.engines.write, "begin", fill)
        with pytest.raises(Transient, match="full"):
            dream(desk.parts(store), desk.request())
    desk.dream()
    assert differences(wanted("first", undisturbed, desks(), a_week_of_work), desk.tree()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES], ids=["full", "read-only", "not-allowed"])
def test_a_wiki_that_cannot_be_written_keeps_every_page_whole(
    desk: Desk, desks: Callable[[], Desk], undisturbed: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    a_week_of_work(desk)
    desk.dream()
    before = desk.tree()
    more_work(desk)
    with monkeypatch.context() as patch:
        patch.setattr(folder_module.Folder, "write_temporary", fails(code))
        with pytest.raises(DreamdError, match=f"publishing into .* stopped: {os.strerror(code)}"):
            desk.dream()
    assert differences(before, desk.tree()) == []
    desk.dream()
    assert differences(wanted("further", undisturbed, desks(), a_week_of_work, more_work), desk.tree()) == []
