"""Processes: when and where work runs, never what it decides."""

__version__ = "0.1.0"
