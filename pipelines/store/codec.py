"""Between values and what a row holds. Whatever one side writes the other reads back equal (a property test)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, cast

from pipelines.model import (
    Basis,
    Call,
    Claim,
    Event,
    Finding,
    GateResult,
    Kind,
    OnlineNote,
    Origin,
    Outcome,
    Place,
    Question,
    Quote,
    Result,
    Role,
    SessionInfo,
    Standing,
    Status,
    Turn,
    Verdict,
    Version,
    digest,
)  # fmt: skip
from pipelines.store.types import dump, iso_utc, load, storable
from pipelines.store.values import Decision

Json = dict[str, Any]


def instant_out(at: datetime | None) -> str | None:
    return None if at is None else iso_utc(at)


def instant_in(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _some(**fields: Any) -> Json:
    """The fields that say something: rows stay small."""
    return {name: value for name, value in fields.items() if value not in (None, False, (), "", {})}


# --- turns -------------------------------------------------------------------------------------------------------------------------------


class TurnRow(NamedTuple):
    """What a turn says, without where it stands, as the columns of a row. `digest` tells apart what two logs say under one uid and snap."""

    uid: str
    snap: str
    digest: str
    role: str
    origin: str
    event_at: datetime | None
    zone: str | None
    body: str
    detail: str


def turn_row(turn: Turn) -> TurnRow:
    """The row of a turn."""
    detail = _detail(turn)
    body = storable(turn.text)
    role, origin = turn.role.value, turn.origin.value
    what = digest(turn.uid, turn.snap, role, origin, instant_out(turn.at) or "", turn.zone or "", body, detail)
    return TurnRow(turn.uid, turn.snap, what, role, origin, turn.at, turn.zone, body, detail)


def _detail(turn: Turn) -> str:
    """What only some turns say, as JSON."""
    said: Json = {}
    for name in _DETAILS:
        if value := getattr(turn, name):
            said[name] = value
    if call := turn.call:
        said["call"] = [call.call_id, call.name, dict(call.arguments)]
    if turn.result:
        said["result"] = [getattr(turn.result, name) for name in Result.__slots__]
    if turn.event:
        said["event"] = [getattr(turn.event, name) for name in Event.__slots__]
    return dump(said) if said else "{}"


_DETAILS = ("speaker", "sidechain", "memory", "corrects", "quoted", "flagged")


def turn_of(row: Any, session: str, ordinal: int, parent: str | None, place: Place) -> Turn:
    """A turn as it stands in one session."""
    detail = cast(Json, load(row.detail)) if row.detail != "{}" else {}
    call, result, event = detail.get("call"), detail.get("result"), detail.get("event")
    return Turn(
        uid=row.uid, snap=row.snap, session=session, ordinal=ordinal, role=Role(row.role), origin=Origin(row.origin), text=row.body, place=place,
        at=row.event_at, zone=row.zone, parent=parent, speaker=detail.get("speaker"), sidechain=detail.get("sidechain", False),
        memory=detail.get("memory", False), corrects=detail.get("corrects"), quoted=tuple((a, b) for a, b in detail.get("quoted", ())),
        flagged=detail.get("flagged", False),
        call=Call(call_id=call[0], name=call[1], arguments=call[2]) if call else None,
        result=Result(**dict(zip(Result.__slots__, result, strict=True))) if result else None,
        event=Event(**dict(zip(Event.__slots__, event, strict=True))) if event else None,
    )  # fmt: skip


def session_out(info: SessionInfo) -> Json:
    """What a log says of a session, without uid and format."""
    return _some(
        agent=info.agent, agent_version=info.agent_version, cwd=info.cwd, branch=info.branch, title=info.title, parent=info.parent, extra=dict(info.extra)
    )


SPEAKERS = "speakers"
"""Where a session's record lists the people who speak in it (`store.speakers`); no log tells that of a session."""


def session_of(uid: str, format: str, told: Mapping[str, Any]) -> SessionInfo:
    return SessionInfo(uid=uid, format=format, **{name: said for name, said in told.items() if name != SPEAKERS})


# --- claims ------------------------------------------------------------------------------------------------------------------------------


def claim_row(claim: Claim) -> Json:
    """A claim without its quotes; `digest` covers what the uid leaves out (doubts, reason, cardinality ...)."""
    detail = dump(
        _some(
            negated=claim.negated, cardinality=claim.cardinality, old_value=claim.old_value, reason=claim.reason, standing_mark=claim.standing_mark,
            valid_until=instant_out(claim.valid_until), verified_by=claim.verified_by, doubts=list(claim.doubts) or None,
        )
    )  # fmt: skip
    return {
        "uid": claim.uid, "digest": digest(claim.uid, detail, claim.applies_to or "", claim.made_by), "kind": claim.kind.value, "subject": claim.subject,
        "attribute": claim.attribute, "qualifier": claim.qualifier, "value": claim.value, "statement": claim.statement, "applies_to": claim.applies_to,
        "detail": detail, "made_by": claim.made_by,
    }  # fmt: skip


