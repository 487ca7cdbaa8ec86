"""Reading sessions with an engine that asks a model: all sessions of a unit side by side, then the claims the gates would believe are checked.

What gates cannot see is whether a sentence says what its quote says. So each claim a model made that nothing speaks against is put before a model once more,
which is told neither who made it nor why: unless that one agrees, the claim is a draft.

Where code finds nothing but wording between a sentence and its quote (every value, name, denial, mood and person agrees) gates cannot decide: such a sentence is
put to the check too, and with a yes it is believed as what it is, a model's words for what was said. It weighs no more than an inference, so that nothing said
in a person's own words is overturned by it.

What a person said in passing ("the case for the new phone came too late") implies a value in words of its own. Such a claim is a draft whatever is answered,
yet with a yes it is said of the thing: enough to have the value that stands looked at again, and nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from pipelines.engines.claude.asked import NO, UNASKED, UNSURE, YES, Evidence, Supported
from pipelines.gates import SAID_ONCE, first_missed, outcome
from pipelines.gates.follows import FREELY_WORDED, REWORDED, only_reworded
from pipelines.model import Claim, GateResult, Kind, Outcome, Turn
from pipelines.ports import Asking, Engine, Extracted, Window
from pipelines.run.parts import Params
from pipelines.run.reading import SessionReading, Unread, reading_of
from pipelines.stages.extractor import Judged, judge_all

SUPPORT = "support"
"""The gate that asks."""
WHY: Mapping[str, str] = {NO: "not_supported", UNSURE: "support_unsure", UNASKED: "supportunasked"}
"""What keeps a claim a draft, by the answer."""


class Reader(Engine, Protocol):
    """An engine that reads by asking, beside rules that ask nobody."""

    @property
    def rules(self) -> Engine:
        """The rules."""

    def read(self, windows: Sequence[Window], asking: Asking) -> Sequence[Extracted]:
        """One answer a window, in order."""

    def supports(self, items: Sequence[Supported], asking: Asking) -> Sequence[str]:
        """Whether the words of each claim carry its statement."""


_IMPLIES = frozenset({"inferred", FREELY_WORDED, "not_said_of_oneself", SAID_ONCE})
"""What a claim may miss that says what its words imply."""
_WORDING = frozenset({FREELY_WORDED, "not_said_of_oneself"})
"""What a yes makes up for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read of some sessions, and which are left to a later dream, each with why; of those the rules' readings stand here."""

    readings: tuple[SessionReading, ...]
    unread: tuple[tuple[str, str], ...] = ()


def asks(engine: Engine) -> bool:
    """Whether an engine reads by asking."""
    return hasattr(engine, "read")


def read_asking(engine: Engine, windows: Sequence[Window], of: Sequence[Unread], params: Params, asking: Asking) -> Read:
    """Ask about all these sessions at once and judge the answers. Of a session that was not asked about to the end only what the rules read is kept."""
    reader = cast(Reader, engine)
    answers = tuple(zip(windows, reader.read(windows, asking), of, strict=True))
    read = [(window, told, session) for window, told, session in answers if not told.unread]
    judged = checked(reader, [(judge_all(told, window), {t.uid: t for t in window.turns}) for window, told, _ in read], asking)
    readings = [
        reading_of(engine, window, told, claims, session, params, whole=not any(unasked(j) for j in claims))
        for (window, told, session), claims in zip(read, judged, strict=True)
    ]
    left = [(window, told.unread, session) for window, told, session in answers if told.unread]
    return Read(
        readings=(*readings, *(_by_rules(reader, window, session, params) for window, _, session in left)),
        unread=tuple((session.session, why) for _, why, session in left),
    )


UNREACHABLE = "unreachable"
"""Why sessions are left to a later dream whose model could not be reached."""


