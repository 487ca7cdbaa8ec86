"""What kind of thing a typed sentence is by its cues: a rule, a preference, a decision, a hold, a goal, a correction; None for ordinary talk.

Cues decide the kind, never the truth. `doubts` say what is missing for more than a draft: `said_once` (once, inside a task), `dangling_reference`
(it points at what it does not name), `run_on`, `hedged`.
"""

# Full-width characters are data here.

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.model import Kind
from pipelines.text.mood import Mood, standing_mark
from pipelines.text.slots import IMPERATIVES
from pipelines.text.words import content_words

WORDS_MIN = 1
"""Content words below which a sentence says too little to be kept ("yes, always")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """The kind a sentence was recognised as, whether it marks itself as standing, and what is missing."""

    kind: Kind
    standing: bool = False
    doubts: tuple[str, ...] = ()


def cue_of(text: str, mood: Mood, *, memory: bool, corrects: bool, first: bool, marked: bool = False) -> Cue | None:
    """The cue of one sentence (already freed of its lead-in). `memory`: an explicit memory; `corrects`: it answers a refused call; `first`: of the session; `marked`:
    its lead-in marks it as standing ("remember to …")."""
    if (
        _asks_for_bullets(text, mood)
        or (mood is Mood.REQUEST and _FORMAT_ASKED.search(text))
        or (mood in {Mood.REQUEST, Mood.PLAIN} and _FORMAT_ASKED_ZH.search(text))
    ):
        standing = memory or marked or standing_mark(text)
        return Cue(kind=Kind.PREFERENCE, standing=standing, doubts=() if standing else ("said_once",))
    if mood in _NEVER or text.endswith(("?", "？")) or len(content_words(text)) < WORDS_MIN or _ABOUT_THE_PAST.search(text):
        return None
    text = text.translate(_SIMPLIFIED)
    standing = memory or marked or standing_mark(text)
    if is_hold(text):
        return Cue(kind=Kind.HOLD)
    if is_preference(text):
        meant = standing and not _HOW_IT_FEELS.search(text)
        return Cue(kind=Kind.PREFERENCE, standing=meant, doubts=() if meant else ("said_once",))
    if standing and (is_directive(text) or is_order(text) or _RUN_WHEN.match(text)) and not _TASK_NOTE.search(text):
        return Cue(kind=Kind.RULE, standing=True)
    if mood in _NOT_PLAIN:
        return Cue(kind=Kind.GOAL) if first and is_goal(text) else None
    if is_decision(text):
        return Cue(kind=Kind.DECISION)
    if is_goal(text) and (first or _NAMES_GOAL.search(text)):
        return Cue(kind=Kind.GOAL)
    if _FELT_ZH.search(text) or _is_wish_for_a_thing(text):
        return None
    if is_directive(text) or (
        (is_order(text) or mood is Mood.REQUEST) and ((corrects and _SETS_RIGHT.search(text)) or _USE_NOT.search(text) or _IN_GENERAL.search(text))
    ):
        return Cue(kind=Kind.RULE, doubts=("said_once",))
    return None


_RUN_WHEN = re.compile(r"`[^`]+`,? (?:first,? )?(?:before|after|on) (?:each|every|any) \w+[.!]?$", re.IGNORECASE)
"""A command and when to run it, without a verb ("remember: `make lint` before each commit")."""
_OF_ONE_THING = re.compile(
    r"^(?i:the|this|that|these|those|its?|my|our)\s[^,.;]{1,60}?\s(?:must|should|shall)\b|^\S*[\w`](?:[_./-]\w|`|(?<=[a-z])(?=[A-Z]))\S*\s(?:must|should|shall)\s(?:not\s)?(?:have|be|show|display|look|get|contain|include|open|close|use)\b"
)
_MADE_AGAIN = re.compile(
    r"\b(?:commits|messages|branches|names|titles|PRs|requests|reviews|releases|migrations|tests|comments|docs|code|answers|replies|responses|reports|summaries)"
    r"\s(?:must|should|shall)\b",
    re.IGNORECASE,
)
"""What is made again and again in any work: how these should turn out is how they always should."""
_WHEN = re.compile(r"\b(?:before|after|when(?:ever)?|unless|until|every|each|all|any|no|never|always)\b|每|都", re.IGNORECASE)


def _is_wish_for_a_thing(text: str) -> bool:
    """Whether the words say how one thing that is being made should turn out ("the button should be blue"): work that is asked for, and no rule."""
    return bool(_OF_ONE_THING.match(text)) and not _WHEN.search(text) and not _MADE_AGAIN.search(text)


_SIMPLIFIED = str.maketrans("後務須遠總從現別記還來請應該當決歡討厭這個說開關閉設為", "后务须远总从现别记还来请应该当决欢讨厌这个说开关闭设为")
"""Traditional characters of the cues below and of the moods: folded for reading only, never in what is quoted."""
_NEVER = frozenset({Mood.QUESTION, Mood.JOKE, Mood.HYPOTHETICAL})
_TASK_NOTE = re.compile(r"\b(?:make|take|leave|add) (?:a )?note\b|\bin memory\b|\bmemor(?:y|ies) (?:and|then)\b", re.IGNORECASE)
_NOT_PLAIN = frozenset({Mood.WISH, Mood.CONDITION, Mood.HEDGED, Mood.REPORTED})
_ABOUT_THE_PAST = re.compile(
    r"^you (?:said|mentioned|told|suggested|wrote)\b|\b(?:I|we|you)\s+(?:never|always)\s+(?:said|told|asked|wanted|meant|did|had|was|were|got|saw|used to|thought)\b",
    re.IGNORECASE,
)

_ORDERED = (
    "accept address adjust aim allow annotate approve assume attach back backport base batch book bother bring bump cache capitalize change cite "
    "clean close code comment compare convert cook copy cut deal declare deliver describe display double drop echo embed emit encode escape expose "
    "extend fetch fill filter force fork freeze generate greet group guess hardcode hide host indent inline insert install invent iterate join "
    "label launch link load localize lock mark measure mention migrate mix mock modify mount name nest note notify number offer omit order pass "
    "paste pay pick pipe plan prefix prepare present prioritize profile propose provide publish pull quote read rebuild recommend record refactor "
    "refer release reload render report request require reset resolve reuse revert rewrite rotate round save scan schedule scope seed separate "
    "serve share ship sign simplify speak specify split squash stage start state subscribe suggest summarize support swap tell terminate text "
    "throw touch trace track translate trim trust turn type unpin unwrap upload verify version wait watch work wrap call send talk ask"
)
_WORK = "|".join(
    [
        r"give(?! up)", r"keep(?! \w+ing)",
        *sorted(IMPERATIVES - {"always", "never", "don't", "only", "remember", "give", "keep"} | set(_ORDERED.split()), key=len, reverse=True),
    ]
)  # fmt: skip
"""Verbs people order an agent or a colleague to do; "always happy to help" and "never give up" have none."""
_STANDING_ADVERB = r"(?:always|never|don't ever|do not ever|at all times)"
_BEFORE = (
    r"(?:(?:please|and|also|so|but|then|instead|remember to|remember that|remember|from now on|going forward|in (?:the )?future|by default|as a (?:standing |general )?rule|in general|generally|for the record|each time|every time)[,:]?\s+"
    r"|(?:when|whenever|every time|each time|while|if|for|in|inside|within|on|under|before|after|during|unless|once|with|as for|at)\s+[^,.;]{2,60}?(?:,\s*|(?<!\bI)(?<!\bwe)\s+(?=(?:always|never|don't|do not|use|you must|we must)\b)))*"
)
_BASE = "|".join(sorted(IMPERATIVES, key=len, reverse=True))
_MUST = r"(?:must(?:n't| not| never| always)?|should(?:n't| not| never| always)?|shall(?: not| never)?|may not|need to|needs to|have to|has to|(?:is|are) (?:not allowed|forbidden|required) to)"
_DIRECTIVE = re.compile(
    rf"^{_BEFORE}(?:{_STANDING_ADVERB}\s+(?:ever\s+)?(?:{_WORK})\b|(?:don't|do not|dont)\s+(?:{_WORK})\b|avoid\b|no (?:more )?\w+ing\b"
    rf"|(?:you|agents?|everyone|the agents?|claude|codex|nobody|(?:all|every|each|any)\s[\w -]{{2,40}}?)\s+{_MUST}\b|we\s+(?:must|should|always|never)\s+(?:not\s+)?(?:{_WORK})\b"
    rf"|(?!(?:I|we|they|he|she|it|this|that|there)\b)[\w./@`-]+(?:\s[\w./@`-]+){{0,3}}?\s+(?:must|should|shall|may not|(?:is|are) not allowed to)\b"
    rf"|(?:before|after|on) (?:every|each|any) [\w ]{{3,30}}?,? you (?:always )?(?:run|use|check|do)\b|I (?:always |never )?(?:want|expect|need)\s+(?:you|all|every|any)\b|(?:{_BASE})\b.*\b(?:{_STANDING_ADVERB}\s+(?:{_WORK})\b|{_STANDING_ADVERB}[.!]?$)|(?:{_BASE})\b.*\b(?:from now on|going forward|every time|each time)\b)",
    re.IGNORECASE,
)
_TOPIC_ZH = (
    r"(?:以后|今后|往后|从现在起|从今以后|从现在开始|从今天起)[，,]?(?:所有的?|每个)?(?![可也或再这那它])[^，。,；;我你他她们它吗呢人]{1,14}?"
    r"(?:(?:都|一律|统一)(?:请|得|必须|需要|应该?|先|只|不要|不许|不得|不准|别|用|使用|采用|要(?!是)|在(?!变|涨|进步)|走(?!了)|放(?!了)|写|按|照|跑|加|带|以|从|由|改|发|存|记|附|标|翻译|遵循|通过|经过|保持)|必须|不要|不许|不准|禁止|请|别(?![的人处名致墅]))"
)
"""What a standing order is about before what is ordered (以后提交信息都用中文写); what only will be (都会, 都能, 都是) is none."""
_DIRECTIVE_ZH = re.compile(
    rf"^{_TOPIC_ZH}"
    r"|^(?:[^，。,我你他她]{0,12}[，,])?(?:[^，。,我你他她]{0,12})?(?:(?:你|我们|大家)?(?:以后|今后|往后|从现在起|从今以后|从今天起)[，,]?(?:都(?![会能是这那没不可])|请|一律|要(?!下[雨雪]|变|涨|是|没|死|完)|不要|别|先(?![生进锋知])|只|每次|必须|用(?![户例途处量法意不])|不用)|一律|永远(?:不要|别|不能|用|要|先(?![生进锋知]))|每次[^，。我你]{0,10}(?:之前|前|之后|后)[，,]?(?:跑|运行|执行)(?![得就都很了不过失报出完起])|每次[^，。我你]{0,10}(?:都|要|先|必须|不要|别|用)"
    r"|务必|必须|千万(?:别|不要|不能)|始终(?:用|要|使用|保持)|默认(?:用|使用)|不要|(?<![特个区分级类性告错])别(?![人的处名致墅])|不许|禁止|不得|只能用|只用|一定要)|^[^，。,我你他她]{0,10}(?:之前|前|之后|后)[，,]?(?:请|都|也)*(?:要(?!下[雨雪])|先|都要|务必|必须|一定)|^(?:所有|凡是)[^，。]{0,20}(?:都|必须|要|一律)"
)
_FELT_ZH = re.compile(r"让我|感到|觉得|心情|聊天|有人|我(?!们)(?:的?(?:上司|老板|朋友|妈|爸|家)|也|一定|必须|可以|会|想|知道|最近|现在)")
_ORDER = re.compile(
    rf"^{_BEFORE}(?:(?:please|always|never|don't|do not|dont|only|just|don't forget to|do not forget to)\s+(?:ever\s+)?)*(?:{_WORK})\b", re.IGNORECASE
)
_USE_NOT = re.compile(
    r"\b(?:use|prefer|go with|stick (?:to|with)|keep)\b.+\b(?:not|instead of|rather than|over|never)\b|用.+(?:不要用|别用|不用|而不是)|不要用.+用",
    re.IGNORECASE,
)
_IN_GENERAL = re.compile(r"\b(?:before|after|for|on|in|with) (?:every|each)\b|\beverywhere\b|每个|每次", re.IGNORECASE)
_SETS_RIGHT = re.compile(r"\b(?:instead|not|n't|don't|use|rather|only|should|must|never|no)\b|不要|别|改用|而是", re.IGNORECASE)
_HABIT_OF_THINGS = re.compile(r"^(?:it|this|that|the \w+|there|he|she|they|\w+s?)\s+(?:always|never)\s+\w+(?:s|ed)\b", re.IGNORECASE)


_SURELY = re.compile(
    r"\bmust(?:'ve|(?: have|'ve) (?:been|had|felt|a lot|so|such|\w+ed\b(?! ))| feel| love| really| be (?:so|such|really|incredible|amazing|nice|fun|hard|great|tough|frustrating|exciting|rewarding|wonderful|tired|proud|happy))\b|\ba must\b|\bmust-",
    re.IGNORECASE,
)
"""`must` as a guess ("that must be fun") orders nothing."""
_FELT = re.compile(
    r"\b(?:we|I) (?:always|never|should|must)?\s*(?:feel|felt|think|thought|know|love|enjoy|wonder|hope|wish|talk|chat|meet|be careful)\b|\bmakes? (?:me|us)\b",
    re.IGNORECASE,
)


def is_directive(text: str) -> bool:
    """Whether the words order or forbid in general ("always …", "when X, never …", "you must …", 一律 …), not what a thing happens to do."""
    if _HABIT_OF_THINGS.match(text) or _SURELY.search(text) or _FELT.search(text) or _FELT_ZH.search(text):
        return False
    return bool(_DIRECTIVE.match(text) or _DIRECTIVE_ZH.match(text))


def is_order(text: str) -> bool:
    """Whether the sentence opens as an order ("use …", "run …", "don't …")."""
    if _FELT_ZH.search(text):
        return False
    return bool(_ORDER.match(text) or _DIRECTIVE_ZH.match(text) or text.startswith(("用", "使用", "先", "把", "请")))


_PREFERENCE = re.compile(
    r"^(?:(?:and|but|also|personally|in general|generally|honestly|from now on|going forward|by default|actually),?\s+)*(?:I(?: now| really| much| strongly| always| usually| still| generally)*\s+prefer\b"
    r"|I(?:'m| am) (?:more of an? |an? (?:big )?(?:fan of|\w+ person))|I (?:really |absolutely |also |just |always )*(?:love|hate|dislike|detest|can't stand|cannot stand|enjoy|like)\b"
    r"|my (?:preference|preferred)\b|prefer\b|(?:please )?(?:call|address) me\b"
    r"|(?:please )?(?:keep|make|give|write|answer|reply|respond|format|explain|use|send|show|always (?:answer|reply|respond|use|give|write))\b[^.]{0,40}"
    r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies)|bullet points?|bullets|emojis?|tone|English|Chinese|German|Spanish|French|Japanese|metric|short|brief|concise|simple|detailed|lists?)\b"
    r"|bullet points?\b|bullets\b|no emojis?\b|(?:no|without|skip|drop|leave (?:off|out)) (?:more |the |any )?(?:[\w-]+ ){0,2}(?:trailers?|footers?|signatures?|sign-?offs?|co-authored-by(?: lines?)?|attribution|preamble)\b|(?:answer|reply|respond) (?:in|with|briefly|shortly)\b)",
    re.IGNORECASE,
)
_PREFERENCE_ZH = re.compile(
    r"^(?:另外|以后|其实|一般|通常|，|,|\s)*(?:我(?:个人|更|比较|最|很|非常|不|都|还是|一直|特别)*(?:喜欢|偏好|讨厌|偏爱|倾向于|爱)|叫我|(?:你的)?(?:回答|回复|答案)(?:请|要|尽量|一律|都)|(?:请)?用(?:中文|英文|要点|列表)(?:回答|回复))"
)


_FORMAT_ASKED = re.compile(
    r"^(?:can|could|would|may) (?:you|I|we)\b.*\b(?:bullet points?|bullets|a (?:bulleted|numbered) list|list form|short(?:er)? answers?|plain (?:English|language))\b"
    r"|^(?:can|could|would) you (?:please )?(?:answer|reply|respond)\b.*\bin (?:English|Chinese|German|French|Spanish|Japanese|Italian|Portuguese|Dutch|Korean|Russian)\b",
    re.IGNORECASE,
)


def _asks_for_bullets(text: str, mood: Mood) -> bool:
    """Whether a short message wants its answer in bullet points: not the bullets of a page, and no joke about them."""
    if mood in {Mood.JOKE, Mood.HYPOTHETICAL, Mood.CONDITION, Mood.REPORTED} or len(text.split()) > BULLETS_WORDS_MAX:
        return False
    return bool(_BULLETS.search(text) and _WANTS.search(text)) and not _BULLETS_THERE.search(text)


BULLETS_WORDS_MAX = 16
_BULLETS = re.compile(r"\b(?:bullet(?:ed)?[- ]?(?:points?|lists?|form)|bullets|bulleted|dot points|point form)\b", re.IGNORECASE)
_WANTS = re.compile(
    r"^(?:(?:as|in|with)\s+(?:an?\s+)?|(?:short|a few|some|just)\s+)?(?:bullet|dot points|point form)|\b(?:please|pls|plz|thx|thanks|can|could|would|may|give|gimme|use|put|list|format|reply|answer|respond|write|rather|prefer|want|need|like|instead|would be)\b",
    re.IGNORECASE,
)
_BULLETS_THERE = re.compile(
    r"\b(?:the|these|those|my|your|its|each|every|existing|first|last|second|all|of|more|no|fewer|than)\s+(?:\w+\s)?(?:bullet|dot point)|\bbullets?(?: points?)?\s+(?:on|in|of|from|under|are|is|don't|do not|look|render)\b(?! (?:this|my phone))",
    re.IGNORECASE,
)
_FORMAT_ASKED_ZH = re.compile(
    r"(?:用|以|按|改成)(?:列表|要点|分点|条目|项目符号)|(?:列表|要点)(?:的)?(?:形式|列出|写|就行)|列成(?:要点|列表)|分[条点](?:列|说|回|写|讲|来|给|吧|一下)|(?:回答|回复|请|麻烦)分[条点]|一条一条(?:列|写|说)|用(?:中文|英文|英语|汉语|日文|德文|法文)(?:来)?(?:回答|回复)"
)
"""A form asked for politely ("could you use bullet points please?"): how this person likes answers, as far as one request tells."""
_HOW_IT_FEELS = re.compile(r"总是(?:让|不|感|觉)|一直|最近|\balways (?:been|makes?|feel|felt|loved|wanted|enjoyed)\b|\bhave always\b", re.IGNORECASE)


_OF_THE_TALK = re.compile(
    r"\bI(?:'d| would) (?:like|love|prefer it if)\b|\b(?:loved|hated|enjoyed)\b"
    r"|\b(?:can't|cannot) stand\s+(?:to see|how|that|this|these|those|it|them|your|the)\b|\b(?:love|hate|can't stand|dislike)\s+(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|the (?:rain|heat|cold)|rain|waiting)\b"
    r"|\bI (?:really |also |just |absolutely )*(?:like|love|hate|enjoy|prefer)\s+(?:to see|how|that|this|these|those|it|them|your|what|when|the|(?:option|version|variant|plan|approach) \w\b)",
    re.IGNORECASE,
)
"""Tastes about what was just said or shown ("I love these ideas"), and polite wishes."""


def is_preference(text: str) -> bool:
    """Whether the sentence states a taste of the speaker or how answers should look."""
    return not _OF_THE_TALK.search(text) and bool(_PREFERENCE.match(text) or _PREFERENCE_ZH.match(text))


_DECISION = re.compile(
    r"^(?:(?:and|but|so|ok|also|actually|then|for \w+(?: \w+)?|in the end|after (?:some|much) \w+),?\s+)*(?:we(?:'ve| have)?\s+(?:finally\s+|just\s+|already\s+)?(?:decided|agreed|settled on|chose|opted for|picked|went with (?=(?-i:[A-Z0-9`])))"
    r"|I(?:'ve| have)?\s+(?:finally\s+|just\s+|already\s+)?decided\s+(?:on|that|against|to (?:use|go with|keep|switch|drop|stick|adopt|stop))\b"
    r"|I(?:'ve| have)\s+(?:chosen|picked|settled on|opted for|gone with)\s+[^,.]{2,60}?\s(?:as|for)\b"
    r"|let(?:'|’)?s\s+(?:go with|stick (?:with|to)|use|keep (?=(?:the|our|using)\b|(?-i:[A-Z`]))|drop|switch to|move to|adopt|settle on|standardi[sz]e on)\b|(?:the )?decision(?: is|:)|decided:?\s"
    r"|we(?:'ll|’ll| will| are going to|'re going to)\s+(?:use|go with|keep (?!\w+ing\b|(?:\w+ )*in (?:mind|touch)\b)|drop|switch to|move to|stick (?:with|to)|adopt|host|deploy (?:on|to)|store|support|stay (?:on|with))"
    r"|it(?:'s| is| was) (?:been )?(?:decided|agreed)\b|we(?:'re| are) going with\b|(?:scrap|drop|ditch|forget)\s[^,.;]{2,40}[,.;]\s*(?:we're|we are|let's)\s+(?:going with|go with|use|using)\b)",
    re.IGNORECASE,
)
_DECISION_ZH = re.compile(
    r"(?:我们|最后|最终|已经|会上)(?:最后|最终|已经|一致)*决定|^(?:决定|定了)[:：，,]?|^(?:我们)?就(?:用|采用|选)|我们(?:选|选定|选择)了|敲定|决定(?:用|采用|选|改用)"
)


_IN_FAVOUR = re.compile(
    r"\b(?:we|I)(?:'ve| have)?\s+(?:remov|drop|replac|abandon|ditch|retir|mov|gave up|got rid|delet)\w*\b.+\bin favou?r of\b", re.IGNORECASE
)


def is_decision(text: str) -> bool:
    """Whether the speaker says that something was decided, or that one thing was given up in favour of another."""
    return bool(_DECISION.match(text) or _DECISION_ZH.search(text) or _IN_FAVOUR.search(text)) and not _UNDECIDED.search(text)


_UNDECIDED = re.compile(r"\b(?:haven't|not yet|never|didn't|yet to)\s+(?:decide|agree|settle)", re.IGNORECASE)


_HOLD = re.compile(
    r"\b(?:don't|do not|dont|never|no|nothing|nobody|not)\b[^.;!?]{0,80}\b(?:until|till|unless|before)\s+(?:I|we|the|my|you hear|\w+)\b[^.;!?]{0,60}\b(?:say|says|said|approve|approves|confirm|confirms|tell|sign|signs|ok|okay|go|review|reviewed|done|ready|back|give|agree|green)"
    r"|\b(?:hold off|wait|stop|pause|freeze|hold)\b[^.;!?]{0,60}\b(?:until|till|for my|before|unless)\b|\bnot until I\b|\b(?:is|are) (?:on hold|frozen) until\b",
    re.IGNORECASE,
)
_HOLD_ZH = re.compile(
    r"(?:先|暂时|暂)(?:别|不要|不)|等(?:我|我们)[^，。]{0,10}(?:再|之后再|以后再)|在我[^，。]{0,12}(?:之前|以前)[^。]{0,8}(?:不要|别|不许)|没有我[^，。]{0,8}(?:不要|别)"
)


def is_hold(text: str) -> bool:
    """Whether something must wait for somebody's word ("don't deploy until I say so", 先别上线)."""
    return bool(_HOLD.search(text) or _HOLD_ZH.search(text)) and not _GO_ON.search(text)


