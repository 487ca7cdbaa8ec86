"""The commands of a session with what became of each, as far as the log shows.

Success is an exit status of 0 that nothing hides (no pipe, `;`, `||` or `&` behind the command) or the output's own summary; a time-out, an interrupt or a
command left running is neither success nor failure.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipelines.engines.local.shell import Part, parts, shown_status
from pipelines.model import Turn

COMMAND_MAX = 120
"""Characters; a longer command is a script of the moment, not something to remember."""
LINE_OF_SHELL_MAX = 2_000
"""Characters of a whole command line; longer ones carry patches, here-documents and programs of their own."""

_RUNNERS = frozenset(
    """npm pnpm yarn bun npx pnpx bunx deno make just task cargo go mix rebar3 gradle gradlew mvn mvnw pytest tox nox uv poetry pdm hatch ruff mypy pyright
    tsc eslint prettier biome vite next nuxt astro vitest jest playwright cypress docker docker-compose podman kubectl helm terraform tofu
    ansible-playbook dotnet swift xcodebuild rake bundle rails rspec php composer phpunit ctest cmake ninja meson bazel sbt lein mill flutter dart zig
    stack cabal dune streamlit flask gunicorn uvicorn celery alembic fly flyctl vercel netlify wrangler gcloud aws az heroku firebase supabase prisma
    drizzle-kit turbo nx lerna rustup sam serverless pulumi""".split()
)
_INTERPRETERS = frozenset({"python", "python3", "node", "ruby", "bash", "sh", "zsh", "perl", "tsx", "ts-node"})
_SCRIPT_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_FLAGS_WITH_VALUE = frozenset({"--filter", "-F", "--workspace", "-w", "--prefix", "--dir", "-C", "--cwd"})
_LOOKING = frozenset(
    """--version -v -V --help -h help version list ls info view show why outdated audit search get describe logs ps status inspect images init create new
    install i generate gen codegen ash.codegen add remove uninstall rm deps.get login logout whoami config env which tree fmt-check -c -e -p --eval""".split()
)
_PASSING_PATH = re.compile(r"/tmp/|/private/tmp|/var/folders/|[0-9a-f]{8}-[0-9a-f]{4}-|\$\(|`|/dev/|[\n\r]|::")
_SOURCE_FILE = re.compile(r"\.(?:exs?|py|tsx?|jsx?|mjs|rb|go|rs|java|kt|php|swift|c|cc|cpp|h)(?::\d+)*['\"]?$")
_LEFT_RUNNING = re.compile(r"running in (?:the )?background|Monitor started|^Command timed out|^failed in sandbox", re.IGNORECASE)
WENT_WELL = re.compile(
    r"\b\d+ passed\b|\b0 failures\b|\b0 failed\b|found no issues|no issues found|All checks passed|BUILD SUCCESS(?:FUL)?|[Cc]ompiled successfully"
    r"|\bbuilt in \d|Build succeeded|test result: ok|^ok\s+\S+\s+[\d.]+s|^OK \(\d+ tests?|passed successfully|Successfully (?:built|deployed|tagged)"
    r"|Finished `?(?:dev|release|test)|Deployment complete",
    re.MULTILINE,
)
FAILED_COUNT = re.compile(r"\b[1-9]\d* (?:failed|failures?|failing)\b|BUILD FAIL|\bFAILED\b")
_WENT_WRONG = re.compile(
    FAILED_COUNT.pattern + r"|\b[1-9]\d* errors?\b|\bFAIL\b|Traceback \(most recent|npm (?:ERR!|error)|error TS\d+|^(?i:\S*error|fatal|panic)\b\s*[:\[]"
    r"|command not found|No such file or directory|ELIFECYCLE|Segmentation fault|not recognized as",
    re.MULTILINE,
)


class Ended(StrEnum):
    """How a command ended, as far as its log shows."""

    WORKED = "worked"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command of a session with what came back: `command` is its text without redirections, `at` where it begins in the line."""

    call: Turn
    result: Turn
    part: Part
    command: str
    ended: Ended

    @property
    def core(self) -> str:
        """Program and subcommand: what the command is about (`pnpm build`, `mix credo`)."""
        return core_of(self.part)


