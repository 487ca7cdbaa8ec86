"""What a page is rendered from: bullets, their history, and the places carried lines point to."""

from datetime import UTC, datetime, timedelta

from pipelines.model import Basis, Claim, Kind, Origin, Place, Quote, Role, Standing, Status, Turn, Version
from pipelines.notes.folder import read_text
from pipelines.run.carried import carried_item, nested
from pipelines.run.evidence import Evidence
from pipelines.run.noted import note_item, one_a_sentence
from pipelines.wiki.content import Cite, HistoryLine, Item

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SAID = "We moved the ingest queue from 4 to 6 workers."


def item(uid: str, statement: str, *, kind: Kind = Kind.FACT, line: int = 3, past: str = "") -> Item:
    cite = Cite(session="s1", line=line, at=AT + timedelta(minutes=line), who="user", quote=statement)
    return Item(
        uid=uid, kind=kind, status=Status.CONFIRMED, subject="ingest", statement=statement, cites=(cite,),
        history=(HistoryLine(statement=past, cites=(cite,)),) if past else (),
    )  # fmt: skip


def version(value: str, statement: str, status: Status, claim: str) -> Version:
    return Version(
        note="n1", slot=value, kind=Kind.FACT, subject="ingest queue", attribute="workers", qualifier="", statement=statement, value=value, status=status,
        standing=Standing.VERIFIED, basis=Basis.STATED, claims=(claim,), valid_from=AT,
    )  # fmt: skip


def evidence() -> tuple[Evidence, str]:
    turn = Turn(uid="t1", snap="x", session="s1", ordinal=0, role=Role.USER, origin=Origin.USER, text=SAID, place=Place(line=3, offset=0, length=9), at=AT)
    quote = Quote(turn="t1", start=0, end=len(SAID), text=SAID)
    claim = Claim(kind=Kind.FACT, subject="ingest queue", attribute="workers", statement=SAID, value="6", old_value="4", quotes=(quote,))
    return Evidence(claims={claim.uid: claim}, turns={"t1": turn}), claim.uid


def test_two_notes_of_one_sentence_are_one_bullet() -> None:
    kept = one_a_sentence(
        [item("b", "Releases need two approvals, always."), item("a", "Releases need two approvals, always."), item("c", "Tabs, never spaces.")]
    )
    assert [i.uid for i in kept] == ["a", "c"]


def test_the_bullet_that_stays_is_the_rule_and_has_the_evidence_and_history_of_both() -> None:
    fact = item("a", "Deploys go out on Mondays.", line=9, past="Deploys go out on Fridays.")
    rule = item("b", "Deploys go out on Mondays.", kind=Kind.RULE, line=4)
    (kept,) = one_a_sentence([fact, rule])
    assert (kept.uid, kept.kind) == ("b", Kind.RULE)
    assert [c.line for c in kept.cites] == [4, 9]
    assert [h.statement for h in kept.history] == ["Deploys go out on Fridays."]


def test_history_shows_the_old_value_where_only_the_replacing_sentence_names_it() -> None:
    known, claim = evidence()
    found = note_item([version("6", SAID, Status.CONFIRMED, claim), version("4", SAID, Status.SUPERSEDED, claim)], known)
    assert found is not None
    assert [h.statement for h in found.history] == ["ingest queue workers: 4"]


def test_history_keeps_the_sentence_that_first_said_the_old_value() -> None:
    known, claim = evidence()
    old = version("4", "The ingest queue has 4 workers.", Status.SUPERSEDED, claim)
    found = note_item([version("6", SAID, Status.CONFIRMED, claim), old], known)
    assert found is not None
    assert [h.statement for h in found.history] == ["The ingest queue has 4 workers."]


def test_a_note_known_from_a_log_goes_by_the_last_part_of_its_folder() -> None:
    known = read_text("- The relay sleeps at night.\n", folder="/home/ana/.agent/projects/harbor/memory", path="relay.md", session="s1", turn="t1")[1]
    own = read_text("- The relay sleeps at night.\n", folder="harbor/memory", path="relay.md")[1]
    nothing = Evidence(claims={}, turns={})
    assert [carried_item(n, None, {}, nothing).cites[0].source for n in (*known, *own)] == ["memory/relay.md", "harbor/memory/relay.md"]


def test_a_list_below_a_line_in_bold_stands_under_it() -> None:
    text = "Scripts:\n\n**land.py**\n- calls the pilot\n- waits\n\n__moor.py__\n- ties the ropes\n\n**Always moor** before you land.\n\n- by night too\n"
    notes = read_text(text, folder="f", path="a.md")[1]
    depths = nested(notes)
    assert [(n.text, depths[n.uid]) for n in notes] == [
        ("Scripts:", 0),
        ("land.py", 0),
        ("calls the pilot", 1),
        ("waits", 1),
        ("moor.py", 0),
        ("ties the ropes", 1),
        ("Always moor before you land.", 0),
        ("by night too", 0),
    ]


def test_a_list_below_a_paragraph_that_leads_in_stands_under_it() -> None:
    text = "Land like this:\n\n- call\n  - by radio\n- wait\n\nThen rest.\n\n- eat\n\n## Later\n\n- sleep\n"
    notes = read_text(text, folder="f", path="a.md")[1]
    depths = nested(notes)
    assert [(n.text, depths[n.uid]) for n in notes] == [
        ("Land like this:", 0),
        ("call", 1),
        ("by radio", 2),
        ("wait", 1),
        ("Then rest.", 0),
        ("eat", 0),
        ("sleep", 0),
    ]
