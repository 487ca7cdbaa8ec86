"""The Claude engine: the claims of the rules, and beside them what a model reads, checks, relates, answers and infers.

Each question is prepared (pure), asked through the `Asking` port, and decoded (pure). Whatever a model says passes the same gates as what rules say; it sees
turns by numbers of their own, and never an id, a path or a scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.engines.claude.answering import answers
from pipelines.engines.claude.asked import Found, Gap, Group, Inferred, Pair, Related, Supported
from pipelines.engines.claude.config import ClaudeConfig
from pipelines.engines.claude.decode import Read, decode
from pipelines.engines.claude.inferring import insights
from pipelines.engines.claude.judging import relations, supports
from pipelines.engines.claude.meet import beside
from pipelines.engines.claude.prompts import answer, extract, insight, relate, support
from pipelines.engines.claude.prompts.prompt import ask_of
from pipelines.engines.claude.rounds import Ended, Job, in_rounds
from pipelines.engines.claude.shorten import Shortened, is_typed, shorten
from pipelines.engines.claude.windows import Stretch, cut, halves, render
from pipelines.model import digest
from pipelines.ports import Ask, Asking, Engine, Extracted, Left, Window

DUMP = "dump"
"""`Left.why` of tool traffic that was shown in part or not at all: it can be read again where it came from."""
PROMPTS = (extract.PROMPT, support.PROMPT, relate.PROMPT, answer.PROMPT, insight.PROMPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeEngine:
    """An `Engine` that asks a model beside the rules. `name` changes with whatever changes what is asked or how it is read."""

    rules: Engine
    config: ClaudeConfig
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"claude/2+{_fingerprint(self.config, self.rules.name)}")

    def extract(self, window: Window) -> Extracted:
        """What the rules alone read."""
        return self.rules.extract(window)

    def read(self, windows: Sequence[Window], asking: Asking) -> tuple[Extracted, ...]:
        """What rules and model read in each session, in order. Raises what `asking` raises; then nothing was read, and what was answered is recorded."""
        shown = [self._shown(window) for window in windows]
        ruled: dict[int, Extracted] = {}
        aside = (ruled.setdefault(n, self.rules.extract(window)) for n, window in enumerate(windows))
        ended = in_rounds([self._cut(short) for short in shown], self._reading(), asking, aside)
        return tuple(
            Extracted(unread=why) if (why := _unasked(ends)) else _extracted(window, ruled.get(n) or self.rules.extract(window), ends, short)
            for n, (window, ends, short) in enumerate(zip(windows, ended, shown, strict=True))
        )

    def stretches(self, window: Window) -> tuple[Stretch, ...]:
        """What of a session a model is asked about: nothing of one in which nobody typed."""
        return self._cut(self._shown(window))

    def _shown(self, window: Window) -> Shortened:
        return shorten(window.turns) if any(map(is_typed, window.turns)) else Shortened(lines=(), dumps=())

    def _cut(self, short: Shortened) -> tuple[Stretch, ...]:
        return cut(short.lines, self.config.window_bytes)

    def supports(self, items: Sequence[Supported], asking: Asking) -> Sequence[str]:
        """Whether the words of each claim carry its statement: "yes", "no", "unsure", or "unasked" where a budget was used up."""
        return supports(items, self.config, asking)

    def relate(self, pairs: Sequence[Pair], asking: Asking) -> Sequence[Related]:
        """How the newer claim of each pair stands to the older; code refuses what it can show to be two things."""
        return relations(pairs, self.config, asking)

    def answer(self, gaps: Sequence[Gap], asking: Asking) -> Sequence[Found]:
        """The claim that answers each question, quoted from one of its candidates and still to pass the gates, or why there is none."""
        return answers(gaps, self.config, asking, made_by=self.name)

    def infer(self, groups: Sequence[Group], asking: Asking) -> Sequence[Inferred]:
        """What each group of claims shows together: claims of kind insight with the doubt "inferred", resting on three pieces of two sessions."""
        return insights(groups, self.config, asking, made_by=self.name)

    def _reading(self) -> Job[Stretch, Read]:
        return Job(ask=self._ask, decode=lambda stretch, reply: decode(reply, stretch, made_by=self.name), halves=halves)

    def _ask(self, stretch: Stretch, attempt: int) -> Ask:
        first, last = stretch.lines[0].turn, stretch.lines[-1].turn
        name = f"session {first.session[:12]}, turns {first.ordinal + 1} to {last.ordinal + 1}"
        return ask_of(extract.PROMPT, self.config, extract.content(render(stretch)), name=name, turns=stretch.turns, attempt=attempt)


def _unasked(ends: Sequence[Ended[Stretch, Read]]) -> str:
    """Why a session was not asked about to the end; "" for one that was."""
    return next((end.why for end in ends if not end.asked), "")


def _extracted(window: Window, ruled: Extracted, ends: Sequence[Ended[Stretch, Read]], shown: Shortened) -> Extracted:
    """What rules and model read in a session, together."""
    reads = [end.result for end in ends if end.result is not None]
    fresh = beside(ruled.claims, (claim for read in reads for claim in read.claims), {t.uid: t for t in window.turns})
    claims = {claim.uid: claim for claim in (*fresh, *ruled.claims)}  # of one claim the rule's reading stands
    questions = dict.fromkeys((*ruled.questions, *(question for read in reads for question in read.questions)))
    return Extracted(
        claims=tuple(claims.values()), questions=tuple(questions), left=_left(ends, shown.dumps), dropped=sum(read.dropped for read in reads),
    )  # fmt: skip


def _left(ends: Sequence[Ended[Stretch, Read]], dumps: tuple[str, ...]) -> tuple[Left, ...]:
    """The turns that were not read for good, by reason."""
    found: dict[str, dict[str, None]] = {DUMP: dict.fromkeys(dumps)}
    for end in ends:
        if end.result is None:
            found.setdefault(end.why, {}).update(dict.fromkeys(line.turn.uid for line in end.unit.lines))
    return tuple(Left(why=why, turns=tuple(turns)) for why, turns in found.items() if turns)


def _fingerprint(config: ClaudeConfig, rules: str) -> str:
    """Eight characters that change with models, prompts, tier, instructions, the size of windows and the rules."""
    stages = (f"{name}={stage.model}/{stage.effort}/{stage.max_tokens}" for name, stage in sorted(config.stages.items()))
    prompts = (prompt.digest(config.tier) for prompt in PROMPTS)
    return digest(rules, config.tier, config.instructions, str(config.window_bytes), *stages, *prompts)[:8]
