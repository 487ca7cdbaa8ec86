"""What makes a believed note one to be checked again, though nothing replaces it: codes, and the rules that look from one note to others.

A note that fell is given back by whatever confirms it anew: beliefs are recomputed, so that nothing has to be undone.
"""

from __future__ import annotations

from pipelines.model import Version

FAILED = "failed_since"
"""`Version.missed` of a procedure that a later run shows failing; `ended_by` is the claim of that run, `reason` the line that says so."""
MAY_HAVE_CHANGED = "may_have_changed"
"""… of a fact of which the person's own unproven words say something newer; `ended_by` is their claim, `reason` what it says."""
NEWER_SEEN = "newer_version_seen"
"""… of a note bound to a version (`applies_to`) of which a newer one was seen since; `ended_by` is the claim that shows it, `reason` that version."""
RESTS_ON_FALLEN = "rests_on_a_fallen_note"
"""… of a note without evidence of its own that rests on one which was corrected or taken back; `ended_by` is what brought that down."""
CITES_FALLEN = "cites_a_fallen_note"
"""… of a note that names another one by its id which was corrected or taken back since; `ended_by` is what brought that down."""
FELL = "evidence_fell"
"""… of a conclusion of which a piece of evidence does not hold any more."""
EVIDENCE_TAKEN_BACK = "its_evidence_was_taken_back"
"""`Finding.why` of a line of a note file of which all that speaks for it or against it is words a person took back."""

OWN_EVIDENCE = frozenset({FAILED, MAY_HAVE_CHANGED, NEWER_SEEN, CITES_FALLEN})
"""Of these the note's own evidence still holds; it may be out of date."""
RECHECKED = OWN_EVIDENCE | {RESTS_ON_FALLEN, FELL}


def was_believed(version: Version) -> bool:
    """Whether a version that is over was ever more than a draft: it missed nothing, or fell only afterwards."""
    return not version.missed or version.missed in RECHECKED
