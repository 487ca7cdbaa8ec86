"""What it costs to keep a wiki folder at what the store shows: CPU seconds of each look, over so many pages of forty notes.

python -m tests.benchmarks.publishing [--pages 4000]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pipelines.model import short_uid
from pipelines.run.publish import WikiFolder, publish_revision, shows, take_own_words
from pipelines.run.render import commit_page
from pipelines.store import Store, open_store
from pipelines.wiki.folder import YOUNG_NS
from pipelines.wiki.page import OWN_MARK
from worker import wiring
from worker.cli.publish import FolderParts

SCOPE, NOTES, CHANGED = "local", 40, 5


def main() -> None:
    """Make the pages, publish them, and print what each further look costs."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=4000)
    pages: int = arguments.parse_args().pages
    root = Path(tempfile.mkdtemp())
    (root / "data").mkdir(mode=0o700)
    try:
        with open_store(f"sqlite:///{root}/data/store.db", now=wiring.utc_now) as store:
            measure(FolderParts(store=store, redactor=wiring.redactor(), holder="bench:1:1"), WikiFolder(folder=root / "wiki", wiki="w", host="bench"), pages)
    finally:
        shutil.rmtree(root)


def measure(parts: FolderParts, at: WikiFolder, pages: int) -> None:
    """Each look in turn."""
    commit(parts.store, range(pages), value=0)
    timed("publish, all new", lambda: publish_revision(parts, at, SCOPE))
    threading.Event().wait(YOUNG_NS / 1e9 + 0.1)
    timed("publish, nothing new, read once more", lambda: publish_revision(parts, at, SCOPE))
    timed("take own words", lambda: take_own_words(parts, at, SCOPE))
    timed("is there anything to do", lambda: shows(parts, at, SCOPE))
    timed("publish, nothing new", lambda: publish_revision(parts, at, SCOPE))
    commit(parts.store, range(CHANGED), value=1)
    timed(f"publish, {CHANGED} pages changed", lambda: publish_revision(parts, at, SCOPE))


def commit(store: Store, numbers: range, *, value: int) -> None:
    """Pages with these numbers, at the next revision."""
    rev = store.raise_revision(SCOPE, cause="benchmark", above=store.revision(SCOPE))
    with store.together("commit pages"):
        for n in numbers:
            commit_page(store, SCOPE, short_uid("page", str(n)), f"thing-{n}.md", f"Thing {n}", page(n, value), rev)


def page(n: int, value: int) -> str:
    """A page as rendering makes it."""
    lines = "\n".join(f"- Part {k} of thing {n} is at **{k + value}**. [^{k}] ^n-{n:06d}{k:06d}" for k in range(1, NOTES + 1))
    notes = "".join(f'\n[^{k}]: `0fe04fa6…` line {k}, 2 Mar 2026 09:08 UTC, user: "part {k} of thing {n}"\n' for k in range(1, NOTES + 1))
    return f"---\ntitle: Thing {n}\nupdated: 2026-03-12\n---\n\n# Thing {n}\n\n{lines}\n\n{OWN_MARK}\n{notes}"


def timed(name: str, look: Callable[[], object]) -> None:
    """Run and print."""
    began, wall = time.process_time(), time.perf_counter()
    look()
    print(f"{name:<40} {time.process_time() - began:7.3f} s CPU {time.perf_counter() - wall:8.3f} s", flush=True)


if __name__ == "__main__":
    main()
