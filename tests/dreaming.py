"""A person's desk in a folder of its own: logs, notes, a wiki and a store, and short words for dreaming over them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from pipelines.engines.local.engine import LocalEngine
from pipelines.logs.archive import FolderArchive
from pipelines.logs.detect import READERS
from pipelines.logs.redaction import Redactor
from pipelines.model import Finding, OnlineNote
from pipelines.run import Outcome, Params, Parts, Request, apply_dream, dream
from pipelines.run.sources import standing_notes
from pipelines.store import Store, open_store, this_process
from pipelines.store.blobs import DatabaseArchive

NOW = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)
SCOPE = "local"
WIKI_ID = "0123456789abcdef"
HOST = "desk"


@dataclass
class Desk:
    """Everything of one person; `redactor` is shared, since compiling its rules takes longer than a dream. `url` names another store than a file here."""

    root: Path
    redactor: Redactor
    now: datetime = NOW
    holder: str = field(default_factory=this_process)
    step: Callable[[str], None] = lambda _: None
    url: str = ""

    def __post_init__(self) -> None:
        self.logs, self.notes, self.wiki, self.data = (self.root / n for n in ("logs", "notes", "wiki", "data"))
        self.logs.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(mode=0o700, exist_ok=True)
        if not self.url:
            self.url = f"sqlite:///{self.data / 'store.db'}"
            if not (self.data / "store.db").exists():
                shutil.copyfile(empty_store(), self.data / "store.db")

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The store, opened and closed."""
        with open_store(self.url, now=lambda: self.now) as opened:
            yield opened

    def parts(self, store: Store) -> Parts:
        """Live parts over an opened store."""
        return Parts(
            store=store, archive=FolderArchive(self.data / "archive"), redactor=self.redactor, engine=LocalEngine(), readers=READERS, now=lambda: self.now,
            holder=self.holder, step=self.step,
        )  # fmt: skip

    def request(self, *paths: Path, **given: object) -> Request:
        """A dream over the paths (default: the log folder) and the notes folder if there is one."""
        notes = (self.notes,) if self.notes.exists() else ()
        decided = {name: given.pop(name) for name in tuple(given) if name in Params.__slots__}
        params = replace(Params(), **decided)  # type: ignore[arg-type]
        asked = Request(
            scope=SCOPE, paths=tuple(map(str, paths or (self.logs,))), wiki=self.wiki, wiki_id=WIKI_ID, host=HOST, notes=notes, params=params
        )  # fmt: skip
        return replace(asked, **given)  # type: ignore[arg-type]

    def dream(self, *paths: Path, **given: object) -> Outcome:
        """Dream once."""
        with self.store() as store:
            return dream(self.parts(store), self.request(*paths, **given))

    def apply(self, uid: str) -> Outcome:
        """Apply a dream that waits."""
        with self.store() as store:
            return apply_dream(self.parts(store), self.request(), uid)

    def note(self, name: str, text: str, *, mtime: datetime | None = None) -> Path:
        """A note file of the agent."""
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if mtime:
            os.utime(path, (mtime.timestamp(), mtime.timestamp()))
        return path

    def tree(self) -> dict[str, str]:
        """The wiki's Markdown files but the journal, by path."""
        files = (p for p in sorted(self.wiki.rglob("*.md")) if ".dreamd" not in p.parts)
        return {n: p.read_text(encoding="utf-8") for p in files if not (n := p.relative_to(self.wiki).as_posix()).startswith("journal/")}

    def pages(self) -> dict[str, str]:
        """The topic pages: all but the index, the queue, the work log and the archive."""
        beside = {"MEMORY.md", "inbox.md", "recent.md", "pages.md"}
        return {n: t for n, t in self.tree().items() if n not in beside and not n.startswith("archive/")}

    def brief(self) -> str:
        """What a new session is told."""
        return (self.wiki / "MEMORY.md").read_text(encoding="utf-8")

    def verdicts(self) -> dict[str, tuple[OnlineNote, Finding]]:
        """Each standing online note and its finding, by the note's text."""
        with self.store() as store:
            found = store.findings(SCOPE)
            return {n.text: (n, found[n.uid]) for n in standing_notes(store.online_notes(SCOPE)) if n.uid in found}


@dataclass
class OpenedDesk(Desk):
    """A desk over a store that is open already, and emptied for it; `on_server` keeps archived bytes in it."""

    opened: Store | None = None
    on_server: bool = False

    @contextmanager
    def store(self) -> Iterator[Store]:
        assert self.opened is not None
        self.opened.now = lambda: self.now
        yield self.opened

    def parts(self, store: Store) -> Parts:
        parts = super().parts(store)
        return replace(parts, archive=DatabaseArchive(store, SCOPE)) if self.on_server else parts


@cache
def empty_store() -> Path:
    """A migrated store to copy: a migration takes longer than most dreams."""
    folder = Path(mkdtemp(prefix="dreamd-empty-store-"))
    folder.chmod(0o700)
    path = folder / "store.db"
    open_store(f"sqlite:///{path}", now=lambda: NOW).close()
    return path


def footprint(folder: Path) -> dict[str, tuple[int, str]]:
    """Modification time and digest of every file below a folder, by path."""
    files = (p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): (p.stat().st_mtime_ns, sha256(p.read_bytes()).hexdigest()) for p in files}


def differences(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    """Which files two trees do not have in common, with their first differing line: what a failing test should show."""
    out = []
    for path in sorted(a.keys() | b.keys()):
        if a.get(path) != b.get(path):
            lines = zip([*(a.get(path) or "").splitlines(), ""], [*(b.get(path) or "").splitlines(), ""], strict=False)
            out.append(f"{path}: {next((f'{x!r} ≠ {y!r}' for x, y in lines if x != y), 'one is longer')}")
    return out


def lines_with(tree: Mapping[str, str], *words: str) -> list[str]:
    """Every line of a tree that holds all the words, as `path: line`."""
    return [f"{path}: {line}" for path, text in tree.items() for line in text.splitlines() if all(w.lower() in line.lower() for w in words)]


def above_footnotes(text: str) -> str:
    """A page without its footnotes."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("[^"))


def all_but_footnotes(tree: Mapping[str, str]) -> dict[str, str]:
    """A tree without footnotes: what is stated, not what is quoted."""
    return {path: above_footnotes(text) for path, text in tree.items()}


def shuffled(items: Iterable[Path], order: Iterable[int]) -> list[Path]:
    """Items in a given order."""
    listed = list(items)
    return [listed[i] for i in order]