_GO_ON = re.compile(r"\b(?:don't|do not|never) (?:stop|quit|rest|give up|finish|return|come back)\b|\bno stopping\b", re.IGNORECASE)


_GOAL = re.compile(
    r"^(?:(?:and|so|ok|also),?\s+)*(?:(?:our|my|the)\s+(?:\w+\s+)?(?:goal|aim|objective|target|mission)\b[^.]{0,30}?\b(?:is|:)|(?:we|I)(?:'d| would)?\s+(?:want|like|need|plan|aim|intend|are going)\s+to\s+"
    r"(?:migrate|build|ship|release|launch|port|rewrite|replace|publish|deliver|convert|redesign)\b"
    r"|(?:we|I)(?:'re| are| am|'m)\s+(?:building|migrating|porting|rewriting|developing|preparing)\b|goal:)",
    re.IGNORECASE,
)
_NAMES_GOAL = re.compile(r"\b(?:goal|aim|objective|mission)\b|目标", re.IGNORECASE)
_GOAL_ZH = re.compile(r"(?:我们|我|项目|这次)的?(?:最终)?目标(?:是|：)|^目标[:：]|^(?:我们|我)(?:想|要|打算|计划)(?:把|做|开发|迁移|重构|实现|写|建)")


def is_goal(text: str) -> bool:
    """Whether the speaker names what the work is for, beyond the next step."""
    return bool(_GOAL.match(text) or _GOAL_ZH.search(text))
