"""A prompt with its reply schema, and the request made of it: the same words give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.engines.claude.config import CAPABLE, ClaudeConfig
from pipelines.engines.claude.prices import bound_uusd
from pipelines.model import digest
from pipelines.ports import Ask

Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question in two tiers, booked under `stage`; replies to both have the shape of `schema`."""

    stage: str
    capable: str
    small: str
    schema: Schema

    def text(self, tier: str) -> str:
        """The system prompt of a tier."""
        return self.capable if tier == CAPABLE else self.small

    def digest(self, tier: str) -> str:
        """Content identity of the prompt and its reply schema: its version in the journal."""
        return digest(self.text(tier), json.dumps(self.schema, sort_keys=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A log, as it stands between its marks, with the reply it should get and, if need be, why nothing else."""

    log: str
    reply: Mapping[str, object]
    remark: str = ""


def shown(example: Example) -> str:
    """The example as a prompt holds it."""
    mark = f"log-{digest(example.log)[:12]}"
    return "\n\n".join(part for part in (f"<{mark}>\n{example.log}\n</{mark}>", as_json(example.reply), example.remark) if part)


def as_json(reply: Mapping[str, object]) -> str:
    """A reply as a model writes it."""
    return json.dumps(reply, ensure_ascii=False)


def ask_of(prompt: Prompt, config: ClaudeConfig, content: str, *, name: str, turns: Sequence[str], attempt: int = 1) -> Ask:
    """The request that puts `content` to the stage's model. `turns` are the uids of all turns whose text `content` holds."""
    body = body_of(prompt, config, content)
    size = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    stage = config.stages[prompt.stage]
    bound = bound_uusd(stage.model, size, stage.max_tokens, batch=config.batch, prices=config.all_prices) if config.paid else 0
    return Ask(
        stage=prompt.stage, name=name, body=body, prompt=prompt.digest(config.tier), turns=tuple(dict.fromkeys(turns)), bound_uusd=bound, attempt=attempt
    )  # fmt: skip


def body_of(prompt: Prompt, config: ClaudeConfig, content: str) -> Mapping[str, object]:
    """The JSON of a Messages request: what is alike in all requests of a stage first, so that it is cached; no tools."""
    stage = config.stages[prompt.stage]
    system: list[dict[str, object]] = [{"type": "text", "text": prompt.text(config.tier)}]
    if config.instructions:
        system.append({"type": "text", "text": f"Instructions of the person whose memory this is, for this run:\n\n{config.instructions}"})
    body: dict[str, object] = {"model": stage.model, "max_tokens": stage.max_tokens, "system": system, "messages": [{"role": "user", "content": content}]}
    if config.tier == CAPABLE:
        for block in system:
            block["cache_control"] = {"type": "ephemeral"}
        form = {"format": {"type": "json_schema", "schema": prompt.schema}}
        body["output_config"] = {"effort": stage.effort, **form} if stage.effort else form
    return body


def many(properties: Mapping[str, Schema]) -> Schema:
    """A list of objects with exactly these fields."""
    return {"type": "array", "items": obj(properties)}


def obj(properties: Mapping[str, Schema]) -> Schema:
    """An object with exactly these fields."""
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
YES: Schema = {"type": "boolean"}


def one_of(*words: str) -> Schema:
    """One of a few words."""
    return {"type": "string", "enum": list(words)}
