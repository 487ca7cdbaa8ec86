"""What models may cost and have cost, by the commands a person gives, over real HTTP on loopback: dream, costs, status, doctor."""

from __future__ import annotations

import pytest

from tests.oracle.wire import Drops, Fails
from tests.paying import KEY, Home
from worker import wiring
from worker.bell import silent
from worker.crew import Crew
from worker.settings import load

# --- whether anything is asked -----------------------------------------------------------------------------------------------------------


def test_a_key_without_a_budget_asks_nothing_and_the_line_says_why(home: Home) -> None:
    code, out, err = home.dream()
    assert (code, home.server.log) == (0, ())
    assert err == "engine local: claude has neither a budget (--budget, claude.budget_usd) nor a local server (claude.base_url)\n"
    assert "(engine local/" in out
    assert home.run("costs") == (0, "no model was asked\n", "")
    assert home.told("status")["money"] is None
    code, _, err = home.dream("--engine", "claude")
    assert (code, home.server.log) == (3, ())
    assert "--budget USD" in err


def test_a_server_that_costs_nothing_is_asked_without_key_or_budget(home: Home) -> None:
    home.env.delenv("DREAMD_CLAUDE__PAID")
    home.server.key = None
    code, out, err = home.dream()
    assert code == 0
    assert "costs nothing" in err
    assert home.server.messages
    assert KEY not in {seen.key for seen in home.server.log}
    assert home.told("costs")["total"]["uusd"] == 0
    assert "claude-haiku-5-5" in home.run("costs")[1], "which model it was is told, though it cost nothing"
    assert "(engine claude/2+" in out


def test_an_engine_nobody_knows_is_a_usage_error_that_names_those_there_are(home: Home) -> None:
    code, _, err = home.dream("--engine", "oracle")
    assert code == 2
    assert "auto, local or claude" in " ".join(err.split())


# --- what it costs -----------------------------------------------------------------------------------------------------------------------


def test_the_ledger_is_what_the_provider_booked(home: Home) -> None:
    code, out, err = home.dream("--budget", "1")
    assert code == 0, err
    calls = len(home.server.answered)
    assert calls
    assert f"  asked     {calls} calls, $0.0" in out
    told = home.told("costs", "--by", "stage,model")
    assert told["total"]["calls"] == calls
    assert home.server.booked_uusd <= told["total"]["uusd"] < home.server.booked_uusd + calls
    assert told["total"]["fresh"] == sum(seen.usage.fresh for seen in home.server.answered if seen.usage)
    assert ("extract", "claude-haiku-5-5") in [(row["stage"], row["model"]) for row in told["rows"]]
    assert sum(row["calls"] for row in told["rows"]) == calls
    assert told["notes"]["confirmed"] >= 2
    assert (told["notes"]["read_by_a_model"], told["notes"]["uusd_each"]) == (0, None)
    assert home.told("status")["money"]["uusd"] == told["total"]["uusd"]
    shown = home.run("costs")[1].splitlines()
    assert shown[0].split() == ["day", "model", "calls", "fresh", "written", "cached", "output", "cost"]
    assert {line.split()[1] for line in shown if line.startswith("20")} == {row["model"] for row in told["rows"]}
    assert home.told("costs", "--since", "2999-01-01")["rows"] == []


def test_a_budget_is_not_exceeded_and_the_next_dream_goes_on(home: Home) -> None:
    code, out, _ = home.dream("--budget", "0.009")
    assert code == 0
    assert home.server.booked_uusd <= 9_000
    assert "budget    used up" in out
    code, out, _ = home.dream("--budget", "1")
    assert (code, home.server.paid_twice) == (0, ())
    assert "budget    used up" not in out


@pytest.mark.parametrize(("by", "named"), [("week", "week"), ("day,hour", "hour"), ("", "''")])
def test_what_costs_cannot_be_told_by_is_a_usage_error(home: Home, by: str, named: str) -> None:
    code, _, err = home.run("costs", "--by", by)
    assert code == 2
    assert named in err


# --- what goes wrong ---------------------------------------------------------------------------------------------------------------------


def test_a_bill_stops_the_dream_and_status_and_doctor_say_what_to_do(home: Home) -> None:
    home.server.next(*[Fails(status=402)] * 3)
    code, _, err = home.dream("--budget", "1")
    assert code in {1, 3}
    assert "bill" in err
    assert len(home.server.messages) <= 3
    code, out, _ = home.run("doctor")
    assert code == 1
    assert "calls_paused" in out
    assert "paused (billing)" in home.run("costs")[1]
    asked = len(home.server.messages)
    home.dream("--budget", "1")
    assert len(home.server.messages) == asked, "a bill is nobody's turn to try again at once"
    assert home.run("costs", "--go-on")[2] == "calls to models go on\n"
    home.dream("--budget", "1")
    assert len(home.server.messages) > asked, "the bill is paid"
    assert home.run("costs", "--go-on")[2] == "calls to models were not paused\n"


