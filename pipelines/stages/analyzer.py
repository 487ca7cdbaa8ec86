"""Analyzer: each online note against the lines of the logs that bear on it. It never verifies, and never trusts a note because another note says so.

What may speak for or against a note are lines a user typed, results of the session's own commands and, weaker, external text; the newest of the
strongest standing decides. A note whose value the logs once bore out and later changed is `superseded`; one they never bore out is `corrected`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from pipelines.model import Finding, OnlineNote, OrderKey, Origin, Quote, Relation, Status, Verdict, Version
from pipelines.notes.dependants import ids_in, is_named
from pipelines.notes.moment import deadline_of
from pipelines.notes.placeholders import is_placeholder
from pipelines.notes.recheck import EVIDENCE_TAKEN_BACK, RESTS_ON_FALLEN
from pipelines.notes.relate import relate, subject_key, value_key
from pipelines.text.mood import Mood, completion, mood_of
from pipelines.text.sentences import sentences
from pipelines.text.statement import Form, Person, Statement, canonical_words, parse
from pipelines.text.values import Value, typed_values

_WEIGHT = {Origin.USER: 2, Origin.TOOL: 1, Origin.EXTERNAL: 0}
_STATING = frozenset({Mood.PLAIN, Mood.REPORTED})
_UNDECIDED = frozenset({Verdict.UNSUPPORTED, Verdict.UNCHECKED, Verdict.NO_LOG})
_WRITTEN_RELIABLY = frozenset({"log", "modified", "git"})
SAME_SITTING = timedelta(days=1)
"""A note that names no session may have been written from any log of this long before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A sentence of a log that may bear on a note; `version` is the confirmed note resting on it, if any."""

    quote: Quote
    statement: Statement
    origin: Origin
    order: OrderKey
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the logs a note could be checked with.

    `any_log`: the scope has sessions. `own_log`: the session that wrote the note is there and was read in full. `mentioned`: that session says something
    with the note's words beside the writing of the note itself.
    """

    any_log: bool
    own_log: bool
    mentioned: bool


Said = Mapping[str, tuple[Statement, ...]]
"""What each online note states, by its uid."""


def statements_of(text: str) -> tuple[Statement, ...]:
    """The sentences of a text that state something, as the grammar alone reads them."""
    found = (text[s.start : s.end].strip() for s in sentences(text))
    return tuple(parse(x) for x in found if x and mood_of(x) in _STATING)


def stated_by(note: OnlineNote) -> tuple[Statement, ...]:
    """What a note states by the grammar alone; a label without a subject ("Port: 6001") speaks of what its heading names."""
    of = " ".join(note.heading.split()).strip(" #:：*`")
    named = of if 0 < len(of.split()) <= HEADING_WORDS_MAX else ""
    return tuple(replace(s, subject=named) if named and _nameless(s) else s for s in statements_of(note.text))


def clauses_of(text: str) -> tuple[Statement, ...]:
    """What clauses without a verb state that give things their places and versions: "Dev server: Foundry on port 30000, CI on Node 18". The label before
    them scopes them."""
    label, _, rest = text.rpartition(": ") if text.count(": ") == 1 else ("", "", text)
    found = [_CLAUSE.fullmatch(part.strip(" .")) for part in re.split(r"[,;]\s+", rest)]
    if not all(found):
        return ()
    scope = parse(label).qualifier if label else ""
    read = (parse(f"{m[1]} runs on {m[2]}") for m in found if m)
    return tuple(replace(s, qualifier=s.qualifier or scope) for s in read if s.form is Form.SLOT and s.person is Person.THING and subject_key(s.subject))


_CLAUSE = re.compile(r"(\w[\w-]*(?: \w[\w-]*){0,2}) on ((?:port|[A-Z]\w*) v?\d[\d.]*)")

HEADING_WORDS_MAX = 3
"""A longer heading is a sentence, not the name of a thing."""
_ANYTHINGS = frozenset("port url host version timeout ttl limit size time date count interval path location name value rate threshold".split())  # noqa: SIM905
"""Attributes many things of one project have: without a subject nobody can tell whose is meant."""


