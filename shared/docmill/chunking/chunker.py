"""Cuts a loaded document into the chunks of a strategy."""

from bisect import bisect_left

from docmill.chunking.context import with_context
from docmill.chunking.cutting import ANYWHERE, CODE, PROSE, cut
from docmill.chunking.sections import sections_of
from docmill.domain.chunks import Chunk
from docmill.domain.documents import DocumentKind, LoadedDocument, WholeBlock
from docmill.domain.knowledge_bases import Chunking


def chunk(document: LoadedDocument, settings: Chunking) -> list[Chunk]:
    """The chunks of ``document``, in order; none when it has no visible text after its front matter.

    Together they hold all visible text. A chunk's text has at most ``settings.size`` characters and repeats at most ``settings.overlap`` of
    the one before it; none reaches over a heading, except that headings with nothing between them stay together. Equal arguments
    give equal chunks.
    """
    text = document.text
    start = _line_start(text, document.body_start_line)
    boundaries = ANYWHERE
    if settings.respect_word_boundaries:
        boundaries = CODE if document.kind is DocumentKind.CODE else PROSE
    blocks = document.outline.blocks
    chunks: list[Chunk] = []
    place, line = start, document.body_start_line
    for section in sections_of(text, start, document.outline.headings):
        own = blocks[bisect_left(blocks, section.start, key=_start) : bisect_left(blocks, section.end, key=_start)] if blocks else []
        pieces = cut(text, section.start, section.end, size=settings.size, overlap=settings.overlap, boundaries=boundaries, blocks=own)
        for begin, end in pieces:
            line += text.count("\n", place, begin)
            place = begin
            piece = text[begin:end]
            chunks.append(
                Chunk(
                    index=len(chunks),
                    text=piece,
                    headings=section.headings,
                    start_line=line,
                    end_line=line + piece.count("\n"),
                    indexed_text=with_context(piece, document.title, section.headings) if settings.prepend_headings else piece,
                )
            )
    return chunks


def _start(block: WholeBlock) -> int:
    return block.start


def _line_start(text: str, line: int) -> int:
    """Where ``line`` (from 1) begins; the end of the text when it has fewer lines."""
    place = 0
    for _ in range(line - 1):
        place = text.find("\n", place) + 1
        if place == 0:
            return len(text)
    return place
