"""Lines of the person's own notes that dreamd corrected in their wording: what proved the correction upholds the line, though no log says it in those words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pipelines.model import Finding, OnlineNote, Status, Verdict
from pipelines.notes.patch import Proposal, patched
from pipelines.store import Store

UNDECIDED: Final = frozenset({Verdict.UNCHECKED, Verdict.UNSUPPORTED, Verdict.NO_LOG})
_CORRECTING: Final = frozenset({Verdict.CORRECTED, Verdict.SUPERSEDED})


def reworded(store: Store, scope: str, notes: Sequence[OnlineNote]) -> dict[str, Finding]:
    """`upheld` for those of these notes, of which nothing else decides, that say what a line of their file was corrected to, with the evidence of that."""
    if not notes:
        return {}
    wrong = {uid: f for uid, f in store.findings(scope).items() if f.verdict in _CORRECTING and f.quotes}
    now = defaultdict(list)
    for note in notes:
        now[note.folder, note.path].append(note)
    out: dict[str, Finding] = {}
    for former in store.former_notes(scope, wrong):
        standing = now.get((former.folder, former.path), ())
        words = set(_corrected(store, scope, former, wrong[former.uid])) if standing else set()
        proved = {n.uid: wrong[former.uid] for n in standing if n.text in words}
        out |= {uid: Finding(note=uid, verdict=Verdict.UPHELD, why="said_in_a_log", quotes=f.quotes, version=f.version) for uid, f in proved.items()}
    return {uid: f for uid, f in out.items() if _kept(store, scope, f)}


def formerly_wrong(store: Store, scope: str, notes: Sequence[OnlineNote]) -> tuple[OnlineNote, ...]:
    """Lines the person's files hold no more that were wrong while they stood, of the folders of these notes: others may repeat them still."""
    wrong = {uid for uid, f in store.findings(scope).items() if f.verdict in _CORRECTING} - {n.uid for n in notes}
    folders = {n.folder for n in notes}
    return tuple(n for n in store.former_notes(scope, wrong) if not n.index and n.folder in folders)


def _corrected(store: Store, scope: str, former: OnlineNote, finding: Finding) -> Iterator[str]:
    """The line as notes apply writes it: with the sentence of the log, and with that of the note which rests on it."""
    stands = store.heads(scope, notes=[finding.version]) if finding.version else ()
    rights = {finding.corrected, *(h.version.statement for h in stands if h.version.status is Status.CONFIRMED)}
    for right in sorted(r for r in rights if r):
        proposal = Proposal(note=former.uid, line=1, lines=former.text.count("\n") + 1, wrong=former.text, right=right)
        yield patched(former.text, [proposal]).text


def _kept(store: Store, scope: str, finding: Finding) -> bool:
    """Whether all the lines that prove it are still there."""
    turns: Mapping[str, object] = store.turns(scope, {q.turn for q in finding.quotes})
    return all(q.turn in turns for q in finding.quotes)
