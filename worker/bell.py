"""How whoever runs jobs hears that some are due."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Bell: TypeAlias = Callable[[Sequence[int]], None]
"""Rings for jobs by id, after the transaction that made them due is committed. It never fails: what it could not tell, a sweep rings for again."""


def silent(_jobs: Sequence[int]) -> None:
    """The bell of the embedded default: the process that runs jobs looks for them itself."""
