"""Items scored by string or id alone: `python -m tests.benchmarks.checkable PATH/checkable/judge_free.dev.jsonl [--missed]`.

The sets the items were taken from lie beside the file's folder (`PATH/longmemeval/…`, `PATH/locomo/…`). What people said there is written as logs, one
history a desk, dreamed over with the local engine, and asked by the shipped search and the beliefs of the store. Items that are a pair of statements
are also related without any log. Nothing is fitted to an item; what the local engine cannot answer is printed as it is. `--missed` names what was not right.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pipelines.logs.redaction import Redactor, open_redactor
from pipelines.logs.stamps import stamp
from pipelines.model import Relation, Status, Version
from pipelines.notes.relate import relate
from pipelines.recall.search import Hit, search
from pipelines.store import Store
from pipelines.text.statement import parse
from pipelines.text.words import content_words
from tests.dreaming import NOW, SCOPE, Desk

Item = Mapping[str, Any]
Sessions = Mapping[str, Sequence[Mapping[str, object]]]
"""Rows of a log by session, as the chat or the conversation reader takes them."""
Place = tuple[str, int]
"""A session and the position of a row in it."""
Table = dict[tuple[str, str, str], list[tuple[str, bool]]]
"""By kind, set and measure: each item's id, and whether it was right."""

MEANING = {
    "fact": "search: a turn that holds the answer is among the first hits. Beliefs: a note that rests on such a turn holds the answer's words.",
    "current_value": "As fact, of a value that changed: the turn with the newest value, and a note that holds it.",
    "contradiction_pair": "Beliefs and relate: the two statements are set against each other. Search: both turns are among the first hits.",
    "update_chain": "Relate: the newer statement is seen as a change of the older. Beliefs: the new value is learnt, the old one not current.",
    "must_not_store": "Gates: things like a memory that only the assistant said; right is that no note says them (an engine that learns little passes).",
    "note_correction": "Relate alone, these folders have no log: the rewritten lines are seen as a change of those they replaced, and not as the same.",
}
LIMIT = 10
ALIKE = 0.8
"""Share of a statement's words a note must hold to be taken for saying it."""
KEPT = frozenset({Status.CONFIRMED, Status.SUPERSEDED, Status.DISPUTED, Status.DRAFT})


