"""What is shown, as rows: items, pages, links, sessions, and how far rendering has come."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Render:
    """How far the projection has come: the renderer that made it, the revision it stands for, the newest rows it has seen of each table (`marks`), and
    what it keeps beside its rows (`aside`)."""

    renderer: str
    rev: int
    marks: Mapping[str, int]
    aside: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ShownItem:
    """A note as pages show it. `raw` is the note alone; of notes that say one sentence the one that leads shows `body`, the evidence of all ("": as `raw`).

    `root` is the topic it belongs to, `topic` the section of that it stands on. What stands behind `lead` says nothing for a note that does not lead. Times are microseconds since 1970. `mark` is a digest of what is shown.
    """

    uid: str
    sentence: str
    lead: bool
    carried: bool
    live: bool
    placed: bool
    key: str
    subject: str
    named: bool
    pin: str
    forms: str
    shelf: str
    root: str
    topic: str
    part: int
    oldest: int | None
    newest: int | None
    position: int
    waits: str
    reason: str
    queue_rank: str
    section: str
    brief_rank: str
    said: str
    checked: bool
    indexed: bool
    upper_lines: int
    upper_bytes: int
    lines: int | None
    size: int | None
    mark: str
    raw: str
    body: str

    @property
    def shown(self) -> str:
        """What a page shows of it, packed."""
        return self.body or self.raw


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A part of a topic: where it lies, what it is called, how an index names it, and marks of what it was made of. It has a page when it is `live`.
    `begin` is where a section of a large topic begins ("": with the topic)."""

    topic: str
    part: int
    sort: str
    live: bool
    title: str
    path: str
    slug: str
    begin: str
    aliases: str
    names: str
    hook: str
    line: str
    archived: bool
    bytes: int
    mark: str
    links_mark: str

    @property
    def key(self) -> str:
        """The name of this part among all pages."""
        return self.topic if self.part == 1 else f"{self.topic}\n{self.part}"


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page without its links: distinct ones as names are found by, the whole text, and the paths its lines lead to."""

    words: str
    body: str
    targets: str


@dataclass(frozen=True, slots=True)
class ShownLink:
    """That a page names another one, how often, and whether it leads there."""

    source: str
    target: str
    mentions: int
    leads: bool


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session as the work log has it: its turns' digest, its times, the folder it ran in, and the work packed ("": not looked at; "null": none)."""

    session_id: int
    digest: str
    started_at: datetime | None
    first_at: datetime | None
    last_at: datetime | None
    folder: str
    work_mark: str
    work: str


@dataclass(frozen=True, slots=True)
class Moves:
    """What has changed since a render: the revision and marks now, notes with other heads, turns that may be cited otherwise, sessions that tell of
    other things (id, uid, digest, start), and what the sources say of them."""

    rev: int
    marks: Mapping[str, int]
    notes: frozenset[str]
    turns: frozenset[str]
    sessions: tuple[tuple[int, str, str, datetime | None], ...]
    infos: tuple[tuple[int, int, int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Rows to write: each kind that is new or changed, and the keys of those that are gone. `rests` are given per item, whole."""

    items: Sequence[ShownItem] = ()
    items_gone: Collection[str] = ()
    rests: Mapping[str, Collection[str]]
    pages: Sequence[tuple[ShownPage, PageWords | None]] = ()
    pages_gone: Collection[tuple[str, int]] = ()
    links: Mapping[str, Sequence[ShownLink]]
    sessions: Sequence[ShownSession] = ()
    infos: Sequence[tuple[int, int, int, str]] = ()
