"""Which engine dreams and what it may cost: a key alone spends nothing, and what leaves this machine was allowed to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from pipelines.engines.claude.config import INSTRUCTIONS_MAX, SMALL, default_stages
from pipelines.errors import Refused
from pipelines.run import Params
from worker import engines, wiring
from worker.cli import money
from worker.settings import BadSettings, Settings, claude_key, load

KEY = "sk-ant-not-a-real-key"
OLLAMA = "http://127.0.0.1:11434"


def settings(**claude: Any) -> Settings:
    return Settings(claude=claude)


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


# --- settings ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"), ("http://localhost:8080/v1", "http://localhost:8080"),
        ("http://[::1]:8000/v1/", "http://[::1]:8000"), ("http://127.0.0.2/proxy/v1/messages", "http://127.0.0.2/proxy"),
        (" http://localhost:1/v1x/ ", "http://localhost:1/v1x"),
    ],
)  # fmt: skip
def test_an_address_is_taken_with_or_without_v1(given: str, taken: str) -> None:
    claude = settings(base_url=given).claude
    assert (claude.base_url, claude.local, claude.costs) == (taken, True, False)


@pytest.mark.parametrize(
    "given", ["127.0.0.1:11434", "ftp://127.0.0.1", "http://", "http://127.0.0.1:x", "http://ana:s3cret@127.0.0.1/", "http://127.0.0.1/?k=s3cret"]
)
def test_what_is_no_address_is_named_and_not_shown(given: str, tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"bad setting claude\.base_url .*DREAMD_CLAUDE__BASE_URL.*must be an address") as caught:
        load_with(tmp_path, base_url=given)
    assert "s3cret" not in str(caught.value)


def load_with(home: Path, **claude: str) -> Settings:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(home))
        for name, value in claude.items():
            patch.setenv(f"DREAMD_CLAUDE__{name.upper()}", value)
        return load()


@pytest.mark.parametrize("url", ["http://10.0.0.5:8000", "https://gateway.example", "http://127.0.0.1.example", "http://localhost.example:11434"])
def test_another_machine_has_to_be_allowed_and_costs_money_unless_told_otherwise(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="allow_remote = true"):
        load_with(tmp_path, base_url=url)
    allowed = settings(base_url=url, allow_remote=True)
    assert allowed.claude.costs
    with pytest.raises(Refused, match=r"claude\.budget_usd"):
        engines.require(allowed, "claude")
    engines.require(settings(base_url=url, allow_remote=True, paid=False), "claude")


@pytest.mark.parametrize("key", ["sk with blanks", "sk-ümlaut", "sk\nx"])
def test_a_key_that_cannot_be_sent_is_refused_unseen(key: str, tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"claude\.api_key") as caught:
        load_with(tmp_path, api_key=key)
    assert key not in str(caught.value)
    with pytest.raises(BadSettings, match="ANTHROPIC_API_KEY") as told:
        claude_key(settings(), {"ANTHROPIC_API_KEY": key})
    assert key not in str(told.value)


def test_the_key_is_the_setting_s_else_the_environment_s_and_a_free_server_gets_only_the_first() -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-env"}
    assert claude_key(settings(), {}) is None
    assert claude_key(settings(), {"ANTHROPIC_API_KEY": " "}) is None
    assert "sk-env" not in repr(claude_key(settings(), environ))
    for given, wanted in (({}, "sk-env"), ({"api_key": KEY}, KEY), ({"base_url": OLLAMA, "api_key": KEY}, KEY)):
        found = claude_key(settings(**given), environ)
        assert found is not None
        assert found.get_secret_value() == wanted
    assert claude_key(settings(base_url=OLLAMA), environ) is None
    assert KEY not in repr(settings(api_key=KEY))


@pytest.mark.parametrize(
    ("name", "value"),
    [("budget_usd", "-1"), ("budget_usd", "0.0000001"), ("budget_usd", "nan"), ("day_usd", "1e9"), ("batch", "often"), ("calls_at_once", "0")],
)
def test_a_wrong_limit_stops_the_start(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=rf"claude\.{name}"):
        load_with(tmp_path, **{name: value})


# --- the choice --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claude", "engine"),
    [
        ({}, "local"), ({"api_key": KEY}, "local"), ({"api_key": KEY, "budget_usd": 0}, "local"), ({"budget_usd": 2}, "local"),
        ({"api_key": KEY, "budget_usd": 2}, "claude"), ({"api_key": KEY, "day_usd": 2}, "claude"), ({"base_url": OLLAMA}, "claude"),
        ({"base_url": OLLAMA, "paid": True}, "local"), ({"paid": False}, "local"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("no_key")
def test_auto_is_claude_only_with_a_budget_and_a_key_or_a_server_that_costs_nothing(claude: dict[str, Any], engine: str) -> None:
    choice = engines.choose(settings(**claude))
    assert choice.engine == engine
    assert choice.why


def test_a_key_that_happens_to_be_in_the_environment_spends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert engines.choose(settings()).engine == "local"
    with pytest.raises(Refused, match="--budget USD"):
        engines.require(settings(), "claude")
    assert wiring.defaults_of(settings()) == Params()


@pytest.mark.usefixtures("no_key")
def test_claude_without_a_key_names_where_to_put_one_unless_others_do_the_work() -> None:
    with pytest.raises(Refused, match=r"ANTHROPIC_API_KEY or DREAMD_CLAUDE__API_KEY"):
        engines.require(settings(budget_usd=1), "claude")
    engines.require(settings(budget_usd=1), "claude", works=False)


@pytest.mark.usefixtures("no_key")
def test_a_budget_on_the_command_line_without_a_key_is_refused_rather_than_dreamt_by_rules() -> None:
    with pytest.raises(Refused, match="has no key"):
        money.Wish(budget=1.0).choice(settings())
    assert money.Wish(budget=1.0).choice(settings(api_key=KEY)).engine == "claude"


@pytest.mark.parametrize("wish", [{"batch": True}, {"instructions": "look for tests"}])
@pytest.mark.usefixtures("no_key")
def test_what_only_a_model_can_do_is_no_option_of_the_rules(wish: dict[str, Any]) -> None:
    with pytest.raises(typer.BadParameter, match="--engine claude"):
        money.Wish(**wish).choice(settings())


@pytest.mark.usefixtures("no_key")
def test_the_budget_named_goes_over_the_setting_s_and_is_kept_to_the_millionth() -> None:
    loaded = settings(api_key=KEY, budget_usd=5, instructions="as set", batch="always")
    wish = money.Wish(engine="claude", budget=0.1)
    params = wish.params(loaded, wish.choice(loaded), Params())
    assert (params.engine, params.budget_uusd, params.batch, params.instructions) == ("claude", 100_000, True, "as set")
    plain = money.Wish(engine="local")
    assert plain.params(loaded, plain.choice(loaded), Params()) == Params()


@pytest.mark.usefixtures("no_key")
def test_only_a_nightly_dream_asks_in_batches_unless_told_otherwise_and_never_this_machine() -> None:
    paid = {"api_key": KEY, "budget_usd": 1}
    told = {
        batch: [wiring.defaults_of(settings(batch=batch, **paid), nightly=nightly).batch for nightly in (False, True)]
        for batch in ("never", "nightly", "always")
    }
    assert told == {"never": [False, False], "nightly": [False, True], "always": [True, True]}
    assert not wiring.defaults_of(settings(base_url=OLLAMA, batch="always"), nightly=True).batch
    with pytest.raises(typer.BadParameter, match="asked at once"):
        money.Wish(batch=True).choice(settings(base_url=OLLAMA))


# --- what the engine is made of ----------------------------------------------------------------------------------------------------------


def test_a_stage_is_as_its_table_says_else_as_claude_model_else_as_dreamd_has_it() -> None:
    usual = default_stages()
    assert engines.stages_of(settings().claude) == usual
    made = engines.stages_of(settings(model="one", relate={"effort": "high"}, answer={"model": "two", "max_tokens": 300}).claude)
    assert {name: stage.model for name, stage in made.items()} == {name: "two" if name == "answer" else "one" for name in usual}
    assert (made["relate"].effort, made["relate"].max_tokens, made["answer"].max_tokens) == ("high", usual["relate"].max_tokens, 300)


def test_a_server_on_this_machine_is_asked_little_at_once_in_short_words_and_for_nothing() -> None:
    loaded = settings(base_url=OLLAMA, model="qwen3:8b")
    config = engines.config_of(loaded, Params(engine="claude"))
    assert (config.tier, config.paid, config.window_bytes, config.calls_at_once) == (SMALL, False, 12_000, 2)
    assert {stage.effort for stage in config.stages.values()} == {""}
    provider = engines.provider_of(loaded)
    assert provider is not None
    assert (provider.local, provider.paid, provider.key) == (True, False, "")


def test_a_model_without_a_price_needs_one_where_it_costs_money() -> None:
    with pytest.raises(Refused, match=r"claude\.prices"):
        engines.config_of(settings(model="new-model"), Params(engine="claude"))
    priced = settings(model="new-model", prices={"new-model": {"input": 0.2, "output": "0.8"}})
    tier = engines.config_of(priced, Params(engine="claude")).prices["new-model"].tiers[0]
    assert (tier.fresh, tier.output) == (200_000, 800_000)


def test_the_limits_of_the_options_are_those_of_a_dream() -> None:
    assert money.INSTRUCTIONS_MAX == INSTRUCTIONS_MAX
    with pytest.raises(ValueError, match="at most"):
        Params(instructions="x" * (INSTRUCTIONS_MAX + 1))


@pytest.mark.parametrize(
    ("amount", "told"), [(0, "$0.00"), (1, "$0.000001"), (9_990, "$0.00999"), (10_000, "$0.01"), (1_234_567, "$1.23"), (2_000_000_000, "$2,000.00")]
)
def test_money_is_told_in_cents_and_small_money_is_not_told_as_nothing(amount: int, told: str) -> None:
    assert engines.dollars(amount) == told
