import codecs
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.loading import load
from docmill.domain.documents import DocumentKind
from docmill.domain.errors import DocumentSkipped, SkipReason

SENTENCE = "Production host is orion-db-7, naïve café\nsecond line\n"


class TestDecoding:
    @pytest.mark.parametrize(
        ("encoding", "mark"),
        [
            ("utf-8", b""),
            ("utf-8", codecs.BOM_UTF8),
            ("utf-16-le", codecs.BOM_UTF16_LE),
            ("utf-16-be", codecs.BOM_UTF16_BE),
            ("utf-32-le", codecs.BOM_UTF32_LE),
            ("utf-32-be", codecs.BOM_UTF32_BE),
            ("utf-16-le", b""),
            ("utf-16-be", b""),
            ("cp1252", b""),
        ],
    )
    def test_the_text_is_the_same_in_every_encoding(self, encoding: str, mark: bytes) -> None:
        text = SENTENCE * 20
        assert load("a.txt", mark + text.encode(encoding)).text == text

    @pytest.mark.parametrize(
        ("encoding", "text"),
        [
            ("gb18030", "分布式任务队列与文档检索系统。\n"),
            ("shift_jis", "検索システムの説明です。文書を探します。\n"),
            ("euc_jp", "検索システムの説明です。文書を探します。\n"),
            ("euc_kr", "문서 검색 시스템에 대한 설명입니다.\n"),
            ("big5", "分散式工作佇列與文件檢索系統。\n"),
            ("cp1252", "Grüße aus Köln, „schöne“ Häuser – señor, naïve façade\n"),
        ],
    )
    def test_texts_in_old_code_pages_are_recognised(self, encoding: str, text: str) -> None:
        assert load("a.txt", (text * 20).encode(encoding)).text == text * 20

    @pytest.mark.parametrize(
        ("name", "encoding", "text", "word"),
        [
            ("a.html", "shift_jis", '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>%s</p>', "検索"),
            ("a.html", "windows-1251", '<meta charset="windows-1251"><p>%s</p>', "Привет"),
            ("a.xml", "iso-8859-2", '<?xml version="1.0" encoding="ISO-8859-2"?><p>%s</p>', "Łódź"),
            ("a.py", "koi8-r", "#!/usr/bin/python\n# -*- coding: koi8-r -*-\nprint('%s')\n", "Привет"),
        ],
    )
    def test_a_file_that_declares_its_encoding_is_read_in_it(self, name: str, encoding: str, text: str, word: str) -> None:
        assert word in load(name, (text % word).encode(encoding)).text

    @pytest.mark.parametrize("declared", ["utf-8", "utf-16", "iso-8859-1", "unicode_escape", "rot13", "no-such", "shift_jis", "gb18030"])
    def test_a_declaration_that_does_not_fit_is_ignored(self, declared: str) -> None:
        text = "caf\u00e9 \u201cnaïve\u201d"
        assert load("a.html", f"<meta charset={declared}>{text}".encode("cp1252")).text == text

    def test_a_mark_does_not_hide_front_matter(self) -> None:
        assert load("a.md", codecs.BOM_UTF8 + b"---\ntitle: Seen\n---\nbody\n").title == "Seen"

    def test_a_few_broken_bytes_leave_the_rest_of_a_text_as_it_is(self) -> None:
        text = load("a.txt", ("größer " * 50).encode() + b"\xff" + "größer".encode()).text
        assert text == "größer " * 50 + "\ufffdgrößer"

    @pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
    def test_line_breaks_of_every_kind_become_the_same(self, ends: str) -> None:
        assert load("a.txt", f"one{ends}two{ends}{ends}three".encode()).text == "one\ntwo\n\nthree"

    def test_a_stray_nul_in_a_text_file_becomes_a_space(self) -> None:
        assert load("a.md", b"# Title\n\nbefore the NUL\x00 and after it\n").text == "# Title\n\nbefore the NUL  and after it\n"

    @given(st.binary(max_size=300), st.sampled_from(["a", "a.md", "a.txt", "a.py", "a.html"]))
    def test_whatever_the_bytes_the_text_has_no_nul_and_can_be_encoded_or_the_file_is_binary(self, content: bytes, name: str) -> None:
        try:
            document = load(name, content)
        except DocumentSkipped:
            return
        assert "\0" not in document.text
        assert "\r" not in document.text
        document.text.encode()


