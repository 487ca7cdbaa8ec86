"""What was changed in files of ours, taken as decisions or asked about: whose hand it was nobody knows, it may have been an agent's Write tool.

A tick or a removed line in `inbox.md` is taken as the person's decision; it makes no rule, since what an agent could tick must never come back to it as an
order. A changed line, a ticked rule, and a bullet taken from or changed on a page are asked about first (`dreamd review`) and stay in the file as they are
until then. In a folder the person declared their own (`edits_are_mine`) all of it is their word at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pipelines.errors import Refused
from pipelines.model import Kind, Ruling, Status, digest
from pipelines.notes.promotion import PERSON
from pipelines.notes.rulings import SETTLING, VOIDING
from pipelines.run.ruling import named_note, rule, rule_beside
from pipelines.run.sources import standing_notes
from pipelines.store import Store
from pipelines.wiki.content import Edited
from pipelines.wiki.edits import EditKind, NotAnEdit, PageEdit, line_keys, read_edits, shows, statement_in
from pipelines.wiki.parse_page import NotAPage
from pipelines.wiki.ticks import INBOX_PATH, Said, Tick, Ticks, read_ticks

HAND: Final = "file_edit"
ASKED: Final = "file_edit"
"""Verb of the ruling that holds what a file asks for: `target` the note, `other` the decision it asks for, `body` the new words. Beliefs do not know it."""
DECLINED: Final = "file_edit_declined"
"""Verb of the answer no; its target is the uid of what was asked."""
SHOWN_AGAIN: Final = "file_edit_shown"
"""Verb of the mark that the file was written anew since; the same edit after it is asked about anew."""
DISMISSED: Final = "dismiss"
"""Verb by which a person has seen enough of what is no note (a question, text under quarantine, a correction of a note file that is right); its target is the id
the queue shows."""
BASES_MAX: Final = 20
"""Versions of a page looked at for the one a file was made from."""
_ORDERS = frozenset({Kind.RULE, Kind.PREFERENCE, Kind.HOLD})
_REMOVED_SHARE = 4
_DOUBTS = {
    "too_many_removed": "more of its lines are gone than one takes out by hand: nothing was taken as your decision; dreamd review decides them one by one",
    "rest_changed": "lines of ours are gone from it: nothing was taken as your decision; put them back, or delete the file to have it written anew",
    "conflict_markers": "conflict markers stand in it", "empty": "it is empty", "half_saved": "it is only half there",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a changed file. `settled`: all of it is decided and believed, the file may be written anew. Else `why` is what it waits for; when
    that is empty it waits for the next dream alone, and nobody has to be told."""

    settled: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Folder:
    """Where decisions go, whose the folder is, and when they are made."""

    store: Store
    scope: str
    mine: bool
    at: datetime


def take_edits(store: Store, scope: str, path: str, found: bytes, bases: Sequence[bytes], *, mine: bool, at: datetime) -> Taken:
    """Record what a changed file of ours decides or asks for, once however often it is looked at. `bases` are the versions it may have been made from, the
    likeliest first."""
    desk = _Folder(store, scope, mine, at)
    try:
        return _take_inbox(desk, found, bases) if path == INBOX_PATH else _take_page(desk, path, found, bases)
    except NotAPage:
        return Taken(False, _DOUBTS["half_saved"])


def open_edits(store: Store, scope: str) -> tuple[Edited, ...]:
    """What files ask for and nobody has decided, by uid: the note's sentence as it stands, and the new one or none."""
    rulings = store.rulings(scope)
    asked = [r for r in rulings if r.verb == ASKED]
    if not asked:
        return ()
    open_ = [r for r in asked if not _answered(r, rulings)]
    stands = {
        h.version.note: h.version for h in reversed(store.heads(scope, notes=sorted({r.target for r in open_}))) if h.version.status is not Status.RETRACTED
    }
    return tuple(
        Edited(uid=r.uid[:12], note=r.target, wants=r.other or "", before=stands[r.target].statement, after=r.body or "", at=r.at)
        for r in sorted(open_, key=lambda r: r.uid) if r.target in stands
    )  # fmt: skip


def dismissed(store: Store, scope: str) -> frozenset[str]:
    """Ids of what a person has seen enough of."""
    return frozenset(r.target for r in store.rulings(scope) if r.verb == DISMISSED)


def dismiss(store: Store, scope: str, uid: str, *, at: datetime, hand: str) -> Ruling:
    """Let something leave the queue that is no note."""
    return _recorded(store, scope, Ruling(uid=digest(DISMISSED, uid), verb=DISMISSED, target=uid, at=at), about=uid, hand=hand)


def decline(store: Store, scope: str, edit: Edited, *, at: datetime, hand: str) -> Ruling:
    """Say no to what a file asks for: the note stays, and the file is written anew."""
    full = next(r.uid for r in store.rulings(scope, [edit.note]) if r.verb == ASKED and r.uid.startswith(edit.uid))
    return _recorded(store, scope, Ruling(uid=digest(DECLINED, full), verb=DECLINED, target=full, other=edit.note, at=at), about=edit.note, hand=hand)


