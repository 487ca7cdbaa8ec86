"""Why something waits, is held back or was not believed, in words for a person who has never read what a gate is.

Codes are what is stored and what `--json` gives; these are what pages, the inbox, reports and the terminal say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_MISSED: Final[Mapping[str, str]] = {
    "said_once": "you said it once; is it meant for good?",
    "not_users_words": "these are not your own words",
    "not_the_users_words": "these are not your own words",
    "not_users_words_alone": "these are not your words alone",
    "only_the_assistant_says_so": "only the agent says so",
    "assistant_only": "only the agent says so",
    "external_only": "only a page or file that was read says so",
    "tool_gives_facts": "the output of a command shows what is so, not what is wanted",
    "not_worded_as_reported": "somebody else says so, and it is told as if it were known",
    "seen_in_one_session": "one session showed it so far",
    "worked_in_one_session": "it worked in one session so far",
    "one_outside_source": "one page or file that was read says so, and nothing else yet",
    "success_not_shown": "nothing in the log shows that it worked",
    "fewer_than_three_pieces_of_evidence": "concluded from fewer than three places in your logs",
    "evidence_from_one_session": "concluded from one session alone",
    "unanswered": "asked and not answered",
    "unproven": "nothing proves it yet",
    "hedged": "it was said with a maybe",
    "reported": "it was passed on from somebody else",
    "completion_without_result": "no result in the log shows that it is done",
    "not_said_of_oneself": "it is not clear of whom it was said",
    "person_unresolved": "it is not clear who is meant",
    "order_changed": "the log puts it the other way round",
    "words_not_in_quote": "the log says it in other words",
    "says_more": "it says more than the log does",
    "condition_dropped": "it leaves out what the log makes it depend on",
    "intention_told_as_state": "the log says it is meant to be, not that it is",
    "made_general": "the log does not say it is always so",
    "subject_not_in_words": "the words in the log do not name what it is about",
    "scope_not_in_words": "the words in the log do not say where it holds",
    "dangling_reference": "it points at something it does not name",
    "run_on": "cut out of a longer sentence",
    "role_play": "it was said in a game or a role",
    "inferred": "concluded, not said",
    "support_unsure": "a second reading could not tell whether the log says so",
    "supportunasked": "no second reading has looked at it yet",
    "not_supported": "a second reading found that the log does not say so",
    "not_asked": "no second reading has looked at it yet",
    "rests_on_a_wrong_note": "it rests on a note that was corrected",
    "failed_since": "it failed since",
    "may_have_changed": "it may have changed since",
    "newer_version_seen": "a newer version was seen",
    "rests_on_a_fallen_note": "what it rests on is not believed any more",
    "its_evidence_was_taken_back": "you took back what speaks for it or against it",
    "evidence_fell": "a place it was concluded from does not hold any more",
    "cites_a_fallen_note": "a note it names is not believed any more",
    "its_command_failed_since": "its command failed since",
}  # fmt: skip
UNPROVEN: Final = "unproven"

_HELD: Final[Mapping[str, str]] = {
    "instruction": "Words that order their reader about and that you did not type",
    "sensitive": "Words of others about money, permissions or passwords",
    "speaker": "Words of one of several people here that need your yes",
}
_WHY_HELD: Final[Mapping[str, str]] = {
    "orders_reader": "it orders its reader about",
    "takeover": "it tries to take over whoever reads it",
    "hidden_instruction": "an order is hidden in it",
    "hidden_characters": "characters nobody can see are hidden in it",
    "sensitive_change": "it speaks of money, permissions or passwords",
    "new_speaker": "it is the rule of somebody who was not heard here before",
}
_PLACES: Final[Mapping[str, str]] = {
    "user": "a typed message",
    "assistant": "what the agent wrote",
    "tool": "the output of a command",
    "external": "a page or file that was read",
    "harness": "what the agent's program put in",
    "instructions": "an instruction file",
    "quoted": "pasted text",
    "model_summary": "a summary the agent wrote",
    "note": "a note file",
    "page": "a page",
}
_REFUSED: Final[Mapping[str, str]] = {
    "quote": "not in the log word for word",
    "follows": "that said more than the log does (misread here: nothing to do)",
    "origin": "not said by you or shown by a result",
    "instruction": "orders nobody typed",
    "sensitive": "on money, permissions or passwords, by others",
    "speaker": "by people who are new here",
    "scope": "of another project",
    "transient": "what a look or a command tells again",
    "doubts": "left in doubt by whoever read it",
}


def missed(code: str) -> str:
    """Why a note is not believed, or to be checked again; "" for no code, and a code that has no words of its own with spaces in it."""
    return _MISSED.get(code, code.replace("_", " "))


def held_text(gate: str, origin: str) -> str:
    """What is held back and where it stands, by no word of it."""
    return f"{_HELD.get(gate, 'Words that need your yes')}, in {_PLACES.get(origin, origin)}"


def why_held(code: str) -> str:
    """Why a text is held back."""
    return _WHY_HELD.get(code, code.replace("_", " "))


def refused(counts: Mapping[str, int]) -> str:
    """How much of what was read was not believed, by gate, most first."""
    ordered = sorted(((n, gate) for gate, n in counts.items() if n), key=lambda pair: (-pair[0], pair[1]))
    return ", ".join(f"{n} {_REFUSED.get(gate, gate)}" for n, gate in ordered)
