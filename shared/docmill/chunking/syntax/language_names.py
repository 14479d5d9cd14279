"""How the nodes of one language say their names where that is not as in others."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from docmill.chunking.syntax.names import DEEPEST, Named, Naming, Role, Text, bare, by_its_name, defined, first_of, name_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION_VALUES: Final = frozenset(
    {"arrow_function", "function_expression", "generator_function", "function", "class", "function_definition", "async_arrow_function"}
)


def _with_function_value(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    """``name = function ...``: what has another value is no definition."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None or value.type not in _FUNCTION_VALUES:
        return None
    return defined(role, word, text_of(text, node, "name") or text_of(text, node, "left") or text_of(text, node, "property"))


def _prototype(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    """``int f(void);``: what declares a variable is no definition."""
    inner: Node | None = node
    for _ in range(DEEPEST):
        inner = None if inner is None else inner.child_by_field_name("declarator")
        if inner is None:
            return None
        if inner.type == "function_declarator":
            return by_its_name(inner, role, word, text)
    return None


def _lua_assignment(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    values, names = first_of(node, "expression_list"), first_of(node, "variable_list")
    if values is None or names is None or first_of(values, "function_definition") is None:
        return None
    return defined(role, "function", text(names.named_children[0]))


def _julia_assignment(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    """``f(x) = ...``."""
    left = node.named_children[0] if node.named_children else None
    return (
        defined(role, "function", _called(text, left))
        if left is not None and left.type in ("call_expression", "where_expression")
        else None
    )


def _called(text: Text, node: "Node | None") -> str:
    """What is called or declared, at the beginning of an expression: ``f`` of ``f(x) where T``."""
    for _ in range(DEEPEST):
        if node is None:
            return ""
        if node.type in ("identifier", "field_expression", "alias", "operator", "atom") or not node.named_children:
            return text(node)
        node = node.child_by_field_name("target") or node.child_by_field_name("left") or node.named_children[0]
    return ""


_ELIXIR_ROLES: Final = {
    "defmodule": Role.TYPE,
    "defprotocol": Role.TYPE,
    "defimpl": Role.TYPE,
    "def": Role.FUNCTION,
    "defp": Role.FUNCTION,
    "defmacro": Role.FUNCTION,
    "defmacrop": Role.FUNCTION,
    "defguard": Role.FUNCTION,
    "defguardp": Role.FUNCTION,
    "defdelegate": Role.FUNCTION,
}


def _elixir_call(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    keyword = text_of(text, node, "target")
    arguments = first_of(node, "arguments")
    if keyword not in _ELIXIR_ROLES or arguments is None or not arguments.named_children:
        return None
    return defined(_ELIXIR_ROLES[keyword], keyword, _called(text, arguments.named_children[0]))


def _go_method(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    receiver = node.child_by_field_name("receiver")
    if receiver is None:
        return None
    parameter = receiver.named_children[0] if receiver.named_children else None
    owner = "" if parameter is None else bare(text_of(text, parameter, "type"))
    return defined(role, word, f"{owner}.{text_of(text, node, 'name')}".strip("."))


def _rust_impl(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    owner, trait = text_of(text, node, "type"), text_of(text, node, "trait")
    return defined(role, word, bare(owner), f"{trait} for {owner}" if trait else owner, is_symbol=False)


def _swift_type(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    name = node.child_by_field_name("name")
    keywords = ("class", "struct", "enum", "actor", "extension")
    keyword = next((child.type for child in node.children if child.type in keywords), "")
    return None if name is None else defined(role, keyword, bare(text(name)), is_symbol=keyword != "extension")


def _haskell_instance(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    return defined(role, word, f"{text_of(text, node, 'name')} {text_of(text, node, 'patterns')}".strip(), is_symbol=False)


def _hcl_block(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    """``resource "aws_instance" "web"``: only blocks of the file itself name something."""
    body = node.parent
    if body is None or body.parent is None or body.parent.type != "config_file":
        return None
    kind, *labels = [text(child).strip('"') for child in node.named_children if child.type in ("identifier", "string_lit")]
    return defined(role, kind if labels else "", ".".join(labels) or kind)


def _make_rule(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    targets = first_of(node, "targets")
    name = "" if targets is None else text(targets)
    return None if name.startswith(".") else defined(role, word, name)  # ``.PHONY`` says something of other targets


def _first_statement_name(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    """Of Fortran: ``subroutine solve(a)`` is a statement of its own."""
    statement = node.named_children[0] if node.named_children else None
    if statement is None:
        return None
    named = statement.child_by_field_name("name") or first_of(statement, "name", "type_name")
    return None if named is None else defined(role, word, text(named))


def _ada_subprogram(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    specification = first_of(node, "function_specification", "procedure_specification")
    return None if specification is None else defined(role, specification.type.partition("_")[0], text_of(text, specification, "name"))


def _vhdl_unit(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    return defined(role, word, text_of(text, node, word))


def _zig_variable(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    kinds = ("struct_declaration", "enum_declaration", "union_declaration", "opaque_declaration", "error_set_declaration")
    value = first_of(node, *kinds)
    return None if value is None else defined(role, value.type.partition("_")[0], name_of(node, text))


def _zig_test(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    name = first_of(node, "string", "identifier")
    return None if name is None else defined(role, word, text(name).strip('"'))


def _sql_object(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    name = node.child_by_field_name("column") or first_of(node, "object_reference", "identifier")
    return None if name is None else defined(role, word, text(name))


def _julia_signature(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    head = first_of(node, "signature", "type_head")
    return None if head is None else defined(role, word, _called(text, head))


def _ocaml_binding(node: "Node", role: Role, word: str, text: Text) -> Named | None:
    pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
    kinds = ("module_name", "module_type_name", "class_name", "value_name", "method_name", "constructor_declaration")
    named = pattern or first_of(node, *kinds)
    return None if named is None else defined(role, word, text(named))


def _always(name: str) -> "Naming":
    return lambda node, role, word, text: defined(role, word, name)


_ECMASCRIPT: "Final[Mapping[str, Naming]]" = MappingProxyType(
    dict.fromkeys(("variable_declarator", "assignment_expression", "field_definition", "public_field_definition"), _with_function_value)
)
BY_LANGUAGE: "Final[Mapping[str, Mapping[str, Naming]]]" = MappingProxyType(
    {
        "ada": {"subprogram_body": _ada_subprogram, "subprogram_declaration": _ada_subprogram},
        "c": {"declaration": _prototype},
        "cpp": {"declaration": _prototype, "field_declaration": _prototype},
        "elixir": {"call": _elixir_call},
        "fortran": dict.fromkeys(
            ("module", "submodule", "derived_type_definition", "function", "subroutine", "program"), _first_statement_name
        ),
        "go": {"method_declaration": _go_method},
        "haskell": {"instance": _haskell_instance},
        "hcl": {"block": _hcl_block},
        "javascript": _ECMASCRIPT,
        "julia": {
            "abstract_definition": _julia_signature,
            "assignment": _julia_assignment,
            "function_definition": _julia_signature,
            "macro_definition": _julia_signature,
            "struct_definition": _julia_signature,
        },
        "kotlin": {"companion_object": _always("companion"), "secondary_constructor": _always("constructor")},
        "lua": {"assignment_statement": _lua_assignment},
        "makefile": {"rule": _make_rule},
        "objective-c": {"declaration": _prototype},
        "ocaml": dict.fromkeys(
            (
                *("module_binding", "module_type_definition", "class_binding", "let_binding", "type_binding"),
                *("value_specification", "method_definition", "exception_definition", "external"),
            ),
            _ocaml_binding,
        ),
        "rust": {"impl_item": _rust_impl},
        "sql": dict.fromkeys(
            (
                *("create_table", "create_view", "create_materialized_view", "create_index", "create_function"),
                *("create_procedure", "create_trigger", "create_type", "create_schema"),
            ),
            _sql_object,
        ),
        "swift": {"class_declaration": _swift_type, "init_declaration": _always("init"), "deinit_declaration": _always("deinit")},
        "typescript": _ECMASCRIPT,
        "vhdl": dict.fromkeys(
            (
                *("entity_declaration", "architecture_definition", "package_declaration", "package_definition"),
                "configuration_declaration",
            ),
            _vhdl_unit,
        ),
        "zig": {"variable_declaration": _zig_variable, "test_declaration": _zig_test},
    }
)
