"""Versions of what is derived: raised when equal inputs give other bytes, so that the first dream after an upgrade derives all of it again."""

RENDERER = "1"
