"""How closely a statement keeps to its quotes' words: which words stand in them, in which order, and whether what is said of the speaker is said by them."""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from pipelines.model import Claim, Kind, Origin
from pipelines.text.mood import clauses
from pipelines.text.openers import without_opening
from pipelines.text.slots import CHINESE_KIN, ENGLISH_KIN, USER
from pipelines.text.tokens import tokenize
from pipelines.text.values import typed_values, value_keys
from pipelines.text.words import content_words, fold_width, has_cjk

from .evidence import Located

NEUTRAL = frozenset(
    "the a an user users project team this that these those it they there no yes not never always use using when "
    "on in at by for from to and or i my we our benutzer benutzerin nutzer nutzerin utilisateur utilisatrice usuario usuaria équipe equipo projet proyecto projekt".split()
)
STATES = frozenset({Kind.FACT, Kind.INCIDENT, Kind.INSIGHT})
"""Kinds that say how something is, where others say how somebody wants it."""
ASKED = frozenset({Kind.RULE, Kind.PREFERENCE, Kind.HOLD, Kind.DECISION, Kind.PLAN, Kind.GOAL})
"""Kinds that say how somebody wants it, or means to have it."""
_NEW_MAX = 0.2
"""Share of a statement's words that may be its own: of five words one, of four none, since of a short sentence the one new word is what it says."""
_TURNS_MIN = 2
"""Steps backwards that turn a sentence around ("Selma replaced Wanda"); one is a part said first ("for flights I want an aisle seat")."""
_STEM = 4
"""Letters two words have to begin with alike to be one word in two forms."""
# They add nothing of their own: whom it is about, of what sort a value is, that something happens, is called, is done (`completion` looks at that) or is said.
_LIGHT = frozenset({"用户", "项目", "端口", "版本"}) | frozenset(
    content_words("happen take place call name port version done finish complete according report say state su sus sa son ses leur leurs")
)

_SHOWN_BY_STATUS = frozenset(content_words("failed"))
"""What the exit status of a run says, in no words of its own."""


def words_of(support: Sequence[Located]) -> frozenset[str]:
    """Every word of the quotes, as written and as looked for."""
    return frozenset(token for one in support for token in (*tokenize(one.quote.text), *content_words(one.quote.text)))


def keys_of(support: Sequence[Located]) -> frozenset[tuple[str, str]]:
    """Every typed value of the quotes; the port of an address too."""
    keys = {key for one in support for key in value_keys(one.quote.text)}
    ports = {("number", match[1]) for kind, url in keys if kind == "url" and (match := re.match(r"\w+://[^/]*:(\d+)", url))}
    return frozenset(keys | ports)


def stands(word: str, tokens: frozenset[str], support: Sequence[Located]) -> bool:
    """Whether a word stands in a quote; a Chinese word may be part of a longer one, npm in pnpm may not."""
    if has_cjk(word):
        return any(word in one.quote.text for one in support)
    return word.casefold() in tokens


def is_speaker(name: str, support: Sequence[Located]) -> bool:
    """Whether the name is that of somebody quoted: "I live in Lisbon", said by Ana, is "Ana lives in Lisbon"."""
    return any(one.turn.speaker and name in {one.turn.speaker.casefold(), *one.turn.speaker.casefold().split()} for one in support)


