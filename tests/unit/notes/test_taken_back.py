"""Bans as inputs to beliefs: what was taken back is not believed again, what has evidence of its own is."""

from __future__ import annotations

from dataclasses import replace

from pipelines.model import Quote, Relation, Ruling, Status, Version, Witnessed
from pipelines.notes.beliefs import believe
from pipelines.notes.identity import identity_of, in_force
from pipelines.notes.taken_back import Banned, bans_on

from .heard import day, heard, ruling


def beliefs(*claims: Witnessed, rulings: tuple[Ruling, ...] = (), relations: dict[tuple[str, str], Relation] | None = None) -> tuple[Version, ...]:
    return believe("user", claims, rulings, skew_s=600.0, intake_at=day(365), relations=relations)


def bans(*claims: Witnessed, others: tuple[Witnessed, ...] = ()) -> tuple[Ruling, ...]:
    targets = sorted(bans_on([w.claim for w in claims], [w.claim for w in others]))
    return tuple(ruling("ban", target, uid=f"ban{n}", at=300) for n, target in enumerate(targets))


def reread(witness: Witnessed, words: str) -> Witnessed:
    """Another reader's claim from the very line, in other words."""
    claim = replace(witness.claim, statement=words)
    return replace(witness, claim=claim, uid=claim.uid)


def test_the_value_before_the_banned_one_is_current_again() -> None:
    old, new = heard("5432"), heard("5433", at=20, session="s2")
    assert beliefs(old, new, rulings=bans(new)) == beliefs(old)


def test_what_another_line_says_of_the_same_is_believed_as_ever() -> None:
    old, new, again = heard("5432"), heard("5433", at=20, session="s2"), heard("5433", at=30, session="s3")
    assert beliefs(old, new, again, rulings=bans(new)) == beliefs(old, again)


def test_the_banned_line_is_not_believed_in_another_readers_words() -> None:
    old, new = heard("5432"), heard("5433", at=20, session="s2")
    other = reread(new, "The retention is 5433 days")
    assert other.uid != new.uid
    assert beliefs(old, other, rulings=bans(new)) == beliefs(old)


def test_what_somebody_else_had_read_in_the_line_stays() -> None:
    first = heard("5433", at=20, session="s2")
    second = reread(first, "The retention is 5433 days")
    assert beliefs(first, second, rulings=bans(second, others=(first,))) == beliefs(first)


def test_a_claim_with_one_more_line_has_evidence_of_its_own() -> None:
    one = heard("5433")
    both = replace(one.claim, quotes=(*one.claim.quotes, Quote(turn="s9:4", start=0, end=4, text="5433")))
    banned = Banned.of(bans(one))
    assert banned.holds(one.claim)
    assert not banned.holds(both)
    assert Banned.of(bans(replace(one, claim=both, uid=both.uid))).holds(one.claim), "less of it is no new evidence"


def test_what_a_line_says_of_another_note_is_not_banned_with_it() -> None:
    port, host = heard("5433"), heard("db1", subject="database-host")
    assert port.claim.quotes[0].turn == host.claim.quotes[0].turn
    assert beliefs(port, host, rulings=bans(port)) == beliefs(host)


def test_what_a_person_accepted_stays_on_their_word_when_its_line_is_banned() -> None:
    new = heard("5433", at=20, session="s2")
    note = identity_of("user", new.claim).uid
    accepted = ruling("approve", note, at=100, uid="yes")
    (version,) = beliefs(new, rulings=(accepted, *bans(new)))
    assert (version.value, version.status, version.claims) == ("5433", Status.CONFIRMED, ("yes",))
    assert beliefs(new, rulings=bans(new)) == ()


NIGHTLY = ("Sessions are warmed at night", "Caches get filled overnight", "We fill caches while users sleep")


def tied(relation: Relation, *pairs: tuple[Witnessed, Witnessed]) -> dict[tuple[str, str], Relation]:
    """Recorded verdicts on pairs of claims."""
    return {(min(x.uid, y.uid), max(x.uid, y.uid)): relation for x, y in pairs}


def alike() -> tuple[Witnessed, ...]:
    """Three sentences that rules leave three notes."""
    return tuple(heard(None, attribute=f"x{n}", subject="cache", at=n * 5, session=f"s{n}", statement=words, mark=True) for n, words in enumerate(NIGHTLY))


def notes(versions: tuple[Version, ...]) -> set[frozenset[str]]:
    return {frozenset(v.claims) for v in versions}


def test_notes_held_apart_neither_merge_nor_end_one_another() -> None:
    a, b, _ = alike()
    names = [identity_of("user", w.claim).uid for w in (a, b)]
    for relation in (Relation.SAME, Relation.UPDATE):
        relations = tied(relation, (a, b))
        apart = beliefs(a, b, rulings=(ruling("unmerge", *names),), relations=relations)
        assert beliefs(a, b, relations=relations) != apart == beliefs(a, b), relation


def test_a_split_in_a_chain_leaves_the_earlier_merge() -> None:
    a, b, c = alike()
    relations = tied(Relation.SAME, (a, b), (b, c))
    names = [identity_of("user", w.claim).uid for w in (a, b, c)]
    split = (ruling("unmerge", names[0], names[2], uid="u1"), ruling("unmerge", names[1], names[2], uid="u2"))
    assert notes(beliefs(a, b, c, relations=relations)) == {frozenset({a.uid, b.uid, c.uid})}
    assert notes(beliefs(a, b, c, rulings=split, relations=relations)) == {frozenset({a.uid, b.uid}), frozenset({c.uid})}


def test_a_lift_that_is_lifted_leaves_what_it_lifted_in_force() -> None:
    ban = ruling("ban", "x", uid="b")
    once, twice = ruling("lift", "b", uid="l1"), ruling("lift", "l1", uid="l2")
    assert [r.uid for r in in_force((ban,))] == ["b"]
    assert in_force((ban, once)) == ()
    assert [r.uid for r in in_force((ban, once, twice))] == ["b"]
