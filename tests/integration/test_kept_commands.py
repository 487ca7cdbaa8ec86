"""dreamd letters and dreamd audit: what was kept for a person to look at can be looked at."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.dreaming import NOW, SCOPE, Desk
from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.cli import run

Command = Callable[..., str]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def dreamd(desk: Desk, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command over the desk's store; what it printed."""
    monkeypatch.setenv("DREAMD_DATABASE_URL", desk.url)
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))

    def command(*arguments: str) -> str:
        capsys.readouterr()
        assert run(list(arguments)) == 0
        return capsys.readouterr().out

    return command


def test_letters_are_listed_newest_first_masked_on_one_line_and_cut(desk: Desk, dreamd: Command) -> None:
    assert "no letter" in dreamd("letters")
    with desk.store() as store:
        store.keep_letter("submit", "version: should be 1", '{"version": 2}')
        store.keep_letter("redis", "there is no such field", f"\x1b[31mtoken {SECRET}\n\u202e端口 " + "x" * 500)
    newest, older = json.loads(dreamd("letters", "--json"))["letters"]
    assert older == {"door": "submit", "at": NOW.isoformat(), "why": "version: should be 1", "begins": '{"version": 2}'}
    assert (newest["door"], len(newest["begins"]), "端口 xxx" in newest["begins"]) == ("redis", 200, True)
    text = dreamd("letters")
    assert "2026-04-01 07:00:00  redis: there is no such field\n" in text
    for said in (text, newest["begins"]):
        assert SECRET not in said
        assert "\x1b" not in said
        assert "\u202e" not in said


def test_the_audit_tells_who_asked_applied_and_took_back(desk: Desk, dreamd: Command) -> None:
    assert "nobody asked" in dreamd("audit")
    ClaudeLog("one").user("Always run migrations with `make migrate`.").save(desk.logs)
    planned = desk.dream(dry_run=True).report.dream
    desk.apply(planned)
    with desk.store() as store:
        other = store.request(SCOPE, request_id="r", params={}, cause="platform", hand="ana\n\x1b[2J").dream
        assert other is not None
        store.cancel(SCOPE, other, "lee")
    told = json.loads(dreamd("audit", "--json", "--scope", SCOPE))["audit"]
    assert [(a["verb"], a["about"]) for a in told] == [("request", planned), ("apply", planned), ("request", other), ("cancel", other)]
    text = dreamd("audit", "--scope", SCOPE)
    assert f"2026-04-01 07:00:00  apply    {planned}  by command\n" in text
    assert f"cancel   {other}  by lee\n" in text
    assert "\x1b" not in text
    assert "nobody asked" in dreamd("audit", "--scope", "acme/elsewhere")


@pytest.mark.parametrize("command", [("audit",), ("dreams", "list")])
def test_a_scope_without_dreams_is_named_with_those_the_store_holds(desk: Desk, dreamd: Command, command: tuple[str, ...]) -> None:
    ClaudeLog("one").user("Always run migrations with `make migrate`.").save(desk.logs)
    desk.dream()
    assert dreamd(*command, "--scope", "acme/elsewhere").endswith(f" in acme/elsewhere yet; the store holds {SCOPE}: --scope names one\n")
    assert "yet" not in dreamd(*command, "--scope", SCOPE)
