"""Names of projects, sessions and notes that hold what moves a cursor, breaks a line or leads out of a folder: no command's words and no page passes them on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.redacting import shared_redactor
from tests.writing import ClaudeLog
from worker import wiring
from worker.cli import run
from worker.projects import sanitised

Run = Callable[..., tuple[int, str, str]]
NAMES = ("-rf \x1b]0;t\x07ape\x1b[31m\n# two\nlines <b>`", "cr\rback\\..\\bidi\u202eevil")
BAD = ("\x1b", "\x07", "\r", "\u202e", "]0;t")


@pytest.fixture
def dreamd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in a home of its own, without a wiki that is named."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DREAMD_WIKI", raising=False)
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setattr(wiring, "redactor", lambda: shared_redactor(request))

    def command(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(w) for w in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def project(home: Path, name: str) -> Path:
    """A repository of this name, with two sessions whose titles are as odd, and a memory folder whose note is."""
    root = home / "code" / name
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    place = home / ".claude/projects" / sanitised(root)
    for n in range(2):
        log = ClaudeLog(f"odd{n}", cwd=str(root)).later(days=n).user("The staging port is 5433.").user("Always run `make lint` before you push.")
        told = json.dumps({"type": "ai-title", "sessionId": log.uuid, "aiTitle": f"Title {name}"}) + "\n"
        summary = json.dumps({"type": "summary", "summary": f"Title {name}", "leafUuid": "x"}) + "\n"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{log.uuid}.jsonl").write_text(log.text() + told + summary, encoding="utf-8")
    (place / "memory").mkdir()
    note = f"---\nname: {json.dumps(name)}\ndescription: {json.dumps('About ' + name)}\n---\n\n# {' '.join(name.split())}\n\n- The staging port is 5433.\n"
    (place / "memory" / "odd.md").write_text(note, encoding="utf-8")
    return root


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_an_odd_name_harms_no_terminal_and_no_page(dreamd: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    root = project(tmp_path, name)
    monkeypatch.chdir(root)
    first = [dreamd(), dreamd("dream")]
    note = next(x["uid"] for x in json.loads(dreamd("search", "staging", "--json")[1])["hits"] if x["kind"] == "note")
    told = [*first, dreamd(), dreamd("status"), dreamd("search", "staging"), dreamd("why", note), dreamd("review"), dreamd("brief"),
            dreamd("dreams", "list"), dreamd("journal"), dreamd("doctor"), dreamd("lint", "README.md"), dreamd("connect", "claude-code", "--dry-run")]  # fmt: skip
    assert [(code, err) for code, _, err in told[:10] if code] == []
    for _, out, err in told:
        assert [mark for mark in BAD if mark in out + err] == []
    wikis = list((tmp_path / "dreamd").iterdir())
    assert len(wikis) == 1
    assert wikis[0].parent == tmp_path / "dreamd"
    pages = {p: p.read_text(encoding="utf-8") for p in wikis[0].rglob("*.md")}
    assert any("5433" in text for text in pages.values())
    assert "Title" in next(text for path, text in pages.items() if path.name == "recent.md")
    for path, text in pages.items():
        assert [mark for mark in BAD if mark in text] == [], path
    json.loads(dreamd("--json")[1])
    json.loads(dreamd("status", "--json")[1])
