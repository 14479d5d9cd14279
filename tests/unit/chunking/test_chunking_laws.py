"""What holds for the chunks of any document."""

import itertools
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from docmill.chunking import chunk
from docmill.chunking.boundaries import ANYWHERE, CODE, PROSE, Boundaries
from docmill.chunking.cutting import cut
from docmill.documents.loading import load
from docmill.documents.markdown import outline_of
from docmill.domain.chunks import Chunk
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import Chunking

MARKUP = (
    *("# Heading\n", "## Deeper\n", "Setext\n===\n", "```\n", "| a | b |\n|---|---|\n", "- item\n", "> quote\n", "</div>\n"),
    *("| a row | of it |\n", "---\n", "---\na: b\n---\n", "\n", "\n\n", "    ", "\t", " " * 50, "\x0c", "\u2028"),
    *("A sentence. ", "Another one! ", "漢字の文。", "e\u0301", "👩\u200d👧", "🇩🇪", "word ", "x" * 40, "def f():\n    return 1\n\n", "}"),
)
texts = st.lists(st.one_of(st.sampled_from(MARKUP), st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)), max_size=60).map(
    "".join
)
documents = st.builds(lambda name, text: load(name, text.encode()), st.sampled_from(["a.md", "a.txt", "a.py"]), texts)
chunkings = st.builds(
    Chunking,
    size=st.integers(1, 120),
    overlap=st.integers(0, 150),
    respect_word_boundaries=st.booleans(),
    prepend_headings=st.booleans(),
)
boundaries_of_all_kinds = st.sampled_from([PROSE, CODE, ANYWHERE])


@given(texts, st.integers(1, 120), st.integers(0, 150), boundaries_of_all_kinds)
@example("def f():\n    return 1\n\n", 8, 1, PROSE)  # the second piece would end in its overlap
@settings(max_examples=300)
def test_pieces_cover_all_visible_text_in_order_within_the_bounds(text: str, size: int, overlap: int, boundaries: Boundaries) -> None:
    pieces = cut(text, 0, len(text), size=size, overlap=overlap, boundaries=boundaries, blocks=outline_of(text).blocks)
    covered = 0
    for start, end, header in pieces:
        assert not text[covered:start].strip()
        assert covered < end <= start + size - len(header)
        assert covered - start <= overlap
        covered = end
    assert not text[covered:].strip()
    assert [start for start, _, _ in pieces] == sorted({start for start, _, _ in pieces})


@given(st.lists(st.sampled_from(MARKUP), max_size=40), chunkings)
def test_every_word_of_a_document_is_in_a_chunk_in_order(markup: list[str], chunking: Chunking) -> None:
    text = "".join(f"{piece}Word{number} " for number, piece in enumerate(markup) if "---" not in piece)
    found = "".join(chunk_text for chunk_text in _without_repeats(load("a.md", text.encode()), chunking))
    assert "".join(found.split()) == "".join(text.split())


def _without_repeats(document: LoadedDocument, chunking: Chunking) -> list[str]:
    return [
        "\n".join(own_lines(one))
        for one in chunk(document, Chunking(chunking.size, 0, respect_word_boundaries=chunking.respect_word_boundaries))
    ]


def own_lines(one: Chunk) -> list[str]:
    """The lines of a chunk without the header rows that it repeats."""
    return one.text.split("\n")[-(one.end_line - one.start_line + 1) :]


@given(documents, chunkings)
def test_no_chunk_is_larger_than_the_size_or_empty(document: LoadedDocument, chunking: Chunking) -> None:
    assert all(len(one.text) <= chunking.size and one.text.strip() for one in chunk(document, chunking))


@given(documents, chunkings)
def test_lines_are_those_that_an_editor_shows(document: LoadedDocument, chunking: Chunking) -> None:
    lines = document.text.split("\n")
    for one in chunk(document, chunking):
        covered = own_lines(one)
        assert one.end_line - one.start_line + 1 == len(covered)
        header = one.text.split("\n")[: -len(covered)]
        assert header == [] or "\n".join(header) in document.text
        assert all(part in line for part, line in zip(covered, lines[one.start_line - 1 : one.end_line], strict=True))
        assert one.start_line >= document.body_start_line


