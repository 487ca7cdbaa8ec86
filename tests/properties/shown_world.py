"""A scope whose beliefs, logs and notes change in any way a dream or a person may change them, for comparing what is kept of it with what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from pipelines.model import (
    Basis,
    Finding,
    Kind,
    OnlineNote,
    Origin,
    Outcome,
    Place,
    Question,
    Quote,
    SessionInfo,
    Standing,
    Status,
    Turn,
    Verdict,
    Version,
    digest,
)
from pipelines.notes.folder import read_text
from pipelines.notes.instructed import FOLDER
from pipelines.run.beside import pin, unpin
from pipelines.store import BeliefChange, Decision, FindingChange, Store
from tests.contracts.store_builders import DAY, batch, claim, gated, source, start_dream, turn

SCOPE = "acme/web/ana"
SUBJECTS = (
    "user", "payments-db", "Payments-DB", "harbor", "Harbor", "tide-gate", "C", "C++", "支付数据库", "npm start", "the old way", "api.v2", "Fog", "payments db",
    "gate-2", "memory", "Quay Crane", "quay",
)  # fmt: skip
WORDS = ("listens on", "is slower than", "needs", "was moved next to", "反映", "rests on", "is called")
DECISION = (Decision(stage="resolve", verb="new", reason="said"),)
FILES = ("fog.md", "harbor.md", "payments_db.md", "quay.md", "C++.md")
Wanted = tuple[str, Status, Kind, str, str]
"""Of a version: subject, status, kind, sentence, value."""
PAST = (Status.SUPERSEDED, Status.EXPIRED)


@dataclass
class World:
    """The scope, and what was put into it so far."""

    store: Store
    turns: int = 0
    sources: int = 0
    dreams: int = 0
    notes: dict[str, tuple[Version, ...]] = field(default_factory=dict)
    sessions: list[tuple[str, tuple[Turn, ...], str]] = field(default_factory=list)
    online: tuple[OnlineNote, ...] = ()

    # --- logs ---

    def says(self, texts: Sequence[str], *, at: datetime | None = None, folder: str | None = None, origin: Origin = Origin.USER) -> tuple[Turn, ...]:
        """A session in a file of its own."""
        uid = f"s{self.sources}"
        start = at or DAY + timedelta(hours=self.sources)
        made = tuple(
            turn(f"t{self.turns + n:04d}", text, session=uid, ordinal=n, at=start + timedelta(minutes=n), origin=origin) for n, text in enumerate(texts)
        )
        self.turns += len(texts)
        identity = f"log-{self.sources:03d}"
        self.sources += 1
        self.store.commit_intake(SCOPE, batch(*made, after=source(identity), sessions=(SessionInfo(uid=uid, format="claude", cwd=folder),)))
        self.sessions.append((uid, made, identity))
        return made

    def chats(self, lines: Sequence[int]) -> None:
        """A conversation without times: its lines are known by what they say alone."""
        uid = f"chat{self.sources}"
        made = tuple(turn(f"c{self.turns + n:04d}", f"line {said}", session=uid, ordinal=n, at=None) for n, said in enumerate(lines))
        self.turns += len(lines)
        self.store.commit_intake(SCOPE, batch(*made, after=source(f"chat-{self.sources:03d}"), sessions=(SessionInfo(uid=uid, format="claude"),)))
        self.sources += 1

    def copied(self, which: int, *, earlier: bool) -> None:
        """A session's turns again, in a file that sorts first, in a session that may have begun before."""
        if not self.sessions:
            return
        _, turns, _ = self.sessions[which % len(self.sessions)]
        start = DAY - timedelta(days=400) if earlier else DAY + timedelta(days=300)
        first = turn(f"x{self.sources}", "before", session=f"fork{self.sources}", ordinal=0, at=start)
        again = tuple(replace(t, session=first.session, ordinal=n + 1, place=Place(line=n + 7, offset=n * 10, length=9)) for n, t in enumerate(turns))
        self.store.commit_intake(
            SCOPE, batch(first, *again, after=source(f"copy-{self.sources:03d}"), sessions=(SessionInfo(uid=first.session, format="claude"),))
        )
        self.sources += 1

    def rewritten(self, which: int) -> None:
        """A file that was written anew, its turns on other lines, the last one gone."""
        if not self.sessions:
            return
        uid, turns, identity = self.sessions[which % len(self.sessions)]
        kept = tuple(replace(t, place=Place(line=t.place.line + 100, offset=t.place.offset, length=t.place.length)) for t in turns[:-1])
        state = self.store.source(SCOPE, identity)
        assert state is not None
        after = replace(source(identity), generation=state.generation + 1)
        self.store.commit_intake(SCOPE, batch(*kept, after=after, expected=(state.generation, state.offset), sessions=(SessionInfo(uid=uid, format="claude"),)))

    # --- beliefs ---

    def version(self, dice: Random, status: Status | None = None) -> Wanted:
        """Any version of a note."""
        lively = [Status.CONFIRMED] * 8 + [Status.DRAFT, Status.NEEDS_RECHECK, Status.SUPERSEDED, Status.EXPIRED]
        return (dice.choice(SUBJECTS), status or dice.choice(lively), dice.choice([Kind.FACT] * 4 + list(Kind)), sentence(dice), dice.choice(["", "5433"]))

    def believes(self, notes: Mapping[str, Sequence[Wanted]], *, sessions: int = 1, reason: str | None = None) -> None:
        """Notes with these versions, all said in one new session; a note without any is retracted."""
        told = [(note, n, version) for note, versions in notes.items() for n, version in enumerate(versions)]
        said = self.says([version[3] for _, _, version in told]) if told else ()
        made: dict[str, tuple[Version, ...]] = {note: () for note in notes}
        read = []
        for (note, n, (subject, status, kind, statement, value)), at in zip(told, said, strict=True):
            quote = Quote(turn=at.uid, start=0, end=len(statement), text=statement)
            found = claim(statement, turn=at.uid, subject=subject, value=value or None, quotes=(quote,))
            read.append(gated(found))
            over = status in PAST
            version = Version(
                note=note, slot=f"v{n}", kind=kind, subject=subject, attribute="port", qualifier="", statement=statement, value=value or None, status=status,
                standing=Standing.VERIFIED, basis=Basis.STATED, claims=(found.uid,), valid_from=at.at, newest_evidence=at.at, oldest_evidence=at.at,
                roots=sessions, reason=reason, missed="said_once" if status is Status.DRAFT else "", ended_by=found.uid if over else None,
                valid_until=at.at if over else None,
            )  # fmt: skip
            made[note] = (*made[note], version)
        if said:
            self.store.save_reading(SCOPE, said[0].session, engine="local/1", digest=digest(said[0].uid), claims=read)
        self.notes |= made
        self.dream(made, ())

    def dream(self, notes: Mapping[str, tuple[Version, ...]], findings: Sequence[Finding]) -> None:
        """Stage and apply."""
        self.dreams += 1
        run = start_dream(self.store, SCOPE, cause="command", holder="desk:1:1")
        heads = self.store.heads(SCOPE, notes=notes)
        changes = [BeliefChange(note=n, versions=v, decisions=DECISION) for n, v in notes.items()]
        reads = {n: [h.token for h in heads if h.version.note == n] for n in notes}
        self.store.stage(run, [*changes, *(FindingChange(finding=f, decisions=DECISION) for f in findings)], reads)
        self.store.apply(run, max_share=1.0)
        self.store.finish_dream(run, "completed")

    # --- the agent's own notes ---

    def writes(self, lines: Sequence[tuple[str, str, str, bool]]) -> None:
        """A memory folder with these lines (file, heading, text, whether it is the index's)."""
        self.online = tuple(
            OnlineNote(
                uid=digest("note", path, str(n), text), folder="mem", path="MEMORY.md" if index else path, line=n + 1, position=n,
                title="Memory" if index else path.removesuffix(".md"), text=text, markdown=f"[{path}]({path}): {text}" if index else text, heading=heading,
                links=(path,) if index else (), index=index,
            )
            for n, (path, heading, text, index) in enumerate(lines)
        )  # fmt: skip
        self.store.save_online_notes(SCOPE, "mem", self.online)

    def judges(self, verdicts: Sequence[tuple[int, Verdict, int]]) -> None:
        """Findings on lines (by place), each proven by a turn of some session, with the note that is right."""
        if not self.online or not self.sessions:
            return
        found = {}
        for which, verdict, proof in verdicts:
            note = self.online[which % len(self.online)]
            at = self.sessions[proof % len(self.sessions)][1][0]
            version = sorted(self.notes)[proof % len(self.notes)] if self.notes else None
            quotes = () if verdict is Verdict.NO_LOG else (Quote(turn=at.uid, start=0, end=len(at.text), text=at.text),)
            found[note.uid] = Finding(note=note.uid, verdict=verdict, why="said", quotes=quotes, version=version, corrected="It is so.")
        self.dream({}, tuple(found.values()))

    # --- beside beliefs ---

    def pins(self, note: str, *, at: datetime) -> None:
        """Pin a note, or take its pin off."""
        versions = tuple(h.version for h in self.store.heads(SCOPE, notes=[note]))
        if versions and not unpin(self.store, SCOPE, versions, at=at, hand="command") and any(v.status is Status.CONFIRMED for v in versions):
            pin(self.store, SCOPE, versions, at=at, hand="command")

    def instructs(self, lines: Sequence[str]) -> None:
        """An instruction file with these lines."""
        self.store.save_online_notes(SCOPE, FOLDER, read_text("".join(f"- {line}\n" for line in lines), folder=FOLDER, path="CLAUDE.md")[1])

    def held(self, text: str) -> None:
        """A claim under quarantine, and a question that waits."""
        (said,) = self.says([text], origin=Origin.EXTERNAL)
        bad = claim(text, turn=said.uid, quotes=(Quote(turn=said.uid, start=0, end=len(text), text=text),))
        asked = Question(text="Which gate?", quotes=(Quote(turn=said.uid, start=0, end=3, text=text[:3]),))
        self.store.save_reading(
            SCOPE, said.session, engine="local/1", digest=digest(said.uid), claims=[gated(bad, outcome=Outcome.QUARANTINE)], questions=[asked]
        )


def sentence(dice: Random) -> str:
    """Any sentence about some things of the scope."""
    more = " And a lot more words to say about it." * dice.choice([0, 0, 0, 4])
    return f"{dice.choice(SUBJECTS)} {dice.choice(WORDS)} {dice.choice(SUBJECTS)} {dice.randrange(6)}.{more}"
