"""What a dream would cost, told before anything is asked: nothing is sent, nothing is stored, and the provider then books about as much."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.plan import Past
from pipelines.store import CostRow
from tests.paying import Home
from tests.writing import ClaudeLog
from worker.cli.estimate import past_of


def everything(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}


@pytest.fixture
def untold(home: Home) -> Home:
    """A home with neither key nor budget."""
    home.env.delenv("ANTHROPIC_API_KEY")
    return home


def test_an_estimate_asks_nobody_stores_nothing_and_needs_neither_key_nor_budget(untold: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    before = everything(tmp_path)
    told = untold.told("estimate", str(untold.logs))
    assert (told["sessions"], told["asked"], told["windows"], told["read_before"], told["refused"]) == (3, 3, 3, 0, [])
    assert told["uusd"] > told["batch_uusd"] > 0
    assert told["budget_uusd"] % 10_000 == 0
    assert told["budget_uusd"] > told["uusd"]
    assert told["stages"][0]["stage"] == "extract"
    assert untold.server.log == ()
    assert everything(tmp_path) == before


def test_the_table_adds_up_and_ends_with_the_command_to_give(untold: Home) -> None:
    code, out, err = untold.run("estimate", str(untold.logs), "--batch")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "3 sessions to read, 3 with something typed (3 turns): 3 windows"
    assert lines[1].split("  ")[0] == "stage"
    assert "total" in out
    assert lines[-3].startswith("Windows are counted")
    assert re.fullmatch(r"\$0\.\d+ when nothing is worth a note, \$0\.\d+ when twice as much is\.", lines[-2])
    assert lines[-1].startswith(f"A budget that lasts: dreamd dream {untold.logs} --engine claude --batch --budget 0.0")


def test_the_budget_it_names_lasts_and_sessions_read_with_it_are_left_out_then(home: Home) -> None:
    budget = home.told("estimate", str(home.logs))["budget_uusd"] / 1_000_000
    code, out, _ = home.dream("--engine", "claude", "--budget", f"{budget:.2f}")
    assert code == 0
    assert "budget    used up" not in out
    ClaudeLog("four").later(days=9).user("The cache is a plain file.").save(home.logs)
    told = home.told("estimate", str(home.logs))
    assert (told["sessions"], told["read_before"]) == (1, 3)
    assert home.told("estimate", str(home.logs), "--instructions", "look for ports")["sessions"] == 4, "other instructions ask other questions"


def test_a_server_that_costs_nothing_has_tokens_and_no_dollars(untold: Home) -> None:
    untold.env.setenv("DREAMD_CLAUDE__PAID", "false")
    untold.env.setenv("DREAMD_CLAUDE__MODEL", "qwen3:8b")
    told = untold.told("estimate", str(untold.logs))
    assert (told["uusd"], told["budget_uusd"]) == (0, 0)
    assert told["input_tokens"] > 0
    out = untold.run("estimate", str(untold.logs))[1]
    assert "$" not in out
    assert "qwen3:8b" in out


def test_logs_with_nothing_typed_are_asked_nothing_about_and_what_is_no_log_is_named(untold: Home) -> None:
    empty = untold.at / "empty"
    empty.mkdir()
    code, out, _ = untold.run("estimate", str(empty))
    assert (code, out.splitlines()[-1]) == (1, "A model would be asked nothing.")
    (empty / "x.jsonl").write_text(json.dumps({"what": "ever"}) + "\n")
    code, out, _ = untold.run("estimate", str(empty / "x.jsonl"))
    assert code == 1
    assert "x.jsonl" in out
    code, _, err = untold.run("estimate", str(untold.at / "nowhere"))
    assert code == 2
    assert "does not exist" in err


def test_a_model_without_a_price_is_refused_by_name(untold: Home) -> None:
    untold.env.setenv("DREAMD_CLAUDE__MODEL", "someone-s-model")
    code, _, err = untold.run("estimate", str(untold.logs))
    assert code == 3
    assert "someone-s-model" in err
    assert "claude.prices" in err


def test_the_dream_costs_what_is_told_for_one_in_which_nothing_is_worth_a_note(home: Home) -> None:
    told = home.told("estimate", str(home.logs))
    assert home.dream("--engine", "claude", "--budget", "1")[0] == 0
    spent = home.told("costs")["total"]
    assert 0 < spent["uusd"] <= 1.2 * told["least"]["uusd"]  # this server answers so fast that the later calls find the prompt in the cache
    assert spent["fresh"] + spent["written"] + spent["cached"] == pytest.approx(told["least"]["input_tokens"], rel=0.2)
    assert told["most"]["uusd"] > told["uusd"] > told["least"]["uusd"]


def test_the_yield_is_learnt_from_calls_of_the_same_model_and_no_other() -> None:
    made = ClaudeConfig()
    model = made.stages["extract"].model
    rows = (
        CostRow(stage="extract", model=model, calls=30, fresh=100, written=20, cached=3, output=7),
        CostRow(stage="extract", model="another", calls=500, fresh=1, output=9_000),
        CostRow(stage="gone", model=model, calls=1),
    )
    assert past_of(rows, made) == {"extract": Past(calls=30, sent=123, output=7)}


def test_a_store_with_enough_calls_says_that_it_was_learnt_from(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home.dream("--engine", "claude", "--budget", "1")[0] == 0
    ClaudeLog("four").later(days=9).user("The cache is a plain file.").save(home.logs)
    assert home.told("estimate", str(home.logs))["learnt_from_calls"] == 0
    monkeypatch.setattr("pipelines.engines.claude.plan.LEARN_MIN", 3)
    assert home.told("estimate", str(home.logs))["learnt_from_calls"] == 3
    assert "reckoned by what 3 earlier calls came to;" in home.run("estimate", str(home.logs))[1]
