"""Where each note lives."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pipelines.model import Kind, Status, Verdict
from pipelines.wiki.content import Carried, Item
from pipelines.wiki.cutting import PAGE_NOTES_MAX
from pipelines.wiki.slugs import fold
from pipelines.wiki.topics import is_name, layout
from pipelines.wiki.tree import tree
from tests.unit.wiki.samples import BACKUPS, CONTENT, DEPLOY, DRAFT, RECHECK, at, carried, item


def facts(subject: str, count: int, **given: object) -> list:  # type: ignore[type-arg]
    key = "".join(ch if ch.isalnum() and ch.isascii() else hex(ord(ch))[2:] for ch in subject.casefold())
    return [item(f"{key}{n:04d}", f"{subject} says {n}.", subject=subject, **given) for n in range(count)]


def paths(items: list) -> dict[str, int]:  # type: ignore[type-arg]
    return {t.path: len(t.items) for t in layout(items).topics}


def test_a_named_subject_is_a_page_at_three_notes_and_on_a_shelf_before() -> None:
    assert paths(facts("payments-db", 3)) == {"payments-db.md": 3}
    assert paths(facts("payments-db", 2)) == {"about.md": 2}


def test_c_and_its_kin_stay_three_pages() -> None:
    found = layout([*facts("C", 3), *facts("C++", 3), *facts("C#", 3)])
    assert {t.title: t.path for t in found.topics} == {"C": "c.md", "C++": "c-plus-plus.md", "C#": "c-sharp.md"}


def test_the_rest_stands_by_kind() -> None:
    items = [item(f"k{n}", "Something said.", subject="user", kind=kind) for n, kind in enumerate(Kind)]
    where = layout(items).where
    assert {i.kind.value: where[i.uid] for i in items} == {
        "goal": "goals.md", "plan": "goals.md", "hold": "how-we-work.md", "rule": "how-we-work.md", "preference": "how-we-work.md", "fact": "about.md",
        "procedure": "commands.md", "decision": "decisions.md", "insight": "about.md", "incident": "about.md",
    }  # fmt: skip


@pytest.mark.parametrize(("text", "named"), [
    ("payments-db", True), ("src/app.ts", True), ("FundWise", True), ("#4573", True), ("C++", True), ("Ana", True), ("支付数据库", True), ("app 1.3", True),
    ("user", False), ("the project", False), ("我", False), ("today", False), ("5433", False), ("commit messages", False), ("", False),
    ("The port of the payments database is 5433 now", False),
])  # fmt: skip
def test_what_is_a_name(text: str, named: bool) -> None:
    assert is_name(text) is named


def test_a_memory_file_stays_one_page_in_its_own_order_and_its_index_line_opens_it() -> None:
    shuffled = list(DEPLOY)
    random.Random(1).shuffle(shuffled)
    (topic,) = layout(shuffled).topics
    assert (topic.title, topic.path) == ("Deploying", "deploying.md")
    assert [i.uid for i in topic.items] == [i.uid for i in DEPLOY]


def test_notes_on_what_a_memory_page_is_called_join_it() -> None:
    found = layout([*DEPLOY, *facts("deploy", 1, aliases=("deploy.sh",)), *facts("orca-1", 1)])
    assert {t.path: len(t.items) for t in found.topics} == {"deploying.md": 6, "about.md": 1}


def test_drafts_notes_to_recheck_and_quarantined_ones_stand_on_no_page() -> None:
    hidden = [
        DRAFT,
        RECHECK,
        item("q1", "Do it.", status=Status.QUARANTINED),
        item("r1", "Gone.", status=Status.RETRACTED),
        carried("c1", "On cave.", 1, verdict=Verdict.NEEDS_RECHECK),
    ]
    assert layout(hidden).topics == ()


def test_under_thirty_notes_there_are_at_most_eight_pages() -> None:
    many = [note for n in range(9) for note in facts(f"svc-{n}", 3)]
    assert len(layout(many).topics) <= 8
    enough = [note for n in range(11) for note in facts(f"svc-{n}", 3)]
    assert len(layout(enough).topics) == 11


def test_a_topic_over_sixty_notes_is_split_and_no_part_is_tiny() -> None:
    parts = layout(facts("payments-db", 2 * PAGE_NOTES_MAX + 1)).topics
    assert sum(len(p.items) for p in parts) == 2 * PAGE_NOTES_MAX + 1
    assert all(3 <= len(p.items) <= PAGE_NOTES_MAX for p in parts)
    assert [p.title for p in parts][:2] == ["payments-db", "payments-db (2)"]


@pytest.mark.parametrize("count", [60, 200])
def test_one_more_note_moves_few_others_to_another_part(count: int) -> None:
    dice = random.Random(count)
    notes = [
        item(f"r{n:04d}{dice.randrange(10**6):06d}", f"Always {'check ' * dice.randint(1, 30)}{n}.", kind=Kind.RULE, subject="user", oldest_evidence=at(1 + dice.randrange(28)))
        for n in range(count + 1)
    ]  # fmt: skip
    after = layout(notes)
    for new in dice.sample(notes, 12):
        before = layout([n for n in notes if n is not new]).where
        moved = [uid for uid, path in before.items() if after.where[uid] != path]
        assert len(moved) <= 2 * len(after.topics), "no more than slip over the ends of the parts behind it"


def test_no_page_is_over_200_lines_or_12_kilobytes() -> None:
    long = [item(f"l{n:04d}", f"Line {n} " + "is long, very long " * 20 + ".", subject="payments-db") for n in range(90)]
    files = tree(CONTENT.__class__(title="x", items=(*long, *facts("orca-1", 61)))).files
    pages = {p: d for p, d in files.items() if p.startswith(("payments", "orca"))}
    assert len(pages) >= 5
    assert all(len(d) <= 12_000 and d.count(b"\n") <= 200 for d in pages.values()), {p: (len(d), d.count(b"\n")) for p, d in pages.items()}


@pytest.mark.parametrize(
    "titles", [["Memory", "memory", "MEMORY"], ["Inbox", "Archive", "Journal"], ["Straße", "STRASSE", "strasse"], ["café", "cafe\u0301", "CAFÉ"]]
)
def test_names_that_meet_on_disk_get_apart_whatever_came_first(titles: list[str]) -> None:
    notes = [carried(f"m{n}", "x says y.", 1, path=f"f{n}.md", title=title) for n, title in enumerate(titles)]
    first = {t.key: t.path for t in layout(notes).topics}
    assert len({fold(p) for p in first.values()}) == len(titles)
    assert not {fold(p) for p in first.values()} & {"memory.md", "inbox.md", "archive.md", "journal.md", "recent.md"}
    assert {t.key: t.path for t in layout(notes[::-1]).topics} == first


def test_the_order_in_which_notes_arrive_changes_no_byte() -> None:
    items = list(CONTENT.items)
    first = tree(CONTENT).files
    for seed in range(5):
        random.Random(seed).shuffle(items)
        assert tree(CONTENT.__class__(**{**_fields(), "items": tuple(items)})).files == first


def _fields() -> dict:  # type: ignore[type-arg]
    return {name: getattr(CONTENT, name) for name in CONTENT.__dataclass_fields__}


def test_a_sentence_is_never_a_title() -> None:
    (topic,) = layout([carried("m1", "x", 1, path="notes/ports.md", title="The port is 5433 now. It was 5432 before that.")]).topics
    assert topic.title == "ports"


@pytest.mark.parametrize(
    ("pin", "path"),
    [("1:web/deploy.md", "deploying.md"), ("2:payments-db", "payments-db.md"), ("0:commands", "commands.md"), ("", "about.md"), ("1:gone", "about.md")],
)
def test_what_a_person_wrote_on_a_page_stays_on_that_page(pin: str, path: str) -> None:
    written = item("w1", "Ask Lee first.", subject="nothing named", pin=pin, remark="edited on this page, not confirmed")
    files = tree(CONTENT.__class__(title="x", items=(*DEPLOY, *facts("payments-db", 3), written))).files
    assert [p for p, d in files.items() if b"- Ask Lee first. *edited on this page, not confirmed* [^" in d] == [path]


def test_the_file_name_of_a_memory_file_is_an_alias() -> None:
    assert layout([*DEPLOY, BACKUPS]).topics[1].aliases == ("deploy",)


def test_a_file_that_only_has_a_name_is_called_what_the_index_calls_it() -> None:
    body = carried("b1", "Renew them in May.", 1, path="staging_tokens.md", title="staging_tokens")
    line = carried(
        "b2",
        "x",
        1,
        path="MEMORY.md",
        title="Notes",
        index=True,
        targets=("staging_tokens.md",),
        markdown="[Tokens of staging](staging_tokens.md): when they end",
    )
    (topic,) = layout([body, line]).topics
    assert (topic.title, topic.aliases) == ("Tokens of staging", ("staging_tokens",))


def test_a_file_with_a_title_of_its_own_keeps_it() -> None:
    body = carried("b1", "Renew them in May.", 1, path="staging_tokens.md", title="Staging tokens")
    line = carried(
        "b2", "x", 1, path="MEMORY.md", title="Notes", index=True, targets=("staging_tokens.md",), markdown="[Tokens](staging_tokens.md): when they end"
    )
    (topic,) = layout([body, line]).topics
    assert topic.title == "Staging tokens"


def test_a_name_of_one_small_word_gives_way_to_the_index_too() -> None:
    body = carried("b1", "Renew them in May.", 1, path="tokens.md", title="tokens")
    line = carried("b2", "x", 1, path="MEMORY.md", title="Notes", index=True, targets=("tokens.md",), markdown="[Tokens](tokens.md): when they end")
    assert layout([body, line]).topics[0].title == "Tokens"


def test_an_index_beside_the_folder_finds_the_only_file_of_a_name() -> None:
    def line(folder: str) -> Item:
        place = Carried(folder=folder, path="MEMORY.md", title="Notes", position=1, index=True, targets=("tide.md",))
        return replace(carried("i1", "x", 1), carried=place, markdown="[Tide](tide.md): when it turns")

    one = carried("b1", "It turns at six.", 1, path="memory/tide.md", title="Tide")
    two = replace(one, uid="b2", carried=Carried(folder="other", path="tide.md", title="Tide", position=1))
    assert [t.title for t in layout([one, line("web")]).topics] == ["Tide"]
    assert sorted(t.title for t in layout([one, two, line("web")]).topics) == ["Notes", "Tide", "Tide"]
