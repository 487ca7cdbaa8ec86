"""A revision rendered and its pages committed, from the store alone: this runs where neither the logs nor the wiki folder can be seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from pipelines.errors import Conflict
from pipelines.logs.redaction import Redactor
from pipelines.model import digest, short_uid
from pipelines.run.content import content_of
from pipelines.run.parts import Parts
from pipelines.run.recent_work import folder_of, title_from
from pipelines.run.showing import File, Sight, as_text, look
from pipelines.run.versions import RENDERER
from pipelines.store import PageMark, Placement, Store
from pipelines.wiki.edits import own_text
from pipelines.wiki.own import joined
from pipelines.wiki.render import to_bytes
from pipelines.wiki.slugs import fold
from pipelines.wiki.tree import tree

Done = TypeVar("Done")
RENDERS_MAX = 3
"""How often a revision is rendered when others commit or change beliefs meanwhile."""
REPORTS = "journal/"


def render(parts: Parts, scope: str) -> int:
    """Render what changed of the scope and commit every page that did; once more when another process was faster. Twice is as good as once.

    Returns the revision the pages stand at.
    """
    return again_on_conflict(lambda: _render(parts, scope))


def again_on_conflict(work: Callable[[], Done]) -> Done:
    """Do what looks at a revision and commits to it; anew, a few times, while others are faster. Raises the last Conflict."""
    for _ in range(RENDERS_MAX - 1):
        with suppress(Conflict):
            return work()
    return work()


def _render(parts: Parts, scope: str) -> int:
    revision = commit(parts.store, scope, rendered(parts, scope))
    parts.step("pages_committed")
    return revision


def rendered(parts: Parts, scope: str) -> Sight:
    """What the scope's present revision shows, as far as it changed; nothing is committed yet."""
    rules = parts.redactor
    return look(parts.store, scope, own=own_of(parts.store, scope), cover=lambda path, data: covered(rules, path, data), covers=rules.version)


def whole(parts: Parts, scope: str) -> Mapping[str, str]:
    """Every page of the present revision by path, rendered from everything the store holds and from nothing that is kept of earlier renders."""
    store = parts.store
    content = content_of(store, scope, title=title_of(store, scope), own=own_of(store, scope), redirects={})
    return {path: as_text(covered(parts.redactor, path, data)) for path, data in tree(content, scope="").files.items()}


def differing(parts: Parts, scope: str) -> tuple[str, ...]:
    """Paths of committed pages that are not what rendering the whole revision gives; there are none but by a fault, and rendering anew mends it."""
    wanted = {path: digest(body) for path, body in whole(parts, scope).items()}
    stands = {path: what for path, what in parts.store.page_digests(scope).items() if not path.startswith(REPORTS)}
    return tuple(sorted(path for path in wanted.keys() | stands.keys() if wanted.get(path) != stands.get(path)))


def own_of(store: Store, scope: str) -> dict[str, str]:
    """A person's own words by page path."""
    return {path: text for path, page in store.own_words(scope).items() if (text := joined(page.sections))}


def covered(redactor: Redactor, path: str, data: bytes) -> bytes:
    """A rendered file with its secrets masked, as the logs' are: words that are none alone may be one side by side, and one such line must not hold back
    the rest. What a person wrote on the page themselves stays as it is."""
    own = own_text(path, data).encode("utf-8", "surrogateescape")
    ours = data.split(own, 1) if own.strip() else [data]
    return own.join(redactor.mask(piece).data for piece in ours)


def covered_report(redactor: Redactor, path: str, text: str) -> str:
    """A report with its secrets masked, as a page's: it puts words side by side that stood in different lines, and is committed but once."""
    return as_text(covered(redactor, path, to_bytes(text)))


