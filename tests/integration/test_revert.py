"""Taking a dream or the last change of a note back: what depended on it follows, what has evidence of its own stays, and no later dream redoes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.errors import Refused
from pipelines.model import Ruling, Status
from pipelines.run.reverting import Reverted, revert
from pipelines.run.why import why
from tests.dreaming import SCOPE, Desk, all_but_footnotes, differences, footprint, lines_with
from tests.integration.conftest import Command
from tests.writing import ClaudeLog


def taken_back(desk: Desk, name: str, *, again: bool = False, dry_run: bool = False) -> Reverted:
    with desk.store() as store:
        return revert(desk.parts(store), desk.request(), name, again=again, dry_run=dry_run, hand="test")


def log(desk: Desk, name: str, *said: str, day: int) -> Path:
    written = ClaudeLog(name).later(days=day)
    for words in said:
        written.user(words)
    return written.save(desk.logs)


def values(desk: Desk) -> dict[str, Status]:
    """What is live: value or statement → status."""
    with desk.store() as store:
        live = {Status.CONFIRMED, Status.DISPUTED, Status.DRAFT}
        return {h.version.value or h.version.statement: h.version.status for h in store.heads(SCOPE) if h.version.status in live}


PORT_1, PORT_2, PORT_3 = "The staging port is 5432.", "The staging port is 5433.", "The staging port is 5434."
RULE = "Always run migrations with `make migrate`."
HOST = "The staging host is blue-1."


def test_the_dream_before_is_what_a_revert_leaves(desk: Desk, desks: Callable[[], Desk]) -> None:
    first = log(desk, "one", PORT_1, HOST, day=0)
    desk.dream(first)
    second = log(desk, "two", PORT_2, RULE, day=3)
    dream = desk.dream(first, second).report.dream
    assert {"5433", RULE} <= values(desk).keys()
    done = taken_back(desk, dream)
    assert done.dream is not None
    other = desks()
    other.dream(log(other, "one", PORT_1, HOST, day=0))
    wiki, alone = (all_but_footnotes({p: t for p, t in d.pages().items()}) for d in (desk, other))
    assert differences(alone, wiki) == []
    assert lines_with({p: t for p, t in desk.tree().items() if p != "recent.md"}, "5433") == [], "the work log tells what was said, whatever is believed"
    assert {(s.old, s.new) for s in done.shifts} == {("The staging port is 5433.", "The staging port is 5432."), (RULE, "")}


def test_later_work_with_lines_of_its_own_stays_and_so_does_a_persons_edit(desk: Desk, desks: Callable[[], Desk]) -> None:
    first = log(desk, "one", PORT_1, HOST, day=0)
    dream = desk.dream(first).report.dream
    page = next(p for p in desk.wiki.glob("*.md") if "5432" in p.read_text(encoding="utf-8") and p.name not in {"MEMORY.md", "inbox.md", "recent.md"})
    second = log(desk, "two", PORT_2, RULE, day=3)
    desk.dream(first, second)
    own = "Ask Lee before touching it."
    page.write_text(page.read_text(encoding="utf-8").rstrip("\n") + f"\n\n{own}\n", encoding="utf-8")
    taken_back(desk, dream)
    assert values(desk).keys() == {"5433", RULE}
    assert lines_with(desk.tree(), own)
    other = desks()
    other.dream(log(other, "two", PORT_2, RULE, day=3))
    assert values(other) == values(desk)
    mine = {path: text for path, text in desk.pages().items() if own not in text}
    assert [d for d in differences(all_but_footnotes(other.pages()), all_but_footnotes(mine)) if own not in d and page.name not in d] == []


def test_three_more_dreams_do_not_redo_it_and_again_brings_it_back(desk: Desk) -> None:
    first = log(desk, "one", PORT_1, day=0)
    desk.dream(first)
    log(desk, "two", PORT_2, RULE, day=3)
    dream = desk.dream().report.dream
    before = desk.pages()
    taken_back(desk, dream)
    for n in range(3):
        (desk.logs / f"copy{n}.jsonl").write_bytes(first.read_bytes())
        desk.dream(skew_s=120 + n)  # another basis: all is believed anew
        assert values(desk).keys() == {"5432"}, f"dream {n}"
    assert taken_back(desk, dream).known
    assert not taken_back(desk, dream, again=True).known
    assert differences(before, desk.pages()) == []
    assert taken_back(desk, dream, again=True).known
    taken_back(desk, dream)
    assert values(desk).keys() == {"5432"}, "taken back a second time"
    taken_back(desk, dream, again=True)
    assert differences(before, desk.pages()) == []


def test_to_revert_a_revert_brings_back_what_it_took(desk: Desk) -> None:
    log(desk, "one", PORT_1, day=0)
    dream = desk.dream().report.dream
    undone = taken_back(desk, dream[:8])
    assert values(desk) == {}
    assert undone.dream is not None
    taken_back(desk, undone.dream.uid)
    assert values(desk).keys() == {"5432"}


def test_the_same_said_in_a_new_session_is_learnt(desk: Desk) -> None:
    log(desk, "one", PORT_1, day=0)
    taken_back(desk, desk.dream().report.dream)
    log(desk, "three", PORT_1, day=9)
    desk.dream()
    assert values(desk).keys() == {"5432"}


def test_a_dry_run_says_what_would_move_and_writes_nothing(desk: Desk) -> None:
    first = log(desk, "one", PORT_1, day=0)
    desk.dream(first)
    log(desk, "two", PORT_2, day=3)
    dream = desk.dream().report.dream
    with desk.store() as store:
        before = (store.revision(SCOPE), store.rulings(SCOPE), store.dreams(SCOPE), store.audit(SCOPE), store.dirty(SCOPE), footprint(desk.wiki))
    done = taken_back(desk, dream, dry_run=True)
    assert [(s.old, s.new) for s in done.shifts] == [("The staging port is 5433.", "The staging port is 5432.")]
    assert done.dream is None
    with desk.store() as store:
        assert (store.revision(SCOPE), store.rulings(SCOPE), store.dreams(SCOPE), store.audit(SCOPE), store.dirty(SCOPE), footprint(desk.wiki)) == before


def test_a_note_goes_back_one_change_at_a_time(desk: Desk) -> None:
    for n, port in enumerate((PORT_1, PORT_2, PORT_3)):
        log(desk, f"s{n}", port, day=n * 3)
        desk.dream()
    log(desk, "witness", PORT_3, day=12)
    desk.dream()
    with desk.store() as store:
        (note,) = {h.version.note for h in store.heads(SCOPE)}
    for value in ("5433", "5432"):
        taken_back(desk, f"n-{note}")
        assert values(desk).keys() == {value}
    taken_back(desk, f"^n-{note}")
    assert values(desk) == {}
    taken_back(desk, f"n-{note}", again=True)
    assert values(desk).keys() == {"5434"}


def test_what_a_dream_said_of_the_agents_own_notes_is_taken_back_too(desk: Desk) -> None:
    desk.note("db.md", "# Database\n\n- The staging port is 5432.\n")
    log(desk, "zero", HOST, day=0)
    desk.dream()
    before = desk.verdicts()
    log(desk, "one", "No, the staging port is 5433, not 5432.", day=3)
    dream = desk.dream().report.dream
    assert [f.corrected for _, f in desk.verdicts().values()] != [f.corrected for _, f in before.values()]
    taken_back(desk, dream)
    assert desk.verdicts() == before
    for n in range(2):
        desk.dream(skew_s=130 + n)
    assert desk.verdicts() == before
    taken_back(desk, dream, again=True)
    assert [f.corrected for _, f in desk.verdicts().values()] != [f.corrected for _, f in before.values()]


def test_what_never_changed_anything_is_refused(desk: Desk) -> None:
    log(desk, "one", PORT_1, day=0)
    planned = desk.dream(dry_run=True).report.dream
    with pytest.raises(Refused, match="changed no note"):
        taken_back(desk, planned)
    with pytest.raises(Refused, match="no dream and no note"):
        taken_back(desk, "nonesuch")


def test_the_morning_report_names_the_command_and_tells_of_the_revert(desk: Desk) -> None:
    log(desk, "one", PORT_1, day=0)
    dream = desk.dream().report.dream
    (report,) = (desk.wiki / "journal").glob("*.md")
    assert f"`dreamd revert {dream}`" in report.read_text(encoding="utf-8")
    undone = taken_back(desk, dream).dream
    text = report.read_text(encoding="utf-8").partition("## Earlier that day")[0]
    assert "The staging port is 5432. → (nothing)" in text
    assert undone is not None
    assert f"`dreamd revert {undone.uid}`" in text


LINES = ("Always write commit messages in the imperative.", "Always keep the subject of a commit short.")


def rules(desk: Desk) -> dict[str, set[str]]:
    """Note → what its claims say."""
    with desk.store() as store:
        heads = [h.version for h in store.heads(SCOPE)]
        said = store.claims(SCOPE, {c for v in heads for c in v.claims})
    return {v.note: {said[c].statement for c in v.claims if c in said} for v in heads}


def test_a_merge_is_split_each_claim_to_its_own_note_and_no_later_dream_merges_again(desk: Desk) -> None:
    log(desk, "one", *LINES, day=0)
    desk.dream()
    one, two = sorted(rules(desk))
    with desk.store() as store:
        store.add_ruling(SCOPE, Ruling(uid="m", verb="merge", target=one, other=two, at=desk.now))
        store.mark_dirty(SCOPE, {c for h in store.heads(SCOPE) for c in h.version.claims}, "ruling")
    desk.dream(skew_s=121)
    (merged,) = rules(desk)
    for n in range(3):
        log(desk, f"more{n}", *LINES, day=3 + n)
        desk.dream()
    desk.now += timedelta(hours=1)
    gone = ({one, two} - {merged}).pop()
    with desk.store() as store:
        assert [c.note for c in why(store, SCOPE, f"n-{gone}")] == [gone, merged], "the anchor of a merged note leads to where it stands"
    taken_back(desk, f"n-{gone}")
    for n in range(3):
        assert sorted(rules(desk)) == sorted((one, two)), n
        assert sorted(map(len, rules(desk).values())) == [1, 1], "each claim is with its own"
        desk.dream(skew_s=130 + n)
    taken_back(desk, f"n-{merged}", again=True)
    assert sorted(rules(desk)) == [merged]


# --- the command -------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def told(dreamd: Command, tmp_path: Path) -> Callable[..., str]:
    """Dreams over what is said in a session of that name; returns the dream's id."""

    def dream(name: str, *said: str, day: int = 0) -> str:
        written = ClaudeLog(name).later(days=day)
        for words in said:
            written.user(words)
        code, out, err = dreamd("dream", written.save(tmp_path / "logs"), "--json")
        assert code == 0, err
        return str(json.loads(out.strip().splitlines()[-1])["dream"])

    return dream


