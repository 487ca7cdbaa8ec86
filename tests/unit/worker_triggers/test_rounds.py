"""The threads of a worker all end, and `--once` ends when everything is done, not before."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.errors import Transient
from tests.contracts.work_builders import WAIT_S, Thread
from worker import crew as crews
from worker.process import Rounds, _until_idle
from worker.stopping import Stop


class Late(threading.Event):
    """Is waited for only once it was set and cleared again."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.rung = threading.Event(), threading.Event()

    def set(self) -> None:
        super().set()
        self.rung.set()

    def wait(self, timeout: float | None = None) -> bool:
        self.reached.set()
        assert self.rung.wait(WAIT_S)
        self.clear()
        return super().wait(timeout)


def test_a_helper_that_missed_the_call_to_end_ends_all_the_same() -> None:
    crew = SimpleNamespace(
        threads=2, ttl_ms=30_000, beat=lambda: None, sweep=lambda: None, tend=lambda: None, one=lambda: False, leaving=lambda: False, broke=lambda _: None
    )
    late = Late()
    rounds = Rounds(crew=crew, look_s=60, more=late)  # type: ignore[arg-type]
    leaving = ExitStack()
    leaving.enter_context(rounds.going())
    assert late.reached.wait(WAIT_S)
    Thread(leaving.close).result()


def crew_of() -> crews.Crew:
    return crews.Crew(engines={}, default="local", ring=lambda _: None, stop=lambda: False, threads=3)


def test_once_goes_on_when_another_thread_ends_a_unit_while_this_one_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    main, races, due, did = threading.current_thread(), [1, 2, 3], [], []  # type: ignore[var-annotated]

    def claimed(crew: crews.Crew) -> Any:
        if threading.current_thread() is main and not due and races:
            due.append(f"unit {races.pop(0)}")
            assert Thread(crew.one).result() is True
            return None  # what this look saw before that unit's end made another due
        return due.pop(0) if due else None

    def do(_: crews.Crew, job: str) -> None:
        did.append(job)
        if job.startswith("unit"):
            due.append(f"after {job}")

    monkeypatch.setattr(crews.Crew, "_claimed", claimed)
    monkeypatch.setattr(crews.Crew, "_do", do)
    monkeypatch.setattr(crews, "facts_of", lambda _: {})
    crew = crew_of()
    assert _until_idle(crew, Rounds(crew=crew, look_s=60), Stop()) is True
    assert did == [f"{when}unit {n}" for n in (1, 2, 3) for when in ("", "after ")]
    assert not crew.busy


def test_once_says_when_the_store_did_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews.Crew, "_claimed", lambda crew: crew._trouble("claim_failed", Transient("away")))
    crew = crew_of()
    assert _until_idle(crew, Rounds(crew=crew, look_s=60), Stop()) is False
