"""Last part: the revision rendered, its pages committed, and the folder made to show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from pipelines.errors import Conflict
from pipelines.model import digest, short_uid
from pipelines.run.content import content_of
from pipelines.run.held import shown
from pipelines.run.parts import Parts, Request
from pipelines.run.versions import RENDERER
from pipelines.store import Placement, Store
from pipelines.wiki.content import Content
from pipelines.wiki.edits import own_text
from pipelines.wiki.publish import Marker, Published, publish, published_digests, read_folder, read_marker
from pipelines.wiki.tree import Tree, tree

RENDERS_MAX = 3
"""How often a revision is rendered when others commit or publish meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Organized:
    """A rendered revision and what publishing it did; `standing` is what the folder held when it was rendered."""

    content: Content
    tree: Tree
    revision: int
    published: Published
    standing: Mapping[str, bytes]


def organize(parts: Parts, request: Request) -> Organized:
    """Render the scope's present revision, commit what changed and publish it; once more when another process was faster."""
    for _ in range(RENDERS_MAX - 1):
        with suppress(Conflict):
            return _organize(parts, request)
    return _organize(parts, request)


def _organize(parts: Parts, request: Request) -> Organized:
    store, scope = parts.store, request.scope
    revision = store.revision(scope)  # before anything is read: what is rendered from older reads must not pass for newer
    standing = read_folder(request.wiki) if request.wiki.is_dir() else {}
    content = content_of(store, scope, title=title_of(store, scope), own=_own(standing), redirects=_redirects(store, scope))
    made = tree(content, scope="")
    made_again = _moved(store, scope, made, content)
    if made_again is not None:
        content, made = made_again
    made = replace(made, files={path: _covered(parts, path, data) for path, data in made.files.items()})
    revision = commit(store, scope, made, revision)
    parts.step("pages_committed")
    published = show(parts, request, made.files, revision, stubs=made.stubs, standing=standing)
    return Organized(content=content, tree=made, revision=revision, published=published, standing=standing)


def put_beside(parts: Parts, request: Request, organized: Organized, extra: Mapping[str, bytes]) -> Organized:
    """Publish files beside a revision that was just rendered, such as the morning report. Nothing is rendered again: that takes most of a dream.

    What a person wrote since then is in no rendered file: as it was not in `standing`, it is left where it is.
    """
    made, standing = organized.tree, organized.standing
    extra = {path: _covered(parts, path, data) for path, data in extra.items()}
    published = show(parts, request, {**made.files, **extra}, organized.revision, stubs=made.stubs, standing=standing)
    return replace(organized, published=published)


def show(parts: Parts, request: Request, files: Mapping[str, bytes], revision: int, *, stubs: frozenset[str], standing: Mapping[str, bytes]) -> Published:
    """Publish files under this store's marker. What a person wrote below our line in `standing` is part of `files` by now, and may be replaced."""
    store, scope = parts.store, request.scope
    marker = read_marker(request.wiki) if request.wiki.is_dir() else None
    wiki_id = marker.wiki if marker else request.wiki_id
    host = request.host
    # A page that goes takes nobody's words along: where no file of ours carries them on, they stay and are reported.
    ours_but_own = {digest(data) for path, data in standing.items() if path in files and _ours_above(store, scope, path, data)}
    ours_but_own |= {
        digest(standing[path]) for path in files.keys() & standing.keys() if path.startswith("journal/") and _report_above(request, path, standing[path])
    }
    return publish(
        request.wiki, files, marker=Marker(wiki=wiki_id, epoch=store.epoch, host=host), revision=revision, holder=parts.holder,
        known=lambda d: store.is_ours(scope, d), taken=lambda d: d in ours_but_own, stubs=stubs, new=True,
        has_secret=lambda path, data: _covered(parts, path, data) != data, step=parts.step,
    )  # fmt: skip


def _covered(parts: Parts, path: str, data: bytes) -> bytes:
    """A rendered file with its secrets masked, as the logs' are: words that are none alone may be one side by side, and one such line must not hold back
    the rest. What a person wrote on the page themselves stays as it is."""
    own = own_text(path, data).encode("utf-8", "surrogateescape")
    ours = data.split(own, 1) if own.strip() else [data]
    return own.join(parts.redactor.mask(piece).data for piece in ours)


