"""What a driver's or a pool's error means to the caller."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import QueuePool

from pipelines.errors import StoreUnavailable
from pipelines.store.faults import translated
from pipelines.store.postgres import POOL, THREADS_MAX


def test_a_pool_without_a_free_connection_is_a_store_that_does_not_answer_now() -> None:
    engine = create_engine("sqlite://", poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01)
    with engine.begin(), pytest.raises(StoreUnavailable, match="count in here: all connections"), translated("count", "here"), engine.begin():
        pass
    engine.dispose()


def test_the_pool_bears_the_most_threads_a_worker_may_have() -> None:
    assert POOL >= 2 * THREADS_MAX + 4
