"""Sessions written for the oracle and what is true of them: claims, traps, questions, read from `sessions/*.txt`; and the same made of a world's gold.

A file holds sessions, a line each thing; `{a|b}` reads a in the first scope and b in the second, so that both say the same of different things:

    === name | language | claude or chat
    > the person types                    < the assistant says          $ a command       ! its exit code      | its output       @ a page is read
    + kind | about | what | sentence | key=value…      a true claim of the turn above: value, was, where, why, q (the quote; the whole turn otherwise),
                                                       neg, draft (never confirmed), pair=tag/relation,
                                                       wrong, flip, user (a wrong text, its denial, the same said of the user)
    - knob | kind | about | what | sentence | q=…      what a liar makes of the turn above: wish, instruction, secret
    ~ way | sentence | as=kind                         the claim above told freely and at length, with a fact added, dropped or shifted in this way
    ? question | q=… | a=… | lie=…                     a gap in the turn above, the words elsewhere that fill it (none: nothing does), and a wrong answer
    * way | about | what | sentence | q=… | q=…        an insight resting on turns with these words: the way it lies, `true` when it does not
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from tests.redacting import noise
from tests.worlds.generator import User
from tests.worlds.gold import Change, Told
from tests.writing import START, ClaudeLog, conversation

SESSIONS = Path(__file__).with_name("sessions")
SCOPES = ("harbor", "lagoon")
TRAPS = ("wish", "instruction", "secret")
TRUE = "true"
FLUENT_FIRST = 60
"""The number of the first session of long sentences, past all others, so that both lie beside each other in one folder."""


@dataclass(frozen=True, slots=True)
class Fluent:
    """A long and free wording of a claim that says more, less or something else, in the way named; told as `kind` ("" for the claim's own)."""

    way: str
    says: str
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldClaim:
    """Something true that a session says: the fields of an item of an answer, and the lies that can be made of it ("" for none)."""

    scope: str
    session: str
    quote: str
    kind: str
    about: str
    what: str
    says: str
    value: str = ""
    was: str = ""
    where: str = ""
    why: str = ""
    negated: bool = False
    implied: bool = False
    draft: bool = False
    pair: str = ""
    wrong: str = ""
    flip: str = ""
    user: str = ""
    fluent: tuple[Fluent, ...] = ()

    @property
    def key(self) -> str:
        """Its name for draws."""
        return f"{self.scope}/{self.session}/{self.says}/{self.quote}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """Words that must not become `claim`, a lie of the sort `knob`."""

    knob: str
    claim: GoldClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A question a session raises, and the words that answer it, "" where nothing does."""

    scope: str
    session: str
    asks: str
    quote: str
    answer: str
    lie: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What could be concluded of turns that hold these words; `way` says how it lies, TRUE that it does not."""

    scope: str
    session: str
    way: str
    about: str
    what: str
    says: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session as a file, with everything known of it. `number` is its place in its scope, from 0."""

    scope: str
    name: str
    language: str
    number: int
    file: str
    text: str
    claims: tuple[GoldClaim, ...]
    traps: tuple[Trap, ...]
    gaps: tuple[Gap, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()


def save(sessions: Iterable[Session], folder: Path) -> None:
    """Write the logs below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for session in sessions:
        (folder / session.file).write_text(session.text, encoding="utf-8")


@cache
def all_sessions() -> tuple[Session, ...]:
    """Every session written here, of both scopes."""
    return tuple(session for scope in SCOPES for session in _of_scope(scope, SESSIONS))


@cache
def fluent_sessions() -> tuple[Session, ...]:
    """Sessions of long sentences, of both scopes: what is told of them freely, and what they show together."""
    return tuple(session for scope in SCOPES for session in _of_scope(scope, SESSIONS / "fluent", first=FLUENT_FIRST))


def secrets() -> Mapping[str, str]:
    """The secrets that stand in the sessions, made when they are read so that no scanner finds them here."""
    return {
        "SECRET1": "gl" + "pat-" + noise(20, seed=1), "SECRET2": "np" + "m_" + noise(36, seed=2),
        "SECRET3": "gh" + "p_" + noise(36, seed=3), "SECRET4": "h" + "f_" + noise(34, seed=4),
    }  # fmt: skip


# --- reading the files -------------------------------------------------------------------------------------------------------------------

_ALTERNATIVES = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


def _of_scope(scope: str, folder: Path, *, first: int = 0) -> Iterator[Session]:
    chosen = SCOPES.index(scope) + 1
    number = first
    for file in sorted(folder.glob("*.txt")):
        text = _ALTERNATIVES.sub(lambda m: m[chosen], file.read_text(encoding="utf-8"))
        for name, secret in secrets().items():
            text = text.replace(name, secret)
        for part in text.split("\n=== "):
            lines = part.removeprefix("=== ").splitlines()
            if lines:
                yield _session(scope, number, lines)
                number += 1


def _session(scope: str, number: int, lines: Sequence[str]) -> Session:
    name, language, shape = (field.strip() for field in lines[0].split(" | "))
    made = _Made(scope=scope, session=name)
    turns = [(line[0], line[2:]) for line in lines[1:] if line.strip()]
    for mark, words in turns:
        made.take(mark, words)
    at = START + timedelta(days=number)
    text, file = _claude(f"{scope}-{name}", at, turns) if shape == "claude" else _chat(f"{scope}-{number}", at, turns)
    return Session(
        scope=scope, name=name, language=language, number=number, file=file, text=text, claims=tuple(made.claims), traps=tuple(made.traps), gaps=tuple(made.gaps),
        conclusions=tuple(made.conclusions),
    )  # fmt: skip


@dataclass
class _Made:
    """What is known of the session so far; `turn` are the words of the last turn."""

    scope: str
    session: str
    turn: str = ""
    claims: list[GoldClaim] = field(default_factory=list)
    traps: list[Trap] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    conclusions: list[Conclusion] = field(default_factory=list)

    def take(self, mark: str, words: str) -> None:
        """A line of the file."""
        if mark == "+":
            self.claims.append(self._claim(words.split(" | ")))
        elif mark == "-":
            knob, *fields = words.split(" | ")
            assert knob in TRAPS, f"{self.session}: {knob!r} is no trap"
            self.traps.append(Trap(knob=knob, claim=self._claim(fields)))
        elif mark == "?":
            asks, *given = words.split(" | ")
            told = dict(one.split("=", 1) for one in given)
            self.gaps.append(Gap(scope=self.scope, session=self.session, asks=asks, quote=told["q"], answer=told.get("a", ""), lie=told.get("lie", "")))
        elif mark == "~":
            way, says, *kind = words.split(" | ")
            freely = Fluent(way, says, "".join(kind).removeprefix("as="))
            self.claims[-1] = replace(self.claims[-1], fluent=(*self.claims[-1].fluent, freely))
        elif mark == "*":
            self.conclusions.append(self._conclusion(words.split(" | ")))
        else:
            assert mark in "><$!|@", f"{self.session}: {mark!r} begins no line"
            self.turn = words

    def _conclusion(self, fields: Sequence[str]) -> Conclusion:
        way, about, what, says, *quotes = fields
        given = tuple(quote.removeprefix("q=") for quote in quotes)
        return Conclusion(scope=self.scope, session=self.session, way=way, about=about, what=what, says=says, quotes=given)

    def _claim(self, fields: Sequence[str]) -> GoldClaim:
        kind, about, what, says, *given = fields
        told = dict(one.split("=", 1) for one in given if "=" in one)
        assert told.keys() <= {*_TOLD, "q"}, f"{self.session}: {told.keys()}"
        return GoldClaim(
            scope=self.scope, session=self.session, quote=told.get("q", self.turn), kind=kind, about=about, what=what, says=says,
            negated="neg" in given, draft="draft" in given, **{name: told.get(name, "") for name in _TOLD},  # type: ignore[arg-type]
        )  # fmt: skip


_TOLD = ("value", "was", "where", "why", "pair", "wrong", "flip", "user")


def _claude(name: str, at: datetime, turns: Sequence[tuple[str, str]]) -> tuple[str, str]:
    log = ClaudeLog(name, at=at, cwd=f"/home/ana/{name.split('-')[0]}")
    for n, (mark, words) in enumerate(turns):
        exit_code, output = _after(turns[n + 1 :])
        match mark:
            case ">":
                log.user(words)
            case "<":
                log.assistant(words)
            case "$":
                log.bash(words, output, exit_code=exit_code)
            case "@":
                log.fetch(words, output)
    return log.text(), f"{log.uuid}.jsonl"


def _after(turns: Sequence[tuple[str, str]]) -> tuple[int, str]:
    """The exit code and output that follow a command."""
    exit_code, output = 0, []
    for mark, words in turns:
        if mark == "!":
            exit_code = int(words)
        elif mark == "|":
            output.append(words)
        elif mark not in "+-?~*":
            break
    return exit_code, "\n".join(output)


def _chat(name: str, at: datetime, turns: Sequence[tuple[str, str]]) -> tuple[str, str]:
    spoken = [("user" if mark == ">" else "assistant", words) for mark, words in turns if mark in "><"]
    return conversation(name, spoken, at=at), f"{name}.jsonl"


# --- a world's gold ----------------------------------------------------------------------------------------------------------------------

_KINDS = {"drink": "preference", "airline": "preference", "rule": "rule"}
_WHATS = {"home": "home", "employer": "employer", "phone": "phone", "drink": "drink", "airline": "airline", "database": "database", "port": "port"}
_PROJECT_ITEMS = frozenset({"database", "port", "rule"})
IMPLIED_AS = {
    "en": {
        "home": "The user lives in {v}.", "employer": "The user works at {v}.", "phone": "The user's phone is a {v}.", "drink": "The user drinks {v}.",
        "airline": "The user flies {v}.", "database": "The project's database is {v}.", "port": "The API listens on port {v}.",
    },
    "zh": {
        "home": "用户住在{v}。", "employer": "用户在{v}上班。", "phone": "用户的手机是{v}。", "drink": "用户喝{v}。", "airline": "用户坐{v}。",
        "database": "项目用的数据库是{v}。", "port": "API 的端口是 {v}。",
    },
}  # fmt: skip
"""What a reader concludes from an aside that shows a change."""


def of_world(user: User, scope: str) -> tuple[Session, ...]:
    """The sessions of a world's person with their gold: what was told outright in its own words, changes by an aside as what they imply."""
    gold = user.gold
    by_session: dict[int, list[GoldClaim]] = {}
    for told in gold.told:
        by_session.setdefault(told.session, []).append(_told(told, scope))
    for change in gold.changes:
        by_session.setdefault(change.session, []).append(_changed(change, scope))
    return tuple(
        Session(
            scope=scope, name=log.name, language=gold.language, number=n, file=log.name, text=log.text, claims=tuple(by_session.get(n, ())), traps=(),
        )
        for n, log in enumerate(user.logs, 1)
    )  # fmt: skip


def _told(told: Told, scope: str) -> GoldClaim:
    about = "project" if told.item in _PROJECT_ITEMS else "user"
    return GoldClaim(
        scope=scope, session=str(told.session), quote=told.sentence, kind=_KINDS.get(told.item, "fact"), about=about, what=_WHATS.get(told.item, told.item),
        says=told.sentence, value=told.value,
    )  # fmt: skip


def _changed(change: Change, scope: str) -> GoldClaim:
    told = _told(Told(item=change.item, value=change.new, session=change.session, sentence=change.sentence), scope)
    if change.way.outright:
        return replace(told, was=change.old if change.old in change.sentence else "", why=change.reason)
    chinese = any("\u4e00" <= ch <= "\u9fff" for ch in change.sentence)
    return replace(told, says=IMPLIED_AS["zh" if chinese else "en"][change.item].format(v=change.new), implied=True)
