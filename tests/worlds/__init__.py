"""Seeded worlds: people who talk to an agent for many sessions, and what must be believed of them afterwards (`python -m tests.worlds`)."""
