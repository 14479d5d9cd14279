"""How source code is cut by its syntax."""

import itertools

import pytest

from docmill.chunking import chunk
from docmill.chunking.syntax import parsing
from docmill.chunking.syntax.languages import LANGUAGES
from docmill.documents.file_types import detect
from docmill.documents.loading import load
from docmill.domain.chunks import Chunk
from docmill.domain.knowledge_bases import Chunking, ChunkingStrategy
from support.code_samples import SAMPLES


def chunks_of(text: str, *, name: str = "a.py", size: int = 4000) -> list[Chunk]:
    return chunk(load(name, text.encode()), Chunking(size, 0, code_aware=True))


def function(name: str, characters: int, indent: str = "") -> str:
    """A Python function of about so many characters."""
    lines = [f"{indent}def {name}(self):"]
    while sum(map(len, lines)) < characters:
        lines.append(f"{indent}    value_{len(lines)} = {len(lines)}")
    return "\n".join(lines)


class TestLanguages:
    @pytest.mark.parametrize(("name", "text", "symbols"), SAMPLES, ids=[name for name, _, _ in SAMPLES])
    def test_what_is_defined_is_named(self, name: str, text: str, symbols: tuple[str, ...]) -> None:
        assert tuple(itertools.chain.from_iterable(one.symbols for one in chunks_of(text, name=name))) == symbols

    @pytest.mark.parametrize(("name", "text"), [(name, text) for name, text, _ in SAMPLES], ids=[name for name, _, _ in SAMPLES])
    def test_a_grammar_reads_its_language_without_an_error(self, name: str, text: str) -> None:
        language = detect(name, text).language
        assert language is not None
        parsed = parsing.parse(text, language)
        assert parsed is not None
        assert not parsed.tree.root_node.has_error

    def test_each_language_has_a_sample(self) -> None:
        assert {detect(name, text).language for name, text, _ in SAMPLES} == set(LANGUAGES)

    def test_a_language_without_a_grammar_is_cut_as_text(self) -> None:
        text = "(defun one () 1)\n\n(defun two () 2)\n"
        assert chunks_of(text, name="a.lisp") == chunk(load("a.lisp", text.encode()), Chunking(4000, 0))

    def test_nothing_is_imported_where_the_packages_are_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parsing, "find_spec", lambda name: None)
        parsing._loaded.cache_clear()
        try:
            assert chunks_of("def a():\n    pass\n")[0].symbols == ()
        finally:
            parsing._loaded.cache_clear()


