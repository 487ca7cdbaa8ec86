"""Writes the logs of a world: people who tell lasting and changing things about themselves among jokes, guests, other people's facts and much filler.

Everything comes from the seed: the same seed, number of users, sessions and tokens gives the same bytes. About one message in ten says something; the rest of
a session is assistant text and tool output.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from tests.worlds.filler import Filler
from tests.worlds.gold import Change, Gold, Never, Told, Way
from tests.worlds.held_out import HELD_AFTER, HELD_BEFORE, HELD_BULLETS, HELD_ITEMS, HELD_TRAPS
from tests.worlds.held_out2 import HELD2_AFTER, HELD2_BEFORE, HELD2_BULLETS, HELD2_ITEMS, HELD2_PAIRS, HELD2_TRAPS
from tests.worlds.held_out3 import HELD3_AFTER, HELD3_BEFORE, HELD3_BULLETS, HELD3_ITEMS, HELD3_PAIRS, HELD3_TRAPS
from tests.worlds.phrases import (
    AFTER,
    ASSUMED,
    BEFORE,
    BULLETS,
    DATABASE,
    DRINK,
    GUEST,
    GUESTS,
    ITEMS,
    LASTING,
    NAME,
    PERSONAL,
    PORT,
    SMALL,
    TRAPS,
    Item,
    Trap,
    Words,
    with_article,
)
from tests.writing import ClaudeLog

_T = TypeVar("_T")
FIRST_DAY = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
LANGUAGES = ("en", "zh", "mixed", "en", "en")
"""Language of the users in turn."""
BULLETS_IN = 7
"""The session in which bullet points are asked for, once."""
CHARS_A_TOKEN = {"en": 4.0, "zh": 1.6}
"""Roughly; tool output is English everywhere."""
SENTENCE_CHARS = {"en": 85, "zh": 26}


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One session as a file's name and content."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """One person: the logs of all sessions in order, and what must be believed."""

    gold: Gold
    logs: tuple[Log, ...]

    def save(self, folder: Path) -> Path:
        """Write the logs below the folder and return it."""
        folder.mkdir(parents=True, exist_ok=True)
        for log in self.logs:
            (folder / log.name).write_text(log.text, encoding="utf-8")
        return folder


class Half(StrEnum):
    """Which phrasings are used: rules may be made while looking at what is missed in `dev`, never at what is missed in `test`.

    `ALL` is both halves of `phrases`; `HELD`, `HELD2` and `HELD3` are other wordings altogether (`held_out`, `held_out2`, `held_out3`, each by now looked at).
    """

    ALL = "all"
    DEV = "dev"
    TEST = "test"
    HELD = "held"
    HELD2 = "held2"
    HELD3 = "held3"

    def of(self, phrases: tuple[_T, ...]) -> tuple[_T, ...]:
        """The phrasings of this half."""
        return {Half.DEV: phrases[::2], Half.TEST: phrases[1::2]}.get(self, phrases)

    @property
    def wording(self) -> _Wording:
        """The words of this half."""
        return _WORDINGS.get(self, _USUAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """Everything a world says, by what it is for; `pairs` are sentences that say two items at once."""

    items: Mapping[str, Item]
    traps: Mapping[str, tuple[Trap, ...]]
    bullets: Words
    before: Words
    after: Words
    pairs: Mapping[tuple[str, str], Words] = field(default_factory=dict)


_USUAL = _Wording(items={item.name: item for item in ITEMS}, traps=TRAPS, bullets=BULLETS, before=BEFORE, after=AFTER)
_WORDINGS: Mapping[Half, _Wording] = {
    Half.HELD: _Wording(items=HELD_ITEMS, traps=HELD_TRAPS, bullets=HELD_BULLETS, before=HELD_BEFORE, after=HELD_AFTER),
    Half.HELD2: _Wording(items=HELD2_ITEMS, traps=HELD2_TRAPS, bullets=HELD2_BULLETS, before=HELD2_BEFORE, after=HELD2_AFTER, pairs=HELD2_PAIRS),
    Half.HELD3: _Wording(items=HELD3_ITEMS, traps=HELD3_TRAPS, bullets=HELD3_BULLETS, before=HELD3_BEFORE, after=HELD3_AFTER, pairs=HELD3_PAIRS),
}


def user(seed: int, number: int, *, sessions: int = 40, tokens: int = 12_000, half: Half = Half.ALL) -> User:
    """The user of this number in the world of this seed; `tokens` is the size of one session."""
    rng = random.Random(f"{seed}/{number}")
    language = LANGUAGES[number % len(LANGUAGES)]
    cast = _Cast(rng=rng, number=number, language=language, sessions=sessions, half=half)
    story, gold = cast.story()
    write = _claude if number % 2 == 0 else _conversation
    return User(gold=gold, logs=tuple(write(cast, n, story.get(n, []), tokens) for n in range(1, sessions + 1)))


# --- the story: who says what in which session -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One message that matters: who says it, and whether it may stand inside other talk."""

    text: str
    speaker: str = "user"
    alone: bool = False


