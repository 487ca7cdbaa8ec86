"""What the gates make of memories people or models wrote of real conversations: `python -m tests.benchmarks.annotated [--cite N] FILE...` (LoCoMo, HaluMem,
LongMemEval; measuring only).

A LoCoMo file gives observations with the turn each rests on; a HaluMem file gives memory points of a session, some of them planted ("interference"), which are
cited here from the turn of the person that has most of their words; of a LongMemEval file questions whose answer stands in a turn marked for it are told as
statements, a second time with the answer of another question in its place (planted). Each is told by the Claude engine over the sentence of its turn nearest to
it (with `--cite` over as many as hold words the others lack), through the real SDK and a fake server; every fifth one is told of another turn, which does not
say it. Each file is dreamt over twice: with a check of support that says yes to everything, so that what is stopped is stopped by code alone, and with one that
is right. Printed: memories told and, in percent, those believed, held as drafts (said once and meant so is no loss), and refused, with the gates that did; the
same of those that were told of a wrong turn, and of the planted ones.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.engines.claude.client import Provider
from pipelines.gates import SAID_ONCE, first_missed
from pipelines.logs.redaction import open_redactor
from pipelines.model import Outcome
from pipelines.text.sentences import sentences
from pipelines.text.words import content_words
from tests.dreaming import SCOPE
from tests.oracle.followed import plain
from tests.oracle.server import nothing_found, serving
from tests.oracle.wire import Body, Said
from tests.scripted import ModelDesk, asking

NOW = datetime(2040, 1, 1, tzinfo=UTC)
WRONG_EVERY = 5
CITED_MAX = 4
"""Quotes an item may have."""
_TURN = re.compile(r"^\[(\d+)\] ([^:\n]*): (.*?)(?=\n\[\d+\] |\n-- |\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^\[(\d+)\] (.*?)(?: \(about: .*\))?$", re.MULTILINE)
_ASKS = re.compile(r"^(?:what|where|when|which|who|how (?:long|many|much|often|old|far))(?:'s| (?:is|are|was|were|did|do|does|have|has))? ", re.IGNORECASE)
_OF_THE_USER = ((r"\bmy\b", "the user's"), (r"\b(?:I|me)\b", "the user"))
_FENCE = re.compile(r"<(log-\w+)>\n(.*)\n</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A sentence told of the words of a turn; `sort` is right, wrong (another turn's) or planted."""

    says: str
    about: str
    words: str
    sort: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """Conversations as rows of the plain format, and what is told of them."""

    rows: Sequence[Mapping[str, str]]
    memories: Sequence[Memory]


