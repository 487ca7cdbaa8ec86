"""Gate for who speaks, where several people do: rules of somebody who is new in the scope, and what anybody of them says of money, permissions and
credentials, wait for a person. Which speakers are new is no property of a claim and its turns, so this gate is asked apart from the others, again whenever
that changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime

from pipelines.model import Claim, GateResult, Kind, Origin, Outcome, Turn
from pipelines.text.voices import voice_of

from .evidence import located, result
from .norms import normative, waiving
from .orders import addressed, imperative
from .sensitive import SENSITIVE, sensitive
from .unveil import plainly

SPEAKER = "speaker"
"""The gate's name."""
NEWCOMER = "new_speaker"
_OF_THEMSELVES = re.compile(r"(?<!\w)(?:i|i['’]\w+|my|me|mine|ich|mein\w*|yo|mi|mis|я|мой|моя|мне|je|mon|ma)(?!\w)|我", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """A session with its copies and forks: when the first of them began (None: unknown), and who speaks in them, as `voice_of` has the names."""

    began: datetime | None
    voices: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Who speaks in a scope: whether several named people do, and who is new where, as (root of the session's lineage, voice)."""

    several: bool = False
    new: frozenset[tuple[str, str]] = frozenset()


def company_of(lineages: Mapping[str, Lineage]) -> Company:
    """Who is new where: whoever was heard in no other session that clearly began earlier. Nobody is among fewer than two."""
    named: dict[str, list[tuple[str, datetime | None]]] = {}
    for root, lineage in lineages.items():
        for voice in lineage.voices:
            named.setdefault(voice, []).append((root, lineage.began))
    if len(named) < 2:
        return Company()
    return Company(several=True, new=frozenset((root, voice) for voice, heard in named.items() for root in _first(heard)))


def _first(heard: list[tuple[str, datetime | None]]) -> list[str]:
    """The sessions before which the speaker was not heard; of one without a time nothing says that it came later."""
    earliest = min((began for _, began in heard if began is not None), default=None)
    return [root for root, began in heard if began is None or began == earliest]


def speaker_gate(claim: Claim, turns: Mapping[str, Turn], company: Company, roots: Mapping[str, str]) -> GateResult:
    """QUARANTINE where the company makes a person's words wait. `roots` gives the root of each session's lineage."""
    if not company.several:
        return result(SPEAKER)
    said = [one for one in located(claim, turns) if one.origin is Origin.USER and one.turn.speaker]
    texts = [plainly(text) for text in (claim.statement, claim.value or "", *(one.quote.text for one in said)) if text]
    if said and any(sensitive(text) for text in texts):
        return result(SPEAKER, Outcome.QUARANTINE, SENSITIVE)
    pairs = {(roots.get(one.turn.session, one.turn.session), voice_of(one.turn.speaker or "")) for one in said}
    if not pairs.isdisjoint(company.new) and (claim.kind is Kind.RULE or any(map(_is_rule, texts))):
        return result(SPEAKER, Outcome.QUARANTINE, NEWCOMER)
    return result(SPEAKER)


def _is_rule(text: str) -> bool:
    """Whether a text says what others are to do, in whatever kind a claim puts it; what somebody always does themselves is no rule."""
    return addressed(text) or waiving(text) or imperative(text) or (normative(text) and not _OF_THEMSELVES.search(text))


def voices_changed(before: Company, after: Company, lineages: Mapping[str, Lineage]) -> Set[str]:
    """Roots of the lineages of which this gate may say something else than before."""
    if before.several != after.several:
        return {root for root, lineage in lineages.items() if lineage.voices}
    return {root for root, _ in before.new ^ after.new}
