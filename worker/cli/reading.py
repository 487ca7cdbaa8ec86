"""Commands that only read: search, why, verify, brief."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import DreamdError, Refused
from pipelines.logs.stamps import UNKNOWN
from pipelines.model import Origin, Standing, Status, Verdict, Version
from pipelines.notes.moment import Moment
from pipelines.recall.search import Hit, search
from pipelines.run.above import Above, overruled, told_above
from pipelines.run.beside import words_of
from pipelines.run.content import content_of
from pipelines.run.edits import ASKED
from pipelines.run.evidence import ZONE_UNKNOWN
from pipelines.run.looking import Look
from pipelines.run.naming import Named, notes_with
from pipelines.run.render import title_of
from pipelines.run.retention import no_longer_kept
from pipelines.run.telling import Sent, sessions_told
from pipelines.run.verify import verify
from pipelines.run.why import Chain, NotCalled, Proof, why
from pipelines.wiki.above import with_above
from pipelines.wiki.brief import brief
from pipelines.wiki.budget import Budget, Unit
from pipelines.wiki.lines import short_session
from pipelines.wiki.reasons import missed
from pipelines.wiki.topics import layout
from worker import wiring
from worker.above import above, is_above
from worker.cli import common, looking_back
from worker.cli.output import many, print_json, visible
from worker.cli.sides import print_against, print_sides, sides_json
from worker.registry import USER, all_registered
from worker.settings import data_folder

QUOTE_MAX = 160


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("search")(search_command)
    app.command("why")(why_command)
    app.command("verify")(verify_command)
    app.command("brief")(brief_command)


def search_command(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words, identifiers or Chinese text.")],
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="How many answers.")] = 10,
    as_of: looking_back.AsOf = None,
    known_at: looking_back.KnownAt = None,
    audience: common.Audience = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Find notes and the raw lines of sessions; with a date, as they were then."""
    with common.reading(wiki, scope, config) as at:
        moment = looking_back.moment_of(as_of, known_at, at.settings)
        hits = search(at.store, at.scope, " ".join(query), limit=limit, now=wiring.utc_now(), audience=audience, moment=moment)
        standing = _standing(look := _look(at, moment, audience), hits)
        higher = _from_above(at, look, " ".join(query), limit=limit)
    hits = (*hits[: max(1, limit - len(higher))], *higher)[:limit]  # nearest first
    if as_json:
        print_json({"query": " ".join(query), **_dated(moment), "hits": [{"kind": h.kind, "uid": h.uid, "session": h.session, "line": h.line, "at": h.at,
                                                        "origin": h.origin, "standing": standing.get(h.uid), "score": round(h.score, 3), "context": h.context,
                                                        "text": h.text, "scope": USER if h in higher else at.scope} for h in hits]})  # fmt: skip
        return 0
    _say_moment(moment, at)
    for h in hits:
        where = f"n-{h.uid}" if h.kind == "note" else f"{short_session(h.session or '')}:{h.line}"
        when = f"{h.at:%Y-%m-%d}" if h.at else "no date"
        print(f"{where}  {when}  {_label(h, standing.get(h.uid))}{ABOVE if h in higher else ''}{CONTEXT if h.context else ''}: {_one_line(h.text)}")
    if not hits:
        print("nothing found")
    return 0


ABOVE = ", of all your projects"
CONTEXT = ", beside a line found"
"""Marks a line that holds no word of the query: it may answer the line it stands next to."""


