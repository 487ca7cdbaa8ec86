"""The inbox, the work log and the morning report."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

import mdformat
import pytest

from pipelines.model import Kind, Status, Verdict
from pipelines.wiki.content import Content, Work
from pipelines.wiki.doors import Moved
from pipelines.wiki.inbox import Waits, corrections, entries, inbox, queue
from pipelines.wiki.inline import plain, words
from pipelines.wiki.journal import LINES_MAX, Corrected, Level, Report, bloat, closing, journal_path, report, told_already
from pipelines.wiki.page import OWN_MARK
from pipelines.wiki.recent import recent, within
from tests.unit.wiki.samples import CONTENT, at, carried, item

EXTENSIONS = {"footnote", "frontmatter", "gfm"}
INBOX = inbox(queue(entries(CONTENT)))


def drafts(count: int) -> Content:
    return Content(
        title="x",
        items=tuple(
            item(f"dr{n:03d}", f"Perhaps {n}.", status=Status.DRAFT, missed="said_once" if n % 2 else "one_session", subject="user") for n in range(count)
        ),
    )


def test_each_thing_that_waits_has_its_id_and_the_command_that_explains_it() -> None:
    assert "- Owner: Platform (ticket) or Payments (Lee): `dreamd why n-5d11cc09qrst` [^1] [^2] ^n-5d11cc09qrst\n" in INBOX
    assert (
        '- `memory/deploy.md` line 5 says "Retention is 90 days."; it should say "Retention is 30 days.": `dreamd why n-aaaa00000003` [^3] ^n-aaaa00000003\n'
        in INBOX
    )
    assert "- The nightly job might need more memory. (you said it once; is it meant for good?): `dreamd why n-drdr11111111` [^5] ^n-drdr11111111\n" in INBOX


def test_twenty_are_shown_and_the_rest_counted_by_reason() -> None:
    text = inbox(queue(entries(drafts(31))))
    assert text.count("`dreamd why ") == 20
    assert "31 things wait for you;" in text
    rest = text[text.index("## Not shown") :]
    assert rest.startswith("## Not shown\n\n- ")
    assert sum(int(row.split()[1]) for row in rest.split("\n") if row.startswith("- ")) == 11


def test_what_would_be_a_rule_and_was_heard_twice_comes_first() -> None:
    rule = item("rule1", "Never do it.", kind=Kind.RULE, status=Status.DRAFT, subject="user")
    twice = item("twice", "It is so.", status=Status.DRAFT, sessions=2, subject="user")
    found = entries(Content(title="x", items=(*drafts(3).items, rule, twice)))
    assert [e.uid for e in found][:2] == ["twice", "rule1"]


def test_text_under_quarantine_is_named_without_its_words() -> None:
    assert (
        "- Words that order their reader about and that you did not type, in the output of a command (`3f9c21ab…`, line 5): "
        "`dreamd review show n-quququ555555` ^n-quququ555555\n" in INBOX
    )


def test_a_draft_that_another_session_settles_is_not_asked_about() -> None:
    for kind, miss in ((Kind.PROCEDURE, "worked_in_one_session"), (Kind.PROCEDURE, "words_not_in_quote"), (Kind.FACT, "seen_in_one_session")):
        assert entries(Content(title="x", items=(item("dr1", "Run `make`.", kind=kind, status=Status.DRAFT, missed=miss),))) == ()
    assert len(entries(Content(title="x", items=(item("dr1", "Use `make`.", kind=Kind.RULE, status=Status.DRAFT, missed="said_once"),)))) == 1


def test_what_is_to_be_checked_again_says_why_once_wherever_it_is_listed() -> None:
    note = item("rc1", "The port is 5432.", status=Status.NEEDS_RECHECK, missed="may_have_changed")
    (entry,) = entries(Content(title="x", items=(note,)))
    assert (words(entry.spans), entry.why) == ("The port is 5432. (it may have changed since)", "")
    line = carried(
        "rc2", "Restore with make restore.", 1, verdict=Verdict.NEEDS_RECHECK, missed="failed_since", remark="needs recheck, it failed on 2 Mar 2026"
    )
    (entry,) = entries(Content(title="x", items=(line,)))
    assert words(entry.spans) == "Restore with make restore. needs recheck, it failed on 2 Mar 2026"


def test_an_empty_inbox_says_so_and_keeps_the_persons_words() -> None:
    assert inbox(queue(()), own="mine\n") == f"# Inbox\n\nNothing waits for you.\n\n{OWN_MARK}\nmine\n"


def test_the_inbox_and_the_work_log_are_left_alone_by_a_formatter() -> None:
    for text in (INBOX, inbox(queue(entries(drafts(31)))), recent(CONTENT.work, CONTENT.newest_evidence)):
        assert mdformat.text(text, extensions=EXTENSIONS) == text


def test_the_work_log_holds_fourteen_days_before_the_newest_evidence() -> None:
    text = recent(CONTENT.work, CONTENT.newest_evidence)
    assert "too old" not in text
    assert '- 22:41–01:41 UTC on 25 Nov 2026 `bug-fix-01`: "why does the build stop?" [^2]\n  - 8 files not committed: `a.py`, `b.py` and 6 more\n' in text
    assert text[text.index("- 09:41") : text.index("<!--")] == (
        '- 09:41–11:41 UTC `main`: Ports: `/init`, then "mend the build" [^3]\n  - 2 commits:\n    - `d8f0b8b` fix: build\n    - `218fc8a` docs\n'
        "  - 17 files: `src/build.py` and 16 more\n  - Last tests, `pytest`: 3 passed in 1s; failed: `mypy`\n  - Open todos, 4 of 6: ship it; and 3 more\n"
        '  - Ended with an error: "API Error: 529"\n\n'
    )
    assert text.index("24 Nov 2026") < text.index("12 Nov 2026")


def test_times_are_told_by_the_offset_the_log_states_and_the_day_is_the_persons() -> None:
    late = Work(session="a", started=at(12, 22, 30), ended=at(12, 23, 10), zone="+02:00", asked="who is first?")
    early = Work(session="b", started=at(12, 23, 0), ended=None, asked="and I?")
    text = recent([early, late], at(13))
    assert text.index("## 13 Nov 2026\n\n- 00:30–01:10 +02:00: ") < text.index("## 12 Nov 2026\n\n- 23:00 UTC: ")


def test_sessions_without_a_time_come_last_and_many_are_counted() -> None:
    works = [Work(session=f"s{n}", started=at(12) + timedelta(minutes=n), ended=None) for n in range(70)]
    unknown = Work(session="u", started=None, ended=None, asked="when was this?")
    assert within([unknown, *works], at(12))[-1] is unknown
    text = recent((*works, unknown), Content(title="x", work=(*works, unknown)).newest_evidence)
    assert text.count("\n- ") == 60
    assert "11 more sessions in these 14 days.\n" in text


# --- the morning report ------------------------------------------------------------------------------------------------------------------

FULL = Report(
    day=date(2026, 11, 29), waiting=entries(CONTENT), corrected=tuple(Corrected(old=f"old {n}", new=f"new {n}", proof="it is new", path="memory/a.md", line=n) for n in range(1, 9)),
    learnt=tuple(f"Learnt {n}." for n in range(20)), work=(plain("22 Jul: two commits on main"),), merged=("one into another",), retired=("gone",), refused={"origin": 12, "instruction": 1, "follows": 0},
    left_out=tuple(Moved(section="Pages", text=f"line {n}", page="a.md", why="no_room") for n in range(30)), redacted=3, drafts=4,
    undo="dreamd revert 5xypcnpsm2u5",
)  # fmt: skip


def test_the_report_has_at_most_forty_lines_and_every_part() -> None:
    text = report(FULL)
    assert text is not None
    assert text.count("\n") <= LINES_MAX
    assert text.startswith("# Dream of 29 Nov 2026\n\n8 corrected, 20 learnt, 1 merged, 1 retired, 4 drafts; 6 wait for you.\n\n- **Waiting for you**\n")
    assert '  - old 1 → new 1, for the log says "it is new" (still in `memory/a.md` line 1)\n' in text
    assert "- **Refused**\n  - 12 not said by you or shown by a result, 1 orders nobody typed\n- **Masked**\n  - 3 secrets\n" in text
    assert re.findall(r"^- \*\*(.*)\*\*$", text, re.MULTILINE) == [
        "Waiting for you", "Corrected", "Learnt", "Work", "Merged and retired", "Refused", "Masked", "Not whole in the brief", "Undo",
    ]  # fmt: skip
    assert text.split(OWN_MARK)[0].strip().endswith("- **Undo**\n  - `dreamd revert 5xypcnpsm2u5`")
    assert "  - and " in text
    assert mdformat.text(text, extensions=EXTENSIONS) == text


def waiting_rows(told: Report) -> list[str]:
    text = report(told) or ""
    return text[text.index("**Waiting for you**") : text.index("- **Corrected**")].strip().split("\n")[1:]


def test_at_most_three_things_wait_each_with_its_command_and_the_rest_is_counted() -> None:
    *named, rest = waiting_rows(FULL)
    assert len(named) == 3
    assert all("`dreamd " in row for row in named)
    assert rest == "  - and 3 more: `dreamd review`"
    assert waiting_rows(replace(FULL, more_waiting=40))[-1] == "  - and 43 more: `dreamd review`"
    assert len(waiting_rows(replace(FULL, waiting=entries(CONTENT)[:3]))) == 3


def test_each_thing_that_waits_has_the_command_that_closes_it() -> None:
    closed = {e.waits: closing(e) for e in entries(CONTENT)}
    assert closed.keys() >= {Waits.DISPUTE, Waits.CORRECTION, Waits.DRAFT, Waits.QUESTION, Waits.QUARANTINE}
    assert closed[Waits.CORRECTION] == "dreamd notes apply"
    assert closed[Waits.DRAFT].startswith("dreamd review accept n-")
    assert closed[Waits.QUARANTINE] == "dreamd review reject n-quququ555555"


@pytest.mark.parametrize(
    ("said", "row"),
    [
        ("We start with the ferry.", "We start with the ferry: "),
        ("先做渡轮。", "先做渡轮: "),
        ("Cut off here ...", "Cut off here ...: "),
        ("Run `make ferry`", "Run `make ferry`: "),
    ],
)
def test_a_sentence_that_waits_goes_on_to_its_command_without_a_full_stop(said: str, row: str) -> None:
    drafted = next(e for e in entries(CONTENT) if e.waits is Waits.DRAFT)
    (line,) = waiting_rows(replace(FULL, waiting=(replace(drafted, spans=plain(said)),), more_waiting=0))
    assert line.startswith(f"  - {row}`dreamd review accept n-")


def test_wrong_lines_of_note_files_are_one_thing_to_close() -> None:
    (one,) = corrections([replace(CONTENT.corrections[0], fixed=False)])
    drafted = next(e for e in entries(CONTENT) if e.waits is Waits.DRAFT)
    rows = waiting_rows(replace(FULL, waiting=(one, replace(one, uid="b"), replace(one, uid="c"), drafted, drafted, drafted)))
    assert rows[0] == "  - 3 lines of your own note files say the wrong thing: `dreamd notes apply`"
    assert rows[3:] == ["  - and 1 more: `dreamd review`"]


def test_one_draft_is_one() -> None:
    assert "\n1 learnt, 1 draft.\n" in (report(Report(day=date(2026, 11, 29), learnt=("x",), drafts=1)) or "")


def test_a_correction_says_which_sessions_had_been_told_the_wrong_note() -> None:
    change = Corrected(old="It is 1.", new="It is 2.", told=3, since=date(2026, 11, 12))
    assert "  - It is 1. → It is 2; told to 3 sessions since 12 Nov 2026\n" in (report(Report(day=date(2026, 11, 29), corrected=(change,))) or "")


def test_what_waits_is_told_with_the_value_it_ends_in() -> None:
    wrong = "The relay of the outer harbor listens for the pilots, the tugs and the ferries on port 6001, on weekdays and on Sundays alike."
    right = wrong.replace("6001", "6002")
    (waits,) = corrections([replace(CONTENT.corrections[0], wrong=wrong, right=right, fixed=False)])
    (row,) = waiting_rows(replace(FULL, waiting=(waits,)))
    assert row.count("port 6001") == row.count("port 6002") == 1


def test_notes_that_were_right_once_are_counted_as_what_their_verdict_is_called() -> None:
    over = tuple(replace(c, over=c.line in {1, 2}) for c in FULL.corrected[:4])
    text = report(replace(FULL, corrected=over, checked={"corrected": 2, "superseded": 2})) or ""
    assert "\n2 corrected, 2 superseded, 20 learnt" in text


@pytest.mark.parametrize(("count", "words"), [(1, "; 1 waits for you."), (2, "; 2 wait for you.")])
def test_the_first_line_counts_what_waits(count: int, words: str) -> None:
    assert words in (report(replace(FULL, waiting=entries(CONTENT)[:count])) or "")


def test_a_dream_that_changed_nothing_writes_none() -> None:
    assert report(Report(day=date(2026, 11, 29), refused={"origin": 5}, waiting=entries(CONTENT), work=(plain("x"),))) is None
    assert report(replace(FULL, corrected=(), learnt=(), merged=(), retired=(), drafts=0, problems=("3 quiet nights with eligible drafts",))) is not None


def test_the_report_of_a_day_has_its_own_file() -> None:
    assert journal_path(date(2026, 11, 29)) == "journal/2026-11-29.md"


@pytest.mark.parametrize(
    ("said", "pages", "level"), [(99_999, 90_000, Level.SMALL), (100_000, 50_000, Level.OK), (100_000, 50_001, Level.WARN), (100_000, 100_001, Level.FAULT)]
)
def test_bloat_is_judged_from_100_kilobytes_on(said: int, pages: int, level: Level) -> None:
    assert bloat([b"x" * pages], said=said).level is level


def test_footnotes_are_no_bloat() -> None:
    assert bloat([b"abc\n\n[^1]: long footnote\n"], said=10).pages == len(b"abc\n\n")


def test_notes_judged_for_the_first_time_are_reported_though_nothing_was_learnt() -> None:
    text = report(Report(day=date(2026, 11, 29), checked={"no_log": 40, "duplicate": 2}))
    assert text is not None
    assert "\n42 of your own notes looked at.\n" in text
    assert "- **Your own notes**\n  - 2 duplicate, 40 no log\n" in text


def test_a_proof_in_the_very_words_of_the_correction_is_not_said_twice() -> None:
    text = report(Report(day=date(2026, 11, 29), corrected=(Corrected(old="It is 1.", new="It is 2.", proof="It is 2", path="memory/a.md", line=3),)))
    assert text is not None
    assert "  - It is 1. → It is 2. (still in `memory/a.md` line 3)\n" in text


def test_a_second_report_of_a_day_keeps_the_first_below_it() -> None:
    day_ = date(2026, 11, 29)
    first = report(Report(day=day_, learnt=("It is 1.",)))
    second = report(Report(day=day_, learnt=("It is 2.",)), before=first or "")
    third = report(Report(day=day_, learnt=("It is 3.",)), before=second or "")
    assert third is not None
    assert [third.index(f"It is {n}.") for n in (3, 2, 1)] == sorted(third.index(f"It is {n}.") for n in (3, 2, 1))
    assert third.count("# Dream of 29 Nov 2026") == 1
    assert third.endswith(f"{OWN_MARK}\n")
    assert third.count(OWN_MARK) == 1
    assert (told_already(first or "", third), told_already(report(Report(day=day_, learnt=("It is 3.",))) or "", third)) == (False, True)
    assert mdformat.text(third, extensions=EXTENSIONS) == third
    assert "It is 1" not in (report(Report(day=date(2026, 11, 30), learnt=("It is 2.",)), before=first or "") or "")


def test_later_reports_of_a_day_repeat_no_work_and_what_waits_and_a_command_is_one_line() -> None:
    base = Report(day=date(2026, 11, 29), waiting=entries(CONTENT), work=(plain("Fix the build"),))
    text = report(replace(base, learnt=("It is 1.",), undo="dreamd revert aa")) or ""
    for n in (2, 3):
        text = report(replace(base, learnt=(f"It is {n}.",), undo=f"dreamd revert b{n}", said_at=f"10:0{n}"), before=text) or ""
    again = report(replace(base, corrected=(Corrected(old="It is 3.", new="It is 4."),), undo="dreamd revert cc", said_at="10:04"))
    assert "- **You said**\n  - 10:04 UTC It is 3. → It is 4; undo: `dreamd revert cc`\n" in (again or "")
    text = report(replace(base, learnt=("It is 5.",), undo="dreamd revert dd"), before=text) or ""
    assert [text.count(x) for x in ("**Work**", "**Waiting for you**", "**You said**", "**Undo**", "## Earlier that day")] == [1, 1, 1, 2, 1]
    assert "- **You said**\n  - 10:03 UTC It is 3; undo: `dreamd revert b3`\n  - 10:02 UTC It is 2; undo: `dreamd revert b2`\n" in text
    assert text.index("It is 5") < text.index("It is 3") < text.index("It is 1")
    assert mdformat.text(text, extensions=EXTENSIONS) == text


def test_an_earlier_report_keeps_the_work_no_later_one_tells() -> None:
    def made(n: int, *work: str, before: str = "") -> str:
        return report(Report(day=date(2026, 11, 29), learnt=(f"It is {n}.",), work=tuple(map(plain, work)), undo=f"dreamd revert d{n}"), before=before) or ""

    first = made(1, '29 Nov 2026 08:00–08:10 UTC `main`: "Fix the gate", 1 commit', '29 Nov 2026 07:00–07:10 UTC `main`: "Paint the quay"')
    second = made(2, '29 Nov 2026 08:00–09:40 UTC `main`: "Fix the gate", 2 commits', '29 Nov 2026 10:00–10:05 UTC `main`: "Ring the bell"', before=first)
    newest, _, earlier = second.partition("## Earlier that day")
    assert "Fix the gate" in newest
    assert "Fix the gate" not in earlier, "the session went on and is told above"
    assert '- **Work**\n  - 29 Nov 2026 07:00–07:10 UTC `main`: "Paint the quay"\n- **Undo**' in earlier
    third = made(3, '29 Nov 2026 11:00–11:05 UTC `main`: "Oil the hinge"', before=second)
    assert [third.count(x) for x in ("Paint the quay", "Fix the gate", "Ring the bell", "Oil the hinge", "**Work**")] == [1, 1, 1, 1, 3]
    assert mdformat.text(third, extensions=EXTENSIONS) == third


def test_a_correction_goes_on_to_its_proof_without_a_full_stop() -> None:
    changes = (Corrected(old="It is 8080.", new="It is 8081 now.", proof="we moved it"), Corrected(old="a", new="b (see c).", proof="d"))
    text = report(Report(day=date(2026, 11, 29), corrected=changes)) or ""
    assert '→ It is 8081 now, for the log says "we moved it"' in text
    assert '→ b (see c), for the log says "d"' in text


def test_masked_secrets_are_not_refused() -> None:
    assert "- **Masked**\n  - 1 secret\n" in (report(Report(day=date(2026, 11, 29), learnt=("x",), redacted=1)) or "")
