"""When a file was last committed, asked of git itself, read-only; without git or a repository there is no answer."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

_TIMEOUT_S = 20


def git_times(folder: Path) -> Mapping[str, datetime]:
    """Time of the last commit of each tracked Markdown file below `folder`, by its path relative to it."""
    command = [
        "git",
        "-C",
        str(folder),
        "-c",
        "core.quotePath=off",
        "log",
        "--format=%x01%cI",
        "--name-only",
        "--relative",
        "--",
        "*.md",
        "*.markdown",
        "*.mdx",
    ]
    try:
        out = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=True, stdin=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError):
        return {}
    times: dict[str, datetime] = {}
    for commit in out.split("\x01")[1:]:
        stamp, _, names = commit.partition("\n")
        at = datetime.fromisoformat(stamp.strip()).astimezone(UTC)
        for name in names.splitlines():
            if name:
                times.setdefault(name, at)
    return times
