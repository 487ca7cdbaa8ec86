"""Compares what dreamd believes of a person with what is true of them: by code alone, from versions and the claims they rest on.

A version is traced to the sentence it comes from by the quotes of its claims, never by its subject or attribute, so the judge does not depend on how an
engine names things. Only two questions look at the subject: whose a value is, and whether a fact is the person's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipelines.model import Claim, Status, Version
from tests.worlds.gold import Change, Gold, Never, Told, Way

MOODS = ("event", "joke", "dry_joke", "hypothetical", "wish", "question", "hedged", "feeling", "role_play")
OTHERS = ("other", "guest", "pasted", "assistant")
STORED = frozenset({Status.CONFIRMED, Status.DISPUTED, Status.DRAFT, Status.NEEDS_RECHECK, Status.SUPERSEDED})
LIVE = frozenset({Status.CONFIRMED, Status.DRAFT})
REASON_SHARE = 0.8
"""Share of the words of a person's reason that a history line must hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One thing that is not as it should be: the measure, the sentence in question, and what is believed instead."""

    user: str
    after: int
    measure: str
    sentence: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """How often each measure was met (or, for harm, happened) of how often it could have been, and every miss."""

    hits: Counter[str]
    cases: Counter[str]
    misses: tuple[Miss, ...] = ()

    def __add__(self, other: Score) -> Score:
        hits, cases = Counter(self.hits), Counter(self.cases)
        hits.update(other.hits)
        cases.update(other.cases)
        return Score(hits, cases, self.misses + other.misses)

    def share(self, measure: str) -> float:
        """Hits of cases; 0 where there was none."""
        return self.hits[measure] / self.cases[measure] if self.cases[measure] else 0.0


NOTHING = Score(Counter(), Counter())


def judge(gold: Gold, versions: Iterable[Version], claims: Mapping[str, Claim], *, after: int) -> Score:
    """Every measure for one person after a session. `claims` holds all claims the versions name, by uid."""
    return _Judge(gold, tuple(versions), claims, after).score()


