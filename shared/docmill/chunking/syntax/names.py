"""What a node of a syntax tree defines, and the ways in which nodes of any language say their names."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from tree_sitter import Node

#: How deep a declarator or a call is looked into for a name.
DEEPEST: Final = 20


class Role(Enum):
    """What a definition is to those in it."""

    NAMESPACE = 1  #: holds them and does not count in their names
    TYPE = 2
    FUNCTION = 3


#: The text of a node, on one line and shortened.
Text: TypeAlias = "Callable[[Node], str]"
#: Names what a node of one language defines: by the node, its role and its word in a heading path.
Naming: TypeAlias = "Callable[[Node, Role, str, Text], Named | None]"


@dataclass(frozen=True, slots=True)
class Named:
    """What a node defines.

    Attributes:
        name: as others refer to it from where it stands (``run``, ``Server.Start``), or what qualifies the names in it.
        heading: how a heading path shows it (``def run``).
        is_symbol: it is something of its own; an ``impl`` of Rust only adds to a type.
    """

    role: Role
    name: str
    heading: str
    is_symbol: bool = True


def by_its_name(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    """What a node defines that says its name as most do."""
    return defined(role, word, name_of(node, text))


def defined(role: Role, word: str, name: str, shown: str | None = None, *, is_symbol: bool = True) -> Named | None:
    """What is called ``name`` in the language's own writing (``A::b``), or is ``shown`` otherwise; None for what has no name."""
    if not name:
        return None
    qualified = name.replace("::", ".").replace(":", ".").replace("\\", ".").replace("->", ".").strip(".")
    return Named(role, qualified, f"{word} {name if shown is None else shown}".strip(), is_symbol) if qualified else None


def name_of(node: "Node", text: Text) -> str:
    """The name that a node has: its field of that name, what it declares, or its first identifier; "" where there is none."""
    named = node.child_by_field_name("name")
    if named is None:
        named = _declared(node)
    if named is None:
        named = next((child for child in node.named_children[:8] if child.type.endswith(("identifier", "name", "constant", "word"))), None)
    return "" if named is None else text(named)


def _declared(node: "Node") -> "Node | None":
    """What a declaration of the C family declares: the innermost of ``*name(args)[3]``."""
    for _ in range(DEEPEST):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in node.named_children if child.type.endswith("declarator")), None)
        if inner is None:
            return node if node.type.endswith(("identifier", "_name")) else None
        node = inner
    return None


def text_of(text: Text, node: "Node", *path: str) -> str:
    """The text of the field of a field of ``node``; "" where there is none."""
    found: Node | None = node
    for name in path:
        found = None if found is None else found.child_by_field_name(name)
    return "" if found is None else text(found)


def first_of(node: "Node", *kinds: str) -> "Node | None":
    """The first named child of one of ``kinds``."""
    return next((child for child in node.named_children if child.type in kinds), None)


def bare(type_name: str) -> str:
    """``Box`` of ``*Box<T>``."""
    return type_name.partition("<")[0].partition("[")[0].strip(" *&()")
