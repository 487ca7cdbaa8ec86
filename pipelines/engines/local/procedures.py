"""Commands that worked, read from the log of a session: as procedures, when they are worth repeating and their success is shown.

Success is an exit status of 0 that nothing hides (no pipe, `;`, `||` or `&` behind the command) or the output's own summary; a time-out, an interrupt
or a command left running is neither success nor failure. What a person would type without being told (ls, cat, git status …) is no procedure.
Two forms leave this module: a command that works where a forerunner failed for a cause the error names (stands alone), and a command that
merely worked (`said_once`: it takes a second session).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipelines.engines.local.shell import Part, parts, shown_status
from pipelines.model import Claim, Kind, Quote, Turn

COMMAND_MAX = 120
"""Characters; a longer command is a script of the moment, not something to remember."""
LINE_OF_SHELL_MAX = 2_000
"""Characters of a whole command line; longer ones carry patches, here-documents and programs of their own."""
STEPS_MAX = 3
RUNS_BETWEEN_MAX = 60
LINE_MAX = 160

_RUNNERS = frozenset(
    [
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "npx",
        "pnpx",
        "bunx",
        "deno",
        "make",
        "just",
        "task",
        "cargo",
        "go",
        "mix",
        "rebar3",
        "gradle",
        "gradlew",
        "mvn",
        "mvnw",
        "pytest",
        "tox",
        "nox",
        "uv",
        "poetry",
        "pdm",
        "hatch",
        "ruff",
        "mypy",
        "pyright",
        "tsc",
        "eslint",
        "prettier",
        "biome",
        "vite",
        "next",
        "nuxt",
        "astro",
        "vitest",
        "jest",
        "playwright",
        "cypress",
        "docker",
        "docker-compose",
        "podman",
        "kubectl",
        "helm",
        "terraform",
        "tofu",
        "ansible-playbook",
        "dotnet",
        "swift",
        "xcodebuild",
        "rake",
        "bundle",
        "rails",
        "rspec",
        "php",
        "composer",
        "phpunit",
        "ctest",
        "cmake",
        "ninja",
        "meson",
        "bazel",
        "sbt",
        "lein",
        "mill",
        "flutter",
        "dart",
        "zig",
        "stack",
        "cabal",
        "dune",
        "streamlit",
        "flask",
        "gunicorn",
        "uvicorn",
        "celery",
        "alembic",
        "fly",
        "flyctl",
        "vercel",
        "netlify",
        "wrangler",
        "gcloud",
        "aws",
        "az",
        "heroku",
        "firebase",
        "supabase",
        "prisma",
        "drizzle-kit",
        "turbo",
        "nx",
        "lerna",
        "rustup",
        "sam",
        "serverless",
        "pulumi",
    ]
)
_INTERPRETERS = frozenset({"python", "python3", "node", "ruby", "bash", "sh", "zsh", "perl", "tsx", "ts-node"})
_SCRIPT_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_FLAGS_WITH_VALUE = frozenset({"--filter", "-F", "--workspace", "-w", "--prefix", "--dir", "-C", "--cwd"})
_LOOKING = frozenset(
    [
        "--version",
        "-v",
        "-V",
        "--help",
        "-h",
        "help",
        "version",
        "list",
        "ls",
        "info",
        "view",
        "show",
        "why",
        "outdated",
        "audit",
        "search",
        "get",
        "describe",
        "logs",
        "ps",
        "status",
        "inspect",
        "images",
        "init",
        "create",
        "new",
        "install",
        "i",
        "generate",
        "gen",
        "codegen",
        "ash.codegen",
        "add",
        "remove",
        "uninstall",
        "rm",
        "deps.get",
        "login",
        "logout",
        "whoami",
        "config",
        "env",
        "which",
        "tree",
        "fmt-check",
        "-c",
        "-e",
        "-p",
        "--eval",
    ]
)
_PASSING_PATH = re.compile(r"/tmp/|/private/tmp|/var/folders/|[0-9a-f]{8}-[0-9a-f]{4}-|\$\(|`|/dev/|[\n\r]|::")
_SOURCE_FILE = re.compile(r"\.(?:exs?|py|tsx?|jsx?|mjs|rb|go|rs|java|kt|php|swift|c|cc|cpp|h)(?::\d+)*['\"]?$")
_LEFT_RUNNING = re.compile(r"running in (?:the )?background|Monitor started|^Command timed out|^failed in sandbox", re.IGNORECASE)
_WENT_WELL = re.compile(
    r"\b\d+ passed\b|\b0 failures\b|\b0 failed\b|found no issues|no issues found|All checks passed|BUILD SUCCESS(?:FUL)?|[Cc]ompiled successfully"
    r"|\bbuilt in \d|Build succeeded|test result: ok|^ok\s+\S+\s+[\d.]+s|^OK \(\d+ tests?|passed successfully|Successfully (?:built|deployed|tagged)"
    r"|Finished `?(?:dev|release|test)|Deployment complete",
    re.MULTILINE,
)
_FAILED_COUNT = re.compile(r"\b[1-9]\d* (?:failed|failures?|failing)\b|BUILD FAIL|\bFAILED\b")
_WENT_WRONG = re.compile(
    _FAILED_COUNT.pattern + r"|\b[1-9]\d* errors?\b|\bFAIL\b|Traceback \(most recent|npm (?:ERR!|error)|error TS\d+|^(?i:\S*error|fatal|panic)\b\s*[:\[]"
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


def procedures(turns: Sequence[Turn]) -> Iterator[Claim]:
    """Claims of the commands in `turns` (one session, in order)."""
    runs = tuple(runs_of(turns))
    told: set[str] = set()
    for at, run in enumerate(runs):
        if run.ended is not Ended.WORKED or not worth_telling(run.part) or _failed_later(runs, at):
            continue
        forerunner = _forerunner(runs, at)
        if run.command in told or (forerunner is None and _specific(run.part)):
            continue
        claim = _found_out(runs, forerunner, at) if forerunner is not None else _worked(run)
        if claim is not None:
            told.add(run.command)
            yield claim


def runs_of(turns: Sequence[Turn]) -> Iterator[Run]:
    """Every simple command of every answered shell call, in order."""
    calls = {t.call.call_id: t for t in turns if t.call is not None and t.call.command and not t.sidechain}
    for turn in turns:
        call = calls.get(turn.result.call_id) if turn.result is not None else None
        command = call.call.command if call is not None and call.call is not None else None
        if call is None or not command or len(command) > LINE_OF_SHELL_MAX:
            continue
        line = parts(command)
        for part in line:
            ended = _ended(turn, line, part)
            yield Run(call=call, result=turn, part=part, command=part.bare, ended=ended)


def core_of(part: Part) -> str:
    """Program and the words up to the first flag, path or quoted word, at most three; script runners may have their flags in front (`pnpm --filter web lint`)."""
    words = list(part.words)
    core = [_program(words)] if words else []
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
    program = _program(words)
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
        telling = [p for p in line if _program(p.words) in _RUNNERS | _INTERPRETERS]
        return Ended.FAILED if telling and part is telling[-1] else Ended.UNKNOWN
    if result.exit == 0 and part in shown_status(line):
        return Ended.UNKNOWN if _FAILED_COUNT.search(turn.text) else Ended.WORKED
    return Ended.WORKED if _tells_itself(line, part) and _WENT_WELL.search(turn.text) and not _WENT_WRONG.search(turn.text) else Ended.UNKNOWN


def _tells_itself(line: tuple[Part, ...], part: Part) -> bool:
    """Whether a summary in the output must be this part's: it is the only one of its line that builds or tests, filters aside."""
    return [p for p in line if worth_telling(p)] == [part]