class TestWholeDefinitions:
    def test_a_function_that_fits_is_whole_with_its_comment_and_its_decorators(self) -> None:
        functions = [f"# About {name}.\n@first\n@second(\n    1,\n)\n{function(name, 700)}" for name in ("one", "two", "three")]
        found = chunks_of("\n\n\n".join(functions))
        assert [one.text.rstrip("\n") for one in found] == functions
        assert [one.headings for one in found] == [("def one",), ("def two",), ("def three",)]

    def test_a_class_that_fits_is_whole(self) -> None:
        text = "class A:\n" + "\n\n".join(function(f"method_{number}", 700, "    ") for number in range(4))
        found = chunks_of(f"{function('before', 500)}\n\n\n{text}\n\n\n{function('after', 500)}\n")
        assert [one.headings for one in found] == [("def before",), ("class A",), ("def after",)]
        assert found[1].text.rstrip("\n") == text

    def test_a_class_that_does_not_fit_is_cut_between_methods(self) -> None:
        methods = [function(f"method_{number}", 900, "    ") for number in range(6)]
        found = chunks_of("class A(B):\n    '''Doc.'''\n\n" + "\n\n".join(methods), size=1000)
        assert [one.headings for one in found] == [("class A",), *(("class A", f"def method_{number}") for number in range(6))]
        assert [one.text.rstrip("\n") for one in found[1:]] == methods
        assert found[0].text.rstrip("\n") == "class A(B):\n    '''Doc.'''"

    def test_a_function_that_does_not_fit_is_cut_inside_and_each_part_has_its_name(self) -> None:
        found = chunks_of(f"class A:\n{function('giant', 30_000, '    ')}\n", size=4000)
        assert 8 <= len(found) <= 9
        assert all("A.giant" in one.symbols and one.headings[0] == "class A" for one in found)
        assert all(len(one.text) > 2000 for one in found[:-1])

    def test_small_neighbours_go_together(self) -> None:
        found = chunks_of("\n\n\n".join(function(f"small_{number}", 150) for number in range(20)))
        assert 4 <= len(found) <= 7
        assert all(len(one.symbols) >= 2 and one.headings == () for one in found)

    def test_types_constants_and_imports_are_kept(self) -> None:
        text = "import os\n\nLIMIT = 3\nNames = list[str]\n\n\n" + function("one", 900) + "\n\n\nDEFAULTS = {\n    1: 2,\n}\n"
        assert "\n".join(one.text for one in chunks_of(text)) == text.removesuffix("\n")

    def test_a_closing_brace_stays_with_what_it_closes(self) -> None:
        text = "void giant() {\n" + "\n".join(f"  call_{number}();" for number in range(100)) + "\n}\n"
        for size in range(100, 200):
            assert all(one.text.strip() != "}" for one in chunks_of(text, name="a.c", size=size))

    def test_what_only_looks_like_the_end_of_something_begins_a_chunk(self) -> None:
        text = "\n".join(f"{name}_{number} = [\n{'    1,' * 90}\n]" for number, name in enumerate(["endpoint", "ending", "done"] * 3))
        assert all(one.text.startswith(("end", "done")) for one in chunks_of(text, size=800))

    @pytest.mark.parametrize(
        ("name", "comment", "definition"),
        [
            ("a.rs", "/// About it.\n#[derive(Debug)]\n#[allow(x)]", "struct It {{\n{body}\n}}"),
            ("a.go", "// About it,\n// and more.", "func it() {{\n{body}\n}}"),
            ("a.ts", "/** About it. */\n@Component({\n  a: 1,\n})", "export class It {{\n{body}\n}}"),
            ("A.java", "/** About it. */\n@Entity\n@Table", "class It {{\n{body}\n}}"),
            ("a.hs", "-- | About it.\nit :: Int -> Int", "it x = do\n{body}"),
            ("a.dart", "/// About it.\n@override", "int it() {{\n{body}\n}}"),
            ("a.ex", '@doc "About it"', "def it do\n{body}\nend"),
            ("a.cpp", "// About it.\ntemplate <typename T>", "class It {{\n{body}\n}};"),
        ],
    )
    def test_what_belongs_to_a_definition_stays_with_it(self, name: str, comment: str, definition: str) -> None:
        body = "\n".join(f"  // line {number}" if not name.endswith((".hs", ".ex")) else f"  f {number}" for number in range(70))
        whole = f"{comment}\n{definition.format(body=body)}"
        before = "\n".join(f"{'--' if name.endswith('.hs') else '#' if name.endswith('.ex') else '//'} {number}" for number in range(100))
        found = chunks_of(f"{before}\n\n{whole}\n", name=name, size=len(whole) + 50)
        assert any(whole in one.text for one in found)


