"""Laws of the layout of pages, whatever stands on them."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.containers.pdf_layout import lines_of
from docmill.documents.containers.pdf_words import Word
from docmill.documents.containers.properties import Properties
from docmill.documents.containers.text_builder import TextBuilder

places = st.floats(-1000, 1000, allow_nan=False)
sizes = st.floats(0, 300, allow_nan=False)


@st.composite
def words(draw: st.DrawFn) -> Word:
    left, bottom, width, height = draw(places), draw(places), draw(sizes), draw(st.floats(0, 40, allow_nan=False))
    return Word(
        draw(st.text("ab", min_size=1, max_size=9)),
        left,
        bottom,
        left + width,
        bottom + height,
        draw(st.integers(0, 99)),
        draw(st.booleans()),
    )


@st.composite
def columns(draw: st.DrawFn) -> list[Word]:
    """Pages as they are printed: columns of lines of words."""
    found = []
    for column in range(draw(st.integers(1, 3))):
        for line in range(draw(st.integers(0, 12))):
            for place in range(draw(st.integers(1, 4))):
                left, bottom = 50 + 180 * column + 40 * place, 800 - 14 * line
                found.append(Word(f"c{column}l{line}w{place}", left, bottom, left + 35, bottom + 11, len(found), len(found)))
    return draw(st.permutations(found))


@given(st.lists(words(), max_size=60) | columns())
def test_every_word_of_a_page_is_read_once(page: list[Word]) -> None:
    read = Counter(word for line in lines_of(page) for word in line.text.split())
    assert read == Counter(word.text for word in page)


@given(st.lists(words(), max_size=60) | columns())
def test_a_page_is_always_read_in_the_same_order(page: list[Word]) -> None:
    assert lines_of(page) == lines_of(list(page))


@given(st.lists(st.tuples(st.sampled_from(["heading", "paragraph", "block", "page"]), st.text(max_size=40)), max_size=20))
def test_headings_blocks_and_pages_stand_where_they_are_said_to_stand(pieces: list[tuple[str, str]]) -> None:
    builder = TextBuilder()
    for kind, text in pieces:
        match kind:
            case "heading":
                builder.heading(1, text)
            case "paragraph":
                builder.paragraph(text)
            case "block":
                builder.block(text.split(" "), 1)
            case _:
                builder.page()
    built = builder.built(Properties())
    starts_of_lines = {0, *(place + 1 for place, character in enumerate(built.text) if character == "\n")}
    assert "\0" not in built.text
    assert "\r" not in built.text
    for heading in built.outline.headings:
        assert {heading.start, heading.end} <= starts_of_lines
        assert built.text[heading.start : heading.end].strip() == heading.text
    for block in built.outline.blocks:
        assert {block.start, block.end} <= starts_of_lines
        assert block.start < (block.header_end or block.end) <= block.end
    assert [*built.page_starts] == sorted(built.page_starts)
    assert set(built.page_starts) <= starts_of_lines
    assert len(built.page_starts) == sum(kind == "page" for kind, _ in pieces)
