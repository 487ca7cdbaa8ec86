"""What is asked of a store on either database has the same answer, in the same order."""

from __future__ import annotations

from random import Random

import pytest
from sqlalchemy import text

from pipelines.model import Origin, Outcome, Status
from pipelines.notes.folder import read_text
from pipelines.recall.search import search
from pipelines.store import Placement, Store, this_process
from tests.contracts.store_builders import DAY, SCOPE, batch, belief, claim, gated, start_dream, turn, version
from tests.contracts.store_kinds import both, clock, store

__all__ = ["both", "clock", "store"]  # fixtures of this suite

WORDS = [
    "deploy", "deploys", "the", "port", "5433", "C++", "C#", "a_b.c", "src/a_b.c", "--fast-mode", "#4573", "v1.10.2", "ParseError", "Straße", "café",
    "支付服务的端口", "端口改成了", "🦊", "naïve", "İstanbul", "e\u0301", "\ue02e", "\ufffd", "O'Neill", "x" * 3000, "é" * 900, "_", "zebra",
]  # fmt: skip
LONG = "again " * 700 + "word " * 20_000  # more often and further on than a tsvector counts


def corpus(rng: Random) -> list[str]:
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(0, 12))) for _ in range(70)]
    return [*texts, *texts[:5], LONG, ""]


def fill(store: Store, texts: list[str]) -> None:
    origins = [Origin.USER, Origin.TOOL, Origin.SELF, Origin.EXTERNAL]
    turns = [turn(f"t{i:03}", text, ordinal=i, origin=origins[i % 4], speaker=("Lee", "Ana", None)[i % 3]) for i, text in enumerate(texts)]
    store.commit_intake(SCOPE, batch(*turns))
    store.save_reading(SCOPE, "s1", engine="local/1", digest="d", claims=[gated(claim("x", turn="t003"), outcome=Outcome.QUARANTINE)])
    dream = start_dream(store, SCOPE, cause="hand", holder=this_process())
    statuses = [Status.CONFIRMED, Status.DRAFT, Status.SUPERSEDED, Status.QUARANTINED]
    changes = [belief(f"n{i}", version(f"n{i}", text or "-", subject="端口", status=statuses[i % 4])) for i, text in enumerate(texts[:20])]
    store.stage(dream, changes, {change.note: () for change in changes})
    store.apply(dream, max_share=1)
    store.finish_dream(dream, "completed")
    notes = read_text("".join(f"- {text}\n" for text in texts[20:30] if text), folder="f", path="m.md")[1]
    store.save_online_notes(SCOPE, "f", notes)
    store.save_online_notes(SCOPE, "f", notes[1:])
    store.save_placements(SCOPE, 1, [Placement(note=n.uid[:12], page="p", section="s") for n in notes])


@pytest.mark.parametrize("seed", range(2))
def test_every_query_finds_the_same_things_with_the_same_scores_in_the_same_order(both: tuple[Store, ...], seed: int) -> None:
    rng = Random(seed)
    texts = corpus(rng)
    for each in both:
        fill(each, texts)
    asked = [*WORDS, "again", "word again", *(" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) for _ in range(30)), LONG]
    found = 0
    for query in asked:
        one, other = (search(each, SCOPE, query, limit=40, now=DAY) for each in both)
        assert one == other, query
        found += len(one)
    assert found > 500


def test_text_is_ordered_by_code_point_whatever_the_server_was_told(both: tuple[Store, ...]) -> None:
    names = ["B", "a", "Z", "ä", "_", "端", "-", "A", "\U0001f98a"]
    for each in both:
        each.commit_intake(SCOPE, batch(*(turn(f"t{name}", "zebra", ordinal=9 * i) for i, name in enumerate(names))))
        hits = each.search_turns(SCOPE, ["zebra"], limit=4)
        assert {h.uid for h in hits} == {f"t{name}" for name in sorted(names)[:4]}


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_every_text_of_the_schema_is_compared_by_code_point_on_a_server(store: Store) -> None:
    """None of the test servers has another order of its own, so the columns are asked."""
    others = """
    SELECT c.relname, a.attname, l.collname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_collation AS l ON l.oid = a.attcollation
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') AND l.collname <> 'C' AND c.relname NOT IN ('alembic_version', 'search_scopes')"""
    with store.reading("look") as conn:
        assert conn.execute(text(others)).all() == []
