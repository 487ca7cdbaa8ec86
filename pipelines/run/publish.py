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
from pipelines.run.edits import BASES_MAX, take_edits
from pipelines.run.edits import Taken as Decided
from pipelines.run.render import REPORTS, covered
from pipelines.store import Store, WikiState
from pipelines.store.own_words import OwnPage
from pipelines.wiki.edits import INDEX_PATH
from pipelines.wiki.folder import DISPLACED
from pipelines.wiki.marker import Marker, read_marker, require_ours
from pipelines.wiki.own import Halves, changed, digests, halves, joined, with_own
from pipelines.wiki.page import Page, write
from pipelines.wiki.publish import How, Published, State, Taken, placeholder, publish
from pipelines.wiki.render import left, stub, to_bytes
from pipelines.wiki.standing import Stood, stamps, standing
from pipelines.wiki.ticks import INBOX_PATH

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
    """A folder to publish into: the id its marker carries, and the name of this host. `mine`: the person declared that all that is changed there is their
    own word (`edits_are_mine`)."""

    folder: Path
    wiki: str
    host: str
    mine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The revision a folder shows now, and what publishing it did."""

    revision: int
    published: Published


def take_own_words(parts: Publisher, at: WikiFolder, scope: str) -> tuple[str, ...]:
    """Bring what a person wrote below the line of pages into the store; returns the paths where words were new.

    A folder that is not there, or not yet ours, holds none. Raises NotOurFolder for one of another wiki, host or store, and Refused for one that shows
    another scope: what stands there says nothing.
    """
    _require_scope(parts.store, at, scope)
    marker = read_marker(at.folder) if at.folder.is_dir() else None
    if marker is None:
        return ()
    require_ours(at.folder, marker, Marker(wiki=at.wiki, epoch=parts.store.epoch, host=at.host))
    words = _Words(parts, scope, at)
    return words.take_all(standing(at.folder, needs=words.needs))


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
        if not store.shown_revision(scope):
            return Shown(revision=0, published=Published())
        words = _Words(parts, scope, at)
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
    words = _Words(parts, scope, at)
    stood = standing(at.folder, needs=words.needs)
    words.set_aside(stood)
    words.leave_ticks(stood)
    return {s.path: s.digest for s in stood if s.path in words.wanted or not s.path.startswith(REPORTS)} == words.wanted


def publishing_problems(published: Published) -> tuple[str, ...]:
    """What a person should know of a folder."""
    out = [f"left as it is: {path} ({why})" for path, why in published.held]
    kept = sorted({edit.path for edit in published.edits if edit.how in {How.WINDOW, How.LATE}})
    out += [f"saved by somebody while it was being written, kept below {DISPLACED}: {path}" for path in kept]
    out += [
        f"changed by a hand nobody knows and written anew, since sessions are told it; what stood there is kept below {DISPLACED}: {edit.path}; what is yours "
        "of it: dreamd remember"
        for edit in published.edits if edit.how is How.BRIEF
    ]  # fmt: skip
    return (*out, *(f"not ours, not touched: {path}" for path in published.strangers))


def _require_scope(store: Store, at: WikiFolder, scope: str) -> WikiState | None:
    """What is known of the folder, if it was published before; refused when it shows another scope."""
    known = store.wiki(at.wiki)
    if known is not None and known.scope != scope:
        raise Refused(
            f"{at.folder} shows the scope {known.scope}, and this is of {scope}: --scope {known.scope} (DREAMD_SCOPE) for that one, or name another folder"
        )
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
    done = publish(
        at.folder, words.state, marker=Marker(wiki=at.wiki, epoch=parts.store.epoch, host=at.host), holder=parts.holder,
        known=lambda found: parts.store.is_ours(words.scope, found), take=words.take, needs=words.needs, new=new, take_over=take_over,
        has_secret=lambda path, data: covered(parts.redactor, path, data) != data, step=parts.step, patience_s=patience_s,
    )  # fmt: skip
    return replace(done, held=tuple((path, words.waits.get(path, why)) for path, why in done.held))


class _Words:
    """What a folder is to show, and the person's words in it on their way into the store."""

    def __init__(self, parts: Publisher, scope: str, at: WikiFolder) -> None:
        self.store, self.scope, self.wiki, self.mine, self.now = parts.store, scope, at.wiki, at.mine, parts.now
        self.waits: dict[str, str] = {}
        self._decided: dict[str, Decided] = {}
        self._known = False

    def _once(self) -> None:
        """Read the store when it is first asked about: when publishing, that is under the lock of the folder."""
        if not self._known:
            self._read()

    def _read(self) -> None:
        """What is to be shown: path → digest, with the bytes of what is no committed page word for word."""
        self._known, self.showing = True, self.store.showing(self.scope)
        self.pages = {page.slug: page for page in self.showing.pages}
        self.made: dict[str, bytes] = {}
        self._make(path for path in self.showing.moved.keys() | self.showing.own.keys())
        self.wanted = {page.slug: page.digest for page in self.showing.pages} | {path: digest(data) for path, data in self.made.items()}

    def _make(self, paths: Iterable[str]) -> None:
        """The bytes of pages with a person's words on them, of what leads on, and of what is left of a page that is gone but for a person's words."""
        paths = list(paths)
        texts = self._texts([path for path in paths if path in self.pages])
        for path in paths:
            words = self.showing.own.get(path)
            data = texts.get(path)
            if data is None and path in self.showing.moved:
                data = _bytes(stub(path, self.showing.moved[path].title, self.showing.moved[path].slug))
            if data is None and words and words.sections and not path.startswith(REPORTS):
                data = _bytes(left(path))
            if data is not None:
                self.made[path] = with_own(path, data, joined(words.sections)) if words else data

    def _texts(self, paths: Sequence[str]) -> dict[str, bytes]:
        texts = self.store.page_texts(self.scope, [self.pages[path].version for path in paths])
        return {path: to_bytes(texts[self.pages[path].version]) for path in paths}

    def load(self, paths: Sequence[str]) -> dict[str, bytes]:
        """The bytes of pages to show."""
        return self._texts([path for path in paths if path not in self.made]) | {path: self.made[path] for path in paths if path in self.made}

    def state(self, stood: Sequence[Stood]) -> State:
        """What is to be shown now that nobody else can publish here, with the words that stand there."""
        self._once()
        if self.take_all(stood):
            self._read()
        self.set_aside(stood)
        self.leave_ticks(stood)
        stubs = frozenset(self.showing.moved.keys() - self.pages.keys())
        return State(wanted=self.wanted, load=self.load, revision=self.showing.revision, stubs=stubs)

    def needs(self, path: str, own: frozenset[str]) -> bool:
        """Whether a page has to be read though it is as we left it: not all words on it are kept."""
        if not own:
            return False
        self._once()
        page = self.showing.own.get(path)
        return page is None or not own <= page.known

    def take_all(self, stood: Iterable[Stood]) -> tuple[str, ...]:
        """Keep the words of every page we publish; returns the paths where something was new. The store is not read when all are as they were."""
        others = [s for s in stood if not self._as_it_was(s)]
        if others:
            self._once()
        return tuple(s.path for s in others if (s.published or s.path in self.wanted) and self._take(s)[0])

    def take(self, stood: Stood) -> Taken | None:
        """Keep the words of one file; None when our own part was changed, too."""
        self._once()
        took, ours_above = self._take(stood)
        if not ours_above:
            return None
        path = stood.path
        if took:
            self.showing = replace(self.showing, own=self.store.own_words(self.scope))
        if path in self.wanted:
            words = self.showing.own.get(path)
            return Taken(with_own(path, self.load([path])[path], joined(words.sections if words else ())))
        self._make([path])
        return Taken(self.made.get(path))

    def leave_ticks(self, stood: Iterable[Stood]) -> None:
        """An inbox with decisions in it that the next dream takes up stays as the person left it until then."""
        self._once()
        for inbox in (s for s in stood if s.path == INBOX_PATH and s.data and INBOX_PATH in self.wanted):
            decided = self._decided.get(inbox.digest)
            if decided is not None and not decided.settled and not decided.why:
                self.made[INBOX_PATH], self.wanted[INBOX_PATH] = inbox.data, inbox.digest

    def _as_it_was(self, stood: Stood) -> bool:
        """Whether a file is as we left it and all its words are kept."""
        return stood.untouched and (not stood.data or (stood.base is not None and not self.needs(stood.path, stood.base.own)))

    def set_aside(self, stood: Iterable[Stood]) -> None:
        """A report in which our own words were changed stays as the person left it; what is news since then is told in a file beside it."""
        self._once()
        there = {s.path: s for s in stood}
        for path in [path for path in sorted(self.wanted) if path.startswith(REPORTS)]:
            stands: Stood | None = there.get(path)
            if stands is None or self._is_ours(stands):
                continue
            data, n, place = self.load([path])[path], 1, path
            news = halves(path, data)
            del self.wanted[path]
            while stands is not None and not self._is_ours(stands) and not _holds(stands, news):
                n += 1
                place = f"{path.removesuffix('.md')}-{n}.md"
                stands = there.get(place)
            if stands is None or self._is_ours(stands):
                words = self.showing.own.get(place)
                self.made[place] = with_own(place, data, joined(words.sections if words else ()))
                self.wanted[place] = digest(self.made[place])

    def _is_ours(self, stood: Stood) -> bool:
        """Whether what stands above the line is ours."""
        if stood.untouched or stood.data == placeholder(stood.path) or self.store.is_ours(self.scope, digest(stood.data)):
            return True
        found = halves(stood.path, stood.data)
        newest = found is not None and stood.base is not None and found.above in stood.base.above
        return newest or (found is not None and found.above in self._aboves(stood.path))

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
        return bool(delta), ours or (stood.base is not None and self._decide(stood).settled)

    def _decide(self, stood: Stood) -> Decided:
        """What the changes in our part of a file decide or ask for; recorded once, however often it is looked at."""
        if stood.path == INDEX_PATH or stood.path.startswith(REPORTS) or not stood.published:
            return Decided(False)
        if stood.digest not in self._decided:
            bodies = [to_bytes(head.body) for head in reversed(self.store.page_history(self.scope, stood.path, newest=BASES_MAX)[-BASES_MAX:])]
            likely = [b for b in bodies if stood.base and (h := halves(stood.path, b)) is not None and h.above in stood.base.above]
            decided = take_edits(self.store, self.scope, stood.path, stood.data, likely or bodies, mine=self.mine, at=self.now())
            self._decided[stood.digest] = decided
            if decided.why:
                self.waits[stood.path] = decided.why
        return self._decided[stood.digest]

    def _aboves(self, path: str) -> set[str]:
        """What our part of a page ever was, as far as the store knows."""
        bodies = [to_bytes(head.body) for head in self.store.page_history(self.scope, path)]
        shells = [*bodies, _bytes(left(path)), *(self.load([path]).values() if path in self.wanted else ())]
        return {found.above for shell in shells if (found := halves(path, shell)) is not None}


def _holds(stood: Stood, news: Halves | None) -> bool:
    """Whether a file was made from this report, so that a person who changed it has read it."""
    return news is not None and stood.base is not None and news.above in stood.base.above


def _bytes(page: Page) -> bytes:
    return to_bytes(write(page))
