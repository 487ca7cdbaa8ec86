"""Three hundred jobs while workers are killed and servers are emptied and started again: nothing is lost, nothing is done twice, and the wiki is the same."""

from __future__ import annotations

import contextlib
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import StoreUnavailable
from pipelines.run.runner import drive
from pipelines.store import Store
from tests import servers
from tests.dreaming import SCOPE, Desk, differences
from tests.redacting import shared_redactor
from tests.workers import Office, Process, ask, ended, office, sessions, tree, until
from worker.queues import connect

JOBS = 300
pytestmark = pytest.mark.timeout(600)


def test_nothing_is_lost_and_nothing_done_twice_whatever_breaks(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    undisturbed = _undisturbed(request, tmp_path)
    with servers.restartable_postgres() as postgres, servers.restartable_valkey() as valkey:
        desk = Desk(tmp_path / "chaos", shared_redactor(request), url=postgres.address)
        sessions(desk, JOBS)
        redis = f"unix://{valkey.address}"
        with office(request, tmp_path / "empty", database=postgres.address, redis=redis, test_asked=str(tmp_path / "asked")) as at, desk.store() as store:
            workers = [_worker(at) for _ in range(3)]
            dream = ask(desk, store)
            for done, breaks in _troubles(at, workers, postgres, valkey, redis):
                until(lambda done=done: _done(store, dream) >= done, why=lambda: f"{store.dream_state(SCOPE, dream)} {workers[-1].said}")  # type: ignore[misc]
                breaks()
            assert ended(store, dream).state == "completed", workers[-1].said
            told = store.results(store.dream(SCOPE, dream), "extract")
            state = store.dream_state(SCOPE, dream)
            for worker in workers[-3:]:
                worker.send(signal.SIGTERM)
        read = Counter(str(s) for result in told.values() for s in result["sessions"])  # type: ignore[attr-defined]
        asked = Counter(line.split()[0] for line in (tmp_path / "asked").read_text().splitlines())
        assert (len(read), set(read.values()), state.jobs["extract"]) == (JOBS, {1}, {"done": JOBS})
        assert state.parked == 0
        assert set(asked) == set(read)
        print(f"{JOBS} sessions read once each; asked of the engine again after a kill: {asked.total() - JOBS}")
        assert differences(undisturbed, tree(desk)) == []
        with desk.store() as store:
            assert [r.rev for r in store.revisions(SCOPE) if r.dream == dream] == [1]
            assert store.faults() == ()


def _undisturbed(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    desk = Desk(tmp_path / "undisturbed", shared_redactor(request))
    sessions(desk, JOBS)
    with desk.store() as store:
        dream = ask(desk, store)
        parts = desk.parts(store)
        assert drive(parts, SCOPE, dream).dream.state == "completed"
    return tree(desk)


def _worker(at: Office) -> Process:
    return at.worker("--threads", 2, "--engine-ms", 40, "--ttl-ms", 3000, "--look-s", 0.5)


def _troubles(
    at: Office, workers: list[Process], postgres: servers.Restartable, valkey: servers.Restartable, redis: str
) -> list[tuple[int, Callable[[], None]]]:  # fmt: skip
    """What breaks when so many jobs are done."""

    def kill(number: int) -> Callable[[], None]:
        def breaks() -> None:
            workers[number].send(signal.SIGKILL)
            workers.append(_worker(at))

        return breaks

    def flush() -> None:
        client = connect(redis)
        client.flushall()
        client.close()

    def restart(server: servers.Restartable, sig: int) -> Callable[[], None]:
        def breaks() -> None:
            server.stop(sig)
            server.start()

        return breaks

    return [
        (20, kill(0)), (60, flush), (90, kill(1)), (120, restart(valkey, signal.SIGKILL)), (160, restart(postgres, signal.SIGINT)), (200, kill(2)),
        (240, flush), (270, kill(3)),
    ]  # fmt: skip


def _done(store: Store, dream: str) -> int:
    """How many are done; a store that has just been started again is asked again."""
    with contextlib.suppress(StoreUnavailable):
        return _extracted(store, dream)
    return 0


def _extracted(store: Store, dream: str) -> int:
    return store.dream_state(SCOPE, dream).jobs.get("extract", {}).get("done", 0)
