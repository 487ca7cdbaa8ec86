import pytest

from pipelines.text.tokens import tokenize, tokens_of_query


def test_an_identifier_gives_itself_whole_and_its_parts() -> None:
    assert tokenize("a_b.c") == ["a_b.c", "a_b", "a", "b", "c"]


def test_a_number_sign_is_kept_and_also_dropped() -> None:
    assert tokenize("#4573") == ["#4573", "4573"]
    assert "12" in tokenize("PR#12")
    assert "pr" in tokenize("PR#12")


def test_c_cpp_and_csharp_are_three_tokens() -> None:
    assert tokenize("C") == ["c"]
    assert tokenize("C++") == ["c++"]
    assert tokenize("C#") == ["c#"]
    assert tokenize("C/C++") == ["c/c++", "c", "c++"]


def test_a_path_gives_each_of_its_names() -> None:
    found = tokenize("src/pipelines/cli.py")
    assert found[0] == "src/pipelines/cli.py"
    assert {"src", "cli.py", "cli", "py"} <= set(found)


def test_camel_case_is_split_and_kept_whole() -> None:
    assert {"get", "user", "name"} <= set(tokenize("getUserName"))
    assert {"http", "server"} <= set(tokenize("HTTPServer"))


def test_a_run_of_chinese_gives_bigrams_in_order_then_characters() -> None:
    assert tokenize("数据库") == ["数据", "据库", "数", "据", "库"]
    assert tokens_of_query("数据库") == ["数据", "据库"]


def test_a_single_chinese_character_can_be_asked_for() -> None:
    assert tokens_of_query("茶") == ["茶"]
    assert "茶" in tokenize("我喜欢茶和咖啡")


def test_digits_beside_chinese_are_a_token() -> None:
    assert "5432" in tokenize("数据库端口5432已改")


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("The deploys ran", "deploy"),
        ("Ｃ＋＋ ５４３２", "C++ 5432"),
        ("Straße", "STRASSE"),
        ("use --dry-run first", "--dry-run"),
        ("see https://example.org/a?b=c.", "https://example.org/a"),
        ("Ana's laptop", "ana"),
        ("数据库端口是5432", "端口"),
    ],
)
def test_a_query_finds_its_document(document: str, query: str) -> None:
    assert set(tokens_of_query(query)) <= set(tokenize(document))


def test_a_query_drops_stop_words_unless_nothing_else_is_left() -> None:
    assert tokens_of_query("what is the port") == ["port"]
    assert tokens_of_query("to be") == ["to", "be"]


def test_text_without_words_has_no_tokens() -> None:
    assert tokenize("… -- !? 。") == []
