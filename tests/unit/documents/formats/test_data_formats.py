"""JSON, YAML, TOML, CSV and logs: the text as it is, large parts as sections, entries kept whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.chunking.chunker import chunk
from docmill.documents.extracted import Extracted
from docmill.documents.formats.json_data import read_json, read_json_lines
from docmill.documents.formats.logs import read_log
from docmill.documents.formats.separated_values import read_csv, read_tsv
from docmill.documents.formats.toml_data import read_toml
from docmill.documents.formats.yaml_data import read_yaml
from docmill.documents.loading import load
from docmill.domain.knowledge_bases import Chunking

LONG = "word " * 130


def headings_of(extracted: Extracted) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in extracted.outline.headings]


def blocks_of(extracted: Extracted) -> list[str]:
    return [extracted.text[block.start : block.end] for block in extracted.outline.blocks]


class TestJson:
    def test_large_members_are_sections_and_small_ones_are_not(self) -> None:
        operations = {f"/users{n}": {"get": {"summary": LONG, "ok": True}, "post": {"summary": LONG * 3, "ok": 1}} for n in range(2)}
        text = json.dumps({"openapi": "3", "info": {"title": LONG}, "paths": operations, "tags": [1]}, indent=2)
        assert headings_of(read_json(text)) == [
            (1, "info"),
            (1, "paths"),
            (2, "/users0"),
            (3, "get"),
            (3, "post"),
            (2, "/users1"),
            (3, "get"),
            (3, "post"),
            (1, ""),
        ]

    def test_chunks_say_under_which_keys_they_stand(self) -> None:
        text = json.dumps({"a": {"b": LONG * 4, "c": 1}, "d": {"e": LONG * 4, "f": 2}, "version": 7}, indent=2)
        chunks = chunk(load("x.json", text.encode()), Chunking())
        assert {one.headings[:1] for one in chunks if LONG[:20] in one.text} == {("a",), ("d",)}
        assert next(one.headings for one in chunks if '"version"' in one.text) == ()

    def test_a_small_file_is_one_piece(self) -> None:
        assert headings_of(read_json(json.dumps({"a": {"b": 1, "c": 2, "d": 3}}, indent=2))) == []

    def test_large_objects_in_arrays_are_sections_by_their_names(self) -> None:
        text = json.dumps([{"name": f"item {n}", "text": LONG} for n in range(4)], indent=1)
        assert headings_of(read_json(text)) == [(1, f"item {n}") for n in range(4)]

    def test_objects_are_kept_whole(self) -> None:
        text = '[\n  {\n    "a": 1\n  },\n  {"b": [\n    2\n  ]}, {\n    "c": "}{"\n  }\n]'
        assert blocks_of(read_json(text)) == ['  {\n    "a": 1\n  },\n', '  {"b": [\n    2\n  ]}, {\n', '    "c": "}{"\n  }\n']

    @pytest.mark.parametrize(
        "text", ["[" * 100_000, '{"a": NEEDLE, }', '\n\n"' + '\\"' * 50_000, "]\n" * 1000, "", "\n\n\n", '{"a":\n' * 5000]
    )
    def test_what_is_invalid_stays_as_it_is(self, text: str) -> None:
        assert read_json(text).text == text

    @pytest.mark.parametrize(
        ("written", "shown"),
        [
            (r"Gr\u00f6\u00DFe", "Größe"),
            (r"\u65e5\u672c", "日本"),
            (r"\ud83d\ude00", "😀"),
            (r"\u003cb\u003e", "<b>"),
            (r"\\\u00e9", "\\\\é"),
            (r"C:\\u00e9", r"C:\\u00e9"),
            (r"\u0022 \u005c \u0000 \u2028 \ud83d", r"\u0022 \u005c \u0000 \u2028 \ud83d"),
        ],
    )
    def test_escaped_letters_are_shown_as_letters_unless_they_are_syntax(self, written: str, shown: str) -> None:
        for read in (read_json, read_json_lines, read_yaml, read_toml):
            assert read(f'{{"a": "{written}"}}').text == f'{{"a": "{shown}"}}'

    def test_data_in_strings_is_cut_down_and_lines_stay(self) -> None:
        text = f'{{\n"a": "data:image/png;base64,{"iVBORw0" * 300}",\n"b": "{"iVBORw0K" * 300}",\n"c": "{"word" * 600}"\n}}'
        for extracted in (read_json(text), read_json_lines(text), read_yaml(text)):
            assert len(extracted.text) < 2700
            assert "word" * 600 in extracted.text
            assert extracted.text.count("\n") == 4
            assert extracted.source_lines is None

    def test_records_on_lines_are_kept_whole(self) -> None:
        lines = [json.dumps({"n": n, "text": "word " * (70 * (1 + n % 3))}) for n in range(9)]
        chunks = chunk(load("a.jsonl", "\n".join(lines).encode()), Chunking())
        assert all(any(line in one.text for one in chunks) for line in lines)


class TestYaml:
    def test_large_keys_are_sections_with_the_comments_above_them(self) -> None:
        text = (
            f"name: x\n\n# About a.\na:\n  - b: {LONG}\n    c: 1\n\n# About d.\nd:\n  e: |\n    f: {LONG}\n    g: 2\n    {LONG}\n  h: 3\n"
        )
        extracted = read_yaml(text)
        assert headings_of(extracted) == [(1, "a"), (1, "d")]
        assert text[extracted.outline.headings[0].start :].startswith("# About a.")

    def test_documents_of_a_stream_are_sections_by_kind_and_name(self) -> None:
        text = "---\n".join(f"kind: Service\nmetadata:\n  name: web{n}\nspec: {LONG}\n" for n in range(4))
        assert headings_of(read_yaml(text)) == [(1, f"Service web{n}") for n in range(4)]

    def test_large_items_are_sections_by_their_names(self) -> None:
        items = "".join(f"  - name: job{n}\n    run: >\n      {LONG}\n      end\n" for n in range(5))
        assert headings_of(read_yaml(f"steps:\n{items}")) == [(1, "steps"), *((2, f"job{n}") for n in range(5))]

    def test_entries_are_kept_whole(self) -> None:
        text = "a:\n- b: 1\n  c: 2\n- d\n'e f':\n  \"g\": 3\n"
        assert blocks_of(read_yaml(text)) == ["a:\n- b: 1\n  c: 2\n- d\n", "- b: 1\n  c: 2\n", "'e f':\n  \"g\": 3\n"]

    @pytest.mark.parametrize(
        "text",
        [
            "a:\n\tb: c\n",
            "{{- if .Values.x }}\na: {{ b }}\n{{- end }}\n",
            "a: 'x\n b: c\n",
            "- " * 500 + "\n" + "a: " * 500,
            "%YAML 1.2\n---\n!!x\n",
        ],
    )
    def test_what_is_invalid_stays_as_it_is(self, text: str) -> None:
        assert read_yaml(text).text == text


class TestToml:
    def test_tables_are_sections_with_those_in_them_when_they_are_large(self) -> None:
        text = (
            f"a = 1\n# About tool.\n[tool.x]\nb = '''\n[not.a.table]\n{LONG}'''\n[tool.'y.z']\nc = 1\n[[job]]\nd = '{LONG}'\ne = 1\n"
            + "# end\n" * 120
        )
        extracted = read_toml(text)
        assert headings_of(extracted) == [(1, "tool"), (1, "job")]
        assert text[extracted.outline.headings[0].start :].startswith("# About tool.")

    def test_small_tables_of_a_large_one_stay_together(self) -> None:
        text = "".join(f"[tool.ruff.lint{n}]\nselect = ['E']\n" for n in range(100))
        assert headings_of(read_toml(text)) == [(1, "tool"), (2, "ruff")]

    def test_ini_files_are_read_in_the_same_way(self) -> None:
        text = "".join(f"; about {name}\n[{name}]\nkey = {LONG}\nother = 1\n" for name in ("core", 'remote "origin"', "user"))
        assert headings_of(read_toml(text)) == [(1, "core"), (1, "remote"), (1, "user")]


class TestSeparatedValues:
    @pytest.mark.parametrize(
        ("text", "header"),
        [
            ("name,age\nBob,3\n", "name,age\n"),
            ("name;age\nBob;3,5\nAda;4,5\n", "name;age\n"),
            ("name\tage\nBob\t3\n", "name\tage\n"),
            ("sep=;\nname;age\nBob;3\n", "name;age\n"),
            ("# made by x\nname|age\nBob|3\n", "name|age\n"),
            ('"two\nlines",b\n1,2\n', '"two\nlines",b\n'),
            ("country,2019,2020\nNL,1,2\n", "country,2019,2020\n"),
        ],
    )
    def test_the_header_row_is_repeated(self, text: str, header: str) -> None:
        block = read_csv(text).outline.blocks[0]
        assert block.header_end is not None
        assert text[block.start : block.header_end] == header
        assert block.end == len(text)

    @pytest.mark.parametrize("text", ["1,2\n3,4\n", "a,a,a\nb,c,d\n", ",,\n1,2,3\n", "2024-01-02,x\n2024-01-03,y\n"])
    def test_a_first_row_that_names_nothing_is_no_header(self, text: str) -> None:
        assert [block.header_end for block in read_csv(text).outline.blocks] == [None]

    @pytest.mark.parametrize("text", ["", "\n\n", "just a text\nand more", "name,age", '"never,closed\n' * 100])
    def test_what_is_no_table_stays_as_it_is(self, text: str) -> None:
        assert read_csv(text).text == text
        assert read_tsv(text).text == text

    def test_chunks_of_a_long_table_begin_with_its_header(self) -> None:
        text = "name,city\n" + "".join(f"person {n},city {n}\n" for n in range(500))
        chunks = chunk(load("a.csv", text.encode()), Chunking())
        assert len(chunks) > 5
        assert all(one.text.startswith("name,city\n") for one in chunks)
        assert chunks[1].text.split("\n")[1] == text.split("\n")[chunks[1].start_line - 1]

    def test_rows_of_several_lines_are_kept_whole(self) -> None:
        text = 'a,b\n1,"x\ny"\n2,z\n'
        assert blocks_of(read_csv(text)) == [text, '1,"x\ny"\n']

    def test_wide_rows_become_records_with_the_names_of_their_columns(self) -> None:
        header = ",".join(f"column {n}" for n in range(60))
        extracted = read_csv(header + "\n" + ",".join(f"v{n}" if n % 2 else "" for n in range(60)) + '\n"a\nb",c\n')
        assert extracted.text.startswith("column 1: v1\ncolumn 3: v3\n")
        assert extracted.text.endswith("\n\ncolumn 0: a b\ncolumn 1: c")
        assert extracted.source_lines is not None
        assert (extracted.source_lines[0], extracted.source_lines[-1]) == (2, 3)
        assert len(extracted.outline.blocks) == 2

    def test_a_first_row_with_a_quote_that_is_closed_much_later_is_no_header(self) -> None:
        text = '"' + "open words\n" * 50 + '", b\n1,2\n'
        assert read_csv(text).text == text

    def test_wide_rows_that_would_become_too_long_stay_as_they_are(self) -> None:
        text = ",".join("c" * 300 + str(n) for n in range(100)) + "\n" + (",".join(["v"] * 100) + "\n") * 2000
        assert read_csv(text).text == text


class TestLogs:
    def test_entries_of_several_lines_are_kept_whole_and_colours_are_left_out(self) -> None:
        text = "2024-01-02 03:04:05 \x1b[31mERROR\x1b[0m failed\nTraceback:\n  File x\nValueError: y\n2024-01-02 03:04:06 INFO on\n"
        extracted = read_log(text)
        assert extracted.text == text.replace("\x1b[31m", "").replace("\x1b[0m", "")
        assert blocks_of(extracted)[0] == "2024-01-02 03:04:05 ERROR failed\nTraceback:\n  File x\nValueError: y\n"

    @pytest.mark.parametrize(
        "start",
        [
            "Jan  2 03:04:05 host sshd[1]:",
            "[2024-01-02T03:04:05Z]",
            "03:04:05.123",
            "INFO",
            '10.0.0.1 - - [02/Jan/2024:03:04:05 +0000] "GET',
            "[WARN ]",
        ],
    )
    def test_entries_begin_with_a_time_or_a_level(self, start: str) -> None:
        assert blocks_of(read_log(f"{start} one\n  more\n{start} two\n"))[0] == f"{start} one\n  more\n"

    def test_a_text_without_entries_stays_as_it_is(self) -> None:
        assert read_log("a\n  b\nc\n") == Extracted("a\n  b\nc\n")


_LINES = [
    "a:",
    "  b: 1",
    "- c",
    "- d: |",
    "    e",
    "# f",
    "---",
    "{",
    "}",
    '"g": [',
    "],",
    '  "h": {"i": 1},',
    "[t]",
    "[[t.u]]",
    "x = '''",
    "a,b",
    '"c',
    "1,2",
    "",
    "\t- ",
]


@given(st.lists(st.sampled_from(_LINES), max_size=30), st.sampled_from([0, 100]))
def test_any_lines_stay_as_they_are_with_an_outline_in_order(lines: list[str], width: int) -> None:
    text = "\n".join(line + " " + "x" * width for line in lines)
    for read in (read_json, read_yaml, read_toml, read_csv, read_log):
        extracted = read(text)
        assert extracted.text == text
        headings, blocks = extracted.outline.headings, extracted.outline.blocks
        assert [heading.start for heading in headings] == sorted({heading.start for heading in headings})
        assert all(heading.start == 0 or text[heading.start - 1] == "\n" for heading in headings)
        assert [(block.start, -block.end) for block in blocks] == sorted((block.start, -block.end) for block in blocks)
        assert all(block.end == len(text) or text[block.end - 1] == "\n" for block in blocks)
