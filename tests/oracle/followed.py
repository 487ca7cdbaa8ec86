"""Dreams over gold sessions through the real SDK and the fake server, and what became of every lie and every truth: note, page, brief."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pipelines.engines.claude.client import Provider
from pipelines.gates import SAID_ONCE, first_missed
from pipelines.logs.redaction import Redactor
from pipelines.model import Claim, Kind, Outcome, Status, Version
from pipelines.run.questions import open_questions
from pipelines.store import GatedClaim
from tests.oracle.gold import SCOPES, GoldClaim, Session, save
from tests.oracle.knobs import Knobs
from tests.oracle.oracle import BESIDE, Oracle, Told
from tests.oracle.server import Service, serving
from tests.oracle.wire import Outcome as Befalls
from tests.scripted import ModelDesk, asking

NOW = datetime(2026, 12, 1, 7, 0, tzinfo=UTC)
PLACES = ("note", "page", "brief")
_SHOWN = frozenset({Status.CONFIRMED, Status.DISPUTED, Status.SUPERSEDED, Status.NEEDS_RECHECK, Status.EXPIRED})
_BESIDE = frozenset({"MEMORY.md", "inbox.md", "recent.md", "pages.md"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a dream left of one scope; `open` are the questions nothing was found to answer."""

    name: str
    claims: tuple[GatedClaim, ...]
    versions: tuple[Version, ...]
    files: Mapping[str, str]
    open: frozenset[str] = frozenset()

    def lines(self, place: str) -> list[str]:
        """The lines of the pages or of the brief, letters and digits alone."""
        wanted = {n: t for n, t in self.files.items() if (n == "MEMORY.md") is (place == "brief") and (n == "MEMORY.md" or _is_page(n))}
        return [plain(line) for text in wanted.values() for line in text.splitlines() if not line.startswith("[^")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What came of one run: the oracle with what it told, what the server booked, and the scopes."""

    oracle: Oracle
    service: Service
    scopes: Mapping[str, Scope]
    errors: tuple[object, ...] = ()

    def reached(self, lie: Told) -> tuple[str, ...]:
        """The places a lie reached: what stands there rests on it, and would not stand there without it."""
        if lie.knob in {"merge", "relate"}:
            wrong = _merged if lie.knob == "merge" else _misrelated
            return tuple("note" for scope in self.scopes.values() if wrong(lie, scope))[:1]
        if lie.way == BESIDE:  # the sentence is true of its line; the lie is that it answers
            return ()
        scope = self.scopes[lie.scope]
        mine = {g.claim.uid for g in _claims_of(lie, scope)}
        versions = [v for v in scope.versions if mine & set(v.claims) and _is_said_by(mine, v, scope)]
        shown = {plain(v.statement) for v in versions if v.status in _SHOWN}
        places = ["note"] if any(v.status is Status.CONFIRMED for v in versions) else []
        return (*places, *(p for p in PLACES[1:] if any(said in line for said in shown for line in scope.lines(p))))

    def stopped(self, lie: Told) -> str:
        """What stopped a lie: the gate's word on it; "" where nothing did, "gone" where no claim was made of it."""
        found = _claims_of(lie, self.scopes[lie.scope]) if lie.scope else []
        return min((first_missed(g.results) for g in found), default="gone")

    def closed(self, lie: Told) -> bool:
        """Whether the question a wrong answer was given to counts as answered."""
        return lie.knob == "answer" and lie.about not in self.scopes[lie.scope].open

    def concluded(self) -> Counter[str]:
        """What became of the insights told truly: "kept", or "not" and why."""
        return Counter(self._concluded(one.says, self.scopes[one.scope]) for one in self.oracle.concluded)

    def _concluded(self, says: str, scope: Scope) -> str:
        found = [g for g in scope.claims if g.claim.kind is Kind.INSIGHT and plain(g.claim.statement) == plain(says)]
        why = min((first_missed(g.results) for g in found), default="gone")
        return f"not: {why}" if why else "kept"

    def written(self, words: str) -> list[str]:
        """The files of all wikis that hold some words, whatever kind of file it is."""
        return [f"{scope.name}/{name}" for scope in self.scopes.values() for name, text in scope.files.items() if words in text or plain(words) in plain(text)]

    def fate(self, claim: GoldClaim) -> str:
        """What became of a claim told truly: "kept", "once" (a rule nobody said twice), "draft: why", or "lost: why"."""
        scope = self.scopes[claim.scope]
        found = [g for g in scope.claims if plain(g.claim.statement) == plain(claim.says)]
        found = found or [g for g in scope.claims if any(plain(claim.quote) in plain(q.text) or plain(q.text) in plain(claim.quote) for q in g.claim.quotes)]
        if not found:
            return "lost: gone"
        best = min(found, key=lambda g: (list(Outcome).index(g.outcome), first_missed(g.results) != SAID_ONCE))
        why = first_missed(best.results)
        if best.outcome is Outcome.PASS or claim.draft or claim.implied:
            return "kept"
        return "once" if why == SAID_ONCE else f"{'draft' if best.outcome is Outcome.DRAFT else 'lost'}: {why}"

    def fates(self) -> Counter[str]:
        """The fates of all claims told truly."""
        return Counter(self.fate(claim) for claim in self.oracle.true)


@dataclass
class Home:
    """A folder with the logs of gold sessions, to dream over with one oracle after another."""

    root: Path
    redactor: Redactor
    sessions: Sequence[Session]
    scopes: Sequence[str] = SCOPES
    now: datetime = NOW
    runs: int = field(default=0)

    def __post_init__(self) -> None:
        for scope in self.scopes:
            save((s for s in self.sessions if s.scope == scope), self.root / "logs" / scope)

    def dream(self, knobs: Knobs, *faults: Befalls) -> Followed:
        """Dream over every scope with an oracle turned so, in a store of its own, and follow what it told. `faults` befall the first requests."""
        self.runs += 1
        oracle = Oracle(self.sessions, knobs)
        with serving(oracle) as service, closing(Provider(base_url=service.base_url, key="k", local=True)) as provider:
            service.next(*faults)
            desk = ModelDesk(self.root / f"run-{self.runs}", self.redactor, now=self.now, messages=provider)
            errors = [error for scope in self.scopes for error in self._dream(desk, scope)]
            return Followed(oracle=oracle, service=service, scopes={scope: _left(desk, scope) for scope in self.scopes}, errors=tuple(errors))

    def _dream(self, desk: ModelDesk, scope: str) -> Iterable[object]:
        given = {"scope": scope, "wiki": desk.root / f"wiki-{scope}", "wiki_id": f"{SCOPES.index(scope) if scope in SCOPES else 9:016x}"}
        return desk.dream(self.root / "logs" / scope, **asking(change_share_max=1.0), **given).errors


def plain(text: str) -> str:
    """Letters and digits alone, casefolded."""
    return "".join(ch for ch in text.casefold() if ch.isalnum())


def _is_page(name: str) -> bool:
    return name not in _BESIDE and not name.startswith(("archive/", "journal/"))


def _left(desk: ModelDesk, scope: str) -> Scope:
    wiki = desk.root / f"wiki-{scope}"
    files = {p.relative_to(wiki).as_posix(): p.read_text(encoding="utf-8") for p in sorted(wiki.rglob("*.md")) if ".dreamd" not in p.parts}
    with desk.store() as store:
        asked = frozenset(question.text for questions in open_questions(store, scope).values() for question in questions)
        return Scope(name=scope, claims=store.all_claims(scope), versions=tuple(h.version for h in store.heads(scope)), files=files, open=asked)


def _claims_of(lie: Told, scope: Scope) -> list[GatedClaim]:
    return [g for g in scope.claims if _is(lie, g.claim)]


def _is_said_by(mine: set[str], version: Version, scope: Scope) -> bool:
    """Whether a version says what these claims say, and nobody else of its claims does soundly."""
    others = [g for g in scope.claims if g.claim.uid in version.claims and g.claim.uid not in mine and g.outcome is Outcome.PASS]
    says = {plain(g.claim.statement) for g in scope.claims if g.claim.uid in mine}
    return plain(version.statement) in says and not any(plain(g.claim.statement) in says for g in others)


def _is(lie: Told, claim: Claim) -> bool:
    """Whether a claim is this lie: its sentence over its words; of a sentence that is true of another, with the wrong subject too."""
    if not claim.made_by.startswith("claude/") or plain(claim.statement) != plain(lie.says):
        return False
    if lie.knob == "insight":
        return claim.kind is Kind.INSIGHT
    if not any(plain(q.text) == plain(lie.quote) for q in claim.quotes):
        return False
    if lie.knob == "invented_quote":  # words that are found after all were said
        return all(q.end <= q.start for q in claim.quotes)
    return lie.knob != "colleague" or "user" in plain(lie.says) or "用户" in lie.says or claim.subject.casefold() == "user"


def _merged(lie: Told, scope: Scope) -> bool:
    """Whether two sentences that stand beside each other were made one version, or one put an end to the other.

    Of two that contradict each other the later word of one speaker ends the earlier one, whether it is called a change or a contradiction.
    """
    one, two = ({g.claim.uid for g in scope.claims if plain(g.claim.statement) == plain(said)} for said in (lie.says, lie.quote))
    if not one or not two:
        return False
    both = any(one & set(v.claims) and two & set(v.claims) for v in scope.versions)
    ended = any(
        v.status is Status.SUPERSEDED and ((one & set(v.claims) and v.ended_by in two) or (two & set(v.claims) and v.ended_by in one)) for v in scope.versions
    )
    return both or (ended and lie.about != "contradiction")


def _misrelated(lie: Told, scope: Scope) -> bool:
    """Whether two sentences stand as a wrong word on them has it: in one version or beside each other where one has ended, in a dispute that is none."""
    one, two = ({g.claim.uid for g in scope.claims if plain(g.claim.statement) == plain(said)} for said in (lie.says, lie.quote))
    mine = [v for v in scope.versions if (one | two) & set(v.claims)]
    if lie.way == "contradiction":
        return any(v.status is Status.DISPUTED for v in mine)
    if lie.way == "same":
        return any(one & set(v.claims) and two & set(v.claims) for v in mine)
    if lie.way == "update":
        return any(v.status is Status.SUPERSEDED and v.ended_by in one | two for v in mine)
    return all(any(said & set(v.claims) and v.status is Status.CONFIRMED for v in mine) for said in (one, two))
