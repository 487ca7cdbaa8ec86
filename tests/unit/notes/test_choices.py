"""One package manager, one port of a named thing: what cannot hold beside what an instruction file chose, and what only looks so."""

from __future__ import annotations

import pytest

from pipelines.notes.folder import read_text
from pipelines.notes.instructions import Instructions, told_by


def file_of(text: str) -> Instructions:
    return Instructions(told_by(read_text(text, folder="f", path="CLAUDE.md")[1]))


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("Always use npm.", "From now on always use yarn."),
        ("Use `npm`.", "We use pnpm now."),
        ("Use npm for installs.", "From now on, only use yarn as our package manager."),
        ("Package manager: bun", "Always use yarn, never npm."),
        ("Dependencies are managed with poetry.", "Use uv because it is faster."),
        ("一律使用 npm。", "以后一律用 pnpm。"),
        ("The dev server is `npm run dev` on port 4000", "The dev server runs on port 3001."),
        ("Start the dev server with `npm run dev` on port 4000.", "The dev server listens on port 3001."),
        ("Dev server: `npm run dev` (port 4000)", "The development server runs on port 3001."),
        ("The web client runs at http://localhost:5173/", "web client port: 5174"),
    ],
)
def test_another_choice_where_there_is_one_is_against_the_file(file: str, note: str) -> None:
    for one, other in ((file, note), (note, file)):
        found = file_of(f"# Harbor\n\n- Write in English.\n- {one}\n").against(other)
        assert found is not None
        assert found.line == 4


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("Always use npm.", "Always use npm for the docs."),
        ("Always use npm.", "Always use yarn for the docs."),
        ("Always use npm.", "Yarn is the name of our cat."),
        ("Always use npm.", "In web/ use yarn."),
        ("Always use npm.", "Use yarn when npm is down."),
        ("Always use npm.", "Use yarn too."),
        ("Always use npm.", "Install yarn."),
        ("Always use npm.", "Use yarn workspaces."),
        ("Always use npm.", "Always use npm, never yarn."),
        ("Always use npm.", "Always use uv."),
        ("Always use npm.", "We no longer use yarn."),
        ("Always use npm.", "I use yarn at home."),
        ("Always use npm.", "Ana uses yarn."),
        ("Always use npm.", "The docs are a project of their own. Use yarn."),
        ("The API listens on port 8080.", "The API is behind a proxy on port 80."),
        ("The dev server is `npm run dev` on port 4000", "The docs dev server runs on port 3001."),
        ("The dev server is `npm run dev` on port 4000", "The staging server runs on port 3001."),
        ("The web client is served on port 5173.", "The mobile client is served on port 5174."),
        ("Staging: port 5432", "Staging: port 8080"),
        ("It runs on port 4000.", "It runs on port 3001."),
        ("The dev server is `npm run dev` on port 4000", "The dev server runs on port 4000."),
        ("The dev server is `npm run dev` on port 4000", "The dev server runs on port 3001 if 4000 is taken."),
    ],
)
def test_what_speaks_of_a_part_adds_or_names_another_thing_is_not(file: str, note: str) -> None:
    assert file_of(f"- {file}\n").against(note) is None
    assert file_of(f"- {note}\n").against(file) is None


@pytest.mark.parametrize("heading", ["Frontend", "Rules › docs site", "The mobile app"])
def test_an_order_below_the_heading_of_a_part_is_for_that_part(heading: str) -> None:
    assert file_of(f"# Harbor\n\n## {heading}\n\n- Always use npm.\n").against("From now on always use yarn.") is None


@pytest.mark.parametrize("heading", ["Rules", "Package manager", "Code style & conventions", "How we work"])
def test_an_order_below_a_heading_that_names_no_part_is_for_all(heading: str) -> None:
    assert file_of(f"# Harbor\n\n## {heading}\n\n- Always use npm.\n").against("From now on always use yarn.") is not None


def test_two_choices_of_the_files_themselves_clash_once_and_not_those_of_two_parts() -> None:
    assert [(c.one.line, c.other.line) for c in file_of("- Always use npm.\n- Be kind.\n- We use yarn.\n").clashes()] == [(1, 3)]
    assert not list(file_of("## Web\n\n- Use npm.\n\n## Docs\n\n- Use yarn.\n").clashes())
