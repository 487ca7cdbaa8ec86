"""Processes: when and where work runs, never what it decides."""

__version__ = "0.1.0"

READY_FD = "--ready-fd="
"""The first word of a part of `dreamd up`: where it says that it is ready."""