def _nameless(s: Statement) -> bool:
    return s.form is Form.SLOT and s.person is Person.THING and not subject_key(s.subject) and s.attribute in _ANYTHINGS


def outlived(notes: Iterable[OnlineNote], findings: Mapping[str, Finding], now: datetime) -> dict[str, Finding]:
    """Findings with every note that is over by its own words `superseded`, unless it was wrong from the beginning."""
    over = {n.uid for n in notes if (ends := deadline_of(n)) and ends <= now and findings[n.uid].verdict not in {Verdict.CORRECTED, Verdict.CONTRADICTED}}
    return {**findings, **{uid: Finding(note=uid, verdict=Verdict.SUPERSEDED, why="over_by_its_own_words") for uid in over}}


def assess(note: OnlineNote, said: Sequence[Statement], lines: Sequence[Line], known: Known, *, skew: timedelta) -> Finding:
    """The verdict on one note, which states `said`, from the lines that may bear on it, whatever order they come in."""
    findings = [f for s in said if (f := _assess_one(note, s, lines, skew))]
    if findings:
        first, *rest = sorted(findings, key=lambda f: (_GRAVITY.index(f.verdict), f.quotes[0].turn if f.quotes else "", f.why))
        return _with_clauses(first, [f for f in rest if f.verdict in {Verdict.CORRECTED, Verdict.SUPERSEDED}]) if clauses_of(note.text) else first
    return Finding(note=note.uid, verdict=_without_evidence(note, known), why=_why_without(note, known))


def taken_back(findings: Mapping[str, Finding], words: Mapping[str, Sequence[Quote]]) -> dict[str, Finding]:
    """Findings to check again in place of those that rest on words alone which a person took back: neither the line nor what it was corrected to is told.

    `words` are the quotes of what was taken back, by turn. Where a confirmed note rests on the words all the same, they still decide.
    """
    return {
        uid: Finding(note=uid, verdict=Verdict.NEEDS_RECHECK, why=EVIDENCE_TAKEN_BACK, quotes=f.quotes)
        for uid, f in findings.items()
        if f.quotes and f.version is None and all(any(_overlap(q, o) for o in words.get(q.turn, ())) for q in f.quotes)
    }


def _overlap(a: Quote, b: Quote) -> bool:
    return a.start < b.end and b.start < a.end


def rechecks(notes: Sequence[OnlineNote], said: Said, findings: Mapping[str, Finding], fallen: Sequence[Version] = ()) -> dict[str, Finding]:
    """Findings with every note that rests on a wrong one moved to `needs_recheck`.

    A note rests on a wrong one when it names that one's id, or, with no evidence of its own, links to its file or names its subject (DESIGN §4). Links only
    reach files that hold nothing but the wrong note: an index links everything. `fallen` are versions of dreamd's own notes that were retracted, and
    replaced ones that notes name by their ids.
    """
    wrong = _Wrong.among(notes, said, findings, fallen)
    out = dict(findings)
    for note in notes:
        if findings[note.uid].verdict in _LEFT_TO_REST and (found := wrong.under(note, said[note.uid], undecided=findings[note.uid].verdict in _UNDECIDED)):
            base, why = found
            quotes = findings[base].quotes if base in findings else ()
            out[note.uid] = Finding(note=note.uid, verdict=Verdict.NEEDS_RECHECK, why=why, other=base, quotes=quotes)
    return _with_index_lines(notes, out)