def runs_of(turns: Sequence[Turn]) -> Iterator[Run]:
    """Every simple command of every answered shell call, in order."""
    calls = {t.call.call_id: t for t in turns if t.call is not None and t.call.command and not t.sidechain}
    for turn in turns:
        call = calls.get(turn.result.call_id) if turn.result is not None else None
        line = line_of(call) if call is not None else ()
        for part in line:
            if call is not None:
                yield Run(call=call, result=turn, part=part, command=part.bare, ended=_ended(turn, line, part))


def line_of(turn: Turn) -> tuple[Part, ...]:
    """The simple commands of a shell call; none for another call, and for a line that carries a program of its own."""
    command = turn.call.command if turn.call is not None else None
    return parts(command) if command and len(command) <= LINE_OF_SHELL_MAX else ()


def core_of(part: Part) -> str:
    """Program and the words up to the first flag, path or quoted word, at most three; script runners may have their flags in front (`pnpm --filter web lint`)."""
    words = list(part.words)
    core = [program_of(words)] if words else []
    rest = words[1:]
    if core and core[0] in _SCRIPT_RUNNERS:
        rest = [w for at, w in enumerate(rest) if not w.startswith("-") and (at == 0 or rest[at - 1] not in _FLAGS_WITH_VALUE)]
    for word in rest[:2]:
        if word.startswith(("-", "'", '"', "/", ".", "$")) or "/" in word or "=" in word:
            break
        core.append(word)
    return " ".join(core)


def worth_telling(part: Part) -> bool:
    """Whether a person would want to know that this command works: it builds, tests, runs, checks or deploys something."""
    words = part.words
    command = part.bare
    if not words or len(command) > COMMAND_MAX or _PASSING_PATH.search(command):
        return False
    program = program_of(words)
    if program in _INTERPRETERS:
        return len(words) > 1 and (words[1] == "-m" or not words[1].startswith("-")) and not _LOOKING & set(words[1:])
    if program not in _RUNNERS and not words[0].startswith(("./", "bin/", "scripts/", "script/")):
        return False
    if len(words) == 1:
        return program not in {"node", "npm", "pnpm", "npx", "docker", "kubectl", "cargo", "go", "mix"}
    return not _LOOKING & set(words[1:])


def _ended(turn: Turn, line: tuple[Part, ...], part: Part) -> Ended:
    result = turn.result
    if result is None or result.refused or result.interrupted or result.timed_out or _LEFT_RUNNING.search(turn.text[:400]):
        return Ended.UNKNOWN
    if result.failed or (result.exit or 0) != 0:
        telling = [p for p in line if program_of(p.words) in _RUNNERS | _INTERPRETERS]
        return Ended.FAILED if telling and part is telling[-1] else Ended.UNKNOWN
    if result.exit == 0 and part in shown_status(line):
        return Ended.UNKNOWN if FAILED_COUNT.search(turn.text) else Ended.WORKED
    return Ended.WORKED if _tells_itself(line, part) and WENT_WELL.search(turn.text) and not _WENT_WRONG.search(turn.text) else Ended.UNKNOWN


def _tells_itself(line: tuple[Part, ...], part: Part) -> bool:
    """Whether a summary in the output must be this part's: it is the only one of its line that builds or tests, filters aside."""
    return [p for p in line if worth_telling(p)] == [part]


def program_of(words: Sequence[str]) -> str:
    if not words:
        return ""
    name = words[0].rsplit("/", 1)[-1]
    return name


def specific(part: Part) -> bool:
    """A test of one file, a check of one source: true today, nothing to remember."""
    start = 2 if program_of(part.words) in _INTERPRETERS else 1
    return any(_SOURCE_FILE.search(word) for word in part.words[start:])
