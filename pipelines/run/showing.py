"""The scope's present revision rendered at the cost of what changed since the last time: notes, pages, links, the brief, the queue, the work log.

What is shown is kept as rows (`store.projection`). Whatever moved since they were made is brought up to date; the pages are those that rendering the whole
revision (`wiki.tree`) would give, byte for byte: a property test holds the two together, and `rebuild` compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from pipelines.model import digest, short_uid
from pipelines.run.beside import PIN, Beside, beside
from pipelines.run.carried import CarriedNotes, carried_notes, resting_on_note
from pipelines.run.content import quarantined
from pipelines.run.edits import dismissed, open_edits
from pipelines.run.noted import note_items
from pipelines.run.overlay import Overlay, heard_since
from pipelines.run.paged import PageKey, Pages
from pipelines.run.placed import Places, Rows, take_carried, take_notes
from pipelines.run.recent_work import Sessions, bring_sessions, title_from
from pipelines.run.telling import tellings, with_tellings
from pipelines.run.versions import RENDERER
from pipelines.run.waiting import asked
from pipelines.store import Moves, Render, Shown, ShownItem, ShownPage, Store
from pipelines.wiki import inbox as q
from pipelines.wiki.brief import Brief, door_brief, tell
from pipelines.wiki.budget import DOORS, MEMORY_MD
from pipelines.wiki.content import Asked, Correction, Quarantined, Work
from pipelines.wiki.doors import Door, in_page_order
from pipelines.wiki.index import indexes
from pipelines.wiki.inline import clean
from pipelines.wiki.journal import without_footnotes
from pipelines.wiki.packed import correction_of, pack, quarantined_of
from pipelines.wiki.page import write
from pipelines.wiki.placing import micros, said_digest
from pipelines.wiki.recent import recent
from pipelines.wiki.render import archive_path, to_bytes
from pipelines.wiki.signs import COMMANDS, FACTS, GOALS, RULES, Best, Signs, Stand, due_corrections, goal_rank, quiet_before, said_above
from pipelines.wiki.topics import Sort, owners_of
from pipelines.wiki.tree import INBOX_PATH, INDEX_PATH, RECENT_PATH, room_beside

CARRIED = "carried"
"""What all lines of note files are called among what rests on turns and notes: one that moves has all of them looked at."""
Cover = Callable[[str, bytes], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A page to commit: its uid, path, title and text."""

    uid: str
    path: str
    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a revision shows, as far as it changed: files to commit, uids of pages that are gone, where notes stand now (uid → page uid, its title), and
    the rows and state to keep. `gone` and `placed` are None when everything was made anew: then what is not among the files is gone.
    `pages` counts all there are now, `live_bytes` measures those of topics without footnotes, `said_bytes` what users and assistants said."""

    before: Render | None
    after: Render
    rows: Shown
    files: tuple[File, ...]
    gone: frozenset[str] | None
    placed: Mapping[str, tuple[str, str] | None]
    brief: Brief
    queue: q.Queue
    corrections: tuple[Correction, ...]
    work: tuple[Work, ...]
    live_bytes: int
    said_bytes: int
    pages: int


def look(store: Store, scope: str, *, own: Mapping[str, str], cover: Cover, covers: str = "") -> Sight:
    """What the scope shows now. Reads only; what was read is at least as new as the state it is kept under.

    `cover` masks a file's secrets; `covers` names its rules: by others, or by another renderer, all is made anew.
    """
    near = beside(store, scope)
    before, renderer = store.render_state(scope), " ".join(filter(None, (RENDERER, covers, near.mark)))  # what a file says may cover any note
    if before is not None and before.renderer != renderer:
        store.forget_render(scope)
        before = None
    moves = store.moves(scope, before)
    rows = Rows(store, scope)
    carried, rests = _bring_notes(store, scope, rows, before, moves, near)
    pages = Pages(store, scope, rows, own, renderer, anew=before is None)
    memory = carried is not None
    places = Places(rows, owners_of(pages.owners), frozenset(t for t, _ in pages.owners), anew=before is None, carried=memory)
    places.settle()
    marks = {path: digest(text)[:24] for path, text in own.items() if text}
    was = cast(dict[str, str], before.aside["own"]) if before else {}
    pages.settle(memory=memory, own_changed={p for p in marks.keys() | was.keys() if marks.get(p) != was.get(p)})
    sessions = bring_sessions(store, scope, moves)
    said = store.said_since(scope, before.marks["turns"] if before else 0, moves.marks["turns"]) + (before.aside["said"] if before else 0)
    aside = {
        "own": marks,
        "said": said,
        "ruled": list(near.ruled),
        **(_aside(carried) if carried is not None else {k: before.aside[k] for k in ("corrections", "held")} if before else {}),
    }
    after = Render(renderer, moves.rev, moves.marks, aside)
    return _Sight(store, scope, rows, pages, sessions, own, cover, before, after, moves, rests, near.pins).sight()


def _aside(carried: CarriedNotes) -> dict[str, Any]:
    return {"corrections": [pack(c) for c in carried.corrections], "held": [pack(h) for h in carried.held]}


def _bring_notes(
    store: Store, scope: str, rows: Rows, before: Render | None, moves: Moves, near: Beside
) -> tuple[CarriedNotes | None, dict[str, Collection[str]]]:  # fmt: skip
    """Bring the rows of all notes up to date whose versions, turns, findings or pins moved; the lines of note files when any of them may have (else None), and
    what each note looked at rests on."""
    resting = store.resting_on(scope, [*moves.turns, *map(resting_on_note, moves.notes)]) if before else frozenset()
    turned = set(near.ruled) ^ set(before.aside.get("ruled", ())) if before else set()
    pinned = {told.removeprefix(f"{PIN} ") for told in turned if told.startswith(f"{PIN} ")}
    looked_at = moves.notes | (resting - {CARRIED}) | pinned
    noted = note_items(store, scope, looked_at, near=near)
    take_notes(rows, looked_at, noted.items)
    rests: dict[str, Collection[str]] = {uid: noted.rests.get(uid, ()) for uid in moves.notes}
    said = ("online", "findings")
    if before is not None and CARRIED not in resting and len(pinned) == len(turned) and all(before.marks[n] == moves.marks[n] for n in said):
        return None, rests
    carried = carried_notes(store, scope, near=near)
    take_carried(rows, carried.items)
    return carried, {**rests, CARRIED: carried.rests}


@dataclass(slots=True)
class _Sight:
    """Makes the files of a revision from rows that are up to date."""

    store: Store
    scope: str
    rows: Rows
    pages: Pages
    sessions: Sessions
    own: Mapping[str, str]
    cover: Cover
    before: Render | None
    after: Render
    moves: Moves
    rests: Mapping[str, Collection[str]]
    pins: frozenset[str]

    def sight(self) -> Sight:
        corrections = tuple(correction_of(c) for c in self.after.aside.get("corrections", ()))
        gone = dismissed(self.store, self.scope)
        questions = tuple(a for a in asked(self.store, self.scope, self.sessions.ends) if a.uid not in gone)
        files = self._topic_files()
        written = {f.path: f for f in files}
        items = self._overlay()
        newest = self._newest(items, corrections)
        counts = tellings(self.store, self.scope, corrections, newest)
        corrections = with_tellings(corrections, counts)
        self.after = replace(self.after, aside={**self.after.aside, "tellings": counts})
        doors = self._doors()
        signs = self._signs(items, newest, corrections, questions, doors)
        told = tell(signs, room_beside(self.own.get(INDEX_PATH, "")), scope="")
        self._keep_briefs(signs)
        queue = self._queue(items, corrections, questions, newest)
        files += self._beside({
            **indexes(doors, own=self.own),
            RECENT_PATH: recent(self.sessions.work, newest, own=self.own.get(RECENT_PATH, "")),
            INBOX_PATH: q.inbox(queue, own=self.own.get(INBOX_PATH, "")),
            INDEX_PATH: told.text + self.own.get(INDEX_PATH, ""),
        })  # fmt: skip
        for key in self.pages.write:
            page = self.pages.now[key]
            self.pages.now[key] = replace(page, bytes=len(without_footnotes(to_bytes(written[page.path].body))))
        shown = Shown(
            items=self.rows.changed, items_gone=self.rows.gone, rests=self.rests, pages=self.pages.changed, pages_gone=self.pages.gone,
            links=self.pages.links, sessions=tuple(self.sessions.changed.values()), infos=self.moves.infos,
        )  # fmt: skip
        return Sight(
            before=self.before, after=self.after, rows=shown, files=tuple(files), gone=self._gone(files), placed=self._placed(), brief=told, queue=queue,
            corrections=corrections, work=self.sessions.work, live_bytes=sum(p.bytes for p in self.pages.now.values() if p.live), said_bytes=int(self.after.aside["said"]),
            pages=sum(p.live + p.archived for p in self.pages.now.values()) + len(self.after.aside["beside"]),
        )  # fmt: skip

    def _keep_briefs(self, signs: Signs) -> None:
        """The briefs of agents' doors: they stand on no page, and a host that only publishes could not make them."""
        briefs = {door: door_brief(signs, door) for door in DOORS}
        kept = {door: {"text": self._text(INDEX_PATH, brief.text), "told": list(brief.told)} for door, brief in briefs.items()}
        self.after = replace(self.after, aside={**self.after.aside, "briefs": kept})

    # --- files of topics ---

    def _topic_files(self) -> list[File]:
        files = []
        for key, page in sorted(self.pages.write.items()):
            files.append(File(uid=page_uid(key), path=page.path, title=page.title, body=self._text(page.path, write(page))))
        for _, made in sorted(self.pages.made.items()):
            if made.archive:
                files.append(self._file(made.archive.path, write(made.archive)))
        return files

    def _beside(self, texts: Mapping[str, str]) -> list[File]:
        """The pages beside those of topics, as far as they are others than before: masking a long one takes longer than making it."""
        marks = {path: digest(to_bytes(text))[:24] for path, text in texts.items()}
        was = self.before.aside["beside"] if self.before else {}
        self.after = replace(self.after, aside={**self.after.aside, "beside": marks})
        return [self._file(path, text) for path, text in texts.items() if was.get(path) != marks[path]]

    def _file(self, path: str, text: str) -> File:
        return File(uid=short_uid("file", path), path=path, title=path.removesuffix(".md"), body=self._text(path, text))

    def _text(self, path: str, text: str) -> str:
        return as_text(self.cover(path, to_bytes(text)))

    def _gone(self, files: Iterable[File]) -> frozenset[str] | None:
        if self.before is None:
            return None
        others = [k for k in self.pages.old.keys() | self.pages.now.keys() if self.pages.old.get(k) is not self.pages.now.get(k)]
        old, now = (_uids({k: pages[k] for k in others if k in pages}) for pages in (self.pages.old, self.pages.now))
        listed = self.before.aside["beside"].keys() - self.after.aside["beside"].keys()  # parts of the index that are no more
        return frozenset((old | {short_uid("file", path) for path in listed}) - now - {f.uid for f in files})

    def _placed(self) -> dict[str, tuple[str, str] | None]:
        """Where notes stand now, of those that may stand elsewhere or under another title."""
        out: dict[str, tuple[str, str] | None] = dict.fromkeys(self.rows.gone)
        retitled = {k for k, p in self.pages.now.items() if k in self.pages.old and self.pages.old[k].title != p.title}
        moved = {r.uid for r in self.rows.changed} | {uid for uid, r in self.rows.now.items() if (r.topic, r.part) in retitled}
        for uid in moved:
            row = self.rows.now[uid]
            key = (row.topic, row.part)
            out[uid] = (page_uid(key), self.pages.now[key].title) if row.live and key in self.pages.now else None
        return out

    # --- the brief, the queue ---

    def _overlay(self) -> Overlay:
        return Overlay(self.store, self.scope, self.rows)

    def _newest(self, items: Overlay, corrections: Iterable[Correction]) -> datetime | None:
        times = [items.newest(), *(w.ended or w.started for w in self.sessions.work), *(c.at for c in corrections)]
        return max((t for t in times if t), default=None)

    def _doors(self) -> tuple[Door, ...]:
        """Every page as an index names it, in page order."""
        index: dict[PageKey, list[ShownItem]] = {}
        if any(p.sort == Sort.MEMORY for p in self.pages.now.values()):
            self.rows.load(carried=True)
        for row in self.rows.now.values():
            if row.indexed and row.live:
                index.setdefault((row.topic, row.part), []).append(row)
        live = [p for p in self.pages.now.values() if p.live]
        return in_page_order(
            Door(
                key=p.topic, part=p.part, sort=Sort(p.sort), title=p.title, path=p.path, hook=p.hook, line=p.line,
                index=tuple(self.rows.item(r) for r in sorted(index.get((p.topic, p.part), ()), key=lambda r: (r.position, r.uid))),
            )
            for p in live
        )  # fmt: skip

    def _signs(
        self, items: Overlay, newest: datetime | None, corrections: Iterable[Correction], questions: tuple[Asked, ...], doors: tuple[Door, ...]
    ) -> Signs:
        due = due_corrections(corrections, newest)
        above = said_above(due)
        wrong = {group[0].uid for group in due}
        self.rows.load(uids=wrong)
        quiet = quiet_before(newest)
        goals, goal_count = self._goals(items, micros(quiet))
        most = MEMORY_MD.lines
        return Signs(
            title=title_from(self.sessions.folders, self.scope), newest=newest, checked=items.checked(), corrections=due,
            places={uid: place for uid in wrong if uid in self.rows.now and (place := self._place(self.rows.now[uid]))}, rules=self._best(items, RULES, most),
            commands=self._best(items, COMMANDS, most), facts=self._best(items, FACTS, most, above), goals=Best(self._stands(goals), goal_count),
            asked=questions, work=self.sessions.work, doors=doors,
            memory=frozenset(p.topic for p in self.pages.now.values() if p.sort == Sort.MEMORY),
        )  # fmt: skip

    def _goals(self, items: Overlay, since: int | None) -> tuple[list[ShownItem], int]:
        """Goals that are pinned, then those heard of since then, the newest first, and how many there are."""
        found, count = items.goals(since)
        self.rows.load(uids=self.pins)
        pinned = [r for uid in sorted(self.pins) if (r := self.rows.now.get(uid)) and r.section == GOALS]
        goals = {r.uid: r for r in (*pinned, *found)}
        return sorted(goals.values(), key=lambda r: goal_rank(self.rows.item(r))), count + sum(not heard_since(r, since) for r in pinned)

    def _best(self, items: Overlay, section: str, most: int, above: frozenset[str] = frozenset()) -> Best:
        """The first notes of a section; without those whose sentence stands above it."""
        said = {said_digest(sentence) for sentence in above}
        left_out = items.saying(said) if said else 0
        rows, count = items.best(section, most + left_out)
        kept = [r for r in rows if not (r.said and r.said in said and clean(self.rows.item(r).statement) in above)]
        return Best(self._stands(kept[:most]), count - left_out)

    def _stands(self, rows: Iterable[ShownItem]) -> tuple[Stand, ...]:
        return tuple(Stand(self.rows.item(r), *place) for r in rows if (place := self._place(r)))

    def _place(self, row: ShownItem) -> tuple[str, str] | None:
        page = self.pages.now.get((row.topic, row.part)) if row.live else None
        return (page.title, page.path) if page else None

    def _queue(self, items: Overlay, corrections: tuple[Correction, ...], questions: tuple[Asked, ...], newest: datetime | None) -> q.Queue:
        first: list[q.Entry] = []
        counted: Counter[tuple[q.Waits, str]] = Counter()
        since = q.heard_since(newest)
        edited = open_edits(self.store, self.scope)
        asked = {e.note for e in edited}  # what is asked about as an edit is not asked about a second time as what it was
        counts = items.waiting(micros(since)) - items.waiting_of(asked, micros(since))
        gone = dismissed(self.store, self.scope)
        found = (*quarantined(self.store, self.scope), *(quarantined_of(h) for h in self.after.aside.get("held", ())))
        held = [h for h in found if h.uid not in gone]
        other = {
            q.Waits.EDIT: q.edits(edited), q.Waits.CORRECTION: q.corrections(corrections), q.Waits.QUESTION: q.questions(questions, since),
            q.Waits.QUARANTINE: tuple(q.quarantined(h) for h in _by_uid(held)),
        }  # fmt: skip
        for waits in q.Waits:
            if waits in other:
                first += other[waits]
                counted.update((e.waits, e.reason) for e in other[waits])
                continue
            of_this = Counter({(waits, reason): n for (w, reason), n in counts.items() if w == waits})
            counted.update(of_this)
            if of_this and len(first) < q.SHOWN_MAX:
                rows = items.first(waits, q.SHOWN_MAX + len(asked), micros(since) if waits is q.Waits.DRAFT else None)
                first += [q.entry(self.rows.item(r)) for r in rows if r.uid not in asked]
        return q.Queue(tuple(first[: q.SHOWN_MAX]), counted)


def _by_uid(held: Iterable[Quarantined]) -> list[Quarantined]:
    return sorted(held, key=lambda h: h.uid)


def page_uid(key: PageKey) -> str:
    """The uid of a topic's page: by its key, so that a rename is one page."""
    return short_uid("topic", key[0], str(key[1]))


def _uids(pages: Mapping[PageKey, ShownPage]) -> set[str]:
    live = {page_uid(k) for k, p in pages.items() if p.live}
    return live | {short_uid("file", archive_path(p.path)) for p in pages.values() if p.archived}


def as_text(data: bytes) -> str:
    """A page as the store takes it; own words that are no text are kept whole beside it."""
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")
