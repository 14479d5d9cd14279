"""What a cut before each line of source code would part, and what is defined where; takes linear time and no recursion."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from docmill.chunking.syntax.languages import LANGUAGES, Syntax
from docmill.chunking.syntax.names import Named, Role
from docmill.chunking.syntax.naming import Namer
from docmill.chunking.syntax.parsing import Parsed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_LONGEST_PATH: Final = 8
_MOST_NODES: Final = 1_000_000
#: Added to what a cut would part where it should not be at all, before a closing brace or between a comment and what it is about.
_GLUED: Final = 1 << 20
_CLOSING: Final = re.compile(
    r"\s*(?:[)\]}>;,]+\s*(?://.*|#.*|--.*)?\Z|#endif\b"
    r"|(?:end(?:if|for|while|do|case|function|module|class|def|program|subroutine)?|fi|done|esac)\b(?!\s*[=.(\[:+*/-]))"
)
_IN_ONE_LINE: Final = re.compile(r"declaration|body|block|statement|list|structure|declarations|definition|contract|part")
_BODY: Final = re.compile(r"body|block|statements|suite|declaration_list|field_declaration_list|structure|_part\Z")


@dataclass(slots=True)
class Definition:
    """Something with a name; lines from 0.

    Attributes:
        path: the innermost of the names that qualify its own, and its own.
        first: the first line, with the comments and decorators before it.
        last: the last line.
    """

    named: Named
    path: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Structure:
    """Of the lines of a text, each from 0.

    Attributes:
        levels: how many nodes a cut before a line would part.
        in_functions: of how many functions that are larger than a chunk a cut before a line would part the inside.
        definitions: in the order in which they begin, an outer one before those in it.
    """

    levels: Sequence[int]
    in_functions: Sequence[int]
    definitions: Sequence[Definition]


@dataclass(slots=True)
class _Frame:
    """A node whose children are being visited, and what is known of the last child.

    Attributes:
        lead: the first line of what belongs to the node.
        path: the names that qualify those in it.
        in_function: it is part of a function.
        chain: where the comments and decorators began that ended with the last child; -1 when it was none.
    """

    kind: str
    first: int
    lead: int
    path: tuple[str, ...]
    in_function: bool
    depth_in_line: int
    previous_last: int = -1
    chain: int = -1
    has_definition: bool = False


def structure_of(parsed: Parsed, language: str, lines: Sequence[str], size: int) -> Structure | None:
    """The structure of a text; None when it has too many nodes.

    Args:
        lines: of the text.
        size: what has at most so many characters is not parted, and need not be looked into.
    """
    reader = _Reader(language, parsed.source, lines, size)
    return reader.structure() if reader.read(parsed.tree) else None


class _Reader:
    def __init__(self, language: str, source: bytes, lines: Sequence[str], size: int) -> None:
        self._namer = Namer(language, source)
        self._syntax: Syntax = LANGUAGES[language]
        self._lines = lines
        self._size = size
        self._parted = [0] * (len(lines) + 2)
        self._in_functions = [0] * (len(lines) + 2)
        self._glued: set[int] = set()
        self._definitions: list[Definition] = []

    def structure(self) -> Structure:
        levels = list(accumulate(self._parted[: len(self._lines) + 1]))
        for line in self._glued:
            levels[line] += _GLUED
        for line, content in enumerate(self._lines):
            if _CLOSING.match(content):
                levels[line] += _GLUED
        self._definitions.sort(key=lambda one: (one.first, -one.last))
        return Structure(levels, list(accumulate(self._in_functions[: len(self._lines) + 1])), self._definitions)

    def read(self, tree: "Tree") -> bool:
        """Whether all nodes could be visited."""
        cursor = tree.walk()
        frames = [_Frame("", 0, 0, (), False, 0)]
        for _ in range(_MOST_NODES):
            node = cursor.node
            frame = None if node is None else self._visit(node, cursor.field_name, frames[-1])
            if frame is not None and cursor.goto_first_child():
                frames.append(frame)
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return True
                frames.pop()
        return False

    def _visit(self, node: "Node", field: str | None, parent: _Frame) -> _Frame | None:
        """Notes what ``node`` says; its frame when its children are to be visited."""
        first, (last, column) = node.start_point[0], node.end_point
        if column == 0 and last > first:
            last -= 1
        kind = node.type
        syntax = self._syntax
        lead = parent.lead if first == parent.first else first
        if parent.chain >= 0 and first <= parent.previous_last + 1:
            lead = min(lead, parent.chain)
            self._glued.add(first)
        leads = (kind in syntax.leading or "comment" in kind) and first > parent.previous_last and not self._is_in_line(node)
        if kind in syntax.trailing and self._definitions and parent.previous_last >= 0:
            self._extend(self._definitions[-1], first, last)
        parent.previous_last = max(parent.previous_last, last)
        parent.chain = lead if leads else -1
        named = self._namer.definition_of(node)
        path = parent.path
        if named is not None:
            wrapped = parent.kind in syntax.wrappers and not parent.has_definition
            parent.has_definition = True
            path = self._add(named, path, parent.lead if wrapped else lead, last)
        if last > first:
            return self._visit_lines(node, named, field, parent, _Frame(kind, first, lead, path, parent.in_function, 0), last)
        looks = (named is not None and named.role is not Role.FUNCTION) or (
            named is None and not parent.in_function and parent.depth_in_line < 6 and (kind in syntax.wrappers or _IN_ONE_LINE.search(kind))
        )
        return _Frame(kind, first, lead, path, parent.in_function, parent.depth_in_line + 1) if looks else None

    def _visit_lines(self, node: "Node", named: Named | None, field: str | None, parent: _Frame, frame: _Frame, last: int) -> _Frame | None:
        """The same for a node of several lines."""
        is_body = field == "body" or _BODY.search(frame.kind) is not None
        # What stands before a body, the head of a class, is as close to its members as they are to each other.
        begin = parent.first if is_body and frame.first > parent.first else frame.first
        if parent.kind:  # any cut parts the root
            self._parted[begin + 1] += 1
            self._parted[last + 1] -= 1
        if named is not None and named.role is Role.FUNCTION:
            if node.end_byte - node.start_byte <= self._size:
                return None
            self._in_functions[frame.first + 1] += 1
            self._in_functions[last + 1] -= 1
            frame.in_function = True
        return frame

    def _add(self, named: Named, path: tuple[str, ...], first: int, last: int) -> tuple[str, ...]:
        """Notes a definition; the names that qualify what is in it."""
        own = (*path, named.name)[-_LONGEST_PATH:]
        self._definitions.append(Definition(named, own, first, last))
        return path if named.role is Role.NAMESPACE else own

    def _extend(self, definition: Definition, first: int, last: int) -> None:
        """``definition`` goes on with a node that follows it."""
        if definition.last + 1 < first:
            return
        self._glued.update(range(definition.last + 1, first + 1))
        self._parted[definition.first + 1] += 1
        self._parted[max(last, definition.first) + 1] -= 1
        definition.last = max(definition.last, last)

    def _is_in_line(self, node: "Node") -> bool:
        """Whether something stands before ``node`` in its line."""
        row, column = node.start_point
        return column > 0 and row < len(self._lines) and not self._lines[row][:column].isspace()
