"""Versions of what is derived: raised when equal inputs give other bytes, so that the first dream after an upgrade derives all of it again."""

from pipelines.notes.identity import KEY_VERSION

RENDERER = "13"
"""Of pages."""
BELIEFS = f"{KEY_VERSION}.6"
"""Of gates, relations and beliefs over the claims an engine read; the engine's own version is part of its name."""