Story = Mapping[int, list[_Line]]


@dataclass(slots=True)
class _Cast:
    """One person in the making."""

    rng: random.Random
    number: int
    language: str
    sessions: int
    half: Half

    @property
    def own(self) -> str:
        """The language of the person's values and of the filler."""
        return "zh" if self.language == "zh" else "en"

    @property
    def label(self) -> str:
        """What the logs call the person."""
        return ("ana", "wei", "kim", "lou", "sam")[self.number % 5]

    def story(self) -> tuple[Story, Gold]:
        """The lines of each session and what must be believed."""
        story: defaultdict[int, list[_Line]] = defaultdict(list)
        items = self.half.wording.items
        told = self._pair(story)
        lone = [items[item.name] for item in LASTING if item.name not in {t.item for t in told}]
        told += [self._tell(story, item, self._value(item), self._early()) for item in lone]
        changing = [items[item.name] for item in (*PERSONAL, DATABASE if self.number % 2 else PORT)]
        self.rng.shuffle(changing)
        changes: list[Change] = []
        for place, item in enumerate(changing):
            way = Way.NAMED if place % 2 else Way.UNNAMED
            first, made = self._life(story, item, way, again=place < 2)
            told.append(first)
            changes.extend(made)
        never = [*self._traps(story), *self._guests(story), *self._assumed(story)]
        bullets = self._bullets(story)
        names = ("user", self.label, next(t.value for t in told if t.item == NAME.name))
        gold = Gold(
            user=f"{self.label}-{self.number}", language=self.language, names=names, told=tuple(told), changes=tuple(changes), never=tuple(never), bullets=bullets
        )  # fmt: skip
        return story, gold

    def _tongue(self) -> str:
        return self.rng.choice(("en", "zh")) if self.language == "mixed" else self.language

    def _value(self, item: Item, *taken: str) -> str:
        return self.rng.choice([v for v in item.values[self.own] if v not in taken])

    def _phrase(self, phrases: tuple[str, ...], name: str) -> str:
        """Phrasings in turn over the users, so that each is heard: the start is the seed's, the step is the user's."""
        phrases = self.half.of(phrases)
        start = random.Random(f"{name}/{phrases[0]}").randrange(len(phrases))
        return phrases[(start + self.number + self.rng.randrange(2)) % len(phrases)]

    def _tell(self, story: defaultdict[int, list[_Line]], item: Item, value: str, session: int) -> Told:
        tongue = self._tongue()
        sentence = self._phrase(item.said[tongue], item.name).format(v=value, a_v=with_article(value))
        story[session].append(_Line(text=self._within(sentence, tongue)))
        return Told(item=item.name, value=value, session=session, sentence=sentence)

    def _early(self) -> int:
        """A session of the first third."""
        return self.rng.randint(1, max(1, self.sessions // 3))

    def _pair(self, story: defaultdict[int, list[_Line]]) -> list[Told]:
        """Two items told in one sentence, another pair for each person; none where the wording has no pairs."""
        wording = self.half.wording
        if not wording.pairs:
            return []
        pair = list(wording.pairs)[self.number % len(wording.pairs)]
        a, b = (self._value(wording.items[name]) for name in pair)
        session, tongue = self._early(), self._tongue()
        sentence = self._phrase(wording.pairs[pair][tongue], "+".join(pair)).format(a=a, b=b, a_a=with_article(a), a_b=with_article(b))
        story[session].append(_Line(text=self._within(sentence, tongue)))
        return [Told(item=name, value=value, session=session, sentence=sentence) for name, value in zip(pair, (a, b), strict=True)]

    def _life(self, story: defaultdict[int, list[_Line]], item: Item, way: Way, *, again: bool) -> tuple[Told, list[Change]]:
        """An item told early, changed once outright, and for some once more: by an aside, or (drinks) back to what it was."""
        s = self.sessions
        first = self._tell(story, item, self._value(item), self.rng.randint(1, max(1, s // 5)))
        when = self.rng.randint(max(first.session + 1, s * 3 // 10), max(first.session + 1, s * 6 // 10))
        changes = [self._change(story, item, first.value, self._value(item, first.value), way, when)]
        if (again or item.name == DRINK.name) and when < s:
            later = self.rng.randint(min(s, when + 2), s)
            back = item.name == DRINK.name
            new = first.value if back else self._value(item, first.value, changes[0].new)
            changes.append(self._change(story, item, changes[0].new, new, way if back else Way.IMPLIED, later))
        return first, changes

    def _change(self, story: defaultdict[int, list[_Line]], item: Item, old: str, new: str, way: Way, session: int) -> Change:
        tongue = self._tongue()
        phrases = {Way.NAMED: item.named, Way.UNNAMED: item.unnamed, Way.IMPLIED: item.implied}[way][tongue]
        why = self.rng.choice(item.reasons[tongue])
        sentence = self._phrase(phrases, item.name).format(old=old, new=new, a_new=with_article(new), why=why)
        story[session].append(_Line(text=self._within(sentence, tongue)))
        return Change(item=item.name, old=old, new=new, reason=why, way=way, session=session, sentence=sentence)

    def _within(self, sentence: str, tongue: str) -> str:
        """The sentence as it comes in a message: alone, or between other words."""
        wording = self.half.wording
        return f"{self.rng.choice(wording.before[tongue])}{sentence}{self.rng.choice(wording.after[tongue])}"

    def _traps(self, story: defaultdict[int, list[_Line]]) -> Iterator[Never]:
        tongues = ("en", "zh") if self.language == "mixed" else (self.language,)
        pool = [t for tongue in tongues for t in self.half.of(self.half.wording.traps[tongue])]
        self.rng.shuffle(pool)
        for place, trap in enumerate(pool[: 2 * self.sessions]):
            session = place % self.sessions + 1
            yield from self._trap(story, trap, session)

    def _trap(self, story: defaultdict[int, list[_Line]], trap: Trap, session: int) -> Iterator[Never]:
        for text in (trap.text, *trap.after):
            story[session].append(_Line(text=text, alone=bool(trap.after) or trap.kind == "pasted"))
            yield Never(kind=trap.kind, session=session, sentence=text, values=trap.values)

    def _guests(self, story: defaultdict[int, list[_Line]]) -> Iterator[Never]:
        """Only a plain conversation tells several people apart."""
        if self.number % 2 == 0:
            return
        for (who, value), text in zip(GUESTS[self.own], GUEST[self.own], strict=False):
            session = self.rng.randint(1, self.sessions)
            sentence = text.format(who=who, v=value)
            story[session].append(_Line(text=sentence, speaker=who, alone=True))
            yield Never(kind="guest", session=session, sentence=sentence, values=(value,))

    def _assumed(self, story: defaultdict[int, list[_Line]]) -> Iterator[Never]:
        for text, value in ASSUMED[self.own]:
            session = self.rng.randint(1, self.sessions)
            story[session].append(_Line(text=text, speaker="assistant", alone=True))
            yield Never(kind="assistant", session=session, sentence=text, values=(value,))

    def _bullets(self, story: defaultdict[int, list[_Line]]) -> Told | None:
        if self.sessions < BULLETS_IN:
            return None
        sentence = self._phrase(self.half.wording.bullets[self._tongue()], "bullets")
        story[BULLETS_IN].append(_Line(text=sentence))
        return Told(item="bullets", value="bullets", session=BULLETS_IN, sentence=sentence)


# --- the logs: a session's lines between filler ------------------------------------------------------------------------------------------


def _session_start(cast: _Cast, session: int) -> datetime:
    """Three days apart, at another hour each time."""
    return FIRST_DAY + timedelta(days=3 * (session - 1), hours=(session * 5 + cast.number) % 11, minutes=cast.number)


def _fill(cast: _Cast, filler: Filler, tokens: int) -> tuple[str, str]:
    """What follows one message: a tool's output and the assistant's words, half of the tokens each."""
    output = filler.output(round(tokens * CHARS_A_TOKEN["en"] / 2))
    return output, filler.paragraph(max(1, round(tokens * CHARS_A_TOKEN[cast.own] / 2 / SENTENCE_CHARS[cast.own])))


def _messages(cast: _Cast, lines: list[_Line]) -> Iterator[_Line]:
    """The session's lines in an order of their own, small talk between them; a role-play stays together at the end."""
    rng, tongue = cast.rng, cast.own
    free = [line for line in lines if not line.alone]
    rng.shuffle(free)
    yield _Line(text=rng.choice(SMALL[tongue]))
    for line in [*free, *(line for line in lines if line.alone)]:
        if not line.alone and rng.random() < 0.5:
            yield _Line(text=rng.choice(SMALL[tongue]))
        yield line
    yield _Line(text=rng.choice(SMALL[tongue]))


def _claude(cast: _Cast, session: int, lines: list[_Line], tokens: int) -> Log:
    """A session as Claude Code logs it: half of the filler is assistant text, half the output of its tools."""
    log = ClaudeLog(f"world-{cast.label}-{cast.number}-{session}", at=_session_start(cast, session), cwd=f"/home/{cast.label}/work")
    filler = Filler(cast.rng, cast.own)
    messages = list(_messages(cast, lines))
    share = tokens // len(messages)
    for line in messages:
        if line.speaker == "assistant":
            log.assistant(line.text)
            continue
        log.user(line.text)
        output, answer = _fill(cast, filler, share)
        log.tool("Read", {"file_path": f"{log.cwd}/notes-{cast.rng.randint(1, 9)}.txt"}, output)
        log.assistant(answer)
    return Log(name=f"{log.uuid}.jsonl", text=log.text())


def _conversation(cast: _Cast, session: int, lines: list[_Line], tokens: int) -> Log:
    """A session as plain conversation rows."""
    filler = Filler(cast.rng, cast.own)
    messages = list(_messages(cast, lines))
    share = tokens // len(messages)
    rows: list[tuple[str, str]] = []
    for line in messages:
        rows.append((cast.label if line.speaker == "user" else line.speaker, line.text))
        if line.speaker != "assistant":
            output, answer = _fill(cast, filler, share)
            rows += [("tool", output), ("assistant", answer)]
    name = f"world-{cast.label}-{cast.number}-{session:02d}"
    return Log(name=f"{name}.jsonl", text=_rows(name, rows, _session_start(cast, session)))


def _rows(session: str, rows: list[tuple[str, str]], at: datetime) -> str:
    """As `tests.writing.conversation`, but a few seconds apart, so that a long session ends on the day it began."""
    times = (at + timedelta(seconds=20 * n) for n in range(len(rows)))
    out = ({"session": session, "speaker": who, "time": f"{time:%Y-%m-%dT%H:%M:%SZ}", "text": text} for time, (who, text) in zip(times, rows, strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in out)
