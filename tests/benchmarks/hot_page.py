"""What one hot page loses when many processes edit it at once, by how they keep out of each other's way.

    python -m tests.benchmarks.hot_page [--writers 8] [--edits 200] [--ways naive,rename,redis,sqlite,postgres] [--database URL] [--redis URL]

Every edit reads the page, adds a line and writes it back; every so many edits a writer is held up for longer than a lock lives. `sqlite` and `postgres` are ours:
the commit locks the scope and moves the page only to the revision after the one that was read; a writer that is refused does its edit again. (In the product
the lease of the unit that renders keeps writers from working in vain before that.) Servers that are not named are started.
`--paused` is one writer that says on standard output when it has read, and what became of its commit after a line came in.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import redis

from pipelines.errors import Conflict, Transient
from pipelines.store import Store, open_store
from tests import servers

SCOPE, PAGE = "local", "hot"
TTL_MS = 150
WINDOW_S, PAUSE_S = 0.001, 0.4
PAUSE_EVERY = 20
Edit = Callable[[str, float], None]
"""Adds one line, waiting so long between reading and writing."""


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--writers", type=int, default=8)
    given.add_argument("--edits", type=int, default=200, help="of each writer")
    given.add_argument("--lines", type=int, help="of all writers together, instead of --edits")
    given.add_argument("--ways", default="naive,rename,redis,sqlite,postgres")
    given.add_argument("--database", default="")
    given.add_argument("--redis", default="")
    given.add_argument("--paused", action="store_true")
    told = given.parse_args()
    if told.paused:
        paused(told.database)
        return
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o700)
        ways = told.ways.split(",")
        postgres = (told.database or stack.enter_context(servers.postgres())) if "postgres" in ways else ""
        valkey = (told.redis or f"unix://{stack.enter_context(servers.valkey())}") if "redis" in ways else ""
        total = told.lines or told.writers * told.edits
        for way in ways:
            began = time.monotonic()
            kept = run(way, folder, postgres, valkey, told.writers, total)
            seconds = time.monotonic() - began
            row = {"way": way, "writers": told.writers, "edits": total, "lost": total - kept, "lost_%": round(100 * (1 - kept / total), 1),
                   "edits_a_s": round(total / seconds)}  # fmt: skip
            print(json.dumps(row), flush=True)


def run(way: str, folder: Path, postgres: str, valkey: str, writers: int, total: int) -> int:
    """Let the writers edit, each in a process of its own; how many lines are there at the end."""
    url = postgres if way == "postgres" else f"sqlite:///{folder / 'hot.db'}"
    page = folder / f"{way}.md"
    page.write_text("", encoding="utf-8")
    if way in {"sqlite", "postgres"}:
        opened(url).close()
    children = []
    for n in range(writers):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                write(way, page, url, valkey, n, range(n, total, writers))
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitpid(child, 0)[1] for child in children]
    assert codes == [0] * writers, codes
    lines = body_of(url).splitlines() if way in {"sqlite", "postgres"} else page.read_text(encoding="utf-8").splitlines()
    assert len(set(lines)) == len(lines), "a line stands twice"
    return len(lines)


def write(way: str, page: Path, url: str, valkey: str, writer: int, numbers: range) -> None:
    with editing(way, page, url, valkey, writer) as edit:
        for n, number in enumerate(numbers):
            held_up = n % PAUSE_EVERY == (writer * 5) % PAUSE_EVERY
            edit(f"line {number}", PAUSE_S if held_up else WINDOW_S)


@contextlib.contextmanager
def editing(way: str, page: Path, url: str, valkey: str, writer: int) -> Iterator[Edit]:
    match way:
        case "naive":
            yield lambda line, s: page.write_text(read(page, line, s), encoding="utf-8") and None
        case "rename":
            yield lambda line, s: by_rename(page, read(page, line, s))
        case "redis":
            with contextlib.closing(redis.Redis.from_url(valkey)) as client:
                yield lambda line, s: by_redis(client, page, line, s)
        case _:
            with opened(url) as store:
                yield lambda line, s: by_revision(store, line, s)


def read(page: Path, line: str, wait_s: float) -> str:
    """The page with the line added, after the window between reading and writing."""
    text = page.read_text(encoding="utf-8")
    time.sleep(wait_s)
    return f"{text}{line}\n"


def by_rename(page: Path, text: str) -> None:
    temporary = page.with_name(f"{page.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(page)


def by_redis(client: redis.Redis, page: Path, line: str, wait_s: float) -> None:
    logging.getLogger("redis.lock").setLevel(logging.CRITICAL)  # it says that it was lost, when the harm is done
    lock = client.lock("hot", timeout=TTL_MS / 1000, sleep=0.002, raise_on_release_error=False)
    with lock:
        by_rename(page, read(page, line, wait_s))


def by_revision(store: Store, line: str, wait_s: float) -> None:
    """Add a line; again when somebody else has moved the page meanwhile."""
    while True:
        head = store.pages(SCOPE).get(PAGE)
        time.sleep(wait_s)
        try:
            commit(store, f"{head.body if head else ''}{line}\n", (head.rev if head else 0) + 1)
        except (Conflict, Transient):
            wait_s = WINDOW_S
            continue
        return


def commit(store: Store, body: str, rev: int) -> None:
    """One version of the page, refused when it stands at this revision or a later one by now."""
    store.commit_page(SCOPE, PAGE, slug="hot.md", title="Hot", body=body, rev=rev, renderer="bench")


def body_of(url: str) -> str:
    with opened(url) as store:
        return store.pages(SCOPE)[PAGE].body


def opened(url: str) -> Store:
    return open_store(url, now=lambda: datetime.now(UTC))


def paused(url: str) -> None:
    """Read, say so, wait for a line, commit; say what became of it."""
    with opened(url) as store:
        head = store.pages(SCOPE)[PAGE]
        print("read", flush=True)
        sys.stdin.readline()
        try:
            commit(store, f"{head.body}late\n", head.rev + 1)
        except Conflict:
            print("refused", flush=True)
        else:
            print("written", flush=True)


if __name__ == "__main__":
    main()
