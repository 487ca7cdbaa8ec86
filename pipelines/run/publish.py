"""A wiki folder made to show what is committed, wherever it lies; and a person's own words in it brought into the store.

Nothing is rendered here and no log is read: any host that reaches the store can do it. The folder is compared with the committed state, so it does not
matter what was published before, when, or how far an earlier attempt came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from pipelines.errors import NotOurFolder, Refused
from pipelines.logs.redaction import Redactor
from pipelines.model import digest
from pipelines.run.render import REPORTS, covered
from pipelines.store import Store, WikiState
from pipelines.store.own_words import OwnPage, Showing
from pipelines.wiki.folder import DISPLACED
from pipelines.wiki.own import Halves, changed, digests, halves, joined, with_own
from pipelines.wiki.page import Page, write
from pipelines.wiki.publish import How, Marker, Published, State, Stood, Taken, publish, read_marker, require_ours, stamps, standing
from pipelines.wiki.render import left, stub, to_bytes

ROUNDS_MAX = 5
"""How often a folder is published in a row because pages were committed meanwhile; then the next call goes on."""
PATIENCE_S = 20.0
"""How long another publisher of the same folder on this host is waited for."""
SEEN_EVERY = timedelta(minutes=1)
"""How often a follower with nothing to do says that it is there."""
SEEN_LATELY = timedelta(minutes=10)
"""A host that was seen publishing a folder within this time is not to be taken over."""


class Publisher(Protocol):
    """What publishing needs of the live parts: no engine, no reader, no archive."""

    @property
    def store(self) -> Store: ...
    @property
    def redactor(self) -> Redactor: ...
    @property
    def holder(self) -> str: ...
    @property
    def now(self) -> Callable[[], datetime]: ...
    @property
    def step(self) -> Callable[[str], None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiFolder:
    """A folder to publish into: the id its marker carries, and the name of this host."""

    folder: Path
    wiki: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The revision a folder shows now, and what publishing it did."""

    revision: int
    published: Published


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a folder held: the pages whose words were new and are stored now, and what a person should know of the rest."""

    pages: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def take_own_words(parts: Publisher, at: WikiFolder, scope: str) -> Took:
    """Bring what a person wrote below the line of pages into the store.

    A folder that is not there, or not yet ours, holds none. Raises NotOurFolder for one of another wiki, host or store, and Refused for one that shows
    another scope: what stands there says nothing.
    """
    _require_scope(parts.store, at, scope)
    marker = read_marker(at.folder) if at.folder.is_dir() else None
    if marker is None:
        return Took()
    require_ours(at.folder, marker, Marker(wiki=at.wiki, epoch=parts.store.epoch, host=at.host))
    words = _Words(parts.store, scope, at.wiki)
    stood = standing(at.folder)
    return Took(pages=words.take_all(stood), problems=words.problems(stood))


def publish_revision(
    parts: Publisher, at: WikiFolder, scope: str, *, new: bool | None = None, take_over: bool = False, patience_s: float = PATIENCE_S
) -> Shown:
    """Make the folder show the committed pages with a person's own words as they stand in it, and in others of the wiki, at that moment.

    `new` allows a folder without our marker; by default when this wiki was never published. `take_over` claims the folder of another host that was not
    seen lately. Raises as `wiki.publish.publish`; a scope without committed pages leaves the folder alone.
    """
    store = parts.store
    known = _require_scope(store, at, scope)
    if take_over:
        _require_unseen(parts, at)
    done: Published | None = None
    for _ in range(ROUNDS_MAX):
        mark = store.showing_mark(scope)
        words = _Words(store, scope, at.wiki)
        if not words.showing.revision:
            return Shown(revision=0, published=Published())
        published = _publish(parts, at, words, new=known is None if new is None else new, take_over=take_over, patience_s=patience_s)
        done = published if done is None else _both(done, published)
        store.save_wiki(scope, marker=at.wiki, host=at.host, shown_rev=words.showing.revision)
        if store.showing_mark(scope) == mark:
            break
        take_over = False
    assert done is not None, "at least one round"
    return Shown(revision=words.showing.revision, published=done)


class Follower:
    """Keeps a folder at what the store shows, look by look: no log position is followed, so nothing that committed late is left out."""

    def __init__(self, parts: Publisher, at: WikiFolder, scope: str, *, take_over: bool = False, patience_s: float = PATIENCE_S) -> None:
        self.parts, self.at, self.scope, self.take_over, self.patience_s = parts, at, scope, take_over, patience_s
        self._stood: tuple[str, str] | None = None
        self._shown = 0
        self._seen = parts.now()

    def look(self) -> Shown | None:
        """Publish when the store or the folder is not as it was at the last look; else only say now and then that we are here.

        Raises as `publish_revision`; after a Transient error the next look tries again.
        """
        stands = (self.parts.store.showing_mark(self.scope), stamps(self.at.folder))  # before: what changes meanwhile is seen by the next look
        if stands == self._stood:
            if self._shown and self.parts.now() - self._seen >= SEEN_EVERY:
                self.parts.store.save_wiki(self.scope, marker=self.at.wiki, host=self.at.host, shown_rev=self._shown)
                self._seen = self.parts.now()
            return None
        shown = publish_revision(self.parts, self.at, self.scope, take_over=self.take_over, patience_s=self.patience_s)
        self._stood, self._shown, self._seen, self.take_over = stands, shown.revision, self.parts.now(), False
        return shown


def shows(parts: Publisher, at: WikiFolder, scope: str) -> bool:
    """Whether the folder holds exactly what is committed, with all words of a person in the store; old reports may stand beside it."""
    if not at.folder.is_dir():
        return False
    stood = standing(at.folder)
    words = _Words(parts.store, scope, at.wiki)
    words.set_aside(stood)
    return {s.path: s.data for s in stood if s.path in words.files or not s.path.startswith(REPORTS)} == words.files


def publishing_problems(published: Published) -> tuple[str, ...]:
    """What a person should know of a folder."""
    out = [left_alone(path, why) for path, why in published.held]
    kept = sorted({edit.path for edit in published.edits if edit.how in {How.WINDOW, How.LATE}})
    out += [f"saved by somebody while it was being written, kept below {DISPLACED}: {path}" for path in kept]
    return (*out, *map(not_ours, published.strangers))


def not_ours(path: str) -> str:
    """A file of somebody else's in the folder."""
    return f"not ours, not touched: {path}"


