"""Notes: memory folders, identity, relations between statements, beliefs and promotion."""
