"""The list of commands as `dreamd --help` shows it: what everybody needs first, then more, then what keeps it running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from typer.core import TyperGroup

PARTS: Final[Mapping[str, Mapping[str, str]]] = {
    "Commands": {
        "dream": "Read your agents' logs, check your notes, write the wiki.",
        "brief": "What a new session is told.",
        "search": "Find notes, and lines of any session.",
        "why": "From a sentence of the wiki to the log lines it rests on.",
        "review": "What waits for you; accept it or reject it.",
        "notes": "Correct your own note files, and take that back.",
        "journal": "What the last dream changed.",
        "connect": "Have an agent tell its new sessions the brief.",
    },
    "More": {
        "remember": "Tell the memory something yourself.",
        "edit": "Say a note in your own words.",
        "retract": "Take a note back.",
        "pin": "Have a note told first.",
        "revert": "Take back a dream, or a note's last change.",
        "forget": "Take words out of everything dreamd holds.",
        "scrub": "Mask by newer secret rules what was taken in.",
        "disconnect": "Take out what connect put in.",
        "status": "What the wiki holds, the last dream, what waits.",
        "lint": "Look over note and instruction files, or one of them.",
        "verify": "Read every citation again.",
        "dreams": "List dreams, show one, cancel one.",
        "apply": "Believe what a dry run planned or a guard held.",
        "estimate": "What a dream with a model would cost; asks nothing.",
        "costs": "What models have cost.",
        "replay": "A dream once more from recorded answers; asks nothing.",
        "doctor": "Is all well here, and if not, what to do.",
        "up": "Keep dreaming on this machine: all processes in one.",
        "schedule": "When to dream; runs the schedules, too.",
    },
    "Plumbing": {
        "worker": "Work on dreams that were asked for.",
        "watch": "See sessions end.",
        "publish": "Write the wiki folder from the store.",
        "submit": "Ask for a dream, as a platform does.",
        "hook": "What agents call.",
        "metrics": "Figures for monitoring.",
        "letters": "Messages nobody could act on.",
        "audit": "Who asked for what, took it back or applied it.",
        "export": "A scope as one file.",
        "import": "Bring in an exported scope.",
        "intake": "Take logs in; decide nothing.",
        "rebuild": "Render the wiki again from the store.",
    },
}
"""Heading → command → what it is for, each in the order shown. A line fits a terminal of 80 columns."""


class Verbs(TyperGroup):
    """The command line, whose help is a table of ours: it is read as a whole by somebody who knows none of it yet."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # of a parser typer carries within, under a private name
        """Write the table; a command that stands in no part comes last, with the beginning of its own help."""
        wide = max(map(len, self.commands), default=0)
        known = {name for part in PARTS.values() for name in part}
        others = {name: c.get_short_help_str() for name, c in self.commands.items() if name not in known and not c.hidden}
        for head, part in (*PARTS.items(), ("Others", others)):
            rows = [(name.ljust(wide), says) for name, says in part.items() if name in self.commands]
            if rows:
                with formatter.section(head):
                    formatter.write_dl(rows)