def left_alone(path: str, why: str) -> str:
    """A page that is not brought up to date."""
    return f"left as it is: {path} ({why})"


def _require_scope(store: Store, at: WikiFolder, scope: str) -> WikiState | None:
    """What is known of the folder, if it was published before; refused when it shows another scope."""
    known = store.wiki(at.wiki)
    if known is not None and known.scope != scope:
        raise Refused(f"{at.folder} shows the scope {known.scope}: name another folder for {scope}")
    return known


def _require_unseen(parts: Publisher, at: WikiFolder) -> None:
    """Refuse to take a folder from a host that still publishes it."""
    seen = parts.store.wiki(at.wiki)
    if seen is not None and seen.host != at.host and parts.now() - seen.seen_at < SEEN_LATELY:
        raise NotOurFolder(
            f"{at.folder} was published by host {seen.host} at {seen.seen_at:%Y-%m-%d %H:%M:%S} UTC: end it there, and take the folder over when it was "
            f"not seen for {SEEN_LATELY.seconds // 60} minutes"
        )


def _both(first: Published, then: Published) -> Published:
    """What two rounds did together; what stands in the way is what stood there in the second."""
    return replace(
        then, written=tuple(dict.fromkeys((*first.written, *then.written))), removed=tuple(dict.fromkeys((*first.removed, *then.removed))),
        edits=tuple(dict.fromkeys((*first.edits, *then.edits))),
    )  # fmt: skip


# --- one round ---------------------------------------------------------------------------------------------------------------------------


def _publish(parts: Publisher, at: WikiFolder, words: _Words, *, new: bool, take_over: bool, patience_s: float) -> Published:
    return publish(
        at.folder, words.state, marker=Marker(wiki=at.wiki, epoch=parts.store.epoch, host=at.host), holder=parts.holder,
        known=lambda found: parts.store.is_ours(words.scope, found), take=words.take, new=new, take_over=take_over,
        has_secret=lambda path, data: covered(parts.redactor, path, data) != data, step=parts.step, patience_s=patience_s,
    )  # fmt: skip