def _program(words: Sequence[str]) -> str:
    if not words:
        return ""
    name = words[0].rsplit("/", 1)[-1]
    return name


def _specific(part: Part) -> bool:
    """A test of one file, a check of one source: true today, nothing to remember."""
    start = 2 if _program(part.words) in _INTERPRETERS else 1
    return any(_SOURCE_FILE.search(word) for word in part.words[start:])


def _failed_later(runs: Sequence[Run], at: int) -> bool:
    """A later run of the same command says otherwise: the last one whose end is known counts."""
    later = [r.ended for r in runs[at + 1 :] if r.command == runs[at].command and r.ended is not Ended.UNKNOWN]
    return bool(later) and later[-1] is Ended.FAILED


def _forerunner(runs: Sequence[Run], at: int) -> int | None:
    """The nearest failed run of the same program, or of one its error says to replace, whose error names what the command at `at` does differently."""
    for back in range(at - 1, max(-1, at - 1 - RUNS_BETWEEN_MAX), -1):
        if runs[back].ended is Ended.FAILED and _cause(runs[back], runs[at]) is not None:
            return back
    return None


def _cause(failed: Run, worked: Run) -> tuple[int, int] | None:
    """The line of the failed output that names what the two commands differ in; None when none does."""
    if _program(failed.part.words) != _program(worked.part.words):
        other = {_program(worked.part.words)} if failed.part.words[1:] == worked.part.words[1:] != () else set()
        return _naming(failed, other)
    if failed.core == worked.core:
        gone = set(failed.part.words) - set(worked.part.words)
        added = (set(worked.part.words) | set(worked.part.environment)) - set(failed.part.words) - set(failed.part.environment)
        found = _naming(failed, {_name(w) for w in added} | {_name(w) for w in gone if w.startswith("-")})
        if found is not None:
            return found
    only_environment = bool(set(worked.part.environment) - set(failed.part.environment)) and _asks_about_itself(failed.part)
    return _refusal(failed) if only_environment else None


