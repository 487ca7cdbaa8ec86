"""How a sentence is meant: plainly, or as a question, condition, wish, joke, request, guess, report or supposition; and whether it denies.

Cues only. A cue that has an innocent use is fenced against it (check if ..., 特别, no problem); where doubt remains the stricter mood is given, since a
plain statement is the only mood that may become a fact.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from itertools import zip_longest

from .names import SURNAMES
from .openers import OPENERS, answers
from .reasons import without_reason
from .sentences import AROUND_MAX, Span, sentences
from .slots import CHINESE_KIN
from .words import chinese_words, fold_width


class Mood(StrEnum):
    """The mood of a sentence; only PLAIN states something as so."""

    PLAIN = "plain"
    QUESTION = "question"
    CONDITION = "condition"
    WISH = "wish"
    JOKE = "joke"
    REQUEST = "request"
    HEDGED = "hedged"
    REPORTED = "reported"
    HYPOTHETICAL = "hypothetical"


def _cue(*patterns: str) -> re.Pattern[str]:
    """Latin patterns as whole words (guards are ASCII: a Chinese neighbour is no letter); a pattern that opens with `~` is taken as it stands."""
    plain = [pattern for pattern in patterns if not pattern.startswith("~")]
    bare = [pattern[1:] for pattern in patterns if pattern.startswith("~")]
    return re.compile("|".join([*([rf"(?<![A-Za-z'])(?:{'|'.join(plain)})(?![A-Za-z])"] if plain else []), *bare]), re.I)


_LEAD = (
    r"^[\s\"'“‘(*_>-]*(?:(?:ok|okay|so|and|but|also|well|hey|hi|oh|no|nope|yes|yeah|yep|actually|then|now|please|btw|alright|right|great|thanks"
    r"|sure)[,!.]?\s+)*"
)
_JOKE = _cue(
    r"just kidding", r"kidding", r"jk", r"j/k", r"lol", r"lmao", r"rofl", r"ha(?:[ -]?ha)+h?", r"he(?:[ -]?he)+h?", r"heh", r"(?:i'm |just |only )joking", r"as a joke",
    r"~(?<!\S)/s(?!\S)", r"~[😂🤣😜😝🤪]", r"~开(?:个|句)?(?:小)?玩笑|玩笑话|逗你|哈哈|嘿嘿|说笑|笑死"
)  # fmt: skip
_HYPOTHETICAL = _cue(
    r"suppose(?! to)(?:\s+that)?", r"supposing", r"(?<!can )(?<!only )(?<!to )(?<!could )imagine", r"let's say", r"hypothetically", r"what if",
    r"pretend(?:ing)?(?: that)?", r"in theory", r"if (?:i|he|she|it|we|you|they) (?:were"
        r"|had)",
    r"(?:would|could|might) have", r"say we had", r"thought experiment", r"as if", r"~假设|假如说|设想|想象一下|比方说|打个比方|倘若|假使"
)  # fmt: skip
_IF = re.compile(
    r"(?<![A-Za-z])(?<!even )(?<!know )(?<!check )(?<!see )(?<!sure )(?<!ask )(?<!asked )(?<!wonder )(?<!wondering )"
    r"(?<!verify )(?<!test )(?<!tell me )(?<!determine )(?<!as )(?<!question )(?<!questioned )(?<!questioning )(?<!doubt )(?<!doubted )(?<!unsure )if(?![A-Za-z])"
    r"(?! (?:possible|needed|necessary|required|any|applicable|you (?:can|like|want|don't mind|could)))",
    re.I,
)
_CONDITION = _cue(
    r"unless", r"in case(?! of)", r"provided (?:that|we|you|it|the)", r"assuming", r"as long as", r"otherwise we", r"depending on", r"in the event",
    r"(?:^[\s\"„“(-]*|(?<=[,;:.(–-] )|(?<=und )|(?<=oder )|(?<=aber )|(?<=nur )|(?<=auch )|(?<=selbst ))falls(?! (?:in|into|under|below|within|short|off|over|apart|back|for)(?![A-Za-z]))",
    r"falls(?= (?:das|der|es|du|wir|ich|sie|er|man|ihr|eine?[mnrs]?|keine?[mnrs]?|diese[mnrs]?|nötig|notwendig|möglich|erforderlich|vorhanden|gewünscht)(?![^\W\d_])"
        r"|[^.,;\n]{1,80} (?:ist|sind|wird|werden|hat|haben|gibt|läuft|kann|können|soll|muss)(?![^\W\d_]))", r"wenn", r"~如果|(?<![主只需重])要是|假如|若是|(?:(?<![\u4e00-\u9fff])|(?<=[我你他她它们如]))若(?=[^干])|万一|的话|除非|只要|一旦|もし"
        r"|なら(?=[、ば])|たら、"
)  # fmt: skip
_ONCE = re.compile(_LEAD + r"(?:once|as soon as|when) (?:the|all|we|you|it|this|that|they)(?:'re|'s)? (?!was|were|did|had|visited)[^,]*,", re.I)
_WISH = _cue(
    r"i wish", r"we wish", r"(?:my|our) (?:dream|fantasy|ambition|only wish|biggest wish) (?:is|was|would be|has always been)(?! (?:over|dead|gone))", r"if only", r"hopefully", r"i hope", r"we hope", r"i'm hoping", r"would be (?:nice|great|cool|good|awesome|lovely|ideal)",
    r"(?:i|we)(?:'d| would) love (?:to|it|if"
        r"|for)", r"someday", r"one day (?:i|we)",
    r"(?:i|we) dream of", r"can't wait", r"ideally", r"~希望|但愿|要是.{0,20}就好|真想|多好啊|巴不得|盼着"
)  # fmt: skip
_HEDGE = _cue(
    r"maybe", r"perhaps", r"probably", r"possibly", r"presumably", r"i (?:think|guess|believe(?! in)|suppose|assume|suspect)", r"not sure",
    r"unsure", r"might", r"(?:it|this|that|there) (?:seems|appears"
        r"|looks like)", r"seems? to", r"supposedly",
    r"if i (?:remember|recall)", r"iirc", r"afaik", r"more or less", r"(?:i|we) (?:may|could)", r"(?:you|he|she|it|they|that|this) (?:may|could) (?:be|have|not|also|need|want"
        r"|go|use|move|switch|try)", r"should be fine",
    r"(?:almost|nearly|all but) (?:moved|switched|changed|shifted|migrated|ported|bumped|raised|lowered|renamed|upgraded|replaced|dropped|left|quit|joined|bought|took)",
    r"~差点儿?(?=[就没]?[换搬去用买改辞])|可能(?!性)|也许|大概|好像|似乎|估计|应该是|说不定|不确定|不太确定|恐怕|或许|多分|かもしれ|vielleicht|peut-être|quizás"
)  # fmt: skip
_REPORTED = _cue(
    r"according to", r"apparently", r"reportedly", r"allegedly", r"i(?:'ve)? heard", r"rumou?r has it", r"they say", r"people say",
    r"supposed to be", r"it is said", r"claims? (?:that|to)",
    r"~听说(?!过)|据说|据称|传言|有人说|そうです(?=。|$)"
)  # fmt: skip
# A surname with a given name; words of the language that merely begin with such a character name nobody.
_SURNAMED = rf"(?!方便|高兴|马上|于是|何必|何况|任何|白天|万一|严格|毛病|向[我你您他她大])[{''.join(sorted(SURNAMES))}][\u4e00-\u9fff]{{1,2}}"
# What stands before reports that are things: "write reports", "our weekly reports", "bug reports".
_THINGS_REPORTED = (
    r"(?:(?:my|the|our|his|her|their|your|all) )?(?:the|my|our|your|their|these|those|all|any|some|no|such|only|always|never|daily|nightly|weekly|monthly|quarterly"
    r"|annual|bug|crash|error|test|status|coverage|incident|write|send|generate|create|read|make|keep|export|file|post|publish|print|put|store|save|share|review"
    r"|run|use|add|include|attach|email|mail|deliver|format|upload)\s+reports"
)
_SAYS = re.compile(
    rf"(?<![A-Za-z'])(?!{_THINGS_REPORTED}(?![A-Za-z]))"
    r"(?!(?:the|our|this|that) (?:log|error|output|message|docs?|documentation|readme|changelog|wiki|comment|spec|manual)s?\s)(?!(?:i|we|you|it|that|this|what|which|log|error|output|message|doc|docs|readme|being|that\s+being|been|and|or|to)\s)(?:(?:my|the"
    r"|our|his|her|their) )?[A-Za-z]+(?: (?-i:[A-Z][a-z]+))? (?:said|says|told (?:me|us|him|her|them)|mentioned|claims|claimed|thinks|reckons"
    r"|wrote|reports|reported)(?![A-Za-z])"
    rf"|(?:他|她|他们|她们|大家|有人|别人|人家|{'|'.join(sorted(CHINESE_KIN))}|[小老阿][\u4e00-\u9fff]|{_SURNAMED})(?:昨天|今天|刚才|之前|最近|跟我|对我"
    rf"|和我){{0,2}}(?:说(?!明|法|话|不)|告诉我|提到|表示)",
    re.I,
)
_ASK_YOU = re.compile(
    _LEAD + r"(?:please|pls|plz|(?:can|could|would|will) (?:you|u|we)|would you mind|i(?:'d| would) like you to|i (?:want|need) you to|you should|let's"
    r"|let us|lets|kindly|go ahead|help me|feel free)(?![A-Za-z])"
    r"|^[\s\"“]*(?:请(?!问)|麻烦|帮我|帮忙|给我|让我们|咱们来|劳驾|拜托|能不能帮|可以帮)"
    r"|^[\s\"“]*(?:我们)?把[^，。,]{1,40}(?:改|换|移|删|放|设|调|搬|升|降|挪)[^了，。,]*(?:$|[，。,!！.])|ください|してくれ|お願い"
    r"|(?<![A-Za-z])(?:please|pls|plz)[.!]?\s*$"
    # How to answer, asked for as a question: it wants the answer so, not to know whether it can be.
    r"|(?<![a-z])bullet(?:s| points?)(?: [a-z]+){0,2} would be (?:great|nice|good|perfect|better|lovely)(?![a-z])"
    rf"|{_LEAD}(?:can|could|may|might) (?:i|we) (?:please )?(?:get|have|see) (?:that|this|it|them|these|those|everything|(?:the|your|an?) \w+)(?: \w+)? (?:as|in) "
    r"|^[\s\"“]*(?:你|您)?(?:能不能|可不可以|能否|可以|能)(?:请|帮我)?(?:列成|写成|整理成|分[点条])"
    r"|^[\s\"“]*(?:(?:你|您)?(?:能不能|可不可以|能否|可否|是否可以|可以|能)(?:请|麻烦)?(?:你|您)?)(?:用|以|按|分)[^，。,？?]{0,12}?(?:回答|回复|答复|列出|列一下|列举|列成|写成|整理成|列给我|写给我|说明一下|解释|讲|总结)",
    re.I,
)
_VERBS = r"""add adjust allow analyze append apply ask assume avoid bring bump choose clarify close compare configure confirm connect consider continue
    convert create define delete describe disable do don't dont enable ensure examine execute explain explore export extract fetch fill find fix
    focus follow generate get give go handle hide ignore implement import improve include increase inspect install investigate keep launch leave
    let(?!\sme) load lower make merge migrate modify move never open optimize organize paste pick prefer prepare print proceed put read rebase
    recheck redo reduce refactor reload remember remove rename render replace resolve restart restore retry revert revise rewrite run save
    search select send separate set simplify skip sort start stay stick stop submit switch take tell treat trim try uninstall update upgrade
    upload use validate verify wait write""".split()
# Verbs that are nouns as often ("Test coverage is 80%"): an order only before what an object begins with.
_NOUN_VERBS = r"""act build call cancel change check clean clear click clone commit copy cut debug deploy display document draft drop edit extend finish
    format group link limit list lint log look mark name order pack pin plan play point post process pull push query rank reply report reset
    return review roll scan scope ship show sign split stage store sync test touch track trace turn undo view walk watch wire work wrap""".split()
_OBJECT = (
    r"(?:(?:the|a|an|all|every|each|any|this|that|these|those|my|our|your|its|his|her|it|them|me|us|everything|anything|nothing|to|for|in|into|on"
    r"|onto|with|from|by|at|before|after|using|via|only|always|never|up|out|off|down|back|through|both|code|and)(?![A-Za-z])|[`~/.-])"
)
_ADVERB = r"(?:(?:always|never|just|only|first,?|then|do not|don't|dont|also|now|simply)\s+)"
_IMPERATIVE = re.compile(
    _LEAD + rf"(?:{_ADVERB}+(?:{'|'.join(_VERBS + _NOUN_VERBS)}|be|have)(?![\w'-])|(?:{'|'.join(_VERBS)})(?![\w'-]|[.(]\w)(?!\s*[:=]|\s+(?:is|are|was|were|has"
    rf"|must|should|will)(?![A-Za-z]))|(?:{'|'.join(_NOUN_VERBS)})\s+{_OBJECT})",
    re.I,
)
_ZH_IMPERATIVE = re.compile(r"^[\s\"“]*(?:别|不要|不用(?!谢|客气)|请勿|勿|禁止|严禁|务必|必须|记得|记住|别忘|永远不要|千万|一律|以后都?|每次都要)")
_QUESTION_END = re.compile(
    r"[??？]+[\s\"'”’」)）*_]*$|(?:吗|(?<![什这那多怎])么)[。.!！~\s]*$|(?:是什么|为什么|怎么样|怎么办|多少|什么时候|哪里|哪个|是谁|几点|对吧|是吧)[。.!！\s]*$|ですか[。]?$|ますか[。]?$"
)
_QUESTION_START = re.compile(
    _LEAD + r"(?:(?:what|why|how|where|who|which)(?:'s|'re|'d| is| are| do| does| did| can| should| would| was| were| about| come| many| much| will| about| if"
    r"| else| happens| happened)"
    r"|(?:is|are|does|did|can|could|should|would|will|has|was|were|am|isn't|aren't|doesn't|didn't|can't|shouldn't|wouldn't) (?:i|you|we|they|he|she|it"
    r"|this|that|the|there|these|those|any|my|our|your|a|an)"
    r"|(?:do|have|had|don't) (?:i|you|we|they)|any (?:idea|chance|reason)|(?:i(?:'m| am) )?wondering (?:if|how|why|what)|do you remember)(?![A-Za-z])"
    r"|^[\s\"“]*(?:为什么|怎么|什么|哪|谁|是不是|有没有|能不能|可不可以|会不会|要不要|请问)",
    re.I,
)


def mood_of(sentence: str) -> Mood:
    """The mood of a sentence (of several: the first that is not plain)."""
    folded = fold_width(sentence)
    spans = (sentences(sentence) or [Span(0, len(sentence))]) if sentence else []
    for span, after in zip_longest(spans, spans[1:]):
        said = folded[span.start : span.end][:AROUND_MAX]
        mood = Mood.PLAIN if after and answers(said, folded[after.start : after.end]) else _mood(said)
        if mood is not Mood.PLAIN:
            return mood
    return Mood.PLAIN


_RELEVANCE = re.compile(
    r",\s*(?:just )?(?:if|in case) (?:(?:it|that|this|any of (?:it|this|that)|(?:the|my|your) [a-z ]{2,24}?) (?:matters?|helps?|counts?|is (?:relevant|useful|of interest))"
    r"|you(?:'re| are) (?:wondering|asking|curious|interested)|you (?:wonder|ask|care|forgot|(?:hear|see|notice|spot)(?! (?:me|from))|need (?:to know|the|my))|i(?:'ll| will)? (?:mention|bring up|talk about|refer to|forget))"
    r"(?![A-Za-z])[^.;!?]*(?=[.;!?\s]*$)",
    re.I,
)


_RELEVANCE_FIRST = re.compile(
    rf"^((?:(?:{OPENERS}|oh|so|and|also)[:,]? )?(?:[a-z ]{{2,24}}[:,] )?)(?:just )?(?:(?:if|in case) (?:it|that|this) (?:matters|helps|counts)|(?:if|in case) you(?:'re| are) (?:wondering|asking|curious)|if you [^:,.;!?]{{3,40}}(?=:))[,:] (?=(?:i|i'm|im|i've|we|my|our)(?![\w]))",
    re.I,
)


def without_relevance(text: str) -> str:
    """The text without a clause that only says why it is told (", if the time zone matters", "If you book something: …"): it binds the fact to nothing."""
    return _RELEVANCE.sub("", _RELEVANCE_FIRST.sub(r"\1", text))


_ON_THAT_GROUND = re.compile(
    r"^[^.!?;]{3,80}?[,;(–-]+\s*(?=(?:(?:because|since|as|cos|bc) )?(?:(?:i'm|i am|im|i have an?|i've an?|it's an) (?:\w+ ){0,3})?allerg(?:ic|y)\b(?! to (?!it|that|them))|(?:that's|thats|which is|it's) (?:my (?:\w+ )?name|me\b))|^[^。！？；，,]{2,30}[，,](?=我(?:对\S{0,4})?过敏)",
    re.I,
)
"""A request that stands on a plain statement of the speaker ("keep nuts out of it, I'm allergic"): the statement holds whether or not it is granted."""

_STATED_FIRST = re.compile(
    r"^(?:[a-z', ]{2,28} )?(?:i'm|i am|im) (?:(?:\w+ )?allergic to [^,;.!?]{2,40}(?=[,;] (?:so|please|pls|thus)\b)|an? [^,;.!?]{2,40}(?=[,;] so (?:please|pls|explain|keep|use|go|be|don't|no)\b))",
    re.I,
)
"""A plain statement a request follows from ("I'm allergic to nuts, so nothing with nuts please", "I'm a baker, so keep it simple please")."""
_WHICH_IS = re.compile(r"^which is", re.I)


_TO_KEEP = re.compile(
    r"^[\s\"'*-]*(?:(?:please|pls|also|and|so|ok|okay|hey|for later)[\s,]+)*remember(?:\s+that|\s*[:,–—]|\s+this\s*[:,–—])\s*(?!(?:you|your|you're|we're|i'm|one|time|when|how|if|to)\b)(?=\S)"
    r"|^(?:另外|还有|对了)?[，,]?(?:请|帮我|你要)?(?:记住|记一下|记下)(?:一下)?[，,:：]?\s*(?![你您我了过的。，]|[这那](?=[^\u4e00-\u9fff]|$))(?=\S)",
    re.IGNORECASE,
)


def asks_to_remember(text: str) -> bool:
    """Whether a sentence asks that what it says be kept ("remember that the token expires after 30 days", 记住：…), and not of whom it speaks to."""
    return bool(_TO_KEEP.match(fold_width(text)))


@lru_cache(maxsize=8192)
def _mood(folded: str) -> Mood:
    folded = without_relevance(folded)
    if kept := _TO_KEEP.match(folded):
        return _mood(folded[kept.end() :])
    if first := _STATED_FIRST.match(folded):
        return _mood(first[0])
    if ground := _ON_THAT_GROUND.match(folded):
        asked = _mood(folded[: ground.end()].rstrip(" ,;(–-，"))
        return _mood(_WHICH_IS.sub("that's", folded[ground.end() :])) if asked in {Mood.REQUEST, Mood.PLAIN} else asked
    stated = without_reason(folded)  # "… because ops told us to" reports nothing
    for mood, found in (
        (Mood.JOKE, _JOKE.search(folded)),
        (Mood.HYPOTHETICAL, _HYPOTHETICAL.search(folded)),
        (Mood.REQUEST, _ASK_YOU.search(folded)),
        (Mood.QUESTION, _QUESTION_END.search(folded) or _QUESTION_START.search(folded)),
        (Mood.WISH, _WISH.search(folded)),
        (Mood.CONDITION, _IF.search(folded) or _CONDITION.search(folded) or _ONCE.search(folded)),
        (Mood.REPORTED, _REPORTED.search(stated) or _SAYS.search(stated)),
        (Mood.HEDGED, _HEDGE.search(folded)),
        (Mood.REQUEST, _IMPERATIVE.search(folded) or _ZH_IMPERATIVE.search(folded)),
    ):
        if found:
            return mood
    return Mood.PLAIN


def mood_at(text: str, start: int, end: int) -> Mood:
    """The mood of the sentences that characters `start` to `end` stand in: a quote cut out of a question is still asked.

    A sentence behind that takes it back ("just kidding", "jk", 开玩笑的) makes a joke of it.
    """
    cut = max(0, start - AROUND_MAX)
    text, start, end = text[cut : end + AROUND_MAX], start - cut, end - cut
    spans = sentences(text)
    touched = [n for n, span in enumerate(spans) if span.start < end and start < span.end]
    if not touched:
        return mood_of(text[start:end])
    if touched[-1] + 1 < len(spans):
        after = spans[touched[-1] + 1].of(text)
        if len(after) <= 40 and _JOKE.search(fold_width(after)):
            return Mood.JOKE
    return mood_of(text[spans[touched[0]].start : spans[touched[-1]].end])


# --- denial ------------------------------------------------------------------------------------------------------------------------------

_NOT = _cue(
    r"not(?! only| just| to mention| necessarily only)", r"[a-z]+n't(?! (?:forget|hesitate|worry|mind|wait))", r"dont(?! forget)", r"cannot",
    r"cant", r"wont", r"never(?! ?mind| forget)", r"no longer", r"no more(?! than)", r"none", r"neither", r"nor", r"nobody", r"nothing",
    r"nowhere", r"no one", r"without",
    r"no(?=\s+[a-z])(?! (?:problem|doubt|worries|wonder|matter|later than|more than|less than|fewer than|one knows))", r"instead of", r"rather than",
    r"stop(?:ped)? [a-z]+ing", r"quit", r"avoid(?:s|ed|ing)?",
    r"refrain", r"forbid(?:s|den)?", r"ban(?:s|ned)?", r"prohibit(?:s|ed)?", r"scrap", r"nicht", r"kein(?:e[nmrs]?)?", r"nie(?:mals)?",
    r"ne (?:\S+ )?pas", r"jamais", r"nunca", r"pas de", r"~ない|ません|ではなく|じゃなく|ずに|안 |않|지 마|없"
)  # fmt: skip
_CORRECTION = re.compile(r"^\s*(?:no|nope|nah|wrong|not quite|non|nein|不|不对|不是的|没有|错了|いいえ)\s*[,.!;:—-]+\s*", re.I)
_ZH_NOT_EXACT = frozenset(
    "无 未 非 勿 莫 尚未 从未 并非 绝非 禁止 严禁 避免 停止 停用 而非 无需 无须 请勿 切勿 毫无 永不 绝不 从不 从来不 并不 决不 毫不 永远不".split()
)
_ZH_INNOCENT = frozenset(
    """不错 不同 不断 不但 不过 不仅 不管 不久 不客气 不论 不如 不少 不止 不只 不光 不仅仅 不禁 不妨 不愧 不得不 不可避免 不好意思 不知不觉 不用谢 不用客气 不一会儿 没关系 没问题 没错 没事 别人 别的 别处 别名 别墅 别致
    别忘 别忘了 别说 别扭 别具一格 不对劲 不动产 不锈钢""".split()
)


ZH_BAN = (
    r"(?:不要|不得(?!不)|不准|不许|不可以|不可(?!避)|不能(?!不)|不应该?|不建议|不推荐|禁止|严禁|避免|[请切]?勿"
    r"|(?<![分特类级识区告性个派辨差组国职])别(?![的人处名墅致忘说扭]))"
)
"""A pattern of what forbids in a Chinese sentence; 别 is a part of many other words."""
_ZH_POLITE = re.compile(
    "不用(?:谢|客气|担心)|[不别]客气|没关系|没事|没问题|不好意思|对不起|是不是|有没有|(?<![能可会要])不[能可会]不|(?:无法|难以|很难|不能|不可|不可能|免不了)避免"
)
"""What is polite or asks; and denials of a denial, which affirm."""


def negated(sentence: str) -> bool:
    """Whether the sentence denies or forbids. A leading "no," that answers somebody is no denial, nor is "no problem" or 特别."""
    folded = _CORRECTION.sub("", fold_width(sentence))
    return bool(_NOT.search(folded)) or _chinese_denial(folded)


def _chinese_denial(folded: str) -> bool:
    folded = _ZH_POLITE.sub("", folded)
    return any(
        word.text in _ZH_NOT_EXACT
        or (word.text[0] in "不没别" and word.text not in _ZH_INNOCENT)
        or word.text in {"千万别", "永远不", "从来不", "决不能", "绝不能"}
        for word in chinese_words(folded, guess=False)
        if not _is_a_not_a(folded, word.start, word.end)
    )


def _is_a_not_a(folded: str, start: int, end: int) -> bool:
    """是不是, 有没有, 能不能 ask, they do not deny; 差不多 and 对不起 say something else."""
    around = folded[max(0, start - 1) : end + 1]
    return bool(re.search(r"(.)[不没]\1|差不多|对不起|要不", around))


# "5433 not 5432" sets one against the other; "is not 5432" denies.
_AUXILIARY = "".join(
    rf"(?<!\b(?i:{word}))" for word in "is are was were be am do does did has have had will would can could should must may might shall".split()
)
_CLAUSE = re.compile(
    r"[,;:，；：、—]+\s*(?!\d{3}(?!\d))"
    r"|(?<!\s)\s+(?=(?i:but|while|whereas|although|though|yet|however|instead of|rather than)(?![A-Za-z]))"
    rf"|(?<!\s){_AUXILIARY}\s+(?=(?i:not)(?! only| just)(?![A-Za-z]))"
    r"|(?=而不是|而非|但是?|不过|不再|不是|不要|而是|改成|改为|(?<![不还就而都也要可但])是(?!不是|否))"
)


def clauses(text: str) -> list[Span]:
    """The clauses of a sentence, cut at commas, `but`, and where a denial begins, so that "5433, not 5432" says one of the one and one of the other."""
    folded = fold_width(text)
    found: list[Span] = []
    at = 0
    for cut in _CLAUSE.finditer(folded):
        if cut.start() > at:
            found.append(Span(at, cut.start()))
        at = cut.end()
    if at < len(text):
        found.append(Span(at, len(text)))
    return [span for span in found if span.of(text).strip()]


# --- marks -------------------------------------------------------------------------------------------------------------------------------

_DONE = _cue(
    r"done", r"finished", r"completed?", r"complete", r"fixed", r"resolved", r"solved", r"passed", r"passes", r"passing", r"cleared", r"merged",
    r"deployed", r"shipped", r"released", r"succeeded", r"successful(?:ly)?",
    r"(?:is|are|all|now) green", r"works? now", r"(?:is|are|it's) working(?! (?:on|for|with|at|as|from|towards?|in|to|through|out|under)(?![A-Za-z])"
        r"(?! (?:expected|intended|designed|planned|before|it should|all|both|every\w*|me|us|them|now|prod\w*|staging|ci|main|mobile|my machine|windows|linux|macos)(?![A-Za-z])))"
        r"(?: now| again)?", r"(?:all|everything) (?:set|good|works)",
    r"ready to (?:ship|merge|deploy)", r"in place", r"verified", r"implemented", r"up and running", r"no (?:more )?(?:errors|failures)", r"fertig",
    r"erledigt", r"terminé", r"listo",
    r"~(?:已|已经|全部|都|全)完成|完成(?:了(?!.{0,8}(?:后|之后|再|就))|(?=[。！!,，]|$))|修好|修复(?:了|完)|已修复|通过(?:了|。|$)|(?:都|已|全部|全)通过|测试通过|搞定|解决了|已解决|弄好|做完|做好了|写完|跑通|上线了|已上线"
        r"|已部署|部署(?:好|完)|已合并|合并(?:好|完)|清理(?:好|完|了)|清空了|完工|终わ|完了"
)  # fmt: skip
_NOT_DONE = _cue(
    r"(?:will|would|can|could|should|must|may|might|shall|to|gets?|getting|let's get) (?:be |get |have |it |this |that )*(?:done|finished|completed?"
        r"|fixed|resolved|solved|passed|cleared|merged|deployed|shipped|released|succeed|verified|implemented)",
    r"(?:until|unless|before|after|when|once|if|whether|as soon as|by the time) .{0,60}(?:done|finished|complete[d]?|fixed|resolved|passed|passes"
        r"|passing|cleared|merged|deployed|shipped|released|succeeded|green|verified)",
    r"(?:needs?|has|have|want|wants|going|trying|ready|about) to (?:be |get |have )*\w+", r"to (?:complete|be)", r"(?:incomplete|unfinished|unresolved"
        r"|undone)", r"~(?:要|需要|必须|应该|可以|难以|逐个|顺利地?|帮助|尽快|能|得|待"
        r"|将|准备|计划|打算|等|直到|才能|还没|尚未|没有?|未)[^，。,.]{0,12}(?:完成|修好|通过|搞定|解决|弄好|做完)|完成(?:前|之前)"
)  # fmt: skip


def completion(sentence: str) -> bool:
    """Whether it says that something is done, fixed, finished, passed or cleared (not that it will or should be, or is not)."""
    folded = fold_width(sentence)
    return any(_DONE.search(part) and not _NOT_DONE.search(part) and not _denies_done(part) for part in (span.of(folded) for span in clauses(folded)))


def _denies_done(part: str) -> bool:
    return negated(part) and not re.search(r"no (?:more )?(?:errors|failures)", part, re.I)


_STANDING = _cue(
    r"always", r"(?<!have )(?<!has )(?<!had )(?<!'ve )(?<!was )(?<!were )never(?! ?mind| been| heard| seen| had| knew)", r"from now on",
    r"from here on", r"going forward", r"moving forward", r"henceforth", r"in (?:the )?future", r"every ?time", r"each time",
    r"whenever", r"at all times", r"as a (?:general )?rule", r"by default(?=[,.]|$)", r"(?:don't|do not) ever", r"for all future",
    r"under no circumstances", r"(?:must|shall|has to|have to)(?: not)? [^;!?]{0,60}(?:every|each|any|all)", r"(?:make a |take )note", r"permanently", r"in all (?:cases|sessions|projects)",
    r"ab sofort", r"immer", r"niemals", r"toujours", r"désormais", r"jamais", r"siempre", r"nunca", r"ab jetzt",
    r"~从今以后|从现在(?:起|开始)|从今天起|今后|往后(?![推退移拖挪放翻看走面排])|一律|永远|每(?:一)?次[^我他她它，。]{0,12}都(?=跑|运行|执行|检查|更新|同步|备份|先|用|写|加)|每(?:一)?次.{0,12}(?:都要|必须|都得|请|要先|先要|不要|别)|始终|记住|务必|一直都?要|(?:^|[,，。；;\s]|我们?|你|咱们|请)以后(?!再说|再看|可能|也许)|今後|常に|必ず|毎回"
)  # fmt: skip
_REMEMBER = re.compile(
    r"(?<![A-Za-z])(?<!i )(?<!i don't )(?<!don't )(?<!can't )(?<!you )(?<!far as i )(?<!to )remember(?:,| that| to|:| this| my| i| we| it| the"
    r"| for)(?! time)(?![A-Za-z])(?!.*\?)|(?<![A-Za-z])(?:please |do )remember(?![A-Za-z])(?! (?:when|how))|(?:don't|do not) forget(?: that"
    r"| to|:|,)",
    re.I,
)


def standing_mark(sentence: str) -> bool:
    """Whether the words mark a standing rule: always, never, from now on, remember, every time; 以后, 一律, 永远不要, 每次都."""
    folded = fold_width(sentence)
    return bool(_STANDING.search(folded) or _REMEMBER.search(folded))
