"""Whether an agent runs a command, as far as the environment tells: what agents set for the commands they run, and not what configures them.

It is a sign, no proof: an agent that sets nothing is not seen, and one may say `--mine`, which its log then shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

SIGNS: Final[Mapping[str, str]] = {
    "CLAUDECODE": "Claude Code", "CODEX_SANDBOX": "Codex", "CODEX_SANDBOX_NETWORK_DISABLED": "Codex", "CODEX_THREAD_ID": "Codex", "CODEX_CI": "Codex",
    "GEMINI_CLI": "Gemini CLI", "CURSOR_AGENT": "Cursor", "OPENCODE": "OpenCode", "AI_AGENT": "an agent",
}  # fmt: skip
"""Variables of the environment, and who sets them."""


class Agent(NamedTuple):
    """Who runs a command, and by what that is known."""

    name: str
    sign: str


def agent_of(environ: Mapping[str, str]) -> Agent | None:
    """The agent that runs this command; None when nothing says that one does."""
    return next((Agent(name, sign) for sign, name in SIGNS.items() if environ.get(sign, "") not in {"", "0", "false"}), None)