class _Judge:
    """One comparison; `_note` counts a case and whether it was met."""

    def __init__(self, gold: Gold, versions: Sequence[Version], claims: Mapping[str, Claim], after: int) -> None:
        self._gold, self._versions, self._claims, self._after = gold, versions, claims, after
        self._hits: Counter[str] = Counter()
        self._cases: Counter[str] = Counter()
        self._misses: list[Miss] = []
        self._quotes = {v.slot + v.note: tuple(q.text for uid in v.claims if uid in claims for q in claims[uid].quotes) for v in versions}

    def score(self) -> Score:
        self._nothing_of_others()
        self._nothing_of_moods()
        self._changes()
        self._recall()
        self._lasting_lives()
        self._precision()
        return Score(self._hits, self._cases, tuple(self._misses))

    # --- harm: hits count what must not be ---

    def _nothing_of_others(self) -> None:
        for trap in self._heard(OTHERS):
            wrong = [v for v in self._from(trap.sentence) if v.status in STORED and self._is_mine(v)]
            wrong += [v for v in self._versions if v not in wrong and v.status in STORED and self._is_mine(v) and self._says_any(v, trap)]
            self._note("others' value as the user's", trap.sentence, wrong, harm=True, also=f"others: {trap.kind}")

    def _nothing_of_moods(self) -> None:
        for trap in self._heard(MOODS):
            wrong = [v for v in self._from(trap.sentence) if v.status in STORED]
            self._note("mood stored", trap.sentence, wrong, harm=True, also=f"mood: {trap.kind}")
            sure = [v for v in wrong if v.status in {Status.CONFIRMED, Status.DISPUTED}]
            self._note("mood stored as confirmed", trap.sentence, sure, harm=True)

    def _changes(self) -> None:
        for change in self._gold.changed(self._after):
            if not self._gold.over(change, self._after):
                continue
            current = [v for v in self._versions if v.status is Status.CONFIRMED and self._is_old(v, change)]
            self._note(f"old shown as current, {_told_how(change)}", change.sentence, current, harm=True, also=f"old as current: {change.way}")
            if change.way.outright:
                self._count("disputed, told outright", any(v.status is Status.DISPUTED and self._is_old(v, change) for v in self._versions))
                self._history(change)

    def _is_old(self, version: Version, change: Change) -> bool:
        """Whether the version states the old value of a change, and not the new one beside it."""
        return self._states(version, change.old) and not self._names(version, change.new) and self._is_mine(version)

    def _history(self, change: Change) -> None:
        ended = [v for v in self._versions if v.status is Status.SUPERSEDED and self._states(v, change.old)]
        right = [v for v in ended if v.reason and _holds_reason(v.reason, change.reason)]
        self._note("old and reason in History", change.sentence, right, also=f"history: {change.way}", instead=ended)

    # --- recall and what must live: hits count what is right ---

    def _recall(self) -> None:
        for item, value in self._gold.believed(self._after).items():
            last = self._last(item)
            way = last.way if isinstance(last, Change) else None
            if way is Way.IMPLIED:
                continue
            found = [v for v in self._versions if v.status is Status.CONFIRMED and self._states(v, value) and self._is_mine(v)]
            near = [v for v in self._versions if v not in found and self._states(v, value)]
            self._note("recall", last.sentence, found, also=f"recall: {item}", instead=near)
            group = f"recall of changes told {way}" if way else "recall of what was told once"
            self._count(group, bool(found))

    def _last(self, item: str) -> Told | Change:
        """The sentence that an item's value comes from."""
        heard: list[Told | Change] = [t for t in self._gold.told if t.item == item and t.session <= self._after]
        heard += [c for c in self._gold.changed(self._after) if c.item == item]
        return max(heard, key=lambda t: t.session)

    def _lasting_lives(self) -> None:
        for told in self._gold.told:
            if told.item == "allergy" and told.session <= self._after:
                self._note(
                    "allergy live",
                    told.sentence,
                    [v for v in self._versions if v.status is Status.CONFIRMED and self._states(v, told.value) and self._is_mine(v)],
                )
        bullets = self._gold.bullets
        if bullets is not None and bullets.session <= self._after:
            kept = [v for v in self._from(bullets.sentence) if v.status in LIVE]
            self._note("bullet points live", bullets.sentence, kept)
            self._note("bullet points confirmed", bullets.sentence, [v for v in kept if v.status is Status.CONFIRMED], harm=True)

    # --- precision ---

    def _precision(self) -> None:
        for version in self._versions:
            if version.status is Status.CONFIRMED and not self._aside(version):
                right = self._is_right(version)
                self._count("precision", right)
                if not right:
                    self._miss("precision", " | ".join(self._quotes[version.slot + version.note]), [version])

    def _aside(self, version: Version) -> bool:
        """Whether the version's value is over only by an aside: neither right nor wrong."""
        implied = [c for c in self._gold.changed(self._after) if not c.way.outright]
        return any(self._is_old(version, c) for c in implied)

    def _is_right(self, version: Version) -> bool:
        """Whether a confirmed version says what a gold sentence says and what still holds, or is another's fact under its owner."""
        held = self._gold.believed(self._after)
        for told in self._gold.told:
            if self._comes_from(version, told.sentence) and self._states(version, told.value) and held.get(told.item) == told.value:
                return self._is_mine(version)
        for change in self._gold.changed(self._after):
            if self._comes_from(version, change.sentence):
                denied = self._denies(version) and self._names(version, change.old)
                return self._is_mine(version) and (denied or (held[change.item] == change.new and self._states(version, change.new)))
        owned = [t for t in self._heard(OTHERS) if self._comes_from(version, t.sentence)]
        return bool(owned) and not self._is_mine(version) and any(self._names(version, value) for t in owned for value in t.values)

    # --- reading versions ---

    def _from(self, sentence: str) -> list[Version]:
        return [v for v in self._versions if self._comes_from(v, sentence)]

    def _comes_from(self, version: Version, sentence: str) -> bool:
        """Whether a quote of the version's claims stands in the sentence or holds it."""
        whole = _plain(sentence)
        return any(_overlap(_plain(quote), whole) for quote in self._quotes[version.slot + version.note])

    def _is_mine(self, version: Version) -> bool:
        """Whether the version speaks of the person or of the person's own things: it names nobody else, as its subject or as whom it tells of."""
        if version.subject.casefold() in {*(n.casefold() for n in self._gold.names), *_OWN}:
            return True
        return not _OTHER.search(version.subject) and not _OTHER.match(version.statement)

    def _states(self, version: Version, value: str) -> bool:
        """Whether the version says, not denies, this value."""
        return self._names(version, value) and not self._denies(version)

    def _names(self, version: Version, value: str) -> bool:
        """By the version's value; by its statement where it has none."""
        return _holds(version.statement if version.value is None else version.value, value) or (version.value is not None and _holds(value, version.value))

    def _denies(self, version: Version) -> bool:
        mine = [self._claims[uid] for uid in version.claims if uid in self._claims]
        return bool(mine) and all(c.negated for c in mine) and not any(c.kind.value in {"rule", "hold"} for c in mine)

    def _says_any(self, version: Version, trap: Never) -> bool:
        """Whether a version of the person has exactly one of the trap's values, wherever it comes from."""
        return version.value is not None and any(_plain(version.value) == _plain(value) for value in trap.values)

    def _heard(self, kinds: Iterable[str]) -> Iterator[Never]:
        wanted = frozenset(kinds)
        return (t for t in self._gold.never if t.kind in wanted and t.session <= self._after)

    # --- counting ---

    def _note(self, measure: str, sentence: str, versions: Sequence[Version], *, harm: bool = False, also: str = "", instead: Sequence[Version] = ()) -> None:
        met = bool(versions)
        self._count(measure, met)
        if also:
            self._count(also, met)
        if met is harm:
            self._miss(measure, sentence, versions if harm else instead)

    def _count(self, measure: str, met: bool) -> None:
        self._cases[measure] += 1
        self._hits[measure] += met

    def _miss(self, measure: str, sentence: str, versions: Sequence[Version]) -> None:
        shown = "; ".join(f"{v.status.value} {v.kind.value} {v.subject}/{v.attribute}={v.value!r} [{v.missed or v.reason or ''}]" for v in versions[:3])
        self._misses.append(Miss(user=self._gold.user, after=self._after, measure=measure, sentence=sentence, found=shown))


