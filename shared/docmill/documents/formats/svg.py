"""SVG: the words in a drawing, its title and its descriptions."""

from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.inline import Inline
from docmill.documents.formats.markup import Mark, tokens

_TEXTS: Final = frozenset(["text", "title", "desc", "foreignObject", "flowRoot"])
_LINES: Final = frozenset(["div", "p", "br", "li", "flowPara"])
_NO_TEXT: Final = frozenset(["style", "script", "metadata"])


def read_svg(text: str) -> Extracted:
    """A line for each text; a drawing without words has an empty text."""
    draft, inline = Draft(), Inline()
    title = ""
    is_open: list[str] = []
    texts = left_out = 0
    line, counted = 1, 0
    for token in tokens(text, xml=True):
        line += text.count("\n", counted, token.start)
        counted = token.start
        name = token.text.rpartition(":")[2]
        if token.mark is Mark.TEXT:
            if texts and not left_out:
                inline.add(token.text, line)
        elif token.mark is Mark.START:
            if name in _LINES:
                inline.break_line()
            elif name == "tspan":
                inline.add(" ", line)
            if not token.closed:
                is_open.append(name)
                texts += name in _TEXTS
                left_out += name in _NO_TEXT
        elif token.mark is Mark.END and name in _TEXTS | _NO_TEXT and name in is_open[-50:]:
            while is_open:
                ended = is_open.pop()
                texts -= ended in _TEXTS
                left_out -= ended in _NO_TEXT
                if ended == name:
                    break
            words = [part for lines in inline.take() for part in lines]
            for source, part in words:
                draft.add(part, source)
            if name == "title" and not title and len(is_open) <= 1:
                title = " ".join(part for _, part in words)
        elif token.mark is Mark.END and is_open and is_open[-1] == name:
            is_open.pop()
    return draft.extracted(title)
