"""The gates: pure code, the same for every engine."""
