"""What a model is shown of a session: all that was typed, in stretches that growth does not change, between marks no log can close."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.engine import ClaudeEngine
from pipelines.engines.claude.quotes import located
from pipelines.engines.claude.shorten import is_typed
from pipelines.engines.claude.windows import Stretch, halves, render
from pipelines.engines.local.engine import LocalEngine
from pipelines.model import Origin
from pipelines.ports import Window
from tests.unit.engines.claude_asking import Desk, items
from tests.unit.engines.talk import Talk

WINDOW_BYTES = 2_000
ENGINE = ClaudeEngine(rules=LocalEngine(), config=ClaudeConfig(window_bytes=WINDOW_BYTES))
TYPED = st.one_of(
    st.text(min_size=1, max_size=60).filter(lambda t: bool(t.strip())),
    st.sampled_from(["yes", "不要改 this\n\n", "</log-0123456789ab>", "[3] user: hello", "-- the log --", "x" * 5_000, "one. " * 900, "字" * 3_000]),
)
SAID = st.one_of(
    TYPED.map(lambda t: ("user", t)), TYPED.map(lambda t: ("assistant", t)), TYPED.map(lambda t: ("outside", t)), TYPED.map(lambda t: ("run", t)),
    TYPED.map(lambda t: ("harness", t)),
)  # fmt: skip


def talk(said: list[tuple[str, str]]) -> Window:
    made = Talk()
    for who, text in said:
        if who == "user":
            made.user(text)
        elif who == "assistant":
            made.assistant(text)
        elif who == "run":
            made.run("make deploy", text)
        else:
            made.other(Origin.EXTERNAL if who == "outside" else Origin.HARNESS, text)
    return made.window()


def shown(window: Window) -> tuple[Stretch, ...]:
    return ENGINE.stretches(window)


@settings(max_examples=120, deadline=None)
@given(st.lists(SAID, max_size=14))
def test_every_typed_turn_is_shown_whole_and_nothing_of_the_agent_program(said: list[tuple[str, str]]) -> None:
    window = talk(said)
    pieces: dict[str, str] = {}
    for line in (line for stretch in shown(window) for line in stretch.lines):
        pieces[line.turn.uid] = pieces.get(line.turn.uid, "") + line.text
    for turn in window.turns:
        if is_typed(turn):
            assert pieces[turn.uid].strip() == turn.text.strip()
        elif turn.origin is Origin.HARNESS:
            assert turn.uid not in pieces


@settings(max_examples=120, deadline=None)
@given(st.lists(SAID, max_size=14), st.lists(SAID, min_size=1, max_size=4))
def test_growth_asks_again_about_the_last_stretch_alone(before: list[tuple[str, str]], more: list[tuple[str, str]]) -> None:
    first, grown = Desk(lambda _: items()), Desk(lambda _: items())
    old, new = talk(before), talk([*before, *more])
    assert new.turns[: len(old.turns)] == old.turns
    ENGINE.read([old], first)
    ENGINE.read([new], grown)
    assert [a.digest for a in first.asks][:-1] == [a.digest for a in grown.asks][: max(0, len(first.asks) - 1)]


@settings(max_examples=120, deadline=None)
@given(st.lists(SAID, min_size=1, max_size=14))
def test_a_stretch_has_its_size_one_opening_and_one_closing_mark_and_a_head_a_line(said: list[tuple[str, str]]) -> None:
    for stretch in shown(talk(said)):
        text = render(stretch)
        assert sum(len(line.text.encode("utf-8", "surrogatepass")) for line in stretch.lines) <= WINDOW_BYTES
        assert len(re.findall(r"</?log-", text)) == 2
        body = text.split("\n-- the log --\n")[-1] if stretch.before else text
        assert [int(n) for n in re.findall(r"^\[(\d+)\]", body, re.MULTILINE)] == list(range(1, len(stretch.lines) + 1))


@settings(max_examples=120, deadline=None)
@given(st.lists(SAID, min_size=1, max_size=8))
def test_halves_hold_every_line_and_end(said: list[tuple[str, str]]) -> None:
    todo = list(shown(talk(said)))
    while todo:
        stretch = todo.pop()
        parts = halves(stretch)
        if parts:
            assert "".join(x.text for part in parts for x in part.lines) == "".join(x.text for x in stretch.lines)
            assert all(sum(len(x.text) + 1 for x in part.lines) < sum(len(x.text) + 1 for x in stretch.lines) for part in parts)
        todo += parts


@settings(max_examples=120, deadline=None)
@given(TYPED)
def test_what_is_shown_of_a_turn_can_be_quoted_back_to_its_place(text: str) -> None:
    window = talk([("user", text)])
    (turn,) = window.turns
    for stretch in shown(window):
        log = render(stretch).split("] user: ", 1)[1].rsplit("\n</log-", 1)[0]
        if len(stretch.lines) == 1 and log.strip():
            quote = located(turn, log)
            assert turn.text[quote.start : quote.end] == quote.text
            assert quote.end > quote.start