class TestBinary:
    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"PK\x03\x04program.class", "ZIP"),
            (b"\x89PNG\r\n\x1a\n", "PNG"),
            (b"\x1f\x8b\x08", "gzip"),
            (b"\0\0\0 ftypisom", "MP4"),
            (b"a\0b\0\0\0\0c" * 50, "binary"),
            (bytes(range(256)) * 8, "binary"),
            (b"\x01\x02\x03\x04text", "binary"),
        ],
    )
    def test_what_is_no_text_is_skipped_with_its_kind(self, content: bytes, says: str) -> None:
        with pytest.raises(DocumentSkipped, match=says) as skipped:
            load("file", content)
        assert skipped.value.reason is SkipReason.BINARY

    def test_an_empty_file_is_an_empty_text_whatever_its_name(self) -> None:
        assert load("zero.pdf", b"").text == ""

    def test_a_text_with_a_binary_name_is_text(self) -> None:
        assert load("notes.bin", b"just a text\n").kind is DocumentKind.TEXT


class TestTypes:
    @pytest.mark.parametrize(
        ("name", "kind", "mime", "language"),
        [
            ("a.md", "markdown", "text/markdown", None),
            ("UPPER.MD", "markdown", "text/markdown", None),
            (".md", "markdown", "text/markdown", None),
            ("a.rst", "text", "text/x-rst", None),
            ("a.txt", "text", "text/plain", None),
            ("LICENSE", "text", "text/plain", None),
            ("a.json", "text", "application/json", None),
            ("a.yml", "text", "application/yaml", None),
            ("a.csv", "text", "text/csv", None),
            ("a.html", "text", "text/html", None),
            ("src/a.py", "code", "text/x-python", "python"),
            ("a.rs", "code", "text/x-rust", "rust"),
            ("a.tsx", "code", "text/x-typescript", "typescript"),
            ("a.hpp", "code", "text/x-cpp", "cpp"),
            ("Dockerfile", "code", "text/x-dockerfile", "dockerfile"),
            ("sub/CMakeLists.txt", "code", "text/x-cmake", "cmake"),
            ("a.unknown", "text", "text/plain", None),
            ("setup.py.in", "code", "text/x-python", "python"),
            ("notes.md.bak", "markdown", "text/markdown", None),
            ("config.yaml.j2", "text", "application/yaml", None),
            ("Dockerfile.prod", "code", "text/x-dockerfile", "dockerfile"),
            ("Makefile.in", "code", "text/x-makefile", "makefile"),
            ("dockerfile.md", "markdown", "text/markdown", None),
            (".in", "text", "text/plain", None),
        ],
    )
    def test_the_name_tells_the_type(self, name: str, kind: str, mime: str, language: str | None) -> None:
        document = load(name, b"text\n")
        assert (document.kind.value, document.mime, document.language) == (kind, mime, language)

    @pytest.mark.parametrize(
        ("first_line", "language"),
        [("#!/bin/sh", "bash"), ("#!/usr/bin/env python3", "python"), ("#!/usr/bin/env -S node --x", "javascript"), ("#!/opt/odd", None)],
    )
    def test_the_first_line_tells_the_language_of_a_file_without_extension(self, first_line: str, language: str | None) -> None:
        assert load("run", f"{first_line}\n".encode()).language == language


class TestTitles:
    @pytest.mark.parametrize(
        ("name", "text", "title"),
        [
            ("a.md", "intro\n\n## First *heading* ##\n\n# Second\n", "First *heading*"),
            ("a.md", "Set\n text\n====\n", "Set text"),
            ("a.md", "---\ntitle: From front matter\n---\n# Heading\n", "From front matter"),
            ("a.md", "```\n# no heading\n```\n", "a.md"),
            ("sub/notes.txt", "text", "notes.txt"),
            ("a.rst", "=====\nTitle\n=====\n\ntext\n", "Title"),
            ("a.rst", ".. comment\n\nTitle here\n----------\n", "Title here"),
            ("a.rst", "text\n", "a.rst"),
            ("lib/asyncio/taskgroups.py", "class TaskGroup: ...\n", "lib/asyncio/taskgroups.py"),
            ("/usr/lib/python3/asyncio/taskgroups.py", "", "python3/asyncio/taskgroups.py"),
        ],
    )
    def test_a_document_has_the_title_that_its_format_gives_it(self, name: str, text: str, title: str) -> None:
        assert load(name, text.encode()).title == title

    def test_a_title_has_a_bounded_length(self) -> None:
        assert len(load("a.md", b"# " + b"x" * 90_000).title) == 200
        assert len(load(str(PurePosixPath("d" * 300, "e" * 300, "f.py")), b"").title) <= 200


def test_the_data_of_an_inline_image_is_left_out() -> None:
    document = load("a.md", b"before\n\n![x](data:image/png;base64," + b"iVBORw0KGgo" * 1000 + b"=)\n\nafter\n")
    assert document.text == "before\n\n![x](data:image/png;base64,…)\n\nafter\n"
