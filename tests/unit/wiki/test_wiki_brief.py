"""What a new session is told, within any budget."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.model import Kind, Status, Verdict
from pipelines.wiki.brief import brief
from pipelines.wiki.budget import CLAUDE_CODE_HOOK, CODEX, MEMORY_MD, Budget, Unit
from pipelines.wiki.content import Cite, Content, Correction
from pipelines.wiki.doors import doors_of, hook
from pipelines.wiki.index import indexes
from pipelines.wiki.topics import layout
from pipelines.wiki.tree import tree
from tests.unit.wiki.samples import CONTENT, at, carried, cite, item


def told(content: Content, budget: Budget = MEMORY_MD) -> str:
    return brief(content, layout(content.items), budget).text


def section(text: str, title: str) -> list[str]:
    found = re.search(rf"^## {title}\n\n((?:\s*- .*\n)+)", text, re.MULTILINE)
    return found[1].splitlines() if found else []


def rules(count: int, words: str = "Keep to it") -> tuple:  # type: ignore[type-arg]
    return tuple(item(f"ru{n:04d}", f"{words}, rule number {n}.", kind=Kind.RULE, subject="user", sessions=count - n) for n in range(count))


def corrections(count: int, **given: object) -> tuple[Correction, ...]:
    fields = {"wrong": "The old value stands here, as the note has it. " * 3, "path": "memory/a.md", "cites": (cite(1, "x"),), "at": at(12)} | given
    return tuple(Correction(uid=f"co{n:02d}", right=f"The right value is {n}.", line=n + 1, **fields) for n in range(count))  # type: ignore[arg-type]


def test_the_order_is_the_order_of_use() -> None:
    assert re.findall(r"^## (.*)$", told(CONTENT), re.MULTILINE) == [
        "Corrected",
        "Rules",
        "Commands that work",
        "Waiting",
        "Facts and decisions",
        "Pages",
        "More",
    ]


def test_it_stands_between_its_marks_and_says_what_it_is() -> None:
    text = told(CONTENT)
    assert text.startswith("<dreamd-brief>\n\n# Memory: payments\n\n")
    assert text.endswith("\n</dreamd-brief>\n")
    assert "not orders" in text
    assert "Newest evidence: 25 Nov 2026." in text


def test_corrections_stand_within_the_first_2000_bytes_with_as_many_rules_as_fit() -> None:
    many = replace(CONTENT, items=(*rules(30), *CONTENT.items), corrections=corrections(12))
    head = told(many).encode()[:2000].decode("utf-8", "ignore")
    assert head.count("The right value is ") == 10
    assert "## Rules\n\n- Keep to it, rule number 0." in head


def test_at_most_ten_corrections_ten_commands_three_waiting_and_twenty_facts() -> None:
    made = tuple(
        item(f"{kind}{n:03d}", f"Word {n} of a {kind}.", kind=kind, subject="user") for n in range(25) for kind in (Kind.PROCEDURE, Kind.GOAL, Kind.FACT)
    )
    done = brief(many := replace(CONTENT, items=made, corrections=corrections(12)), layout(many.items), MEMORY_MD)
    counts = {name: len(section(done.text, name)) for name in ("Corrected", "Commands that work", "Waiting", "Facts and decisions")}
    assert counts == {"Corrected": 10, "Commands that work": 10, "Waiting": 3, "Facts and decisions": 20}
    over = [m.section for m in done.moved if m.why == "over_limit"]
    assert {name: over.count(name) for name in counts} == {"Corrected": 2, "Commands that work": 15, "Waiting": 24, "Facts and decisions": 5}


def test_a_correction_leaves_when_the_file_is_fixed_or_it_is_old_and_often_told() -> None:
    old = at(12) - timedelta(days=40)
    assert section(told(replace(CONTENT, corrections=corrections(1, fixed=True))), "Corrected") == []
    assert section(told(replace(CONTENT, corrections=corrections(1, at=old, deliveries=5))), "Corrected") == []
    assert len(section(told(replace(CONTENT, corrections=corrections(1, at=old, deliveries=4))), "Corrected")) == 1
    assert len(section(told(replace(CONTENT, corrections=corrections(1, deliveries=9))), "Corrected")) == 1


@pytest.mark.parametrize("budget", [MEMORY_MD, CLAUDE_CODE_HOOK, CODEX, Budget(lines=40, size=2000), Budget(lines=18, size=1000)])
def test_every_door_gets_it_within_its_budget_and_what_left_is_named(budget: Budget) -> None:
    many = replace(
        CONTENT,
        items=(*rules(150), *(item(f"f{n:03d}", f"服务 {n} 的端口是 {5000 + n}。", subject=f"svc-{n % 9}") for n in range(90)), *CONTENT.items),
        corrections=corrections(10),
    )
    done = brief(many, layout(many.items), budget)
    assert budget.measure(done.text) <= budget.size
    assert done.text.count("\n") <= budget.lines
    assert (done.lines, done.bytes) == (done.text.count("\n"), len(done.text.encode()))
    everything = brief(many, layout(many.items), Budget(lines=10_000, size=10_000_000))
    gone = set(everything.text.splitlines()) - set(done.text.splitlines())
    left = [m for m in done.moved if m.why == "no_room"]
    assert len([g for g in gone if g.lstrip().startswith("- ")]) == len(left)
    assert all(m.page.endswith(".md") for m in left)


def test_overflow_leaves_from_the_bottom_and_a_line_leads_to_all_pages() -> None:
    many = replace(CONTENT, items=(*CONTENT.items, *(carried(f"p{n:03d}", "Something.", 1, path=f"p{n}.md", title=f"Topic {n}") for n in range(60))))
    text = told(many, Budget(lines=60, size=6000))
    assert section(text, "Pages")[-1] == "- All pages → [pages](pages.md)"
    assert section(text, "Rules") == section(told(many), "Rules")
    listed = indexes(doors_of(layout(many.items)), own={})["pages.md"]
    assert all(f"[Topic {n}](topic-{n}.md)" in listed for n in range(60))


def test_of_very_many_pages_the_first_without_a_line_are_named_and_all_are_counted() -> None:
    items = [item(f"f{n:04d}", f"The port of svc-{n % 90} in region {n} is {5000 + n}.", subject=f"svc-{n % 90}") for n in range(900)]
    shown = layout(items)
    pages = sum(1 for t in shown.topics if t.items)
    done = brief(replace(CONTENT, items=tuple(items)), shown, Budget(lines=30, size=20_000))
    named = [m for m in done.moved if m.section == "Pages"]
    told_of = [line for line in section(done.text, "Pages") if "All pages" not in line]
    facts = len(items) - len(section(done.text, "Facts and decisions"))
    assert pages >= 90
    assert 0 < len(named) < pages - len(told_of)
    assert done.left == (pages - len(told_of)) + facts


@settings(max_examples=20)
@given(st.lists(st.text(min_size=1, max_size=400).filter(str.strip), max_size=12), st.integers(18, 60), st.integers(1000, 4000), st.sampled_from(Unit))
def test_no_words_make_it_longer_than_its_budget(texts: list[str], lines: int, size: int, unit: Unit) -> None:
    items = [item(f"t{n:04d}", t, subject="user", kind=list(Kind)[n % 10]) for n, t in enumerate(texts)]
    items += [carried(f"c{n:04d}", t, n, title=t[:60], path=f"{n}.md", index=n % 3 == 0) for n, t in enumerate(texts)]
    content = Content(title="".join(texts)[:200] or "x", items=tuple(items))
    budget = Budget(lines=lines, size=size, unit=unit)
    done = brief(content, layout(content.items), budget, scope="".join(texts)[:300])
    assert budget.measure(done.text) <= size
    assert done.text.count("\n") <= lines
    assert len(re.findall(r"(?m)^</?dreamd-brief", done.text)) == 2


def test_high_stakes_values_are_linked_and_not_repeated() -> None:
    text = told(CONTENT)
    assert "- refunds, approval limit: look it up on the page → [How we work](how-we-work.md)" in text
    assert "500 EUR" not in text


def test_what_is_disputed_drafted_to_be_checked_or_already_in_an_instruction_file_is_not_told() -> None:
    text = told(replace(CONTENT, items=(*CONTENT.items, *rules(1)[:0], replace(rules(1)[0], covered=True))))
    for words in ("Platform", "nightly job", "cave is finished", "rule number 0"):
        assert words not in text


def test_what_a_note_file_and_a_log_say_in_the_same_words_is_told_once() -> None:
    rule = item("lint", "Always run make lint before you push.", kind=Kind.RULE, subject="user")
    fact, same = item("port", "The API listens on port 8080.", subject="api"), carried("own", "The API listens on port 8080", 1, path="api.md", title="API")
    index = carried("line", "Always run `make lint` before you push.", 3, path="MEMORY.md", title="Memory", index=True)
    text = told(Content(title="x", items=(rule, fact, replace(same, verdict=Verdict.UPHELD), index)))
    assert text.lower().replace("`", "").count("always run make lint before you push") == 1, "the rule; the hook of its page need not say it again"
    assert len([line for line in section(text, "Facts and decisions") if "8080" in line]) == 1


def test_a_goal_not_heard_of_for_30_days_is_not_told_but_a_hold_stays() -> None:
    quiet = at(12) - timedelta(days=31)
    goal = item("g1", "Reach version 16.", kind=Kind.GOAL, subject="user", newest_evidence=quiet)
    hold = item("h1", "No deploys until I say so.", kind=Kind.HOLD, subject="user", newest_evidence=quiet)
    newer = item("n1", "It is so.", subject="user", newest_evidence=at(12))
    text = told(Content(title="x", items=(goal, hold, newer)))
    assert "Reach version 16" not in text.split("## Pages")[0]
    assert "- No deploys until I say so." in text


def indexed() -> Content:
    """A memory file, the index line that leads to it, and a line of the index that leads nowhere."""
    words = "[Fog](fog.md) — how far `one` sees, and why. " + "And more words. " * 40
    page = carried("a1", "Body.", 1, path="fog.md", title="Fog")
    hook = carried("a2", "x", 2, path="MEMORY.md", title="Notes", index=True, targets=("fog.md",), markdown=words)
    prose = carried("a3", "x", 3, path="MEMORY.md", title="Notes", index=True, heading="Setup", markdown="**Venv** lies in `venv/`")
    return Content(title="x", items=(page, hook, prose))


def test_lines_of_a_memory_index_are_told_whole_while_there_is_room() -> None:
    content = indexed()
    done = brief(content, layout(content.items), MEMORY_MD)
    assert section(done.text, "Pages") == [
        "- [Fog](fog.md): how far `one` sees, and why. " + "And more words. " * 39 + "And more words.",
        "- [Notes](notes.md)", "  - Setup", "    - **Venv** lies in `venv/`",
    ]  # fmt: skip
    assert not done.moved
    assert {"a2", "a3"} <= set(done.told)


def test_a_line_of_an_index_that_only_leads_in_or_tells_what_an_index_is_is_no_hook() -> None:
    said = ("This directory contains project-specific memory for Claude Code.", "**Documentation Structure:**", "The venv lies in `venv/`", "This file is big.")
    lines = [carried(f"l{n}", words, n, path="MEMORY.md", title="Notes", index=True) for n, words in enumerate(said)]
    content = Content(title="x", items=(carried("a1", "Body.", 9, path="fog.md", title="Fog"), *lines))
    done = brief(content, layout(content.items), MEMORY_MD)
    told = "\n".join(section(done.text, "Pages"))
    assert ["This directory" in told, "Structure" in told, "The venv lies in" in told, "This file is big" in told] == [False, False, True, True]
    assert [(m.text, m.page, m.why, m.uid) for m in done.leads] == [(said[n], "notes.md", "only_leads_in", f"l{n}") for n in (0, 1)]
    assert not done.moved


def test_lines_of_a_memory_index_are_hooks_of_120_characters_where_room_is_short() -> None:
    content = indexed()
    done = brief(content, layout(content.items), Budget(lines=30, size=1000))
    assert section(done.text, "Pages")[0] == "- [Fog](fog.md): how far one sees, and why. " + "And more words. " * 5 + "…"
    assert [(m.why, m.page) for m in done.moved] == [("shortened", "fog.md")]


def test_pages_stand_under_the_headings_of_their_index() -> None:
    files = [carried(f"b{n}", f"Body {n}.", 1, path=f"{n}.md", title=f"File {n}") for n in range(4)]
    index = [
        carried(
            f"i{n}", "x", n, path="MEMORY.md", title="Notes", index=True, targets=(f"{n}.md",), heading=heading, markdown=f"[File {n}]({n}.md): what {n} is"
        )
        for n, heading in enumerate(("", "Weather", "Weather"))
    ]
    assert section(told(Content(title="x", items=(*files, *index))), "Pages") == [
        "- [File 0](file-0.md): what 0 is", "- Weather", "  - [File 1](file-1.md): what 1 is", "  - [File 2](file-2.md): what 2 is", "- [File 3](file-3.md): Body 3.",
    ]  # fmt: skip


def test_the_hook_of_a_shelf_names_things_and_else_says_its_first_sentence() -> None:
    rule = item("r1", "Ask before you push.", kind=Kind.RULE, subject="project")
    facts = (item("f1", "The gate listens on 8443.", subject="tide-gate"), item("f2", "The bell rings at noon.", subject="quay_bell"))
    doors = doors_of(layout((rule, *facts)))
    assert [(d.title, d.hook) for d in doors] == [("About", "quay_bell, tide-gate"), ("How we work", "Ask before you push.")]


def test_one_name_among_other_things_is_not_what_a_shelf_is_about() -> None:
    rules = [item(f"r{n}", words, subject=subject, kind=Kind.RULE) for n, (subject, words) in enumerate(
        [("user", "Ask before you push."), ("tide-gate", "The tide gate is opened by hand."), ("user", "Answer in short.")]
    )]  # fmt: skip
    (door,) = doors_of(layout(rules))
    assert door.hook in {rule.statement for rule in rules}
    (alone,) = doors_of(layout([rules[1], replace(rules[1], uid="r9", statement="The tide gate is closed at ten.")]))
    assert alone.hook == "tide-gate"


def test_the_hook_of_a_shelf_with_one_note_says_it_since_its_subject_alone_tells_nothing() -> None:
    (door,) = doors_of(layout((item("f1", "Node v24 strips types by itself.", subject="Node v24"),)))
    assert door.hook == "Node v24 strips types by itself."


def test_whom_only_the_speaker_knows_is_no_name_on_a_hook() -> None:
    people = (item("f1", "我的上司名叫林海。", subject="user's 上司"), item("f2", "我表妹学历是硕士。", subject="user's 表妹"))
    (door,) = doors_of(layout(people))
    assert door.hook == "我的上司名叫林海。"


def test_a_hook_that_says_no_more_than_the_title_is_left_out() -> None:
    (door,) = doors_of(layout([carried("e1", "deploying", 1)]))
    assert hook(door, []).tell() == "- [Deploying](deploying.md)"


def test_a_line_that_only_leads_in_is_no_hook() -> None:
    lines = [carried(f"e{n}", words, n, path="crew.md", title="Crew") for n, words in enumerate(("Who is who:", "船员：", "Seven people."))]
    assert [d.hook for d in doors_of(layout(lines))] == ["Seven people."]


def test_a_page_whose_hook_stands_above_is_named_without_it() -> None:
    rule = item("r1", "Ask before you push.", kind=Kind.RULE, subject="project")
    text = told(Content(title="x", items=(rule, carried("e1", "Seven people.", 1, path="crew.md", title="Crew"))))
    assert section(text, "Rules") == ["- Ask before you push. → [How we work](how-we-work.md)"]
    assert section(text, "Pages") == ["- [Crew](crew.md): Seven people.", "- [How we work](how-we-work.md)"]


def test_carried_lines_the_logs_uphold_are_told_others_only_through_their_page() -> None:
    said = (carried("u1", "Upheld words.", 1, verdict=Verdict.UPHELD), carried("u2", "Unchecked words.", 2, verdict=Verdict.UNCHECKED))
    facts = section(told(Content(title="x", items=said)), "Facts and decisions")
    assert facts == ["- Upheld words. → [Deploying](deploying.md)"]


def test_links_to_pages_in_other_scripts_are_readable_in_the_brief_and_encoded_on_pages() -> None:
    items = (carried("z1", "端口是 5433。", 1, path="支付.md", title="支付数据库"), carried("z2", "看支付数据库。", 1, path="b.md", title="备份"))
    assert "- [支付数据库](支付数据库.md): 端口是 5433。" in told(Content(title="x", items=items))
    assert "See also: [支付数据库](%E6%94%AF%E4%BB%98%E6%95%B0%E6%8D%AE%E5%BA%93.md)." in tree(Content(title="x", items=items)).files["备份.md"].decode()


def test_a_budget_too_small_for_its_purpose_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 18 lines"):
        Budget(lines=200, size=500)


def test_an_empty_memory_still_says_how_to_search() -> None:
    text = told(Content(title="new"))
    assert "dreamd search" in text
    assert "## Rules" not in text
    assert Status.CONFIRMED


def test_a_truth_that_several_files_miss_is_one_line() -> None:
    one, two = corrections(2)
    same = (one, replace(two, right=one.right, path="memory/MEMORY.md", line=3))
    told = brief(Content(title="x", corrections=same), layout(()))
    lines = [line for line in told.text.split("\n") if one.right.rstrip(".") in line]
    assert len(lines) == 1
    assert f"(wrong in `{one.path}` line {one.line} and `memory/MEMORY.md` line 3)" in lines[0]


def test_a_hook_is_not_cut_at_an_early_comma() -> None:
    words = "After lunch, the harbour crew lifts every crate of the day onto the ferry and writes the number of the crate into the book of the port"
    hook = section(told(Content(title="x", items=(carried("e1", words, 1, path="crew.md", title="Crew"),))), "Pages")[0]
    assert hook == "- [Crew](crew.md): After lunch, the harbour crew lifts every crate of the day onto the ferry and writes the number of the crate …"


def test_what_only_says_that_something_will_stand_there_is_no_hook() -> None:
    items = (carried("e1", "[to be written]", 1, path="crew.md", title="Crew"), carried("e2", "Seven people.", 2, path="crew.md", title="Crew"))
    assert section(told(Content(title="x", items=items)), "Pages") == ["- [Crew](crew.md): Seven people."]


def test_the_hook_of_the_commands_names_the_commands() -> None:
    items = [item(f"p{n}", f"`{c}` works.", kind=Kind.PROCEDURE, subject="project", value=c) for n, c in enumerate(("make ferry", "make dock"))]
    assert section(told(Content(title="x", items=tuple(items))), "Pages") == ["- [Commands](commands.md): make ferry, make dock"]


def test_a_fact_that_a_correction_says_is_not_said_again() -> None:
    (wrong,) = corrections(1)
    fact, other = item("f1", wrong.right, subject="user"), item("f2", "The quay has two cranes.", subject="user")
    text = told(Content(title="x", items=(fact, other), corrections=(wrong,)))
    assert section(text, "Facts and decisions") == ["- The quay has two cranes. → [About](about.md)"]
    assert wrong.right.rstrip(".") in section(text, "Corrected")[0]
    assert wrong.right in told(Content(title="x", items=(fact, other), corrections=(replace(wrong, fixed=True),)))


def test_a_brief_of_notes_alone_does_not_claim_that_logs_were_read() -> None:
    only = replace(item("no0001", "The port is 5433.", subject="user"), cites=(Cite(source="memory/a.md", line=3),))
    assert "Not checked: no log that was read decides it." in told(Content(title="x", items=(only,)))
    assert "Checked against their logs where those decide it." in told(CONTENT)


def test_a_draft_that_rests_on_a_log_makes_the_lines_of_note_files_no_more_checked() -> None:
    draft = item("d1", "Start with the ferry.", kind=Kind.PLAN, status=Status.DRAFT, subject="user")
    note = carried("e1", "Seven people.", 1, path="crew.md", title="Crew")
    text = told(Content(title="x", items=(draft, note)))
    assert "Not checked: no log that was read decides it." in text


def test_a_memory_of_which_nothing_is_sure_says_so_and_claims_no_lesson() -> None:
    draft = item("d1", "Start with the ferry.", kind=Kind.PLAN, status=Status.DRAFT, subject="user")
    for text in (told(Content(title="new")), told(Content(title="new", items=(draft,)))):
        assert "nothing that lasts is sure enough to be told here yet" in text
        assert "left behind" not in text


def test_what_a_longer_sentence_above_opens_with_is_told_once() -> None:
    long = item("a1", "The API listens on port 8080 and the web client on port 5173.", subject="API", newest_evidence=at(20))
    short = carried("b1", "The API listens on port 8080.", 1, path="ports.md", title="Ports", verdict=Verdict.UPHELD)
    assert [x for x in section(told(Content(title="x", items=(long, short))), "Facts and decisions") if "8080" in x] == [
        "- The API listens on port 8080 and the web client on port 5173. → [About](about.md)"
    ]


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("The gate is never between six and ten.", "The gate is never between six."),
        ("The port is only 80 and 81.", "The port is only 80."),
        ("Do not drink and drive.", "Do not drink."),
    ],
)
def test_what_says_less_than_the_sentence_that_opens_so_is_told(long: str, short: str) -> None:
    text = told(Content(title="x", items=(item("a1", long, newest_evidence=at(20)), carried("b1", short, 1, path="p.md", title="P", verdict=Verdict.UPHELD))))
    assert short in "\n".join(section(text, "Facts and decisions"))
