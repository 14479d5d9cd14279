"""Laws of loading: any bytes under any name are a document, or are left out with a reason, in linear time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmill.documents.file_types import is_known_text_name
from docmill.documents.loading import load
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocumentSkipped

NAMES = [
    *(
        "a",
        "a.md",
        "a.txt",
        "a.rst",
        "a.org",
        "a.adoc",
        "a.tex",
        "a.1",
        "a.html",
        "a.xml",
        "a.json",
        "a.yaml",
        "a.toml",
        "a.csv",
        "a.ipynb",
    ),
    *("a.eml", "a.rtf", "a.py", "a.h", "a.m", "a.pl", "a.log", "a.svg", "a.tsv", "a.jsonl"),
]
LINES = [
    *(
        "",
        "# H",
        "= T",
        "== A",
        "* a",
        "- a",
        "=====",
        "----",
        "|===",
        "| a | b |",
        "|---|---|",
        "```",
        "::",
        ".. code::",
        "  in",
        "> q",
        ":a: b",
    ),
    *(
        "#+begin_src",
        "#+end_src",
        ":PROPERTIES:",
        ":END:",
        "\\section{A}",
        "\\begin{verbatim}",
        "\\end{verbatim}",
        "% c",
        "---",
        "+++",
        "a: b",
    ),
    *(
        "<p>a</p>",
        "<script>",
        "<!-- c",
        '{"a": [',
        "]}",
        "a,b",
        "[x]",
        'a = "b"',
        ".SH A",
        ".nf",
        "From: a",
        "text \u00e4\u4e2d",
        "\x0c",
        "\u2028x",
    ),
]
#: Pieces that, repeated, have readers look far ahead for what never comes.
NEVER_CLOSED = [
    *(("a.rst", piece) for piece in ("== ==\n", "x::\n\n", ".. c\n", "+--+\n", ":f: v\n", "A\n-\n\n")),
    *(("a.org", piece) for piece in (":PROPERTIES:\n- a\n", "#+begin_src\n", "* a ", "| a\n")),
    *(("a.adoc", piece) for piece in ("a\n----\n", "|===\n", "====\n", "////\n", "= a ", "[a]\n")),
    *(("a.tex", piece) for piece in ("\\section{", "\\begin{verbatim}", "\\title[", "\\\\")),
    *(("a.md", piece) for piece in ("<!--", "[", "- a\n", "```\n", "![a](data:x;base64,", "---\n")),
    *(("a", piece) for piece in ("{", "<!--", "#!/usr/bin/env -a ", "-*-")),
    *(("a.txt", piece) for piece in ("\n\nabc\n", "caf\u00e9 ", "=")),
]


def check(document: LoadedDocument) -> None:
    text, lines = document.text, document.text.count("\n") + 1
    assert not {"\0", "\r"} & set(text)
    text.encode()
    starts = [heading.start for heading in document.outline.headings]
    assert starts == sorted(set(starts))
    assert all(0 <= heading.start <= heading.end <= len(text) for heading in document.outline.headings)
    blocks = document.outline.blocks
    assert all(0 <= block.start < block.end <= len(text) for block in blocks)
    assert all(block.header_end is None or block.start < block.header_end < block.end for block in blocks)
    assert [block.start for block in blocks] == sorted(block.start for block in blocks)
    assert 1 <= document.body_start_line <= lines + 1
    assert document.source_lines is None or len(document.source_lines) == lines


@given(st.sampled_from(NAMES), st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_are_a_document_or_left_out(name: str, content: bytes) -> None:
    try:
        document = load(name, content)
    except DocumentSkipped:
        return
    check(document)


@given(st.sampled_from(NAMES), st.lists(st.sampled_from(LINES), max_size=14))
@settings(deadline=None)
def test_any_lines_have_an_outline_that_is_in_order_and_within_the_text(name: str, lines: list[str]) -> None:
    try:
        document = load(name, "\n".join(lines).encode())
    except DocumentSkipped:
        return
    check(document)


@pytest.mark.parametrize(("name", "piece"), NEVER_CLOSED)
def test_what_is_never_closed_is_read_in_linear_time(name: str, piece: str) -> None:
    check(load(name, (piece * (300_000 // len(piece))).encode("latin-1" if name == "a.txt" else "utf-8")))


@pytest.mark.parametrize("name", ["a.md", "Makefile", "x/UPPER.TXT"])
def test_some_names_say_that_a_file_is_text(name: str) -> None:
    assert is_known_text_name(name)
