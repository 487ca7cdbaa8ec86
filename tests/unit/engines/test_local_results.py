from __future__ import annotations

import pytest

from pipelines.engines.local.results import result_facts
from pipelines.model import Call, Origin, Result, Role
from tests.unit.engines.talk import Talk


def told(talk: Talk) -> list[tuple[str, str, str | None]]:
    return [(c.subject, c.attribute, c.value) for c in result_facts(talk.turns)]


def test_a_plain_sentence_of_a_result_is_a_tools_fact() -> None:
    talk = Talk().run("survey cave", "The cave is west of the centre.")
    (claim,) = result_facts(talk.turns)
    assert (claim.subject, claim.attribute, claim.value, claim.verified_by) == ("cave", "position from centre", "west", None)
    assert claim.quotes[0].turn == talk.turns[1].uid


@pytest.mark.parametrize("command", ["cat map.txt", "grep -n cave map.txt", "git log", "curl https://x.org"])
def test_what_only_reads_is_read_again_not_remembered(command: str) -> None:
    assert told(Talk().run(command, "The cave is west of the centre.")) == []


@pytest.mark.parametrize(
    "output",
    [
        "The build is finished.",
        "the cave is west of the centre",
        "Is the cave west of the centre?",
        "If found, the cave is west of the centre.",
        "It is on port 8080.",
        "port: 8080",
        "The cave is west of the centre.\n" + "x " * 300,
    ],
)
def test_moods_completions_fragments_and_long_outputs_are_not(output: str) -> None:
    assert told(Talk().run("survey cave", output)) == []


def test_a_failed_call_states_nothing() -> None:
    assert told(Talk().run("survey cave", "The cave is west of the centre.", exit=1)) == []


def test_external_text_states_nothing() -> None:
    talk = Talk()
    talk._add(Role.ASSISTANT, Origin.ASSISTANT, "{}", call=Call(call_id="c", name="ask_page", arguments={"url": "https://x.org"}))
    talk._add(Role.TOOL, Origin.EXTERNAL, "The cave is west of the centre.", result=Result(call_id="c"))
    assert told(talk) == []


def test_a_started_server_says_where_it_listens_even_when_it_never_returns() -> None:
    talk = Talk().run("cd web && npm start", "Command timed out after 10s\nChart server running at http://localhost:8080/\n", exit=None, timed_out=True)
    assert told(talk) == [("npm start", "url", "http://localhost:8080")]


def test_a_server_that_found_its_port_taken_says_nothing() -> None:
    assert told(Talk().run("npm start", "Server running at http://localhost:8080/\nError: EADDRINUSE", exit=1)) == []