def worded_alike(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether the words of the statement are those of its quotes; typed values are looked up elsewhere.

    A few may be its own where they are added ("the cache" for "it"). One that stands in the place of another says another thing (hourly for nightly).
    """
    said = fold_width(claim.statement)
    new, told = _own_words(said, support)
    if claim.kind is Kind.PROCEDURE and claim.verified_by is not None:
        new -= _SHOWN_BY_STATUS
    if len(new) > _NEW_MAX * told:
        return False
    return not any(new & set(_telling(clause)) and _left_out(clause, said, support) for clause in (span.of(said) for span in clauses(said)))


def reworded(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether a statement that is not worded like its quotes may say the same in other words: nothing but its meaning is left to be judged.

    Half of what it tells stands in the quotes, so that it speaks of the same. And no clause is a quoted one with one stretch put in the place of another
    ("releases go straight to main" for hotfixes): there that stretch is what is told, and whoever compares the two is taken in by all that agrees. An insight
    leaves something out of each of its pieces, being what they show together.
    """
    said = fold_width(claim.statement)
    new, told = _own_words(said, support)
    if 2 * len(new) > told:
        return False
    if claim.kind is Kind.INSIGHT:
        return True
    return not any(_stretches(clause, new) == 1 and _left_out(clause, said, support) for clause in (span.of(said) for span in clauses(said)))


_PARTS = re.compile(
    r"[,;:，；：、]+|(?<=[^\W\d_])\s+(?=(?:and|or|but|because|since|so|while|whereas|which|who|as|und|oder|aber|weil|damit|denn|sodass|y|e|pero|porque|que|para|et|ou|mais|parce que"
    r"|car|pour)(?![^\W\d_]))|(?=因为|所以|而且|并且|以及|还有|是?为了|由于|但是?)",
    re.I,
)
"""Where a sentence goes on with something that could as well not be there."""
_JOINS = re.compile(r"(?<![^\W\d_])(?:and|or|with|as well as|und|oder|mit|sowie|y|e|con|et|avec|ou)(?![^\W\d_])|和|与|以及|还有|跟|、", re.I)
"""What a second thing is joined to a first by."""
_FILLING = frozenset(
    content_words(
        "soon able though however therefore moreover thus hence instead goes going gone went whole entire still already currently whose again one ones person people thing things way since always never each every time express share mention emphasize describe explain tell think find feel keep continue begin start stay remain "
        "sobald dabei dann damals sowie ainsi alors donc entier entière entonces luego todavía"
    )
) | frozenset("需要 那时 这时 当时 此时 之后 以后 之前 期间 是因为 因此 于是 进行 同时 其中 之一 方面".split())
"""Words that join what is told, or say it once more; alone they add nothing. Of "always" the gate judges elsewhere."""
_DOES = frozenset(
    content_words("work live keep kept get make take run use own hold have last stay nutzt verwendet wohnt arbeitet trabaja vive usa travaille vit utilise")
)
"""What somebody does with the next word, which is what is told ("and works as a nurse")."""


def part_of_its_own(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether a part of the statement, which goes on behind a comma, "and" or "because", tells mostly what no quote does."""
    said = fold_width(claim.statement)
    new = _own_words(said, support)[0] - _FILLING - _DOES
    parts = _PARTS.split(said) if new else []
    return len(parts) > 1 and any(2 * len(new & set(words)) > len(words) for part in parts if (words := [*_telling(_valueless(part)), *_values(part)]))


def joins_another(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether the statement joins to something another that no quote knows ("Mira and the contractor" for Mira)."""
    said = fold_width(claim.statement)
    new = _own_words(said, support)[0] - _FILLING
    joined = (said[match.end() :] for match in _JOINS.finditer(said)) if new else iter(())
    return any(next((word for word in _telling(_valueless(rest)) if word not in _DOES), "") in new for rest in joined)


def _valueless(text: str) -> str:
    """The text with its typed values blanked."""
    spans = [(value.start, value.end) for value in typed_values(text)]
    return "".join(" " if any(a <= n < b for a, b in spans) else ch for n, ch in enumerate(text))


def _values(text: str) -> list[str]:
    return [value.canonical for value in typed_values(text)]


def _own_words(said: str, support: Sequence[Located]) -> tuple[frozenset[str], int]:
    """The telling words of a statement that stand in no quote, and how many words and typed values it tells."""
    speaker = frozenset(word for one in support for word in content_words(one.turn.speaker or ""))
    words = [word for word in _telling(_valueless(said)) if word not in speaker and not is_speaker(word, support)]
    tokens, keys = words_of(support), keys_of(support)
    return frozenset(word for word in words if not _held(word, tokens, keys, support)), len(words) + len(_values(said))


def _stretches(clause: str, new: frozenset[str]) -> int:
    """In how many places of a clause its new words stand; those with nothing telling between them are one."""
    return sum(1 for own, _ in groupby(word in new for word in _telling(clause)) if own)


def _telling(text: str) -> list[str]:
    """The words of a text that tell something of their own."""
    return [word for word in dict.fromkeys(content_words(text)) if word != "s" and _ELIDED.sub("", word) not in NEUTRAL and word not in _LIGHT]


_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu)['’]")
"""An article or pronoun a French word begins with."""


def _left_out(clause: str, statement: str, support: Sequence[Located]) -> bool:
    """Whether what a clause of the statement takes up says something that the statement does not."""
    said = content_words(statement)
    taken = (word for one in support for word in _telling(_closest_clause(clause, one)))
    return any(word not in statement and not any(_alike(word, other) for other in said) for word in taken)


def _held(word: str, tokens: frozenset[str], keys: frozenset[tuple[str, str]], support: Sequence[Located]) -> bool:
    return word in tokens or stands(word, tokens, support) or bool(value_keys(word) & keys) or any(_alike(word, token) for token in tokens)


def _alike(word: str, other: str) -> bool:
    """Whether two words are forms of one."""
    return word == other or (len(word) >= _STEM and word[:_STEM] == other[:_STEM])


# --- order -------------------------------------------------------------------------------------------------------------------------------

_PASSIVE = re.compile(r"(?<![A-Za-z])by(?![A-Za-z])|被|由", re.I)


def turned_around(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether the statement says the words of a clause of its one quote the other way round; who did what to whom is then another thing."""
    if len(support) != 1 or bool(_PASSIVE.search(claim.statement)) != bool(_PASSIVE.search(support[0].quote.text)):
        return False
    quoted = content_words(_closest_clause(claim.statement, support[0]))
    found = (next((n for n, other in enumerate(quoted) if _alike(word, other)), None) for word in dict.fromkeys(content_words(claim.statement)))
    return sum(b < a for a, b in pairwise(place for place in found if place is not None)) >= _TURNS_MIN


# --- of oneself --------------------------------------------------------------------------------------------------------------------------

OWNER = re.compile(
    rf"(?<![A-Za-z])(?:my|our|his|her|their|the|a|an)\s+(?:[a-z]+\s+)?({'|'.join(sorted(ENGLISH_KIN | {'dog', 'cat'}))})(?:'s)?(?![A-Za-z])|(?:[我他她]们?的?"
    rf"|^)({'|'.join(sorted(CHINESE_KIN))})",
    re.I,
)
"""Somebody of the speaker's: "my daughter", 我女儿."""
FIRST = re.compile(
    r"(?<![A-Za-z'])(?:i|i'm|i've|i'll|i'd|im|ive|my|me|mine|myself|we|we're|we've|our|us|ich|mein\w*|wir|je|j'|mon|ma|mes|yo"
    r"|mi)(?![A-Za-z])|我|咱|俺|私|僕|저|나는",
    re.I,
)
NAMES_USER = re.compile(r"(?<![A-Za-z])user(?:'s)?(?![A-Za-z])|用户|(?<![A-Za-z])(?:i|i'm|my)(?![A-Za-z])|我", re.I)
_OPENS_WITH_USER = re.compile(r"\W*(?:the )?user(?!['’A-Za-z])|\W*用户(?!的)", re.I)
_OPENS_WITH_SOMEBODY = re.compile(
    r"\W*(?!This|That|These|It|There)[A-ZÀ-Þ][a-zß-ÿ'-]+ (?:from [a-z]+ |(?:always|never|only|just|also|still) )*(?:is|was|has|had|can|can't|doesn't|didn't|won't|will|(?!as )[a-z]+(?:s|ed))(?![A-Za-z])"
    rf"|\W*(?:[小老阿](?![时学区心说家师实])[\u4e00-\u9fff]|同事|邻居|朋友|{'|'.join(sorted(CHINESE_KIN))})"
)
_USERS_OWN = re.compile(rf"\W*(?:the )?user(?:'s|’s)\s+(?:{'|'.join(sorted(ENGLISH_KIN))})(?![A-Za-z])|\W*用户的?(?:{'|'.join(sorted(CHINESE_KIN))})", re.I)


def said_of_oneself(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether what is to be a fact of the user is what a user says of themselves: with an "I", or, as people leave it out, with nobody else in its place.

    Somebody else is in its place where the clause opens with a word the statement has put the user for, or where the sentence tells of somebody and only
    the claim's subject is the user.
    """
    mine = claim.subject.casefold() == USER or is_speaker(claim.subject.casefold(), support)
    if claim.kind not in STATES or not (mine or _OPENS_WITH_USER.match(claim.statement)):
        return True
    return any(one.origin is not Origin.USER or _of_the_speaker(claim, one) for one in support)


def _of_the_speaker(claim: Claim, one: Located) -> bool:
    clause = _closest_clause(claim.statement, one)
    if _USERS_OWN.match(claim.statement):
        return bool(FIRST.search(OWNER.sub("", one.quote.text)))
    if FIRST.search(clause):
        return True
    if not NAMES_USER.search(claim.statement) and not any(is_speaker(word.casefold(), [one]) for word in claim.statement.split()):
        about = content_words(claim.attribute)[:1]
        return not _OPENS_WITH_SOMEBODY.match(clause) or about == content_words(clause)[:1]
    first = next(iter(content_words(without_opening(clause))), "")
    return any(_alike(first, word) for word in content_words(claim.statement))


def up_to_the_clause(statement: str, one: Located) -> str:
    """The quote from its beginning to the end of the clause the statement takes up: whoever comes later has nothing to do with it."""
    return one.quote.text[: _closest(statement, one)[1]]


def _closest_clause(statement: str, one: Located) -> str:
    start, end = _closest(statement, one)
    return one.quote.text[start:end]


def _closest(statement: str, one: Located) -> tuple[int, int]:
    """Where in the quote the clause stands that shares most words with the statement."""
    said, text = set(content_words(statement)), one.quote.text
    parts = [(span.start, span.end) for span in clauses(text)] or [(0, len(text))]
    return max(parts, key=lambda part: len(said & set(content_words(text[part[0] : part[1]]))))
