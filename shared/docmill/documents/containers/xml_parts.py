"""XML parts of containers as elements whose names have no namespace; nothing is expanded, and depth is bounded."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, Protocol
from xml.etree import ElementTree

from docmill.domain.errors import DocumentSkipped, SkipReason

Element = ElementTree.Element

MOST_DEPTH: Final = 256
_PIECE_BYTES: Final = 1 << 16
#: Their attributes have the names of others of the same elements; the second is that of strict files.
_RELATIONSHIPS: Final = ("officeDocument/2006/relationships", "officeDocument/relationships")


class Readable(Protocol):
    """What gives bytes piece by piece."""

    def read(self, most_bytes: int, /) -> bytes:
        """The next bytes; none at the end."""
        ...


def tree_of(part: Readable) -> Element:
    """The root element of a part.

    Tags are local names. So are attributes, but those that name relationships of Office parts begin with ``r:``.

    Raises:
        DocumentSkipped: it is no well-formed XML, declares a document type, or is nested very deeply.
    """
    builder = _Builder(frozenset())
    for _ in _fed(part, builder):
        pass
    if builder.root is None:
        raise DocumentSkipped(SkipReason.PARSER_FAILED, "it is damaged: a part is empty")
    return builder.root


def children_within(part: Readable, parents: Collection[str], *, first_parent_only: bool = False) -> Iterator[Element]:
    """The children of the outermost elements that have one of these names, each when it is complete; they are not kept.

    Raises as ``tree_of``, on the way. With ``first_parent_only`` what follows the first of these elements is not read.
    """
    builder = _Builder(frozenset(parents))
    for _ in _fed(part, builder):
        while builder.complete:
            yield builder.complete.popleft()
        if first_parent_only and builder.parents_ended:
            return


def child_of(element: Element | None, *path: str) -> Element | None:
    """The first child of that name, of that the first child of the next name, and so on; None where one is missing."""
    for name in path:
        if element is None:
            return None
        element = element.find(name)
    return element


class _Builder:
    """What ``XMLParser`` calls."""

    def __init__(self, parents: frozenset[str]) -> None:
        self.root: Element | None = None
        self.complete: deque[Element] = deque()
        self.parents_ended = 0
        self._parents = parents
        self._parent_depth = 0
        self._stack: list[Element] = []
        self._tree = ElementTree.TreeBuilder()
        self._names: dict[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        names = self._names
        name = names.get(tag) or self._named(tag)
        element = self._tree.start(name, {names.get(key) or self._named(key): value for key, value in attributes.items()})
        if self.root is None:
            self.root = element
        self._stack.append(element)
        if len(self._stack) > MOST_DEPTH:
            raise DocumentSkipped(SkipReason.PARSER_FAILED, f"its parts are nested more than {MOST_DEPTH} levels deep")
        if not self._parent_depth and name in self._parents:
            self._parent_depth = len(self._stack)

    def end(self, tag: str) -> None:
        element = self._tree.end(self._names[tag])
        depth = len(self._stack)
        self._stack.pop()
        if self._parent_depth == depth - 1 and self._parent_depth:
            self.complete.append(element)
            self._stack[-1].clear()
        elif self._parent_depth == depth:
            self._parent_depth = 0
            self.parents_ended += 1

    def data(self, text: str) -> None:
        self._tree.data(text)

    def doctype(self, name: str, public_id: str | None, system: str | None) -> None:
        raise DocumentSkipped(SkipReason.PARSER_FAILED, "a part declares a document type, which such files never have")

    def close(self) -> None:
        """Nothing is left to do."""

    def _named(self, name: str) -> str:
        namespace, _, local = name.rpartition("}")
        short = f"r:{local}" if namespace.endswith(_RELATIONSHIPS) else local
        self._names[name] = short
        return short


def _fed(part: Readable, builder: _Builder) -> Iterator[None]:
    parser = ElementTree.XMLParser(target=builder)
    feed: Callable[[bytes], None] = parser.feed
    try:
        while piece := part.read(_PIECE_BYTES):
            feed(piece)
            yield
        parser.close()
    except ElementTree.ParseError as error:
        raise DocumentSkipped(SkipReason.PARSER_FAILED, f"it is damaged: a part is no well-formed XML ({error})") from error
    yield
