from __future__ import annotations

import pytest

from pipelines.engines.local.shell import parts, shown_status


def texts(line: str) -> list[str]:
    return [p.text for p in parts(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd web && npm run build", ["cd web", "npm run build"]),
        ("make test; echo done", ["make test", "echo done"]),
        ("pytest -q | tail -5", ["pytest -q", "tail -5"]),
        ("npm start &", ["npm start"]),
        ("grep 'a && b' file", ["grep 'a && b' file"]),
        ('echo "$(date; whoami)" && ls', ['echo "$(date; whoami)"', "ls"]),
        ("make 2>&1", ["make 2>&1"]),
        ("mix compile\nmix test", ["mix compile", "mix test"]),
        ("# only a comment", []),
    ],
)
def test_a_line_is_cut_at_its_operators_and_nowhere_else(line: str, expected: list[str]) -> None:
    assert texts(line) == expected


def test_a_here_document_belongs_to_its_command() -> None:
    line = "git commit -m \"$(cat <<'EOF'\nfix: a; b && c | d's\nEOF\n)\" && git push"
    assert [t[:10] for t in texts(line)] == ["git commit", "git push"]


def test_a_line_with_an_open_quote_has_no_parts() -> None:
    assert parts("echo 'open") == ()


def test_every_part_stands_where_it_says() -> None:
    line = "cd a && FOO=1 pnpm build --x 'a b' 2>&1 | tail -60"
    assert all(line[p.start : p.start + len(p.text)] == p.text for p in parts(line))


def test_words_leave_out_assignments_redirections_and_comments() -> None:
    (part,) = parts("FOO=1 BAR='x y' pnpm build >out.txt 2>&1 # why")
    assert part.words == ("pnpm", "build")
    assert part.environment == ("FOO=1", "BAR='x y'")
    assert part.bare == "FOO=1 BAR='x y' pnpm build"


def test_an_arrow_inside_quotes_is_no_redirection() -> None:
    (part,) = parts("rg 'a > b' src 2>/dev/null")
    assert part.words == ("rg", "'a > b'", "src")
    assert part.bare == "rg 'a > b' src"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("make build", ["make build"]),
        ("make build && make test", ["make build", "make test"]),
        ("make build;", ["make build"]),
        ("mix test | tail -5", []),
        ("mix test || true", []),
        ("npm start &", []),
        ("make build; make test", ["make test"]),
        ("mix test 2>&1", ["mix test 2>&1"]),
    ],
)
def test_a_status_of_zero_proves_only_what_nothing_hides(line: str, expected: list[str]) -> None:
    assert [p.text for p in shown_status(parts(line))] == expected
