"""How files are cut into parcels for several processes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.discovery import Found
from pipelines.run.hands import PARCELS_EACH, parcels_of


def files(sizes: list[int]) -> list[Found]:
    return [Found(path=f"/logs/{n}.jsonl", relative=f"{n}.jsonl", size=size, mtime_ns=0, inode=n) for n, size in enumerate(sizes)]


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(2, 8), st.integers(1, 5_000))
def test_parcels_hold_every_file_once_in_order_and_none_but_the_last_is_small(sizes: list[int], processes: int, least: int) -> None:
    found = files(sizes)
    parcels = parcels_of(found, processes, least=least)
    assert [file for parcel in parcels for file in parcel] == found
    assert all(sum(f.size for f in parcel) >= least for parcel in parcels[:-1])
    assert len(parcels) <= PARCELS_EACH * processes + processes


def test_what_is_little_is_one_parcel() -> None:
    assert len(parcels_of(files([1_000] * 50), 4)) == 1


def test_much_is_cut_in_as_many_as_keep_all_processes_busy_to_the_end() -> None:
    parcels = parcels_of(files([1_000_000] * 200), 4)
    assert 2 * 4 < len(parcels) <= PARCELS_EACH * 4 + 1
