"""What the local engine promises for any text at all."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.engines.local.engine import LocalEngine
from pipelines.engines.local.shell import parts, shown_status
from pipelines.engines.local.worklog import work_log
from pipelines.model import Origin, Role
from pipelines.text.mood import Mood, mood_at
from tests.unit.engines.talk import Talk

PIECES = st.sampled_from(
    [
        "always", "never", "use", "pnpm", "the", "API", "listens on", "port 8080", "port 5433", "not", "5432", "I", "live in", "moved from", "Berlin", "to", "Porto", "because", "it", "that", "my", "dog", "is called",
        "Rex", "we", "decided", "until", "I say so", "?", ".", ",", ";", "\n", "> quoted", "```", "no,", "我", "住在", "上海", "以后", "一律", "不要", "，", "。", "端口是", "just kidding", "if", "maybe", "I'm", "vegetarian", "allergic to",
        "from now on", "please", "’", "…", "\u2028", "🙂", "“", "”", "C++", "`make x`", "# ", "- ", "1. ", "    ", "\t",
    ]
)  # fmt: skip
TALK = st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=30).map(" ".join))
SHELL = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            [
                "make",
                "test",
                "&&",
                "||",
                "|",
                ";",
                "&",
                "'",
                '"',
                "$(",
                ")",
                "(",
                "`",
                "\\",
                "2>&1",
                ">",
                "<<EOF",
                "EOF",
                "\n",
                "#",
                "A=1",
                "pnpm",
                "build",
                "--x",
            ]
        ),
        max_size=14,
    ).map(" ".join),
)
OUTPUT = st.one_of(st.text(max_size=80), st.sampled_from(["3 passed", "2 failed", "error: A is not set", "Compiled successfully", ""]))


@settings(max_examples=150, deadline=None)
@given(st.lists(TALK, max_size=4), st.lists(st.tuples(SHELL, OUTPUT, st.sampled_from([0, 1, None])), max_size=4))
def test_every_quote_is_verbatim_and_the_answer_is_the_same_twice(texts: list[str], runs: list[tuple[str, str, int | None]]) -> None:
    talk = Talk()
    for text in texts:
        talk.user(text)
    for command, output, exit in runs:
        talk.run(command, output, exit=exit)
    window = talk.window()
    found = LocalEngine().extract(window)
    turns = {t.uid: t for t in window.turns}
    for quote in [q for c in found.claims for q in c.quotes] + [q for question in found.questions for q in question.quotes]:
        assert quote.start < quote.end
        assert turns[quote.turn].text[quote.start : quote.end] == quote.text
    assert found == LocalEngine().extract(window)
    work_log(window)


@settings(max_examples=100, deadline=None)
@given(TALK, st.sampled_from([o for o in Origin if o is not Origin.USER]))
def test_words_of_others_give_nothing(text: str, origin: Origin) -> None:
    assert Talk().other(origin, text, Role.USER).claims() == ()


@settings(max_examples=100, deadline=None)
@given(TALK)
def test_no_claim_without_doubt_stands_on_a_question_or_a_joke(text: str) -> None:
    talk = Talk().user("hello").user(text)
    for claim in talk.claims():
        quote = claim.quotes[0]
        assert claim.doubts or mood_at(talk.turns[1].text, quote.start, quote.end) not in {Mood.QUESTION, Mood.JOKE, Mood.HYPOTHETICAL}


@settings(max_examples=100, deadline=None)
@given(TALK)
def test_quoted_text_gives_nothing(text: str) -> None:
    talk = Talk().user(text, quoted=((0, max(1, len(text))),))
    assert talk.claims() == ()


@settings(max_examples=200, deadline=None)
@given(SHELL)
def test_parts_of_a_line_stand_in_it_in_order(line: str) -> None:
    found = parts(line)
    assert all(line[p.start : p.start + len(p.text)] == p.text and p.text.startswith(p.bare) for p in found)
    assert [p.start for p in found] == sorted(p.start for p in found)
    assert set(shown_status(found)) <= set(found)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["mix test", "make build", "pnpm lint"]), st.sampled_from([" | tail", " || true", " &", "; true", " | grep x; echo"]), OUTPUT)
def test_a_hidden_status_verifies_nothing_without_the_outputs_own_summary(command: str, hiding: str, output: str) -> None:
    claims = Talk().run(command + hiding, output).claims()
    assert not claims or any(mark in output for mark in ("passed", "Compiled successfully"))
