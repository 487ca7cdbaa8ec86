"""Verdicts on the agent's own notes that need no log."""

from pipelines.notes.folder import read_text
from pipelines.stages.analyzer import duplicates


def test_a_line_said_in_two_files_is_a_duplicate_but_the_label_of_a_list_is_not() -> None:
    body = "How to apply the rule:\n\n- Run `make lint` before every push\n- {own}\n"
    one = read_text(body.format(own="Ask Ana for the token"), folder="notes", path="a.md")[1]
    two = read_text(body.format(own="Restart the proxy afterwards"), folder="notes", path="b.md")[1]
    texts = {n.uid: n.text for n in (*one, *two)}
    assert [texts[uid] for uid in duplicates([*one, *two])] == ["Run `make lint` before every push"]