_LEFT_TO_REST = _UNDECIDED | {Verdict.UPHELD}
RESTS_ON_WRONG = "rests_on_a_wrong_note"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrong:
    """What notes may rest on that is wrong: notes of the agent, what these name, those that are all their file says, by its name, those by their printed ids;
    and versions of dreamd's own that fell."""

    notes: Sequence[OnlineNote]
    named: Mapping[str, tuple[frozenset[str], ...]]
    sole: Mapping[str, str]
    ids: Mapping[str, str]
    fallen: Sequence[Version]

    @classmethod
    def among(cls, notes: Sequence[OnlineNote], said: Said, findings: Mapping[str, Finding], fallen: Sequence[Version]) -> _Wrong:
        wrong = [n for n in notes if findings[n.uid].verdict in {Verdict.CORRECTED, Verdict.CONTRADICTED}]
        changed = [n for n in notes if findings[n.uid].verdict is Verdict.SUPERSEDED]
        held = Counter((n.folder, n.path) for n in notes)
        return cls(
            notes=wrong, named={n.uid: tuple(t for s in said[n.uid] for t in _things(s)) for n in wrong},
            sole={PurePosixPath(n.path).stem: n.uid for n in wrong if held[n.folder, n.path] == 1},
            ids={n.uid[:ID_LENGTH]: n.uid for n in (*wrong, *changed)}, fallen=sorted(fallen, key=lambda v: (v.note, v.slot)),
        )  # fmt: skip

    def under(self, note: OnlineNote, said: Sequence[Statement], *, undecided: bool) -> tuple[str, str] | None:
        """What the note rests on, and why that is so; None when it rests on nothing wrong."""
        ids = ids_in(note.text)
        if base := next((self.ids[i] for i in sorted(ids & self.ids.keys()) if self.ids[i] != note.uid), None):
            return base, RESTS_ON_WRONG
        fallen = [v for v in self.fallen if not _written_after(note, v)]
        if own := next((v.note for v in fallen if v.note in ids), None):
            return own, RESTS_ON_FALLEN
        if not undecided or (note.index and note.links):
            return None
        linked = next((self.sole[stem] for stem in map(_stem, note.links) if stem in self.sole), None)
        if base := linked or _shares_subject(note, said, self.notes, self.named):
            return base, RESTS_ON_WRONG
        subjects = {subject_key(s.subject) for s in said if s.form is Form.SLOT}
        by_subject = (v.note for v in fallen if v.status is Status.RETRACTED and is_named(v.subject) and subject_key(v.subject) in subjects)
        return (own, RESTS_ON_FALLEN) if (own := next(by_subject, None)) else None


ID_LENGTH = 12
"""Characters of a uid that a note is printed and named by."""


def _written_after(note: OnlineNote, version: Version) -> bool:
    """Whether a note was written after a version had fallen."""
    at, fell_at = note.written_at, version.valid_until
    return note.dated_by in _WRITTEN_RELIABLY and at is not None and fell_at is not None and at > fell_at


