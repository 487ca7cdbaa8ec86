"""The local engine: rules over one session, no key, no network; the same window always gives the same claims.

It confirms only what is stated outright. Everything less certain carries its `doubts`, which keep it a draft; the rest is left to search.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipelines.engines.local.bound import binding_of, version_there, versions_shown
from pipelines.engines.local.cues import Cue, cue_of, is_directive, is_order
from pipelines.engines.local.endings import ending_of
from pipelines.engines.local.events import event_claim
from pipelines.engines.local.facts import PROJECT, Fact, facts_in, named_before
from pipelines.engines.local.personal import personal_facts
from pipelines.engines.local.procedures import procedures, stated_command
from pipelines.engines.local.results import result_facts
from pipelines.engines.local.runs import core_of
from pipelines.engines.local.shell import Part
from pipelines.engines.local.speech import (
    QUOTE_MAX,
    TURN_MAX,
    Utterance,
    body_of,
    clauses,
    dangling,
    handed_in,
    shortened,
    statement_of,
    typed,
    utterances,
)
from pipelines.engines.local.takebacks import TakenBack, taken_back
from pipelines.model import Claim, Kind, Origin, Question, Turn
from pipelines.notes.ending import ENDED, ends, is_ending, takes_back
from pipelines.ports import Extracted, Window
from pipelines.text.mood import Mood, asks_to_remember, mood_at, mood_of, standing_mark
from pipelines.text.reasons import reason_in, told_first, without_reason
from pipelines.text.slots import USER
from pipelines.text.statement import Form, Statement, parse
from pipelines.text.times import deadline_in, resolve_dates
from pipelines.text.values import typed_values


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalEngine:
    """An `Engine` of hand-written rules; English and Chinese, other languages are left to search."""

    name: str = "local/7"

    def extract(self, window: Window) -> Extracted:
        """Claims and questions of one session, in the order of its turns."""
        found = _Found(claims=[], questions=[])
        people = not any(t.origin is Origin.ASSISTANT for t in window.turns) and any(t.speaker for t in window.turns)
        talk = _Talk(among_people=people)
        for turn in window.turns:
            if turn.event is not None:
                found.add(event_claim(turn, window.session))
            elif typed(turn):
                play = (talk.play or bool(_ROLE_PLAY.search(turn.text))) and not _PLAY_OVER.search(turn.text)
                said = found.read(turn, replace(talk, play=play or bool(_IN_A_STORY.search(turn.text))))
                talk = replace(talk, first=False, play=play, before="", said=said, said_by=turn.speaker)
            elif handed_in(turn):
                found.read(turn, talk)
            elif turn.origin is Origin.ASSISTANT and turn.call is None and not turn.sidechain:
                talk = replace(talk, before=turn.text)
        found.claims.extend(procedures(window.turns))
        found.claims.extend(result_facts(window.turns))
        found.claims.extend(versions_shown(window.turns))
        made = {c.uid: replace(c, made_by=self.name) for c in found.claims}
        return Extracted(claims=tuple(made.values()), questions=tuple(found.questions))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Talk:
    """Where the conversation stands: nobody has typed yet, a role is being played (what "I" say is nobody's fact), what the assistant said last, whether only
    people talk (named speakers, no assistant), whose advice to each other is no rule, and the one thing said in the last message (None: nothing, or several) and by whom."""

    first: bool = True
    play: bool = False
    before: str = ""
    among_people: bool = False
    said: Claim | None = None
    said_by: str | None = None


_ROLE_PLAY = re.compile(
    r"\b(?:let(?:'|’)?s (?:role-?\s?play|pretend|act out|play)|role-?\s?play(?:ing)?\b|act out (?:a|the)\b|mock (?:interview|call|exam|trial|negotiation|conversation)|simulate an? \w+ (?:interview|call|conversation)|let(?:'|’)?s practi[sc]e (?:the|a|an|my|our|this) (?:\w+ )?(?:call|interview|talk|conversation|negotiation|pitch|speech|dialogue|scene)\b|let(?:'|’)?s rehearse\b"
    r"|(?:I(?:'ll| will)|I(?:'m| am) going to) (?:be|play) the \w+|(?:answer|speak|talk|reply|act) as (?:if I|though I|someone|somebody)|you(?:'ll| will)? (?:play|be|are) (?:the|my) \w+,? and I"
    r"|(?:exercise|interview|scenario)\b[^.]{0,60}\bI(?:'m| am) [A-Z])|角色扮演|扮演|模拟(?:面试|对话|通话|谈判)|(?<!示)演(?:一段|一场|一出|个小品)|(?:来|陪我|帮我|一起|我们|咱们)[^，,。！!？?]{0,3}排练(?![室厅过完])"
    r"|(?:^|[，,。])你(?:来)?是(?![对说谁不怎否想哪什认真])[^，。？?的]{1,8}[，,]我(?:来)?是[^，。？?的]{1,8}(?=[，,。！!]|$)",
    re.IGNORECASE,
)
_IN_A_STORY = re.compile(
    r"\bpretend (?:that |to be |you(?:'re| are)|I(?:'m| am))|假装|\bin (?:this|my|our|the) (?:story|novel|game|scenario|play|script|dream|book|comic|film|movie|tale)\b|\b(?:my|our) (?:main )?character\b|剧本里|小说里|故事里|剧本中|小说中",
    re.IGNORECASE,
)
_PLAY_OVER = re.compile(
    r"\b(?:stop|end|end of|done with|no more|out of|finish|cut) (?:the |this )?(?:role-?\s?play(?:ing)?|pretending|character|game|exercise|scene|interview|simulation|mock)\b|\bout of character\b"
    r"|\b(?:role-?\s?play|game|exercise|practice|scene|interview|simulation|rehearsal|mock \w+) (?:is )?over\b|\b(?:good|great|nice) practice\b|(?:角色扮演|扮演|游戏|练习|面试|模拟).{0,4}(?:结束|到此|停)|不演了|演完|练完",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"^\s*(?:please\s+|pls\s+|can you\s+|could you\s+|help me\s+|I (?:want|need) you to\s+)*(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|correct|edit|improve|polish|analy[sz]e|classify|write|continue|complete|act as"
    r"|reword|shorten|respond to|reply to|answer as|generate|draft|compose|fix the (?:grammar|typos|spelling|wording)|check the (?:grammar|spelling|wording))\b[^\n:]{0,200}(?::|\n)"
    r"|^[^\n]{0,120}\b(?:this|that|the following|my|the) (?:\w+ )?(?:letter|e-?mail|mail|text|message|paragraph|bio|article|post|passage|review|essay|note|statement|abstract|reply|comment)\b[^\n]{0,60}[:?]\s*\n"
    r"|^\s*(?:请)?(?:帮我)?(?:翻译|润色|改写|总结|续写|写|修改|改下|改一下)[^\n:：]{0,60}[:：\n]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Found:
    """What has been read so far."""

    claims: list[Claim]
    questions: list[Question]

    def add(self, claim: Claim | None) -> None:
        if claim is not None:
            self.claims.append(claim)

    def read(self, turn: Turn, talk: _Talk) -> Claim | None:
        """Read the claims of one typed turn, none of what it only hands over to be translated or rewritten; gives the one thing it says, if it says but one."""
        content = _CONTENT.match(turn.text)
        before = talk.said if talk.said_by == turn.speaker else None
        here: list[Claim] = []
        last: tuple[Claim, ...] = ()
        for said in utterances(turn):
            if content is not None and said.end > content.end():
                break
            made = tuple(_claims_of(said, replace(talk, said=_one_of(here, last) if here else before)))
            if talk.play:
                made = tuple(replace(c, doubts=(*c.doubts, "role_play")) for c in made if c.subject != (turn.speaker or USER))
            here = [c for c in here if not any(takes_back(ending) and ends(ending, c) for ending in made)]
            last = tuple(c for c in made if not is_ending(c))
            here.extend(made)
        self.claims.extend(here)
        self.questions.extend(_question(c) for c in here if "dangling_reference" in c.doubts)
        said_here = [c for c in here if not is_ending(c)]
        return _one_of(said_here, last) if len(said_here) == 1 else None


def _one_of(here: Sequence[Claim], last: Sequence[Claim]) -> Claim | None:
    """What the last sentence of a message said; None when that was nothing, or several things."""
    return last[0] if len(last) == 1 and last[0] in here else None


def _claims_of(said: Utterance, talk: _Talk) -> Iterator[Claim]:
    """Claims of one sentence, or of the clauses of a long one that gives none as a whole ("…, and I've chosen SQLite as the database")."""
    whole = tuple(_claims_of_part(said, talk))
    yield from whole
    if not whole and said.end - said.start > LONG_SENTENCE and mood_at(said.turn.text[:TURN_MAX], said.start, said.end) is Mood.PLAIN:
        for part in clauses(said):
            if LONG_SENTENCE > part.end - part.start >= CLAUSE_MIN and not dangling(part.text):
                yield from (c for c in _claims_of_part(part, talk) if c.kind in {Kind.FACT, Kind.DECISION})


LONG_SENTENCE = 120
CLAUSE_MIN = 15


def _claims_of_part(said: Utterance, talk: _Talk) -> Iterator[Claim]:
    """What it takes back, and what its cue says it is, else the facts it states."""
    body = body_of(said.text)
    mood = _mood(said, body)
    unsaid = taken_back(said.turn.text[said.start : said.end]) if mood in {Mood.PLAIN, Mood.REQUEST} else None
    if unsaid is not None:
        yield from _unsaid(said, unsaid, talk)
        if (rest := Utterance(turn=said.turn, start=said.start + unsaid.end, end=said.end)).text.strip(" .!。！"):
            yield from _claims_of_part(rest, replace(talk, said=None))
        return
    there = version_there(body) if mood is Mood.PLAIN and said.end - said.start <= QUOTE_MAX else None
    binding = binding_of(body) if there is None else None
    found = tuple(_claims_of_body(said, talk, binding.rest if binding else body, mood))
    if there is not None:  # what is read of the thing itself is this, worse cut
        found = tuple(c for c in found if not c.subject.startswith(there[0]))
    yield from (replace(c, applies_to=binding.to) if binding else c for c in found)
    if there is not None and not any(there[1] in (c.value or "") for c in found):
        yield _version_there(said, *there)
    ending = ending_of(body) if mood in {Mood.PLAIN, Mood.REQUEST} and said.end - said.start <= QUOTE_MAX and not dangling(said.text) else None
    if ending is not None and ending[0].strip():
        yield _over(said, *ending)


def _version_there(said: Utterance, thing: str, version: str) -> Claim:
    """Which version of a thing is there by now."""
    doubts = ("dangling_reference",) if dangling(said.text) else ()
    return Claim(
        kind=Kind.FACT, subject=thing, attribute="version", statement=_dated(said.turn, statement_of(said.text)), value=version, cardinality="single",
        quotes=(said.quote,), standing_mark=said.turn.memory, doubts=doubts,
    )  # fmt: skip


def _over(said: Utterance, what: str, kind: Kind) -> Claim:
    """That something is released, done or cancelled: no note, it ends those that are about it."""
    return Claim(
        kind=kind, subject=what, attribute=ENDED, statement=statement_of(said.text), cardinality="single",
        quotes=(said.quote,),
    )  # fmt: skip


def _unsaid(said: Utterance, found: TakenBack, talk: _Talk) -> Iterator[Claim]:
    """That a person takes back what they name, or the one thing they said before: no note either."""
    shown = said if said.end - said.start <= QUOTE_MAX else Utterance(turn=said.turn, start=said.start, end=min(said.start + QUOTE_MAX, said.start + found.end))
    what = found.what or (talk.said.statement if talk.said is not None else "")
    if what:
        quotes = (shown.quote,) if found.what or talk.said is None else (shown.quote, *talk.said.quotes)
        yield Claim(
            kind=Kind.DECISION, subject=what, attribute=ENDED, statement=statement_of(shown.text), cardinality="single", negated=True, quotes=quotes,
        )  # fmt: skip


def _claims_of_body(said: Utterance, talk: _Talk, body: str, mood: Mood) -> Iterator[Claim]:
    """What the cue of a sentence's body says it is, else the facts it states."""
    cue = cue_of(body, mood, memory=said.turn.memory, corrects=said.turn.corrects is not None, first=talk.first, marked=standing_mark(said.text))
    facts = facts_in(body, speaker=said.turn.speaker) if _may_state(body, mood, cue) else ()
    command = stated_command(body) if mood in {Mood.PLAIN, Mood.REQUEST} else None
    if command is not None and said.end - said.start <= QUOTE_MAX:
        yield _told_command(said, command)
    elif facts:
        yield from (claim for fact in facts if (claim := _fact(said, fact, talk.before)) is not None)
    elif cue is not None and not _idle(said, cue, talk):
        yield _cued(said, cue, body)
    elif mood is not Mood.QUESTION and (said.turn.memory or (mood is Mood.PLAIN and asks_to_remember(said.text))):
        yield _cued(said, Cue(kind=Kind.FACT, standing=True), body)


def _idle(said: Utterance, cue: Cue, talk: _Talk) -> bool:
    """Orders that are no rule: advice among people, and what points at the moment ("this should be faster")."""
    if cue.kind is not Kind.RULE:
        return False
    return (talk.among_people and not said.turn.memory) or (not cue.standing and dangling(said.text))


def _mood(said: Utterance, body: str) -> Mood:
    """The mood of the sentence where it stands, or of its words without their lead-in when that is stricter ("Instead stage …" is a request)."""
    mood = mood_at(said.turn.text[:TURN_MAX], said.start, said.end)
    return mood if mood is not Mood.PLAIN else mood_of(body)


def _told_command(said: Utterance, command: Part) -> Claim:
    """How something is done, in the person's own words ("To restore a backup, run `pay restore`")."""
    return Claim(
        kind=Kind.PROCEDURE, subject=core_of(command), attribute="command", statement=statement_of(said.text), value=command.text, quotes=(said.quote,),
        standing_mark=said.turn.memory, doubts=("dangling_reference",) if dangling(said.text) else (),
    )  # fmt: skip


def _may_state(body: str, mood: Mood, cue: Cue | None) -> bool:
    """Whether the sentence is a plain statement, not an order, a hold or a taste that only looks like one."""
    if mood in {Mood.PLAIN, Mood.REQUEST} and any(f.attribute in {"called", "name"} for f in personal_facts(body)):
        return True
    if mood is Mood.PLAIN and ("llerg" in body or "过敏" in body) and any(f.attribute == "allergy" for f in personal_facts(body)):
        return True  # "keep nuts out of it, I'm allergic": the order rests on a fact
    if mood is Mood.PLAIN and _OWN_THING.match(body) and personal_facts(body):
        return True
    ordered = cue is not None and cue.kind in {Kind.RULE, Kind.HOLD, Kind.PREFERENCE, Kind.GOAL}
    return mood is Mood.PLAIN and not ordered and not is_order(body) and not is_directive(body)


_OWN_THING = re.compile(r"my (?:preferred|favou?rite|usual|go-to) \w+ (?:is|was|has)\b|用的(?!时候|话)", re.IGNORECASE)
"""A taste told as what the speaker has ("my preferred airline is …"); what one uses, which is no order to use it (用的小米14)."""


def _fact(said: Utterance, fact: Fact, before: str) -> Claim | None:
    """The claim of a fact; None when its value is a relative date whose day cannot be told."""
    value = _dated_value(said.turn, fact.value)
    if fact.value is not None and value is None:
        return None
    needed = [v for v in (fact.value, fact.old_value) if v]
    short = shortened(said, needed)
    shown = short or _opening(said)
    named = named_before(fact, before) if fact.unnamed else fact
    doubts = ["dangling_reference"] if named is None else []
    fact = named or fact
    if short is None:
        doubts.append("run_on")
    if dangling(fact.value or "") or (not fact.whole and fact.subject != (said.turn.speaker or USER) and dangling(without_reason(shown.text))):
        doubts.append("dangling_reference")
    shown = _with_reason(shown)
    return Claim(
        kind=Kind.FACT,
        subject=fact.subject,
        attribute=fact.attribute,
        qualifier=fact.qualifier,
        statement=_dated(said.turn, statement_of(shown.text)),
        quotes=(shown.quote,),
        value=value,
        negated=fact.negated,
        cardinality="single" if fact.single else "set",
        old_value=fact.old_value,
        reason=_reason(shown, fact.reason) if not value or value not in (told_first(shown.text) or "") else None,  # it is the reason of something else
        standing_mark=said.turn.memory,
        valid_until=_until(said.turn, fact, shown.text),
        doubts=tuple(dict.fromkeys(doubts)),
    )


def _until(turn: Turn, fact: Fact, words: str) -> datetime | None:
    """When a deadline or appointed day is over, or what is said to hold until a day, where the year can be told."""
    if fact.attribute != "date" and (over := deadline_in(words, turn.at, turn.zone)):
        return over
    mentions = resolve_dates(fact.value or "", turn.at, turn.zone) if fact.attribute == "date" else ()
    return mentions[0].until if len(mentions) == 1 and turn.at is not None and mentions[0].until > turn.at else None


def _dated(turn: Turn, statement: str) -> str:
    """The statement with the day behind each relative date ("last month (2026-10)"), where the turn's time tells it."""
    for mention in reversed(resolve_dates(statement, turn.at, turn.zone)):
        if mention.relative:
            statement = f"{statement[: mention.end]} ({mention.iso}){statement[mention.end :]}"
    return statement


def _dated_value(turn: Turn, value: str | None) -> str | None:
    """The value, a relative date as its day; None when that day cannot be told."""
    if value is None or not any(v.kind == "relative" for v in typed_values(value)):
        return value
    mentions = resolve_dates(value, turn.at, turn.zone)
    whole = len(mentions) == 1 and value[mentions[0].start : mentions[0].end].strip() == value.strip()
    return mentions[0].iso if whole else None


def _cued(said: Utterance, cue: Cue, body: str) -> Claim:
    shown = _own_clause(said, cue)
    doubts = [*cue.doubts]
    if shown is None:
        shown = _opening(said)
        doubts.append("run_on")
    if dangling(shown.text):
        doubts.append("dangling_reference")
    read = parse(body_of(shown.text), speaker=said.turn.speaker)
    told = cue.kind in {Kind.PREFERENCE, Kind.DECISION, Kind.FACT} or (cue.kind is Kind.RULE and (read.old_value is not None or read.attribute == WRITTEN_IN))
    slotted = told and read.form is Form.SLOT and _whole_value(read)
    words = " ".join(w for w in read.words if w not in _POLAR)
    own = cue.kind is Kind.PREFERENCE or (cue.kind is Kind.GOAL and body.startswith(("My ", "my ", "我的")))
    shown = _with_reason(shown)
    return Claim(
        kind=cue.kind,
        subject=(read.subject if slotted and read.subject and not own else "") or (said.turn.speaker or USER if own else PROJECT),
        attribute=(read.attribute if slotted else words) or body,
        qualifier=read.qualifier,
        statement=_dated(said.turn, statement_of(shown.text)),
        quotes=(shown.quote,),
        value=read.value if slotted else None,
        negated=read.negated,
        cardinality=read.cardinality if slotted else "single",
        old_value=read.old_value if slotted else None,
        reason=_reason(shown, read.reason),
        standing_mark=cue.standing,
        valid_until=deadline_in(shown.text, said.turn.at, said.turn.zone),
        doubts=tuple(dict.fromkeys(doubts)),
    )


WRITTEN_IN = "written in"
"""The language of a thing: of two rules on one thing the later one holds."""


def _whole_value(read: Statement) -> bool:
    """Whether the value read is all that the sentence says of it: nothing but a reason, an alternative or the end stands behind."""
    if not read.value or len(read.value.split()) > 6:
        return False
    behind = read.text.partition(read.value)[2]
    return (
        read.value in read.text
        and re.match(
            r"\s*[\"'”’)`*]*\s*(?:[.!;。！；]|$|,?\s*(?:because|since|over|instead|rather|not|now|from now|going forward|please|for|as)\b|[，,]?因为|写|编写)",
            behind,
        )
        is not None
    )


_POLAR = frozenset(
    """always alway never don't dont do not no must mustn't should shouldn't shall cannot can't avoid stop make sure ensure need to from on
    now going forward ever will would want remember instead 必须 务必 一律 不要 不用 禁止 别 永远 始终 每次 都 不 以后 今后 从现在起 记住""".split()
)
"""Words that order, forbid or mark as standing: left out of what a rule is about, so that "never use npm" and "use npm" are about one thing."""


def _own_clause(said: Utterance, cue: Cue) -> Utterance | None:
    """The sentence if it can be quoted whole, else the one clause that carries the same cue."""
    if said.end - said.start <= QUOTE_MAX:
        return said
    same = [c for c in clauses(said) if c.end - c.start <= QUOTE_MAX and _kind_of(c) is cue.kind]
    return same[0] if len(same) == 1 else None


def _kind_of(part: Utterance) -> Kind | None:
    body = body_of(part.text)
    found = cue_of(body, _mood(part, body), memory=part.turn.memory, corrects=part.turn.corrects is not None, first=True)
    return found.kind if found is not None else None


def _opening(said: Utterance) -> Utterance:
    """The first words of a run-on, as many as a quote may hold."""
    text = said.turn.text
    end = min(said.end, said.start + QUOTE_MAX)
    while end < said.end and end > said.start + 1 and not text[end - 1].isspace() and text[end - 1].isascii():
        end -= 1
    return Utterance(turn=said.turn, start=said.start, end=max(end, said.start + 1))


_REASON_FOLLOWS = re.compile(
    r"[\s.!,;。！，]*(?:(?:(?:(?:i|we)(?:'ve)? (?:just |only )?(?:moved|switched|changed|left|went|did (?:it|that|so|this)) )?because|the reason|due to|it's because|that's because)\b|(?:my )?reason:|因为|由于|是因为)[^.!?。！？\n]{3,160}",
    re.IGNORECASE,
)


def _with_reason(shown: Utterance) -> Utterance:
    """The stretch with the next sentence when that is nothing but its reason ("… The reason is that the rent doubled.") and both fit a quote."""
    text = shown.turn.text
    found = _REASON_FOLLOWS.match(text, shown.end)
    if found is None or found.end() - shown.start > QUOTE_MAX or shown.turn.origin_of(shown.start, found.end()) is not Origin.USER:
        return shown
    return Utterance(turn=shown.turn, start=shown.start, end=found.end())


def _reason(shown: Utterance, read: str | None) -> str | None:
    """The person's own reason, if the quoted stretch holds it."""
    own = reason_in(shown.text) or read
    return own if own is not None and own in shown.text else None


def _question(claim: Claim) -> Question:
    return Question(text=f"What does this refer to: {claim.statement}", quotes=claim.quotes)
