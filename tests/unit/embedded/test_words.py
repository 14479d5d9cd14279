"""Text analysis: which words a text has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.adapters.embedded.words import MAX_WORD_CHARACTERS, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Plain words, as they come.", ["Plain", "words", "as", "they", "come"]),
        ("getUserName", ["getUserName", "get", "User", "Name"]),
        ("HTTPServer2", ["HTTPServer2", "HTTP", "Server", "2"]),
        ("snake_case", ["snake", "case", "snake_case"]),
        ("ERR_4418:", ["ERR", "4418", "ERR_4418"]),
        ("(asyncio.TaskGroup)", ["asyncio", "TaskGroup", "asyncio.TaskGroup", "Task", "Group"]),
        ("std::vector<int>", ["std", "vector", "int", "std::vector"]),
        ("foo-bar.md", ["foo", "bar", "md", "foo-bar.md"]),
        ("__init__", ["init", "__init__"]),
        ("C++ and F#", ["C", "and", "F", "C++", "F#"]),
        ("sha256 v2", ["sha256", "v2", "sha", "256"]),
        ("550e8400-e29b", ["550e8400", "e29b", "550e8400-e29b"]),
        ("NASA's 3.14", ["NASA", "s", "3", "14", "3.14"]),
        ("café CAFÉ cafe\u0301", ["cafe", "CAFE", "cafe"]),
        ("Straße Łódź", ["Strasse", "Lodz"]),
        ("ＡＢＣ ﬁne", ["ABC", "fine"]),
        ("“good” typography — here’s", ["good", "typography", "here", "s"]),
        ("ёлка и Йод", ["елка", "и", "Иод"]),
        ("हिन्दी", ["हिन्दी"]),
        ("日本語", ["日", "本", "語", "日本", "本語"]),
        ("猫", ["猫"]),
        ("ガガ", ["ガ", "ガ", "ガガ"]),
        ("한국어", ["한", "국", "어", "한국", "국어"]),
        ("ดีครับ", ["ดี", "ค", "รั", "บ", "ดีค", "ครั", "รับ"]),
        ("用getUserName吧", ["getUserName", "用", "吧", "get", "User", "Name"]),
        ("a\x00b\ud800c\u200bd", ["a", "b", "c", "d"]),
        ("🙂 ... ?!", []),
    ],
)
def test_a_text_has_these_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_words_longer_than_any_language_has_are_left_out() -> None:
    assert words_of("a " + "x" * MAX_WORD_CHARACTERS + " " + "y" * (MAX_WORD_CHARACTERS + 1) + " b") == [
        "a",
        "x" * MAX_WORD_CHARACTERS,
        "b",
    ]


@given(st.text(max_size=200))
def test_no_word_is_empty_too_long_or_holds_a_space(text: str) -> None:
    assert all(0 < len(word) <= MAX_WORD_CHARACTERS and word.split() == [word] for word in words_of(text))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=6))
def test_lines_have_the_words_that_they_have_alone(lines: list[str]) -> None:
    assert sorted(words_of("\n".join(lines))) == sorted(word for line in lines for word in words_of(line))
