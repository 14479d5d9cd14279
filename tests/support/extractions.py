"""What readers of formats made of a file, as tests compare it."""

from docmill.documents.extracted import Extracted


def headings_of(extracted: Extracted) -> list[tuple[int, str]]:
    """Levels and texts, each of which stands where it is said to stand."""
    for heading in extracted.outline.headings:
        assert extracted.text[heading.start : heading.end].rstrip("\n") == heading.text
    return [(heading.level, heading.text) for heading in extracted.outline.headings]


def blocks_of(extracted: Extracted) -> list[tuple[str, str]]:
    """The headers and the rest of the whole blocks."""
    found = []
    for block in extracted.outline.blocks:
        middle = block.start if block.header_end is None else block.header_end
        assert extracted.text[block.end - 1] == "\n"
        found.append((extracted.text[block.start : middle], extracted.text[middle : block.end]))
    return found


def pages_of(extracted: Extracted) -> list[str]:
    """The text of each page."""
    ends = [*extracted.page_starts[1:], len(extracted.text)]
    return [extracted.text[start:end].strip() for start, end in zip(extracted.page_starts, ends, strict=True)]
