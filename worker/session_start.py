"""`dreamd hook session-start`: tell a session that begins what its wiki knows, with the standard library alone, and get out of the way.

It keeps the promises of `worker.hook`: exit code 0 whatever happens, nothing needed to be up, no output but the brief. The brief lies ready in the data
folder (`worker.connect.briefs`); where there is none the session is told nothing. That a session was told is one file in the spool, which is drained into
a row later.
"""

from __future__ import annotations

import contextlib
import json
import os

from worker import hook, whose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any  # its import takes as long as all the rest

_STDOUT = 1


def session_start(arguments: list[str]) -> int:
    """Print the brief of the session's wiki, and spool that it was told. Always 0."""
    with contextlib.suppress(Exception, KeyboardInterrupt):
        payload = hook.read(0, whole=True)
        event = hook.event_of(payload)
        data = hook.data_of(arguments)
        agent = hook.option(arguments, "--agent") or "claude-code"
        brief = _brief(data, arguments, event)
        told = brief["doors"][agent]
        _print(_as_told(agent, told["text"]))
        about = {"wiki": brief["wiki"], "scope": brief["scope"], "rev": brief["rev"], "agent": agent, "versions": told["versions"]}
        hook.spool(hook.envelope("session-start", arguments, payload, told=about), hook.spool_folder(data))
    return 0


def _brief(data: str, arguments: list[str], event: dict[str, object]) -> dict[str, Any]:
    """The file of the session's wiki. Raises where there is none: then there is nothing to tell."""
    config = hook.option(arguments, "--config")
    wiki = whose.wiki_of(data, hook.folder_of(event), given=hook.option(arguments, "--wiki") or hook.setting("wiki", config))
    if wiki is None:
        raise LookupError
    with open(os.path.join(data, "briefs", f"{whose.digest(os.path.realpath(wiki))[:24]}.json"), "rb") as file:
        found: dict[str, Any] = json.loads(file.read().decode("utf-8", "surrogatepass"))
    return found


def _as_told(agent: str, text: str) -> str:
    """Claude Code takes what a hook prints as it is; Codex takes a JSON object of its own."""
    if agent != "codex":
        return text
    return json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})


def _print(text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(_STDOUT, data) :]
