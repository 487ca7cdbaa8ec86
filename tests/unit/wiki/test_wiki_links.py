"""Finding the names of pages in text of any script."""

from __future__ import annotations

import pytest

from pipelines.wiki.links import Names, names_of, words

FORMS = {
    "db.md": ["Payments database", "payments-db", "支付数据库"],
    "c.md": ["C"],
    "cpp.md": ["C++"],
    "cs.md": ["C#"],
    "li.md": ["李"],
    "port.md": ["5433"],
    "on.md": ["On call"],
    "a.md": ["Twin"],
    "b.md": ["twin"],
}
NAMES = Names({path: names_of(forms) for path, forms in FORMS.items()})


@pytest.mark.parametrize(("text", "found"), [
    ("the payments database is slow", ["db.md"]),
    ("see payments-db.", ["db.md"]),
    ("payments-dbs and mypayments-db", []),
    ("支付数据库很大，看支付数据库。", ["db.md", "db.md"]),
    ("written in C and C++, not C#", ["c.md", "cpp.md", "cs.md"]),
    ("vitamin c", []),
    ("李四来了", []),
    ("the port 5433", []),
    ("be on call tonight", ["on.md"]),
    ("on calls", []),
    ("a twin leads nowhere", []),
    ("", []),
])  # fmt: skip
def test_a_page_is_named_by_a_whole_word_only(text: str, found: list[str]) -> None:
    assert list(NAMES.mentions(text)) == found


def test_identifiers_stay_whole_and_cjk_falls_into_characters() -> None:
    assert words("a_b.c uses C++ in 数据库 v1.2, src/x.ts:") == ["a_b.c", "uses", "C++", "in", "数", "据", "库", "v1.2", "src/x.ts"]