def _from_above(at: common.Reading, look: Look, query: str, *, limit: int) -> tuple[Hit, ...]:
    """Notes of the scope above that a query finds, at most a third of an answer; not those the project has its own of."""
    with above(at.store, at.scope, data_folder(at.settings)) as found:
        if found is None:
            return ()
        higher = replace(look, store=found[0], scope=found[1])
        hits = search(higher.store, higher.scope, query, limit=limit, now=wiring.utc_now(), audience=look.audience, moment=look.moment)
        hidden = overruled(higher, look) if hits else frozenset()
    return tuple(h for h in hits if h.kind == "note" and h.uid not in hidden)[: max(1, limit // 3)]


BRIEF_MIN = 1000
"""Characters without which a brief says nothing."""
_TRUE = frozenset({"confirmed", "upheld", "unchecked", "no_log"})
"""What a note may be without a word beside it."""


def _look(at: common.Reading, moment: Moment, audience: str | None = None) -> Look:
    return Look(store=at.store, scope=at.scope, now=wiring.utc_now(), moment=moment, audience=audience)


def _say_moment(moment: Moment, at: common.Reading) -> None:
    """One line ahead of an answer that looks back: nobody takes it for how things stand."""
    if moment:
        print(looking_back.told(moment, at.settings))


def _dated(moment: Moment) -> dict[str, object]:
    """The look back in a JSON answer; one that looks at the present has none."""
    return {"looking_back": looking_back.as_json(moment)} if moment else {}


def _standing(look: Look, hits: Sequence[Hit]) -> dict[str, str]:
    """Note id → what the dream made of it: the verdict on an own note, else the status of its versions (confirmed when one of them is)."""
    notes = {h.uid for h in hits if h.kind == "note"}
    if not notes:
        return {}
    said = {uid[:12]: f.verdict.value for uid, f in look.findings().items()}
    heads = sorted(look.heads(sorted(notes)), key=lambda h: h.version.status is Status.CONFIRMED)  # the last one counts
    held = {h.version.note[:12]: h.version.status.value for h in heads}
    return {uid: word for uid in notes if (word := said.get(uid[:12]) or held.get(uid[:12]))}


def _label(hit: Hit, standing: str | None) -> str:
    """Who says it; a note that is not so (any more) says that too, before anyone believes its words."""
    if hit.kind != "note":
        return hit.origin or "turn"
    return "note" if standing is None or standing in _TRUE else f"note, {standing.replace('_', ' ')}"


def why_command(
    words: Annotated[list[str], typer.Argument(metavar="NOTE|PAGE|WORDS", help="A note's id (n-…), a page's name, or words of a note.")],
    sessions: Annotated[bool, typer.Option("--sessions", help="The sessions that were told it, by a brief at their start.")] = False,
    as_of: looking_back.AsOf = None,
    known_at: looking_back.KnownAt = None,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """The chain from a sentence to the log line it rests on, with three turns around it."""
    with common.reading(wiki, scope, config) as at:
        moment = looking_back.moment_of(as_of, known_at, at.settings)
        look = _look(at, moment)
        over, chains, several = _named(look, " ".join(words), data_folder(at.settings))
        told = {c.note: _sessions_told(at, over, c.note) for c in chains} if sessions else {}
    if sessions:
        return _print_told(chains, told, as_json=as_json)
    if as_json:
        listed = {"candidates": [{"note": f"n-{n.note}", "text": n.text} for n in several]} if several else {}
        print_json({**_dated(moment), "scope": over, "chains": [_chain_json(c) for c in chains], **listed})
        return 0
    _say_moment(moment, at)
    if over != at.scope:
        print(f"in the scope {over}, above all your projects:")
    for chain in chains:
        print_chain(chain, moment.as_of)
    if several:
        _print_several(several)
    return 0


LISTED_MAX = 20


def _print_several(several: Sequence[Named]) -> None:
    for named in several[:LISTED_MAX]:
        print(f"n-{named.note}  {_one_line(named.text)}")
    more = f", {len(several) - LISTED_MAX} not shown" if len(several) > LISTED_MAX else ""
    print(f"{many(len(several), 'note')} with these words{more}. Where one comes from: dreamd why n-{several[0].note}")


def _named(look: Look, name: str, data: Path) -> tuple[str, tuple[Chain, ...], tuple[Named, ...]]:
    """The scope, and the chains of a note or page of this name or of the one note with these words; where several have them, those notes instead.
    Raises Refused where there is none."""
    try:
        return *_chains(look, name, data), ()
    except NotCalled:
        several = notes_with(look, name, now=wiring.utc_now())
        if not several:
            raise
    return look.scope, _chains(look, several[0].note, data)[1] if len(several) == 1 else (), several if len(several) > 1 else ()


def _chains(look: Look, name: str, data: Path) -> tuple[str, tuple[Chain, ...]]:
    """The chains of a note or page and the scope they stand in: this one, else the one above. Raises Refused as here where neither has it."""
    try:
        return look.scope, tuple(why(look.store, look.scope, name, look if look.moment else None))
    except Refused:
        with above(look.store, look.scope, data) as found:
            if found is not None:
                higher = replace(look, store=found[0], scope=found[1])
                with contextlib.suppress(Refused):
                    return higher.scope, tuple(why(higher.store, higher.scope, name, higher if look.moment else None))
        raise


def _sessions_told(at: common.Reading, over: str, note: str) -> Sequence[Sent]:
    """The sessions that were told a note, oldest first; of one that stands above the projects those of every project that can be read."""
    sent = [*sessions_told(at.store, at.scope, note)]
    if over != at.scope or (at.place is not None and is_above(at.place.wiki, at.scope, at.settings)):
        for project in all_registered(data_folder(at.settings)):
            with contextlib.suppress(DreamdError), wiring.open_only_store(wiring.place_of(project.wiki, at.settings, create=False)) as store:
                sent += sessions_told(store, project.scope, note)
    return sorted(dict.fromkeys(sent), key=lambda s: (s.at, s.session))


def _print_told(chains: Sequence[Chain], told: Mapping[str, Sequence[Sent]], *, as_json: bool) -> int:
    if as_json:
        print_json({"notes": [{"note": note, "told": [{n: getattr(s, n) for n in s.__slots__} for s in sent]} for note, sent in told.items()]})
        return 0
    for chain in chains:
        sent = told[chain.note]
        said = chain.online.text if chain.online else chain.versions[0].statement if chain.versions else ""
        print(f"n-{chain.note}  told to {many(len({s.session for s in sent}), 'session')}: {_one_line(said)}")
        for s in sent:
            print(f"  {s.at} UTC  {visible(s.session)}  ({s.door})")
    return 0


def verify_command(wiki: common.Wiki = None, scope: common.Scope = None, config: common.Config = None, as_json: common.Json = False) -> int:
    """Read every citation again from the archive."""
    with common.reading(wiki, scope, config) as at:
        done = verify(at.store, at.scope, wiring.archive_of(at.place, at.store, at.scope))
        at.store.verified(at.scope, citations=done.citations, failed=len(done.failed), hand="command")
    if as_json:
        print_json({"citations": done.citations, "no_longer_kept": done.unkept, "failed": [{n: getattr(f, n) for n in f.__slots__} for f in done.failed]})
    else:
        for f in done.failed:
            print(f"n-{f.note}: {short_session(f.session)}:{f.line}: {f.why}")
        unkept = f", {done.unkept} more rest on lines that are no longer kept (retention)" if done.unkept else ""
        print(f"{done.citations - done.unkept} citations read again, {len(done.failed)} failed{unkept}")
    return 1 if done.failed else 0


def brief_command(
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    budget: Annotated[int, typer.Option("--budget", metavar="CHARS", help=f"At most so many characters, {BRIEF_MIN} at least.")] = 9000,
    as_of: looking_back.AsOf = None,
    known_at: looking_back.KnownAt = None,
    audience: common.Audience = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """What a new session is told, whole within a budget; with a date, what it would have been told of that time."""
    if budget < BRIEF_MIN:
        raise typer.BadParameter(f"a brief needs {BRIEF_MIN} characters at least, {budget} are too few", param_hint="--budget")
    with common.reading(wiki, scope, config) as at:
        moment = looking_back.moment_of(as_of, known_at, at.settings)
        look = _look(at, moment, audience)
        content = content_of(at.store, at.scope, title=title_of(at.store, at.scope), own={}, redirects={}, look=look)
        with above(at.store, at.scope, data_folder(at.settings)) as found:
            everywhere = told_above(replace(look, store=found[0], scope=found[1]), look) if found else Above()
    room = Budget(lines=200, size=budget, unit=Unit.CHARS)
    told = brief(content, layout(content.items), room)
    text = with_above(told.text, everywhere.sections, room)
    if as_json:
        print_json({**_dated(moment), "text": text, "lines": text.count("\n"), "bytes": len(text.encode("utf-8", "surrogatepass")), "moved": len(told.moved)})
    else:
        _say_moment(moment, at)
        print(text, end="")
    return 0


def _one_line(text: str) -> str:
    flat = visible(text)
    return flat if len(flat) <= QUOTE_MAX else flat[: QUOTE_MAX - 1] + "…"


def print_chain(chain: Chain, as_of: datetime | None = None) -> None:
    """A chain for a person: what is said, how it stands, the lines it rests on with those around them, who decided. Lines later than `as_of` say so."""
    if chain.online and chain.finding:
        note = chain.online
        print(f"n-{chain.note}  {visible(f'{note.folder}/{note.path}')} line {note.line}: {_one_line(note.text)}")
        print(f"  verdict: {_words(chain.finding.verdict.value)} ({_words(chain.finding.why)})")
    for v in chain.versions:
        until = f" {'on' if v.status is Status.RETRACTED else 'until'} {v.valid_until:%Y-%m-%d}" if v.valid_until else ""
        print(f"n-{chain.note}  {_words(v.status.value)}{until} ({_stands_on(v)}): {_one_line(v.statement)}")
    if chain.decisions and not chain.versions and not chain.online:
        print(f"n-{chain.note}  stands no more")
    if chain.question:
        asked = chain.question.asked
        what = ("plan nobody said yes or no to" if asked.plan else "open question") if chain.question.open else "question that waits no more"
        when = f", {'shown' if asked.plan else 'asked'} {asked.at:%Y-%m-%d %H:%M}" if asked.at else ""
        print(f"n-{chain.note}  {what}{when}: {visible(asked.text)}")
    if chain.reworded:
        print(f"  edited: {', '.join(f'n-{note}' for note in chain.reworded)} says it now (dreamd why n-{chain.reworded[0]})")
    if chain.contradiction:
        print_sides(chain.note, chain.contradiction)
    if chain.against:
        print_against(chain.note, chain.against)
    for proof in chain.proofs:
        when = f"{proof.turn.at:%Y-%m-%d %H:%M}" if proof.turn.at else "no time"
        when += f" ({ZONE_UNKNOWN})" if proof.turn.at and proof.turn.zone == UNKNOWN else ""
        when += ", learned later" if as_of and proof.turn.at and proof.turn.at > as_of else ""
        who = who_says(proof)
        print(f"  {short_session(proof.turn.session)}:{proof.turn.place.line}, {when}, {visible(who)}: “{_one_line(proof.quote.text)}”")
        if path := _path_of(proof):
            print(f"    {visible(path)}:{proof.line}")
        if proof.unkept:
            print(f"    {no_longer_kept(proof.unkept)}: what it said is known from the store alone")
        for turn in proof.around:
            mark = ">" if turn.uid == proof.turn.uid else " "
            print(f"   {mark} {turn.place.line:>5} {turn.origin.value}: {_one_line(turn.text)}")
    for d in chain.decisions:
        same = chain.finding and (d.decision.verb, d.decision.reason) == (chain.finding.verdict.value, chain.finding.why)
        if same and chain.finding and chain.finding.verdict is Verdict.UNCHECKED:
            continue  # said above: nothing was decided
        print(f"  decided {d.recorded_at:%Y-%m-%d %H:%M} in dream {d.dream}: {_words(d.decision.verb)} ({_words(d.decision.reason)})")
    for ruling in chain.rulings:
        when = f"{ruling.at:%Y-%m-%d %H:%M}" if ruling.at else "no time"
        said = f": {_one_line(ruling.body)}" if ruling.body else ""
        what = f"a file asks to {ruling.other}" if ruling.verb == ASKED else _words(ruling.verb)
        print(f"  {what}: by {_words(ruling.hand)}, {when}{said}")


def _path_of(proof: Proof) -> str:
    """The log a proof was read from: where it lies now, if it is on this machine, else where it lay last; "" of a stream."""
    return next((p for p in proof.paths if os.path.exists(p)), proof.paths[-1] if proof.paths else "")


def who_says(proof: Proof) -> str:
    """Whose words a quote is: the person's name or the origin."""
    origin = proof.turn.origin_of(proof.quote.start, proof.quote.end)
    return proof.turn.speaker if proof.turn.speaker and origin is Origin.USER else origin.value


_STANDINGS = {
    Standing.INFERRED: "the agent's word", Standing.EXTERNAL: "from a page or file that was read", Standing.TOOL: "a command's output", Standing.VERIFIED: "your word, or checked",
}  # fmt: skip


def _stands_on(version: Version) -> str:
    """Whose word a version is, and what it misses."""
    return "; ".join(filter(None, (_STANDINGS[version.standing], missed(version.missed))))


def _words(code: str) -> str:
    """`said_in_a_log` as a person reads it."""
    return code.replace("_", " ")


def _chain_json(chain: Chain) -> dict[str, object]:
    return {
        "note": chain.note,
        "online": {"path": f"{chain.online.folder}/{chain.online.path}", "line": chain.online.line, "text": chain.online.text} if chain.online else None,
        "verdict": {"verdict": chain.finding.verdict, "why": chain.finding.why} if chain.finding else None,
        "versions": [{"status": v.status, "statement": v.statement, "value": v.value, "standing": v.standing.name.lower(), "valid_from": v.valid_from,
                      "valid_until": v.valid_until, "missed": v.missed, "reason": v.reason} for v in chain.versions],
        "proofs": [{"session": p.turn.session, "line": p.turn.place.line, "at": p.turn.at, "source": p.source, "path": _path_of(p) or None, "quote": p.quote.text,
                    "origin": p.turn.origin_of(p.quote.start, p.quote.end), "speaker": p.turn.speaker, "no_longer_kept_days": p.unkept or None,
                    "around": [{"line": t.place.line, "origin": t.origin, "text": t.text} for t in p.around]} for p in chain.proofs],
        "decisions": [{"dream": d.dream, "at": d.recorded_at, "verb": d.decision.verb, "reason": d.decision.reason} for d in chain.decisions],
        "rulings": [{"verb": r.verb, "hand": r.hand, "at": r.at, "body": r.body} for r in chain.rulings],
        "reworded": [f"n-{note}" for note in chain.reworded],
        "question": {"text": q.asked.text, "at": q.asked.at, "plan": q.asked.plan, "open": q.open} if (q := chain.question) else None,
        "contradiction": sides_json(chain.contradiction) if chain.contradiction else None,
        "against": {"path": chain.against.path, "line": chain.against.line, "text": words_of(chain.against)} if chain.against else None,
    }  # fmt: skip