@given(documents, chunkings)
def test_no_chunk_reaches_over_a_heading_of_its_own_or_a_higher_level(document: LoadedDocument, chunking: Chunking) -> None:
    if document.mime != "text/markdown":
        return
    headings = outline_of(document.text).headings
    first_lines = {document.text.count("\n", 0, heading.start) + 1: heading.level for heading in headings}
    for one in chunk(document, chunking):
        levels = [level for line, level in first_lines.items() if one.start_line <= line <= one.end_line]
        assert all(deeper > higher for higher, deeper in itertools.pairwise(levels))


@given(documents, chunkings)
def test_equal_documents_have_equal_chunks(document: LoadedDocument, chunking: Chunking) -> None:
    chunks = chunk(document, chunking)
    assert chunk(document, chunking) == chunks
    assert [one.index for one in chunks] == list(range(len(chunks)))


@given(documents, chunkings)
def test_what_is_searched_ends_with_the_text_itself(document: LoadedDocument, chunking: Chunking) -> None:
    for one in chunk(document, chunking):
        assert one.indexed_text.endswith(one.text)
        assert chunking.prepend_headings or one.indexed_text == one.text


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.py"])
@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n\x0c\n", "\ufeff"])
def test_a_document_without_visible_text_has_no_chunks(text: str, name: str) -> None:
    assert chunk(load(name, text.encode()), Chunking()) == []


@pytest.mark.parametrize("text", ["---\ntitle: Only front matter\n---\n", "---\na: b\n---"])
def test_a_document_with_nothing_but_front_matter_has_no_chunks(text: str) -> None:
    assert chunk(load("a.md", text.encode()), Chunking()) == []


@given(
    st.lists(st.sampled_from(["a", "word", "x" * 17, "y" * 39, "two words", "e\u0301" * 5]), max_size=60),
    st.integers(10, 60),
    st.integers(0, 20),
)
def test_no_word_that_fits_into_a_chunk_is_parted(words: list[str], size: int, overlap: int) -> None:
    text = " ".join(words)
    found = chunk(load("a.txt", text.encode()), Chunking(size, overlap))
    known = set(text.split())
    parted = [word for one in found for word in one.text.split() if word not in known]
    assert all(any(word in whole and len(whole) > size for whole in known) for word in parted)


tables = st.tuples(st.integers(1, 40), st.integers(10, 60)).map(
    lambda drawn: "| id | name |\n|---|---|\n" + "".join(f"| {number} | {'n' * (number % drawn[1])} |\n" for number in range(drawn[0]))
)


@given(tables, st.integers(120, 400), st.integers(0, 50), st.sampled_from(["", "# T\n", "Intro.\n\n", "word " * 30 + "\n\n"]))
def test_rows_of_a_table_are_whole_once_and_under_their_header(table: str, size: int, overlap: int, before: str) -> None:
    found = chunk(load("a.md", (before + table).encode()), Chunking(size, overlap))
    rows = [line for one in found for line in own_lines(one) if line.startswith("|")]
    assert rows == table.removesuffix("\n").split("\n")
    assert all("| id |" in one.text for one in found if "| n" in one.text)


@pytest.mark.parametrize(
    "part",
    [
        *("A sentence of words. " * 12 + "\n\n", "x" * 300, "漢字の文。", "- item\n", "| a | b |\n", "> > quote\n", "e\u0301\u0301\u0301"),
        *("## Heading\n\nText.\n\n", "```\ncode\n```\n\n", "    indented\n", "🇩🇪", " " * 40 + "x\n", "\n", "!)]!)]", "क\u094d"),
    ],
)
@pytest.mark.parametrize("overlap", [0, 75])
def test_twice_the_text_takes_at_most_about_twice_the_calls(part: str, overlap: int) -> None:
    text = "| a | b |\n|---|---|\n" + part * (20_000 // len(part))
    assert calls_for(text * 2, overlap) <= 2.3 * calls_for(text, overlap) + 100


def calls_for(text: str, overlap: int) -> int:
    """How many functions are called, each of which looks at no more than a chunk's size of text."""
    calls = 0

    def count(_frame: object, _event: str, _argument: object) -> None:
        nonlocal calls
        calls += 1

    document = load("a.md", text.encode())
    sys.setprofile(count)
    try:
        chunk(document, Chunking(400, overlap))
    finally:
        sys.setprofile(None)
    return calls
