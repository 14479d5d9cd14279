import itertools

import pytest

from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.knowledge_bases import Chunking


def texts(text: str, *, name: str = "a.txt", size: int = 100, overlap: int = 0, respect_word_boundaries: bool = True) -> list[str]:
    chunking = Chunking(size, overlap, respect_word_boundaries=respect_word_boundaries)
    return [one.text for one in chunk(load(name, text.encode()), chunking)]


class TestWhereProseIsCut:
    def test_a_text_that_fits_is_one_chunk(self) -> None:
        assert texts("x" * 100) == ["x" * 100]

    def test_between_paragraphs_first(self) -> None:
        paragraphs = [f"Paragraph {n} has a sentence. And one\nmore line that fills it up." for n in range(4)]
        assert texts("\n\n".join(paragraphs)) == paragraphs

    def test_between_lines_when_a_paragraph_is_too_long(self) -> None:
        lines = [f"Line {n} of one paragraph. It has two sentences and no more." for n in range(4)]
        assert texts("\n".join(lines)) == lines

    def test_between_sentences_when_a_line_is_too_long(self) -> None:
        sentences = [f"Sentence {n} of one very long line that has no end at all." for n in range(4)]
        assert texts(" ".join(sentences)) == sentences

    def test_between_sentences_of_a_script_without_spaces(self) -> None:
        sentences = ["漢字" * 28 + "。"] * 3
        assert texts("".join(sentences)) == sentences

    def test_between_words_when_a_sentence_is_too_long(self) -> None:
        assert all(word == "word" for part in texts("word " * 200) for word in part.split())

    def test_after_punctuation_when_there_are_no_words(self) -> None:
        assert all(part.endswith(",") for part in texts("abcdefghi," * 50))

    def test_anywhere_in_a_word_that_is_too_long(self) -> None:
        parts = texts("x" * 60_000 + "NEEDLE", size=1500)
        assert "".join(parts) == "x" * 60_000 + "NEEDLE"
        assert len(parts) == 41

    def test_anywhere_when_words_are_not_to_be_respected(self) -> None:
        assert texts("two words " * 30, size=50, respect_word_boundaries=False)[0] == "two words " * 4 + "two words"

    def test_the_end_of_a_text_is_divided_and_no_tiny_piece_is_left(self) -> None:
        assert all(len(part) > 25 for part in texts("word " * 21))


class TestGraphemes:
    @pytest.mark.parametrize(
        "grapheme",
        ["e\u0301", "👩\u200d👩\u200d👧\u200d👦", "🏳\ufe0f\u200d🌈", "👍🏽", "🇩🇪", "한", "कि", "🏴\U000e0067\U000e0062\U000e007f"],
    )
    @pytest.mark.parametrize("size", [9, 10, 11, 12, 13])
    @pytest.mark.parametrize("overlap", [0, 4])
    def test_what_a_reader_sees_as_one_character_is_not_parted(self, grapheme: str, size: int, overlap: int) -> None:
        parts = texts(grapheme * 50, size=size, overlap=overlap)
        assert all(part == grapheme * (len(part) // len(grapheme)) for part in parts)

    def test_a_letter_with_a_thousand_accents_is_parted(self) -> None:
        assert "".join(texts("e" + "\u0301" * 1000)) == "e" + "\u0301" * 1000


class TestOverlap:
    def test_a_chunk_begins_with_the_end_of_the_one_before(self) -> None:
        parts = texts("one two three four five six seven eight nine ten " * 10, overlap=20)
        for before, after in itertools.pairwise(parts):
            repeated = next(length for length in range(20, 0, -1) if before.endswith(after[:length]))
            assert 10 < repeated <= 20
            assert before[-repeated - 1] == " "

    def test_it_begins_at_a_sentence_where_there_is_one(self) -> None:
        parts = texts("A first one here. Then second. " * 20, overlap=25)
        assert all(part.startswith(("A first", "Then")) for part in parts)

    def test_a_larger_overlap_than_half_the_size_does_no_harm(self) -> None:
        assert len(texts("word " * 100, overlap=1000)) < 20


class TestCode:
    def test_definitions_stay_whole_where_they_fit(self) -> None:
        functions = [f"@decorated\ndef function_{n}(a, b):\n    c = a + b\n\n    return c" for n in range(6)]
        assert texts("\n\n\n".join(functions), name="a.py", size=110) == functions

    def test_members_stay_whole_where_a_class_does_not_fit(self) -> None:
        methods = [f"    def method_{n}(self):\n        first = {n}\n\n        return first + 1" for n in range(6)]
        parts = texts("class Long:\n" + "\n\n".join(methods), name="a.py", size=130)
        assert parts[1:] == methods[1:]
        assert parts[0] == "class Long:\n" + methods[0]

    def test_only_whole_lines_are_cut_and_repeated(self) -> None:
        lines = [f"    x{n} = {n}  # line {n}" for n in range(200)]
        parts = texts("def giant():\n" + "\n".join(lines), name="a.py", overlap=30)
        assert all(line in lines for part in parts[1:] for line in part.split("\n"))

    def test_a_closing_brace_stays_with_what_it_closes(self) -> None:
        functions = [f"void f{n}() {{\n  call({n});\n\n  other({n});\n}}" for n in range(6)]
        assert texts("\n".join(functions), name="a.c", size=60) == functions
