"""What holds for the chunks of any document."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.chunks import Chunk
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import Chunking

pieces = st.one_of(
    st.sampled_from(
        [
            "# Heading\n",
            "## Deeper\n",
            "Setext\n===\n",
            "```\n",
            "| a | b |\n|---|---|\n",
            "- item\n",
            "> quote\n",
            "\n",
            "\n\n",
            "    ",
            "\t",
            "A sentence. ",
            "Another one! ",
            "漢字の文。",
            "é",
            "👩\u200d👧",
            "🇩🇪",
            "word ",
            "x" * 40,
            "def f():\n    return 1\n\n",
            "}",
            "\u2028",
            "---\n",
            "---\na: b\n---\n",
            "</div>\n",
            "\x0c",
            " " * 50,
        ]
    ),
    st.text(max_size=12),
)
documents = st.builds(
    lambda name, parts: load(name, "".join(parts).encode("utf-8", "replace")),
    st.sampled_from(["a.md", "a.txt", "a.py"]),
    st.lists(pieces, max_size=60),
)
chunkings = st.builds(
    Chunking,
    size=st.integers(1, 120),
    overlap=st.integers(0, 150),
    respect_word_boundaries=st.booleans(),
    prepend_headings=st.booleans(),
)


def body_of(document: LoadedDocument) -> str:
    return "\n".join(document.text.split("\n")[document.body_start_line - 1 :])


def places_of(document: LoadedDocument, chunks: list[Chunk]) -> list[tuple[int, int]]:
    """Where the chunks stand in the text, by their lines and their text; each not before the one before it."""
    lines = document.text.split("\n")
    line_starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    places = []
    previous = 0
    for one in chunks:
        start = document.text.index(one.text, max(previous, line_starts[one.start_line - 1]))
        places.append((start, start + len(one.text)))
        previous = start
    return places


@given(documents, chunkings)
@settings(max_examples=300)
def test_chunks_cover_all_visible_text_in_order(document: LoadedDocument, chunking: Chunking) -> None:
    chunks = chunk(document, chunking)
    body = body_of(document)
    covered = len(document.text) - len(body)
    for start, end in places_of(document, chunks):
        assert not document.text[covered:start].strip()
        assert end > covered
        covered = end
    assert not document.text[covered:].strip()


@given(documents, chunkings)
def test_no_chunk_is_larger_than_the_size_or_empty(document: LoadedDocument, chunking: Chunking) -> None:
    assert all(0 < len(one.text) <= chunking.size and one.text.strip() for one in chunk(document, chunking))


@given(documents, chunkings)
def test_a_chunk_repeats_at_most_the_overlap_of_the_one_before(document: LoadedDocument, chunking: Chunking) -> None:
    places = places_of(document, chunk(document, chunking))
    assert all(end - start <= chunking.overlap for (_, end), (start, _) in itertools.pairwise(places))


@given(documents, chunkings)
def test_lines_are_those_that_an_editor_shows(document: LoadedDocument, chunking: Chunking) -> None:
    lines = document.text.split("\n")
    for one in chunk(document, chunking):
        covered = one.text.split("\n")
        assert one.end_line - one.start_line + 1 == len(covered)
        assert all(part in line for part, line in zip(covered, lines[one.start_line - 1 : one.end_line], strict=True))
        assert one.start_line >= document.body_start_line


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


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n\x0c\n", "\ufeff", "---\ntitle: Only front matter\n---\n", "---\na: b\n---"])
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.py"])
def test_a_document_without_visible_text_has_no_chunks(text: str, name: str) -> None:
    if name != "a.md" and text.startswith("---"):
        pytest.skip("only Markdown has front matter")
    assert chunk(load(name, text.encode()), Chunking()) == []
