"""What a dream will ask and cost, before anything is spent; held against what the fake server counts and books."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pipelines.engines.claude.config import ClaudeConfig, StageModel, default_stages
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.claude.plan import LEARN_MIN, MOST, Assumed, Estimate, Past, StageEstimate, Sum, estimate, sum_of
from pipelines.engines.claude.prompts import extract
from pipelines.engines.claude.tokens import WITHIN, tokens
from pipelines.engines.local.engine import LocalEngine
from pipelines.model import Origin
from pipelines.ports import Ask, Window
from pipelines.run import asking_resolve
from tests.benchmarks.sent import windows_of as read_windows
from tests.oracle import tokens as server
from tests.oracle.gold import SCOPES, all_sessions, save
from tests.oracle.oracle import Oracle
from tests.redacting import shared_redactor
from tests.unit.engines.claude_asking import Desk, item, items, numbers
from tests.unit.engines.talk import Talk


def engine(**given: object) -> ClaudeEngine:
    return ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig(**given))  # type: ignore[arg-type]


def session(n: int) -> Window:
    talk = Talk(f"s{n}")
    for day in range(6):
        talk.user(f"Table {day} of room {n} is for guests who come after half past nine, and 请记得 window {day} 的灯要关。").assistant(
            "I shall see to it, `lamp --off`."
        )
        talk.run(f"make room N={n} DAY={day}", f"room {n}: chairs=12 tables=3\nfinished in {day}.{n} s\nLamps: off, off, on")
        talk.other(Origin.EXTERNAL, "https://example.org/rooms/17 says: rooms are open from 9:00 to 18:30 on weekdays.")
    return talk.window()


WINDOWS = [session(n) for n in range(24)]


def test_the_estimate_of_what_is_sent_is_what_the_server_counts_give_or_take_a_fifth() -> None:
    desk = Desk(lambda _: items())
    engine().read(WINDOWS, desk)
    counted = sum(server.input_tokens(ask.body) for ask in desk.asks)
    reckoned = estimate(WINDOWS, engine()).stages[0].usage
    assert 0.8 * counted < reckoned.input + reckoned.cache_written + reckoned.cache_read < 1.2 * counted


def booked(engine: ClaudeEngine, windows: Sequence[Window], answer: Callable[[Ask], str]) -> float:
    """Dollars the server books for reading the windows: as many calls at a time as the engine makes, each prompt cached once it was answered."""
    desk = Desk(answer)
    engine.read(windows, desk)
    cache, spent, now, wave = server.Cache(), 0.0, 1.0, engine.config.calls_at_once
    for at in range(0, len(desk.asks), wave):
        for ask in desk.asks[at : at + wave]:
            fresh, written, read = cache.look(ask.body, now)
            used = server.Tokens(fresh=fresh, output=server.count(answer(ask)), written=written, read=read)
            spent += float(server.dollars(str(ask.body["model"]), used))
        for ask in desk.asks[at : at + wave]:
            cache.keep(ask.body, now)
        now += 1.0
    return spent


def test_the_estimate_of_reading_is_what_the_server_books_give_or_take_a_fifth_where_the_rates_are_known() -> None:
    def answer(ask: Ask) -> str:
        return items(*(item(text, (n, text), value="9") for n, text in numbers(ask).items() if text.startswith("Table")))

    told = estimate(WINDOWS, engine(), Assumed(items_per_turn=1.0, item_tokens=170)).stages[0]
    assert told.uusd / 1e6 == pytest.approx(booked(engine(), WINDOWS, answer), rel=0.2)
    assert told.batch_uusd == pytest.approx(told.uusd / 2, rel=0.01)


def test_the_estimate_of_reading_is_what_the_server_books_give_or_take_a_fifth_for_sessions_written_for_tests(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    sessions = [session for session in all_sessions() if session.scope == SCOPES[0]]
    save(sessions, tmp_path)
    windows = tuple(read_windows([str(file) for file in sorted(tmp_path.iterdir())], shared_redactor(request)))
    oracle = Oracle(sessions=sessions)
    told = estimate(windows, engine())
    assert told.asked == len(sessions)
    assert told.stages[0].uusd / 1e6 == pytest.approx(booked(engine(), windows, lambda ask: oracle(dict(ask.body)).text), rel=0.2)


@pytest.mark.parametrize(
    "text",
    [
        extract.PROMPT.capable,
        json.dumps(extract.SCHEMA),
        "The quick brown fox jumps over the lazy dog, and nobody in the whole village minds it. " * 20,
        "以后提交信息一律用中文写，英文的同事看不懂。对了，我妹妹下个月搬去杭州。" * 20,
        "def f(x: int) -> str:\n    return f'{x:04d}' if x > 0 else ''\n\n\nclass A(B):\n    pass\n" * 20,
    ],
)
def test_tokens_of_a_text_are_told_within_a_fifth(text: str) -> None:
    assert 0.8 * server.count(text) < tokens(text) < 1.2 * server.count(text)


def test_sessions_windows_and_typed_turns_are_counted() -> None:
    silent = Talk("silent").other(Origin.HARNESS, "start").assistant("hello").window()
    told = estimate([*WINDOWS, silent], engine())
    assert (told.sessions, told.asked, told.windows, told.typed) == (25, 24, 24, 144)
    assert told.stages[0].calls == 24


def test_nothing_typed_costs_nothing() -> None:
    told = estimate([Talk("silent").assistant("hello").window()], engine())
    assert told.stages == ()
    assert told.least == told.usual == told.most == Sum(input_tokens=0, output_tokens=0, uusd=0, batch_uusd=0)


def test_a_local_server_costs_nothing_and_has_tokens_all_the_same() -> None:
    stages = {name: StageModel(model="qwen3") for name in default_stages()}
    told = estimate(WINDOWS, engine(stages=stages, paid=False, tier="small"))
    assert (told.most.uusd, told.most.batch_uusd) == (0, 0)
    assert told.least.input_tokens > 10_000
    assert all(stage.usage.cache_written == 0 for stage in told.stages)


def test_after_extraction_there_is_at_most_one_call_for_five_items() -> None:
    told: Estimate = estimate(WINDOWS, engine())
    assert sum(stage.calls for stage in told.stages[1:]) <= 144 * Assumed().items_per_turn / 5


# --- the range -------------------------------------------------------------------------------------------------------------------------------


def test_a_server_that_finds_nothing_books_the_least() -> None:
    nothing = '{"items": [], "questions": []}'
    told = estimate(WINDOWS, engine())
    assert told.least.uusd / 1e6 == pytest.approx(booked(engine(), WINDOWS, lambda _: nothing), rel=0.1)
    assert told.least.uusd < told.usual.uusd < told.most.uusd


def test_the_least_is_no_more_than_is_booked_where_fewer_tokens_are_counted_than_reckoned() -> None:
    lines = [Talk("lines").user("$ ls -la /usr/local/bin && echo done; exit 1\n" * 400).window()]
    told = estimate(lines, engine(), Assumed(items_per_turn=0))
    spent = booked(engine(), lines, lambda _: '{"items": [], "questions": []}')
    assert told.usual.uusd / 1e6 > spent
    assert told.least.uusd / 1e6 <= spent


def test_the_most_is_so_many_times_the_usual_yield() -> None:
    told = estimate(WINDOWS, engine())
    empty = sum_of(estimate(WINDOWS, engine(), Assumed(items_per_turn=0)).stages).output_tokens
    usual, most = (sum(s.usage.output for s in stages if s.stage == "extract") - empty for stages in (told.stages, estimate(WINDOWS, engine(), TWICE).stages))
    assert most == pytest.approx(MOST * usual, rel=0.01)
    assert told.most.uusd >= estimate(WINDOWS, engine(), TWICE).usual.uusd


TWICE = Assumed(items_per_turn=2 * Assumed().items_per_turn)


def test_one_window_of_a_session_and_its_copy_is_asked_about_once() -> None:
    assert estimate([WINDOWS[0], WINDOWS[0]], engine()).windows == 1


def test_a_dream_asks_about_no_more_groups_and_questions_than_a_dream_does() -> None:
    assert (Assumed().groups_max, Assumed().questions_max) == (asking_resolve.GROUPS_MAX, asking_resolve.QUESTIONS_MAX)
    insights = next(s for s in estimate(WINDOWS, engine(), Assumed(items_per_turn=500)).stages if s.stage == "insight")
    assert insights.calls == asking_resolve.GROUPS_MAX


# --- what is learnt --------------------------------------------------------------------------------------------------------------------------


def past_of(stages: Sequence[StageEstimate], times: int = 1) -> dict[str, Past]:
    """What the ledger holds after dreams that cost as these stages."""
    return {
        s.stage: Past(calls=times * s.calls, sent=times * (s.usage.input + s.usage.cache_written + s.usage.cache_read), output=times * s.usage.output)
        for s in stages
    }


def test_what_earlier_calls_came_to_is_taken_for_the_usual() -> None:
    spent = estimate(WINDOWS, engine(), Assumed(items_per_turn=2.5, pairs_per_item=0.5))
    told = estimate(WINDOWS, engine(), past=past_of(spent.stages, times=3))
    assert told.learnt == 3 * len(WINDOWS)
    assert told.usual.uusd == pytest.approx(spent.usual.uusd, rel=0.05)
    assert [(s.stage, s.calls) for s in told.stages] == [(s.stage, s.calls) for s in spent.stages]


def test_a_provider_that_never_found_anything_is_reckoned_to_find_nothing() -> None:
    plain = estimate(WINDOWS, engine())
    nothing = past_of(estimate(WINDOWS, engine(), Assumed(items_per_turn=0)).stages)
    told = estimate(WINDOWS, engine(), past=nothing)
    assert told.usual.uusd == pytest.approx(sum_of(estimate(WINDOWS, engine(), Assumed(items_per_turn=0)).stages).uusd)
    assert told.least == plain.least
    assert told.most.uusd == pytest.approx((1 + WITHIN) * told.usual.uusd, rel=0.01)


def test_a_few_calls_teach_nothing() -> None:
    few = {"extract": Past(calls=LEARN_MIN - 1, sent=10_000, output=900_000)}
    assert estimate(WINDOWS, engine(), past=few) == estimate(WINDOWS, engine())
    odd = {"check": Past(calls=500, sent=0, output=0)}
    assert estimate(WINDOWS, engine(), past=odd) == estimate(WINDOWS, engine())


def test_a_ledger_that_cannot_be_right_is_reckoned_with_and_divides_by_nothing() -> None:
    odd = {"extract": Past(calls=LEARN_MIN, sent=0, output=0), "check": Past(calls=1, sent=0, output=0), "relate": Past(calls=0, sent=0, output=0)}
    assert estimate(WINDOWS, engine(), past=odd).usual.uusd > 0
