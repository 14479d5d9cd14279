"""Cuts a loaded document into the chunks of a strategy."""

from bisect import bisect_left, bisect_right

from docmill.chunking.boundaries import ANYWHERE, CODE, PROSE
from docmill.chunking.context import with_context
from docmill.chunking.cutting import cut
from docmill.chunking.sections import parted_by_pages, sections_of
from docmill.chunking.syntax.cutting import CodePiece, code_pieces
from docmill.domain.chunks import Chunk
from docmill.domain.documents import DocumentKind, LoadedDocument, Outline, WholeBlock
from docmill.domain.knowledge_bases import Chunking, ChunkingStrategy


def chunk(document: LoadedDocument, settings: Chunking) -> list[Chunk]:
    """The chunks of ``document``, in order; none when it has no visible text after its front matter.

    Together they hold all visible text. A chunk's text has at most ``settings.size`` characters and repeats at most ``settings.overlap`` of
    the one before it; none reaches over a heading or into the next page, except that headings with nothing between them stay together.
    Equal arguments give equal chunks.

    Source code that is cut by its syntax is cut between lines: each line that is not blank is in exactly one chunk, unless it is larger
    than a chunk.
    """
    by_structure = settings.strategy is not ChunkingStrategy.TEXT
    if by_structure and settings.code_aware and document.kind is DocumentKind.CODE:
        pieces = code_pieces(document.text, document.language, settings.size)
        if pieces is not None:
            return [_code_chunk(document, settings, index, piece) for index, piece in enumerate(pieces)]
    return _text_chunks(document, settings, document.outline if by_structure else Outline())


def _text_chunks(document: LoadedDocument, settings: Chunking, outline: Outline) -> list[Chunk]:
    text = document.text
    start = _line_start(text, document.body_start_line)
    boundaries = ANYWHERE
    if settings.respect_word_boundaries:
        boundaries = CODE if document.kind is DocumentKind.CODE else PROSE
    blocks = outline.blocks
    lines = document.source_lines
    chunks: list[Chunk] = []
    place, line = start, document.body_start_line
    for section in parted_by_pages(sections_of(text, start, outline.headings), document.page_starts):
        own = blocks[bisect_left(blocks, section.start, key=_start) : bisect_left(blocks, section.end, key=_start)] if blocks else []
        pieces = cut(text, section.start, section.end, size=settings.size, overlap=settings.overlap, boundaries=boundaries, blocks=own)
        for begin, end, header in pieces:
            line += text.count("\n", place, begin)
            place = begin
            piece = text[begin:end]
            last_line = line + piece.count("\n")
            piece = header + piece
            chunks.append(
                Chunk(
                    index=len(chunks),
                    text=piece,
                    headings=section.headings,
                    start_line=line if lines is None else lines[line - 1],
                    end_line=last_line if lines is None else lines[last_line - 1],
                    indexed_text=with_context(piece, document.title, section.headings) if settings.prepend_headings else piece,
                    page=max(1, bisect_right(document.page_starts, begin)) if document.page_starts else None,
                )
            )
    return chunks


def _code_chunk(document: LoadedDocument, settings: Chunking, index: int, piece: CodePiece) -> Chunk:
    text = document.text[piece.start : piece.end]
    return Chunk(
        index=index,
        text=text,
        headings=piece.headings,
        start_line=piece.line + 1,
        end_line=piece.line + 1 + text.count("\n"),
        indexed_text=with_context(text, document.title, piece.headings) if settings.prepend_headings else text,
        symbols=piece.symbols,
    )


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
