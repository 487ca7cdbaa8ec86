"""The last commit of a note's file, asked of git."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from worker.gittimes import git_times


def test_the_newest_commit_of_each_file_below_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()

    def commit(day: int, **files: str) -> None:
        for name, text in files.items():
            (folder / f"{name}.md").write_text(text)
        env = {"GIT_COMMITTER_DATE": f"2026-03-0{day}T10:00:00+02:00", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", tmp_path, "add", "."], check=True, env=env)
        subprocess.run(["git", "-C", tmp_path, *who, "commit", "-qm", "x"], check=True, env=env)

    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    commit(1, a="one", 规则="r")
    commit(3, a="two")
    assert git_times(folder) == {"a.md": datetime(2026, 3, 3, 8, tzinfo=UTC), "规则.md": datetime(2026, 3, 1, 8, tzinfo=UTC)}


def test_no_repository_is_no_answer(tmp_path: Path) -> None:
    assert git_times(tmp_path) == {}
