"""Migrations: each works under the previous code, and all of an upgrade is one transaction under one lock (systems R16)."""
