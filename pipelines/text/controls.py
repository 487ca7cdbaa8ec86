"""Control sequences of terminals: taken out whole, since of a sequence without its escape a reader sees `[31m`."""

from __future__ import annotations

import re

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]?|\x9b[0-?]+[ -/]*[@-~]"  # colours, cursor (CSI)
    r"|\x1b[\]PX^_][^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)?|[\x9d\x90\x98\x9e\x9f][^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)"  # titles, links, strings (OSC, DCS, SOS, PM, APC); none runs over a line
    r"|\x1b[ -/]*[0-~]?"  # all others
    r"|[\x9b\x9d\x90\x98\x9e\x9f]"  # a mark alone: mostly half of a quotation mark that was read in the wrong encoding, and no reason to lose what follows
)


def without_controls(text: str) -> str:
    """The text without escape sequences of terminals, whole or cut off; its other characters are as they were."""
    return _SEQUENCE.sub("", text) if any(mark in text for mark in _MARKS) else text


_MARKS = ("\x1b", "\x9b", "\x9d", "\x90", "\x98", "\x9e", "\x9f")
