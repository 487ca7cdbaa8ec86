"""A note that waits to be checked again: on its page with the reason, in no brief."""

from __future__ import annotations

from pipelines.model import Status
from pipelines.wiki.tree import tree
from tests.unit.wiki.samples import CONTENT, item

FALLEN = item(
    "faf0faf0faf0",
    "Uploads need `--legacy`.",
    status=Status.NEEDS_RECHECK,
    missed="newer_version_seen",
    remark="needs recheck, a newer version was seen: app 1.4",
)


def test_a_note_to_check_again_stands_in_a_section_of_its_own_with_the_reason_and_in_no_brief() -> None:
    content = type(CONTENT)(title=CONTENT.title, items=(*CONTENT.items, FALLEN))
    files = {path: data.decode() for path, data in tree(content).files.items()}
    (page,) = [path for path, text in files.items() if "Uploads need" in text and path not in {"inbox.md", "MEMORY.md"}]
    section = files[page].partition("## To check again\n")[2].partition("\n## ")[0]
    assert "- Uploads need `--legacy`. *needs recheck, a newer version was seen: app 1.4*" in section
    assert "Uploads need" not in files["MEMORY.md"]
    assert "Uploads need" in files["inbox.md"]