def test_the_command_says_what_changed_and_how_to_take_that_back(dreamd: Command, told: Callable[..., str], tmp_path: Path) -> None:
    told("one", PORT_1)
    dream = told("two", PORT_2, day=3)
    code, out, _ = dreamd("revert", dream, "--dry-run")
    assert (code, "would be reverted: 1 note would change" in out) == (0, True)
    code, out, _ = dreamd("revert", dream)
    assert code == 0
    assert "The staging port is 5433. → The staging port is 5432." in out
    assert f"dreamd revert {dream} --again" in out
    assert "5432" in (tmp_path / "wiki/MEMORY.md").read_text(encoding="utf-8") or "5432" in dreamd("brief")[1]
    assert "5433" not in dreamd("brief")[1]
    code, out, _ = dreamd("revert", dream)
    assert (code, "reverted already" in out) == (0, True)
    code, out, _ = dreamd("revert", dream, "--again", "--json")
    assert (code, [n["new"] for n in json.loads(out)["notes"]]) == (0, ["The staging port is 5433."])
    assert dreamd("revert", "nonesuch")[0] == 3


def test_why_says_that_a_note_was_taken_back_and_with_what(dreamd: Command, told: Callable[..., str]) -> None:
    dream = told("one", PORT_1)
    note = next(f"n-{h['uid']}" for h in json.loads(dreamd("search", "staging port", "--json")[1])["hits"] if h["kind"] == "note")
    dreamd("revert", dream)
    code, out, err = dreamd("why", note)
    assert code == 0, err
    assert f"revert dream {dream}" in out


def test_to_revert_what_a_decision_of_mine_did_takes_the_decision_back(dreamd: Command, told: Callable[..., str]) -> None:
    told("one", RULE)
    note = next(f"n-{h['uid']}" for h in json.loads(dreamd("search", "migrations", "--json")[1])["hits"] if h["kind"] == "note")
    dreamd("retract", note)
    assert "make migrate" not in dreamd("brief")[1]
    assert dreamd("revert", note)[0] == 0
    assert "make migrate" in dreamd("brief")[1]
    dreamd("revert", note, "--again")
    assert "make migrate" not in dreamd("brief")[1]


def test_a_night_that_believes_what_i_decided_is_reverted_without_my_decision(dreamd: Command, told: Callable[..., str]) -> None:
    told("one", RULE)
    note = next(f"n-{h['uid']}" for h in json.loads(dreamd("search", "migrations", "--json")[1])["hits"] if h["kind"] == "note")
    dreamd("retract", note)
    night = told("two", PORT_1, day=3)
    dreamd("revert", night)
    assert "make migrate" not in dreamd("brief")[1]
