"""What a person's own note files should say: the corrections of a dream as changes of lines, and the files with them made. Pure; nothing is written here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelines.text.sentences import sentences
from pipelines.text.traces import words_of
from pipelines.text.values import typed_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A note that is wrong: `wrong` is its text, standing on `lines` lines from `line` (1-based) on; `right` is the sentence that holds. Without one the
    words are taken out, since `why`."""

    note: str
    line: int
    lines: int
    wrong: str
    right: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patched:
    """A file with its proposals made, and those that could not be made by code, with the reason."""

    text: str
    made: tuple[Proposal, ...]
    left: tuple[tuple[Proposal, str], ...]


def patched(text: str, proposals: Iterable[Proposal]) -> Patched:
    """The text with every proposal made that can be made without guessing; all else of it stays as it is, to the byte."""
    lines = _LINE.findall(text)
    made, left = [], []
    for proposal in sorted(proposals, key=lambda p: p.line):
        block = "".join(lines[proposal.line - 1 : proposal.line - 1 + proposal.lines])
        changed = (_value_changed(block, proposal) or _sentence_changed(block, proposal)) if proposal.right else _taken_out(block, proposal)
        if changed is None:
            left.append((proposal, "its words stand there in another form, or say more than the one thing: change it by hand"))
            continue
        new = _LINE.findall(changed)
        lines[proposal.line - 1 : proposal.line - 1 + proposal.lines] = [*new, *[""] * (proposal.lines - len(new))]  # later lines keep their numbers
        made.append(proposal)
    return Patched(text="".join(lines), made=tuple(made), left=tuple(left))


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""Lines as Markdown counts them: `str.splitlines` ends one at a form feed and at Unicode's own ends of lines, too."""
_MARK = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?")


def _taken_out(block: str, proposal: Proposal) -> str | None:
    """The block without the words, all of it where it says nothing else; None when they do not stand there as they were read."""
    if block.count(proposal.wrong) != 1:
        return None
    before, _, after = block.partition(proposal.wrong)
    if not after.strip() and _MARK.fullmatch(before):
        return ""
    return f"{before.rstrip(' ')}{after}" if not after.strip() else f"{before}{after.lstrip(' ')}"


def _value_changed(block: str, proposal: Proposal) -> str | None:
    """The block with the one wrong value replaced, the person's wording kept; None when there is not exactly one such value in it, or it says something else
    than what was read."""
    words = iter(words_of(block))
    if not all(word in words for word in words_of(proposal.wrong)):  # in their order: markup and links may stand between
        return None
    old, new = (tuple(v for v in typed_values(text) if v.key[0] not in {"name", "quoted"}) for text in (proposal.wrong, proposal.right))
    was, now = {v.key for v in old}, {v.key for v in new}
    over = tuple(v for v in old if _told_over(proposal.right, proposal.wrong[v.start : v.end]))
    pairs = {
        (proposal.wrong[a.start : a.end], proposal.right[b.start : b.end])
        for a in over or old
        if over or a.key not in now
        for b in new
        if b.key[0] == a.key[0] and b.key not in was
    }
    if len(pairs) != 1:
        return None
    wrong, right = next(iter(pairs))
    return block.replace(wrong, right) if block.count(wrong) == 1 else None


def _told_over(right: str, value: str) -> bool:
    """Whether the right sentence itself says that this value is over ("5433, not 5432", "from 02:00 to 03:10")."""
    before = right.partition(value)[0].rstrip().casefold()
    return right.count(value) == 1 and before.endswith(("not", "from", "instead of", "no longer", "rather than", "\u4e0d\u662f", "\u4ece"))


def _sentence_changed(block: str, proposal: Proposal) -> str | None:
    """The block with its only sentence replaced; None when it says more, or stands there with markup inside."""
    if len(sentences(proposal.wrong)) != 1 or block.count(proposal.wrong) != 1 or _tells_more(proposal):
        return None
    right = proposal.right
    if proposal.wrong[-1:] != right[-1:] and proposal.wrong[-1:].isalnum():
        right = right.rstrip(".\u3002")
    return block.replace(proposal.wrong, right)


def _tells_more(proposal: Proposal) -> bool:
    """Whether the line says more than the one thing that is replaced: it is wrong more than once, or gives several numbers the right sentence says nothing of
    ("Foundry on port 30000, CI on Node 18")."""
    was, now = ({v.key for v in typed_values(text) if v.kind == "number"} for text in (proposal.wrong, proposal.right))
    return len(sentences(proposal.right)) > 1 or len(was - now) > max(1, len(now - was))


def as_diff(path: str, before: str, after: str) -> str:
    """A unified diff, as `patch` and `git apply` read it."""
    return "".join(_ended(difflib.unified_diff(_ended_lines(before), _ended_lines(after), f"a/{path}", f"b/{path}")))


def _ended_lines(text: str) -> list[str]:
    """Lines as `patch` counts them."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _ended(lines: Iterable[str]) -> Sequence[str]:
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
