"""Names of people who speak, as they are compared."""

from __future__ import annotations

import unicodedata


def voice_of(name: str) -> str:
    """A speaker's name as names are compared: Unicode, case and white space folded."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
