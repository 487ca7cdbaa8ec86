import pytest

from pipelines.text.casual import spelled_out


@pytest.mark.parametrize(
    ("typed", "full"),
    [
        ("im on it bc i dont mind", "I'm on it because I don't mind"),
        ("ive moved w my cat, cause it rained", "I've moved with my cat, because it rained"),
        ("I’m not there any more", "I'm not there anymore"),
        ("thats my bday cos why not", "that's my birthday because why not"),
    ],
)
def test_hasty_function_words_are_written_in_full(typed: str, full: str) -> None:
    assert spelled_out(typed) == full


@pytest.mark.parametrize(
    "text", ["cos(x) is even", "BC Ferries", "W is a constant", "see a.bc and src/w/index", "use i.e. in text", "it's any more than two", "我住在成都"]
)
def test_names_code_and_values_stay_as_they_are(text: str) -> None:
    assert spelled_out(text) == text
