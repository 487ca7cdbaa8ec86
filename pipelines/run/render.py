"""A revision rendered and its pages committed, from the store alone: this runs where neither the logs nor the wiki folder can be seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from pipelines.errors import Conflict
from pipelines.logs.redaction import Redactor
from pipelines.model import short_uid
from pipelines.run.content import content_of
from pipelines.run.held import shown
from pipelines.run.parts import Parts
from pipelines.run.versions import RENDERER
from pipelines.store import PageHead, Placement, Store
from pipelines.wiki.content import Content
from pipelines.wiki.edits import own_text
from pipelines.wiki.own import joined
from pipelines.wiki.slugs import fold
from pipelines.wiki.tree import Tree, tree

RENDERS_MAX = 3
"""How often a revision is rendered when others commit or change beliefs meanwhile."""
REPORTS = "journal/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A rendered revision: the one it was rendered from, or once its pages are committed the one they stand at."""

    content: Content
    tree: Tree
    revision: int


def render(parts: Parts, scope: str) -> Rendered:
    """Render the scope's present revision and commit every page that changed; once more when another process was faster. Twice is as good as once."""
    for _ in range(RENDERS_MAX - 1):
        with suppress(Conflict):
            return _render(parts, scope)
    return _render(parts, scope)


def _render(parts: Parts, scope: str) -> Rendered:
    made = rendered(parts, scope)
    revision = commit(parts.store, scope, made.tree, made.revision)
    parts.step("pages_committed")
    return replace(made, revision=revision)


def rendered(parts: Parts, scope: str) -> Rendered:
    """The scope's present revision as a tree of files; nothing is committed yet."""
    store = parts.store
    revision = store.revision(scope)  # before anything is read: what is rendered from older reads must not pass for newer
    own = {path: joined(page.sections) for path, page in store.own_words(scope).items()}
    content = content_of(store, scope, title=title_of(store, scope), own=own, redirects=_redirects(store, scope))
    made = tree(content, scope="")
    made_again = _moved(store, scope, made, content)
    if made_again is not None:
        content, made = made_again
    made = replace(made, files={path: covered(parts.redactor, path, data) for path, data in made.files.items()})
    return Rendered(content=content, tree=made, revision=revision)


def covered(redactor: Redactor, path: str, data: bytes) -> bytes:
    """A rendered file with its secrets masked, as the logs' are: words that are none alone may be one side by side, and one such line must not hold back
    the rest. What a person wrote on the page themselves stays as it is."""
    own = own_text(path, data).encode("utf-8", "surrogateescape")
    ours = data.split(own, 1) if own.strip() else [data]
    return own.join(redactor.mask(piece).data for piece in ours)


def commit(store: Store, scope: str, made: Tree, rev: int) -> int:
    """Commit every page that changed, at one revision and all at once; returns the revision the tree stands for.

    `rev` is the revision it was rendered from. Raises Conflict when the scope or a page has moved on since; nothing is committed then.
    """
    heads = {uid: head for uid, head in store.pages(scope).items() if not head.slug.startswith(REPORTS)}
    wanted = {uid: (path, title) for path, uid, title in _pages_of(made)}
    changed = [
        uid for uid, (path, _) in wanted.items() if uid not in heads or (heads[uid].slug, heads[uid].body) != (path, _text(made.files[path]))
    ]  # fmt: skip
    gone = [uid for uid in heads if uid not in wanted]
    order, down = _moves(changed, wanted, heads)
    placed = _placed(store, scope, made)
    with store.together("commit the pages of a revision"):
        store.require_revision(scope, rev)
        if any(heads[uid].rev >= rev for uid in changed if uid in heads) or (not rev and wanted):
            rev = store.raise_revision(scope, cause="render", above=rev)
        for uid in [*gone, *down]:
            store.retire_page(scope, uid, rev=rev)
        for uid in order:
            path, title = wanted[uid]
            commit_page(store, scope, uid, path, title, _text(made.files[path]), rev)
        store.save_placements(scope, rev, placed)
    return rev