class TestAwkwardCode:
    def test_broken_syntax_loses_nothing_and_what_is_whole_is_named(self) -> None:
        text = "def before():\n    return 1\n\nclass Half(\n    def oops(self:\n        if x ==\n\ndef after():\n    return 2\n"
        (found,) = chunks_of(text)
        assert found.text == text.removesuffix("\n")
        assert {"before", "after"} <= set(found.symbols)

    def test_code_in_strings_defines_nothing(self) -> None:
        (found,) = chunks_of('def real():\n    return """\ndef not_real(): pass\nclass NotReal: pass\n"""\n')
        assert found.symbols == ("real",)

    def test_names_are_exact_behind_letters_of_several_bytes(self) -> None:
        (found,) = chunks_of('@deco("→→→ ünïcödé")\ndef décorée(α): ...\nclass Größe:\n    def 値(self): ...\n')
        assert found.symbols == ("décorée", "Größe", "Größe.値")

    @pytest.mark.parametrize(
        "text", ["x = " + "(" * 3000 + "1" + ")" * 3000, "(\n" * 20_000, "[" * 5000 + "\n" + "]" * 5000, "{\n" * 9000 + "}\n" * 9000]
    )
    @pytest.mark.parametrize("name", ["a.py", "a.js"])
    def test_nesting_of_any_depth_is_cut(self, text: str, name: str) -> None:
        found = chunks_of(text, name=name, size=1500)
        assert "".join("".join(one.text for one in found).split()) == "".join(text.split())

    def test_classes_in_classes_of_any_depth_have_short_names(self) -> None:
        text = "".join(f"class A{number} {{\n" for number in range(5_000)) + "}\n" * 5_000
        found = chunks_of(text, name="A.java", size=1500)
        assert found[0].symbols[0] == "A0"
        assert all(len(symbol) < 100 for one in found for symbol in one.symbols)
        assert all(len(one.headings) <= 8 for one in found)

    def test_a_line_that_is_longer_than_a_chunk_is_parted(self) -> None:
        text = "a = 1\nb = '" + "word " * 2000 + "'\nc = 3\n"
        found = chunks_of(text, size=1000)
        assert all(len(one.text) <= 1000 for one in found)
        assert {one.start_line for one in found} == {1, 2, 3}

    def test_a_minified_file_is_cut(self) -> None:
        text = "function a(b){return b+1};" * 3000
        found = chunks_of(text, name="a.js")
        assert "".join("".join(one.text for one in found).split()) == "".join(text.split())

    def test_a_huge_file_is_cut_as_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parsing, "MOST_CHARACTERS", 100)
        assert all(one.symbols == () for one in chunks_of("def a():\n    pass\n" * 20))

    def test_a_file_that_takes_too_much_work_is_cut_as_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parsing, "_LEAST_REPORTS", 0)
        monkeypatch.setattr(parsing, "_BYTES_PER_REPORT", 10**9)
        assert all(one.symbols == () for one in chunks_of("def a():\n    pass\n" * 200))

    def test_a_file_that_can_be_read_in_ever_more_ways_is_cut_as_text(self) -> None:
        text = "a<" * 100_000
        assert chunks_of(text, name="a.cpp") == chunk(load("a.cpp", text.encode()), Chunking(4000, 0))

    def test_thousands_of_comments_in_a_row_are_cut(self) -> None:
        found = chunks_of("# comment\n" * 20_000 + "x = 1\n")
        assert found[-1].end_line == 20_001

    def test_c_that_is_really_cpp_is_read_as_that(self) -> None:
        (found,) = chunks_of("namespace a {\nclass Box {\n  int x;\n};\n}\n", name="a.h")
        assert found.symbols == ("Box",)

    @pytest.mark.parametrize("text", ["", "\n\n\n", "   \n\t\n"])
    def test_a_file_without_code_has_no_chunks(self, text: str) -> None:
        assert chunks_of(text) == []


class TestWhatIsSearched:
    def test_the_scopes_around_it_stand_before_the_text(self) -> None:
        text = "class A:\n" + "\n\n".join(function(f"method_{number}", 900, "    ") for number in range(3))
        found = chunks_of(text, name="src/lib/a.py", size=1000)
        assert found[-1].indexed_text == f"src/lib/a.py > class A > def method_2\n\n{found[-1].text}"

    def test_nothing_is_added_when_that_is_not_wanted(self) -> None:
        found = chunk(load("a.py", b"def a():\n    pass\n"), Chunking(4000, 0, code_aware=True, prepend_headings=False))
        assert [one.indexed_text for one in found] == ["def a():\n    pass"]

    def test_cut_as_text_code_has_no_symbols(self) -> None:
        found = chunk(load("a.py", b"def a():\n    pass\n"), Chunking(4000, 0, code_aware=True, strategy=ChunkingStrategy.TEXT))
        assert [(one.headings, one.symbols) for one in found] == [((), ())]
