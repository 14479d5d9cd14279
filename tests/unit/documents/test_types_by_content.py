import pytest

from docmill.documents.loading import is_container, load
from docmill.domain.errors import DocumentSkipped, SkipReason

PAGE = b"<!DOCTYPE html>\n<html><head><title>T</title></head><body><p>text</p></body></html>\n"


@pytest.mark.parametrize("name", ["a.json", "a.md", "a.txt", "a.csv", "a.js", "a.xls", "index", "a.yaml", "a.doc"])
def test_a_page_is_html_whatever_its_name_says(name: str) -> None:
    assert load(name, PAGE).mime == "text/html"


def test_markdown_that_begins_with_a_picture_is_markdown() -> None:
    assert load("README.md", b"<svg><path/></svg>\n\n# Title\n").title == "Title"


@pytest.mark.parametrize(("name", "mime"), [("a.vue", "text/x-vue"), ("a.php", "text/x-php"), ("a.xhtml", "application/xhtml+xml")])
def test_a_template_keeps_the_type_that_its_name_says(name: str, mime: str) -> None:
    assert load(name, PAGE).mime == mime


@pytest.mark.parametrize(
    ("name", "content", "mime"),
    [
        ("feed", b'<?xml version="1.0"?>\n<rss version="2.0"></rss>\n', "application/xml"),
        ("a.ts", b'<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS></TS>\n', "application/xml"),
        ("a.json", b'<?xml version="1.0"?>\n<a/>\n', "application/xml"),
        ("picture", b'<svg xmlns="http://www.w3.org/2000/svg"></svg>', "image/svg+xml"),
        ("config", b'{"a": [1, 2]}\n', "application/json"),
        ("config", b"{not json}\n", "text/plain"),
        ("notes.pdf", b"just text\n", "text/plain"),
        ("notes.docx", b"just text\n", "text/plain"),
    ],
)
def test_the_first_bytes_tell_what_the_name_does_not(name: str, content: bytes, mime: str) -> None:
    assert load(name, content).mime == mime


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("a.h", "int main(void);\n", "c"),
        ("a.h", "#pragma once\nnamespace x {\nclass A {\n", "cpp"),
        ("a.h", "#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", "objective-c"),
        ("a.m", '#import "A.h"\n@implementation A\n@end\n', "objective-c"),
        ("a.m", "% adds\nfunction y = f(x)\ny = x + 1;\nend\n", "matlab"),
        ("a.pl", "use strict;\nmy $x = 1;\n", "perl"),
        ("a.pl", ":- module(a, []).\nparent(X, Y) :- father(X, Y).\n", "prolog"),
        ("a.d", "main.o: main.c main.h\n", "makefile"),
        ("a.d", "import std.stdio;\n", "d"),
        ("tool", "# -*- mode: python -*-\nx = 1\n", "python"),
        ("tool", "# vim: set ft=ruby :\nx = 1\n", "ruby"),
        ("a.v", "Theorem t : True.\nProof. trivial. Qed.\n", None),
        ("a.v", "module m;\nendmodule\n", "verilog"),
    ],
)
def test_of_languages_with_the_same_extension_the_content_tells_which(name: str, text: str, language: str | None) -> None:
    assert load(name, text.encode()).language == language


@pytest.mark.parametrize(
    ("text", "mime"), [("# Title\n\ntext\n", "text/markdown"), ("Title\n=====\n\ntext\n", "text/plain"), ("#hash\n", "text/plain")]
)
def test_a_readme_without_extension_is_markdown_when_it_has_its_headings(text: str, mime: str) -> None:
    assert load("README", text.encode()).mime == mime


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.ts", "a.json"])
@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(100), b"\x47" + bytes(187) + b"\x47" + bytes(187)])
def test_pictures_and_films_with_the_name_of_a_text_are_binary(name: str, content: bytes) -> None:
    with pytest.raises(DocumentSkipped) as skipped:
        load(name, content)
    assert skipped.value.reason is SkipReason.BINARY


@pytest.mark.parametrize("text", ["ID3 tags explained", "BZh is the mark of bzip2", "Rar! she cried", "GIF89a is a format", "The ftyp box"])
def test_a_text_that_begins_like_another_format_is_a_text(text: str) -> None:
    assert load("a.md", text.encode()).text == text


def test_a_container_is_known_by_its_content() -> None:
    assert is_container("a.txt", b"%PDF-1.7\n")
    assert not is_container("a.pdf", b"text\n")