def _naming(failed: Run, names: set[str]) -> tuple[int, int] | None:
    """The line of the failed output in which one of the names stands as a word of its own: the one that says what is wrong, else the first."""
    patterns = [re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])") for name in sorted(names) if len(name) > 2]
    text = failed.result.text
    naming = [(start, end) for start, end in _lines(text) if any(p.search(text, start, end) for p in patterns)]
    return next((span for span in naming if _SAYS_WHAT_IS_WRONG.search(text, *span)), naming[0] if naming else None)


_SAYS_WHAT_IS_WRONG = re.compile(
    r"error\b|fatal|unknown|unrecogni[sz]ed|invalid|unexpected|missing|required?s?\b|not set|not found|not defined|no such|because|must|cannot|can't",
    re.IGNORECASE,
)


def _asks_about_itself(part: Part) -> bool:
    """`pnpm --version` fails only when the program itself does not start here."""
    return len(part.words) == 2 and part.words[1] in {"--version", "-v", "-V", "version"}


def _refusal(failed: Run) -> tuple[int, int] | None:
    """The line in which a program that does not start says why ("because", "requires", "not supported")."""
    text = failed.result.text
    spans = [(a, b) for a, b in _lines(text) if re.search(r"\bbecause\b|\brequires?\b|not supported|unsupported|must be", text[a:b])]
    return spans[0] if len(spans) == 1 else None


def _name(word: str) -> str:
    """What an error would call a word: a flag without its value, a variable without its setting, anything else as it is without quotes."""
    return word.split("=", 1)[0].strip("'\"")


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines that may be quoted, without indent and without pytest's `E`."""
    for found in _LINE.finditer(text[:20_000]):
        if found.end("said") - found.start("said") <= 2 * LINE_MAX:
            yield found.span("said")


_LINE = re.compile(r"^[ \t]*(?:E[ \t]{2,})?(?P<said>\S(?:[^\n]*\S)?)[ \t\r]*$", re.MULTILINE)


def _quote(turn: Turn, start: int, end: int) -> Quote:
    return Quote(turn=turn.uid, start=start, end=end, text=turn.text[start:end])


def _command_quote(run: Run) -> Quote | None:
    at = run.call.text.find(run.command)
    return None if at < 0 else _quote(run.call, at, at + len(run.command))


def _shown(run: Run) -> Quote | None:
    """The output's own word that the command went well, else its last short line; None for a silent command."""
    well = _WENT_WELL.search(run.result.text)
    spans = [s for s in _lines(run.result.text) if s[1] - s[0] <= LINE_MAX]
    if well is not None:
        spans = [s for s in spans if s[0] <= well.start() < s[1]] or spans
    return _quote(run.result, *spans[-1]) if spans else None


def _worked(run: Run) -> Claim | None:
    return _claim(run, f"`{run.command}`", extra=(), reason=None, doubts=("said_once",))


def _found_out(runs: Sequence[Run], forerunner: int, at: int) -> Claim | None:
    failed, run = runs[forerunner], runs[at]
    cause = _cause(failed, run)
    failed_quote = _command_quote(failed)
    if cause is None or failed_quote is None:
        return None
    why = _quote(failed.result, *cause)
    steps = [s for s in runs[forerunner + 1 : at] if s.ended is Ended.WORKED and _helps(s, why.text) and s.command != run.command][:STEPS_MAX]
    shown_steps = [(c, o) for c, o in ((_command_quote(s), _shown(s)) for s in steps) if c is not None and o is not None]
    first = "".join(f"`{command.text}`, then " for command, _ in shown_steps)
    step_quotes = [quote for pair in shown_steps for quote in pair]
    statement = f"{first}`{run.command}`; `{failed.command}` failed: {why.text}"
    return _claim(run, statement, extra=(failed_quote, why, *step_quotes), reason=why.text, doubts=())


def _helps(step: Run, cause: str) -> bool:
    """A step in between belongs to the procedure when it handles what the error names."""
    return any(len(word) > 3 and word.strip("'\"") in cause for word in step.part.words[1:])


def _claim(run: Run, statement: str, *, extra: tuple[Quote, ...], reason: str | None, doubts: tuple[str, ...]) -> Claim | None:
    command, shown = _command_quote(run), _shown(run)
    if command is None or shown is None:  # a silent command: nothing of its result could be cited
        return None
    return Claim(
        kind=Kind.PROCEDURE,
        subject=run.core,
        attribute="command",
        statement=statement,
        value=run.command,
        cardinality="set",
        quotes=(command, shown, *extra),
        reason=reason,
        verified_by="exit_status",
        doubts=doubts,
    )
