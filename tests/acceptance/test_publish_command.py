"""dreamd publish as a process: a folder made from a shared store on a machine without a log, followed, refused to a second host, left on SIGTERM."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.acceptance.test_command import DEADLINE_S, Machine, until
from tests.writing import START, ClaudeLog

MARK = "<!-- yours below: dreamd never touches it -->"


@pytest.fixture
def shared(tmp_path: Path) -> Mapping[str, str]:
    """Settings of a store that two machines share."""
    (tmp_path / "shared").mkdir(mode=0o700)
    return {"DREAMD_DATABASE_URL": f"sqlite:///{tmp_path}/shared/store.db", "DREAMD_SCOPE": "acme/web"}


@pytest.fixture
def machines(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], Machine]:
    cache = request.config.cache
    assert cache is not None

    def made(name: str) -> Machine:
        (tmp_path / name).mkdir()
        return Machine(tmp_path / name, Path(str(cache.mkdir("dreamd-command"))))

    return made


def dream(machine: Machine, shared: Mapping[str, str], *said: str) -> None:
    for text in said:
        ClaudeLog(text, at=START).user(text).assistant("ok").save(machine.root / "logs")
    code, _, err = machine.run("dream", str(machine.root / "logs"), "--wiki", str(machine.wiki), env=shared)
    assert code == 0, err


def pages(machine: Machine) -> dict[str, str]:
    found = (p for p in machine.wiki.rglob("*.md") if ".dreamd" not in p.parts)
    return {p.relative_to(machine.wiki).as_posix(): p.read_text(encoding="utf-8") for p in found}


def following(machine: Machine, shared: Mapping[str, str]) -> AbstractContextManager[subprocess.Popen[str]]:
    return machine.start("publish", "--follow", "--interval", "0.1", "--json", "--wiki", str(machine.wiki), env=shared)


def test_a_folder_on_another_machine_follows_two_revisions_and_ends_on_a_signal(machines: Callable[[str], Machine], shared: Mapping[str, str]) -> None:
    desk, shelf = machines("desk"), machines("shelf")
    dream(desk, shared, "Always run migrations with `make migrate`.")
    with following(shelf, shared) as follower:
        assert follower.stdout is not None
        first = json.loads(follower.stdout.readline())
        assert "how-we-work.md" in first["written"]
        assert pages(shelf) == pages(desk)
        dream(desk, shared, "Never push to main.")
        second = json.loads(follower.stdout.readline())
        assert second["revision"] > first["revision"]
        page = shelf.wiki / "how-we-work.md"
        until(lambda: "Never push to main" in page.read_text(encoding="utf-8"))
        page.write_text(page.read_text(encoding="utf-8").replace(f"{MARK}\n", f"{MARK}\n\nFrom the shelf.\n"), encoding="utf-8")

        def arrived() -> bool:
            desk.run("publish", "--wiki", str(desk.wiki), env=shared)
            return "From the shelf." in (desk.wiki / "how-we-work.md").read_text(encoding="utf-8")

        until(arrived)
        follower.send_signal(signal.SIGTERM)
        _, err = follower.communicate(timeout=DEADLINE_S)
    assert (follower.returncode, "Traceback" in err) == (0, False)
    assert pages(shelf) == pages(desk)
    assert not any((shelf.root / "data").rglob("*.zst")), "no log was needed"


def test_a_follower_ends_on_ctrl_c_and_waits_for_a_folder_that_is_gone(machines: Callable[[str], Machine], shared: Mapping[str, str]) -> None:
    desk, shelf = machines("desk"), machines("shelf")
    dream(desk, shared, "Always run migrations with `make migrate`.")
    with following(shelf, shared) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline()
        follower.send_signal(signal.SIGINT)
        follower.communicate(timeout=DEADLINE_S)
    assert follower.returncode == 0
    (shelf.wiki / "how-we-work.md").unlink()
    with following(shelf, shared) as follower:
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline())["written"] == ["how-we-work.md"]
        assert follower.stderr is not None
        started = json.loads(follower.stderr.readline())
        assert (started["event"], "publishes into the folder" in started["does"], started["folder"]) == ("follow_started", True, str(shelf.wiki))
        shelf.wiki.rename(shelf.root / "unmounted")
        assert any("is it mounted?" in line for line in follower.stderr)
        with following(shelf, shared) as second:
            assert second.stderr is not None
            assert "followed_already" in second.stderr.readline()
            second.send_signal(signal.SIGINT)
            second.communicate(timeout=DEADLINE_S)
        follower.send_signal(signal.SIGINT)
        follower.communicate(timeout=DEADLINE_S)
    assert (follower.returncode, second.returncode) == (0, 0)
    assert not shelf.wiki.exists()


def test_a_second_machine_is_refused_with_the_name_of_the_first_while_that_was_seen_lately(
    machines: Callable[[str], Machine], shared: Mapping[str, str]
) -> None:
    desk, shelf = machines("desk"), machines("shelf")
    dream(desk, shared, "Always run migrations with `make migrate`.")
    host = json.loads((desk.wiki / ".dreamd/marker.json").read_text())["host"]
    code, out, err = shelf.run("publish", "--wiki", str(desk.wiki), "--take-over", env=shared)
    assert (code, out, host in err) == (3, "", True)
