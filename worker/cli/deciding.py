"""Decisions about what waits without being a note of dreamd's own: an edit found in a file, a correction of a note file, an open question."""

from __future__ import annotations

from dataclasses import replace

from pipelines.errors import Refused
from pipelines.run import Parts, Request
from pipelines.run.beside import let_stand
from pipelines.run.carried import carried_notes
from pipelines.run.content import content_of
from pipelines.run.edits import decline, dismiss, edit_named
from pipelines.run.ruling import UID_MIN, rule, rule_beside
from pipelines.wiki.content import Edited, Item, anchor_of
from worker.cli.output import visible
from worker.cli.wrong_files import make_right
from worker.note_files import note_folders
from worker.wiring import Place


def decide_other(parts: Parts, request: Request, place: Place, verb: str, name: str, *, hand: str, why: str) -> tuple[Request, str] | None:
    """Record the decision; returns the dream that believes it and what is told of it, None when the name is no such thing's. Raises as `rule`."""
    wanted = name.removeprefix("^").removeprefix("n-")
    if len(wanted) < UID_MIN or verb == "retract":
        return None
    if (edit := edit_named(parts.store, request.scope, name)) is not None:
        return request, _edit(parts, request, verb, edit, hand=hand, why=why)
    if (against := _own_line_against(parts, request, wanted)) is not None:
        return request, _let_stand(parts, request, verb, against, hand=hand)
    if wrong := [c for c in carried_notes(parts.store, request.scope).corrections if c.uid.startswith(wanted)]:
        if verb == "approve":
            written = make_right(parts.store, request.scope, place.private, wrong, at=parts.now(), hand=hand)
            files = ", ".join(visible(str(p)) for p in written)
            return replace(request, notes=note_folders(place.private)), f"corrected {files}; to take it back: dreamd notes apply --undo"
        dismiss(parts.store, request.scope, wrong[0].uid, at=parts.now(), hand=hand)
        return request, f"{anchor_of(wrong[0].uid)} stays as your note has it: {visible(wrong[0].wrong)}"
    asked = content_of(parts.store, request.scope, title="", own={}, redirects={}).asked
    if question := next((a for a in asked if a.uid.startswith(wanted)), None):
        dismiss(parts.store, request.scope, question.uid, at=parts.now(), hand=hand)
        return request, f"{anchor_of(question.uid)} does not wait any more: {visible(question.text)}"
    return None


def _own_line_against(parts: Parts, request: Request, wanted: str) -> Item | None:
    """The line of the person's own notes of this id that an instruction file says otherwise than, and no log."""
    items = carried_notes(parts.store, request.scope).items
    return next((i for i in items if i.uid.startswith(wanted) and i.against and not i.corrected_to), None)


def _let_stand(parts: Parts, request: Request, verb: str, item: Item, *, hand: str) -> str:
    place = f"{item.carried.folder}/{item.carried.path} line {item.carried.line}" if item.carried else "its file"
    if verb == "reject":
        raise Refused(f"{anchor_of(item.uid)} is your own {visible(place)}: take it out there, and the next dream takes that over")
    let_stand(parts.store, request.scope, item.uid, at=parts.now(), hand=hand)
    return f"{anchor_of(item.uid)} stands, although {visible(item.against)} says otherwise: change that line yourself, dreamd writes no instruction file"


def _edit(parts: Parts, request: Request, verb: str, edit: Edited, *, hand: str, why: str) -> str:
    name = anchor_of(edit.note)
    if verb == "reject":
        decline(parts.store, request.scope, edit, at=parts.now(), hand=hand)
        return f"{name} stays as it was: {visible(edit.before)}"
    if verb != "approve":
        raise Refused(f"{name} was edited in a file: dreamd review accept or reject {anchor_of(edit.uid)}")
    ruled = rule(parts.store, request.scope, edit.wants, edit.note, at=parts.now(), hand=hand, why=edit.after or why)
    rule_beside(parts.store, request.scope, ruled, at=parts.now(), hand=hand)
    done = {"retract": "is taken out", "edit": f"now says “{visible(edit.after)}”", "reject": "is rejected", "approve": "is accepted", "keep": "is kept"}
    return f"{name} {done[edit.wants]}: {visible(edit.before)}"