def _with_index_lines(notes: Sequence[OnlineNote], findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """An index line says in short what its file says: when the only note there is to be checked again, so is the line."""
    out = dict(findings)
    held = {(n.folder, PurePosixPath(n.path).stem): n.uid for n in notes if findings[n.uid].verdict is Verdict.NEEDS_RECHECK and not n.index}
    for (folder, stem), uid in held.items():
        if any(n.folder == folder and PurePosixPath(n.path).stem == stem and n.uid != uid for n in notes):
            continue
        for line in notes:
            if line.index and line.folder == folder and stem in map(_stem, line.links[:1]) and findings[line.uid].verdict in _UNDECIDED:
                out[line.uid] = replace(findings[uid], note=line.uid, other=uid, why="points_to_a_note_to_recheck")
    return out


def repeats(notes: Sequence[OnlineNote], said: Said, findings: Mapping[str, Finding], former: Sequence[OnlineNote] = ()) -> dict[str, Finding]:
    """Findings of the notes with every index line that repeats wrong values of a file it links to judged as that file's lines were. `former` are lines of
    these files that stand no more, with what they said and how they are judged: who corrected the file has not corrected the index."""
    out = {n.uid: findings[n.uid] for n in notes}
    wrong = [n for n in (*notes, *former) if not n.index and findings[n.uid].verdict in {Verdict.CORRECTED, Verdict.SUPERSEDED}]
    for line in (n for n in notes if findings[n.uid].verdict in _UNDECIDED and not (n.index and n.links)):
        shown = _shown(typed_values(line.text)) if wrong else set()
        if base := next((n for n in wrong if n.folder == line.folder and shown & _no_longer(said[n.uid], findings[n.uid]) and _one_slot(said, line, n)), None):
            why = replace(findings[base.uid], version=None, corrected=None, also=())
            out[line.uid] = replace(why, note=line.uid, verdict=Verdict.NEEDS_RECHECK, why=RESTS_ON_WRONG, other=base.uid)
    for line in (n for n in notes if n.index and n.links):
        shown = _shown(typed_values(line.text))
        hit = [
            n for n in wrong if n.folder == line.folder and _stem(n.path) in map(_stem, line.links) and shown & _no_longer(said[n.uid], findings[n.uid])
        ]  # fmt: skip
        if hit:
            out[line.uid] = _repeating(line, sorted(hit, key=lambda n: (n.path, n.position, n.uid)), findings)
    return out


def _one_slot(said: Said, line: OnlineNote, wrong: OnlineNote) -> bool:
    """Whether a line gives the attribute a wrong one gives to what may be the same thing, named in fewer or more words and under no other scope."""
    pairs = ((a, b) for a in said[line.uid] for b in said[wrong.uid] if a.form is b.form is Form.SLOT and a.attribute == b.attribute)
    return any(_may_be_one(set(subject_key(a.subject)), set(subject_key(b.subject))) and _one_scope(a.qualifier, b.qualifier) for a, b in pairs)


def _may_be_one(a: set[str], b: set[str]) -> bool:
    return bool(a and b) and (a <= b or b <= a)


def _one_scope(a: str, b: str) -> bool:
    return a == b or {a, b} <= _AT_HOME


_AT_HOME = frozenset({"", "local", "development"})
"""Scopes that are one where nothing else is named: the machine somebody works at."""


def _no_longer(said: Sequence[Statement], finding: Finding) -> set[str]:
    """The values a wrong note states that do not hold."""
    over = _over(finding.corrected or "")
    return (_shown(v for s in said for v in s.values) - (_shown(parse(finding.corrected or "").values) - over)) | over


def _repeating(line: OnlineNote, wrong: Sequence[OnlineNote], findings: Mapping[str, Finding]) -> Finding:
    """The verdict on an index line that repeats wrong lines: that of the gravest, with all that holds instead, each once."""
    first, *rest = sorted((findings[n.uid] for n in wrong), key=lambda f: _GRAVITY.index(f.verdict))
    return replace(_with_clauses(first, rest), note=line.uid, why="repeats_a_wrong_value", other=first.note)


def _with_clauses(first: Finding, rest: Sequence[Finding]) -> Finding:
    """A verdict with all else that holds instead of what a line says, each once, and the lines that prove it."""
    told = [pair for f in rest for pair in ((f.version or "", f.corrected or ""), *f.also)]
    also = tuple(pair for pair in dict.fromkeys((*first.also, *told)) if pair != (first.version or "", first.corrected or ""))
    return replace(first, also=also, quotes=tuple(dict.fromkeys(q for f in (first, *rest) for q in f.quotes))) if also else first


def _over(correcting: str) -> set[str]:
    """The value a correcting sentence itself says is over: "moved from X", "no longer X", "Y, not X"."""
    read = parse(correcting)
    denied = (m[1] for m in _DENIES.finditer(correcting))
    return _shown(v for text in (read.old_value or "", read.against or "", *denied) for v in typed_values(text))


def _shown(values: Iterable[Value]) -> set[str]:
    """Values as they are told apart without their kind: a port is a number where the word "port" is missing."""
    return {v.canonical for v in values}


def duplicates(notes: Sequence[OnlineNote], whole: Mapping[str, Statement] | None = None) -> dict[str, str]:
    """Uid of each note that says the same as an earlier one (by folder, file and place) → uid of that one. Index lines point, they repeat nothing; nor do
    lines of a template that are to be filled in yet. `whole`: the notes' texts as `parse` reads them, by uid, for a caller who has them."""
    blocks: dict[tuple[str, ...], list[tuple[OnlineNote, Statement]]] = defaultdict(list)
    out: dict[str, str] = {}
    for note in sorted((n for n in notes if not n.index and n.shape in {"bullet", "paragraph"}), key=lambda n: (n.folder, n.path, n.position)):
        said = whole[note.uid] if whole else parse(note.text)
        key = tuple(sorted(set(said.words)))
        if len(key) < 2 or _leads_in(note) or is_placeholder(note.text) or _QUOTATION.fullmatch(note.text.strip()):
            continue
        first = next((n for n, s in blocks[key] if s.text == said.text or relate(s, said).relation is Relation.SAME), None)
        if first:
            out[note.uid] = first.uid
        else:
            blocks[key].append((note, said))
    return out


_QUOTATION = re.compile(r"""["“„«「'‘](?:(?!["”“»」]).)+["”“»」'’][.。]?""")
"""A line that is a quotation from end to end: an example of what to say, which the same words elsewhere do not make needless."""


def _leads_in(note: OnlineNote) -> bool:
    """ "How to apply:" opens what follows; it says nothing by itself, and without it the list below belongs to nothing."""
    return note.text.rstrip().endswith((":", "："))


_GRAVITY = (Verdict.CORRECTED, Verdict.SUPERSEDED, Verdict.CONTRADICTED, Verdict.UPHELD)


def _assess_one(note: OnlineNote, said: Statement, lines: Sequence[Line], skew: timedelta) -> Finding | None:
    agreeing: list[Line] = []
    opposing: list[tuple[Line, Relation]] = []
    for line in lines:
        related = relate(said, line.statement)
        relation = related.relation
        opposes = relation in {Relation.UPDATE, Relation.CONTRADICTION}
        if opposes and related.why != "names_old_value" and _nameless(said) and _nameless(line.statement) and not _moved_there(said, line.statement):
            continue
        if relation is Relation.SAME or _same_slot(said, line.statement):
            agreeing.append(line)
        elif opposes:
            opposing.append((line, relation))
    if completion(said.text):  # that something is done needs a result or the user's word, not a text that says so
        agreeing = [line for line in agreeing if _WEIGHT[line.origin] > 0]
    best = max((*agreeing, *(line for line, _ in opposing)), key=_strength, default=None)
    if best is None:
        return None
    if best in agreeing:
        return Finding(note=note.uid, verdict=Verdict.UPHELD, why="said_in_a_log", quotes=(best.quote,), version=best.version)
    relation = next(r for line, r in opposing if line is best)
    return _against(note, said, best, relation, agreeing, skew)


def _moved_there(said: Statement, heard: Statement) -> bool:
    """Whether a line says that a value is new in the very place the note tells of ("the staging port is 9090 now"): that place names the thing."""
    return bool(said.qualifier) and said.qualifier == heard.qualifier and heard.update


def _same_slot(said: Statement, heard: Statement) -> bool:
    """The same value of the same attribute, though the line may say more beside it: enough to uphold, never to merge."""
    if said.form is not Form.SLOT or heard.form is not Form.SLOT or not said.value or not said.subject:
        return False
    return _slot(said) == _slot(heard)


def _slot(s: Statement) -> tuple[object, ...]:
    """What a sentence sets to what; a subject of no words of its own ("project") is told by its name."""
    return (subject_key(s.subject) or s.subject, s.attribute, s.qualifier, s.negated, value_key(s.value or ""))


def _against(note: OnlineNote, said: Statement, best: Line, relation: Relation, agreeing: Sequence[Line], skew: timedelta) -> Finding:
    """What a stronger or newer line against the note makes of it."""
    verdict, why = Verdict.CORRECTED, "a_log_says_otherwise"
    earlier = any(line.order.sort < best.order.sort for line in agreeing)
    if _WEIGHT[best.origin] == 0:
        verdict, why = Verdict.CONTRADICTED, "external_text_says_otherwise"
    elif earlier or (relation is Relation.UPDATE and not _is_correction(best) and _after(best, note, skew)):
        verdict, why = Verdict.SUPERSEDED, "changed_since"
    elif is_older(best.order, note, skew) and note.session != best.order.session:
        verdict, why = Verdict.CONTRADICTED, "an_older_log_says_otherwise"
    return Finding(note=note.uid, verdict=verdict, why=why, quotes=(best.quote,), version=best.version, corrected=best.quote.text)


def _strength(line: Line) -> tuple[int, tuple[bool, float, str, int, str], int, bool]:
    """The strongest standing, then the newest; of two readings of the same words the one a confirmed note rests on, which says it without "no,"."""
    return (_WEIGHT[line.origin], line.order.sort, line.quote.start, line.version is not None)


_DENIES = re.compile(r"[,;，；]\s*(?:and )?(?:not|不是|而不是)\s*([^,;，；。]+)", re.IGNORECASE)
_CORRECTS = re.compile(r"^\W*(?:no|nope|wrong|actually)\b|[,;]\s*not\s|不对|不是", re.IGNORECASE)


def _is_correction(line: Line) -> bool:
    """ "no, X, not Y": the old value was never right."""
    return line.statement.against is not None or bool(_CORRECTS.search(line.quote.text))


def _after(line: Line, note: OnlineNote, skew: timedelta) -> bool:
    return bool(line.order.at and note.written_at) and line.order.at - note.written_at > skew  # type: ignore[operator]


def is_older(order: OrderKey, note: OnlineNote, skew: timedelta) -> bool:
    """Clearly older than what the note's writer saw; a file's mtime is no proof, a copy or checkout moves it."""
    if note.dated_by not in _WRITTEN_RELIABLY or not order.at or not note.written_at:
        return False
    return note.written_at - order.at > (skew if note.session else max(skew, SAME_SITTING))


def _without_evidence(note: OnlineNote, known: Known) -> Verdict:
    if not known.any_log or (note.session and not known.own_log):
        return Verdict.NO_LOG
    return Verdict.UNSUPPORTED if known.own_log and not known.mentioned else Verdict.UNCHECKED


def _why_without(note: OnlineNote, known: Known) -> str:
    return {
        Verdict.NO_LOG: "its_log_is_not_here" if known.any_log else "no_log_at_all",
        Verdict.UNSUPPORTED: "its_log_says_nothing_of_it",
        Verdict.UNCHECKED: "no_line_decides",
    }[_without_evidence(note, known)]


def _things(statement: Statement) -> Iterable[frozenset[str]]:
    """What a statement is about, as words: its subject, the place its attribute is told from, and of its value what names something (numbers do not)."""
    if statement.form is not Form.SLOT:
        return
    yield frozenset(subject_key(statement.subject))
    yield frozenset(canonical_words(statement.attribute.partition(" from ")[2]))
    if statement.person.value in {"thing", "group"}:
        yield from (frozenset({w}) for w in canonical_words(statement.value or "") if w.isalpha() and len(w) > 2)


def _shares_subject(note: OnlineNote, said: Sequence[Statement], wrong: Sequence[OnlineNote], named: Mapping[str, tuple[frozenset[str], ...]]) -> str | None:
    """The wrong note of the same folder that names this note's subject; of a free sentence that says something is done, any thing it speaks of."""
    for statement in said:
        subject = frozenset(subject_key(statement.subject)) if statement.form is Form.SLOT else frozenset()
        spoken = frozenset(statement.words) if not subject and completion(statement.text) else frozenset()
        for base in wrong:
            things = [t for t in named[base.uid] if t]
            if (
                base.uid != note.uid
                and base.folder == note.folder
                and ((subject and subject <= frozenset().union(*things)) or any(t <= spoken for t in things))
            ):
                return base.uid
    return None


def _stem(target: str) -> str:
    return PurePosixPath(target.split("#")[0]).stem
