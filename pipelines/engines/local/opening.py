"""What a session was about in the person's first words: those that ask for something, past greetings, headings and pasted text."""

# Full-width characters are data here.

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from pipelines.engines.local.ending import word_end
from pipelines.engines.local.speech import Utterance, body_of, prose, utterances
from pipelines.model import Origin, Quote, Turn
from pipelines.text.sentences import Span, sentences
from pipelines.text.words import has_cjk

OPENING_MAX = 120
READ_MAX = 4000
"""Characters of a pasted document that are looked through for words of its person."""
WORDS_MIN, LETTERS_MIN, DOCUMENT_WORDS_MIN = 2, 4, 8
"""Characters that say something: in Chinese and its kin, in other writings, in a line of a document."""

_NAME = r"(?:[\s,，]+(?!to\b|the\b|a\b|can\b|please\b)[\w@.-]{1,40}){0,2}"
_GREETING = re.compile(
    r"\W*(?:(?:hi|hiya|hello|hey|yo|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|servus|guten (?:morgen|tag|abend)|hola|buenos d[ií]as"
    r"|buenas(?: tardes| noches)?|bonjour|bonsoir|salut|coucou|ciao|buongiorno|ol[aá]|oi|bom dia|boa (?:tarde|noite)|hej|hei|cześć|привет|здравствуй(?:те)?"
    r"|добрый (?:день|вечер)|доброе утро|مرحبا|أهلا|السلام عليكم|שלום|היי|नमस्ते|merhaba|selam|xin chào)(?: there| all| again| everyone| team)?"
    rf"{_NAME}|(?:how are you|how's it going|what's up|are you there|wie geht's|cómo estás|ça va|как дела)[\w\s]{{0,20}}"
    r"|(?:你好|您好|大家好|嗨|哈喽|哈囉|早上好|早安|下午好|晚上好|在吗|在嗎|こんにちは|こんばんは|おはよう(?:ございます)?|もしもし|안녕(?:하세요|하십니까)?)[呀啊吗嗎]?"
    r"|(?:yes|ok(?:ay)?|thanks|thank you|continue|proceed|go (?:on|ahead)|carry on|test(?:ing)?|ping|继续|繼續|好的?))\W*",
    re.IGNORECASE,
)  # fmt: skip
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]*|\*\*|__)$")


class _Says(IntEnum):
    """How much the first words of a prompt say of what was asked, most first."""

    ASKED = 0
    HEADING = 1
    NOTHING = 2


def opening(prompts: Sequence[Turn]) -> tuple[Quote, bool] | None:
    """The first words that ask for something, at most 120 characters, and whether their sentence goes on; headings and greetings only where nothing else was
    typed, and None where nothing was."""
    rest: dict[_Says, tuple[Quote, bool]] = {}
    for turn in prompts:
        for says, start, end in _candidates(turn):
            if says is _Says.ASKED:
                return _begin(turn, start, end)
            rest.setdefault(says, _begin(turn, start, end))
    return rest[min(rest)] if rest else None


def _candidates(turn: Turn) -> Iterator[tuple[_Says, int, int]]:
    """What a prompt says, in order; of a long document what nobody else wrote, of pasted text its first line."""
    said = [(u.start, u.end) for u in utterances(turn) if _long_enough(u)] or _of_document(turn, prose(turn.text[:READ_MAX]))
    yield from ((_says(turn, start, end), start, end) for start, end in said)
    if not said:
        yield from ((_Says.NOTHING, start, end) for start, end in _of_document(turn, sentences(turn.text[:READ_MAX]))[:1])


def _long_enough(said: Utterance) -> bool:
    body = body_of(said.text)
    return len(body) >= (WORDS_MIN if has_cjk(body) else LETTERS_MIN)


def _of_document(turn: Turn, spans: Iterable[Span]) -> list[tuple[int, int]]:
    return [(s.start, s.end) for s in spans if s.end - s.start >= DOCUMENT_WORDS_MIN and turn.origin_of(s.start, s.end) is Origin.USER]


def _says(turn: Turn, start: int, end: int) -> _Says:
    if _GREETING.fullmatch(turn.text[start:end]):
        return _Says.NOTHING
    line = turn.text.rfind("\n", 0, start) + 1
    return _Says.HEADING if _HEADING.match(turn.text[line:start]) or _all_bold(turn.text[start:end]) else _Says.ASKED


def _all_bold(words: str) -> bool:
    return re.fullmatch(r"(\*\*|__)[^*_]+\1:?", words) is not None


def _begin(turn: Turn, start: int, end: int) -> tuple[Quote, bool]:
    most = min(end, word_end(turn.text, start, OPENING_MAX))
    return Quote(turn=turn.uid, start=start, end=most, text=turn.text[start:most]), most < end
