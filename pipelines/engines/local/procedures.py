"""Commands worth repeating, as procedures: what a person would type without being told (ls, cat, git status …) is none.

Three forms leave this module: a command that works where a forerunner failed for a cause the error names (`old_value` is the forerunner, `reason` the cause:
it stands alone), a command that merely worked (it takes a second session, or a known forerunner that failed in this one: `old_value` without a reason), and,
negated, a command that the session leaves failing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pipelines.engines.local.runs import WENT_WELL, Ended, Run, program_of, runs_of, specific, worth_telling
from pipelines.engines.local.shell import Part, parts
from pipelines.model import Claim, Kind, Quote, Turn

STEPS_MAX = 3
RUNS_BETWEEN_MAX = 60
LINE_MAX = 160


def procedures(turns: Sequence[Turn]) -> Iterator[Claim]:
    """Claims of the commands in `turns` (one session, in order)."""
    runs = tuple(runs_of(turns))
    last = {run.command: run for run in runs if run.ended is not Ended.UNKNOWN}
    told: set[str] = set()
    for at, run in enumerate(runs):
        if run.ended is not Ended.WORKED or not worth_telling(run.part) or last[run.command].ended is Ended.FAILED:
            continue
        forerunner = _forerunner(runs, at)
        if run.command in told or (forerunner is None and specific(run.part)):
            continue
        claim = _found_out(runs, forerunner, at) if forerunner is not None else _worked(runs, at, last)
        if claim is not None:
            told.add(run.command)
            yield claim
    yield from _failures(last)


_TELLS_HOW = re.compile(
    r"^(?:(?:to|for)\s+(?P<goal>[^`]{3,60}?),?\s+(?:(?:you|we)\s+)?(?:just\s+)?(?:use|run|call|type|do|it's|it is)\s+`(?P<a>[^`]+)`"
    r"|we\s+(?:always\s+)?(?:run|build|test|deploy|release|start|restore|lint|format|migrate|ship)\b[^`]{0,50}\b(?:with|via|by|using|through)\s+(?:running\s+)?`(?P<b>[^`]+)`"
    r"|the\s+command\s+(?:to|for|that)\s+[^`]{3,60}?\s+is\s+`(?P<c>[^`]+)`"
    r"|`(?P<d>[^`]+)`\s+(?:(?:runs|builds|deploys|starts|restores|lints|formats|releases|migrates)\s+\w|is how (?:we|you)\b))",
    re.IGNORECASE,
)


def stated_command(sentence: str) -> Part | None:
    """The command a sentence says something is done with; None when it only asks to run one now, or names something that is no command."""
    found = _TELLS_HOW.match(sentence)
    command = next((g for g in (found["a"], found["b"], found["c"], found["d"]) if g), None) if found is not None else None
    line = parts(command) if command is not None else ()
    return line[0] if len(line) == 1 and len(line[0].words) > 1 and line[0].text == command else None


def _forerunner(runs: Sequence[Run], at: int) -> int | None:
    """The nearest failed run of the same program, or of one its error says to replace, whose error names what the command at `at` does differently."""
    for back in range(at - 1, max(-1, at - 1 - RUNS_BETWEEN_MAX), -1):
        if runs[back].ended is Ended.FAILED and _cause(runs[back], runs[at]) is not None:
            return back
    return None


def _cause(failed: Run, worked: Run) -> tuple[int, int] | None:
    """The line of the failed output that names what the two commands differ in; None when none does."""
    if program_of(failed.part.words) != program_of(worked.part.words):
        other = {program_of(worked.part.words)} if failed.part.words[1:] == worked.part.words[1:] != () else set()
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
    well = WENT_WELL.search(run.result.text)
    spans = [s for s in _lines(run.result.text) if s[1] - s[0] <= LINE_MAX]
    if well is not None:
        spans = [s for s in spans if s[0] <= well.start() < s[1]] or spans
    return _quote(run.result, *spans[-1]) if spans else None


def _worked(runs: Sequence[Run], at: int, last: Last) -> Claim | None:
    """A command that worked, with the one it may have taken the place of."""
    run, failed = runs[at], _changed_from(runs, at, last)
    told = _told_failing(failed) if failed is not None else None
    if failed is None or told is None:
        return _claim(run, f"`{run.command}`")
    return _claim(run, f"`{run.command}`", extra=told, forerunner=failed.command)


def _changed_from(runs: Sequence[Run], at: int, last: Last) -> Run | None:
    """The last run of the same program and subcommand before this one, if that is another command the session leaves failing."""
    before = (r for r in reversed(runs[max(0, at - RUNS_BETWEEN_MAX) : at]) if r.core == runs[at].core and r.ended is not Ended.UNKNOWN)
    nearest = next(before, None)
    return nearest if nearest is not None and nearest.command != runs[at].command and _left_failing(last[nearest.command]) else None


Last = Mapping[str, Run]
"""Of each command the last run whose end is known: what the session leaves behind."""


def _failures(last: Last) -> Iterator[Claim]:
    """Commands worth repeating that the session leaves failing, each with the line that says so: whoever knows one as working has to look again."""
    for run in last.values():
        shown = _told_failing(run) if worth_telling(run.part) and not specific(run.part) and _left_failing(run) else None
        if shown is not None:
            yield Claim(
                kind=Kind.PROCEDURE, subject=run.core, attribute="command", statement=f"`{run.command}` failed: {shown[1].text}", value=run.command, negated=True,
                quotes=shown, reason=shown[1].text, verified_by="exit_status",
            )  # fmt: skip


def _left_failing(run: Run) -> bool:
    """Whether a run failed, and not because the command did its work and told of failing tests or findings."""
    return run.ended is Ended.FAILED and not _REPORTS.search(run.result.text)


_REPORTS = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|failing|errors?|warnings?|problems?|issues?|vulnerabilities)\b|\bFAILED\b|^FAIL\b|error TS\d+|error\[E\d+\]"
    r"|\bwould (?:be )?reformat|AssertionError|assertion failed",
    re.IGNORECASE | re.MULTILINE,
)
"""What a command says that works and finds something wrong: the code, not the command, has to change."""


def _told_failing(run: Run) -> tuple[Quote, Quote] | None:
    """The failed command and the line of its output that says what is wrong, else the last short one."""
    command = _command_quote(run)
    text = run.result.text
    spans = [s for s in _lines(text) if s[1] - s[0] <= LINE_MAX and not _EXIT_CODE.fullmatch(text, *s)]
    wrong = [s for s in spans if _SAYS_WHAT_IS_WRONG.search(text, *s)]
    return (command, _quote(run.result, *(wrong or spans[-1:])[0])) if command is not None and spans else None


_EXIT_CODE = re.compile(r"Exit code \d+", re.IGNORECASE)


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
    end = "" if why.text.endswith((".", "!", "?", "。")) else "."
    statement = f"{first}`{run.command}`; `{failed.command}` failed: {why.text}{end}"
    return _claim(run, statement, extra=(failed_quote, why, *step_quotes), reason=why.text, forerunner=failed.command)


def _helps(step: Run, cause: str) -> bool:
    """A step in between belongs to the procedure when it handles what the error names."""
    return any(len(word) > 3 and word.strip("'\"") in cause for word in step.part.words[1:])


def _claim(run: Run, statement: str, *, extra: tuple[Quote, ...] = (), reason: str | None = None, forerunner: str | None = None) -> Claim | None:
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
        old_value=forerunner,
        reason=reason,
        verified_by="exit_status",
    )
