"""Who is speaking in a turn, and what of it may be quoted: the sentences a person typed, with exact offsets.

A user's message also carries what was pasted: logs, stack traces, code, tables, whole documents, context a program put in front. None of that is the
person's word, so none of it leaves this module. What is left is cut into sentences and, for statements, to at most 160 characters at the sentence's
own punctuation.
"""

# Full-width characters are data here.

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.model import Origin, Quote, Role, Turn
from pipelines.text.openers import BACK_TO_WORK, OPENERS, answered, answers
from pipelines.text.sentences import Span, sentences
from pipelines.text.words import is_cjk

QUOTE_MAX = 160
DOCUMENT_MIN = 1_500
"""Characters from which a message made of lists, headings and tables counts as a pasted document."""
SENTENCES_MAX = 14
"""A long message of more sentences than this was written elsewhere and pasted."""
SENTENCE_MAX = 2_000
"""Characters of a sentence that is read; what is longer has no punctuation to cut it at."""
SHAPE_MAX = 400
"""Characters of a line that tell whether a person or a machine wrote it; bounds the work of the patterns."""
TURN_MAX = 20_000
"""Characters of a message that are read; nobody types more by hand."""

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_IN_QUOTES = re.compile(r'(?P<m>"""|\'\'\'|“|")(?P<said>[^"“”]{12,}?)(?:(?P=m)|”)', re.DOTALL)
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_IDE_CONTEXT = re.compile(r"\A\s*# Context from my IDE setup:.*?^## My request for Codex:[ \t]*$", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_MACHINE_LINE = re.compile(
    r"^\s*(?:at\s+\S+.*[:(]\S*\d+\)?\s*$|File \".*\", line \d+|Traceback \(most|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\[\w+\]\s|(?:\w+:)?\s*(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b"
    r"|[$%#]\s+\w+|\w[\w.]*(?:Error|Exception)\b\s*:|(?:npm|pnpm|yarn) (?:ERR|error|warn)|error(?:\[\w+\])?: |warning: |fatal: |\+\+\+ |--- |@@ |diff --git"
    r"|(?:import|from|export|const|let|var|def|class|function|return|public|private|package|#include|SELECT|INSERT|UPDATE|CREATE)\s.*[;{}()=\"']"
    r"|[\w.-]+\.\w{1,5}:\d+|[{}\[\]();,<>|=+*/\\-]+\s*$|\|.*\||\"?[\w-]+\"?\s*[:=]\s*[\[{\"'])"
)
_LISTED = re.compile(r"^\s*(?:[-*+•]\s|\d+[.)、]\s|#{1,6}\s|\||\[[ x]\])")
_TERMINAL = tuple(".!?:;。！？：；…")
_WRAP_MIN = 30
_BREAK = re.compile(r"\s*\n\s*")
_LETTER = re.compile(r"(?<=\n)[ \t]*(?:Dear|To whom it may concern|Sehr geehrte|亲爱的|尊敬的)[^\n]{0,60}[,:，：]?[ \t]*\n.*", re.DOTALL)
_PLAIN_WORD = re.compile(r"[a-z]+[,:']?[a-z]*")
_SPACES = re.compile(r"\s+")
_WORDS = re.compile(r"[\w./@#-]+")
_THIRD_PERSON = re.compile(r"\s+\w+s\b")
_EXISTS = re.compile(r"\s+(?:is|are|was|were|will|must|should|has|have)\b", re.IGNORECASE)
_PLACED = re.compile(r"\b(?:live|lived|moved|stay|born|over|out|in|from)\s*$", re.IGNORECASE)
_LINES = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A stretch of a turn that its person typed: one sentence, or a part of one cut at its own punctuation."""

    turn: Turn
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words as typed, line breaks folded to a space."""
        return _BREAK.sub(" ", self.turn.text[self.start : self.end])

    @property
    def quote(self) -> Quote:
        """The same stretch, verbatim."""
        return Quote(turn=self.turn.uid, start=self.start, end=self.end, text=self.turn.text[self.start : self.end])


def typed(turn: Turn) -> bool:
    """Whether a person typed this turn in the main conversation."""
    return turn.origin is Origin.USER and turn.role is Role.USER and not turn.sidechain and turn.call is None and turn.result is None


def handed_in(turn: Turn) -> bool:
    """Whether an agent asked by itself that this be remembered: read like a person's words, and believed like an agent's."""
    return turn.memory and turn.origin is Origin.ASSISTANT and not turn.sidechain


def utterances(turn: Turn) -> tuple[Utterance, ...]:
    """The sentences the person typed, or an agent asked to remember, in order; none for a turn of anybody else or a pasted document."""
    text = turn.text[:TURN_MAX]
    if not (typed(turn) or handed_in(turn)) or _is_document(text):
        return ()
    pasted = tuple(_pasted(text))
    spans = [s for s in _unwrapped(text, _plain_sentences(text, pasted)) if turn.origin_of(s.start, s.end) is turn.origin]
    return tuple(Utterance(turn=turn, start=s.start, end=s.end) for s in spans if _is_prose(s.of(text)))


def prose(text: str) -> Iterator[Span]:
    """The sentences of any text that touch nothing pasted and read as such, however long it is."""
    return (s for s in _plain_sentences(text, tuple(_pasted(text))) if _is_prose(s.of(text)))


def clauses(said: Utterance) -> tuple[Utterance, ...]:
    """The parts of a sentence between its own semicolons, dashes, and commas before a new clause; the sentence itself when it has none."""
    text = said.turn.text[said.start : said.end]
    parts: list[Utterance] = []
    at = 0
    for cut in _CLAUSE.finditer(text):
        parts.append(Utterance(turn=said.turn, start=said.start + at, end=said.start + cut.start()))
        at = cut.end()
    parts.append(Utterance(turn=said.turn, start=said.start + at, end=said.end))
    return tuple(p for p in map(_trimmed, parts) if p is not None)


_CLAUSE = re.compile(
    r"\s*(?:;|；|\s[—–-]{1,2}\s|\.{2,}|…+)\s*|,\s+(?=(?:and|but|so|also|then|because|since|as)\s)|[，,](?=(?:但|所以|然后|而且|并且|因为|另外))\s*"
)


def shortened(said: Utterance, needed: Sequence[str]) -> Utterance | None:
    """The sentence when it fits a quote, else its one clause that fits and holds all of `needed`; None for a run-on."""
    if said.end - said.start <= QUOTE_MAX:
        return said
    fitting = [c for c in clauses(said) if c.end - c.start <= QUOTE_MAX and all(n.casefold() in c.text.casefold() for n in needed)]
    return fitting[0] if len(fitting) == 1 and needed else None


def statement_of(text: str) -> str:
    """The words as a sentence of its own: `body_of` with a capital letter where it opens with a plain word."""
    shown = _TRAILING_DOTS.sub("", body_of(text))
    first = shown.split(" ", 1)[0]
    return shown[:1].upper() + shown[1:] if first.isascii() and _PLAIN_WORD.fullmatch(first) else shown


_TRAILING_DOTS = re.compile(r"\s*(?:\.{2,}|…+)$")


def body_of(text: str) -> str:
    """The words without what only links them to the talk ("no, ", "ok so", "please"), an answer to oneself as a statement; nothing else changed."""
    shown = _SPACES.sub(" ", text).strip(" \t\n-–—*•")
    previous = ""
    while shown != previous:
        previous = shown
        if bracketed := _ALL_IN_BRACKETS.fullmatch(shown):
            shown = bracketed[1]
        shown = BACK_TO_WORK.sub("", shown) or shown
        shown = _LEAD.sub("", shown, count=1) or shown
        shown = _TAIL.sub("", shown) or shown
    return answered(shown)


_LEAD = re.compile(
    r"^(?:no(?=[,.!:;–—-]|\s+(?:the|it|it's|that|that's|we|i|use|you|don't|please)\b)[\s,.!:;–—-]+|(?:nope|nah|yes|yeah|yep|yup|ok|okay|so|and|but|also|actually|hey|hi|instead(?! of)|please|pls|plz|oh|ah|hmm+|sure|great|nice|thanks|thank you|sorry|anyway"
    rf"|remember that|remember to|{OPENERS})(?![\w'])(?!\s+(?:one|longer|more|way|idea|to|not|worries|matter|far|that|as)\b)[\s,.!:;–—-]+"
    r"|(?!picture|imagine|suppose|say\b|what if|in another|pretend|if\b)[A-Za-z' ]{3,40}:\s+(?=(?:I|I'm|im|I've|My|We|We've|Our|The|Remember|Always|Never|From now)\b)"
    r"|(?:well|right|alright|hello|wait|then|look|listen|instead|note|reminder|remember|cool|perfect|good|correction|update)\b\s*[,.!:;–—]+\s*"
    r"|(?:不对|不是的|不，|不,|好的|好|对了|哦对|哦还有|另外|还有个事|还有|请记住|记住|记一下哈?|跟你说一下|顺便(?:说|提)(?:一下|一句)|顺便|说起来|提醒(?:一句|一下)|插一句|嗯嗯|嗯|多谢|谢啦|谢谢|备注|那么|麻烦|请)(?:[，,：:。！!\s]+|(?=\S))[，,：:。！!\s]*"
    r"|(?:你好|您好|大家好|哈喽|嗨|早上好|下午好|晚上好)(?:呀|啊)?[，,。！!\s]+)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[,，]\s*(?:很高兴认识(?:你|您|大家)|请多多?关照|请多指教|(?:it's )?(?:nice|pleased|great|good) to meet you)|(?:[\s,]+(?:please|pls|plz|thanks|thank you|thx|ok|okay|tbh|btw|fyi|lol|haha+|:\)|;\)|😊|🙂))+)[\s.!。！]*$",
    re.IGNORECASE,
)
_ALL_IN_BRACKETS = re.compile(r"\(([^()]{8,})\)[.!]?")


def dangling(text: str) -> bool:
    """Whether the sentence points at something it does not name ("don't do that", "it must be there", 它)."""
    plain = body_of(text)
    if _DANGLING_ZH.search(plain):
        return True
    return any(_unnamed(plain, found) for found in _POINTER.finditer(plain))


_POINTER = re.compile(
    r"\b(?:this|that|these|those|it|its|it's|them|they|they're|there|here|he|she|him|his|her|both|the same|the (?:other|former|latter|above)|above|below)\b",
    re.IGNORECASE,
)
_DANGLING_ZH = re.compile(r"^(?:它|它们|这|那|他|她)(?!个?(?:项目|仓库|应用|程序|周|月|年|里))|(?:(?<!都)这样|那样|这么做|那么做|上面|下面的)")
_OF_THE_SCOPE = re.compile(
    r"\s+(?:\w+\s)?(?:project|repo|repository|codebase|app|application|machine|computer|site|website|workspace|wiki|team|company|service|week|month|year|morning|evening|weekend"
    r"|time|summer|winter|spring|fall|autumn|day|days)\b",
    re.IGNORECASE,
)
_COMPLEMENT = re.compile(
    r"\s+(?:is|are|was|were|has|have|can|will|must|should|does|do|did|you|we|i|the|a|an|all|every|no|any|my|our|your|there|it|contains?|ends?|starts?|uses?|needs?|runs?)\b",
    re.IGNORECASE,
)


def _unnamed(text: str, found: re.Match[str]) -> bool:
    word = found.group().casefold()
    before = _WORDS.findall(text[: found.start()])
    after = text[found.end() :]
    if word in {"this", "that", "these", "those"} and _OF_THE_SCOPE.match(after):
        return False
    if word == "that" and before and (_COMPLEMENT.match(after) or _THIRD_PERSON.match(after)):
        return False
    if word == "there" and _EXISTS.match(after):
        return False
    if word in {"here", "there"} and _PLACED.search(text[: found.start()]):
        return True
    named_before = len(before) >= 3 and any(len(w) > 3 for w in before[:-1])
    return not (named_before and word not in {"this", "that", "these", "those", "above", "below", "the above", "the same", "the other"})


def _is_document(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    listed = sum(1 for line in lines if _LISTED.match(line))
    if len(text) < DOCUMENT_MIN:
        return False
    return (len(lines) >= 8 and listed >= 0.3 * len(lines)) or len(sentences(text)) >= SENTENCES_MAX


def _pasted(text: str) -> Iterator[tuple[int, int]]:
    """Spans nobody typed: fences, tagged blocks, `>` lines, IDE context, lines of logs and code."""
    for pattern in (_FENCE, _TAGGED, _IDE_CONTEXT, _QUOTED_LINE, _LETTER):
        yield from (found.span() for found in pattern.finditer(text))
    for found in _IN_QUOTES.finditer(text):
        if "\n" in found["said"] or text[: found.start()].rstrip().endswith((":", "：")):  # shown, not said: a short name in quotes is part of a sentence
            yield found.span()
    for line in _LINES.finditer(text):
        shape = line.group()[:SHAPE_MAX]
        if _MACHINE_LINE.match(shape) or (shape.startswith(("    ", "\t\t")) and not _reads_as_prose(shape)):
            yield line.span()


def _reads_as_prose(line: str) -> bool:
    return len(re.findall(r"[^\W\d_]{2,}", line)) >= 4 and not re.search(r"[{}();=<>]", line)


def _plain_sentences(text: str, pasted: Sequence[tuple[int, int]]) -> Iterator[Span]:
    for span in sentences(text):
        if not any(span.start < b and a < span.end for a, b in pasted):
            yield span


def _unwrapped(text: str, spans: Iterator[Span]) -> Iterator[Span]:
    """Sentences whose lines a terminal or editor wrapped, joined again: the line is long, ends nowhere, and the next goes on in lower case."""
    held: Span | None = None
    for span in spans:
        if held is not None and (_goes_on(text, held, span) or _answers(text, held, span)):
            held = Span(held.start, span.end)
            continue
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held


def _answers(text: str, before: Span, after: Span) -> bool:
    """Whether a few words on the same line answer what the speaker has just asked themselves ("My birthday? 3 May.")."""
    return not text[before.end : after.start].strip(" ") and answers(before.of(text), after.of(text))


def _goes_on(text: str, before: Span, after: Span) -> bool:
    gap = text[before.end : after.start]
    if gap.count("\n") != 1 or gap.strip() or text[before.start : before.end].endswith(_TERMINAL):
        return False
    line_start = text.rfind("\n", 0, before.end) + 1
    wraps = before.end - line_start >= _WRAP_MIN
    return wraps and (text[after.start].islower() or text[after.start] in "@`\"'(/.")


def _is_prose(sentence: str) -> bool:
    """Mostly letters and at least two words (or three Chinese characters): a sentence, not a fragment of data."""
    if len(sentence) > SENTENCE_MAX:
        return False
    dense = _SMILEY.sub("", _SPACES.sub("", sentence))
    if not dense or dense.endswith((";", "{", "(", '",', "=>")) or "=>" in dense:
        return False
    if _LABELLED_ZH.match(dense):
        return True
    return sum(ch.isalpha() for ch in dense) >= 0.5 * len(dense) and (len(sentence.split()) >= 2 or sum(map(is_cjk, dense)) >= 3)


_SMILEY = re.compile(r"(?<=\w|[,.!?])[:;]-?[()DP]+$")
_LABELLED_ZH = re.compile(r"[\w的]{2,16}：[\w.:/-]{1,24}。?$")
"""A value told under a name (端口：7443。): the full-width colon is typed by people, not printed by programs."""


def _trimmed(said: Utterance) -> Utterance | None:
    text = said.turn.text
    start, end = said.start, said.end
    while start < end and text[start] in " \t\n,;，；":
        start += 1
    while end > start and text[end - 1] in " \t\n,;，；":
        end -= 1
    return Utterance(turn=said.turn, start=start, end=end) if start < end else None