def commit_page(store: Store, scope: str, uid: str, path: str, title: str, body: str, rev: int) -> None:
    """Commit one page, its lines remembered as ours."""
    macs = [store.mac("line", line) for line in body.splitlines() if line.strip()]
    store.commit_page(scope, uid, slug=path, title=title, body=body, rev=rev, renderer=RENDERER, line_macs=macs)


def commit_report(store: Store, scope: str, path: str, text: str, *, rev: int) -> int:
    """Commit the report of a day beside the pages of a revision, in place of what an earlier dream of that day reported; returns the revision it stands at."""
    before = next((head for head in store.page_history(scope, path)[-1:]), None)
    with store.together("commit a report"):
        if not rev or (before is not None and before.rev >= rev and before.body != text):
            rev = store.raise_revision(scope, cause="report", above=rev)
        commit_page(store, scope, short_uid("file", path), path, path.removesuffix(".md"), text, rev)
    return rev


def _placed(store: Store, scope: str, made: Tree) -> list[Placement]:
    where = {item.uid: topic for topic in made.layout.topics for item in topic.items}
    uids = {path: uid for path, uid, _ in _pages_of(made)}
    placed = [Placement(note=n, page=uids.get(t.path), section=t.title) for n, t in sorted(where.items())]
    return placed + [Placement(note=n, page=None, section="") for n in sorted(store.placements(scope).keys() - where.keys())]


def _moves(changed: Collection[str], wanted: Mapping[str, tuple[str, str]], heads: Mapping[str, PageHead]) -> tuple[list[str], list[str]]:
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
    """What the memory is of: the folder most sessions ran in, else the last name of the scope."""
    names = Counter(PurePosixPath(i.cwd.replace("\\", "/")).name for i in store.sessions(scope) if i.cwd and shown(i.cwd))
    for name in sorted(names):  # worktrees of a project: "harbor-fix" beside "harbor"
        if trunk := next((n for n in names if n != name and name.startswith((f"{n}-", f"{n}_", f"{n}."))), None):
            names[trunk] += names[name]
    best = min(names, key=lambda n: (-names[n], n), default="")
    return best or scope.rsplit("/", 1)[-1]


def _pages_of(made: Tree) -> list[tuple[str, str, str]]:
    """(path, page uid, title) of every page: topics by their key, so that a rename is one page; the rest by path. What only leads on is no page: the
    store knows where a page that moved is, and publishing writes the stub."""
    topics = {t.path: (short_uid("topic", t.key, str(t.part)), t.title) for t in made.layout.topics}
    paths = sorted(made.files.keys() - made.stubs)
    return [(path, *topics.get(path, (short_uid("file", path), path.removesuffix(".md")))) for path in paths]


def _redirects(store: Store, scope: str) -> dict[str, str]:
    """Paths pages once had → key of the page they lead to now, for every rename so far."""
    return {r.slug: r.page for r in store.redirects(scope).values()}


def _moved(store: Store, scope: str, made: Tree, content: Content) -> tuple[Content, Tree] | None:
    """Render once more with the stubs that this revision's renames need; None when there are none."""
    heads = store.pages(scope)
    now = {uid: path for path, uid, _ in _pages_of(made)}
    keys = {uid: t.key for t in made.layout.topics if (uid := short_uid("topic", t.key, str(t.part))) in now}  # a topic may live on in the archive alone
    stubs = {old: keys[uid] for old, uid in content.redirects.items() if uid in keys}
    stubs |= {heads[uid].slug: key for uid, key in keys.items() if uid in heads and heads[uid].slug != now[uid]}
    if not stubs and not content.redirects:
        return None
    again = replace(content, redirects=stubs)
    return again, tree(again, scope="")


def _text(data: bytes) -> str:
    """A page as the store takes it; own words that are no text are kept whole beside it."""
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")
