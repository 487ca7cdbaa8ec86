from __future__ import annotations

import re
from pathlib import Path

import pytest

import pipelines.engines.claude
import pipelines.gates
import pipelines.notes.promotion
from pipelines.notes.recheck import RECHECKED
from pipelines.run.asking_read import WHY
from pipelines.wiki.reasons import held_text, missed, refused, why_held


def codes() -> set[str]:
    """What keeps a claim or a note a draft, wherever code says so."""
    gates = Path(pipelines.gates.__file__).parent
    said = "\n".join(path.read_text(encoding="utf-8") for path in (*gates.glob("*.py"), Path(str(pipelines.notes.promotion.__file__))))
    found = set(re.findall(r"(?:Outcome|Status)\.DRAFT, \"(\w+)\"", said))
    doubts = (gates / "follows.py").read_text(encoding="utf-8").partition("def _doubt(")[2].partition("\n\n\n")[0]
    engines = "\n".join(p.read_text(encoding="utf-8") for p in Path(str(pipelines.engines.claude.__file__)).parents[1].rglob("*.py"))
    given = re.findall(r"doubts\s*(?:=|\+=)?\s*[(\[]\"(\w+)\"", engines)
    return found | set(re.findall(r"return \"(\w+)\"", doubts)) | set(given) | RECHECKED | set(WHY.values()) | {"said_once", "assistant_only"}


@pytest.mark.parametrize("code", sorted(codes()))
def test_every_reason_to_ask_has_words_of_its_own(code: str) -> None:
    assert missed(code) != code.replace("_", " ")
    assert not re.search(r"_|\bgate|\bquote\b|\borigin\b|\bclaim\b|\bscope\b", missed(code))


def test_a_code_nobody_wrote_words_for_can_be_read_all_the_same() -> None:
    assert (missed("so_to_say"), missed("")) == ("so to say", "")


def test_what_is_held_back_is_named_by_its_place_and_the_danger() -> None:
    assert held_text("sensitive", "external") == "Words of others about money, permissions or passwords, in a page or file that was read"
    assert why_held("orders_reader") == "it orders its reader about"


def test_what_was_refused_is_counted_most_first() -> None:
    assert refused({"quote": 1, "origin": 12, "scope": 0}) == "12 not said by you or shown by a result, 1 not in the log word for word"
    assert refused({"follows": 1}) == "1 that said more than the log does (misread here: nothing to do)"
    assert refused({}) == ""
