"""What a person tells all their projects is read in each of them, after the project's own; what a project knows is never read in another."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.store import Delivery, Store, open_store
from pipelines.wiki.above import with_above
from pipelines.wiki.budget import MEMORY_MD, Budget, Unit
from pipelines.wiki.marker import read_marker
from tests.dreaming import NOW
from tests.writing import ClaudeLog
from worker.above import above
from worker.registry import Registered, planned, register_user

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def projects(dreamd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two projects that were dreamt over, each with a rule of its own; the current folder is the first."""
    monkeypatch.delenv("DREAMD_WIKI")
    monkeypatch.setenv("DREAMD_WIKIS", str(tmp_path / "wikis"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
    roots = (tmp_path / "code" / "shop", tmp_path / "code" / "bank")
    for root, word in zip(roots, ("Birch", "Cedar"), strict=True):
        (root / ".git").mkdir(parents=True)
        log = (
            ClaudeLog(word, cwd=str(root), at=NOW - timedelta(days=3)).remember(f"Always call the release {word}.").remember(f"The staging host is {word}host.")
        )
        log.save(tmp_path / ".claude" / "projects" / word)
    assert dreamd("dream", "--all")[0] == 0
    monkeypatch.chdir(roots[0])
    return roots


def noted(out: str) -> str:
    """The id of the first note a remember names."""
    return str(json.loads(out)["notes"][0])


def door(tmp_path: Path, name: str) -> str:
    """What lies ready for the next session of a project's wiki."""
    files = [json.loads(f.read_text()) for f in (tmp_path / "data" / "dreamd" / "briefs").glob("*.json")]
    return next(str(f["doors"]["claude-code"]["text"]) for f in files if f["scope"] == name)


def test_what_is_told_to_all_projects_is_read_in_each_and_nothing_else_crosses(
    dreamd: Command, projects: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, out, _ = dreamd("remember", "--user", "Always answer in German.", "--json")
    assert (code, json.loads(out)["scope"]) == (0, "user")
    for root, own, others in zip(projects, ("Birch", "Cedar"), ("Cedar", "Birch"), strict=True):
        monkeypatch.chdir(root)
        brief = dreamd("brief")[1]
        rules = brief[brief.index("## Rules") :]
        assert rules.index(own) < rules.index("Always answer in German.")
        assert others not in brief
        assert "Always answer in German." in door(tmp_path, root.name)
        assert others not in door(tmp_path, root.name)
        found = dreamd("search", "answer German release")[1]
        assert "Always answer in German." in found
        assert others not in found
        assert dreamd("search", others)[1].strip() == "nothing found"
        why = dreamd("why", noted(out))[1]
        assert "scope user" in why
        assert "Always answer in German." in why
        hits = json.loads(dreamd("search", "answer German", "--json")[1])["hits"]
        assert [h["scope"] for h in hits if "German" in h["text"]] == ["user"]


def test_the_sessions_of_all_projects_that_were_told_a_note_from_above_are_named(
    dreamd: Command, projects: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = noted(dreamd("remember", "--user", "Always answer in German.", "--json")[1])
    dreamd("remember", "The build host is mercury.")
    data = tmp_path / "data" / "dreamd"
    for file in sorted((data / "briefs").glob("*.json")):
        left = json.loads(file.read_text())
        if left["scope"] == "user":
            continue
        store = store_of(data, Path(left["wiki"]))
        versions = tuple(left["doors"]["claude-code"]["versions"])
        at = NOW + timedelta(days=1)
        store.record_delivery(left["scope"], Delivery(session=f"in-{left['scope']}", door="claude-code", target="brief", rev=1, versions=versions, at=at))
        store.close()
    told = json.loads(dreamd("why", note, "--sessions", "--json")[1])["notes"][0]["told"]
    assert [t["session"] for t in told] == ["in-bank", "in-shop"]
    assert dreamd("why", note, "--sessions", "--wiki", str(tmp_path / "wikis" / "user"))[1].startswith(
        f"{note}  told to 2 sessions: Always answer in German.\n"
    )
    own = json.loads(dreamd("why", "mercury", "--sessions", "--json")[1])["notes"][0]["told"]
    assert [t["session"] for t in own] == ["in-shop"]


def store_of(data: Path, wiki: Path) -> Store:
    """The store of a wiki."""
    marker = read_marker(wiki)
    assert marker is not None
    return open_store(f"sqlite:///{data / 'stores' / marker.wiki / 'store.db'}", now=lambda: NOW)


def test_a_projects_own_value_wins_over_the_persons(dreamd: Command, projects: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    dreamd("remember", "--user", "The staging host is Everyhost.")
    dreamd("remember", "--user", "My editor is vim.")
    brief = dreamd("brief")[1]
    assert "Birchhost" in brief
    assert "Everyhost" not in brief
    assert "vim" in brief
    found = dreamd("search", "staging host")[1]
    assert "Birchhost" in found
    assert "Everyhost" not in found


def test_a_note_moves_up_by_the_person_and_back_by_retracting(dreamd: Command, projects: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    local = noted(dreamd("remember", "Always run the linter first.", "--json")[1])
    monkeypatch.chdir(projects[1])
    assert "linter" not in dreamd("brief")[1]
    monkeypatch.chdir(projects[0])
    code, out, err = dreamd("notes", "up", local, "--json")
    assert (code, err) == (0, "")
    moved = json.loads(out)
    assert moved["moved_to"] == "user"
    for root in projects:
        monkeypatch.chdir(root)
        assert dreamd("brief")[1].count("Always run the linter first.") == 1
    assert dreamd("notes", "up", local)[0] == 3
    user = projects[0].parents[1] / "wikis" / "user"
    assert dreamd("notes", "up", moved["notes"][0], "--wiki", user)[0] == 3
    assert dreamd("retract", moved["notes"][0], "--wiki", user)[0] == 0
    assert "linter" not in dreamd("brief")[1]


def test_no_log_is_dreamt_into_what_stands_above(dreamd: Command, projects: tuple[Path, Path], tmp_path: Path) -> None:
    dreamd("remember", "--user", "Always answer in German.")
    for command in (("dream",), ("intake",), ("watch", "--once")):
        code, _, err = dreamd(*command, tmp_path / ".claude", "--wiki", tmp_path / "wikis" / "user")
        assert code == 3
        assert "written by you alone" in err
    assert dreamd("remember", "--user", "x", "--scope", "shop")[0] == 2


def test_a_project_of_that_name_gets_another_wiki_and_scope(tmp_path: Path) -> None:
    given = planned(tmp_path, tmp_path / "user", wikis=tmp_path / "wikis")
    assert given.scope.startswith("user-")
    assert given.wiki.name == given.scope


BRIEF = "<dreamd-brief>\n\n# Memory: x\n\n## Rules\n\n- Own rule.\n\n## Pages\n\n{}\n## More\n\n- search\n\n</dreamd-brief>\n"


def test_lines_from_above_stand_behind_the_projects_own_and_the_budget_holds() -> None:
    text = BRIEF.replace("{}", "".join(f"- [Page {n}](p{n}.md): {'x' * 60}\n" for n in range(40)))
    budget = Budget(lines=200, size=2_000, unit=Unit.CHARS)
    told = with_above(text, {"Rules": ["- Everywhere."], "Facts and decisions": ["- A fact."]}, budget)
    assert len(told) <= 2_000
    assert "- Own rule.\n- Everywhere.\n" in told
    assert "- A fact.\n" in told
    assert "- All pages → [pages](pages.md)\n" in told
    assert told.endswith("</dreamd-brief>\n")


def test_what_stands_above_takes_at_most_a_quarter() -> None:
    text = BRIEF.replace("{}", "- [Page](p.md)\n")
    told = with_above(text, {"Rules": [f"- {n} {'y' * 96}" for n in range(200)]}, MEMORY_MD)
    assert 60 <= told.count("yyyy\n") <= 63


def test_a_brief_without_anything_above_stays_as_it_is() -> None:
    assert with_above(BRIEF, {}, MEMORY_MD) == BRIEF
    assert with_above("no brief", {"Rules": ["- x"]}, MEMORY_MD) == "no brief"


def test_in_a_shared_store_only_scopes_of_the_same_tenant_read_what_stands_above(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    register_user(tmp_path, Registered(root=tmp_path, wiki=tmp_path / "nowhere", scope="acme/user"))
    with open_store(f"sqlite:///{tmp_path}/store.db", now=lambda: NOW) as store:
        with store.writing("make scopes") as conn:
            for scope in ("acme/user", "acme/web", "acme2/web", "Acme/web"):
                store.locked_scope(conn, scope)
        for scope, reads in {"acme/web": True, "acme/web/ana": True, "acme2/web": False, "Acme/web": False, "acme/user": False, "web": False}.items():
            with above(store, scope, tmp_path) as found:
                assert (found == (store, "acme/user")) is reads, scope


def test_a_shared_store_without_a_scope_of_ones_own_takes_nothing_for_all_projects(dreamd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("DREAMD_DATABASE_URL", f"sqlite:///{tmp_path}/shared.db")
    code, _, err = dreamd("remember", "--user", "Always answer in German.")
    assert code == 3
    assert "scope" in err
