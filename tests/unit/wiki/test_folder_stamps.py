"""How the files of a wiki folder look, taken in one walk, and the manifest that is compared with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipelines.wiki.folder import Folder
from pipelines.wiki.manifest import MANIFEST, Manifest, Ours, read_manifest


def test_one_walk_tells_of_each_plain_file_what_a_look_at_it_alone_does(tmp_path: Path) -> None:
    for name in ("b.md", "a.md"):
        tmp_path.joinpath(name).write_text(name)
    tmp_path.joinpath("link.md").symlink_to(tmp_path / "a.md")
    tmp_path.joinpath("folder.md").mkdir()
    with Folder(tmp_path) as place:
        assert list(place.stamps().items()) == [("a.md", place.stamp("a.md")), ("b.md", place.stamp("b.md"))]
        assert place.stamps("nowhere") == {}


def test_a_file_removed_during_the_walk_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.md", "gone.md", "z.md"):
        tmp_path.joinpath(name).write_text(name)
    scandir = os.scandir

    @contextmanager
    def removing(folder: int) -> Iterator[Iterator[Any]]:
        with scandir(folder) as entries:
            listed = list(entries)
            tmp_path.joinpath("gone.md").unlink()
            yield iter(listed)

    with Folder(tmp_path) as place:
        monkeypatch.setattr(os, "scandir", removing)
        assert list(place.stamps()) == ["a.md", "z.md"]


def test_what_is_done_to_a_manifest_is_not_done_to_one_read_later(tmp_path: Path) -> None:
    with Folder(tmp_path) as place:
        place.make(".dreamd")
        place.replace(MANIFEST, Manifest(3, {"a.md": Ours("0" * 40, own=())}, {}).dump())
        first = read_manifest(place)
        first.published["b.md"] = Ours("1" * 40)
        first.publishing["c.md"] = Ours("2" * 40)
        again = read_manifest(place)
        assert (again.revision, again.published, again.publishing) == (3, {"a.md": Ours("0" * 40, own=())}, {})
        place.replace(MANIFEST, Manifest(4, {}, {}).dump())
        assert read_manifest(place).revision == 4
