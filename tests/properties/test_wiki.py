"""What holds of every page, whatever words it is made of: it reads back as it was, a formatter leaves it alone, and it stays inside its folder."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

import mdformat
import pytest
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from pipelines.wiki import inline
from pipelines.wiki.content import Content, Item
from pipelines.wiki.inline import Span, Style
from pipelines.wiki.marker import Marker
from pipelines.wiki.page import Block, Line, Page, Section, write
from pipelines.wiki.parse_page import parse
from pipelines.wiki.publish import State, publish
from pipelines.wiki.slugs import SLUG_BYTES_MAX, assign, check_path, fold, slug
from pipelines.wiki.topics import layout
from pipelines.wiki.tree import tree
from tests.unit.wiki.samples import carried

EXTENSIONS = {"footnote", "frontmatter", "gfm"}

NASTY = st.sampled_from([
    "[x](javascript:alert(1))", "<script>", "<!-- yours", "-->", "`", "``", "`npm start`", "# ", "#", "- ", "* ", "1. ", "2) ", "> ", "|", "---", "===", "[^1]", "[^1]: ",
    "^n-abc", "^[note]", "[[wiki]]", "![img](x)", "&amp;", "&#10;", "\\", "*", "**", "_", "__", "~~", "https://e.org/a_b", "www.e.org", "me@e.org", "\n", "\r\n", "\t", " ",
    "\u2028", "\u00a0", "\u3000", "\x00", "\ud800", "\ufeff", "\u202e", "支付", "数据库。", "😀", "e\u0301", "a", "b1", "C++", "5433", ".", ":", "!", "(", ")", "[", "]", "[ ] ", "[x] ",
    "title: x", "---\n", "<br>", "< b", "~", "+", "=", "'", '"', "$x$", "\u200d",
])  # fmt: skip
TEXTS = st.lists(st.one_of(NASTY, st.text(max_size=6)), max_size=8).map("".join)
SPANS = st.lists(st.builds(Span, TEXTS, st.sampled_from([Style.TEXT, Style.TEXT, Style.CODE, Style.STRONG, Style.EM])), min_size=1, max_size=5).map(
    inline.normal
)
WORDS = SPANS.filter(bool)
PATHS = st.sampled_from(["a.md", "支付.md", "archive/a.md"])
LINKS = (
    st.builds(Span, TEXTS, st.just(Style.LINK), st.sampled_from(["b.md", "数据.md", "archive/c.md", "café-x.md"]))
    .map(lambda s: inline.normal((s,)))
    .filter(bool)
    .map(lambda s: s[0])
)
CODE = st.builds(
    Block,
    code=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1).filter(str.strip),
    info=st.sampled_from(["", "sh"]),
)
ANCHORS = st.from_regex(r"n-[a-z2-7]{12}", fullmatch=True)
OWN = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda t: "[^1]: " not in t)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    """Pages of any words, with every footnote named once or more."""
    titles = draw(st.lists(SPANS, max_size=3))
    titles = [t for i, t in enumerate(titles) if t or i == 0]
    sections, notes = [], 0
    for title in titles:
        lines: list[Line] = []
        for _ in range(draw(st.integers(1, 3))):
            fresh = draw(st.integers(1, 2))
            cites = tuple(range(notes + 1, notes + 1 + fresh))
            notes += fresh
            blocks = tuple(draw(st.lists(st.one_of(CODE, st.builds(Block, spans=WORDS)), max_size=2)))
            depth = draw(st.integers(0, lines[-1].depth + 1)) if lines else 0
            lines.append(Line(spans=draw(WORDS), cites=cites, anchor=draw(ANCHORS), blocks=blocks, depth=depth))
        sections.append(Section(title=title, lines=tuple(lines)))
    name = draw(TEXTS.map(inline.clean).filter(bool))
    return Page(
        path=draw(PATHS), title=name, aliases=tuple(draw(st.lists(TEXTS.map(inline.clean).filter(bool), max_size=2))),
        updated=draw(st.none() | st.dates(date(2000, 1, 1))), sources=draw(st.sampled_from(["", "4 sessions", "1 session, 1 note file"])), intro=draw(SPANS),
        sections=tuple(sections), see_also=tuple(draw(st.lists(LINKS, max_size=2))), named_by=tuple(draw(st.lists(LINKS, max_size=2))),
        footnotes=tuple(draw(st.lists(WORDS, min_size=notes, max_size=notes))), own=draw(OWN),
    )  # fmt: skip


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate, Phase.shrink])
@given(pages())
def test_a_page_reads_back_as_it_was_written(page: Page) -> None:
    assert parse(write(page), path=page.path) == page


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate, Phase.shrink])
@given(pages())
def test_a_formatter_leaves_a_page_alone(page: Page) -> None:
    text = write(replace(page, own=""))
    assert mdformat.text(text, extensions=EXTENSIONS) == text


@given(TEXTS)
@example("[x](javascript:alert(1))")
@example("# heading\n\n- item")
def test_words_of_others_form_nothing_but_words_and_code(text: str) -> None:
    spans = inline.plain(text)
    assume(spans)
    bullet = f"- {inline.write_line(spans)} [^1] ^n-abc\n\n[^1]: x\n"
    for extra in (False, True):
        md = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(footnote_plugin, inline=extra, move_to_end=False)
        tokens = md.parse(bullet)
        kinds = [
            t.type
            for t in tokens
            if t.type not in {"bullet_list_open", "list_item_open", "paragraph_open", "paragraph_close", "list_item_close", "bullet_list_close"}
        ]
        assert kinds == ["inline", "footnote_reference_open", "inline", "footnote_reference_close"]
        inner = tokens[3 - 0].children or []
        assert {t.type for t in inner} <= {"text", "code_inline", "footnote_ref"}
        assert [t.type for t in inner].count("footnote_ref") == 1


@given(TEXTS)
@example("\x90of a mark that opens nothing")
@example("read in the wrong encoding â\x80\x9d and said on")
def test_no_visible_word_is_lost_in_cleaning(text: str) -> None:
    assume("\x1b" not in text and not re.search("[\x9b\x9d\x90\x98\x9e\x9f].*[\x07\x9c]|\x9b[0-?]", text))  # sequences of terminals are no words
    kept = [ch for ch in inline.clean(text) if ch.isalnum()]
    assert kept == [ch for ch in text if ch.isalnum()]


@given(st.text(max_size=300))
@example("../../etc/passwd")
@example("%2e%2e%2fx")
@example("/abs")
@example("a\0b")
@example("CON")
@example("支" * 200)
def test_every_title_gives_a_safe_short_name(title: str) -> None:
    name = slug(title)
    assert check_path(f"{name}.md") == f"{name}.md"
    assert 0 < len(name.encode()) <= SLUG_BYTES_MAX + 10
    assert not {"/", "\\", "\0", ".", "%", ":"} & set(name)


@given(st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=8), max_size=12))
def test_no_two_pages_meet_on_a_file_system_that_folds_case(titles: dict[str, str]) -> None:
    names = assign(titles)
    assert len({fold(n) for n in names.values()}) == len(titles)
    assert assign(dict(reversed(list(titles.items())))) == names


@pytest.mark.parametrize(
    "path",
    [
        "../a.md",
        "/a.md",
        "a/b.md",
        "archive/../a.md",
        ".a.md",
        "a\0.md",
        "con.md",
        "a",
        "a.txt",
        "%2e%2e.md",
        "a.md/",
        "-a.md",
        "x" * 300 + ".md",
        "archive/.md",
    ],
)
def test_a_path_that_could_leave_the_folder_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"page|device"):
        check_path(path)


# --- topics that come, go and change their names ------------------------------------------------------------------------------------------

TITLES = st.sampled_from(["Alpha", "Beta", "alpha", "Gamma", "Memory", "Straße", "STRASSE"])
WORLDS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), TITLES, min_size=1), min_size=2, max_size=5)


def _world(titles: dict[str, str]) -> tuple[Item, ...]:
    named = " ".join(titles.values())
    return tuple(carried(f"{key}1", f"See {named}.", 1, path=f"{key}.md", title=title) for key, title in titles.items())


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate, Phase.shrink])
@given(WORLDS)
@example([{"a": "Alpha"}, {"a": "Beta"}, {"a": "Beta", "b": "Alpha"}, {"a": "Alpha", "b": "Beta"}])
def test_through_any_renames_every_link_leads_to_a_page_in_at_most_one_hop(worlds: list[dict[str, str]]) -> None:
    redirects: dict[str, str] = {}
    shown: dict[str, str] = {}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        for revision, titles in enumerate(worlds):
            items = _world(titles)
            paths = {topic.key: topic.path for topic in layout(items).topics}
            redirects |= {path: key for key, path in shown.items() if paths.get(key) != path}
            made = tree(Content(title="x", items=items, redirects=dict(redirects)))
            publish(
                Path(folder), State.of(made.files, revision, stubs=made.stubs), marker=Marker(wiki="w", epoch="e", host="h"), holder="t",
                known=lambda _: False, new=revision == 0,
            )  # fmt: skip
            shown |= paths
            on_disk = {str(p.relative_to(folder)): p.read_text() for p in Path(folder).rglob("*.md") if ".dreamd" not in p.parts}
            assert on_disk == {path: data.decode() for path, data in made.files.items()}
            for path, text in on_disk.items():
                for target in (unquote(t) for t in re.findall(r"(?<!\\)\]\(([^)]+)\)", text)):
                    assert target in on_disk, (path, target)
                    assert path not in made.stubs or target not in made.stubs, "one hop"
            assert not made.stubs & set(paths.values())
