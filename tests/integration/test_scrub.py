"""Newer rules for secrets over what was taken in by older ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pipelines.logs.redaction import Redactor
from pipelines.run.forgetting import Forgot, scrub
from pipelines.run.verify import verify
from tests.auditing import files_with, tables_with
from tests.dreaming import SCOPE, Desk, lines_with
from tests.writing import ClaudeLog

SECRET = "zanzibarquux"


@dataclass
class Newer:
    """The rules there are, and one more."""

    rules: Redactor
    version: str = "newer"

    def mask(self, data: bytes, looked: Any = None) -> Any:
        masked = self.rules.mask(data) if looked is None else self.rules.mask(data, looked)
        return replace(masked, data=masked.data.replace(SECRET.encode(), b"X" * len(SECRET)))

    def look(self, data: bytes) -> Any:
        return self.rules.look(data)


def scrubbed(desk: Desk, *, look: bool = False) -> Forgot | None:
    with desk.store() as store:
        parts = replace(desk.parts(store), redactor=Newer(desk.redactor))  # type: ignore[arg-type]
        return scrub(parts, desk.request(), hand="test", look=look)


def everywhere(desk: Desk) -> list[str]:
    with desk.store() as store:
        return tables_with(store, SECRET) + files_with([desk.data, desk.wiki], SECRET)


def test_a_secret_that_newer_rules_know_is_masked_in_store_archive_and_wiki_and_nothing_else_is_lost(desk: Desk) -> None:
    ClaudeLog("one").user(f"The staging host is called {SECRET}.").user("The staging database listens on port 5433.").save(desk.logs)
    ClaudeLog("two").later(days=1).user("The API listens on port 8080.").save(desk.logs)
    desk.dream()
    assert {"turns.body", "quotes.text"} <= set(everywhere(desk))
    looked = scrubbed(desk, look=True)
    assert everywhere(desk)
    done = scrubbed(desk)
    assert done is not None
    assert looked is not None
    assert (done.counts, done.left) == (looked.counts, ())
    assert everywhere(desk) == []
    assert lines_with(desk.pages(), "5433")
    assert lines_with(desk.pages(), "8080")
    assert lines_with(desk.pages(), "X" * len(SECRET))
    with desk.store() as store:
        assert verify(store, SCOPE, desk.parts(store).archive).failed == ()
    assert scrubbed(desk) is None


def test_what_the_rules_of_intake_masked_needs_no_scrub(desks: Callable[[], Desk]) -> None:
    desk = desks()
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ClaudeLog("one").user(f"Use the token {key} for now.").bash(f"curl -H 'Authorization: token {key}' https://api.example.com", "ok").save(desk.logs)
    desk.dream()
    with desk.store() as store:
        assert scrub(desk.parts(store), desk.request(), hand="test") is None
