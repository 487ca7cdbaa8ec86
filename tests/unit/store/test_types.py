"""Column types and JSON that hold on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, DateTime, MetaData, Table, create_engine, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import StatementError

from pipelines.store.types import PathText, Utc, dump, iso_utc, load, storable

table = Table("x", MetaData(), Column("at", Utc), Column("path", PathText))


def test_a_time_without_a_zone_is_refused_on_its_way_in() -> None:
    engine = create_engine("sqlite://")
    table.create(engine)
    with engine.begin() as conn:
        with pytest.raises(StatementError, match="needs a zone"):
            conn.execute(table.insert(), {"at": datetime(2026, 11, 3)})
        with pytest.raises(StatementError, match="needs a zone"):
            conn.execute(select(table).where(table.c.at < datetime(2026, 11, 3)))
    engine.dispose()


def test_times_of_any_zone_compare_as_instants_and_come_back_in_utc() -> None:
    engine = create_engine("sqlite://")
    table.create(engine)
    west = datetime(2026, 11, 3, 13, 30, tzinfo=timezone(timedelta(hours=-8)))
    with engine.begin() as conn:
        conn.execute(table.insert(), [{"at": west}, {"at": None}])
        assert conn.scalars(select(table.c.at).where(table.c.at > datetime(2026, 11, 3, 21, 0, tzinfo=UTC))).all() == [west]
        assert conn.scalars(select(table.c.at).where(table.c.at > datetime(2026, 11, 3, 22, 0, tzinfo=UTC))).all() == []
        assert {at.utcoffset() for at in conn.scalars(select(table.c.at)) if at} == {timedelta(0)}
    engine.dispose()


def test_the_hour_that_a_clock_shows_twice_is_two_instants() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert first == first.replace(fold=1), "as Python compares times of one zone"
    assert (iso_utc(first), iso_utc(first.replace(fold=1))) == ("2026-10-25T00:30:00+00:00", "2026-10-25T01:30:00+00:00")


@given(
    at=st.datetimes(
        min_value=datetime(1, 1, 3),
        max_value=datetime(9999, 12, 29),
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))]),
    )
)
def test_a_time_is_the_text_on_sqlite_that_its_driver_makes_of_the_same_instant(at: datetime) -> None:
    dialect = sqlite.dialect()
    ours, theirs = Utc().bind_processor(dialect), DateTime().dialect_impl(dialect).bind_processor(dialect)
    assert ours is not None
    assert theirs is not None
    assert ours(at) == theirs(at.astimezone(UTC).replace(tzinfo=None))


@given(text=st.text(st.characters(codec=None), max_size=20))
def test_stored_text_keeps_its_length_and_everything_a_database_takes(text: str) -> None:
    kept = storable(text)
    assert len(kept) == len(text)
    kept.encode()
    assert "\0" not in kept
    for before, after in zip(text, kept, strict=True):
        assert before == after or before == "\0" or 0xD800 <= ord(before) <= 0xDFFF


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None), max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(value=json_values)
def test_recorded_json_comes_back_equal_whatever_a_log_put_in_it(value: object) -> None:
    text = dump(value)
    text.encode()
    assert load(text) == value
