"""Names what the nodes of a text define."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from docmill.chunking.syntax.language_names import BY_LANGUAGE
from docmill.chunking.syntax.languages import LANGUAGES
from docmill.chunking.syntax.names import Named, Naming, Role, by_its_name

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST_NAME: Final = 120


class Namer:
    """Names what the nodes of one text define."""

    def __init__(self, language: str, source: bytes) -> None:
        """``source`` is what was parsed."""
        self._namings = _namings_of(language)
        self._source = source

    def definition_of(self, node: "Node") -> Named | None:
        """What ``node`` defines; None for what defines nothing that has a name."""
        naming = self._namings.get(node.type)
        return None if naming is None or not node.is_named else naming[0](node, naming[1], naming[2], self._text)

    def _text(self, node: "Node") -> str:
        start, end = node.byte_range
        return " ".join(self._source[start : min(end, start + 4 * _LONGEST_NAME)].decode("utf-8", "replace").split())[:_LONGEST_NAME]


@cache
def _namings_of(language: str) -> "Mapping[str, tuple[Naming, Role, str]]":
    """What names each kind of node that defines something."""
    syntax, special = LANGUAGES[language], BY_LANGUAGE.get(language, {})
    roles = ((Role.NAMESPACE, syntax.namespaces), (Role.TYPE, syntax.types), (Role.FUNCTION, syntax.functions))
    return {kind: (special.get(kind, by_its_name), role, word) for role, words in roles for kind, word in words.items()}
