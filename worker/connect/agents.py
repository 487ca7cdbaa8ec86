"""What an agent's settings are made to say so that its sessions are told the brief, and how that is taken out again. Plans first, then thin writing.

The agent's own memory settings are not touched: nothing but hooks of ours, or a marked block in a file of instructions, is put in.
"""

from __future__ import annotations

import difflib
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pipelines.errors import Refused
from pipelines.model import digest
from worker.connect import block, json_text
from worker.connect.ledger import Entry, Ledger, read_file, remove_folders, write_file
from worker.projects import Homes

CLAUDE, CODEX = "claude-code", "codex"
AGENTS: Final = (CLAUDE, CODEX)
TIMEOUT_S: Final = 5
"""Said with every hook: all hooks of a session end share 1.5 s where none says more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one file is made to say. `before` is what stands there (None: nothing), `entry` how it is taken out again; `first` are its bytes before any of
    ours, where those are not kept yet."""

    path: Path
    before: bytes | None
    after: bytes
    entry: Entry
    first: bytes | None

    @property
    def changes(self) -> bool:
        """Whether anything is written."""
        return self.after != self.before

    def diff(self) -> str:
        """The change as a patch."""
        was, now = ((data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (self.before, self.after))
        name = str(self.path)
        return "".join(
            line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(was, now, name if self.before is not None else "/dev/null", name)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """How a file was left: "as it was" to the byte, "removed", "without ours" (others had changed it since), "changed" (ours was changed by somebody and stays),
    or "gone"."""

    path: Path
    how: str


def hooks_of(agent: str, *, options: Sequence[str] = ()) -> Mapping[str, Mapping[str, Any]]:
    """Event → the group of hooks an agent gets. Codex tells no end of a session, but each end of a turn."""
    about = [*(["--agent", agent] if agent != CLAUDE else []), *options]
    start, end = ("SessionStart", "SessionEnd") if agent == CLAUDE else ("SessionStart", "Stop")
    return {start: _group(["hook", "session-start", *about]), end: _group(["hook", "session-end", "--connected", *about])}


def dreamd_command() -> list[str]:
    """How this very dreamd is called by whole path: an agent's PATH is not the person's."""
    beside = Path(sys.executable).parent / "dreamd"
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "worker"]


def settings_file(agent: str, homes: Homes, project: Path | None) -> Path:
    """Where hooks go: a person's own settings, of all projects or of one. Raises Refused for an agent that never ran here."""
    home = homes.claude if agent == CLAUDE else homes.codex
    if not home.is_dir():
        raise Refused(f"{home} is not there: start {'Claude Code' if agent == CLAUDE else 'Codex'} once, then connect it")
    if agent == CLAUDE:
        return project / ".claude" / "settings.local.json" if project else home / "settings.json"
    return (project / ".codex" if project else home) / "hooks.json"


def plan_hooks(ledger: Ledger, path: Path, agent: str, *, options: Sequence[str] = (), root: str = "", wiki: str = "") -> Change:
    """Hooks in a settings file. What dreamd put there before is replaced; a session-end hook put in by hand stays, and is not doubled."""
    before, known = read_file(path), ledger.entry(path)
    clean = _clean(ledger, known, before) if known else before
    text = _edited(path, lambda: json_text.checked(clean) if clean and clean.strip() else "{}")
    there = json_text.commands_of(text)
    wanted = {event: group for event, group in hooks_of(agent, options=options).items() if not any(_is_ours(c, event) for c in there.get(event, ()))}
    after = _edited(path, lambda: json_text.with_hooks(text, wanted)) if wanted else text
    _require_added(text, after, wanted)
    data = after.encode() if after.endswith("\n") or clean else f"{after}\n".encode()
    commands = tuple(hook["command"] for group in wanted.values() for hook in group["hooks"])
    entry = Entry(path=str(path), agent=agent, what="hooks", existed=known.existed if known else before is not None, after=digest(data), root=root, wiki=wiki,
                  commands=commands, folders=known.folders if known else ())  # fmt: skip
    return Change(path=path, before=before, after=data, entry=entry, first=None if known else before or b"")


def plan_block(ledger: Ledger, path: Path, text: str, *, root: str, wiki: str) -> Change:
    """A marked block with a brief at the end of a file of instructions."""
    if not text:
        raise Refused(f"no brief of {wiki} is ready yet: dream once (dreamd dream), then connect")
    before, known = read_file(path), ledger.entry(path)
    clean = (_clean(ledger, known, before) if known else before) or b""
    data, lead = block.with_block(clean, text) if before is None else _edited(path, lambda: block.with_block(clean, text))
    entry = Entry(path=str(path), agent=CODEX, what="block", existed=known.existed if known else before is not None, after=digest(data), root=root, wiki=wiki,
                  lead=lead, mark=digest(text.encode("utf-8", "replace")), folders=known.folders if known else ())  # fmt: skip
    return Change(path=path, before=before, after=data, entry=entry, first=None if known else before or b"")


def plan_file(ledger: Ledger, path: Path, text: str, agent: str, *, undo: Sequence[Sequence[str]] = ()) -> Change:
    """A file of our own."""
    before, known = read_file(path), ledger.entry(path)
    if before is not None and known is None and before != text.encode():
        raise Refused(f"{path} is there and not dreamd's: move it away")
    entry = Entry(path=str(path), agent=agent, what="file", existed=False, after=digest(text.encode()), undo=tuple(map(tuple, undo)),
                  folders=known.folders if known else ())  # fmt: skip
    return Change(path=path, before=before, after=text.encode(), entry=entry, first=None if known else b"")


def write(ledger: Ledger, change: Change) -> None:
    """Write down how it is undone, then the file, if it still stands as it was read."""
    ledger.keep(change.entry, change.first)
    made = write_file(change.path, change.after, expected=change.before)
    if made:
        ledger.keep(replace(change.entry, folders=(*made, *change.entry.folders)))


def undo(ledger: Ledger, path: Path) -> Undone:
    """Take out what was written into a file, and forget it: to the byte where nobody changed the file since, else ours alone."""
    entry = ledger.entry(path)
    if entry is None:
        raise Refused(f"nothing of dreamd is known to stand in {path}")
    found = read_file(path)
    if found is None:
        how = "gone"
    elif digest(found) == entry.after:
        write_file(path, ledger.before(path) if entry.existed else None, expected=found)
        how = "as it was" if entry.existed else "removed"
    else:
        how = _undo_ours(ledger, entry, path, found)
    left = remove_folders(entry.folders)
    ledger.drop(entry)
    heir = next((e for e in ledger.entries() if left and Path(e.path).is_relative_to(left[0])), None)
    if heir is not None:  # it stands in a folder made for this one, and takes it along when it goes
        ledger.keep(replace(heir, folders=(*heir.folders, *left)))
    return Undone(path=path, how=how)


# --- what is in the way ------------------------------------------------------------------------------------------------------------------


def _undo_ours(ledger: Ledger, entry: Entry, path: Path, found: bytes) -> str:
    if found == ledger.before(path):
        return "as it was"  # it was never written, or somebody took ours out
    clean = _clean(ledger, entry, found)
    if clean is None or clean == found:
        return "changed" if entry.what != "hooks" else "without ours"
    if not entry.existed and clean.strip() in {b"", b"{}"}:
        write_file(path, None, expected=found)
        return "removed"
    write_file(path, clean, expected=found)
    return "without ours"


def _clean(ledger: Ledger, entry: Entry, found: bytes | None) -> bytes | None:
    """A file without what dreamd put into it: as it was before where nobody changed it since; None where it was not there."""
    if found is None:
        return None
    path = Path(entry.path)
    before = ledger.before(path)
    if digest(found) == entry.after:
        return before if entry.existed else None
    if entry.what == "hooks":
        stood = before.decode("utf-8", "replace") if before.strip() else "{}"
        text = _edited(path, lambda: json_text.checked(found))
        return json_text.without_hooks(text, entry.commands, stood=stood).encode()
    if entry.what == "block":
        return block.without_block(found, entry.lead, entry.mark) or found
    return found


def _edited(path: Path, edit: Callable[[], Any]) -> Any:
    try:
        return edit()
    except Refused as error:
        raise Refused(f"{path} is left as it is: {error}") from None


def _is_ours(command: str, event: str) -> bool:
    """Whether a hook calls dreamd for this event already, whoever put it there."""
    name = "session-start" if event == "SessionStart" else "session-end"
    return f"hook {name}" in command and ("dreamd" in command or "worker" in command)


def _require_added(before: str, after: str, wanted: Mapping[str, Mapping[str, Any]]) -> None:
    """What was edited as text says what an edit of its values would have made it say."""
    said = json.loads(before)
    for event, group in wanted.items():
        said.setdefault(json_text.HOOKS, {}).setdefault(event, []).append(group)
    assert json.loads(after) == said, "an edit of the text that is none of its values"


def _group(words: Sequence[str]) -> Mapping[str, Any]:
    return {"hooks": [{"type": "command", "command": shlex.join([*dreamd_command(), *words]), "timeout": TIMEOUT_S}]}
