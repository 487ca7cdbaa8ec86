"""The prompts: what they say and never say, and examples that are themselves right by the gates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import pytest

from pipelines.engines.claude.decode import Read, decode
from pipelines.engines.claude.engine import PROMPTS
from pipelines.engines.claude.prompts import answer, extract, insight, relate, support
from pipelines.engines.claude.prompts.prompt import Example, Prompt, as_json
from pipelines.engines.claude.shorten import Line
from pipelines.engines.claude.windows import Stretch
from pipelines.gates import judge, outcome
from pipelines.model import Origin, Outcome
from tests.unit.engines.claude_asking import reply
from tests.unit.engines.talk import Talk

ORIGINS = {"user": Origin.USER, "assistant": Origin.ASSISTANT, "runs": Origin.ASSISTANT, "failed": Origin.TOOL}


def stretch(example: Example) -> Stretch:
    """The log of an example as the turns it would come from."""
    talk = Talk()
    heads = []
    for number, head, text in re.findall(r"^\[(\d+)\] (\w+)[^:]*: (.*)$", example.log, re.MULTILINE):
        heads.append(head)
        talk.user(text) if head == "user" else talk.other(ORIGINS[head], text)
        assert int(number) == len(talk.turns)
    return Stretch(lines=tuple(Line(turn=turn, head=head, text=turn.text) for turn, head in zip(talk.turns, heads, strict=True)))


@pytest.mark.parametrize("example", extract.EXAMPLES, ids=lambda e: e.log[:20])
def test_the_items_of_an_example_pass_the_gates(example: Example) -> None:
    shown = stretch(example)
    read = decode(reply(as_json(example.reply)), shown, made_by="claude/1")
    assert isinstance(read, Read)
    assert read.dropped == 0
    turns = {line.turn.uid: line.turn for line in shown.lines}
    outcomes = {claim.statement: outcome(judge(claim, turns)) for claim in read.claims}
    assert len(outcomes) == len(example.reply["items"])  # type: ignore[arg-type]
    assert Outcome.REJECT not in outcomes.values(), outcomes
    assert Outcome.QUARANTINE not in outcomes.values(), outcomes


def fits(value: object, schema: Mapping[str, object]) -> bool:
    """Whether a value has the shape of a schema."""
    match schema["type"]:
        case "object":
            properties = schema["properties"]
            assert isinstance(properties, dict)
            return isinstance(value, dict) and value.keys() == properties.keys() and all(fits(value[k], s) for k, s in properties.items())
        case "array":
            inner = schema["items"]
            assert isinstance(inner, dict)
            return isinstance(value, list) and all(fits(one, inner) for one in value)
        case "string":
            words = schema.get("enum")
            return isinstance(value, str) and (words is None or value in list(words))  # type: ignore[call-overload]
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, bool)


@pytest.mark.parametrize("module", [extract, support, relate, answer, insight], ids=lambda m: m.PROMPT.stage)
def test_every_example_has_the_shape_of_its_schema_and_stands_in_its_prompt(module: object) -> None:
    prompt, examples = module.PROMPT, module.EXAMPLES  # type: ignore[attr-defined]
    for example in examples:
        assert fits(example.reply, prompt.schema)
        assert as_json(example.reply) in prompt.capable
        assert example.log in prompt.capable
    assert not re.search(r"\{(?:examples|form)\}", prompt.capable + prompt.small)


def objects(schema: object) -> Iterator[Mapping[str, object]]:
    if isinstance(schema, Mapping):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda p: p.stage)
def test_a_schema_is_small_and_asks_for_all_of_its_fields_and_no_other(prompt: Prompt) -> None:
    assert len(json.dumps(prompt.schema)) < 2_000
    for one in objects(prompt.schema):
        properties = one["properties"]
        assert isinstance(properties, dict)
        assert one["required"] == list(properties)
        assert one["additionalProperties"] is False
    assert set(re.findall(r'"type": "(\w+)"', json.dumps(prompt.schema))) <= {"object", "array", "string", "integer", "boolean"}


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda p: p.stage)
def test_a_model_may_give_no_id_time_path_scope_or_proof(prompt: Prompt) -> None:
    names = set(re.findall(r'"(\w+)": \{', json.dumps(prompt.schema)))
    assert not names & {"id", "uid", "time", "at", "date", "path", "file", "scope", "session", "verified", "verified_by", "status", "confidence"}


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda p: p.stage)
def test_a_prompt_says_that_a_log_is_only_text_and_never_to_take_failures_alone(prompt: Prompt) -> None:
    for text in (prompt.capable, prompt.small):
        assert "<log-" in text
        assert re.search(r"only text|not\s+addressed\s+to\s+you|None\s+of\s+it\s+is\s+addressed\s+to\s+you", text)
        assert not re.search(r"only (?:record|take|note|remember|save) (?:failures|errors|mistakes)|(?:failures|errors|mistakes) only", text, re.IGNORECASE)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda p: p.stage)
def test_a_prompt_for_a_capable_model_is_long_enough_to_be_cached(prompt: Prompt) -> None:
    assert len(prompt.capable) > 2_048  # characters; a token has three to four, and the smallest prompt that is cached has 512 tokens


def test_a_digest_changes_with_words_and_schema() -> None:
    one = extract.PROMPT
    assert one.digest("capable") != one.digest("small")
    assert one.digest("capable") != Prompt(stage="extract", capable=one.capable + " ", small="", schema=one.schema).digest("capable")
    assert one.digest("capable") != Prompt(stage="extract", capable=one.capable, small="", schema=relate.SCHEMA).digest("capable")
