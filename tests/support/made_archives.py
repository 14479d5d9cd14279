"""Archives for tests: packages of Office with parts of any content, OpenDocument files, books."""

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_ODF = "".join(
    f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
        ("meta", "meta"),
        ("manifest", "manifest"),
    )
)
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'


def zipped(parts: Mapping[str, str | bytes], *, first_stored: bool = False) -> bytes:
    """An archive; with ``first_stored`` its first entry is not compressed, as where it says what the file is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, (name, content) in enumerate(parts.items()):
            archive.writestr(name, content, zipfile.ZIP_STORED if first_stored and not place else None)
    return buffer.getvalue()


def relationships(**targets: str) -> str:
    """A part that points at others: ``rId1_styles="styles.xml"``."""
    links = "".join(
        f'<Relationship Id="{name.partition("_")[0]}" Type="{R}/{name.partition("_")[2]}" Target="{target}"/>'
        for name, target in targets.items()
    )
    return f'<Relationships xmlns="{_RELATIONSHIPS}">{links}</Relationships>'


def word(body: str, **parts: str) -> bytes:
    """A Word document with this body; further parts by their kind: ``footnotes="<w:footnote ..."``."""
    files = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relationships(rId1_officeDocument="word/document.xml"),
        "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relationships(**{f"rId{place}_{kind}": f"{kind}.xml" for place, kind in enumerate(parts)}),
    }
    return zipped(files | {f"word/{kind}.xml": f"<w:{kind} {W}>{content}</w:{kind}>" for kind, content in parts.items()})


def paragraph(*runs: str, style: str = "") -> str:
    """A paragraph of Word; a run that begins with ``<`` is XML."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}{''.join(run if run.startswith('<') else f'<w:r><w:t>{run}</w:t></w:r>' for run in runs)}</w:p>"


def open_document(kind: str, body: str, *, styles: str = "", meta: str = "", manifest: str = "") -> bytes:
    """An OpenDocument file; ``kind`` is ``text``, ``spreadsheet`` or ``presentation``."""
    content = (
        f"<office:document-content{_ODF} {_DC}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    parts = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": content,
        "meta.xml": f"<office:document-meta{_ODF} {_DC}><office:meta>{meta}</office:meta></office:document-meta>",
        "META-INF/manifest.xml": f"<manifest:manifest{_ODF}>{manifest}</manifest:manifest>",
    }
    return zipped(parts, first_stored=True)


def book(chapters: Mapping[str, str], spine: list[str], *, metadata: str = "<dc:title>A Book</dc:title>", **parts: str) -> bytes:
    """An EPUB: chapters by href (``1%20x.xhtml``) in file order, and the hrefs in reading order."""
    from urllib.parse import unquote

    ids = {href: f"id{place}" for place, href in enumerate(chapters)}
    items = "".join(f'<item id="{one}" href="{href}" media-type="application/xhtml+xml"/>' for href, one in ids.items())
    order = "".join(f'<itemref idref="{ids[href]}"/>' for href in spine)
    described = f"<metadata {_DC}>{metadata}</metadata><manifest>{items}</manifest><spine>{order}</spine>"
    package = f'<package xmlns="http://www.idpf.org/2007/opf">{described}</package>'
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/c.opf"/></rootfiles></container>',
        "OEBPS/c.opf": package,
    }
    files |= {f"OEBPS/{unquote(href)}": f"<html><body>{content}</body></html>" for href, content in chapters.items()}
    return zipped(files | {name.replace("__", "/"): content for name, content in parts.items()}, first_stored=True)