def _recorded(store: Store, scope: str, ruling: Ruling, *, about: str, hand: str) -> Ruling:
    """The ruling with this uid, recorded now if it was not before."""
    with store.together("record a decision"):
        if store.add_ruling(scope, ruling):
            store.write_down(scope, ruling.verb, hand, about, key=ruling.uid)
            return ruling
    return next(r for r in store.rulings(scope, [ruling.target]) if r.uid == ruling.uid)


def edit_named(store: Store, scope: str, name: str) -> Edited | None:
    """The open edit an id names: its own, or that of the note it is about."""
    wanted = name.removeprefix("^").removeprefix("n-")
    found = [e for e in open_edits(store, scope) if len(wanted) >= 6 and (e.uid.startswith(wanted) or e.note.startswith(wanted))]
    return found[-1] if found else None


# --- the inbox ---------------------------------------------------------------------------------------------------------------------------


def _take_inbox(desk: _Folder, found: bytes, bases: Sequence[bytes]) -> Taken:
    readings = [read_ticks(found, base) for base in bases]
    whole = [r for r in readings if isinstance(r, Ticks)]
    if not whole:
        return Taken(False, _DOUBTS[readings[0].why] if readings and isinstance(readings[0], NotAnEdit) else _DOUBTS["rest_changed"])
    best = min(whole, key=lambda r: (not r.only, len(r.made)))
    told = [_decide(desk, tick) for tick in best.made]
    trouble = [why for why in told if isinstance(why, str)]
    if trouble or not best.only:
        return Taken(False, "; ".join(trouble) or "words of yours stand between our lines: below the last line they are kept")
    return Taken(all(_dreamt_since(desk, r) for r in told if isinstance(r, Ruling)))


def _decide(desk: _Folder, tick: Tick) -> Ruling | str:
    """The recorded decision or question of a tick, or why it is none."""
    uid = tick.anchor.removeprefix("n-")
    if (edit := next((e for e in open_edits(desk.store, desk.scope) if e.uid == uid), None)) is not None:
        if tick.said is not Said.REJECT:
            return f"{tick.anchor} was edited in a file: confirm it with dreamd review accept {tick.anchor}"
        return decline(desk.store, desk.scope, edit, at=desk.at, hand=HAND)
    try:
        versions = named_note(desk.store, desk.scope, uid)
    except Refused:
        return _no_note(desk, tick, uid)
    kind, status = versions[0].kind, {v.status for v in versions}
    if tick.said is Said.EDIT:
        return _ask(desk, versions[0].note, "edit", tick.text)
    verb = "reject" if tick.said is Said.REJECT else "keep" if Status.NEEDS_RECHECK in status else "approve"
    if Status.DISPUTED in status:
        return _ask(desk, versions[0].note, verb, "") if verb == "reject" else f"{tick.anchor} is disputed: dreamd review accept {tick.anchor} --side N"
    if verb != "reject" and kind in _ORDERS:
        return _ask(desk, versions[0].note, verb, "")
    return _ruled(desk, verb, versions[0].note)


def _no_note(desk: _Folder, tick: Tick, uid: str) -> Ruling | str:
    rulings = desk.store.rulings(desk.scope)
    if (asked := next((r for r in rulings if r.verb == ASKED and r.uid.startswith(uid)), None)) is not None:
        return _answered(asked, rulings) or asked
    if tick.said is not Said.REJECT:
        carried = any(n.uid.startswith(uid) for n in standing_notes(desk.store.online_notes(desk.scope)))
        return f"{tick.anchor} stands in your own note file: dreamd review accept {tick.anchor} writes it there" if carried else _no_answer(desk, tick, uid)
    return dismiss(desk.store, desk.scope, uid, at=desk.at, hand=HAND)


def _no_answer(desk: _Folder, tick: Tick, uid: str) -> Ruling | str:
    """A ticked question is answered; text that no user said is accepted by no tick."""
    if uid in {c.uid[:12] for c in (g.claim for g in desk.store.claims_of(desk.scope, desk.store.quarantined_claims(desk.scope)))}:
        return f"{tick.anchor} holds text that no user said: look at it with dreamd review show {tick.anchor}; a tick does not accept it"
    return dismiss(desk.store, desk.scope, uid, at=desk.at, hand=HAND)


# --- pages -------------------------------------------------------------------------------------------------------------------------------


