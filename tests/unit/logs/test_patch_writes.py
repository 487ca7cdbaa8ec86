from datetime import UTC, datetime

import pytest

from pipelines.logs.chat import ChatReader
from pipelines.logs.codex import CodexReader
from pipelines.logs.patch_writes import WRITES_HELD, hold_writes, writes_of
from pipelines.model import Call
from tests.unit.logs.log_records import read

PATCH = """*** Begin Patch
*** Add File: /home/ana/.codex/memories/build.md
+# Build
+
+Use pnpm.
*** Update File: /home/ana/.codex/memories/style.md
@@ Tabs
 # Style
-Use tabs.
+Use spaces.
@@
+Wrap at 100.
*** Delete File: /home/ana/.codex/memories/old.md
*** Update File: src/app.ts
-a
+b
*** End Patch"""


def patch_call(**arguments: object) -> Call:
    return Call(call_id="call_abcdef123456", name="apply_patch", arguments=arguments or {"input": PATCH})


def test_a_patch_tells_what_it_writes_into_a_memory_folder_and_nothing_else() -> None:
    assert writes_of(patch_call()) == [
        {"path": "/home/ana/.codex/memories/build.md", "content": "# Build\n\nUse pnpm.\n"},
        {"path": "/home/ana/.codex/memories/style.md", "edits": [["# Style\nUse tabs.", "# Style\nUse spaces."], ["", "Wrap at 100."]]},
        {"path": "/home/ana/.codex/memories/old.md", "deleted": True},
    ]


@pytest.mark.parametrize(
    "call",
    [
        Call(call_id="c", name="shell", arguments={"command": ["apply_patch", PATCH]}),
        Call(call_id="c", name="exec_command", arguments={"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}),
    ],
)
def test_a_patch_may_come_through_a_shell(call: Call) -> None:
    assert [w["path"].rsplit("/", 1)[1] for w in writes_of(call)] == ["build.md", "style.md", "old.md"]


def test_a_patch_that_never_ends_writes_nothing() -> None:
    assert writes_of(patch_call(input=PATCH.removesuffix("*** End Patch"))) == []
    assert writes_of(patch_call(input=7)) == []


def codex(output: str) -> list[dict[str, object]]:
    meta = {"timestamp": "2026-03-02T09:00:00.000Z", "type": "session_meta", "payload": {"id": "0199aaaa-1111-7222-8333-444455556666"}}
    call = {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "call_abcdef123456"}
    result = {"type": "custom_tool_call_output", "call_id": "call_abcdef123456", "output": output}
    return [meta, *({"timestamp": "2026-03-02T09:00:01.000Z", "type": "response_item", "payload": p} for p in (call, result))]


def test_codex_notes_count_once_their_result_says_they_were_written() -> None:
    found = read(CodexReader(), *codex('{"output": "Success.", "metadata": {"exit_code": 0}}'))
    assert [(n.path.rsplit("/", 1)[1], n.deleted) for n in found.notes] == [("build.md", False), ("style.md", False), ("old.md", True)]
    assert {(n.turn, n.session, n.at) for n in found.notes} == {(found.turns[0].uid, found.turns[0].session, datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC))}


@pytest.mark.parametrize("output", ["patch rejected by user", '{"output": "no", "metadata": {"exit_code": 1}}', "error: Failed to find expected lines"])
def test_a_patch_that_failed_wrote_no_note(output: str) -> None:
    assert read(CodexReader(), *codex(output)).notes == ()


def test_the_memory_tool_of_a_chat_writes_notes() -> None:
    use = {
        "type": "tool_use",
        "id": "toolu_abcdef123456",
        "name": "memory",
        "input": {"command": "create", "path": "/memories/build.md", "file_text": "Use pnpm.\n"},
    }
    done = {"type": "tool_result", "tool_use_id": "toolu_abcdef123456", "content": "File created successfully at /memories/build.md"}
    (note,) = read(ChatReader(), {"role": "user", "content": "Remember."}, {"role": "assistant", "content": [use]}, {"role": "user", "content": [done]}).notes
    assert (note.path, note.content) == ("/memories/build.md", "Use pnpm.\n")


def test_writes_that_wait_are_bounded() -> None:
    held: dict[str, object] = {}
    for i in range(WRITES_HELD + 5):
        hold_writes(held, Call(call_id=f"c{i}", name="apply_patch", arguments={"input": PATCH}), session="s", turn="t")
    assert list(held) == [f"c{i}" for i in range(5, WRITES_HELD + 5)]
