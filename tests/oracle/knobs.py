"""The knobs: at which rates an oracle lies, and how each lie is made of a true claim. A lie is known again by its sentence and the words it quotes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeAlias

from tests.oracle.gold import GoldClaim

ITEM_KNOBS = ("invented_quote", "wrong_text", "flipped", "number", "colleague", "other_scope", "fluent")
"""Lies about a claim that stands in the log."""
TRAP_KNOBS = ("wish", "instruction", "secret")
"""Lies made of words that are no claim."""
LATER_KNOBS = ("merge", "relate", "answer", "insight")
"""Lies told about claims that were taken down already."""
LIES = (*ITEM_KNOBS, *TRAP_KNOBS, *LATER_KNOBS)
NUISANCES = ("omit", "truncate", "refuse", "broken_leaf", "repeat")
"""What loses answers, or costs, and tells no lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Rates from 0 to 1. `wrong_check` is how often a check of support is answered wrongly, `yes_check` how often a right "no" of it is made a yes."""

    omit: float = 0.0
    invented_quote: float = 0.0
    wrong_text: float = 0.0
    flipped: float = 0.0
    number: float = 0.0
    colleague: float = 0.0
    wish: float = 0.0
    fluent: float = 0.0
    merge: float = 0.0
    relate: float = 0.0
    answer: float = 0.0
    insight: float = 0.0
    instruction: float = 0.0
    secret: float = 0.0
    other_scope: float = 0.0
    truncate: float = 0.0
    refuse: float = 0.0
    broken_leaf: float = 0.0
    repeat: float = 0.0
    wrong_check: float = 0.0
    yes_check: float = 0.0
    seed: int = 0

    def draw(self, *what: str) -> random.Random:
        """A generator that gives the same for the same thing in every run."""
        return random.Random(f"{self.seed}|{'|'.join(what)}")

    def hits(self, knob: str, *what: str) -> bool:
        """Whether this knob turns this thing."""
        rate: float = getattr(self, knob)
        return rate > 0 and self.draw(knob, *what).random() < rate


def all_at(rate: float, *, seed: int = 0, wrong_check: float = 0.0) -> Knobs:
    """Every knob at one rate."""
    rates = {f.name: rate for f in fields(Knobs) if f.name not in {"wrong_check", "yes_check", "seed"}}
    return Knobs(**rates, wrong_check=wrong_check, seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item of an answer before it is one: a claim as it will be told, and the words quoted. `elsewhere` puts them into a turn they do not stand in, `into`
    is the scope it is told in where that is not the claim's own, `way` which of several ways of lying it is."""

    claim: GoldClaim
    quote: str
    knob: str = ""
    elsewhere: bool = False
    into: str = ""
    way: str = ""


@dataclass(frozen=True, slots=True)
class Lies:
    """Makes lies of claims; `others` are the claims of all scopes, for what is told of the wrong one."""

    others: Sequence[GoldClaim] = field(default=())

    def of(self, knob: str, claim: GoldClaim, rng: random.Random) -> Item | None:
        """A lie of this sort, or None where the claim has nothing to lie about."""
        return _MAKERS[knob](self, claim, rng)

    def invented_quote(self, claim: GoldClaim, rng: random.Random) -> Item | None:
        """A quote nobody said: of something nobody said, with a word changed, with its middle left out, or of another turn."""
        chinese = _is_chinese(claim.quote)
        way = rng.randrange(4)
        if way == 0:
            words = rng.choice(_INVENTED[chinese])
            return Item(claim=replace(claim, says=words, value="", was="", why="", negated=False), quote=words.rstrip("。."), knob="invented_quote")
        if way == 1:
            return Item(claim=claim, quote=_changed_word(claim.quote, rng), knob="invented_quote")
        if way == 2:
            third = len(claim.quote) // 3
            return Item(claim=claim, quote=f"{claim.quote[:third]}……{claim.quote[-third:]}", knob="invented_quote")
        return Item(claim=claim, quote=claim.quote, knob="invented_quote", elsewhere=True)

    def wrong_text(self, claim: GoldClaim, rng: random.Random) -> Item | None:
        """The true quote under a text it does not carry: the one written for it, or that of another claim of the session."""
        same = [o for o in self.others if (o.scope, o.session) == (claim.scope, claim.session) and o.quote not in claim.quote and claim.quote not in o.quote]
        if claim.wrong and (not same or rng.random() < 0.7):
            return Item(claim=_retold(claim, claim.wrong), quote=claim.quote, knob="wrong_text")
        if not same:
            return None
        other = rng.choice(same)
        return Item(claim=replace(other, quote=claim.quote), quote=claim.quote, knob="wrong_text")

    def flipped(self, claim: GoldClaim, rng: random.Random) -> Item | None:
        """Its denial, or what it denies; half of the time the flag says so."""
        if not claim.flip:
            return None
        negated = claim.negated if rng.random() < 0.5 else not claim.negated
        return Item(claim=replace(_retold(claim, claim.flip), negated=negated), quote=claim.quote, knob="flipped")

    def number(self, claim: GoldClaim, rng: random.Random) -> Item | None:
        """Another number in its text and value."""
        says = _other_number(claim.says, rng.randrange(1, 9))
        if says == claim.says:
            return None
        value = _other_number(claim.value, 0) if claim.value and claim.value in says else _value_in(claim, says)
        return Item(claim=replace(claim, says=says, value=value), quote=claim.quote, knob="number")

    def colleague(self, claim: GoldClaim, rng: random.Random) -> Item | None:
        """Somebody else's fact as the user's; now and then with the sentence left as it is."""
        if not claim.user:
            return None
        if rng.random() < 0.2:
            return Item(claim=replace(claim, about="user"), quote=claim.quote, knob="colleague")
        return Item(claim=replace(_retold(claim, claim.user), about="user"), quote=claim.quote, knob="colleague")

    def other_scope(self, claim: GoldClaim, rng: random.Random) -> Item | None:
        """What the other scope's session says, with its own words or with these."""
        twins = [o for o in self.others if o.scope != claim.scope and (o.session, o.what, o.kind) == (claim.session, claim.what, claim.kind)]
        twin = next((t for t in twins if t.says != claim.says), None)
        if twin is None:
            return None
        return Item(claim=twin, quote=twin.quote if rng.random() < 0.5 else claim.quote, knob="other_scope", into=claim.scope)

    def fluent(self, claim: GoldClaim, rng: random.Random) -> Item | None:
        """The true quote under a long and free sentence that adds, drops or shifts something."""
        if not claim.fluent:
            return None
        told = rng.choice(claim.fluent)
        kind = told.kind or claim.kind
        return Item(claim=replace(_retold(claim, told.says), kind=kind), quote=claim.quote, knob="fluent", way=told.way)


