"""What of a turn's own words is shown to somebody who searches.

A quarantined note or claim is shown nowhere, and a turn that holds its words is not found (gate 4). The other turns are data under the name of whoever speaks,
and an agent reads them. The rule, sentence by sentence, for what no user said:

1. Left out: what speaks past the user or hides, orders an act of consequence, sets a standing order or a norm for people or agents, waives a check, says
   what a user wants, and, from outside, whatever speaks of money, permissions or credentials.
2. Shown, as the words of the tool or page they are: what is an order or a norm in form only. A step of a plan ("Add attributes:"), an error ("`title` is
   required"), how a function behaves ("never raises"): nobody is told what to do from now on, and nothing of consequence is asked. English only, the
   language tools speak; in others the form alone is enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.model import Origin
from pipelines.text.sentences import sentences

from .grave import grave, of_consequence
from .instruction import ordering, orders, pieces
from .norms import normative
from .orders import addressed, takeover
from .sensitive import sensitive
from .unveil import hidden_texts, plainly

LEFT_OUT = "[…]"
"""Stands where words were left out that may not be shown."""
# Norms in form: how a thing behaves, what a value has to be, a type of TypeScript.
_DESCRIBED = re.compile(
    r"(?:if|when|whether|what|why|where|once|no|information|everything|all) (?:do )?(?:you|i|we)?(?:'ll| would)? ?need to(?![a-z])"
    r"|(?:(?:to|must|will|can|can't|cannot|would|may|should|not) )?(?<![a-z])(?:always|never)(?=[ -](?:[a-z]+(?:s|ed|ing)|be|been|block|raise|fail|crash|truthy|true|false|null)(?![a-z]))"
    r"|(?:will|can|would|to) (?:always|never)(?= [a-z])|(?:[:|=?,]|extends) *never(?= *(?:[;,|)}\]:=]|$))"
    r"|(?<![a-z])(?:must|shall|ha(?:s|ve|d) to|needs? to|(?:is|are) (?:required|expected|supposed|allowed|permitted|free)(?: to)?)(?![a-z])",
    re.I,
)
_PEOPLE = re.compile(
    r"(?<![^\W\d_])(?:you|agents?|assistants?|bots?|claude|codex|gemini|copilot|chatgpt|gpt|ai|llms?|models?|every(?:one|body)|any(?:one|body)|nobody|teams?|compan(?:y|ies)"
    r"|developers?|engineers?|maintainers?|contributors?|operators?|users?|customers?|members?|humans?|owners?|admins?|people|persons?|staff)(?![^\W\d_])",
    re.I,
)


def without_orders(text: str, origin: Origin, quoted: Sequence[tuple[int, int]] = ()) -> str:
    """The words of a turn as they may be shown to somebody who searches, by the rule above. `quoted` are the spans of a typed text that the person only repeats."""
    if origin is Origin.USER and not quoted:
        return text
    out, at = [], 0
    for span in sentences(text):
        who = Origin.QUOTED if origin is Origin.USER and any(span.start < end and start < span.end for start, end in quoted) else origin
        if who is not Origin.USER and any(_withheld(piece, who) for piece in pieces(span.of(text))):
            out += [text[at : span.start], LEFT_OUT]
            at = span.end
    return "".join((*out, text[at:]))


def _withheld(text: str, origin: Origin) -> bool:
    plain = plainly(text)
    if takeover(plain) or any(ordering(hidden) for hidden in hidden_texts(text)) or (origin is Origin.EXTERNAL and sensitive(plain)):
        return True
    return orders(plain, origin) and (origin is Origin.ASSISTANT or grave(plain) or not _in_form_only(plain))


def _in_form_only(text: str) -> bool:
    """Whether nothing of an order is left once the forms of description are taken off: no standing word, nobody told, nothing of consequence."""
    if of_consequence(text) or any(ch.isalpha() and not ch.isascii() for ch in text):
        return False
    rest = _DESCRIBED.sub(" ", text)
    if addressed(rest) or normative(rest):
        return False
    return rest == text or not _PEOPLE.search(rest)
