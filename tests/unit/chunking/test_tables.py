"""Tables, lists and fenced code that do not fit into a chunk."""

import pytest

from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.chunks import Chunk
from docmill.domain.documents import DocumentKind, LoadedDocument, Outline, WholeBlock
from docmill.domain.knowledge_bases import Chunking, ChunkingStrategy

HEADER = "| id | name | value |\n|---|---|---|\n"
ROWS = [f"| {number} | name{number} | v{number * 7} |" for number in range(300)]
TABLE = HEADER + "\n".join(ROWS)


def chunks_of(text: str, *, size: int = 300, overlap: int = 40) -> list[Chunk]:
    return chunk(load("a.md", text.encode()), Chunking(size, overlap))


class TestTables:
    def test_each_chunk_of_a_long_table_begins_with_its_header_rows(self) -> None:
        found = chunks_of(f"# T\n\n{TABLE}\n")
        assert found[0].text.startswith(f"# T\n\n{HEADER}")
        assert all(one.text.startswith(HEADER) for one in found[1:])
        assert len(found) > 20

    def test_no_row_is_parted_or_repeated(self) -> None:
        found = chunks_of(f"# T\n\n{TABLE}\n")
        assert [line for one in found for line in one.text.removeprefix("# T\n\n").removeprefix(HEADER).split("\n")] == ROWS

    def test_lines_are_counted_without_the_repeated_header(self) -> None:
        lines = f"# T\n\n{TABLE}\n".split("\n")
        for one in chunks_of(f"# T\n\n{TABLE}\n")[1:]:
            assert one.text == HEADER + "\n".join(lines[one.start_line - 1 : one.end_line])

    def test_the_header_counts_for_the_size(self) -> None:
        assert all(len(one.text) <= 300 for one in chunks_of(TABLE))

    def test_a_header_without_a_row_is_left_to_the_next_chunk(self) -> None:
        for length in range(200, 300):
            found = chunks_of("w" * length + f".\n\n{TABLE}\n")
            assert all(one.text.rstrip() != HEADER.rstrip() and not one.text.endswith("|---|---|---|") for one in found)

    def test_rows_of_very_different_lengths_stay_whole(self) -> None:
        rows = [f"| {number} | {'word ' * (1 + 37 * (number % 2))}|" for number in range(40)]
        found = chunks_of(HEADER + "\n".join(rows))
        assert [line for one in found for line in one.text.removeprefix(HEADER).split("\n")] == [row.rstrip() for row in rows]

    def test_a_row_that_is_larger_than_a_chunk_is_parted(self) -> None:
        found = chunks_of(HEADER + "| 1 | " + "word " * 200 + "|\n| 2 | b | c |\n")
        assert all(len(one.text) <= 300 and one.text.startswith(HEADER) for one in found)
        assert sum(one.text.count("word") for one in found) == 200

    def test_header_rows_that_take_more_than_half_a_chunk_are_not_repeated(self) -> None:
        header = "| " + "long " * 40 + "| b |\n|---|---|\n"
        found = chunks_of(header + "\n".join(f"| {number} | b |" for number in range(200)))
        assert [one.text.startswith("| long") for one in found] == [True] + [False] * (len(found) - 1)

    def test_what_follows_the_table_has_no_header(self) -> None:
        found = chunks_of(f"{TABLE}\n\n" + "A sentence after the table. " * 40)
        after = [one for one in found if "sentence" in one.text and "| name" not in one.text.removeprefix(HEADER)]
        assert len(after) > 2
        assert not any("|---|" in one.text for one in after[1:])

    def test_with_the_strategy_text_nothing_is_repeated(self) -> None:
        found = chunk(load("a.md", TABLE.encode()), Chunking(300, 0, strategy=ChunkingStrategy.TEXT))
        assert sum(one.text.count(HEADER) for one in found) == 1

    @pytest.mark.parametrize("kind", list(DocumentKind))
    def test_any_format_whose_loader_names_a_table_has_its_header_repeated(self, kind: DocumentKind) -> None:
        text = "id,name\n" + "\n".join(f"{number},name{number}" for number in range(300))
        document = LoadedDocument(text, kind, "text/csv", "a.csv", outline=Outline(blocks=[WholeBlock(0, len(text), 8)]))
        found = chunk(document, Chunking(300, 0))
        assert all(one.text.startswith("id,name\n") for one in found)
        assert [line for one in found for line in one.text.split("\n")[1:]] == text.split("\n")[1:]


class TestLists:
    def test_a_list_stays_whole_where_it_fits(self) -> None:
        items = "\n".join(f"- item {number}\n\n  more of it" for number in range(6))
        found = chunks_of("Some words before the list. " * 5 + f"\n\n{items}\n\n" + "And after it. " * 20, size=200)
        assert any(items in one.text for one in found)

    def test_a_list_that_does_not_fit_is_cut_between_its_items(self) -> None:
        items = [f"- item {number}\n  that goes on\n\n  and on" for number in range(60)]
        found = chunks_of("\n".join(items), size=200, overlap=0)
        assert all(one.text.startswith("- item") and one.text.endswith("and on") for one in found)

    def test_fenced_code_in_a_list_that_does_not_fit_stays_whole(self) -> None:
        item = "- item\n\n  ```sh\n  first\n\n  second\n  ```\n"
        found = chunks_of(item * 30, size=200, overlap=0)
        assert all(one.text.count("```") % 2 == 0 for one in found)


class TestFencedCode:
    def test_code_that_does_not_fit_is_cut_between_lines(self) -> None:
        lines = [f"call_{number}(" + "a, " * (number % 50) + ")" for number in range(100)]
        found = chunks_of("# T\n\n```py\n" + "\n".join(lines) + "\n```\n", size=200)
        assert all(line in ["# T", "", "```py", "```", *lines] for one in found for line in one.text.split("\n"))
