"""Tenants of one store with the same session ids, names and words, dreaming at once: nothing of one is in anything of another."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.model import digest
from pipelines.recall.search import search
from pipelines.run import Parts, Request
from pipelines.run.content import content_of
from pipelines.run.telling import told_at
from pipelines.store import Delivery, Store, open_store
from pipelines.store.blobs import DatabaseArchive
from pipelines.wiki.brief import brief
from pipelines.wiki.topics import layout
from tests.dreaming import NOW, Desk
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker.registry import planned

SCOPES = {"a/b": "Birch", "a/b2": "Cedar", "A/b": "Maple", "a/_": "Rowan"}
"""Paths that differ by an ending, by case, by a wildcard; each with a word nobody else says."""


@dataclass
class Tenant(Desk):
    """A desk of a scope in a store of several."""

    scope: str = ""

    def request(self, *paths: Path, **given: object) -> Request:
        return super().request(*paths, scope=self.scope, wiki_id=digest(self.scope)[:16], **given)

    def parts(self, store: Store) -> Parts:
        return replace(super().parts(store), archive=DatabaseArchive(store, self.scope))

    @contextmanager
    def store(self) -> Iterator[Store]:
        with open_store(self.url, now=lambda: self.now) as opened:
            yield opened


@pytest.fixture(params=["sqlite", "postgres"])
def tenants(request: pytest.FixtureRequest, tmp_path: Path) -> list[Tenant]:
    url = f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("database_url")
    tmp_path.chmod(0o700)
    open_store(url, now=lambda: NOW).close()
    return [Tenant(tmp_path / f"t{n}", shared_redactor(request), url=url, scope=scope) for n, scope in enumerate(SCOPES)]


def speak(tenant: Tenant) -> None:
    """The same session, by id, time and place, but for one word."""
    word = SCOPES[tenant.scope]
    log = ClaudeLog("same", at=NOW - timedelta(days=2))
    log.remember(f"Always call the release {word}.").user("The staging database listens on port 5433.").bash("make test", "3 passed")
    log.remember(f"The owner of staging is {word}.").save(tenant.logs)
    tenant.note("ports.md", f"# Ports\n\n- The staging database listens on port 5432 in {word}.\n")


def everything_of(tenant: Tenant, store: Store) -> str:
    """All that a reader of the scope may come by: pages, brief at each door, search in notes and turns, deliveries, readings."""
    content = content_of(store, tenant.scope, title="x", own={}, redirects={})
    hits = [h.text for words in ("release owner staging", *SCOPES.values()) for h in search(store, tenant.scope, words, limit=50, now=NOW)]
    told = [t.text for t in told_at(store, tenant.scope)]
    kept = [
        repr(x) for x in (*store.deliveries(tenant.scope), *store.all_claims(tenant.scope), *store.sessions(tenant.scope), *store.online_notes(tenant.scope))
    ]
    files = [p.read_text(encoding="utf-8") for p in sorted(tenant.wiki.rglob("*.md"))]
    return "\n".join([*files, brief(content, layout(content.items)).text, *hits, *told, *kept])


def test_nothing_crosses_between_tenants_that_dream_at_once(tenants: list[Tenant]) -> None:
    for tenant in tenants:
        speak(tenant)
    with ThreadPoolExecutor(len(tenants)) as pool:
        for outcome in pool.map(lambda each: each.dream(), tenants):
            assert outcome.report.status == "completed"
    with tenants[0].store() as store:
        for tenant in tenants:
            store.record_delivery(
                tenant.scope, Delivery(session="same", door="hook", target=SCOPES[tenant.scope], rev=1, versions=("n/a",), at=NOW, agent="claude", audience="")
            )
        seen = {tenant.scope: everything_of(tenant, store) for tenant in tenants}
        archived = {tenant.scope: store.counts(tenant.scope) for tenant in tenants}
    assert sorted(SCOPES) == sorted(seen)
    assert {scope: [w for w in SCOPES.values() if w in text] for scope, text in seen.items()} == {scope: [word] for scope, word in SCOPES.items()}
    assert len(set(map(str, archived.values()))) == 1  # each holds as much as the others, under the same ids


@pytest.mark.parametrize(
    "forged", ["/srv/other-tenant", "/home/x/../acme", "/home/x/acme\\web", "/", "/home/x/..", "/home/x/ ", "/home/x/a%2Fb", "/home/x/-_."]
)
def test_a_forged_working_directory_lands_below_the_prefix_of_who_submits(tmp_path: Path, forged: str) -> None:
    scope = planned(tmp_path, Path(forged), wikis=tmp_path / "wikis", scope="acme/web").scope
    head, _, name = scope.rpartition("/")
    assert head == "acme/web"
    assert name not in {"", ".", ".."}
    assert not set(name) & set("/\\% ")
