"""A scope moves from a laptop to a server and back: the same wiki, and the next dream is the one it would have been."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.contracts.store_kinds import administrator
from tests.writing import ClaudeLog, memory
from worker.cli import run

SCOPE = "acme/web/ana"


class Person:
    """Logs, notes, and one wiki a store: in a data folder of its own, or a database."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.patch = root, monkeypatch
        self.logs, self.notes = root / "logs", root / "notes"
        self.logs.mkdir()
        self.notes.mkdir()

    def run(self, where: str, *command: str, url: str = "") -> int:
        self.patch.setenv("DREAMD_DATA_DIR", str(self.root / where / "data"))
        self.patch.setenv("DREAMD_SCOPE", SCOPE)
        if url:
            self.patch.setenv("DREAMD_DATABASE_URL", url)
        else:
            self.patch.delenv("DREAMD_DATABASE_URL", raising=False)
        self.wiki(where).parent.mkdir(exist_ok=True)
        return run([*command, "--wiki", str(self.wiki(where))])

    def dream(self, where: str, *, url: str = "") -> None:
        assert self.run(where, "dream", str(self.logs), "--notes", str(self.notes), url=url) == 0

    def wiki(self, where: str) -> Path:
        return self.root / where / "wiki"

    def pages(self, where: str) -> dict[str, str]:
        """The wiki but for the reports of single dreams, which tell when each ran."""
        files = (p for p in self.wiki(where).rglob("*.md") if not {".dreamd", "journal"} & set(p.parts))
        return {p.relative_to(self.wiki(where)).as_posix(): p.read_text(encoding="utf-8") for p in files}


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    made = Person(tmp_path, monkeypatch)
    ClaudeLog("one").user("no, the centre is west of the cave").assistant("Understood.").save(made.logs)
    ClaudeLog("two").user("From now on, always run the tests before a push.").assistant("Understood.").save(made.logs)
    (made.notes / "centre.md").write_text(memory("centre", "The centre is east of the cave.", modified="2026-03-02T09:30:00Z"), encoding="utf-8")
    return made


def test_a_scope_that_moves_to_a_server_and_back_keeps_its_wiki_and_its_next_dream(
    person: Person, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    person.dream("laptop")
    page = person.wiki("laptop") / "centre.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nMy own words.\n", encoding="utf-8")
    person.dream("laptop")
    first = person.pages("laptop")
    assert "My own words." in first["centre.md"]

    file, back = str(person.root / "ana.dreamd.zst"), str(person.root / "back.dreamd.zst")
    assert person.run("laptop", "export", file) == 0
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert person.run("server", "import", file, url=database_url) == 0
    assert "Next: dreamd publish" in capsys.readouterr().out, "the pages are in the store, and in no folder yet"
    assert person.run("server", "export", back, url=database_url) == 0
    assert person.run("second", "import", back) == 0
    for where, url in (("server", database_url), ("second", "")):
        assert person.run(where, "publish", url=url) == 0
        assert person.pages(where) == first
        assert person.run(where, "verify", url=url) == 0

    ClaudeLog("three").user("no, the centre is north of the cave").assistant("Understood.").save(person.logs)
    for where, url in (("laptop", ""), ("server", database_url), ("second", "")):
        person.dream(where, url=url)
    assert person.pages("server") == person.pages("second") == person.pages("laptop") != first


def test_a_file_is_not_written_over_and_a_bad_one_is_named(person: Person, database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    person.dream("laptop")
    file = person.root / "ana.dreamd.zst"
    file.write_bytes(b"mine")
    assert person.run("laptop", "export", str(file)) == 3
    assert file.read_bytes() == b"mine"
    assert person.run("server", "import", str(file), url=database_url) == 3
    assert str(file) in capsys.readouterr().err
    assert person.run("server", "import", str(file.with_name("none")), url=database_url) == 3
    assert person.run("laptop", "export", str(person.root / "no" / "folder" / "x")) == 3
    with administrator(database_url) as admin:
        assert admin.execute("SELECT count(*) FROM scopes").fetchone() == (0,)
    assert [p.name for p in person.root.iterdir() if p.name.startswith(".")] == []