Maker: TypeAlias = Callable[[Lies, GoldClaim, random.Random], Item | None]
_MAKERS: Mapping[str, Maker] = {name: getattr(Lies, name) for name in ITEM_KNOBS}


OTHERWISE = {
    "same": ("contradiction", "update"),
    "update": ("same", "contradiction", "other"),
    "contradiction": ("other",),
    "other": ("contradiction",),
}
"""What a pair is wrongly called, by how it truly stands; two that must not be one note are the matter of `merge`."""


# --- making text untrue ------------------------------------------------------------------------------------------------------------------

_INVENTED = (
    (
        "All pushes go through the VPN.", "The on-call rotation changes every Sunday.", "The user is left-handed.", "Releases are signed with a hardware key.",
        "The user never works on public holidays.", "The search index is rebuilt at midnight.",
    ),
    ("推送代码一律走 VPN。", "值班每周日轮换。", "用户是左撇子。", "发布包要用硬件密钥签名。", "用户节假日从不工作。", "搜索索引每天半夜重建。"),
)  # fmt: skip
_WORDS = (("today", "surely", "again", "mostly"), ("其实", "今天", "基本", "又"))
_DIGITS = re.compile(r"\d+")
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "eight", "ten", "eleven", "twelve", "fourteen", "nineteen", "twenty", "thirty", "forty")
_SPELLED = re.compile(rf"(?<![A-Za-z])({'|'.join(_NUMBER_WORDS)})(?![A-Za-z])", re.IGNORECASE)
_CHINESE_NUMBERS = "二三四五六七八九十"
_SPELLED_ZH = re.compile(rf"(?<=[每周月有来到跑点卡])[{_CHINESE_NUMBERS}两](?=[次个点分月日]|$)")


def _is_chinese(text: str) -> bool:
    return any("\u4e00" <= ch <= "\u9fff" for ch in text)


def _retold(claim: GoldClaim, says: str) -> GoldClaim:
    """The claim with another sentence, and of its fields only those the sentence still holds."""
    return replace(claim, says=says, value=claim.value if claim.value and claim.value in says else "", was="", why="")


def _changed_word(quote: str, rng: random.Random) -> str:
    """The quote with a word put into its middle."""
    if _is_chinese(quote):
        at = len(quote) // 2
        return quote[:at] + rng.choice(_WORDS[1]) + quote[at:]
    words = quote.split(" ")
    at = len(words) // 2
    return " ".join([*words[:at], rng.choice(_WORDS[0]), *words[at:]])


def _other_number(text: str, add: int) -> str:
    """The text with its first number changed: in digits, else spelled out."""
    if match := _DIGITS.search(text):
        changed = str(int(match[0]) + (add or 1)).zfill(len(match[0]))
        return text[: match.start()] + changed + text[match.end() :]
    if match := _SPELLED.search(text):
        other = _NUMBER_WORDS[(_NUMBER_WORDS.index(match[0].lower()) + (add or 1)) % len(_NUMBER_WORDS)]
        return text[: match.start()] + other + text[match.end() :]
    if match := _SPELLED_ZH.search(text):
        at = (_CHINESE_NUMBERS.find(match[0]) + (add or 1)) % len(_CHINESE_NUMBERS)
        return text[: match.start()] + _CHINESE_NUMBERS[at] + text[match.end() :]
    return text


def _value_in(claim: GoldClaim, says: str) -> str:
    """The value as the changed sentence has it: what stands where the value stood."""
    at = claim.says.find(claim.value) if claim.value else -1
    if at < 0:
        return ""
    end = at + len(claim.value) + len(says) - len(claim.says)
    return says[at:end]
