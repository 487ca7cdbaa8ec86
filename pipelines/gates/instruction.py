"""Gate 4: text that orders the reader about, and that no user said, is quarantined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipelines.model import Claim, GateResult, Kind, Origin, Outcome, Turn

from .evidence import Located, folded, located, result
from .grave import grave
from .norms import normative, waiving
from .orders import addressed, imperative, takeover
from .unveil import READ_MAX, has_override, hidden_texts, plainly

ORDERS_READER = "orders_reader"
_OVERLAP = 500
"""Characters two neighbouring pieces of a long text share, so that no order is cut in two."""


def instruction_gate(claim: Claim, turns: Mapping[str, Turn]) -> GateResult:
    """QUARANTINE a claim whose quotes, or whose own words beyond them, give orders that no user gave.

    What a user typed may order: that is what a rule is. It is held only when orders are hidden in it, since nobody types what cannot be seen.
    Everybody else's text is held when it orders in any form; a model's own only when it tells its reader how to behave, and the output of a command
    only for what makes a claim of it (an error may well say "you must specify a remote").
    """
    found = located(claim, turns)
    for why in (*_quotes(claim, found), *_own_words(claim, found)):
        return result("instruction", Outcome.QUARANTINE, why)
    return result("instruction")


def _quotes(claim: Claim, found: Sequence[Located]) -> Iterator[str]:
    for one in found:
        around = _around(one)
        if any(ordering(text) for text in hidden_texts(around)):
            yield "hidden_instruction"
        if one.origin is Origin.USER:
            if has_override(one.quote.text):
                yield "hidden_characters"
            continue
        plain = plainly(one.context)
        if has_override(one.quote.text) and ordering(plain):
            yield "hidden_characters"
        if takeover(plain):
            yield "takeover"
        if one.origin is Origin.TOOL and claim.kind is Kind.PROCEDURE:
            continue
        if orders(plain, one.origin):
            yield ORDERS_READER


def _around(one: Located) -> str:
    """The quote's sentences, and the comment they stand in when the quote was cut out of one."""
    text = one.turn.text
    opened = text.rfind("<!--", 0, one.quote.start)
    if opened >= 0 and text.find("-->", opened, one.quote.start) < 0:
        closed = text.find("-->", one.quote.end)
        return text[opened : closed + 3 if closed >= 0 else len(text)]
    return one.context


def _own_words(claim: Claim, found: Sequence[Located]) -> Iterator[str]:
    """The claim's own fields, as far as no user said them."""
    said = [folded(one.quote.text) for one in found if one.origin is Origin.USER]
    own = all(one.origin is Origin.ASSISTANT for one in found)
    fields = (claim.statement, claim.subject, claim.attribute, claim.qualifier, claim.value, claim.old_value, claim.reason, claim.applies_to)
    for text in fields:
        if not text or any(folded(text) in user for user in said):
            continue
        plain = plainly(text)
        if takeover(plain) or any(ordering(hidden) for hidden in hidden_texts(text)):
            yield "takeover"
        if not said and claim.kind is not Kind.PROCEDURE and not _one_word(plain) and orders(plain, Origin.ASSISTANT if own else Origin.EXTERNAL):
            yield ORDERS_READER


def _one_word(text: str) -> bool:
    """Whether a text is one Latin word: the name of a thing (export, backup), which is no order even where it is a verb too."""
    return text.isascii() and text.strip().isalnum()


def orders(text: str, origin: Origin) -> bool:
    """Whether the words of somebody who is not the user tell what to do: any order or norm; of a model's own, which ask and advise all day, only what tells
    its reader how to behave from now on or waives a check."""
    if origin is Origin.ASSISTANT:
        return addressed(text) or waiving(text)
    return addressed(text) or normative(text) or imperative(text) or grave(text)


def ordering(text: str) -> bool:
    """Whether a text that somebody hid gives any order or sets any norm at all."""
    return takeover(text) or addressed(text) or normative(text) or imperative(text) or grave(text)


def held(text: str) -> str:
    """Why words that are no claim (a note, a question, a name, a commit's subject) may stand in no file; "" when they may.

    Notes and questions may order, that is what rules are; none speaks past the user to the machine, or hides what it says.
    """
    return next((why for piece in pieces(text) if (why := _held(piece))), "")


def held_unless_said(text: str) -> str:
    """As `held`, for words quoted from somebody who is not the user: they may not tell their reader what to do either."""
    return held(text) or next((ORDERS_READER for piece in pieces(text) if addressed(plain := plainly(piece)) or normative(plain) or grave(plain)), "")


def pieces(text: str) -> Iterator[str]:
    """The text in parts as long as is read at once, which overlap so that no order is cut in two."""
    for start in range(0, max(1, len(text)), READ_MAX - _OVERLAP):
        yield text[start : start + READ_MAX]


def _held(text: str) -> str:
    plain = plainly(text)
    if takeover(plain):
        return "takeover"
    if any(ordering(hidden) for hidden in hidden_texts(text)):
        return "hidden_instruction"
    return "hidden_characters" if has_override(text) and ordering(plain) else ""
