"""What holds for the chunks of any source code that is cut by its syntax."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from docmill.chunking import chunk
from docmill.chunking.syntax import structure
from docmill.documents.loading import load
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import Chunking
from support.code_samples import SAMPLES

FRAGMENTS = (
    *(
        "def a():\n",
        "    return 1\n",
        "class A:\n",
        "    def b(self):\n",
        "        pass\n",
        "@deco\n",
        "# comment\n",
        "\n",
        "\n\n\n",
        "import x\n",
    ),
    *(
        "function f() {\n",
        "}\n",
        "  }\n",
        "class B {\n",
        "  m() { return 1; }\n",
        "const x = () => {\n",
        "};\n",
        "// note\n",
        "/* a\n b */\n",
    ),
    *(
        "func (s *S) F() {\n",
        "fn f() -> u8 {\n",
        "impl A for B {\n",
        "#[test]\n",
        "struct P {\n",
        "x: u8,\n",
        "#ifdef A\n",
        "#endif\n",
        "end\n",
    ),
    *("(", ")", "{", "}", "'", '"""\n', "<<<<<<< HEAD\n", "é→漢", "👩\u200d👧", "\t", "\x0c\n", "x" * 90 + "\n", " " * 70 + "y\n"),
)
names = st.sampled_from(["a.py", "a.js", "a.ts", "a.c", "a.cpp", "a.rs", "a.go", "a.rb", "a.java", "a.hs", "a.ex", "a.dart", "a.sql"])
sources = st.one_of(
    st.tuples(names, st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)),
    st.tuples(
        st.sampled_from([(name, text) for name, text, _ in SAMPLES]), st.integers(0, 400), st.integers(0, 400), st.sampled_from(FRAGMENTS)
    ).map(lambda drawn: (drawn[0][0], drawn[0][1][: drawn[1]] + drawn[3] + drawn[0][1][drawn[2] :])),
)
documents = sources.map(lambda drawn: load(drawn[0], drawn[1].encode()))
sizes = st.one_of(st.integers(1, 120), st.integers(121, 3000))


@given(documents, sizes)
@settings(max_examples=300, deadline=None)
def test_every_line_is_in_exactly_one_chunk_in_order(document: LoadedDocument, size: int) -> None:
    lines = document.text.split("\n")
    covered: Counter[int] = Counter()
    place = 0
    for one in chunk(document, Chunking(size, 10, code_aware=True)):
        begin = document.text.index(one.text, place)
        place = begin + len(one.text)
        assert one.start_line == document.text.count("\n", 0, begin) + 1
        assert one.end_line == one.start_line + one.text.count("\n")
        covered.update(range(one.start_line, one.end_line + 1))
    for number, line in enumerate(lines, 1):
        if line.strip() and len(line) <= size:
            assert covered[number] == 1, (number, line)
        elif line.strip():
            assert covered[number] >= 1, (number, line)
        else:
            assert covered[number] <= 1, (number, line)


@given(documents)
@settings(deadline=None)
def test_chunks_that_have_room_for_them_hold_blank_lines_too(document: LoadedDocument) -> None:
    found = chunk(document, Chunking(100_000, 0, code_aware=True))
    assert "\n".join(one.text for one in found) == (document.text.removesuffix("\n") if document.text.strip() else "")


@given(documents, sizes)
@settings(deadline=None)
def test_no_chunk_is_larger_than_the_size_or_empty(document: LoadedDocument, size: int) -> None:
    assert all(len(one.text) <= size and one.text.strip() for one in chunk(document, Chunking(size, 10, code_aware=True)))


@given(documents, sizes)
@settings(deadline=None)
def test_equal_documents_have_equal_chunks(document: LoadedDocument, size: int) -> None:
    chunking = Chunking(size, 10, code_aware=True)
    assert chunk(document, chunking) == chunk(document, chunking)


def test_twice_the_code_takes_at_most_twice_the_steps() -> None:
    body = "".join(f"def f_{number}(a):\n    if a:\n        return [\n            {number},\n        ]\n\n\n" for number in range(300))
    assert steps_for(body * 2) <= 2.2 * steps_for(body)


def steps_for(text: str) -> int:
    """How many nodes are visited and lines are looked at."""
    steps = 0

    class Counted(list[int]):
        def __getitem__(self, index: object) -> int:  # type: ignore[override]  # only numbers are asked for
            nonlocal steps
            steps += 1
            return super().__getitem__(index)  # type: ignore[index]

    from docmill.chunking.syntax.cutting import _LineCutter
    from docmill.chunking.syntax.parsing import parse

    lines = text.split("\n")
    parsed = parse(text, "python")
    assert parsed is not None
    reader = structure._Reader("python", parsed.source, lines, 400)
    visit = reader._visit

    def counted_visit(*arguments: object) -> object:
        nonlocal steps
        steps += 1
        return visit(*arguments)  # type: ignore[arg-type]  # passed on as they are

    reader._visit = counted_visit  # type: ignore[assignment, method-assign]
    assert reader.read(parsed.tree)
    found = reader.structure()
    levels = structure.Structure(Counted(found.levels), found.in_functions, found.definitions)
    _LineCutter(text, lines, levels, 400).pieces()
    return steps
