"""dreamd estimate: what a dream with a model would ask and cost, before anything is asked or spent."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.errors import DreamdError
from worker import engines, settings, wiring
from worker.cli import common, money
from worker.cli.output import Progress, many, print_json, table, visible
from worker.cli.targets import targets_of
from worker.engines import dollars

if TYPE_CHECKING:
    from pipelines.engines.claude.config import ClaudeConfig
    from pipelines.engines.claude.plan import Estimate, Past, Sum
    from pipelines.ports import Window
    from pipelines.run import Params, Parts
    from pipelines.run.reading import Unread
    from pipelines.store import CostRow

TOGETHER = 64
"""Sessions read from the temporary store at once."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("estimate")(estimate_command)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is shown: `read_before` are sessions the wiki's last dreams with this engine have read already, `bound_uusd` the most one call can cost."""

    estimate: Estimate
    engine: str
    read_before: int
    batch: bool
    paid: bool
    bound_uusd: int
    refused: tuple[tuple[str, str], ...]

    @property
    def budget_uusd(self) -> int:
        """A budget that lasts: the most that is reckoned, in cents, and room for a call, which is set aside at the most it can cost."""
        if not self.paid or not self.estimate.stages:
            return 0
        return -(-(self.cost_of(self.estimate.most) + self.bound_uusd) // 10_000) * 10_000

    def cost_of(self, told: Sum) -> int:
        """Millionths of a dollar, as the dream would ask."""
        return told.batch_uusd if self.batch else told.uusd


def estimate_command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Log files, or folders to look for logs in; default: the current project's.")
    ] = None,
    batch: money.Batch = None,
    instructions: money.Instructions = None,
    wiki: common.Wiki = None,
    scope: common.Scope = None,
    config: common.Config = None,
    as_json: common.Json = False,
) -> int:
    """Say what a dream over these logs with the engine claude would ask and cost: sessions, windows, tokens, dollars by stage, at once and in batches.

    What is sent first is counted; what comes of it is reckoned as a range, by what the wiki's earlier calls came to once there are some. Nothing is asked, and nothing is stored: the logs are read into a folder of their own that is removed. No key and no budget are needed. Sessions that the
    wiki has read with the same engine are left out, since their answers are recorded.
    """
    loaded = common.start(config)
    common.require_some(paths or [])
    named = tuple(paths or ())
    if not named:
        (target,) = targets_of(loaded, every=False, wiki=wiki, scope=scope)
        named, wiki, scope = target.paths, target.wiki, target.scope
    told = _reckoned(loaded, money.Wish(engine=engines.CLAUDE, batch=batch, instructions=instructions), named, wiki, scope, Progress(quiet=as_json))
    if as_json:
        print_json(_json(told))
    else:
        _print(told, paths or [])
    return 1 if told.refused else 0


def _reckoned(loaded: settings.Settings, wish: money.Wish, paths: tuple[str, ...], wiki: Path | None, scope: str | None, progress: Progress) -> Told:
    from pipelines.engines.claude.engine import ClaudeEngine
    from pipelines.engines.claude.plan import estimate
    from pipelines.engines.local.engine import LocalEngine
    from pipelines.run import Params, Request
    from pipelines.run.reading import reading_name, unread_sessions
    from pipelines.run.sources import take_in

    params = wish.params(loaded, engines.Choice(engine=engines.CLAUDE, why=""), Params())
    made = engines.config_of(loaded, params)
    engine = ClaudeEngine(rules=LocalEngine(), config=made)
    at, read, past = _before(loaded, wiki, scope, reading_name(engine.name, params, trusted=False), made)
    with tempfile.TemporaryDirectory(prefix="dreamd-estimate-") as folder:
        apart = loaded.model_copy(update={"data_dir": Path(folder) / "data", "database_url": None, "engine": engines.LOCAL})
        place = wiring.place_of(Path(folder) / "wiki", apart, create=True)
        with wiring.open_parts(place, apart, scope=at, progress=progress) as parts:
            taken = take_in(parts, Request(scope=at, paths=paths, wiki=place.wiki, wiki_id=place.wiki_id, host=place.host, exclude=(folder,), params=params))
            marks = parts.store.session_digest(at)
            unread = [u for u in unread_sessions(parts.store, at, engine.name, params) if read.get(u.session) != marks[u.session]]
            found = estimate(_windows(parts, at, unread, params), engine, past=past)
            before = len(marks) - len(unread)
        progress.done()
    return Told(
        estimate=found, engine=engine.name, read_before=before, batch=params.batch, paid=made.paid, bound_uusd=_bound(made), refused=tuple(taken.problems)
    )  # fmt: skip


