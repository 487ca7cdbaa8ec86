"""Commands a note tells to run, against the runs of the logs: one that a later run shows failing makes the note one to check again. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pipelines.model import Claim, Kind, OrderKey
from pipelines.text.slots import PROGRAMS

ITS_COMMAND_FAILED: Final = "its_command_failed_since"
"""`Finding.why` of a note whose command a later log shows failing; `corrected` is then the command that worked in its place, where one is known."""
WORDS_MAX: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One claim of a command's run, with its place among all that was said."""

    claim: Claim
    order: OrderKey

    @property
    def failed(self) -> bool:
        """Whether its session left the command failing."""
        return self.claim.negated

    @property
    def command(self) -> str:
        """The command as it was typed."""
        return self.claim.value or ""


def is_run(claim: Claim) -> bool:
    """Whether a claim tells how a command ended."""
    return claim.kind is Kind.PROCEDURE and claim.attribute == "command" and bool(claim.value) and claim.verified_by == "exit_status"


def commands_in(text: str) -> tuple[str, ...]:
    """What may be a command a note tells to run: its words in code, else those from the name of a program on. None where the note speaks of failing, or denies."""
    if _SAYS_SO.search(text):
        return ()
    spans = [" ".join(m[1].split()) for m in _CODE.finditer(text)]
    return tuple(dict.fromkeys(spans or _bare(text)))


_CODE = re.compile(r"`([^`\n]+)`")
_SAYS_SO = re.compile(
    r"\b(?:fail\w*|br[oe]ak\w*|broken|not|never|no longer|instead|missing|deprecated|obsolete|avoid|without)\b|n['’]t\b|失败|不|别|没有|弃用", re.IGNORECASE
)


def _bare(text: str) -> Iterator[str]:
    words = text.rstrip(" .。!").split()
    for at, word in enumerate(words):
        if word.casefold() in PROGRAMS:
            tail = words[at : at + WORDS_MAX]
            yield from (" ".join(tail[:n]) for n in range(len(tail), 1, -1))


def last_failure(command: str, runs: Iterable[Ran]) -> Ran | None:
    """The run that shows a command failing, when that is the last that is known of it; None when it works, or no order tells which was last."""
    mine = [r for r in runs if r.command == command and r.order.known]
    last = max(mine, key=lambda r: r.order.sort, default=None)
    return last if last is not None and last.failed and not any(r.order.sort == last.order.sort and not r.failed for r in mine) else None


def working_instead(failed: Ran, runs: Sequence[Ran]) -> Ran | None:
    """The command that did what the failed one is for: the same task, another command, and it works since; the one that worked most often, then the newest."""
    task = _task_of(failed.command)
    working: dict[str, list[Ran]] = {}
    for run in runs:
        if not run.failed and run.order.known and run.command != failed.command and task and _task_of(run.command) == task:
            working.setdefault(run.command, []).append(run)
    alive = {c: found for c, found in working.items() if last_failure(c, runs) is None and max(r.order.sort for r in found) > failed.order.sort}
    best = max(sorted(alive), key=lambda c: (len(alive[c]), max(r.order.sort for r in alive[c])), default=None)
    return None if best is None else max(alive[best], key=lambda r: r.order.sort)


def _task_of(command: str) -> frozenset[str]:
    """What a command is for, as far as its words say: `npm run test`, `npm test` and `make test` all test."""
    return frozenset(w for w in command.split()[1:] if not w.startswith("-")) - {"run"}


def by_command(runs: Iterable[Ran]) -> Mapping[str, tuple[Ran, ...]]:
    """Runs by the command they ran."""
    out: dict[str, tuple[Ran, ...]] = {}
    for run in runs:
        out[run.command] = (*out.get(run.command, ()), run)
    return out
