"""What may stand in no file below the wiki folder though no claim was made of it: notes, questions and names that give orders no user gave (gate 4).

A note may order its reader, that is what an agent's rules are. It is held when it speaks past the user to the machine or hides what it says, or when
its order stands in a page or ticket a session read and in nobody's typed words: then that text wrote the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pipelines.gates import ORDERS_READER, held
from pipelines.model import Finding, OnlineNote, Verdict
from pipelines.notes.released import APPROVED
from pipelines.wiki.content import Quarantined

HELD = frozenset({"takeover", "hidden_instruction", "hidden_characters", ORDERS_READER})
"""Reasons of findings whose note is under quarantine."""


def held_note(note: OnlineNote) -> str:
    """Why a note may be shown nowhere, from its own words and those of the file it stands in; "" when it may."""
    names = (note.folder, note.path, _JOINED.sub(" ", note.path))
    told = (note.markdown, note.text, note.title, note.heading, note.description, *note.front_matter.values(), *names)
    return next((why for text in told if text and (why := held(text))), "")


def finding_of_held(note: OnlineNote, why: str) -> Finding:
    """The verdict on a note under quarantine: it is on no page until a person has looked at it."""
    return Finding(note=note.uid, verdict=Verdict.NEEDS_RECHECK, why=why)


def under_quarantine(notes: Iterable[OnlineNote], findings: Mapping[str, Finding]) -> dict[str, Quarantined]:
    """Notes that stand in no file, by uid, as the inbox names them: by place, and by no word of theirs."""
    out = {}
    for note in notes:
        found = findings.get(note.uid)
        if found is not None and found.why == APPROVED:
            continue
        if held_note(note) or (found is not None and found.why in HELD):
            place = f"{note.folder}/{note.path}"
            out[note.uid] = Quarantined(uid=note.uid[:12], gate="instruction", origin="note", session="" if held(place) else place, line=note.line)
    return out


def shown(text: str) -> str:
    """Words of a record (a branch, a commit's subject, a question) as far as they may be shown: nothing of them when they are held."""
    return "" if held(text) or held(_JOINED.sub(" ", text)) else text


_JOINED = re.compile(r"[-_/.]+")
"""What stands between the words of a branch or a folder."""
