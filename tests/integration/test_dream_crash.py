"""A dream that is killed, interrupted or runs out of disk at any step leaves nothing half done: the next one ends where an undisturbed one would have."""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable, Mapping

import pytest
from sqlalchemy import Connection, event

from pipelines.errors import DreamdError, Transient
from pipelines.logs import archive as archive_module
from pipelines.run import dream
from pipelines.run import work as work_module
from pipelines.store import Asked, DreamRunning, owner_of, this_process
from pipelines.wiki import folder as folder_module
from tests.dreaming import SCOPE, Desk, differences
from tests.integration.test_dream_again import a_week_of_work
from tests.writing import ClaudeLog, events

STAGES = ("plan", "extract", "resolve", "analyse", "apply", "render")
STEPS = (
    "taken_in", "requested", *(f"{point}:{stage}" for stage in STAGES for point in ("claimed", "ready", "committed")), "session_read", "applied", "expired",
    "pages_committed", "locked", "intent", "opened:*", "written:*", "staged:*", "exchanged:*", "phase:pages", "phase:index",
)  # fmt: skip
KILLS = (
    "requested", "claimed:plan", "committed:plan", "session_read", "ready:extract", "committed:extract", "ready:resolve", "committed:resolve", "ready:analyse",
    "claimed:apply", "applied", "committed:apply", "ready:render", "pages_committed", "committed:render", "intent", "exchanged:*", "phase:pages", "manifest",
)  # fmt: skip


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


def test_a_first_dream_interrupted_at_every_step_in_turn_ends_as_an_undisturbed_one(
    desk: Desk, desks: Callable[[], Desk], undisturbed: dict[str, dict[str, str]]
) -> None:
    a_week_of_work(desk)
    for name in sorted(STEPS, key=_in_order):
        desk.step = at(name, interrupt)
        with pytest.raises(KeyboardInterrupt):  # else the step was never reached
            desk.dream()
    desk.step = lambda _: None
    desk.dream()
    with desk.store() as store:
        assert [d.state for d in store.dreams(SCOPE)] == ["completed"], "each went on with what the one before had left"
    assert differences(wanted("first", undisturbed, desks(), a_week_of_work), desk.tree()) == []


def _in_order(step: str) -> int:
    """Where in a dream a step comes."""
    inside = {"session_read": "ready:extract", "applied": "ready:apply", "expired": "ready:apply", "pages_committed": "ready:render"}
    return 2 * STEPS.index(inside.get(step, step)) + (step in inside and step != "session_read") - (step == "session_read")


@pytest.mark.parametrize("name", KILLS)
def test_a_further_dream_killed_at_a_step_ends_as_an_undisturbed_one(
    desk: Desk, desks: Callable[[], Desk], name: str, undisturbed: dict[str, dict[str, str]]
) -> None:
    a_week_of_work(desk)
    desk.dream()
    more_work(desk)
    child = os.fork()
    if child == 0:  # a process of its own: what it holds open dies with it
        desk.holder = this_process()
        desk.step = at(name, kill)
        desk.dream()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "the step was reached"
    desk.dream()
    with desk.store() as store:
        assert [d.state for d in store.dreams(SCOPE)] == ["completed"] * 2, "the dream was finished, and not begun anew"
    assert differences(wanted("further", undisturbed, desks(), a_week_of_work, more_work), desk.tree()) == []


def test_while_another_process_dreams_a_second_one_is_told_who(desk: Desk) -> None:
    a_week_of_work(desk)
    other = f"{socket.gethostname()}:{os.getppid()}:0"
    with desk.store() as store:
        asked = store.request(SCOPE, request_id="r1", params={}, cause="command")
        store.claim(owner_of(other, 0), ttl_ms=60_000, deadline_ms=60_000)
        with pytest.raises(DreamRunning) as running:
            desk.dream()
    assert (running.value.dream, running.value.holder) == (asked.dream, other)


@pytest.mark.parametrize(("joined", "left"), [(True, "pending"), (False, "canceled")])
def test_giving_up_takes_back_only_what_was_asked_for_here(desk: Desk, monkeypatch: pytest.MonkeyPatch, joined: bool, left: str) -> None:
    """Another process begins a dream between our look and our request; the pending one we join is another sender's."""
    a_week_of_work(desk)
    other = f"{socket.gethostname()}:{os.getppid()}:0"
    with desk.store() as store:
        ask, waits = store.request, []

        def late(scope: str, *, request_id: str, params: Mapping[str, object], cause: str, hand: str = "") -> Asked:
            ask(scope, request_id="r1", params={}, cause="platform")
            assert store.claim(owner_of(other, 0), ttl_ms=60_000, deadline_ms=60_000) is not None
            if joined:
                ask(scope, request_id="r2", params=params, cause="platform")
            waits.append(ask(scope, request_id=request_id, params=params, cause=cause, hand=hand))
            return waits[-1]

        monkeypatch.setattr(store, "request", late)
        with pytest.raises(DreamRunning):
            dream(desk.parts(store), desk.request())
        (asked,) = waits
        assert (asked.answer, store.dream(SCOPE, str(asked.dream)).state) == ("coalesced" if joined else "accepted", left)


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
def test_a_full_disk_at_the_store_loses_nothing(
    desk: Desk, desks: Callable[[], Desk], undisturbed: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    a_week_of_work(desk)
    monkeypatch.setattr(work_module, "BACK_OFF_S", 0.0)
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