def _take_page(desk: _Folder, path: str, found: bytes, bases: Sequence[bytes]) -> Taken:
    known = {key for base in bases for key in line_keys(base, path=path)}
    read = [read_edits(path, found, base, ours=known.__contains__) for base in bases]
    edits = min((r for r in read if not isinstance(r, NotAnEdit)), key=_asks_least, default=None)
    if edits is None:
        return Taken(False, _DOUBTS[read[0].why] if read and isinstance(read[0], NotAnEdit) else "")
    ours = [e for e in edits if e.kind is not EditKind.OWN]
    gone = sum(e.kind is EditKind.REMOVED for e in ours)
    if gone > max(3, len(known) // _REMOVED_SHARE):
        return Taken(False, _DOUBTS["too_many_removed"])
    asked = [_ask_of(desk, e) for e in ours]
    rulings = [r for r in asked if r is not None]
    if len(rulings) < len(asked) or not rulings:
        return Taken(False, "a person's words" + ("; what was changed or taken out there waits in dreamd review" if rulings else ""))
    if all(_believed(desk, r) for r in rulings):
        _shown_again(desk, rulings)
        return Taken(True)
    return Taken(False, "what was changed or taken out there waits in dreamd review")


def _asks_least(edits: Sequence[PageEdit]) -> tuple[int, int]:
    """How much a reading of a file says was done to our lines, then how much in all: the version it was made from is that of the least."""
    return sum(e.kind is not EditKind.OWN for e in edits), len(edits)


def _ask_of(desk: _Folder, edit: PageEdit) -> Ruling | None:
    """What a changed or removed bullet of a note of ours asks for; None for any other change."""
    uid = edit.anchor.removeprefix("n-")
    if edit.kind not in {EditKind.CHANGED, EditKind.REMOVED} or not uid or "-" in uid:
        return None
    heads = desk.store.heads(desk.scope, notes=[uid])
    if not heads or edit.kind is EditKind.REMOVED:
        return _ask(desk, uid, "retract", "") if heads else None
    said = statement_in(edit, _shown_by(edit, [h.version.statement for h in heads]))
    return _ask(desk, uid, "edit", said) if said else None


def _shown_by(edit: PageEdit, statements: Sequence[str]) -> str:
    """Of what the versions of a note say, what the bullet said before it was changed: once the change is believed, the note says that, too."""
    return max((s for s in statements if shows(edit.before, s)), key=len, default=statements[0])


# --- what is recorded --------------------------------------------------------------------------------------------------------------------


def _ask(desk: _Folder, note: str, wants: str, text: str) -> Ruling:
    """The question whether the person means it; where the folder is theirs, the decision itself."""
    if desk.mine:
        return _ruled(desk, wants, note, text)
    before = [r for r in desk.store.rulings(desk.scope, [note]) if r.verb in {ASKED, SHOWN_AGAIN}]
    again = sum(r.verb == SHOWN_AGAIN and r.body == f"{wants} {text}" for r in before)
    uid = digest(ASKED, note, wants, text, str(again))
    asked = Ruling(uid=uid, verb=ASKED, target=note, other=wants, body=text or None, hand=HAND, at=desk.at)
    return _recorded(desk.store, desk.scope, asked, about=note, hand=HAND)


def _ruled(desk: _Folder, verb: str, note: str, text: str = "") -> Ruling:
    ruled = rule(desk.store, desk.scope, verb, note, at=desk.at, hand=HAND, why=text)
    rule_beside(desk.store, desk.scope, ruled, at=desk.at, hand=HAND)
    return ruled.ruling


def _believed(desk: _Folder, ruling: Ruling) -> bool:
    """Whether what a file asks for is decided, and the decision believed."""
    decided = _answered(ruling, desk.store.rulings(desk.scope)) if ruling.verb == ASKED else ruling
    return decided is not None and _dreamt_since(desk, decided)


def _dreamt_since(desk: _Folder, ruling: Ruling) -> bool:
    """Whether a dream that began after this has ended."""
    began = max((d.started_at for d in desk.store.dreams(desk.scope, limit=5) if d.state == "completed"), default=None)
    return began is not None and (ruling.at is None or began >= ruling.at)


def _answered(asked: Ruling, rulings: Iterable[Ruling]) -> Ruling | None:
    """The decision that answers what a file asks for."""
    for r in rulings:
        if r.verb == DECLINED and r.target == asked.uid:
            return r
        later = r.at is not None and asked.at is not None and r.at >= asked.at
        if r.verb in VOIDING | SETTLING and r.target == asked.target and r.hand == PERSON and later:
            return r
        if r.verb == ASKED and r.target == asked.target and later and r.uid != asked.uid and r.at != asked.at:
            return r  # another edit of the same note came after it
    return None


def _shown_again(desk: _Folder, rulings: Iterable[Ruling]) -> None:
    for r in rulings:
        if r.verb == ASKED:
            mark = Ruling(uid=digest(SHOWN_AGAIN, r.uid), verb=SHOWN_AGAIN, target=r.uid, other=r.target, body=f"{r.other} {r.body or ''}", at=desk.at)
            desk.store.add_ruling(desk.scope, mark)