def test_a_wrong_key_is_refused_with_the_setting_to_change_and_is_not_shown(home: Home) -> None:
    home.env.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong")
    code, out, err = home.dream("--budget", "1")
    assert code == 1
    assert "DREAMD_CLAUDE__API_KEY" in out
    assert "sk-ant-wrong" not in out + err


def test_a_call_without_an_answer_is_counted_as_perhaps_paid_and_named(home: Home) -> None:
    home.server.next(Drops(accepted=True))
    assert home.dream("--budget", "1")[0] == 0
    told = home.told("costs")
    assert told["total"]["presumed"] == 1
    assert told["total"]["presumed_uusd"] > 0
    assert [call["state"] for call in told["without_an_end"]] == ["presumed"]
    shown = home.run("costs")[1]
    assert "perhaps" in shown
    assert "1 call ended with nobody listening" in shown
    code, out, _ = home.run("doctor")
    assert code == 0
    assert "note     calls_presumed" in out
    assert "perhaps" in home.run("status")[1]
    code, out, err = home.run("costs", "--not-paid")
    assert (code, "perhaps paid" in out) == (0, False)
    assert err.startswith("1 call taken as not paid: $0.")
    told = home.told("costs")
    assert (told["total"]["presumed"], told["total"]["presumed_uusd"], told["without_an_end"]) == (0, 0, [])
    assert "calls_presumed" not in home.run("doctor")[1]


def test_a_day_that_is_used_up_is_told_by_doctor(home: Home) -> None:
    home.env.setenv("DREAMD_CLAUDE__DAY_USD", "0.0102")
    home.server.next(Drops(accepted=True))
    home.dream("--engine", "claude")
    bound = home.told("costs")["total"]["presumed_uusd"]
    home.env.setenv("DREAMD_CLAUDE__DAY_USD", f"{bound / 1_000_000:.6f}")
    out = home.run("doctor")[1]
    assert "budget_used: today (UTC)" in out
    assert "claude.day_usd" in out


# --- batches -----------------------------------------------------------------------------------------------------------------------------


def test_a_dream_in_batches_is_left_to_its_batch_and_goes_on_when_it_has_ended(home: Home) -> None:
    code, _, err = home.dream("--budget", "1", "--batch")
    assert code == 1
    assert "batch is being worked on" in err
    [batch] = home.server.batches.all.values()
    assert "in flight or in a batch" in home.run("costs")[1]
    assert len(home.told("costs")["without_an_end"]) == 3
    home.server.foreign_batch(2)
    code, out, _ = home.run("doctor")
    assert "note     batch_unknown: the provider: 1 batches" in out
    assert batch.id not in out


def test_the_batch_of_a_dream_that_was_cancelled_is_stopped_and_what_it_answered_is_booked(home: Home) -> None:
    home.dream("--budget", "1", "--batch")
    [dream] = home.told("dreams", "list")["dreams"]
    assert home.run("dreams", "cancel", dream["dream"])[0] == 0
    settings = load()
    with wiring.open_only_store(wiring.place_of(home.at / "wiki", settings, create=False)) as store:
        parts = wiring.working_parts(store, settings)
        crew = Crew(engines={"claude": parts}, default="claude", ring=silent, stop=lambda: False, threads=1)
        crew.tend()
        home.server.end_batches()
        crew.tend()
        assert store.batches() == ()
        assert parts.means is not None
        parts.means.messages.close()  # type: ignore[union-attr]
    told = home.told("costs")["total"]
    assert (told["open"], told["presumed"]) == (0, 0)
    assert home.server.booked_uusd <= told["uusd"] < home.server.booked_uusd + 3


def test_a_model_that_cannot_be_reached_leaves_its_part_to_the_next_dream_and_the_rules_part_stands(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting between tries is the store's clock's: it is set forward instead."""
    monkeypatch.setattr("pipelines.run.work.BACK_OFF_S", 0.0)
    home.env.setenv("DREAMD_CLAUDE__BASE_URL", "http://127.0.0.1:9")
    code, out, err = home.dream("--budget", "1")
    assert code == 1, out + err
    assert "cannot be reached" in out
    assert "read by the rules alone" in out
