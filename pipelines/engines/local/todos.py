"""What was left to do when a session ended, from the agent's own list: the last state of TodoWrite, update_plan, or TaskCreate and TaskUpdate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.model import Call, Turn

TODO_CHARS_MAX = 120
_LISTS = {"todowrite": "todos", "todo_write": "todos", "update_plan": "plan", "write_todos": "todos"}
"""Tools that write the whole list at once, and the argument that holds it."""
_WORDS = ("content", "step", "subject", "description", "text")
_OVER = frozenset({"completed", "complete", "done", "cancelled", "canceled", "deleted"})
_TASK_NUMBER = re.compile(r"#(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class Todos:
    """The words of what was still open, in the list's order, and how many the list had."""

    open: tuple[str, ...] = ()
    count: int = 0


def todos_left(turns: Sequence[Turn]) -> Todos:
    """The list as its last writing left it; nothing for a session that kept none. Failed calls wrote nothing."""
    failed = {t.result.call_id for t in turns if t.result is not None and (t.result.failed or t.result.refused)}
    calls = [t.call for t in turns if t.call is not None and t.call.call_id not in failed]
    listed: tuple[tuple[str, str], ...] = ()
    for call in calls:
        key = _LISTS.get(call.name.casefold())
        if key is not None:
            listed = tuple(_entries(call.arguments.get(key)))
    entries = [*listed, *_tasks(calls, turns)]
    return Todos(tuple(words for words, status in entries if status.casefold() not in _OVER), len(entries))


def _entries(given: object) -> Iterator[tuple[str, str]]:
    """(words, status) of each entry of a list as a model wrote it, what has no words left out."""
    for entry in given if isinstance(given, list) else ():
        if isinstance(entry, Mapping) and (words := _words(entry)):
            yield words, str(entry.get("status", ""))


def _words(entry: Mapping[str, object]) -> str:
    found = next((value for key in _WORDS if isinstance(value := entry.get(key), str) and value.strip()), "")
    return " ".join(found.split())


def _tasks(calls: Iterable[Call], turns: Sequence[Turn]) -> list[tuple[str, str]]:
    """Tasks that are made and moved one call each; a task is known by the number its making gave back."""
    answers = {t.result.call_id: t.text for t in turns if t.result is not None}
    tasks: dict[str, tuple[str, str]] = {}
    for call in calls:
        name = call.name.casefold()
        if name == "taskcreate" and (words := _words(call.arguments)):
            number = _TASK_NUMBER.search(answers.get(call.call_id, ""))
            tasks[number[1] if number else call.call_id] = (words, "pending")
        elif name == "taskupdate" and (held := tasks.get(str(call.arguments.get("taskId", "")))):
            status = call.arguments.get("status")
            tasks[str(call.arguments["taskId"])] = (_words(call.arguments) or held[0], status if isinstance(status, str) else held[1])
    return list(tasks.values())