def claim_of(row: Any, quotes: tuple[Quote, ...]) -> Claim:
    detail = cast(Json, load(row.detail))
    return Claim(
        kind=Kind(row.kind), subject=row.subject, attribute=row.attribute, statement=row.statement, quotes=quotes, qualifier=row.qualifier,
        value=row.value, negated=detail.get("negated", False), cardinality=detail["cardinality"], old_value=detail.get("old_value"),
        reason=detail.get("reason"), standing_mark=detail.get("standing_mark", False), applies_to=row.applies_to,
        valid_until=instant_in(detail.get("valid_until")), verified_by=detail.get("verified_by"), doubts=tuple(detail.get("doubts", ())),
        made_by=row.made_by,
    )  # fmt: skip


def results_out(results: tuple[GateResult, ...]) -> str:
    return dump([[r.gate, r.outcome.value, r.why] for r in results])


@lru_cache(maxsize=1024)
def results_of(text: str) -> tuple[GateResult, ...]:
    """Most claims have passed the same gates: there are few texts among many rows."""
    return tuple(GateResult(gate=gate, outcome=Outcome(outcome), why=why) for gate, outcome, why in cast(list[list[str]], load(text)))


def quotes_out(quotes: tuple[Quote, ...]) -> list[list[Any]]:
    return [[q.turn, q.start, q.end, q.text] for q in quotes]


def quotes_of(rows: list[list[Any]]) -> tuple[Quote, ...]:
    return tuple(Quote(turn=turn, start=start, end=end, text=text) for turn, start, end, text in rows)


def questions_out(questions: tuple[Question, ...]) -> str:
    return dump([[q.text, quotes_out(q.quotes)] for q in questions])


def questions_of(text: str) -> tuple[Question, ...]:
    return tuple(Question(text=said, quotes=quotes_of(quotes)) for said, quotes in cast(list[list[Any]], load(text)))


# --- notes -------------------------------------------------------------------------------------------------------------------------------


def online_out(note: OnlineNote) -> str:
    fields = {name: getattr(note, name) for name in OnlineNote.__slots__}
    return dump({**fields, "kind": note.kind.value, "written_at": instant_out(note.written_at), "front_matter": dict(note.front_matter)})


def online_of(text: str) -> OnlineNote:
    told = cast(Json, load(text))
    return OnlineNote(
        **{**told, "kind": Kind(told["kind"]), "links": tuple(told["links"]), "written_at": instant_in(told["written_at"])},
    )


_TIMES = ("valid_from", "valid_until", "oldest_evidence", "newest_evidence")
_PLAIN = (
    "note", "slot", "subject", "attribute", "qualifier", "statement", "value", "verified_by", "applies_to", "reason", "ended_by", "missed", "roots",
    "sensitivity", "audience", "agent",
)  # fmt: skip


def version_out(version: Version) -> Json:
    """A version as staged JSON."""
    plain = {name: getattr(version, name) for name in _PLAIN}
    times = {name: instant_out(getattr(version, name)) for name in _TIMES}
    words = {"kind": version.kind.value, "status": version.status.value, "basis": version.basis.value, "standing": int(version.standing)}
    return {**plain, **times, **words, "claims": list(version.claims)}


def version_of(told: Mapping[str, Any]) -> Version:
    fields: Json = {name: told[name] for name in _PLAIN} | {name: instant_in(told[name]) for name in _TIMES}
    return _version(fields, told["kind"], told["status"], told["basis"], told["standing"], told["claims"])


def version_row(told: Mapping[str, Any], **more: Any) -> Json:
    """The columns of a staged version, its note's uid, and `more`. `content` is what was wanted, whatever becomes of its status afterwards."""
    times = {name: instant_in(told[name]) for name in _TIMES}
    return {**told, **times, "claims": dump(told["claims"]), "verified_at": times["newest_evidence"] if told["verified_by"] else None, **more}


def version_of_row(row: Any) -> Version:
    fields: Json = {name: getattr(row, "note_uid" if name == "note" else name) for name in (*_PLAIN, *_TIMES)}
    return _version(fields, row.kind, row.status, row.basis, row.standing, cast(list[str], load(row.claims)))


def _version(fields: Json, kind: str, status: str, basis: str, standing: int, claims: list[str]) -> Version:
    return Version(**fields, kind=Kind(kind), status=Status(status), basis=Basis(basis), standing=Standing(standing), claims=tuple(claims))


def finding_out(finding: Finding) -> Json:
    return {
        "note": finding.note, "verdict": finding.verdict.value, "why": finding.why, "quotes": quotes_out(finding.quotes), "version": finding.version,
        "other": finding.other, "corrected": finding.corrected, **({"also": finding.also} if finding.also else {}),
    }  # fmt: skip


def finding_of(told: Mapping[str, Any]) -> Finding:
    also = tuple((version, words) for version, words in told.get("also", ()))
    return Finding(**{**told, "verdict": Verdict(told["verdict"]), "quotes": quotes_of(told["quotes"]), "also": also})


def decisions_of(payload: Mapping[str, Any]) -> tuple[Decision, ...]:
    """The decisions of a staged change."""
    return tuple(
        Decision(stage=stage, verb=verb, reason=reason, refs=tuple(refs), note=note, engine=engine, cost_micros=cost)
        for stage, verb, reason, refs, note, engine, cost in payload["decisions"]
    )
