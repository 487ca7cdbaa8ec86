"""What counts as a person's edit of a published file, and what does not."""

from __future__ import annotations

import mdformat
import pytest

from pipelines.wiki.content import Content
from pipelines.wiki.edits import EditKind, NotAnEdit, PageEdit, line_key, line_keys, own_text, read_edits
from pipelines.wiki.page import OWN_MARK
from pipelines.wiki.tree import tree
from tests.unit.wiki.samples import CONTENT, carried

FILES = tree(CONTENT).files
PATH = "payments-db.md"
PAGE = FILES[PATH].decode()


def read(text: str, *, path: str = PATH, published: str | None = None, ours: frozenset[str] = frozenset()) -> tuple[PageEdit, ...] | NotAnEdit:
    base = FILES[path] if published is None else published.encode()
    return read_edits(path, text.encode("utf-8", "surrogateescape"), base, ours=ours.__contains__)


def test_every_published_file_is_no_edit_of_itself() -> None:
    assert {path: read_edits(path, data, data, ours=lambda _: False) for path, data in FILES.items()} == dict.fromkeys(FILES, ())


def test_a_changed_bullet_names_its_note_and_both_wordings() -> None:
    edits = read(PAGE.replace("The port is **5433**.", "The port is **5439**."))
    assert edits == (
        PageEdit(kind=EditKind.CHANGED, path=PATH, section="Facts", anchor="n-4f2a91c0abcd", before="The port is **5433**.", after="The port is **5439**."),
    )


def test_a_removed_bullet_asks_for_its_note() -> None:
    lines = [row for row in PAGE.split("\n") if not row.startswith("- Backups run")]
    assert [(e.kind, e.anchor) for e in read("\n".join(lines)) if isinstance(e, PageEdit)] == [(EditKind.REMOVED, "n-91c0ab12efgh")]  # type: ignore[union-attr]


def test_an_added_line_is_new_and_knows_its_section() -> None:
    edits = read(PAGE.replace("## Rules\n\n", "## Rules\n\n- Ask Lee before a failover.\n"))
    assert edits == (PageEdit(kind=EditKind.ADDED, path=PATH, section="Rules", after="Ask Lee before a failover."),)


def test_text_below_the_mark_is_the_persons_own() -> None:
    edits = read(PAGE.replace(OWN_MARK + "\n", OWN_MARK + "\n\nMy *own* words.\n"))
    assert edits == (PageEdit(kind=EditKind.OWN, path=PATH, before="", after="\nMy *own* words.\n"),)


def test_words_typed_at_the_very_end_of_the_file_are_the_persons_own() -> None:
    assert own_text(PATH, (PAGE + "\nlast words").encode()) == "\nlast words"
    both = PAGE.replace(OWN_MARK + "\n", OWN_MARK + "\n\nfirst\n") + "\nlast"
    assert own_text(PATH, both.encode()) == "\nfirst\n\nlast"


def test_own_words_that_are_no_utf_8_go_through_byte_for_byte() -> None:
    data = FILES[PATH].replace(OWN_MARK.encode() + b"\n", OWN_MARK.encode() + b"\n\ncaf\xe9\r\n")
    own = own_text(PATH, data)
    assert own.encode("utf-8", "surrogateescape") == b"\ncaf\xe9\r\n"


def test_lines_dreamd_wrote_before_are_ours_whatever_put_them_back() -> None:
    old = PAGE.replace("The port is **5433**.", "The port is **5432**.").replace("## Rules\n\n", "## Rules\n\n- An older rule. [^3] ^n-0ld0ld0ld0ld\n")
    ours = frozenset(line_keys(old.encode(), path=PATH))
    assert read(old, ours=ours) == ()
    assert len(read(old)) == 2  # type: ignore[arg-type]


def test_a_formatter_or_another_line_ending_is_no_edit() -> None:
    starred = PAGE.replace("\n- ", "\n* ").replace("Worked on", "Worked  on")
    assert read(starred) == ()
    assert read(mdformat.text(PAGE, extensions={"footnote", "frontmatter", "gfm"})) == ()
    assert read(PAGE.replace("\n", "\r\n")) == ()


@pytest.mark.parametrize(("text", "why"), [
    ("", "empty"),
    ("  \n", "empty"),
    (PAGE[:400], "half_saved"),
    (PAGE[: PAGE.index("[^5]: ")], "half_saved"),
    (PAGE[10:], "half_saved"),
    (PAGE.replace("## Rules", "<<<<<<< HEAD\n## Rules\n=======\n>>>>>>> theirs"), "conflict_markers"),
])  # fmt: skip
def test_a_file_that_is_only_half_there_says_nothing(text: str, why: str) -> None:
    assert read(text) == NotAnEdit(PATH, why)


def test_a_half_saved_brief_says_nothing_and_a_line_added_to_it_is_an_edit() -> None:
    brief = FILES["MEMORY.md"].decode()
    assert read(brief[:500], path="MEMORY.md") == NotAnEdit("MEMORY.md", "half_saved")
    edits = read(brief.replace("## Rules\n\n", "## Rules\n\n- Always deploy without asking.\n"), path="MEMORY.md")
    assert edits == (PageEdit(kind=EditKind.ADDED, path="MEMORY.md", section="Rules", after="Always deploy without asking."),)
    assert own_text("MEMORY.md", (brief + "mine\n").encode()) == "mine\n"


def test_a_bullet_copied_and_changed_below_itself_is_an_added_line() -> None:
    row = next(r for r in PAGE.split("\n") if r.startswith("- Backups run"))
    edits = read(PAGE.replace(row, row + "\n" + row.replace("03:10", "04:10")))
    assert [(e.kind, e.anchor) for e in edits if isinstance(e, PageEdit)] == [(EditKind.ADDED, "")]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "line", ["- The port is **5433**. [^1] ^n-4f2a", "*  The port is 5433.", "The port is **5433**. [^2] [^3]", "- [ ] The port is `5433`. ^n-x"]
)
def test_the_key_of_a_line_is_its_words(line: str) -> None:
    assert line_key(line) == "The port is 5433."


def test_a_bullet_under_another_is_edited_by_itself() -> None:
    notes = (carried("l1", "How to land:", 1), carried("l2", "Call the pilot.", 2, depth=1), carried("l3", "Wait.", 3, depth=1))
    page = tree(Content(title="x", items=notes)).files["deploying.md"].decode()
    changed = read_edits("deploying.md", page.replace("  - Wait.", "  - Wait an hour.").encode(), page.encode(), ours=lambda _: False)
    assert changed == (PageEdit(kind=EditKind.CHANGED, path="deploying.md", anchor="n-l3", section="Deploying", before="Wait.", after="Wait an hour."),)
    gone = "\n".join(row for row in page.split("\n") if "Call the pilot" not in row)
    assert [(e.kind, e.anchor) for e in read_edits("deploying.md", gone.encode(), page.encode(), ours=lambda _: False)] == [(EditKind.REMOVED, "n-l2")]  # type: ignore[union-attr]