def read_without(engine: Engine, windows: Sequence[Window], of: Sequence[Unread], params: Params) -> Read:
    """What the rules read of these sessions while nobody can be asked; the model's part is a later dream's."""
    reader = cast(Reader, engine)
    readings = tuple(_by_rules(reader, window, session, params) for window, session in zip(windows, of, strict=True))
    return Read(readings=readings, unread=tuple((session.session, UNREACHABLE) for session in of))


def _by_rules(reader: Reader, window: Window, session: Unread, params: Params) -> SessionReading:
    """The rules' reading under their own name: it takes nothing of an earlier one by the model away, and the model has not read the session."""
    told = reader.rules.extract(window)
    return reading_of(reader.rules, window, told, judge_all(told, window), session, params)


def checked(reader: Reader, sessions: Sequence[tuple[Sequence[Judged], Mapping[str, Turn]]], asking: Asking) -> tuple[tuple[Judged, ...], ...]:
    """Judged claims of some sessions, with their turns, after the model's own were put before a model once more."""
    wanted = [(n, j.claim.uid, supported(j.claim, turns)) for n, (claims, turns) in enumerate(sessions) for j in claims if _to_check(j, reader.name, turns)]
    words = reader.supports([item for _, _, item in wanted], asking) if wanted else ()
    said = {(n, uid): word for (n, uid, _), word in zip(wanted, words, strict=True)}
    return tuple(tuple(_after(j, said.get((n, j.claim.uid))) for j in claims) for n, (claims, _) in enumerate(sessions))


def supported(claim: Claim, turns: Mapping[str, Turn]) -> Supported:
    """A claim with its evidence read again from the log."""
    return Supported(claim=claim, contexts=tuple(Evidence(quote=q, turn=turns[q.turn]) for q in claim.quotes if q.turn in turns))


def _to_check(judged: Judged, engine: str, turns: Mapping[str, Turn]) -> bool:
    """Claims of the model that stand, or would once a second session says the same; those nothing but wording keeps from it; and what a person implied of a
    thing that has one value."""
    if judged.claim.made_by != engine or judged.outcome not in {Outcome.PASS, Outcome.DRAFT}:
        return False
    missed = _missed(judged)
    return missed <= {SAID_ONCE} or (missed <= _REWORDED and only_reworded(judged.claim, turns)) or _is_implied(judged)


_REWORDED = frozenset({FREELY_WORDED, SAID_ONCE})


def _missed(judged: Judged) -> frozenset[str]:
    return frozenset(r.why for r in judged.results if r.outcome is not Outcome.PASS)


def _is_implied(judged: Judged) -> bool:
    claim = judged.claim
    valued = claim.value is not None and claim.cardinality == "single" and claim.kind in {Kind.FACT, Kind.PREFERENCE} and "inferred" in claim.doubts
    return valued and judged.outcome is Outcome.DRAFT and _missed(judged) <= _IMPLIES


def _after(judged: Judged, word: str | None) -> Judged:
    """The claim with the check's word. A yes makes up for wording, and says so."""
    if word is None:
        return judged
    worded = _missed(judged) & _WORDING
    if word == YES:
        results = (*(r for r in judged.results if r.why not in worded), GateResult(gate=SUPPORT, outcome=Outcome.PASS, why=REWORDED if worded else ""))
    else:
        results = (*judged.results, GateResult(gate=SUPPORT, outcome=Outcome.DRAFT, why=WHY[word]))
    return replace(judged, results=results, outcome=outcome(results), missed=first_missed(results))


def checked_as(judged: Judged, results: Sequence[GateResult]) -> Judged:
    """A judged claim with the word the check gave on it before, as these results have it; as it is where it was never asked about."""
    gate = next((r for r in results if r.gate == SUPPORT), None)
    if gate is None:
        return judged
    return _after(judged, YES if gate.outcome is Outcome.PASS else next(word for word, why in WHY.items() if why == gate.why))


def unasked(judged: Judged) -> bool:
    """Whether a budget kept a claim from being checked."""
    return any(r.gate == SUPPORT and r.why == WHY[UNASKED] for r in judged.results)
