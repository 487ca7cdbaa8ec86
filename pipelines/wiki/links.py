"""Which page names which: a page links to another because its text holds the other's title or alias as a whole word, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from pipelines.wiki.inline import Span, Style
from pipelines.wiki.page import SEE_ALSO_MAX, Page, link

NAMED_BY_MAX = 12
_CJK = r"\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])\w)(?:(?![{_CJK}])[\w.+#/@:-])*")
_CJK_CHAR = re.compile(f"[{_CJK}]")


def words(text: str) -> list[str]:
    """Words as names are compared by: identifiers, paths, `C++` and `a_b.c` whole, CJK characters one by one, case and composition folded."""
    folded = unicodedata.normalize("NFC", text)
    return [w for w in (m[0].rstrip(".:/-@") for m in _WORD.finditer(folded)) if w]


Name = tuple[tuple[str, ...], str]
"""A title or alias as it is looked for: its folded words, and the form it is written in."""


def names_of(forms: Iterable[str]) -> tuple[Name, ...]:
    """The names among these titles and aliases, each once; of two forms of the same words the last counts."""
    found: dict[tuple[str, ...], str] = {}
    for form in forms:
        key = tuple(fold_word(w) for w in words(form))
        if key and not _weak(form):
            found[key] = unicodedata.normalize("NFC", form.strip())
    return tuple(found.items())


class Names:
    """Every title and alias of a wiki, found in text by their first word. A name two pages share leads nowhere; a page never finds itself.

    Names of one or two Latin characters must stand in the very same case ("C" is not "c").
    """

    def __init__(self, names: Mapping[str, Iterable[Name]]) -> None:
        owners: defaultdict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
        for page, forms in names.items():
            for key, form in forms:
                owners[key].append((page, form))
        self.lead: dict[tuple[str, ...], tuple[str, str]] = {key: found[0] for key, found in owners.items() if len(found) == 1}
        """Name → the one page it leads to, and the form it must be written in when it is short."""
        self._by_first: defaultdict[str, list[tuple[tuple[str, ...], str, str]]] = defaultdict(list)
        for key, (page, form) in self.lead.items():
            self._by_first[key[0]].append((key, page, form))
        for found in self._by_first.values():
            found.sort(key=lambda entry: (-len(entry[0]), entry[0]))

    def mentions(self, text: str) -> Iterator[str]:
        """Paths of the pages a text names, once for each mention; the longest name at a place counts."""
        for row in text.split("\n"):
            said = words(row)
            folded = [fold_word(w) for w in said]
            at = 0
            while at < len(folded):
                hit = self._at(said, folded, at)
                if hit:
                    yield hit[1]
                at += len(hit[0]) if hit else 1

    def _at(self, said: Sequence[str], folded: Sequence[str], at: int) -> tuple[tuple[str, ...], str] | None:
        for key, path, form in self._by_first.get(folded[at], ()):
            if tuple(folded[at : at + len(key)]) == key and (len(form) > 2 or _CJK_CHAR.search(form) or said[at] == form):
                return key, path
        return None


def fold_word(word: str) -> str:
    return unicodedata.normalize("NFC", word.casefold())


def _weak(form: str) -> bool:
    """A lone CJK character or a bare number names nothing."""
    bare = form.strip()
    return bool(re.fullmatch(r"[\d.,:/-]*", bare)) or (len(bare) == 1 and bool(_CJK_CHAR.match(bare)))


def see_also(pages: Sequence[Page], names: Names, titles: Mapping[str, str]) -> dict[str, tuple[Span, ...]]:
    """Page path → links to at most seven others its text names, most often named first."""
    out = {}
    for page in pages:
        found = Counter(path for path in names.mentions(page.text) if path != page.path)
        out[page.path] = ranked(found, {path: (titles[path], path) for path in found}, line_targets(page))
    return out


def ranked(found: Mapping[str, int], places: Mapping[str, tuple[str, str]], there: AbstractSet[str]) -> tuple[Span, ...]:
    """Links to at most seven of the pages found, most often named first; `places` are their titles and paths, `there` paths the lines lead to already."""
    best = sorted((key for key in found if places[key][1] not in there), key=lambda key: (-found[key], *places[key]))
    return tuple(link(*places[key]) for key in best[:SEE_ALSO_MAX])


def line_targets(page: Page) -> set[str]:
    """Where the bullets of a page lead."""
    return {s.target for section in page.sections for line in section.lines for s in line.spans if s.style is Style.LINK}


def outgoing(page: Page) -> set[str]:
    """Every page of this wiki a page links to."""
    runs = [page.intro, page.see_also, page.named_by]
    for line in (line for section in page.sections for line in section.lines):
        runs += [line.spans, *(b.spans for b in line.blocks)]
    return {span.target for run in runs for span in run if span.style is Style.LINK}


def named_by(pages: Sequence[Page], titles: Mapping[str, str]) -> dict[str, tuple[Span, ...]]:
    """Page path → links to the pages that link to it and that it does not show under "See also", by title; at most twelve."""
    shown = {page.path: page.see_also for page in pages}
    back: defaultdict[str, set[str]] = defaultdict(set)
    for page in pages:
        for target in outgoing(page) - {page.path}:
            back[target].add(page.path)
    return {
        path: back_links(((titles[p], p) for p in sources & titles.keys()), shown.get(path, ()))
        for path, sources in back.items()
    }  # fmt: skip


def back_links(sources: Iterable[tuple[str, str]], shown: Iterable[Span] = ()) -> tuple[Span, ...]:
    """Links to at most twelve of the pages (title, path) that lead here, by title; what is `shown` under "See also" is not led to twice."""
    there = {span.target for span in shown}
    return tuple(link(*place) for place in sorted(sources) if place[1] not in there)[:NAMED_BY_MAX]
