"""What was decided in files of the wiki since a moment, for the command that took it over to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from pipelines.run.edits import ASKED, DECLINED, DISMISSED, HAND
from pipelines.store import Store

TOLD: Final[Mapping[str, str]] = {
    "approve": "accepted", "keep": "kept", "reject": "rejected", DECLINED: "rejected", DISMISSED: "dismissed", "retract": "taken back", "edit": "edited",
    ASKED: "to be confirmed with dreamd review",
}  # fmt: skip
"""A decision, in a word."""
OF_THE_INBOX: Final = frozenset({"approve", "keep", "reject", DECLINED, DISMISSED})


def decided_in_files(store: Store, scope: str) -> Sequence[str]:
    """The verbs of all decisions made in files, oldest first: later ones come behind."""
    return [a.verb for a in store.audit(scope) if a.hand == HAND]


def taken_line(before: Sequence[str], after: Sequence[str]) -> str:
    """`taken from inbox.md: 1 accepted, 1 rejected`; "" when nothing came since `before`."""
    new = [verb for verb in after[len(before) :] if verb in TOLD]
    if not new:
        return ""
    counts = Counter(TOLD[verb] for verb in new)
    where = "inbox.md" if OF_THE_INBOX.issuperset(new) else "files of the wiki"
    return f"taken from {where}: {', '.join(f'{counts[word]} {word}' for word in dict.fromkeys(TOLD.values()) if counts[word])}"
