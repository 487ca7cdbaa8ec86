"""Builds windows for the engine tests: a session as a list of short lines, in the order they were said."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pipelines.engines.local.engine import LocalEngine
from pipelines.model import Basis, Call, Claim, Event, Kind, OrderKey, Origin, Place, Result, Role, SessionInfo, Turn
from pipelines.ports import Window

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass
class Talk:
    """A session in the making; each method adds what one side says or does a minute later."""

    session: str = "s1"
    format: str = "claude"
    folder: str | None = None
    extra: dict[str, str] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)

    def user(self, text: str, **given: object) -> Talk:
        """The person types."""
        return self._add(Role.USER, Origin.USER, text, **given)

    def assistant(self, text: str) -> Talk:
        """The model answers."""
        return self._add(Role.ASSISTANT, Origin.ASSISTANT, text)

    def other(self, origin: Origin, text: str, role: Role = Role.USER) -> Talk:
        """Somebody else's words in the given role."""
        return self._add(role, origin, text)

    def run(self, command: str, output: str = "", *, exit: int | None = 0, **result: bool) -> Talk:
        """A shell command and its result."""
        call_id = f"call{len(self.turns)}"
        self._add(Role.ASSISTANT, Origin.ASSISTANT, command, call=Call(call_id=call_id, name="Bash", arguments={"command": command}))
        failed = bool(exit) or any(result.values())
        return self._add(Role.TOOL, Origin.TOOL, output, result=Result(call_id=call_id, exit=exit, failed=failed, **result))

    def event(self, topic: str, value: str, status: str, *, producer: str = "watcher") -> Talk:
        """A row of an events log."""
        seen = status == "verified"
        event = Event(topic=topic, value=value, status=status, producer=producer)
        text = f"{topic} = {value}\nstatus: {status}"
        return self._add(Role.TOOL if seen else Role.ASSISTANT, Origin.TOOL if seen else Origin.ASSISTANT, text, event=event)

    def window(self) -> Window:
        """The session as the engine gets it."""
        info = SessionInfo(uid=self.session, format=self.format, branch="main", cwd=self.folder, extra=self.extra)
        keys = tuple(OrderKey(known=True, at=t.at, session=t.session, ordinal=t.ordinal, uid=t.uid, basis=Basis.STATED) for t in self.turns)
        return Window(session=info, turns=tuple(self.turns), keys=keys)

    def claims(self) -> tuple[Claim, ...]:
        """What the engine reads in it."""
        return LocalEngine().extract(self.window()).claims

    def _add(self, role: Role, origin: Origin, text: str, **given: object) -> Talk:
        n = len(self.turns)
        turn = Turn(
            uid=f"{self.session}.{n}",
            snap=str(n),
            session=self.session,
            ordinal=n,
            role=role,
            origin=origin,
            text=text,
            place=Place(line=n + 1, offset=n * 100, length=100),
            at=AT + timedelta(minutes=n),
            **given,  # type: ignore[arg-type]
        )
        self.turns.append(turn)
        return self


def said(text: str, **given: object) -> tuple[Claim, ...]:
    """What the engine reads in one typed message in the middle of a session."""
    return Talk().user("hello").assistant("Hi.").user(text, **given).claims()


def sure(claims: tuple[Claim, ...], kind: Kind | None = None) -> list[Claim]:
    """The claims without a doubt."""
    return [c for c in claims if not c.doubts and (kind is None or c.kind is kind)]
