"""What a note needs to stand on a page, kind by kind (DESIGN §3, routing 3): confirmed, or a draft that names the first criterion it missed."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.gates import SAID_ONCE
from pipelines.model import Kind, Origin, Outcome, Status, Witnessed

PERSON = "person"
"""`verified_by` of what a person approved or wrote."""

Verdict = tuple[Status, str]
_CONFIRMED: Verdict = (Status.CONFIRMED, "")
_OWN_WORDS = frozenset({Kind.RULE, Kind.PREFERENCE})


def promote(kind: Kind, claims: Sequence[Witnessed]) -> Verdict:
    """(CONFIRMED, "") or (DRAFT, first criterion missed) for the claims that carry one value of one note. Pure; the order of claims does not matter."""
    if any(w.claim.verified_by == PERSON for w in claims):
        return _CONFIRMED
    sound = [w for w in claims if (w.outcome is Outcome.PASS and not w.claim.doubts) or (kind in _OWN_WORDS and said_once(w))]
    if not sound:
        return Status.DRAFT, _first_missed(claims)
    heard = [w for w in sound if w.origin in {Origin.USER, Origin.TOOL, Origin.EXTERNAL}]
    if not heard:
        return Status.DRAFT, "only_the_assistant_says_so"
    return _BY_KIND[kind](heard)


def said_once(witness: Witnessed) -> bool:
    """Whether these are a person's own words that miss nothing but a mark: alone a draft, together with another session's enough."""
    claim = witness.claim
    own = witness.origin is Origin.USER and claim.kind in _OWN_WORDS
    return own and witness.outcome is Outcome.DRAFT and witness.missed == SAID_ONCE and set(claim.doubts) <= {SAID_ONCE}


def witnesses(claims: Sequence[Witnessed]) -> int:
    """Independent sessions behind the claims: copies, forks and resumes of one session are one."""
    return len(frozenset[str]().union(*(w.roots for w in claims)))


def _first_missed(claims: Sequence[Witnessed]) -> str:
    """The criterion the best of the claims missed."""
    best = min(claims, key=lambda w: (-w.standing, w.order.sort, w.uid))
    return best.missed or next(iter(best.claim.doubts), "") or "unproven"


def _users(claims: Sequence[Witnessed]) -> list[Witnessed]:
    return [w for w in claims if w.origin is Origin.USER]


def _standing_words(claims: Sequence[Witnessed]) -> Verdict:
    """Rules and preferences: the user's own words, marked as standing or heard in two sessions."""
    said = _users(claims)
    if not said:
        return Status.DRAFT, "not_the_users_words"
    if any(w.claim.standing_mark for w in said) or witnesses(said) >= 2:
        return _CONFIRMED
    return Status.DRAFT, SAID_ONCE


def _users_word(claims: Sequence[Witnessed]) -> Verdict:
    """Goals, plans, holds, decisions: the user says so."""
    return _CONFIRMED if _users(claims) else (Status.DRAFT, "not_the_users_words")


def _fact(claims: Sequence[Witnessed]) -> Verdict:
    """The user's word, a check that can be repeated, two sessions that saw it, or two outside sources."""
    if _users(claims) or any(w.claim.verified_by for w in claims):
        return _CONFIRMED
    seen = [w for w in claims if w.origin is Origin.TOOL]
    if seen:
        return _CONFIRMED if witnesses(claims) >= 2 else (Status.DRAFT, "seen_in_one_session")
    sources = {w.speaker or root for w in claims for root in w.roots}
    return _CONFIRMED if len(sources) >= 2 and witnesses(claims) >= 2 else (Status.DRAFT, "one_outside_source")


def _procedure(claims: Sequence[Witnessed]) -> Verdict:
    """The user's word, or proven to work: in two sessions, or where its failed forerunner (`old_value`) differs by what the error named (`reason`)."""
    if _users(claims):
        return _CONFIRMED
    worked = [w for w in claims if w.claim.verified_by]
    if not worked:
        return Status.DRAFT, "success_not_shown"
    if witnesses(worked) >= 2 or any(w.claim.old_value and w.claim.reason for w in worked):
        return _CONFIRMED
    return Status.DRAFT, "worked_in_one_session"


def _insight(claims: Sequence[Witnessed]) -> Verdict:
    """Three pieces of evidence from two sessions."""
    pieces = {(q.turn, q.start, q.end) for w in claims for q in w.claim.quotes}
    if len(pieces) < 3:
        return Status.DRAFT, "fewer_than_three_pieces_of_evidence"
    return _CONFIRMED if witnesses(claims) >= 2 else (Status.DRAFT, "evidence_from_one_session")


_BY_KIND = {
    Kind.GOAL: _users_word,
    Kind.PLAN: _users_word,
    Kind.HOLD: _users_word,
    Kind.DECISION: _users_word,
    Kind.RULE: _standing_words,
    Kind.PREFERENCE: _standing_words,
    Kind.FACT: _fact,
    Kind.INCIDENT: _fact,
    Kind.PROCEDURE: _procedure,
    Kind.INSIGHT: _insight,
}
