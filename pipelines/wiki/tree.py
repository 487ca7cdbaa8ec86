"""Every file of a revision, and where each note stands in it: what is committed, and what a folder is published from."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.wiki.brief import Brief, tell
from pipelines.wiki.budget import LINES_MIN, MEMORY_MD, SIZE_MIN, Budget
from pipelines.wiki.content import Content
from pipelines.wiki.inbox import entries, inbox, queue
from pipelines.wiki.index import indexes
from pipelines.wiki.recent import recent
from pipelines.wiki.render import Rendered, render, to_bytes
from pipelines.wiki.signs import signs_of
from pipelines.wiki.topics import Layout, layout

INDEX_PATH, INBOX_PATH, RECENT_PATH = "MEMORY.md", "inbox.md", "recent.md"


@dataclass(frozen=True, slots=True)
class Tree:
    """Path → bytes of the whole wiki but its journal, with the layout and pages it was made from, and the brief of `MEMORY.md`."""

    files: dict[str, bytes]
    layout: Layout
    rendered: Rendered
    brief: Brief

    @property
    def stubs(self) -> frozenset[str]:
        """Paths of pages that only lead on."""
        return frozenset(self.rendered.stubs)


def tree(content: Content, *, scope: str = "") -> Tree:
    """The wiki of a revision: a pure function of its content."""
    plan = layout(content.items)
    rendered = render(content, plan)
    own = content.own.get(INDEX_PATH, "")
    signs = signs_of(content, plan)
    told = tell(signs, room_beside(own), scope=scope)
    files = {
        **rendered.files,
        **{path: to_bytes(text) for path, text in indexes(signs.doors, own=content.own).items()},
        RECENT_PATH: to_bytes(recent(content.work, content.newest_evidence, own=content.own.get(RECENT_PATH, ""))),
        INBOX_PATH: to_bytes(inbox(queue(entries(content)), own=content.own.get(INBOX_PATH, ""))),
        INDEX_PATH: to_bytes(told.text + own),
    }
    return Tree(dict(sorted(files.items())), plan, rendered, told)


def room_beside(own: str) -> Budget:
    """The budget of `MEMORY.md` less what a person wrote below the brief."""
    size = MEMORY_MD.size - len(own.encode("utf-8", "surrogateescape"))
    return Budget(lines=max(LINES_MIN, MEMORY_MD.lines - own.count("\n")), size=max(SIZE_MIN, size))