def commit(store: Store, scope: str, sight: Sight) -> int:
    """Commit every page that changed, at one revision and all at once, with the rows they were made from; returns the revision they stand at.

    Raises Conflict when the scope, a page or the rows have moved on since `sight` was taken; nothing is committed then.
    """
    anew = sight.gone is None
    heads = store.page_marks(scope, None if anew else {*(f.uid for f in sight.files), *(sight.gone or ())})
    heads = {uid: head for uid, head in heads.items() if not head.slug.startswith(REPORTS)}
    wanted = {f.uid: f for f in sight.files}
    changed = [f.uid for f in sight.files if is_new(f, heads.get(f.uid))]
    gone = [uid for uid in sorted(heads if sight.gone is None else sight.gone) if uid in heads and uid not in wanted]
    order, down = _moves(changed, {uid: (f.path, f.title) for uid, f in wanted.items()}, heads)
    placed = dict(sight.placed)
    if anew:
        placed |= dict.fromkeys(store.placements(scope).keys() - placed.keys())
    rev = sight.after.rev
    bodies = store.page_bodies(scope, [uid for uid in changed if uid in heads])
    with store.together("commit the pages of a revision"):
        store.require_revision(scope, rev)
        if any(heads[uid].rev >= rev for uid in changed if uid in heads) or (not rev and wanted):
            rev = store.raise_revision(scope, cause="render", above=rev)
        store.save_render(scope, sight.before, replace(sight.after, rev=rev), sight.rows)
        for uid in [*gone, *down]:
            store.retire_page(scope, uid, rev=rev)
        for uid in order:
            commit_page(store, scope, uid, wanted[uid].path, wanted[uid].title, wanted[uid].body, rev, before=bodies.get(uid, ""))
        store.save_placements(scope, rev, (Placement(note=n, page=at[0] if at else None, section=at[1] if at else "") for n, at in sorted(placed.items())))
    return rev


def is_new(file: File, head: PageMark | None) -> bool:
    """Whether a file is other than the page that stands."""
    return head is None or (head.slug, head.digest) != (file.path, digest(file.body))


def commit_page(store: Store, scope: str, uid: str, path: str, title: str, body: str, rev: int, *, before: str = "") -> None:
    """Commit one page, its lines remembered as ours: those of its version `before` are already."""
    fresh = set(body.splitlines()) - set(before.splitlines())
    macs = [store.mac("line", line) for line in sorted(fresh) if line.strip()]
    store.commit_page(scope, uid, slug=path, title=title, body=body, rev=rev, renderer=RENDERER, line_macs=macs)


def commit_report(store: Store, scope: str, path: str, text: str, *, rev: int) -> int:
    """Commit the report of a day beside the pages of a revision, in place of what an earlier dream of that day reported; returns the revision it stands at."""
    before = next((head for head in store.page_history(scope, path, newest=1)[-1:]), None)
    with store.together("commit a report"):
        if not rev or (before is not None and before.rev >= rev and before.body != text):
            rev = store.raise_revision(scope, cause="report", above=rev)
        commit_page(store, scope, short_uid("file", path), path, path.removesuffix(".md"), text, rev)
    return rev


def _moves(changed: Collection[str], wanted: Mapping[str, tuple[str, str]], heads: Mapping[str, PageMark]) -> tuple[list[str], list[str]]:
    """The order in which pages take their paths, each free by then, and the pages to take down first because their moves form a circle."""
    moving = sorted(uid for uid in changed if uid in heads and heads[uid].slug != wanted[uid][0])
    holder = {fold(heads[uid].slug): uid for uid in moving}
    order, down = [uid for uid in changed if uid in heads and uid not in moving], []
    while moving:
        free = [uid for uid in moving if holder.get(fold(wanted[uid][0]), uid) == uid]
        if not free:
            down.append(moving[0])
            del holder[fold(heads[moving[0]].slug)]
            continue
        order += free
        moving = [uid for uid in moving if uid not in free]
        holder = {fold(heads[uid].slug): uid for uid in moving if uid not in down}
    return order + sorted((uid for uid in changed if uid not in heads), key=lambda uid: wanted[uid][0]), down


def title_of(store: Store, scope: str) -> str:
    """What the memory is of, as its scope or the sessions say."""
    return title_from(Counter(folder_of(info) for info in store.sessions(scope)), scope)