_OWN = frozenset({"project", "we", "our project", "我", "我们"})
_OTHERS_EN = (
    "friend|colleague|nephew|niece|sister|brother|boss|neighbou?rs?|wife|ex|intern|flatmate|roommate|customer|client|team|else|other|unresolved|dad|mum|parents|grandpa|gf|kid|mate"
    "|cousin|daughter|landlord|accountant|cto|marta|paula|hannah|ben|tom|ruben|mei|sven|pedro|agnes|falcone|torvald|priyanka|dana|lars|renata|oskar"
    "|husband|uncle|aunt|father|manager|supplier|branch|tenants|lady|sanjay|fiona|matteo|ottoline"
)
_OTHERS_ZH = "同事|朋友|男朋友|侄子|姐姐|老板|弟弟|室友|老婆|爸|妈|奶奶|表妹|表哥|女儿|会计|房东|小李|小王|小张|小赵|阿梅|实习生|隔壁|邻居|客户|组长|佩德罗|艾格尼丝|雷娜塔|他|她|丈夫|舅舅|大妈|供应商|闺女|部门|马泰奥"
_OTHER = re.compile(
    rf"(?:(?:my|our|the|a|half(?: my| the)?|fyi half my) (?:other |platform )?)?(?<![a-z])(?:{_OTHERS_EN})(?![a-z])|(?:我的?)?(?:一个)?(?:{_OTHERS_ZH})",
    re.IGNORECASE,
)
"""Subjects, and beginnings of statements, that are somebody else's; everything unknown counts as the person's, so that a doubt is a fault."""


def _told_how(change: Change) -> str:
    return "told outright" if change.way.outright else "told by an aside"


@lru_cache(maxsize=65536)
def _plain(text: str) -> str:
    """Letters and digits alone, casefolded."""
    return "".join(ch for ch in text.casefold() if ch.isalnum())


def _overlap(quote: str, sentence: str) -> bool:
    return bool(quote) and (quote in sentence or sentence in quote)


def _holds(text: str, value: str) -> bool:
    """Whether the value stands in the text; a Latin value as whole words."""
    if value.isascii():
        return re.search(rf"(?<![a-z0-9]){re.escape(value.casefold().strip('`'))}(?![a-z0-9])", text.casefold()) is not None
    return _plain(value) in _plain(text)


def _holds_reason(shown: str, reason: str) -> bool:
    """Whether the shown reason holds the person's: all of it, or most of its words."""
    if _plain(reason) in _plain(shown):
        return True
    words = re.findall(r"\w+", reason.casefold())
    there = set(re.findall(r"\w+", shown.casefold()))
    return reason.isascii() and sum(w in there for w in words) >= REASON_SHARE * len(words)
