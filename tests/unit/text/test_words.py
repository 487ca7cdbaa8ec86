import subprocess
import sys

import pytest

from pipelines.text.words import content_words, fold_width, has_chinese_word, is_cjk, raw_words, stem


@pytest.mark.parametrize("ch", ["数", "あ", "カ", "한", "〇", "𠀀"])
def test_han_kana_and_hangul_are_cjk(ch: str) -> None:
    assert is_cjk(ch)


@pytest.mark.parametrize("ch", ["a", "é", "5", "。", "Ａ", "😀", " "])
def test_letters_digits_and_punctuation_are_not_cjk(ch: str) -> None:
    assert not is_cjk(ch)


def test_folding_width_keeps_every_offset() -> None:
    text = "Ｃ＋＋　端口５４３２。😀"
    folded = fold_width(text)
    assert folded == "C++ 端口5432。😀"
    assert len(folded) == len(text)


def test_words_carry_exact_offsets_beside_emoji_and_full_width_forms() -> None:
    text = "😀 数据库端口是５４３２，see src/a_b.c and Ana's C++"
    found = [(w.text, text[w.start : w.end]) for w in raw_words(text)]
    assert all(a == b for a, b in found)
    assert [a for a, _ in found] == ["数据库", "端口", "是", "５４３２", "see", "src/a_b.c", "and", "Ana", "C++"]


def test_content_words_keep_order_drop_stop_words_and_keep_identifiers_whole() -> None:
    assert content_words("The API server listens on port 8080.") == ("api", "server", "listen", "port", "8080")
    assert content_words("数据库的端口是5432") == ("数据库", "端口", "5432")
    assert content_words("use a_b.c and --dry-run for #4573") == ("a_b.c", "--dry-run", "#4573")


def test_c_and_cpp_and_csharp_are_three_words() -> None:
    assert content_words("C, C++ and C#") == ("c", "c++", "c#")


@pytest.mark.parametrize(
    ("word", "same_as"), [("deploys", "deploy"), ("deployed", "deploy"), ("running", "run"), ("migrations", "migration"), ("replies", "reply"), ("uses", "use")]
)
def test_inflected_forms_share_a_stem(word: str, same_as: str) -> None:
    assert stem(word) == stem(same_as)


@pytest.mark.parametrize(("a", "b"), [("port", "sport"), ("redis", "red"), ("bus", "bu"), ("string", "str")])
def test_different_words_keep_different_stems(a: str, b: str) -> None:
    assert stem(a) != stem(b)


def test_a_chinese_cue_counts_only_as_a_word_of_its_own() -> None:
    cue = frozenset({"别"})
    assert has_chinese_word("别用旧端口", cue)
    assert not has_chinese_word("我特别喜欢茶", cue)
    assert not has_chinese_word("这是别人的电脑", cue)
    assert not has_chinese_word("use pnpm", cue)


def test_importing_the_module_does_not_load_the_chinese_dictionary() -> None:
    code = "import sys, pipelines.text.words, pipelines.text.tokens; sys.exit('rjieba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
