"""EPUB: the chapters of a book in the order in which they are read (EPUB 3.3)."""

import posixpath
from typing import Final
from urllib.parse import unquote

from docmill.documents.containers.archive import Archive
from docmill.documents.containers.guarding import guarded
from docmill.documents.containers.properties import Properties, properties
from docmill.documents.containers.text_builder import TextBuilder
from docmill.documents.containers.xml_parts import Element, child_of, tree_of
from docmill.documents.decoding import decode
from docmill.documents.extracted import Extracted
from docmill.documents.formats.html import read_html
from docmill.domain.errors import DocumentSkipped, SkipReason

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_CHAPTERS: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "image/svg+xml")
#: Fonts are made unreadable by these, text is not.
_FONT_ALGORITHMS: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_MOST_CHAPTERS: Final = 20_000


@guarded
def read_epub(content: bytes) -> Extracted:
    """The text of a book.

    Raises:
        DocumentSkipped: it is protected, is damaged, or has very much text.
    """
    archive = Archive(content)
    _require_readable(archive)
    place = _package_document(archive)
    package = tree_of(archive.open(place))
    builder = TextBuilder()
    for chapter in _spine(package, posixpath.dirname(place), archive):
        builder.extracted(read_html(decode(archive.read(chapter), known_as_text=True)))
    return builder.built(_properties(package))


def _require_readable(archive: Archive) -> None:
    if _ENCRYPTION not in archive:
        return
    for method in tree_of(archive.open(_ENCRYPTION)).iter("EncryptionMethod"):
        if method.get("Algorithm", "") not in _FONT_ALGORITHMS:
            raise DocumentSkipped(SkipReason.ENCRYPTED, "it is protected against copying (DRM)")


def _package_document(archive: Archive) -> str:
    if _CONTAINER in archive:
        for root in tree_of(archive.open(_CONTAINER)).iter("rootfile"):
            place = posixpath.normpath(unquote(root.get("full-path", "")).lstrip("/"))
            if place in archive:
                return place
    raise DocumentSkipped(SkipReason.PARSER_FAILED, "it is damaged: it does not say in which order its chapters are read")


def _spine(package: Element, folder: str, archive: Archive) -> list[str]:
    items = {item.get("id", ""): item for item in package.iter("item")}
    chapters: list[str] = []
    for reference in package.iter("itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type", _CHAPTERS[0]) not in _CHAPTERS or "nav" in item.get("properties", "").split():
            continue
        href = item.get("href", "").partition("#")[0]
        place = next((name for name in (_within(folder, unquote(href)), _within(folder, href)) if name in archive), None)
        if place is not None and place not in chapters[-1:]:
            chapters.append(place)
    return chapters[:_MOST_CHAPTERS]


def _within(folder: str, href: str) -> str:
    return posixpath.normpath(href.lstrip("/") if href.startswith("/") else posixpath.join(folder, href))


def _properties(package: Element) -> Properties:
    values: dict[str, list[str]] = {}
    for one in child_of(package, "metadata") or ():
        if one.text:
            values.setdefault(one.tag, []).append(one.text)
        if one.get("property") == "dcterms:modified" and one.text:
            values.setdefault("modified", []).append(one.text)
    return properties(
        title=next(iter(values.get("title", [])), ""),
        author=", ".join(values.get("creator", [])),
        subject="",
        keywords=",".join(values.get("subject", [])),
        created=next(iter(values.get("date", [])), ""),
        modified=next(iter(values.get("modified", [])), ""),
        language=next(iter(values.get("language", [])), ""),
    )
