"""Notes of an invented project, as the integrator would fill them in; every test of the wiki starts from these."""

from __future__ import annotations

from datetime import UTC, date, datetime

from pipelines.model import Kind, Status, Verdict
from pipelines.wiki.content import Asked, Carried, Cite, Content, Correction, HistoryLine, Item, Quarantined, Side, Work

SESSION = "3f9c21ab-7d10-4a5e-9c11-0a1b2c3d4e5f"
OTHER = "88aa01bc-1111-4222-8333-444455556666"


def at(day: int, hour: int = 9, minute: int = 41, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


def cite(line: int, quote: str, who: str = "user", when: datetime | None = None, session: str = SESSION) -> Cite:
    return Cite(session=session, line=line, at=when or at(12), who=who, quote=quote)


def note_cite(line: int, path: str = "memory/payments.md", remark: str = "no log") -> Cite:
    return Cite(source=path, line=line, at=at(4, month=5), remark=remark)


def item(uid: str, statement: str, **given: object) -> Item:
    """A confirmed fact about the payments database, unless told otherwise."""
    fields: dict[str, object] = {
        "uid": uid, "kind": Kind.FACT, "status": Status.CONFIRMED, "subject": "payments-db", "statement": statement,
        "cites": (cite(214, statement),), "oldest_evidence": at(1), "newest_evidence": at(12),
    }  # fmt: skip
    return Item(**{**fields, **given})  # type: ignore[arg-type]


def carried(
    uid: str, statement: str, position: int, *, path: str = "deploy.md", title: str = "Deploying", verdict: Verdict | None = Verdict.NO_LOG, **given: object
) -> Item:
    """A line of a memory file."""
    place: dict[str, object] = {"folder": "web", "path": path, "title": title, "position": position, "line": position + 3}
    place |= {k: given.pop(k) for k in ("heading", "index", "targets", "description", "depth") if k in given}
    fields: dict[str, object] = {
        "subject": title, "verdict": verdict, "carried": Carried(**place), "cites": (note_cite(position + 3, f"memory/{path}"),),  # type: ignore[arg-type]
        "newest_evidence": at(4, month=5), "oldest_evidence": at(4, month=5),
    }  # fmt: skip
    return item(uid, statement, **{**fields, **given})


PORT = item(
    "4f2a91c0abcd", "The port is 5433.", value="5433", attribute="port", aliases=("payments database", "支付数据库"), sessions=2,
    cites=(cite(214, "no, the port is 5433, not 5432"),),
    history=(HistoryLine(statement="The port is 5432.", until=at(12), since=at(2), said_by="a note", cites=(cite(214, "no, the port is 5433, not 5432"),), reason="moved behind the proxy"),),
)  # fmt: skip
BACKUP = item("91c0ab12efgh", "Backups run at 03:10 UTC.", value="03:10 UTC", cites=(cite(31, "cron: 10 3 * * * backup.sh", who="tool"),))
MIGRATIONS = item(
    "07be4411ijkl", "Never run migrations from a laptop.", kind=Kind.RULE, said_by="Ana", cites=(cite(40, "never run migrations from a laptop", when=at(3)),)
)
RESTORE = item(
    "aa13b0f2mnop", "Restore a backup: `pay restore --to staging`.", kind=Kind.PROCEDURE, worked_on=(date(2026, 11, 20), date(2026, 11, 24)),
    cites=(cite(77, "restored 1204 rows", who="tool", when=at(20)), cite(12, "restored 1198 rows", who="tool", when=at(24), session=OTHER)), newest_evidence=at(24),
)  # fmt: skip
OWNER = item(
    "5d11cc09qrst", "Platform owns it.", status=Status.DISPUTED, attribute="Owner",
    sides=(
        Side(statement="Platform", said_by="ticket", at=at(1), cites=(cite(9, "Owner: Platform", who="external", when=at(1)),)),
        Side(statement="Payments", said_by="Lee", at=at(2), cites=(cite(88, "payments owns that one now", who="Lee", when=at(2)),)),
    ),
)  # fmt: skip
COMMITS = item(
    "c0ffee112233", "Commit messages follow Conventional Commits, always.", kind=Kind.RULE, subject="commit messages", sessions=2,
    cites=(cite(502, "always use the conventional-commits convention", who="user (# memory)"),),
)  # fmt: skip
START = item(
    "abab12341234", "`npm start` from the repository root: capture and chart server. It does not return.", kind=Kind.PROCEDURE, subject="npm start",
    cites=(cite(300, "Serving files from: web/charts", who="tool"),),
)  # fmt: skip
ORDER = item(
    "dede56785678",
    "Order of release: Split Mode, then Fundy, then Fund Mode as invite-only beta.",
    kind=Kind.DECISION,
    subject="release",
    said_by="Ana",
    reason="the grant needs Split Mode first",
)
LIMIT = item("fafa90129012", "Refunds above 500 EUR need two approvals.", kind=Kind.RULE, subject="refunds", attribute="approval limit", high_stakes=True)
DRAFT = item("drdr11111111", "The nightly job might need more memory.", status=Status.DRAFT, missed="said_once", subject="nightly job")
RECHECK = item("rcrc22222222", "The cave is finished.", status=Status.NEEDS_RECHECK, missed="rests on a corrected note", subject="cave")
EXPIRED = item("exex33333333", "The freeze holds.", status=Status.EXPIRED, subject="release", kind=Kind.DECISION, valid_until=at(20))
GOAL = item("gogo44444444", "Move the payments database to version 16.", kind=Kind.GOAL, subject="payments-db")

DEPLOY = (
    carried("aaaa00000001", "[Deploying](deploy.md): how a release reaches production", 0, path="MEMORY.md", title="Memory", index=True, targets=("deploy.md",),
            markdown="[Deploying](deploy.md) - how a release reaches production"),
    carried("aaaa00000002", "Releases go out on Tuesdays.", 1, verdict=Verdict.UPHELD, heading="When"),
    carried("aaaa00000003", "Retention is 90 days.", 2, verdict=Verdict.CORRECTED, corrected_to="Retention is 30 days.", heading="When",
            cites=(note_cite(5, "memory/deploy.md", ""), cite(120, "retention is 30 days, verified in the console"))),
    carried("aaaa00000004", "The build machine is called orca.", 3, verdict=Verdict.CONTRADICTED, heading="Where"),
    carried("aaaa00000005", "Use the script, see backups. Steps: one; two.", 4, heading="Where",
            markdown="Use **the script**, see [[backups]] or [the docs](https://example.org/x):\n\n```sh\nmake release\n\tship --all\n```\n\n- one\n- two"),
)  # fmt: skip
BACKUPS = carried("bbbb00000001", "Backups are kept for a week.", 1, path="backups.md", title="Backups", description="Where the copies of payments-db lie")

WORK = (
    Work(
        session=SESSION, started=at(12, 9), ended=at(12, 11), branch="main", title="Ports", command="/init", asked="mend the build", prompts=1,
        commits=("d8f0b8b fix: build", "218fc8a docs"), files=17, touched=("src/build.py",), tested="3 passed in 1s", test_command="pytest", failed=("mypy",),
        todos=("ship it",), open_todos=4, all_todos=6, how="error", outcome="API Error: 529",
    ),
    Work(
        session=OTHER, started=at(24, 22), ended=at(25, 1), branch="bug-fix-01", asked="why does the build stop?", prompts=1, how="answered", uncommitted=8,
        unsaved=("a.py", "b.py"), unsaved_line=12,
    ),
    Work(session="old", started=at(1), ended=at(1), asked="too old to be recent"),
)  # fmt: skip
CONTENT = Content(
    title="payments",
    items=(PORT, BACKUP, MIGRATIONS, RESTORE, OWNER, COMMITS, START, ORDER, LIMIT, DRAFT, RECHECK, EXPIRED, GOAL, *DEPLOY, BACKUPS),
    corrections=(Correction(uid="aaaa00000003", wrong="Retention is 90 days.", right="Retention is 30 days.", path="memory/deploy.md", line=5, at=at(12), cites=(cite(120, "retention is 30 days"),)),),
    quarantined=(Quarantined(uid="quququ555555", gate="instruction", origin="tool", session=SESSION, line=5),),
    asked=(Asked(uid="asas66666666", text="Ship Source Currency now, mock it, or later?", cites=(cite(130, "ship, mock or later?", who="assistant"),), at=at(24)),),
    work=WORK,
)  # fmt: skip
