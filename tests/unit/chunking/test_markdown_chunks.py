from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.chunks import Chunk
from docmill.domain.documents import DocumentKind, LoadedDocument
from docmill.domain.knowledge_bases import Chunking


def chunks_of(text: str, *, size: int = 1500, overlap: int = 0, prepend_headings: bool = True, name: str = "a.md") -> list[Chunk]:
    return chunk(load(name, text.encode()), Chunking(size, overlap, prepend_headings=prepend_headings))


class TestSections:
    def test_every_heading_begins_a_chunk(self) -> None:
        found = chunks_of("intro\n# A\na\n## B\nb\n## C\nc\n# D\nd\n")
        assert [one.text for one in found] == ["intro", "# A\na", "## B\nb", "## C\nc", "# D\nd"]
        assert [one.headings for one in found] == [(), ("A",), ("A", "B"), ("A", "C"), ("D",)]

    def test_a_heading_with_nothing_but_a_deeper_one_below_it_is_with_that(self) -> None:
        found = chunks_of("# A\n\n## B\n\ntext\n\n## C\n\n## D\n\ntext\n")
        assert [one.text for one in found] == ["# A\n\n## B\n\ntext", "## C", "## D\n\ntext"]
        assert [one.headings for one in found] == [("A", "B"), ("A", "C"), ("A", "D")]

    def test_skipped_levels_are_skipped_in_the_path(self) -> None:
        assert chunks_of("# A\n\n#### D\ntext\n## B\ntext\n")[-1].headings == ("A", "B")
        assert chunks_of("#### D\ntext\n# A\ntext\n")[-1].headings == ("A",)

    def test_a_comment_in_fenced_code_is_no_heading(self) -> None:
        found = chunks_of("# Install\n\n```sh\n# get it\ncurl x\n```\n\nDone.\n")
        assert [one.headings for one in found] == [("Install",)]

    def test_front_matter_is_in_no_chunk_but_counts_as_lines(self) -> None:
        found = chunks_of("---\ntitle: T\n---\n\nfirst\n\n# A\nsecond\n")
        assert [(one.text, one.start_line, one.end_line) for one in found] == [("first", 5, 5), ("# A\nsecond", 7, 8)]


class TestWholeBlocks:
    def test_fenced_code_stays_whole_where_it_fits(self) -> None:
        fence = "```py\n" + "\n\n".join(f"line_{n} = {n}" for n in range(12)) + "\n```"
        found = chunks_of("Some words before the code. " * 5 + "\n\n" + fence + "\n\n" + "And after it. " * 20, size=200, overlap=50)
        assert any(fence in one.text for one in found)

    def test_a_table_stays_whole_where_it_fits(self) -> None:
        table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | word |" for n in range(10))
        found = chunks_of("Words before. " * 9 + "\n" + "\n" + table + "\n\n" + "Words after. " * 20, size=200, overlap=50)
        assert any(table in one.text for one in found)


class TestWhatIsSearched:
    def test_the_path_of_headings_stands_before_the_text(self) -> None:
        found = chunks_of("# A\na\n## B\nb\n### C\nc\n")
        assert [one.indexed_text for one in found] == ["A\n\n# A\na", "A > B\n\n## B\nb", "A > B > C\n\n### C\nc"]

    def test_every_part_of_a_long_section_has_it(self) -> None:
        found = chunks_of("# A\n## B\n" + "word " * 100, size=100)
        assert all(one.indexed_text == f"A > B\n\n{one.text}" for one in found)

    def test_a_title_that_is_no_heading_stands_before_the_headings(self) -> None:
        assert chunks_of("---\ntitle: T\n---\n# A\na\n")[0].indexed_text == "T > A\n\n# A\na"

    def test_a_document_without_headings_is_found_by_its_title(self) -> None:
        found = chunks_of("word " * 40, size=100, name="sub/notes.txt")
        assert all(one.indexed_text.startswith("notes.txt\n\n") for one in found)

    def test_a_title_that_begins_the_text_is_not_repeated(self) -> None:
        found = chunk(LoadedDocument("My title\n\ntext\n", DocumentKind.TEXT, "text/plain", "My title"), Chunking())
        assert found[0].indexed_text == "My title\n\ntext"

    def test_code_is_found_by_its_path(self) -> None:
        found = chunks_of("class TaskGroup:\n    pass\n", name="asyncio/taskgroups.py")
        assert found[0].indexed_text == "asyncio/taskgroups.py\n\nclass TaskGroup:\n    pass"

    def test_nothing_is_added_when_that_is_not_wanted(self) -> None:
        assert all(one.indexed_text == one.text for one in chunks_of("# A\na\n## B\nb\n", prepend_headings=False))

    def test_a_very_long_heading_is_shortened_and_its_text_is_kept(self) -> None:
        found = chunks_of("# " + "long " * 18_000 + "NEEDLE\n\nbody\n")
        assert all(len(one.headings[0]) <= 200 and len(one.indexed_text) < 2000 for one in found)
        assert any("NEEDLE" in one.text for one in found)
        assert found[-1].text.endswith("body")
