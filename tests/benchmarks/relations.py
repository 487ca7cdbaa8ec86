"""Precision and recall per relation on a file of pairs: `python -m tests.benchmarks.relations PATH`.

Lines are `relation<TAB>language<TAB>older<TAB>newer` with relation dup, upd, con or unr. A pair of another relation called SAME is a wrong merge and fails the run.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from pipelines.model import Relation
from pipelines.notes.relate import relate
from pipelines.text.statement import parse

RELATIONS = {"dup": Relation.SAME, "upd": Relation.UPDATE, "con": Relation.CONTRADICTION, "unr": Relation.OTHER}


def main(path: str, *options: str) -> int:
    """Print the table (and, with --all, every pair that was not found); 1 when a pair was merged that must not be."""
    wanted: Counter[Relation] = Counter()
    found: Counter[Relation] = Counter()
    right: Counter[Relation] = Counter()
    wrong_merges = 0
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        name, language, older, newer = line.split("\t")
        related = relate(parse(older), parse(newer))
        gold = RELATIONS[name]
        wanted[gold] += 1
        found[related.relation] += 1
        right[gold] += related.relation is gold
        wrong_merges += related.relation is Relation.SAME and gold is not Relation.SAME
        if related.relation is not gold and ("--all" in options or related.relation is not Relation.OTHER):
            print(f"{name} {language} → {related.relation.value} ({related.why}): {older} | {newer}")
    for relation in Relation:
        precision = f"{right[relation]}/{found[relation]}"
        recall = right[relation] / wanted[relation] if wanted[relation] else 0.0
        print(f"{relation.value:14} precision {precision:7} recall {right[relation]}/{wanted[relation]} = {recall:.2f}")
    print(f"wrong merges   {wrong_merges}")
    return 1 if wrong_merges else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
