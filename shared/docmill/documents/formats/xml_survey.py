"""What an XML text is made of: which elements hold running text, and whether its titles head sections."""

from typing import Final

from docmill.documents.formats.markup import Mark, tokens

TITLES: Final = frozenset(["title", "head", "heading", "article-title"])
_LEAST_CHARACTERS_OF_SECTION: Final = 300


def local_name(name: str) -> str:
    """The name without its prefix."""
    return name.rpartition(":")[2]


def survey(text: str) -> tuple[frozenset[str], bool]:
    """The names of elements that hold running text, texts and elements side by side, and whether titles are headings."""
    mixed: set[str] = set()
    is_open: list[tuple[str, bool, bool]] = []  # the name, whether there is text in it, whether there are elements
    titles = characters = 0
    for token in tokens(text, xml=True):
        if token.mark is Mark.START:
            name = local_name(token.text)
            titles += name in TITLES
            if is_open:
                around, has_text, _ = is_open[-1]
                is_open[-1] = (around, has_text, True)
                if has_text:
                    mixed.add(around)
            if not token.closed:
                is_open.append((name, False, False))
        elif token.mark is Mark.END and is_open:
            is_open.pop()
        elif token.mark is Mark.TEXT and is_open and not token.text.isspace():
            characters += len(token.text)
            name, _, has_elements = is_open[-1]
            is_open[-1] = (name, True, has_elements)
            if has_elements:
                mixed.add(name)
    return frozenset(mixed), titles > 0 and (bool(mixed) or characters >= titles * _LEAST_CHARACTERS_OF_SECTION)
