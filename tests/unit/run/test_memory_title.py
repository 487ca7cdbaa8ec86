"""What a memory is called: its project, and not the folder below it that most sessions happened to begin in."""

from __future__ import annotations

import pytest

from pipelines.run.recent_work import UNNAMED, title_from
from worker.settings import Settings


@pytest.mark.parametrize(
    ("folders", "scope", "title"),
    [
        ({"/sub": 5, "/web": 1}, "web", "web"),
        ({"/sub": 5}, "acme/web", "web"),
        ({}, "web", "web"),
        ({"/sub": 5, "/web": 1}, UNNAMED, "sub"),
        ({"/harbor": 2, "/harbor-fix": 2, "/cave": 3}, UNNAMED, "harbor"),
        ({"": 3}, UNNAMED, UNNAMED),
    ],
)
def test_a_scope_somebody_named_is_what_the_memory_is_of_else_the_folder_of_most_sessions(folders: dict[str, int], scope: str, title: str) -> None:
    assert title_from(folders, scope) == title


def test_the_scope_nobody_named_is_the_default_of_the_settings() -> None:
    assert Settings.model_fields["scope"].default == UNNAMED
