"""Shared fixtures: real servers for whoever asks, and the Hypothesis profile: no deadlines (no timed assertions), the same examples in CI.

One PostgreSQL for the whole run (started by the xdist controller), one Valkey a test worker, one database a test.
`DREAMD_TEST_DATABASE_URL` and `DREAMD_TEST_REDIS_URL` name servers of one's own instead.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy.engine import make_url

from pipelines.store import open_store
from tests import quick, servers
from worker.by_agent import SIGNS

settings.register_profile("dreamd", deadline=None, max_examples=80, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dreamd")

_running = contextlib.ExitStack()


def pytest_configure(config: pytest.Config) -> None:
    quick.hasten()
    for sign in SIGNS:
        os.environ.pop(sign, None)  # the person at work may be an agent; the one in the tests is none, unless a test says so
    is_worker = hasattr(config, "workerinput")
    many = bool(getattr(config.option, "numprocesses", None))
    if many and not is_worker and not os.environ.get("DREAMD_TEST_DATABASE_URL"):
        os.environ["DREAMD_TEST_DATABASE_URL"] = _running.enter_context(servers.postgres())


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _running.close()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server."""
    with contextlib.ExitStack() as stack:
        yield os.environ.get("DREAMD_TEST_DATABASE_URL") or stack.enter_context(servers.postgres())


@pytest.fixture(scope="session")
def template(postgres_url: str) -> Iterator[str]:
    """The name of a database with our schema and nothing in it."""
    name = f"tpl_{uuid.uuid4().hex[:12]}"
    url = make_url(postgres_url)
    with _administrator(postgres_url) as admin:
        admin.execute(f"create database {name}")
        open_store(url.set(database=name).render_as_string(False), now=lambda: datetime.now(UTC)).close()
        yield name
        admin.execute(f"drop database {name} with (force)")


@pytest.fixture
def database_url(postgres_url: str, template: str) -> Iterator[str]:
    """A database of this test's own, with our schema and nothing in it."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with _administrator(postgres_url) as admin:
        admin.execute(f"create database {name} template {template} strategy file_copy")
        yield make_url(postgres_url).set(database=name).render_as_string(False)
        admin.execute(f"drop database {name} with (force)")


@pytest.fixture(scope="session")
def _valkey() -> Iterator[str]:
    if given := os.environ.get("DREAMD_TEST_REDIS_URL"):
        yield given
        return
    with servers.valkey() as socket:
        yield f"unix://{socket}"


@pytest.fixture
def redis_url(_valkey: str) -> str:
    """An empty Valkey."""
    import redis

    with contextlib.closing(redis.Redis.from_url(_valkey)) as client:
        client.flushall()
    return _valkey


def _administrator(url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(make_url(url).set(drivername="postgresql").render_as_string(False), autocommit=True)