class _Words:
    """What a folder is to show, and the person's words in it on their way into the store."""

    def __init__(self, store: Store, scope: str, wiki: str) -> None:
        self.store, self.scope, self.wiki = store, scope, wiki
        self.showing = store.showing(scope)
        self.files = files_of(self.showing)

    def state(self, stood: Sequence[Stood]) -> State:
        """What is to be shown now that nobody else can publish here, with the words that stand there."""
        self.showing = self.store.showing(self.scope)
        self.files = files_of(self.showing)
        if self.take_all(stood):
            self.files = files_of(self.showing)
        self.set_aside(stood)
        return State(files=self.files, revision=self.showing.revision, stubs=frozenset(self.showing.moved.keys() & self.files.keys()))

    def take_all(self, stood: Iterable[Stood]) -> tuple[str, ...]:
        """Keep the words of every page we publish; returns the paths where something was new."""
        took = [s.path for s in stood if (s.published or s.path in self.files) and not self._nothing_new(s) and self._take(s)[0]]
        if took:
            self.showing = replace(self.showing, own=self.store.own_words(self.scope))
        return tuple(took)

    def take(self, stood: Stood) -> Taken | None:
        """Keep the words of one file; None when our own part was changed, too."""
        took, ours_above = self._take(stood)
        if took:
            self.showing = replace(self.showing, own=self.store.own_words(self.scope))
        if not ours_above:
            return None
        if stood.path in self.files:
            words = self.showing.own.get(stood.path)
            return Taken(with_own(stood.path, self.files[stood.path], joined(words.sections if words else ())))
        return Taken(files_of(self.showing, only=stood.path).get(stood.path))

    def problems(self, stood: Sequence[Stood]) -> tuple[str, ...]:
        """What will be left as it stands: pages whose part of ours was changed, and files that are none of ours."""
        pages = {s.path: s for s in stood if s.published or s.path in self.files}
        edited = [left_alone(path, "a person's words") for path, s in pages.items() if not path.startswith(REPORTS) and not self._is_ours(s)]
        return (*edited, *(not_ours(s.path) for s in stood if s.path not in pages))

    def set_aside(self, stood: Iterable[Stood]) -> None:
        """A report in which our own words were changed stays as the person left it; what is news since then is told in a file beside it."""
        there = {s.path: s for s in stood}
        for path in [path for path in sorted(self.files) if path.startswith(REPORTS)]:
            data, place = self.files.pop(path), path
            news, n = halves(path, data), 1
            while (s := there.get(place)) is not None and not self._is_ours(s) and not _holds(s, news):
                n += 1
                place = f"{path.removesuffix('.md')}-{n}.md"
            if s is None or self._is_ours(s):
                words = self.showing.own.get(place)
                self.files[place] = with_own(place, data, joined(words.sections)) if words else data

    def _is_ours(self, stood: Stood) -> bool:
        """Whether what stands above the line is ours."""
        if stood.untouched or self.store.is_ours(self.scope, digest(stood.data)):
            return True
        found = halves(stood.path, stood.data)
        newest = found is not None and stood.base is not None and found.above in stood.base.above
        return newest or (found is not None and found.above in self._aboves(stood.path))

    def _nothing_new(self, stood: Stood) -> bool:
        """Whether a file is as we left it and all its words are kept, without taking it apart."""
        page = self.showing.own.get(stood.path)
        return stood.untouched and stood.base is not None and stood.base.own <= (page.known if page else frozenset())

    def _take(self, stood: Stood) -> tuple[bool, bool]:
        """Whether there were words to keep, and whether what stands above them is ours."""
        found = halves(stood.path, stood.data)
        if found is None:
            return False, False
        newest = stood.base is not None and found.above in stood.base.above
        ours = newest or found.above in self._aboves(stood.path)
        page = self.showing.own.get(stood.path, OwnPage(sections=(), known=frozenset()))
        base = None if stood.untouched or (ours and not newest) else stood.base  # an older version of ours was put back: words we know come with it
        delta = changed(found.sections, base=base, known=page.known, current=digests(page.sections))
        if delta:
            self.store.take_own_words(self.scope, self.wiki, stood.path, added=delta.added, removed=delta.removed)
        return bool(delta), ours

    def _aboves(self, path: str) -> set[str]:
        """What our part of a page ever was, as far as the store knows."""
        bodies = [to_bytes(head.body) for head in self.store.page_history(self.scope, path)]
        shells = [*bodies, _bytes(left(path)), *([self.files[path]] if path in self.files else [])]
        return {found.above for shell in shells if (found := halves(path, shell)) is not None}


def _holds(stood: Stood, news: Halves | None) -> bool:
    """Whether a file was made from this report, so that a person who changed it has read it."""
    return news is not None and stood.base is not None and news.above in stood.base.above


# --- what a folder shows -----------------------------------------------------------------------------------------------------------------


def files_of(showing: Showing, *, only: str | None = None) -> dict[str, bytes]:
    """Path → bytes: every page, what leads on to one that moved, and what is left of one that is gone but for a person's words."""
    files = {page.slug: to_bytes(page.body) for page in showing.pages if only in {None, page.slug}}
    leads = {path: stub(path, head.title, head.slug) for path, head in showing.moved.items() if path not in files and only in {None, path}}
    files |= {path: _bytes(page) for path, page in leads.items()}
    for path, words in showing.own.items():
        if only not in {None, path}:
            continue
        if path not in files and words.sections and not path.startswith(REPORTS):
            files[path] = _bytes(left(path))
        if path in files:
            files[path] = with_own(path, files[path], joined(words.sections))
    return files


def _bytes(page: Page) -> bytes:
    return to_bytes(write(page))