def main(arguments: list[str]) -> int:
    """Print a block a file."""
    parser = argparse.ArgumentParser(prog="annotated", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--cite", type=int, choices=range(1, CITED_MAX + 1), default=1, metavar="N", help="sentences of its turn a memory is told over at most")
    given = parser.parse_args(arguments)
    for file in given.files:
        found = _read(file)
        for check in (YES_TO_ALL, RIGHT):
            with tempfile.TemporaryDirectory(prefix="dreamd-annotated-") as folder:
                _print(file.name, check, _told(Path(folder), found, Teller(found.memories, check=check, cite=given.cite)))
    return 0


def _read(file: Path) -> Annotated:
    if file.suffix != ".jsonl":
        return locomo(file)
    with file.open(encoding="utf-8") as lines:
        return longmemeval(file) if "haystack_sessions" in lines.readline() else halumem(file)


def _print(name: str, check: str, fates: Mapping[str, Counter[str]]) -> None:
    for sort, counts in sorted(fates.items()):
        total = counts.total()
        sums = Counter(what.split(" ", 1)[0].rstrip(",") for what in counts.elements())
        kinds = ", ".join(f"{what} {n / total:.1%}" for what, n in counts.most_common())
        print(f"{name:14} check {check:10} {sort:8} {total:5} told: believed {sums['believed'] / total:.1%}, drafts {(sums['draft'] + sums['said']) / total:.1%}"
              f", refused {(sums['reject'] + sums['quarantine']) / total:.1%} | {kinds}", flush=True)  # fmt: skip


# --- the sets ----------------------------------------------------------------------------------------------------------------------------


def locomo(file: Path) -> Annotated:
    """A LoCoMo file."""
    rows: list[dict[str, str]] = []
    memories: list[Memory] = []
    for sample in json.loads(file.read_text(encoding="utf-8")):
        spoken = sample["conversation"]
        for name, turns in spoken.items():
            if not isinstance(turns, list):
                continue
            at = datetime.strptime(spoken[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            rows += [{"session": f"{sample['sample_id']}-{name}", "speaker": t["speaker"], "time": at.isoformat(), "text": t["text"]} for t in turns]
            texts = {turn["dia_id"]: turn["text"] for turn in turns}
            told = sample["observation"].get(f"{name}_observation", {})
            memories += _turned((who, says, texts[where]) for who, found in told.items() for says, where in found if isinstance(where, str) and where in texts)
    return Annotated(rows=rows, memories=memories)


def _turned(found: Iterator[tuple[str, str, str]]) -> Iterator[Memory]:
    """The memories of a session, every so many of them with the words of another."""
    listed = list(found)
    for n, (who, says, words) in enumerate(listed):
        other = listed[(n + len(listed) // 2) % len(listed)][2]
        wrong = n % WRONG_EVERY == 0 and other != words
        yield Memory(says=says, about=who, words=other if wrong else words, sort="wrong" if wrong else "right")


def halumem(file: Path) -> Annotated:
    """A HaluMem file, a person a line."""
    rows: list[dict[str, str]] = []
    memories: list[Memory] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        person = json.loads(line)
        name = re.search(r"Name: ([^;]+);", person["persona_info"])
        who = name[1] if name else "user"
        for number, session in enumerate(person["sessions"]):
            label = f"{person['uuid'][:8]}-{number}"
            speakers = {"user": who, "assistant": "assistant"}
            rows += [{"session": label, "speaker": speakers[t["role"]], "time": t["timestamp"], "text": t["content"]} for t in session["dialogue"]]
            memories += _points(who, session)
    return Annotated(rows=rows, memories=memories)


def _points(who: str, session: Mapping[str, Any]) -> Iterator[Memory]:
    spoken = [(set(content_words(t["content"])), t["content"]) for t in session["dialogue"] if t["role"] == "user"]
    for point in session["memory_points"]:
        words = set(content_words(point["memory_content"]))
        cited = max(spoken, key=lambda turn: len(turn[0] & words))[1]  # the first of several
        yield Memory(says=point["memory_content"], about=who, words=cited, sort="planted" if point["memory_source"] == "interference" else "right")


def longmemeval(file: Path) -> Annotated:
    """A LongMemEval file: the questions whose answer stands word for word in a turn of the person that is marked for it."""
    rows: list[dict[str, str]] = []
    found: list[tuple[str, str, str]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        answer = str(asked["answer"]).strip(" .")
        marked = [t["content"] for session in asked["haystack_sessions"] for t in session if t.get("has_answer") and t["role"] == "user"]
        words = next((text for text in marked if answer.casefold() in text.casefold()), None)
        if words is None:
            continue
        found.append((_topic(asked["question"]), answer, words))
        for number, (session, date) in enumerate(zip(asked["haystack_sessions"], asked["haystack_dates"], strict=True)):
            at = datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
            rows += [{"session": f"{asked['question_id']}-{number}", "speaker": t["role"], "time": at.isoformat(), "text": t["content"]} for t in session]
    told = list(_turned(("user", f"{topic}: {answer}.", words) for topic, answer, words in found))
    answers = [answer for _, answer, _ in found]
    planted = [
        Memory(says=f"{topic}: {other}.", about="user", words=words, sort="planted")
        for (topic, _, words), other in zip(found, answers[1:] + answers[:1], strict=True)
        if other.casefold() not in words.casefold()
    ]
    return Annotated(rows=rows, memories=[*told, *planted])


def _topic(question: str) -> str:
    """What a question asks about, of the user."""
    topic = _ASKS.sub("", question.strip(" ?"))
    for pattern, word in _OF_THE_USER:
        topic = re.sub(pattern, word, topic)
    return topic[:1].upper() + topic[1:]


# --- the telling -------------------------------------------------------------------------------------------------------------------------


YES_TO_ALL, RIGHT = "yes to all", "right"


class Teller:
    """A handler for the fake server that tells the memories of the turns it is shown, and checks them so."""

    def __init__(self, memories: Sequence[Memory], *, check: str, cite: int) -> None:
        self._cite = cite
        self._denies = {plain(m.says) for m in memories if m.sort != "right"} if check == RIGHT else set()
        self._by_words: dict[str, list[Memory]] = {}
        for memory in memories:
            self._by_words.setdefault(plain(memory.words), []).append(memory)

    def __call__(self, body: Body) -> Said:
        """The answer to a request."""
        schema: Mapping[str, object] = body["output_config"]["format"]["schema"]["properties"]  # type: ignore[index]
        fenced = _FENCE.search(str(body["messages"][-1]["content"]))
        log = fenced[2] if fenced else ""
        if "verdicts" in schema:
            verdicts = [{"item": int(m[1]), "word": "no" if plain(m[2]) in self._denies else "yes"} for m in _ENTRY.finditer(log)]
            return Said(text=json.dumps({"verdicts": verdicts}))
        if "items" not in schema:
            return nothing_found(body)
        items = [_item(memory, int(turn[1]), turn[3], self._cite) for turn in _TURN.finditer(log) for memory in self._by_words.get(plain(turn[3]), ())]
        return Said(text=json.dumps({"items": items, "questions": []}))


def _told(root: Path, found: Annotated, teller: Teller) -> Mapping[str, Counter[str]]:
    with serving(teller) as service, closing(Provider(base_url=service.base_url, key="k", local=True)) as provider:
        desk = ModelDesk(root, open_redactor(None), now=NOW, messages=provider)
        (desk.logs / "talk.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found.rows), encoding="utf-8")
        desk.dream(**asking(change_share_max=1.0, budget_uusd=10**9))
        with desk.store() as store:
            claims = [g for g in store.all_claims(SCOPE) if g.claim.made_by.startswith("claude/")]
    best: dict[str, str] = {}
    for gated in sorted(claims, key=lambda g: list(Outcome).index(g.outcome), reverse=True):
        why = first_missed(gated.results)
        fate = "believed" if gated.outcome is Outcome.PASS else "said once" if why == SAID_ONCE else f"{gated.outcome.value} ({why})"
        best[plain(gated.claim.statement)] = fate
    fates: dict[str, Counter[str]] = {}
    for memory in found.memories:
        fates.setdefault(memory.sort, Counter())[best.get(plain(memory.says), "lost before the gates")] += 1
    return fates


def _item(memory: Memory, turn: int, words: str, cite: int) -> dict[str, object]:
    return {
        "kind": "fact", "about": memory.about, "what": " ".join(content_words(memory.says)[:4]), "where": "", "says": memory.says, "value": "", "was": "",
        "why": "", "version": "", "negated": False, "sure": "stated", "quotes": [{"turn": turn, "text": text} for text in _cited(memory.says, words, cite)],
    }  # fmt: skip


def _cited(says: str, text: str, most: int) -> list[str]:
    """The sentence of a text that has most words of a statement, then those that have most of what is missing still."""
    wanted, left = set(content_words(says)), [span.of(text) for span in sentences(text)] or [text]
    cited: list[str] = []
    while left and len(cited) < most:
        best = max(left, key=lambda sentence: len(wanted & set(content_words(sentence))))
        if cited and not wanted & set(content_words(best)):
            break
        cited.append(best)
        left.remove(best)
        wanted -= set(content_words(best))
    return cited


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