def main(arguments: Sequence[str]) -> int:
    """Print right answers by kind, set and measure."""
    parser = argparse.ArgumentParser(prog="checkable", description=__doc__)
    parser.add_argument("path", metavar="FILE", type=Path)
    parser.add_argument("--missed", action="store_true")
    asked = parser.parse_args(arguments)
    items = [json.loads(line) for line in asked.path.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory(prefix="dreamd-checkable-") as folder:
        table = measure(items, asked.path.parent.parent, Path(folder), open_redactor(Path(folder)))
    for kind, meaning in MEANING.items():
        print(f"{kind}: {meaning}")
        for (_, name, what), results in ((key, found) for key, found in table.items() if key[0] == kind):
            right = sum(good for _, good in results)
            print(f"    {name:15} {what:42} n {len(results):3}  right {right:3}  share {right / len(results):.2f}")
            for qid in (qid for qid, good in results if asked.missed and not good):
                print(f"        {qid}")
    return 0


def measure(items: Iterable[Item], data: Path, folder: Path, redactor: Redactor) -> Table:
    """Every answer to every item. `data` holds the sets, `folder` takes a desk for each history."""
    table: Table = defaultdict(list)
    by_history: defaultdict[str, defaultdict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        by_history[item["set"]][_history(item)].append(item)
        for what, good in _related(item):
            table[item["kind"], item["set"], what].append((item["qid"], good))
    for name, own in by_history.items():
        for number, task in enumerate(_tasks(name, own, data)):
            with _dreamed(Desk(folder / name / str(number), redactor), task.sessions) as told:
                for item in task.items:
                    for what, good in (*(_found(item, told) if task.find else ()), *(_believed(item, told) if task.believe else ())):
                        table[item["kind"], name, what].append((item["qid"], good))
    return table


# --- histories ---------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One history to dream over, and what is asked of it."""

    sessions: Sessions
    items: Sequence[Item]
    find: bool = True
    believe: bool = True


def _tasks(name: str, items: Mapping[str, Sequence[Item]], data: Path) -> Iterator[Task]:
    """A task a history. The short histories of longmemeval are believed one by one, but searched together, where there is something to confuse."""
    if name not in SETS:
        return
    histories = {key: sessions for key, sessions in SETS[name](data) if key in items}
    together = name == "longmemeval"
    for key, sessions in histories.items():
        yield Task(sessions=sessions, items=items[key], find=not together)
    if together:
        everything = {session: rows for sessions in histories.values() for session, rows in sessions.items()}
        yield Task(sessions=everything, items=[item for own in items.values() for item in own], believe=False)


def _history(item: Item) -> str:
    """The name of the history an item is about, as the functions below give it."""
    if item["set"] == "memdaily_zh":
        return str(item["qid"]).rpartition("_")[0]
    return str(item["qid"] if item["set"] == "longmemeval" else item["split_key"])


def _longmemeval(data: Path) -> Iterator[tuple[str, Sessions]]:
    for file in sorted(data.glob("longmemeval/oracle_dev/*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            dated = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
            yield row["question_id"], {session: [_chat(turn, at) for turn in turns] for session, at, turns in dated}


def _locomo(data: Path) -> Iterator[tuple[str, Sessions]]:
    for row in json.loads((data / "locomo/locomo5.json").read_text(encoding="utf-8")):
        talk = row["conversation"]
        numbers = [n for n in range(1, 100) if talk.get(f"session_{n}")]
        yield row["sample_id"], {
            f"D{n}": [{"session": f"D{n}", "speaker": t["speaker"], "time": talk[f"session_{n}_date_time"], "text": t["text"]} for t in talk[f"session_{n}"]]
            for n in numbers
        }  # fmt: skip


def _beam(data: Path) -> Iterator[tuple[str, Sessions]]:
    for file in sorted(data.glob("beam/*/chat.json")):
        batches = json.loads(file.read_text(encoding="utf-8"))
        rows = [_chat(turn, str(batch.get("time_anchor") or "").replace("-", " ")) for batch in batches for group in batch["turns"] for turn in group]
        yield file.parent.name, {"chat": rows}


def _halumem(data: Path) -> Iterator[tuple[str, Sessions]]:
    for number, line in enumerate((data / "halumem/user0.jsonl").read_text(encoding="utf-8").splitlines()):
        sessions = json.loads(line)["sessions"]
        yield f"user{number}", {str(n): [_chat(turn, turn["timestamp"]) for turn in session["dialogue"]] for n, session in enumerate(sessions)}


def _jenverse(data: Path) -> Iterator[tuple[str, Sessions]]:
    for row in json.loads((data / "membench_jenverse/profiles.json").read_text(encoding="utf-8")):
        yield row["user_id"], {str(session["session_id"]): [_chat(turn, None) for turn in session["turns"]] for session in row["sessions"]}


def _memdaily(data: Path) -> Iterator[tuple[str, Sessions]]:
    for file in sorted(data.glob("memdaily_zh/*.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            said = [{"role": "user", "content": m["message"], "timestamp": m["time"]} for m in row["message_list"]]
            yield f"{file.stem}_{row['tid']}", {"messages": said}


SETS = {"longmemeval": _longmemeval, "locomo": _locomo, "beam": _beam, "halumem": _halumem, "jenverse": _jenverse, "memdaily_zh": _memdaily}


def _chat(turn: Mapping[str, Any], at: str | None) -> dict[str, object]:
    return {"role": turn["role"], "content": turn["content"], "timestamp": at}


# --- a history dreamed over --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a dream made of a history: its store, its notes each with the rows they rest on, and the name of the log of each session."""

    store: Store
    now: datetime
    notes: Sequence[tuple[Version, frozenset[Place]]]
    logs: Mapping[str, str]

    def places(self, hit: Hit) -> frozenset[Place]:
        """The rows a hit leads to: its own, or those its note rests on."""
        if hit.session is not None and hit.line is not None:
            return frozenset({(self.logs[hit.session], hit.line - 1)})
        return frozenset(place for version, places in self.notes if version.note == hit.uid for place in places)


@contextmanager
def _dreamed(desk: Desk, sessions: Sessions) -> Iterator[Told]:
    """The history as one log a session, dreamed over once, a minute after its last word."""
    times = [at for rows in sessions.values() for row in rows if (at := stamp(row.get("timestamp") or row.get("time")).at)]
    desk.now = max(times, default=NOW) + timedelta(minutes=1)
    for name, rows in sessions.items():
        (desk.logs / f"{name}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    outcome = desk.dream(change_share_max=1.0)
    logs = {uid: Path(file.path).stem for file in outcome.taken.logs.files for uid in file.sessions}
    with desk.store() as store:
        versions = [head.version for head in store.heads(SCOPE)]
        claims = store.claims(SCOPE, {uid for v in versions for uid in v.claims})
        turns = store.turns(SCOPE, {q.turn for claim in claims.values() for q in claim.quotes})
        rows_of = {uid: frozenset((logs[turns[q.turn].session], turns[q.turn].place.line - 1) for q in claim.quotes) for uid, claim in claims.items()}
        notes = [(v, frozenset(place for uid in v.claims for place in rows_of.get(uid, ()))) for v in versions]
        yield Told(store=store, now=desk.now, notes=notes, logs=logs)


# --- answers -----------------------------------------------------------------------------------------------------------------------------


def _found(item: Item, told: Told) -> Iterator[tuple[str, bool]]:
    """What search gives for the question."""
    answers, evidence = _answers(item), _evidence(item)
    if not item["question"] or not answers:
        return
    now = stamp(item.get("question_date")).at or told.now
    reached = [told.places(hit) for hit in search(told.store, SCOPE, item["question"], limit=LIMIT, now=now)]
    if item["kind"] != "contradiction_pair":
        for k in (1, 5, LIMIT):
            yield f"search: answer among the first {k}", any(answers & places for places in reached[:k])
    yield f"search: all evidence among the first {LIMIT}", evidence <= frozenset().union(*reached)


def _believed(item: Item, told: Told) -> Iterator[tuple[str, bool]]:
    """What the notes say."""
    if item["kind"] == "must_not_store":
        saying = {version.status for version, _ in told.notes if _says(version.statement, item["gold"][0])}
        yield "beliefs: not confirmed", Status.CONFIRMED not in saying
        yield "beliefs: not even a draft", saying.isdisjoint(KEPT)
    elif item["kind"] == "contradiction_pair":
        if "evidence" in item:
            yield "beliefs: set against each other", any(_evidence(item) <= places for places in _decided(told))
    elif gold := [item["new_value"]] if item.get("new_value") else [] if item["kind"] == "update_chain" else item["gold"]:
        answers = _answers(item)
        holding = [v for v, places in told.notes if _from(places, answers) and all(_holds(f"{v.statement} {v.value}", g) for g in gold)]
        once = {Status.CONFIRMED, Status.SUPERSEDED} if item["kind"] == "update_chain" else {Status.CONFIRMED}
        yield "beliefs: a confirmed note holds it", any(v.status in once for v in holding)
        yield "beliefs: a note or draft holds it", any(v.status in KEPT for v in holding)
    if item.get("old_value") and item["session"]:  # before the first session nobody said it
        yield "beliefs: the old value is not current", not any(_stale(version, places, item) for version, places in told.notes)


def _related(item: Item) -> Iterator[tuple[str, bool]]:
    """What relating the two statements alone says, line by line."""
    if item.get("old"):
        pairs = [(parse(old), parse(new)) for old in item["old"] for new in item["gold"] if old.strip() and new.strip() and old != new]
        relations = {relate(old, new).relation for old, new in pairs}
        yield "relate: seen as a change", not relations.isdisjoint({Relation.UPDATE, Relation.CONTRADICTION})
        yield "relate: not taken for the same", Relation.SAME not in relations


def _decided(told: Told) -> Iterator[frozenset[Place]]:
    """The rows of each note that has an end or a dispute."""
    by_note: defaultdict[str, list[tuple[Version, frozenset[Place]]]] = defaultdict(list)
    for version, places in told.notes:
        by_note[version.note].append((version, places))
    for own in by_note.values():
        if any(version.status in {Status.SUPERSEDED, Status.DISPUTED} for version, _ in own):
            yield frozenset(place for _, places in own for place in places)


def _evidence(item: Item) -> frozenset[Place]:
    """The rows an item points at; position -1 is the whole session."""
    return frozenset(place for given in item.get("evidence", ()) for place in _places(given)) or frozenset({(str(item.get("session")), -1)})


def _answers(item: Item) -> frozenset[Place]:
    """Of the evidence, the rows that hold the answer."""
    newest = [given for given in item.get("gold_in") or item.get("evidence", ()) if given.get("role", "updated") == "updated"]
    return frozenset(place for given in newest for place in _places(given)) or _evidence(item)


def _places(given: Mapping[str, Any]) -> Iterator[Place]:
    if "dia_id" in given:
        yield from ((f"D{session}", int(number) - 1) for session, number in re.findall(r"D(\d+):(\d+)", given["dia_id"]))
    elif "turn" in given:
        yield given["session"], given["turn"]
    else:
        yield ("chat", given["chat_id"]) if "chat_id" in given else ("messages", given["mid"])


def _from(places: frozenset[Place], wanted: frozenset[Place]) -> bool:
    sessions = {session for session, position in wanted if position == -1}
    return not places.isdisjoint(wanted) or any(session in sessions for session, _ in places)


def _stale(version: Version, places: frozenset[Place], item: Item) -> bool:
    """Whether the note still says the old value, and from before the change (an "executive director" of later is no "director" of before)."""
    before = version.status is Status.CONFIRMED and all(int(session) < item["session"] for session, _ in places)
    return before and _holds(f"{version.statement} {version.value}", item["old_value"])


def _says(statement: str, gold: str) -> bool:
    words = set(content_words(gold))
    return len(words & set(content_words(statement))) >= ALIKE * len(words)


def _holds(text: str, gold: str) -> bool:
    """Whether the words stand in the text, a number or a Latin word never inside a longer one."""
    plain, wanted = (re.sub(r"\s+", " ", unicodedata.normalize("NFKC", t)).strip().casefold() for t in (text, gold))
    return re.search(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])", plain) is not None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
