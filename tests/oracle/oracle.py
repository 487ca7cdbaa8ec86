"""Answers dreamd's own requests from gold annotations, read out of the request as the engine sends it, and lies at the rates of its knobs.

Of the prompts it knows only what they tell a model: the shape of the reply that is asked for, and that what is asked about stands between `<log-…>` marks, a
turn, statement, pair or line each with its number.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tests.oracle.gold import TRUE, Conclusion, Gap, GoldClaim, Session, Trap
from tests.oracle.knobs import ITEM_KNOBS, OTHERWISE, Item, Knobs, Lies
from tests.oracle.service import REFUSED_LINE, digest_of
from tests.oracle.wire import Body, Said

_FENCE = re.compile(r"<(log-\w+)>\n(.*)\n</\1>", re.DOTALL)
_TURN = re.compile(r"^\[(\d+)\] ([^:\n]*): (.*?)(?=\n\[\d+\] |\n-- |\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^\[(\d+)\] (.*?)(?=\n\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)
_QUESTION = re.compile(r"^question (\d+): (.*?)(?=\nquestion \d+: |\Z)", re.MULTILINE | re.DOTALL)
_ABOUT = re.compile(r"^(.*?) \(about: (.*)\)\s*$")
_USER = re.compile(r"^(?:the )?(?:user|用户)(?:,|$)", re.IGNORECASE)
REPEATS = 30
BESIDE = "beside the question"
"""The way of a wrong answer that says what its line says, which is something else than was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One lie that was told in an answer: the scope it was told in, the sentence and the words quoted for it; of a merge the two
    sentences and, as `about`, how they truly stand; of an answer the question as `about`. `way` says which of several ways of lying it is."""

    knob: str
    scope: str
    says: str
    quote: str
    about: str = ""
    way: str = ""


@dataclass
class Oracle:
    """A handler for the fake server, safe from any thread.

    `told` are the lies of all its answers, `true` the claims it told truly, `asked` counts requests by the list they ask for, `checked` is its last word on
    each sentence, `looked_up` says of each gap it was asked to fill whether it answered with the right line, `concluded` the true insights it told.
    """

    sessions: Sequence[Session]
    knobs: Knobs = field(default_factory=Knobs)
    told: set[Told] = field(default_factory=set)
    true: set[GoldClaim] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)
    checked: dict[str, str] = field(default_factory=dict)
    looked_up: dict[Gap, bool] = field(default_factory=dict)
    concluded: set[Conclusion] = field(default_factory=set)
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.claims: tuple[GoldClaim, ...] = tuple(claim for session in self.sessions for claim in session.claims)
        self.traps: tuple[Trap, ...] = tuple(trap for session in self.sessions for trap in session.traps)
        self.gaps: tuple[Gap, ...] = tuple(gap for session in self.sessions for gap in session.gaps)
        self.conclusions: tuple[Conclusion, ...] = tuple(one for session in self.sessions for one in session.conclusions)
        self._lies = Lies(self.claims)
        self._shown = {_plain(one.says) for one in self.conclusions if one.way == TRUE}
        self._by_says: dict[str, list[GoldClaim]] = {}
        for claim in self.claims:
            self._by_says.setdefault(_plain(claim.says), []).append(claim)

    def __call__(self, body: Body) -> Said:
        """The answer to a request."""
        content = str(body["messages"][-1]["content"])
        fenced = _FENCE.search(content)
        log = fenced[2] if fenced else ""
        stage = _stage(body, content)
        with self._lock:
            self.asked[stage] += 1
            digest = digest_of(body)
            self._seen[digest] += 1
            again = str(self._seen[digest])
            if self.knobs.hits("refuse", digest, again):
                return Said(text=REFUSED_LINE, stop="refusal")
            text = json.dumps(self._answer_of(stage, log), ensure_ascii=False)
            if self.knobs.hits("truncate", digest, again):
                return Said(text=text[: len(text) // 2], stop="max_tokens")
            return Said(text=text)

    def _answer_of(self, stage: str, log: str) -> dict[str, Any]:
        stages = {"items": self._extract, "verdicts": self._check, "pairs": self._relate, "answers": self._answer, "insights": self._conclude}
        return stages[stage](log)

    # --- extract -------------------------------------------------------------------------------------------------------------------------

    def _extract(self, log: str) -> dict[str, Any]:
        turns = {int(m[1]): m[3] for m in _TURN.finditer(log)}
        given = [one for item in self._items(turns) if (one := self._json(item, turns)) is not None]
        if given and self.knobs.hits("repeat", log):
            given *= REPEATS
        questions = [
            {"asks": gap.asks, "quotes": [{"turn": n, "text": gap.quote}]}
            for gap in self.gaps
            if (n := _where(gap.quote, turns)) and not self._omitted(gap.asks)
        ]
        return {"items": given, "questions": questions}

    def _items(self, turns: Mapping[int, str]) -> Iterator[Item]:
        """What is told of these turns: each claim truly or as one lie, and what a liar makes of the traps."""
        for claim in self.claims:
            if _where(claim.quote, turns) and not self._omitted(claim.key):
                lie = self._lie(claim)
                yield lie or Item(claim=claim, quote=claim.quote)
        for trap in self.traps:
            if _where(trap.claim.quote, turns) and self.knobs.hits(trap.knob, trap.claim.key):
                yield Item(claim=trap.claim, quote=trap.claim.quote, knob=trap.knob)
            elif trap.knob == "secret" and (n := _masked(trap.claim.quote, turns)) and self.knobs.hits("secret", trap.claim.key):
                yield Item(claim=trap.claim, quote=turns[n], knob="secret")

    def _lie(self, claim: GoldClaim) -> Item | None:
        for knob in ITEM_KNOBS:
            if self.knobs.hits(knob, claim.key) and (lie := self._lies.of(knob, claim, self.knobs.draw("how", knob, claim.key))):
                return lie
        return None

    def _omitted(self, key: str) -> bool:
        return self.knobs.hits("omit", key)

    def _json(self, item: Item, turns: Mapping[int, str]) -> dict[str, Any] | None:
        claim = item.claim
        n = _where(item.quote, turns) or _where(claim.quote, turns) or min(turns)
        if item.elsewhere:
            n = next((m for m in turns if m != n), n + 1)
        if item.knob:
            self.told.add(Told(knob=item.knob, scope=item.into or claim.scope, says=claim.says, quote=item.quote, about=claim.about, way=item.way))
        given = {
            "kind": claim.kind, "about": claim.about, "what": claim.what, "where": claim.where, "says": claim.says, "value": claim.value, "was": claim.was,
            "why": claim.why, "version": "", "negated": claim.negated, "sure": "implied" if claim.implied else "stated",
            "quotes": [{"turn": n, "text": item.quote}],
        }  # fmt: skip
        if self.knobs.hits("broken_leaf", claim.key, item.quote):
            self.true.discard(claim)
            return self._broken(given, f"{claim.key}{item.quote}")
        if not item.knob:
            self.true.add(claim)
        return given

    def _broken(self, given: dict[str, Any], key: str) -> dict[str, Any]:
        """The item with one leaf of another type or missing."""
        rng = self.knobs.draw("leaf", key)
        name = rng.choice(sorted(given))
        wrong: Any = rng.choice([None, 7, "", [], {}, [{"turn": "one", "text": 1}], True, "no such word"])
        return {k: v for k, v in given.items() if k != name} if rng.random() < 0.3 else {**given, name: wrong}

    # --- check ---------------------------------------------------------------------------------------------------------------------------

    def _check(self, log: str) -> dict[str, Any]:
        return {"verdicts": [{"item": int(m[1]), "word": self._verdict(m[2])} for m in _ENTRY.finditer(log)]}

    def _verdict(self, entry: str) -> str:
        head, _, words = entry.partition("\n")
        match = _ABOUT.match(head)
        says, about = (match[1], match[2]) if match else (head, "")
        carried = any(_carries(claim, about, words) for claim in self._by_says.get(_plain(says), ())) or _plain(says) in self._shown
        right = "yes" if carried else "no"
        wrong = self.knobs.hits("wrong_check", "check", says, about) or (right == "no" and self.knobs.hits("yes_check", "check", says, about))
        word = {"yes": "no", "no": "yes"}[right] if wrong else right
        self.checked[says] = word
        return word

    # --- relate --------------------------------------------------------------------------------------------------------------------------

    def _relate(self, log: str) -> dict[str, Any]:
        return {"pairs": [{"pair": int(m[1]), "word": self._relation(m[2])} for m in _ENTRY.finditer(log)]}

    def _relation(self, entry: str) -> str:
        older, _, newer = entry.removeprefix("A: ").partition("\n B: ")
        a, b = (_said_in(side) for side in (older, newer))
        word = self._true_relation(a, b, older, newer)
        if word in {"other", "contradiction"} and self.knobs.hits("merge", a, b):
            self.told.add(Told(knob="merge", scope="", says=a, quote=b, about=word))
            return str(self.knobs.draw("merge how", a, b).choice(["same", "update"]))
        if self.knobs.hits("relate", a, b):
            lie = str(self.knobs.draw("relate how", a, b).choice(OTHERWISE[word]))
            self.told.add(Told(knob="relate", scope="", says=a, quote=b, about=word, way=lie))
            return lie
        return word

    def _true_relation(self, a: str, b: str, older: str, newer: str) -> str:
        if _plain(a) == _plain(b):
            return "same"
        for one in self._meant(a, older):
            for two in self._meant(b, newer):
                if one.pair and one.pair == two.pair:
                    return one.pair.rpartition("/")[2]
                if one.scope == two.scope and one.what and (one.about, one.what, one.where) == (two.about, two.what, two.where) and one.value != two.value:
                    return "update"
        return "other"

    def _meant(self, says: str, side: str) -> list[GoldClaim]:
        """The claims a side of a pair may be: by its sentence, else by the words it is shown to rest on."""
        return self._by_says.get(_plain(says)) or [c for c in self.claims if _plain(c.quote) in _plain(side)]

    # --- answer --------------------------------------------------------------------------------------------------------------------------

    def _answer(self, log: str) -> dict[str, Any]:
        return {"answers": [self._answered(int(m[1]), m[2]) for m in _QUESTION.finditer(log)]}

    def _answered(self, number: int, entry: str) -> dict[str, Any]:
        asks = entry.partition("\n")[0].strip()
        lines = {int(m[1]): m[2] for m in _ENTRY.finditer(entry)}
        meant = [g for g in self.gaps if _plain(g.asks) == _plain(asks)]
        gap = next((g for g in meant if g.answer and _where(g.answer, lines)), None)
        claim = next((c for c in self.claims if gap and c.scope == gap.scope and gap.answer in c.quote), None)
        self.looked_up |= {g: g is gap and claim is not None for g in meant if gap in {None, g}}
        if lie := self._wrong_answer(number, gap or next(iter(meant), None), lines):
            return lie
        if gap is None or claim is None:
            empty = dict.fromkeys(("quote", "about", "what", "where", "says", "value", "was"), "")
            return {"question": number, "line": 0, "kind": "fact", "negated": False, **empty}
        return {
            "question": number, "line": _where(gap.answer, lines), "quote": gap.answer, "kind": claim.kind, "about": claim.about, "what": claim.what,
            "where": claim.where, "says": claim.says, "value": claim.value, "was": "", "negated": claim.negated,
        }  # fmt: skip

    def _wrong_answer(self, number: int, gap: Gap | None, lines: Mapping[int, str]) -> dict[str, Any] | None:
        """A line that does not answer, under a sentence that pretends to; or with what it does say, which answers nothing."""
        beside = {n: line for n, line in lines.items() if gap and not (gap.answer and _spaced(gap.answer) in _spaced(line))}
        if gap is None or not gap.lie or not beside or not self.knobs.hits("answer", gap.scope, gap.asks):
            return None
        rng = self.knobs.draw("answer how", gap.scope, gap.asks)
        n = rng.choice(sorted(beside))
        words = beside[n].partition(": ")[2].splitlines()[0]
        own = next((c for c in self.claims if _spaced(c.quote) in _spaced(words)), None) if rng.random() < 0.5 else None
        says, quote = (own.says, own.quote) if own else (gap.lie, words)
        self.told.add(Told(knob="answer", scope=gap.scope, says=says, quote=quote, about=gap.asks, way=BESIDE if own else "made up"))
        about, what = (own.about, own.what) if own else ("project", "answer")
        return {
            "question": number, "line": n, "quote": quote, "kind": own.kind if own else "fact", "about": about, "what": what, "where": "", "says": says,
            "value": "", "was": "", "negated": False,
        }  # fmt: skip

    # --- conclude ------------------------------------------------------------------------------------------------------------------------

    def _conclude(self, log: str) -> dict[str, Any]:
        pieces = {int(m[1]): m[2] for m in _ENTRY.finditer(log)}
        found = ((one, list(dict.fromkeys(n for words in one.quotes if (n := _where(words, pieces))))) for one in self.conclusions)
        told = [(one, named) for one, named in found if len(named) == len(one.quotes) and (one.way == TRUE or self._lies_in(one))]
        for one, _ in told:
            if one.way == TRUE:
                self.concluded.add(one)
            else:
                self.told.add(Told(knob="insight", scope=one.scope, says=one.says, quote=one.quotes[0], about=one.about, way=one.way))
        return {"insights": [{"about": one.about, "what": one.what, "says": one.says, "pieces": named} for one, named in told]}

    def _lies_in(self, one: Conclusion) -> bool:
        return self.knobs.hits("insight", one.scope, one.says)


# --- reading a request ---------------------------------------------------------------------------------------------------------------------


def _stage(body: Body, content: str) -> str:
    """Which list is asked for: by the schema of the reply, else (a small model has none) by what stands between the marks."""
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema") or {}
    asked = set(schema.get("properties", ()))
    for name in ("items", "verdicts", "pairs", "answers", "insights"):
        if name in asked:
            return name
    if re.search(r"^question 1: ", content, re.MULTILINE):
        return "answers"
    if re.search(r"^\[1\] A: ", content, re.MULTILINE):
        return "pairs"
    return "verdicts" if re.search(r"^\[1\] .*\(about: .*\)$", content, re.MULTILINE) else "items"


def _where(words: str, turns: Mapping[int, str]) -> int:
    """The number of the turn the words stand in, 0 for none."""
    wanted = _spaced(words)
    return next((n for n, text in turns.items() if wanted in _spaced(text)), 0)


def _masked(quote: str, turns: Mapping[int, str]) -> int:
    """The number of the turn that begins like the quote but has something else where its secret stood."""
    begin = _spaced(quote)[:14]
    return next((n for n, text in turns.items() if _spaced(text).startswith(begin)), 0)


def _carries(claim: GoldClaim, about: str, words: str) -> bool:
    """Whether the words shown hold the claim's quote, and the statement is said to be about whom it is about."""
    if _plain(claim.quote) not in _plain(words) and not any(_plain(line) and _plain(line) in _plain(claim.quote) for line in _quoted(words)):
        return False
    return not claim.draft and bool(_USER.match(about)) <= (claim.about in {"user", "project", ""})


def _quoted(words: str) -> list[str]:
    return re.findall(r"words quoted: (.*)", words)


def _said_in(side: str) -> str:
    match = _ABOUT.match(side.partition("\n")[0])
    return match[1] if match else side.partition("\n")[0]


@lru_cache(maxsize=1 << 14)  # the same claims and turns are held against each other over and over
def _spaced(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    """Letters and digits alone, casefolded."""
    return "".join(ch for ch in text.casefold() if ch.isalnum())