def _before(loaded: settings.Settings, wiki: Path | None, scope: str | None, reading: str, made: ClaudeConfig) -> tuple[str, dict[str, str], dict[str, Past]]:
    """The scope; the sessions this engine has read to the end in the wiki there is, each with the digest of its turns; what calls of its models came to."""
    try:
        place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
        with wiring.open_only_store(place) as store:
            at = common.scope_of(scope, loaded, store)
            unread = store.unread(at, reading)
            read = {uid: mark for uid, mark in store.session_digest(at).items() if uid not in unread}
            return at, read, past_of(store.costs(at, by=("stage", "model")), made)
    except DreamdError:  # no wiki yet, or one that cannot be looked at now: then nothing of it is known
        return scope or loaded.scope, {}, {}


def past_of(rows: Iterable[CostRow], made: ClaudeConfig) -> dict[str, Past]:
    """What the answered calls of each stage came to, of the model it would ask now; another's yield says nothing of this one's."""
    from pipelines.engines.claude.plan import Past

    return {
        row.stage: Past(calls=row.calls, sent=row.fresh + row.written + row.cached, output=row.output)
        for row in rows
        if row.stage in made.stages and row.model == made.stages[row.stage].model
    }


def _windows(parts: Parts, scope: str, unread: list[Unread], params: Params) -> Iterator[Window]:
    """What the engine would be given, session by session."""
    from pipelines.run.reading import window_of

    for first in range(0, len(unread), TOGETHER):
        part = unread[first : first + TOGETHER]
        infos = {info.uid: info for info in parts.store.sessions(scope, [u.session for u in part])}
        turns = parts.store.turns_of_sessions(scope, infos)
        for session in part:
            parts.progress("reckoning", first, len(unread))
            yield window_of(infos[session.session], turns.get(session.session, ()), session, params)


def _bound(made: ClaudeConfig) -> int:
    """The most a call of the first stage can cost."""
    from pipelines.engines.claude.prices import bound_uusd

    stage = made.stages["extract"]
    return bound_uusd(stage.model, 2 * made.window_bytes, stage.max_tokens, batch=made.batch, prices=made.all_prices) if made.paid else 0


def _json(told: Told) -> dict[str, object]:
    """Amounts are whole millionths of a dollar."""
    e = told.estimate
    return {
        "engine": told.engine, "sessions": e.sessions, "asked": e.asked, "read_before": told.read_before, "typed_turns": e.typed, "windows": e.windows,
        "stages": [asdict(stage) for stage in e.stages], **asdict(e.usual), "least": asdict(e.least), "most": asdict(e.most), "learnt_from_calls": e.learnt,
        "batch": told.batch, "budget_uusd": told.budget_uusd,
        "refused": [{"path": path, "why": why} for path, why in told.refused],
    }  # fmt: skip


def _print(told: Told, paths: list[str]) -> None:
    e = told.estimate
    before = f"; {told.read_before} more are read already" if told.read_before else ""
    print(f"{many(e.sessions, 'session')} to read, {e.asked} with something typed ({many(e.typed, 'turn')}){before}: {many(e.windows, 'window')}")
    for path, why in told.refused:
        print(f"  not taken {visible(path)}: {visible(why)}")
    if not e.stages:
        print("A model would be asked nothing.")
        return
    lines = [
        (s.stage, s.model, f"{s.calls:,}", *(f"{n:,}" for n in (s.usage.input + s.usage.cache_written, s.usage.cache_read, s.usage.output)), dollars(s.uusd), dollars(s.batch_uusd))
        for s in e.stages
    ]  # fmt: skip
    total = e.usual
    lines.append(("total", "", f"{sum(s.calls for s in e.stages):,}", "", "", f"{total.output_tokens:,}", dollars(total.uusd), dollars(total.batch_uusd)))
    heads = ("stage", "model", "calls", "sent", "cached", "back", "at once", "in batches")
    table(heads if told.paid else heads[:-2], lines if told.paid else [line[:-2] for line in lines], words=2)
    yields = f"what {many(e.learnt, 'earlier call')} came to" if e.learnt else "the usual yield"
    print(f"Windows are counted, what comes back and the stages after the first are reckoned by {yields}; nothing was asked.")
    if told.paid:
        print(f"{dollars(told.cost_of(e.least))} when nothing is worth a note, {dollars(told.cost_of(e.most))} when twice as much is.")
        how = " --batch" if told.batch else ""
        given = "".join(f" {visible(path)}" for path in paths)
        print(f"A budget that lasts: dreamd dream{given} --engine claude{how} --budget {told.budget_uusd / engines.MILLION:.2f}")
