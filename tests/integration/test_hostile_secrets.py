"""Secrets in every field a log or a note folder has, names of files among them: none reaches store, archive, wiki or report, and none stops a dream."""

from __future__ import annotations

import base64
import json
import random
import string
from datetime import timedelta

import pytest

from pipelines.logs.codec import decompress
from tests.dreaming import NOW, Desk
from tests.writing import ClaudeLog, conversation, events


class Keys:
    """Makes keys and remembers what each was hidden in."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        self._random = random.Random(5)

    def __call__(self, where: str) -> str:
        key = "ghp_" + "".join(self._random.choices(string.ascii_letters + string.digits, k=36))
        self.made[key] = where
        return key


def hide_in_logs(desk: Desk, key: Keys) -> None:
    at = NOW - timedelta(days=3)
    log = ClaudeLog("fields", at=at, branch="fix-" + key("branch"), cwd="/home/ana/" + key("folder"))
    log.user(f"Use {key('message')}.").bash(f"curl -H 'Authorization: Bearer {key('argument')}' https://example.org", f"ok\n{key('output')}")
    log.bash("git commit -m x", f"[main 1a2b3c4] add {key('commit')}\n 1 file changed").user("url https://ana:x@db.example.org/" + key("url"))
    log.write(f"/home/ana/.claude/projects/p/memory/{key('path written')}.md", f"# {key('title written')}\n- a {key('note written')}\n")
    log.user('escaped {"k": "{\\"token\\": \\"' + key("escaped twice") + '\\"}"}').user("x", summary=key("unknown field"))
    log.user("data " + base64.b64encode(key("base64").encode()).decode())
    log.records.append({"type": "custom-title", "customTitle": f"T {key('title')}", "sessionId": log.uuid})
    log.save(desk.logs)
    (desk.logs / f"log-{key('file')}.jsonl").write_text(ClaudeLog("file", at=at).user("The API listens on port 8080.").text())
    (desk.logs / f"bad-{key('refused file')}.jsonl").write_text("nothing\nof use\n")
    folder = desk.logs / f"of-{key('log folder')}"
    folder.mkdir()
    (folder / "c.jsonl").write_text(ClaudeLog("folder", at=at).user("The cache listens on port 6379.").text())
    row = (f"topic-{key('topic')}", f"v {key('value')}", "verified", "2026-03-30T10:00:00Z")
    (desk.logs / "e.events.jsonl").write_text(events([row], producer=f"p-{key('producer')}"))
    (desk.logs / "talk.jsonl").write_text(conversation(f"s-{key('session')}", [(f"Ana {key('speaker')}", "The staging port is 5433.")]))


def hide_in_notes(desk: Desk, key: Keys) -> None:
    desk.note(f"{key('note file')}.md", "- the port is 5499\n")
    desk.note(f"{key('note folder')}/x.md", "- the port is 5498\n")
    front = f"---\nname: n {key('name')}\ndescription: d {key('description')}\nmetadata:\n  key: {key('front matter')}\n---\n\n"
    body = f"# H {key('h1')}\n\n## S {key('h2')}\n\n- the port is 5497 [x]({key('link')}.md), https://example.org/?t={key('query')}\n- password: {key('bullet')}\n\n"
    table = f"| a | b |\n| - | - |\n| {key('cell')} | x |\n\n```\n{key('code')}\n```\n"
    desk.note("fields.md", front + body + table)
    desk.note("MEMORY.md", f"# Index\n\n- [x]({key('index link')}.md) — hook\n- the {key('index')} port\n")


def test_a_secret_in_any_field_reaches_nothing(desk: Desk) -> None:
    key = Keys()
    hide_in_logs(desk, key)
    hide_in_notes(desk, key)
    report = desk.dream(desk.logs, desk.logs / "e.events.jsonl").report
    assert report.status == "completed"
    told = json.dumps(report.as_json()).lower().encode()
    files = [p for folder in (desk.data, desk.wiki) for p in folder.rglob("*") if p.is_file()]
    kept = [decompress(p.read_bytes()) if p.suffix == ".zst" else p.read_bytes() for p in files]
    names = "\n".join(p.name for p in files).lower().encode()
    everything = b"\n".join([told, names, *(data.lower() for data in kept)])
    forms = {form.lower().encode(): where for k, where in key.made.items() for form in (k, base64.b64encode(k.encode()).decode(), k.replace("_", "-"))}
    assert [where for form, where in forms.items() if form in everything] == []


def test_a_report_that_makes_a_secret_of_harmless_words_is_masked_and_publishing_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ClaudeLog("talk", at=NOW - timedelta(days=3)).user("The API listens on port 8080.").save(desk.logs)
    secret = "password: hun" + "ter2-Correct"
    monkeypatch.setattr("pipelines.run.ending.morning_report", lambda *_, **__: ("journal/2026-04-01.md", f"# Report\n\n- the {secret}\n"))
    assert desk.dream().report.status == "completed"
    report = (desk.wiki / "journal" / "2026-04-01.md").read_text()
    assert secret not in report
    assert "- the password: ***" in report


def test_words_that_are_a_secret_only_side_by_side_on_a_page_hold_nothing_back(desk: Desk) -> None:
    ClaudeLog("talk", at=NOW - timedelta(days=3)).user("The API listens on port 8080.").save(desk.logs)
    desk.note("password.md", "# The password\n\n- =\n- The API listens on port 8080.\n")
    desk.dream()
    page = next(iter(desk.pages().values()))
    own = "\nMy own: password = hunter2-Correct-Horse\n"
    path = desk.wiki / next(iter(desk.pages()))
    mark = "<!-- yours below: dreamd never touches it -->\n"
    path.write_text(page.replace(mark, mark + own))
    ClaudeLog("more", at=NOW - timedelta(days=2)).user("The cache listens on port 6379.").save(desk.logs)
    assert desk.dream().report.status == "completed"
    assert own in path.read_text(), "what a person wrote is kept byte for byte"
