"""What a fluent sentence adds to its quotes or leaves out of them, seen in its build: a part of its own, one thing more joined to another, an exception gone,
an intention told as a state, "always" where somebody said "usually".

A long sentence hides what is added to it in all that agrees: of thirty words four are few, and whoever compares the two is taken in. So parts are looked at
one by one.
"""

# Full-width characters are data here.

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.model import Claim, Kind
from pipelines.text.slots import QUALIFIERS
from pipelines.text.words import content_words, fold_width, has_cjk

from .evidence import Located
from .wording import ASKED, STATES, joins_another, part_of_its_own, up_to_the_clause

CONDITION_DROPPED, NOT_DONE_YET, MADE_GENERAL, ADDED = "condition_dropped", "intention_told_as_state", "made_general", "says_more"
"""What `adds` finds."""


def _any_of(latin: str, chinese: str = "") -> re.Pattern[str]:
    words = rf"(?<![^\W\d_])(?:{latin})(?![^\W\d_])"
    return re.compile(f"{words}|{chinese}" if chinese else words, re.IGNORECASE)


def _by_script(forms: str) -> tuple[str, str]:
    """Spellings with spaces between words, and those without."""
    spelled = [re.escape(form) for form in forms.split("|")]
    return "|".join(form for form in spelled if not has_cjk(form)), "|".join(form for form in spelled if has_cjk(form))


# --- what a statement is bound to ----------------------------------------------------------------------------------------------------------

_EXCEPTS = _any_of(
    r"unless|except(?:ing)?|apart from|other than|until|till|only (?:if|when|once|after|before|during|between|while|with|on|in|for)|as long as|provided that|provided(?= (?:i|we|you|he|she|it|they|nobody|everybody|no one|everyone|all) )|not (?:if|when|on|during)"
    r"|außer(?!dem)|es sei denn|solange|nur (?:wenn|bei|nach|vor|während|mit)|bis(?= (?:der|die|das|es|wir|ich|zu))|sauf|à moins|hormis|tant que|seulement (?:si|quand|pendant|avant|après)"
    r"|salvo|excepto|a menos|mientras|solo (?:si|cuando|antes|después)|hasta que|eccetto|tranne|a meno",
    r"除非|除了(?![^。；！？]{0,60}(?:还|也))|除外|直到|只有|只在|只要|例外|才(?=[能可行会])",
)
"""What binds a sentence: what an exception is made for, and until when or only when it holds. 除了 with 还 is "besides"."""
_UNTIL = re.compile(r"(?<![^\W\d_])(?:until|till|bis|hasta)(?: [^\W\d_]+){0,2} (?P<when>\d[\d:.]*)", re.IGNORECASE)
"""Until a time that has a number."""
_EXTENDS = _any_of(
    r"even (?:if|when|on)|also (?:if|when|on|for)|no matter|whatever|auch (?:bei|wenn)|selbst (?:bei|wenn)|même si|incluso|aunque", r"即使|也不例外|不管|无论"
)
"""What takes an exception back."""
_WHEN = _any_of(
    r"if|when|whenever|once|as soon as|while|in case|after|before|during|wenn|falls|sobald|nach|vor|während|si|quand|dès que|après|avant|cuando|en cuanto|antes|después",
    r"如果|要是|时候|的话|一旦|以后|之后|之前|等(?=[\u4e00-\u9fff]{2,}(?:以后|之后|再|完|了))",
)
"""What says on which occasion."""
_IF = _any_of(
    r"if|(?<!like it )(?<!love it )(?<!hate it )when|whenever|once(?! (?:an?|per|every|each|again|more|or)(?![a-z]))|as soon as(?! possible)|wenn|falls|sobald|si|quand|dès que(?! possible)|cuando"
    r"|en cuanto",
    r"如果|要是|的话|一旦|等(?=[\u4e00-\u9fff]{2,}(?:以后|之后|再|完|了))",
)
"""On which condition."""


