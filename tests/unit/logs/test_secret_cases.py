"""The table of `tests.benchmarks.secrets`: every secret in it is masked, no look-alike is, and forms that only look alike are told apart."""

from __future__ import annotations

import base64
import json

import pytest

from pipelines.logs.redaction import Redactor
from pipelines.logs.secret_forms import forms_at
from tests.benchmarks.secrets import LADDER, look_alikes, masked, missed, secrets, wrongly_masked
from tests.redacting import noise, shared_redactor


@pytest.fixture(scope="module")
def redactor(request: pytest.FixtureRequest) -> Redactor:
    return shared_redactor(request)


def test_the_table_is_as_large_as_it_claims() -> None:
    assert len(secrets()) >= 60
    assert len(look_alikes()) >= 40
    assert len({(c.kind, c.name) for c in secrets()}) == len(secrets())


def test_every_secret_of_the_table_is_masked(redactor: Redactor) -> None:
    assert [(case.kind, case.name) for case in missed(redactor)] == []


def test_no_look_alike_of_the_table_is_masked(redactor: Redactor) -> None:
    assert wrongly_masked(redactor) == []


def test_the_words_around_a_wrapped_or_split_secret_stay(redactor: Redactor) -> None:
    word = base64.b64encode(b"password=" + b"hun" + b"ter2!x").decode()
    assert masked(redactor, (f"data: {word} end",)) == f"data: {'*' * len(word)} end"
    assert masked(redactor, (f"https://x.example/cb?user=7&token={noise(28)}&v=2",)) == f"https://x.example/cb?user=7&token={'*' * 28}&v=2"
    assert masked(redactor, (f"the second half is {LADDER[:30]}. Then deploy.",)) == f"the second half is {'*' * 30}. Then deploy."


def test_a_key_broken_over_lines_keeps_its_line_ends(redactor: Redactor) -> None:
    key = "sk-" + "ant-api03-" + LADDER
    assert masked(redactor, (f"{key[:40]}\n{key[40:]}\nnext line",)) == f"{'*' * 40}\n{'*' * (len(key) - 40)}\nnext line"


def test_a_line_behind_a_whole_key_that_is_a_word_stays(redactor: Redactor) -> None:
    key = "gh" + "p_" + noise(36)
    assert masked(redactor, (f"{key}\nconfiguration\nDeployments",)) == f"{'*' * 40}\nconfiguration\nDeployments"


def test_a_long_word_with_many_cues_is_read_in_time_that_does_not_grow_with_their_square(redactor: Redactor) -> None:
    word = base64.b64encode(b"secret " * 50_000).decode()
    raw = json.dumps({"text": word}).encode() + b"\n"
    assert redactor.mask(raw).data == raw


def test_the_shortest_word_that_wraps_a_secret_is_found_from_any_of_its_letters() -> None:
    word = base64.b64encode(b"pass" + b"wd:h1x9!")
    assert len(word) == 16
    line = b'{"text": "run ' + word + b' now"}'
    at = line.index(word)
    assert [list(forms_at(line, at + n)) for n in range(16)] == [[(at, at + 16)]] * 16
    assert [list(forms_at(line, at - 1)), list(forms_at(line, at + 16))] == [[], []]


def test_base64_of_harmless_words_for_secrets_stays(redactor: Redactor) -> None:
    for text in ("the password is required, the token is expired", '{"password": "<password>"}', "secret: ${SECRET}", "https://user@example.org/x"):
        word = base64.b64encode(text.encode()).decode()
        assert masked(redactor, (word,)) == word
