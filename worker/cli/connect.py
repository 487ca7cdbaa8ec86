"""dreamd connect, dreamd disconnect: new sessions are told what the wiki knows, or not any more; and a dream every night without a server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from pipelines.errors import DreamdError, Refused
from worker import wiring
from worker.cli import common
from worker.cli.output import print_json, visible
from worker.connect import agents, nightly
from worker.connect.agents import Change
from worker.connect.briefs import brief_at, leave_briefs
from worker.connect.ledger import Entry, Ledger
from worker.projects import Homes, root_of, survey
from worker.registry import all_registered
from worker.settings import Settings, data_folder

NIGHTLY: Final = "nightly"
_WAIT_S: Final = 30

Agent = Annotated[str | None, typer.Argument(metavar="[AGENT]", help="claude-code or codex; default: those that keep logs of the project.")]
Project = Annotated[Path | None, typer.Option("--project", metavar="DIR", help="Only sessions of this project; default: of every project.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("connect")(connect)
    app.command("disconnect")(disconnect)


def connect(
    agent: Agent = None,
    project: Project = None,
    agents_md: Annotated[
        bool, typer.Option("--agents-md", help="Codex: a marked block in the project's AGENTS.md, kept up to date by dreams, instead of a hook.")
    ] = False,
    every_night: Annotated[bool, typer.Option("--nightly", help="Dream every night: a systemd timer, a launchd agent or a line for crontab.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")] = False,
    wiki: Annotated[Path | None, typer.Option("--wiki", metavar="DIR", help="Tell of this wiki; default: of that of each session's project.")] = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Let new sessions of an agent be told what the wiki knows: hooks in its settings that print the brief and record that a session ended.

    dreamd disconnect takes them out again, to the byte. The agent's own memory settings stay as they are.
    """
    _require(agent)
    if agents_md and agent != agents.CODEX:
        raise typer.BadParameter("is for codex", param_hint="--agents-md")
    chosen = (agent,) if agent else () if every_night else _at_work(project or Path.cwd())
    loaded = common.start(config)
    data, root = data_folder(loaded).absolute(), root_of(project.expanduser().absolute()) if project else None
    if project and not project.expanduser().is_dir():
        raise typer.BadParameter(f"{project} is no folder", param_hint="--project")
    _ready(loaded, wiki)
    changes: list[Change] = []
    table = nightly.Installed(kind="", files={})
    if chosen:
        options = [*([f"--wiki={wiki.expanduser().absolute()}"] if wiki else []), *_from_elsewhere(data, config)]
        for name in chosen:
            changes += _agent_changes(name, loaded, root, wiki, options, agents_md=agents_md)
    if every_night:
        table = _installed(data, config)
        changes += [agents.plan_file(Ledger(data), path, text, NIGHTLY, undo=table.undo) for path, text in table.files.items()]
    if not dry_run:
        for change in changes:
            if change.changes:
                agents.write(Ledger(data), change)
        if every_night:
            _wake(table)
    _print(changes, table, dry_run=dry_run, as_json=as_json, chosen=chosen, agents_md=agents_md)
    return 0


