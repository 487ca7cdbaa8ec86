"""Notes, corrections and work as plain values that JSON holds, and back: what a projection keeps of them. Only what differs from its default is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import date, datetime
from typing import Any

from pipelines.model import Kind, Status, Verdict
from pipelines.wiki.content import Carried, Cite, Correction, HistoryLine, Item, Quarantined, Side, Work
from pipelines.wiki.inline import Span, Style

Packed = dict[str, Any]
_OTHERS = (Carried, Cite, HistoryLine, Side)


def pack(value: Item | Correction | Work | Quarantined) -> Packed:
    """The value as a mapping of its fields."""
    return _out(value)


def _out(value: Any) -> Packed:
    out = {}
    for name, default in _FIELDS[type(value)]:
        given = getattr(value, name)
        if given != default:
            out[name] = _plain(given)
    return out


def _plain(given: Any) -> Any:
    if isinstance(given, tuple):
        return [_plain(one) for one in given]
    if isinstance(given, date):  # a datetime is one, too
        return given.isoformat()
    return _out(given) if isinstance(given, _OTHERS) else given


def _defaults(kind: type) -> tuple[tuple[str, Any], ...]:
    return tuple((f.name, f.default if f.default is not MISSING else None) for f in fields(kind))


_FIELDS = {kind: _defaults(kind) for kind in (Item, Correction, Work, Quarantined, *_OTHERS)}


def item_of(told: Mapping[str, Any]) -> Item:
    """The note that was packed."""
    fresh = dict(told)
    fresh["kind"], fresh["status"] = Kind(told["kind"]), Status(told["status"])
    fresh["cites"] = tuple(map(_cite, told["cites"]))
    for name, make in _MAKE_MANY.items():
        if name in told:
            fresh[name] = tuple(make(one) for one in told[name])
    for name, make in _MAKE.items():
        if name in told:
            fresh[name] = make(told[name])
    return Item(**fresh)


def correction_of(told: Mapping[str, Any]) -> Correction:
    """The correction that was packed."""
    at = {"at": _at(told["at"])} if "at" in told else {}
    return Correction(**{**told, "cites": tuple(map(_cite, told["cites"])), "rights": tuple(told.get("rights", ())), **at})


def work_of(told: Mapping[str, Any]) -> Work:
    """The work that was packed."""
    fresh = {**told, **{name: tuple(told[name]) for name in ("commits", "failed", "touched", "todos", "unsaved") if name in told}}
    return Work(**{**fresh, **{name: _at(told[name]) if name in told else None for name in ("started", "ended")}})


def quarantined_of(told: Mapping[str, Any]) -> Quarantined:
    """The held text that was packed."""
    return Quarantined(**told)


def pack_spans(spans: tuple[Span, ...]) -> list[list[str]]:
    """Spans as lists of their fields."""
    return [[s.text, s.style.value, s.target] for s in spans]


def spans_of(told: list[list[str]]) -> tuple[Span, ...]:
    """The spans that were packed."""
    return tuple(Span(text, Style(style), target) for text, style, target in told)


def _at(told: str) -> datetime:
    return datetime.fromisoformat(told)


def _cite(told: Mapping[str, Any]) -> Cite:
    return Cite(**{**told, "at": _at(told["at"])}) if "at" in told else Cite(**told)


def _line(told: Mapping[str, Any]) -> HistoryLine:
    fresh = {**told, "cites": tuple(map(_cite, told["cites"]))}
    fresh |= {name: _at(told[name]) for name in ("since", "until") if name in told}
    return HistoryLine(**{**fresh, "status": Status(told["status"])} if "status" in told else fresh)


def _side(told: Mapping[str, Any]) -> Side:
    fresh = {**told, "cites": tuple(map(_cite, told["cites"]))}
    return Side(**{**fresh, "at": _at(told["at"])} if "at" in told else fresh)


def _carried(told: Mapping[str, Any]) -> Carried:
    return Carried(**{**told, "targets": tuple(told.get("targets", ()))})


_MAKE_MANY: Mapping[str, Any] = {"history": _line, "sides": _side, "aliases": str, "worked_on": date.fromisoformat}
_MAKE: Mapping[str, Any] = {"verdict": Verdict, "carried": _carried, "valid_until": _at, "oldest_evidence": _at, "newest_evidence": _at}
