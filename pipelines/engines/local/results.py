"""Facts a tool's result states in a plain sentence ("The centre is west of the cave."), and addresses a server prints when it starts.

Few on purpose: only short outputs of this session's own calls, never what reads files or searches (that is read again, not remembered), never what tells of a
failure or of the moment. Such a fact is a tool's word: it takes a second session or a check to stand.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipelines.engines.local.facts import facts_in
from pipelines.engines.local.runs import core_of, line_of, program_of
from pipelines.engines.local.shell import Part
from pipelines.engines.local.speech import dangling, statement_of
from pipelines.model import Claim, Kind, Origin, Quote, Turn
from pipelines.text.mood import Mood, completion, mood_at
from pipelines.text.sentences import Span, sentences
from pipelines.text.slots import USER

OUTPUT_MAX = 400
"""Characters of a result that is read for sentences: an answer, not a document."""
SERVER_OUTPUT_MAX = 20_000
LINE_MAX = 160

_READERS = frozenset(
    "read grep glob ls search find view fetch open list todowrite todoread task agent skill webfetch websearch edit write multiedit notebookedit apply_patch".split()
)
_READING = frozenset("cat head tail sed awk grep rg ag find ls tree less more nl wc jq yq diff git gh curl wget man strings file bd cut sort".split())
_ADDRESS = re.compile(
    r"^(?P<line>[^\n]{0,80}?\b(?:running|listening|available|ready|started|serving|server|local)\b[^\n]{0,40}?\s(?:(?:at|on)\s+)?(?P<url>https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d+/?))",
    re.IGNORECASE | re.MULTILINE,
)


def result_facts(turns: Sequence[Turn]) -> Iterator[Claim]:
    """Facts of the results in `turns` (one session, in order), each stated once."""
    calls = {t.call.call_id: t for t in turns if t.call is not None and not t.sidechain}
    seen: set[tuple[str, str, str | None]] = set()
    for turn in turns:
        call = calls.get(turn.result.call_id) if turn.result is not None else None
        if call is None or turn.origin is not Origin.TOOL or turn.result is None or turn.result.refused:
            continue
        for claim in (*_addresses(call, turn), *_sentences(call, turn)):
            key = (claim.subject, claim.attribute, claim.value)
            if key not in seen:
                seen.add(key)
                yield claim


def _addresses(call: Turn, turn: Turn) -> Iterator[Claim]:
    """The address a started server prints, as a fact of the command that starts it; also when the command never returned."""
    found = _ADDRESS.search(turn.text[:SERVER_OUTPUT_MAX]) if "://" in turn.text else None
    started = _started(call) if found is not None else None
    if started is None or found is None or "EADDRINUSE" in turn.text:
        return
    at = call.text.find(started.bare)
    if at < 0:
        return
    command = Quote(turn=call.uid, start=at, end=at + len(started.bare), text=started.bare)
    start = found.start("line") + len(found["line"]) - len(found["line"].lstrip())
    shown = Quote(turn=turn.uid, start=start, end=found.end("line"), text=turn.text[start : found.end("line")])
    yield Claim(
        kind=Kind.FACT, subject=core_of(started), attribute="url", statement=f"`{started.bare}`: {shown.text}", value=found["url"].rstrip("/"),
        cardinality="single", quotes=(command, shown),
    )  # fmt: skip


def _started(call: Turn) -> Part | None:
    starting = [p for p in line_of(call) if re.search(r"\b(?:start|dev|serve|server|run|up|preview|runserver)\b", p.bare) and len(p.bare) <= LINE_MAX]
    return starting[0] if len(starting) == 1 else None


def _sentences(call: Turn, turn: Turn) -> Iterator[Claim]:
    result = turn.result
    if len(turn.text) > OUTPUT_MAX or _reads(call) or result is None or result.failed:
        return
    for span in sentences(turn.text):
        if _states(turn, span):
            said = span.of(turn.text)
            quote = Quote(turn=turn.uid, start=span.start, end=span.end, text=said)
            for fact in facts_in(said, speaker=None):
                if fact.value is not None and not fact.subject.startswith(USER) and not fact.unnamed:
                    yield Claim(
                        kind=Kind.FACT, subject=fact.subject, attribute=fact.attribute, qualifier=fact.qualifier, statement=statement_of(said), value=fact.value,
                        negated=fact.negated, cardinality="single" if fact.single else "set", old_value=fact.old_value, reason=fact.reason, quotes=(quote,),
                    )  # fmt: skip


def _states(turn: Turn, span: Span) -> bool:
    """A whole sentence that plainly says something lasting."""
    said = span.of(turn.text)
    whole = said[:1].isupper() and said.endswith((".", "。")) and len(said.split()) >= 4
    return whole and len(said) <= LINE_MAX and mood_at(turn.text, span.start, span.end) is Mood.PLAIN and not completion(said) and not dangling(said)


def _reads(call: Turn) -> bool:
    """Whether the call only reads or searches what is there to be read again."""
    if call.call is None:
        return True
    if call.call.name.casefold() in _READERS:
        return True
    return call.call.command is not None and (not line_of(call) or any(program_of(p.words) in _READING for p in line_of(call)))