def commit(store: Store, scope: str, made: Tree, rev: int) -> int:
    """Commit every page that changed, at one revision; returns the revision the tree stands for.

    `rev` is the revision it was rendered from, or one before. Raises Conflict when the scope or a page has moved on since.
    """
    heads = store.pages(scope)
    wanted = {uid: (path, title) for path, uid, title in _pages_of(made)}
    changed = [
        uid for uid, (path, _) in wanted.items() if uid not in heads or (heads[uid].slug, heads[uid].body) != (path, _text(made.files[path]))
    ]  # fmt: skip
    gone = [uid for uid in heads if uid not in wanted]
    if any(heads[uid].rev >= rev for uid in changed if uid in heads) or (not rev and wanted):
        rev = store.raise_revision(scope, cause="render", above=rev)
    for uid in gone:
        store.retire_page(scope, uid, rev=rev)
    for uid in _free_slugs_first(changed, wanted, heads):
        path, title = wanted[uid]
        body = _text(made.files[path])
        macs = [store.mac("line", line) for line in body.splitlines() if line.strip()]
        store.commit_page(scope, uid, slug=path, title=title, body=body, rev=rev, renderer=RENDERER, line_macs=macs)
    where = {item.uid: topic for topic in made.layout.topics for item in topic.items}
    uids = {path: uid for path, uid, _ in _pages_of(made)}
    before = store.placements(scope)
    placed = [Placement(note=n, page=uids.get(t.path), section=t.title) for n, t in sorted(where.items())]
    placed += [Placement(note=n, page=None, section="") for n in sorted(before.keys() - where.keys())]
    store.save_placements(scope, rev, placed)
    return rev


def _free_slugs_first(changed: list[str], wanted: Mapping[str, tuple[str, str]], heads: Mapping[str, object]) -> list[str]:
    """Pages that exist move before new ones take the slugs they leave."""
    return sorted(changed, key=lambda uid: (uid not in heads, wanted[uid][0]))


def title_of(store: Store, scope: str) -> str:
    """What the memory is of: the folder most sessions ran in, else the last name of the scope."""
    names = Counter(PurePosixPath(i.cwd.replace("\\", "/")).name for i in store.sessions(scope) if i.cwd and shown(i.cwd))
    for name in sorted(names):  # worktrees of a project: "harbor-fix" beside "harbor"
        if trunk := next((n for n in names if n != name and name.startswith((f"{n}-", f"{n}_", f"{n}."))), None):
            names[trunk] += names[name]
    best = min(names, key=lambda n: (-names[n], n), default="")
    return best or scope.rsplit("/", 1)[-1]


def _pages_of(made: Tree) -> list[tuple[str, str, str]]:
    """(path, page uid, title) of every file: topics by their key, so that a rename is one page; the rest by path."""
    topics = {t.path: (short_uid("topic", t.key, str(t.part)), t.title) for t in made.layout.topics}
    return [(path, *topics.get(path, (short_uid("file", path), path.removesuffix(".md")))) for path in sorted(made.files)]


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
    again = Content(
        title=content.title, items=content.items, corrections=content.corrections, quarantined=content.quarantined, asked=content.asked, work=content.work,
        own=content.own, redirects=stubs,
    )  # fmt: skip
    return again, tree(again, scope="")


def _own(standing: Mapping[str, bytes]) -> dict[str, str]:
    return {path: text for path, data in standing.items() if (text := own_text(path, data)).strip()}


def _ours_above(store: Store, scope: str, path: str, data: bytes) -> bool:
    """Whether a file differs from a version of ours only below the line that parts our words from a person's."""
    own = own_text(path, data)
    if not own.strip():
        return False
    text = _text(data)
    shell = text.replace(own, "", 1)
    return any(p.body.replace(own_text(path, p.body.encode("utf-8", "surrogateescape")), "", 1) == shell for p in store.page_history(scope, path))


def _report_above(request: Request, path: str, data: bytes) -> bool:
    """Whether a morning report differs from the one we put there only below the line. The store holds no reports; the folder's manifest says which it was."""
    own = own_text(path, data).encode("utf-8", "surrogateescape")
    return bool(own.strip()) and digest(data.replace(own, b"", 1)) == published_digests(request.wiki).get(path)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