def unbound(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether the words quoted except something or hold only at times and the statement, which takes up what is so bound, does not say so."""
    said = fold_width(claim.statement)
    quoted = "\n".join(fold_width(one.quote.text) for one in support)
    if _EXTENDS.search(said) and not _EXTENDS.search(quoted):
        return True
    if _EXCEPTS.search(said):
        return False
    if any(_EXCEPTS.search(_taken_up(claim, one)) for one in support):
        return True
    return claim.kind in ASKED and not _WHEN.search(said) and all(_IF.search(_taken_up(claim, one)) for one in support)


def _taken_up(claim: Claim, one: Located) -> str:
    """The sentence the statement takes up, where an exception stands; no time until when it is so, if the statement tells that time."""
    quote, before = fold_width(one.quote.text), fold_width(up_to_the_clause(claim.statement, one))
    behind = re.match(r"[^.;!?。；！？]*", quote[len(before) :])
    said = fold_width(claim.statement)
    return _UNTIL.sub(lambda until: " " if until["when"].rstrip(".:") in said else until[0], _last_sentence(before) + (behind[0] if behind else ""))


_ENDS = re.compile(r"[.!?]\s+|[。！？\n]+")


def _last_sentence(text: str) -> str:
    """The last sentence of a text, with the mark that ends it: what another one says binds it no more."""
    begins = [end.end() for end in _ENDS.finditer(text) if text[end.end() :].strip()]
    return text[begins[-1] :] if begins else text


# --- intentions ----------------------------------------------------------------------------------------------------------------------------

_PLACE = r"(?:the|an?|my|our|his|her|their|work|school|bed|town|college|church)(?![a-z])"
_MEANS_TO = _any_of(
    rf"(?:want|wants|wanted|plan|plans|planning|intend|intends|hope|hopes|aim|aims|about|trying|expect|expects) to|going to(?! {_PLACE})|(?:would|d) (?:like|love) to|will|shall|we'll|i'll"
    r"|thinking (?:of|about)|considering|möchte[nt]?|woll(?:en|te[nt]?)|plan(?:en|t|e)|vorhaben|wir werden|werden wir|ich werde|werde ich|quiero|queremos|quiere[ns]?"
    r"|(?:voy|vamos) a(?! (?:el|la|los|las|una?|mi|mis|nuestr[oa]s?|casa)(?![a-zà-ÿ]))|planea\w*|veux|voulons|veut|voudrai\w*|(?:vais|allons)(?! (?:à|au|aux|en|chez|dans)(?![a-zà-ÿ]))"
    r"|(?:je|on|il|elle) compte|nous comptons|ils comptent|elles comptent",
    r"打算|计划|准备|想(?![到起法])|考虑|将要?|(?:我|们|咱|他|她|队)会(?=[在把去给搬换])|希望|要(?=[把去给搬换学])|つもり",
)
"""What says that somebody means to, and has not. Who is going to the market goes there."""
_WILL = re.compile(
    r"(?<![a-z])(?:the|an?|each|every|this|it|my|our|his|her|their)(?: (?!(?:user|team|people)(?![a-z]))[\w'-]+){0,4} will(?: only| always| never| not)? (?P<does>[a-z]+)",
    re.IGNORECASE,
)
"""What a thing will do it does: so its ways are told ("the gate will close after a minute")."""


def intention_as_state(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether the statement tells as a state what all its quotes only say somebody means to do."""
    said = fold_width(claim.statement)
    if claim.kind not in STATES or _MEANS_TO.search(said):
        return False
    return all(_only_meant(said, _last_sentence(fold_width(up_to_the_clause(claim.statement, one)))) for one in support)


def _only_meant(said: str, sentence: str) -> bool:
    """Whether a sentence says of what the statement tells that it is meant, and not of something else behind it ("I work here and want to leave")."""
    present = [word for word in re.findall(r"[a-z]+", said.casefold()) if not word.endswith("ed")]
    sentence = _WILL.sub(lambda will: " " if any(word.startswith(_stem(will["does"].casefold())) for word in present) else will[0], sentence)
    meant = _MEANS_TO.search(sentence)
    if meant is None:
        return False
    behind = set(content_words(sentence[meant.end() :]))
    return not behind or not behind.isdisjoint(content_words(said))


def _stem(verb: str) -> str:
    """What "try" and "tries" begin with."""
    return verb[:-1] if len(verb) > 2 and verb.endswith(("e", "y")) else verb


# --- how often -----------------------------------------------------------------------------------------------------------------------------

_EVERY = _any_of(
    r"always|never|every ?time|each time|without exception|forever|(?:every|each) (?:time|one of)|(?:every|each|all) other|everywhere|immer|niemals|nie|jedes? mal"
    r"|toujours|jamais|chaque fois|(?<!casi )siempre|nunca|cada vez",
    r"总是|从不|从来|永远|每[次个]|一直|一概|必定",
)
_EACH_DAY = _any_of(r"(?:every|each) (?:day|night|week|month|year|morning|evening|\w+day)|jeden", r"每天")
_DAILY = _any_of(
    r"daily|nightly|weekly|monthly|yearly|annual(?:ly)?|\w+days|nights|mornings|evenings|weekends|täglich|wöchentlich|monatlich|jährlich|\w+tags|abends|morgens|nachts|a diario|los \w+s"
    r"|quotidien\w*|le \w+di",
    r"天天|每日|日日",
)
"""Each day or week in other words."""
_SOME = _any_of(
    r"usually|mostly|often|sometimes|at times|now and then|almost (?:always|never)|nearly (?:always|never)|rarely|seldom|generally|keeps? \w+ing|again|again and again|meist(?:ens)?|oft|manchmal"
    r"|fast (?:immer|nie)|selten|souvent|parfois|presque (?:toujours|jamais)|casi (?:siempre|nunca)|a menudo|a veces",
    r"平时|经常|常常|多半|通常|有时|偶尔|一般|大多|往往|又(?=[\u4e00-\u9fff])",
)
_MARKS = _any_of(
    r"must|has to|have to|from now on|whenever|any|all|every\w*|each|a rule|only|ab sofort|stets|todos?|todas?|tou[ts]e?s?",
    r"一律|以后|必须|务必|都|凡是|全部|所有|只",
)
"""What says no less than "always"."""


def always_for_usually(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether the statement says that something is always or never so where its quotes say how often, or nothing of it; an order may be put so."""
    said, quoted = fold_width(claim.statement), "\n".join(fold_width(one.context) for one in support)
    always, each_day = (bool(words.search(said)) for words in (_EVERY, _EACH_DAY))
    if not (always or each_day) or _EVERY.search(quoted) or _EACH_DAY.search(quoted) or (not always and _DAILY.search(quoted)):
        return False
    return bool(_SOME.search(quoted)) or (claim.kind in STATES and not _MARKS.search(quoted))


# --- where -------------------------------------------------------------------------------------------------------------------------------

_SCOPES = {name: _any_of(*_by_script(forms)) for name, forms in QUALIFIERS.items()}
_HERE = _any_of(r"(?:my|our|this) (?:own )?(?:machines?|laptops?|computers?)", r"我的?(?:电脑|笔记本)")
_IN_OTHER_WORDS = {"development": re.compile(r"(?<![a-z])develop", re.IGNORECASE), "local": _HERE}
"""How a quote may say it, beside the names of the place."""


def bound_elsewhere(claim: Claim, support: Sequence[Located]) -> bool:
    """Whether the statement names an environment or platform that no sentence around its quotes names."""
    said, quoted = fold_width(claim.statement), "\n".join(fold_width(one.context) for one in support)
    named = (name for name, scope in _SCOPES.items() if scope.search(said) and not scope.search(quoted))
    return any(name not in _IN_OTHER_WORDS or not _IN_OTHER_WORDS[name].search(quoted) for name in named)


def adds(claim: Claim, support: Sequence[Located]) -> str:
    """A code for what the statement says beyond its quotes or short of them, "" for nothing that can be seen."""
    if claim.kind is Kind.PROCEDURE:  # commands and their results: what binds them stands in no sentence
        return ""
    if always_for_usually(claim, support):
        return MADE_GENERAL
    if claim.kind is Kind.INSIGHT:  # what several things show together leaves something out of each, and names what they share
        return ""
    if unbound(claim, support):
        return CONDITION_DROPPED
    if intention_as_state(claim, support):
        return NOT_DONE_YET
    return ADDED if bound_elsewhere(claim, support) or part_of_its_own(claim, support) or joins_another(claim, support) else ""