def disconnect(
    agent: Annotated[str | None, typer.Argument(metavar="[AGENT]", help="claude-code or codex; default: whatever is connected.")] = None,
    project: Project = None,
    every_night: Annotated[bool, typer.Option("--nightly", help="The dream of every night.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be taken out, and write nothing.")] = False,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Take out what connect put in: files nobody changed since are as they were, to the byte; of others ours alone is taken out."""
    _require(agent)
    loaded = common.start(config)
    ledger = Ledger(data_folder(loaded).absolute())
    root = str(root_of(project.expanduser().absolute())) if project else None
    wanted = {agent} - {None} | ({NIGHTLY} if every_night else set())
    entries = [e for e in ledger.entries() if (not wanted or e.agent in wanted) and root in {None, e.root}]
    done = []
    for entry in entries:
        if dry_run:
            done.append((entry.path, "would be taken out"))
            continue
        _undo_commands(entry)
        undone = agents.undo(ledger, Path(entry.path))
        done.append((str(undone.path), undone.how))
    if not dry_run and (every_night or not wanted) and root is None and _crontab_out():
        done.append(("crontab", "without ours"))
    if as_json:
        print_json({"files": [{"path": path, "how": how} for path, how in done]})
        return 0
    for path, how in done:
        print(f"{visible(path)}: {_HOWS.get(how, how)}")
    if not done:
        print("nothing is connected")
    return 0


_HOWS: Final = {
    "as it was": "as it was, to the byte", "without ours": "it was changed since; dreamd's part is taken out, the rest stays",
    "changed": "dreamd's part was changed by somebody, and stays as it is", "gone": "is not there any more",
}  # fmt: skip


# --- what is planned ---------------------------------------------------------------------------------------------------------------------


def _require(agent: str | None) -> None:
    if agent is not None and agent not in agents.AGENTS:
        raise typer.BadParameter(f"{agent!r} is not known; there are {', '.join(agents.AGENTS)}", param_hint="AGENT")


def _at_work(folder: Path) -> tuple[str, ...]:
    """The agents that keep logs of a folder's project. Raises BadParameter where none does."""
    logs = survey(Homes.of(os.environ)).of(folder.expanduser().absolute()).logs
    found = tuple(name for name in agents.AGENTS if any(log.agent == name.removesuffix("-code") for log in logs))
    if not found:
        raise typer.BadParameter(f"no agent keeps logs of {visible(str(folder))}: name one ({' or '.join(agents.AGENTS)}), or --nightly", param_hint="AGENT")
    return found


def _agent_changes(
    agent: str, loaded: Settings, root: Path | None, wiki: Path | None, options: Sequence[str], *, agents_md: bool
) -> Iterator[Change]:  # fmt: skip
    homes, data = Homes.of(os.environ), data_folder(loaded).absolute()
    settings = agents.settings_file(agent, homes, root)
    ledger, told = Ledger(data), str(wiki.expanduser().absolute()) if wiki else ""
    if agents_md:
        at = root or root_of(Path.cwd())
        of = wiki or wiring.find_wiki(None, loaded, start=at)
        yield agents.plan_block(ledger, at / "AGENTS.md", brief_at(data, of, agents.CODEX), root=str(at), wiki=str(of.absolute()))
        return
    yield agents.plan_hooks(ledger, settings, agent, options=options, root=str(root or ""), wiki=told)


def _from_elsewhere(data: Path, config: Path | None) -> list[str]:
    """What a hook has to be told where its own surroundings would lead it elsewhere: an agent has not this shell's variables."""
    plain = Path.home() / ".local" / "share" / "dreamd"
    return [*([f"--data={data}"] if data != plain else []), *([f"--config={config.expanduser().absolute()}"] if config else [])]


def _ready(loaded: Settings, wiki: Path | None) -> None:
    """Put the briefs of known wikis in place, for sessions that begin before the next dream."""
    data = data_folder(loaded)
    wikis = [(wiki.expanduser(), None)] if wiki else [(r.wiki, r.scope) for r in all_registered(data)]
    for folder, scope in wikis:
        with suppress(DreamdError):  # a wiki that is gone or not yet made has none, and is no reason not to connect
            place = wiring.place_of(folder, loaded, create=False)
            with wiring.open_only_store(place) as store:
                leave_briefs(store, common.scope_of(scope, loaded, store), data=data, wiki=folder)


def _installed(data: Path, config: Path | None) -> nightly.Installed:
    base = os.environ.get("XDG_CONFIG_HOME")
    kind = nightly.kind_of(sys.platform, has_systemd=shutil.which("systemctl") is not None and Path("/run/systemd/system").is_dir())
    return nightly.installed(
        kind, command=agents.dreamd_command(), home=Path.home(), config_home=Path(base) if base else Path.home() / ".config", data=data,
        options=[f"--config={config.expanduser().absolute()}"] if config else [],
    )  # fmt: skip


# --- what is run -------------------------------------------------------------------------------------------------------------------------


def run_command(words: Sequence[str], told: str | None = None) -> str:
    """Run a program of the system. Raises Refused when it is not there or fails."""
    try:
        done = subprocess.run(words, input=told, capture_output=True, encoding="utf-8", errors="surrogateescape", timeout=_WAIT_S, check=False)
    except FileNotFoundError as error:
        raise Refused(f"{words[0]} is not installed on this machine") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{words[0]} could not be run: {error}") from error
    if done.returncode:
        raise Refused(f"{' '.join(words)} failed: {visible(' '.join(done.stderr.split())[:200])}")
    return done.stdout


def _wake(table: nightly.Installed) -> None:
    for words in table.then:
        run_command(words)
    if table.line:
        run_command(("crontab", "-"), nightly.crontab_with(_crontab(), table.line))


def _undo_commands(entry: Entry) -> None:
    for words in entry.undo:
        with suppress(Refused):  # it may be out already, by hand
            run_command(words)


_NO_CRONTAB: Final = ("no crontab", "no such file")
"""How a system says that somebody has none (cronie and its kin, busybox)."""


def _crontab() -> str:
    """The person's crontab, "" where there is none. Raises Refused where it cannot be read: a new one written then would take the place of theirs."""
    try:
        return run_command(("crontab", "-l"))
    except Refused as error:
        if any(words in str(error).lower() for words in _NO_CRONTAB):
            return ""
        raise


def _crontab_out() -> bool:
    """Take our line out of the crontab; whether it was there."""
    if shutil.which("crontab") is None:
        return False
    try:
        before = _crontab()
    except Refused:  # who may not read theirs could not have been given a line
        return False
    after = nightly.crontab_without(before)
    if after != before:
        run_command(("crontab", "-") if after else ("crontab", "-r"), after or None)
    return after != before


# --- what is said ------------------------------------------------------------------------------------------------------------------------


def _print(changes: Sequence[Change], table: nightly.Installed, *, dry_run: bool, as_json: bool, chosen: Sequence[str], agents_md: bool) -> None:
    if as_json:
        files = [{"path": str(c.path), "changes": c.changes, "diff": c.diff()} for c in changes]
        print_json({"dry_run": dry_run, "files": files, "nightly": table.kind or None, "crontab": table.line or None})
        return
    for change in changes:
        if not change.changes:
            print(f"{visible(str(change.path))} says so already.")
            continue
        print(f"{'Would write' if dry_run else 'Wrote'} {visible(str(change.path))}:")
        print(change.diff(), end="")
    if table.line:
        print(f"{'Would put' if dry_run else 'Put'} this line into your crontab:\n{table.line}")
    if dry_run:
        print("Nothing was changed (--dry-run).")
        return
    for agent in chosen:
        print(_next(agent, agents_md=agents_md))
    if table.kind:
        print(f"It dreams every night at {nightly.HOUR:02}:{nightly.MINUTE:02} over what is new. To take this out: dreamd disconnect --nightly")


def _next(agent: str, *, agents_md: bool) -> str:
    """What comes of it, and how it is taken out."""
    if agent == agents.CLAUDE:
        return "The next Claude Code session of a project you have dreamt over begins with its brief. To take this out: dreamd disconnect claude-code"
    if agents_md:
        return "Codex reads the block with its next session; dreams keep it up to date. To take it out: dreamd disconnect codex"
    return "Codex runs no hook before you trust it, and says nothing of it: type /hooks in Codex once and trust both. To take this out: dreamd disconnect codex"
