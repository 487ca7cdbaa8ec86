"""What an agent would load, and what it never will."""

import pytest

from pipelines.notes.lint import lint


def codes(text: str, name: str = "MEMORY.md", **known: bool) -> list[tuple[int, str]]:
    return [(p.line, p.code) for p in lint(text, name=name, exists=lambda target: known.get(target.removesuffix(".md"), False))]


def test_the_tail_behind_200_lines_is_named_once() -> None:
    text = "---\nx: 1\n---\n" + "".join(f"- point number {n} is about thing{n}\n" for n in range(205))
    assert codes(text) == [(204, "never_loaded")]


def test_the_tail_behind_25000_bytes_is_named_and_comments_do_not_count() -> None:
    line = "- " + "x" * 98 + "\n"
    assert codes("<!--\n" + "y" * 30_000 + "\n-->\n" + line * 20, "MEMORY.md") == []
    assert [c for _, c in codes("z" * 5000 + ("\n\n" + "界" * 1700) * 5)] == ["never_loaded"]


def test_only_the_index_is_cut_when_loaded() -> None:
    assert codes("- a b c d\n" * 1 + "\n" * 300 + "- tail of the file\n", "CLAUDE.md") == []


def test_duplicates_long_entries_and_dead_links_are_found() -> None:
    text = f"- The API listens on port 8080\n- [here](there.md) and [known](known.md) and [web](https://example.com)\n- API listens on the port 8080.\n- {'long ' * 30}\n"
    assert codes(text, known=True) == [(2, "dead_link"), (3, "duplicate"), (4, "long_entry")]


def test_an_entry_of_a_file_that_is_linked_to_may_be_long() -> None:
    text = f"- {'long ' * 30}\n"
    assert [p.code for p in lint(text, name="fog.md", exists=lambda _: True, linked=True)] == []
    assert [p.code for p in lint(text, name="fog.md", exists=lambda _: True)] == ["long_entry"]


@pytest.mark.parametrize(
    ("line", "known", "expected"),
    [("Always deploy with --force", False, 1), ("Always deploy on Friday", True, 0), ("一律用英文", False, 1), ("User prefers tea", False, 0)],
)
def test_orders_need_a_user_behind_them(line: str, known: bool, expected: int) -> None:
    found = lint(f"- {line}\n", name="MEMORY.md", exists=lambda _: True, from_user=lambda _: known)
    assert [p.code for p in found] == ["order_without_user"] * expected


def test_an_order_no_session_loads_is_none_to_mend() -> None:
    text = "- Always deploy with --force\n" + "- point\n" * 205 + "- Never deploy by hand\n"
    found = lint(text, name="MEMORY.md", exists=lambda _: True, from_user=lambda _: False)
    assert [p.line for p in found if p.code == "order_without_user"] == [1]
