"""Settings files edited as text: one hook more, one less, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import Refused
from worker.connect.json_text import HOOKS, checked, commands_of, with_hooks, without_hooks

OURS = "/opt/dreamd hook session-start"
GROUP = {"hooks": [{"type": "command", "command": OURS, "timeout": 5}]}
MINE = {"SessionStart": GROUP, "SessionEnd": {"hooks": [{"type": "command", "command": f"{OURS} b"}]}}
COMMANDS = {OURS, f"{OURS} b"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "hooks": {\n    "SessionStart": [\n      {"hooks": []}\n    ]\n  }\n}'),
        ('{"model": "opus"}\n', '{"model": "opus", "hooks": {"SessionStart": [{"hooks": []}]}}\n'),
        ('{\n\t"b": 1,\n\t"a": [2]\n}\n', '{\n\t"b": 1,\n\t"a": [2],\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}\n'),
        (
            '{\n    "hooks": {\n        "Stop": []\n    },\n    "z": 1e3\n}',
            '{\n    "hooks": {\n        "Stop": [],\n        "SessionStart": [\n            {"hooks": []}\n        ]\n    },\n    "z": 1e3\n}',
        ),
        ('{"hooks": {"SessionStart": [{"x": 1}]}}', '{"hooks": {"SessionStart": [{"x": 1}, {"hooks": []}]}}'),
    ],
)
def test_a_hook_is_written_as_its_neighbours_are(before: str, after: str) -> None:
    done = with_hooks(before, {"SessionStart": {"hooks": []}})
    assert "".join(done.split()) == "".join(after.split())
    assert json.loads(done) == json.loads(after)
    if before.startswith("{\n"):
        unit = before.split("\n")[1][: len(before.split("\n")[1]) - len(before.split("\n")[1].lstrip())]
        indents = {line[: len(line) - len(line.lstrip())] for line in done.splitlines()}
        assert indents == {unit * n for n in range(len(indents))}
        assert [line.rstrip(",") for line in before.splitlines() if line.rstrip(",") not in done] == []


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES = st.recursive(_LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3), max_leaves=8)
_HOOKS = st.dictionaries(
    st.sampled_from(["SessionStart", "Stop", "端"]),
    st.lists(st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}), max_size=2)}), max_size=2),
    max_size=3,
)
_SETTINGS = st.builds(lambda d, h: {**d, **({HOOKS: h} if h is not None else {})}, st.dictionaries(st.text(), _VALUES, max_size=4), st.none() | _HOOKS)
_FORMS = st.fixed_dictionaries({"indent": st.sampled_from([None, 2, 4, "\t"]), "ensure_ascii": st.booleans()})


@given(_SETTINGS, _FORMS, st.sampled_from(["", "\n"]))
def test_what_is_put_in_and_taken_out_again_leaves_the_values_and_their_order(said: dict[str, Any], form: dict[str, Any], end: str) -> None:
    text = checked((json.dumps(said, **form) + end).encode("utf-8", "surrogatepass")) if _is_utf8(said) else json.dumps(said) + end
    more = with_hooks(text, MINE)
    wanted = json.loads(text)
    for event, group in MINE.items():
        wanted.setdefault(HOOKS, {}).setdefault(event, []).append(group)
    assert json.loads(more) == wanted
    assert list(json.loads(more)) == list(wanted)
    back = without_hooks(more, COMMANDS, stood=text)
    assert json.loads(back) == json.loads(text)
    assert list(json.loads(back)) == list(json.loads(text))
    if said and said.get(HOOKS) and all(said[HOOKS].values()) and form["indent"] is not None:
        assert back == text, "nothing was empty before: to the byte"


def _is_utf8(said: object) -> bool:
    try:
        json.dumps(said, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def test_ours_is_taken_out_of_a_file_its_agent_has_written_anew_and_changed() -> None:
    more = with_hooks('{"model": "a"}', MINE)
    said = json.loads(more)
    said["hooks"]["SessionStart"].insert(0, {"matcher": "clear", "hooks": [{"type": "command", "command": "mine"}]})
    said["hooks"]["SessionStart"][1]["hooks"].append({"type": "command", "command": "beside"})
    said["model"] = "b"
    back = json.loads(without_hooks(json.dumps(said, indent=1), COMMANDS, stood='{"model": "a"}'))
    assert back == {
        "model": "b",
        "hooks": {
            "SessionStart": [{"matcher": "clear", "hooks": [{"type": "command", "command": "mine"}]}, {"hooks": [{"type": "command", "command": "beside"}]}]
        },
    }
    assert commands_of(json.dumps(back)) == {"SessionStart": ("mine", "beside")}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{\r\n"a": 1}', "CR LF"),
        (b'{\n  // mine\n  "a": 1\n}', "line 2 is not JSON"),
        (b'{"a": 1,}', "line 1 is not JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[]", "no JSON object"),
        (b'{"a": 1, "a": 2}', "'a' twice"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"hooks": []}', "hooks"),
        (b'{"hooks": {"Stop": {}}}', "hooks"),
        (b'{"a":' + b"[" * 200_000, "nested too deeply"),
    ],
)
def test_what_could_not_be_given_back_as_it_was_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why):
        checked(data)
