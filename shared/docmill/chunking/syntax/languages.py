"""The programming languages whose syntax is known: their grammars, and which nodes of a grammar define something."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Syntax:
    """What there is to know of one language; nodes are named as its grammar names them.

    Attributes:
        grammars: ``module:function``; the first that reads a text without an error is used, or the first of all.
        namespaces: nodes that hold definitions and do not count in their names (``A.b``), each with its word in a heading path.
        types: nodes that define something with members.
        functions: nodes that define something that is not looked into, unless it is too large.
        wrappers: nodes that hold a definition and what belongs to it.
        leading: nodes, beside comments, that belong to what follows them.
        trailing: nodes that belong to what they follow.
    """

    grammars: tuple[str, ...]
    namespaces: Words = field(default_factory=dict)
    types: Words = field(default_factory=dict)
    functions: Words = field(default_factory=dict)
    wrappers: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    trailing: frozenset[str] = frozenset()


def _syntax(
    *grammars: str, namespaces: str = "", types: str = "", functions: str = "", wrappers: str = "", leading: str = "", trailing: str = ""
) -> Syntax:
    return Syntax(
        tuple(f"tree_sitter_{grammar}" if ":" in grammar else f"tree_sitter_{grammar}:language" for grammar in grammars),
        _words(namespaces),
        _words(types),
        _words(functions),
        frozenset(wrappers.split()),
        frozenset(leading.split()),
        frozenset(trailing.split()),
    )


def _words(entries: str) -> Words:
    """``node=word``; ``node=`` for one without a word."""
    return MappingProxyType(dict(entry.split("=", 1) for entry in entries.split()))


_C_TYPES: Final = "struct_specifier=struct union_specifier=union enum_specifier=enum"
_C_FUNCTIONS: Final = "function_definition= declaration= preproc_function_def=#define type_definition=typedef"
_ECMASCRIPT: Final = (
    "function_declaration=function generator_function_declaration=function method_definition= variable_declarator= "
    "assignment_expression= field_definition="
)

LANGUAGES: Final[Mapping[str, Syntax]] = MappingProxyType(
    {
        "ada": _syntax(
            "ada",
            namespaces="package_declaration=package package_body=package",
            functions="subprogram_body= subprogram_declaration= full_type_declaration=type",
        ),
        "bash": _syntax("bash", functions="function_definition=function"),
        "c": _syntax("c", "cpp", types=_C_TYPES, functions=_C_FUNCTIONS),
        "cpp": _syntax(
            "cpp",
            namespaces="namespace_definition=namespace",
            types=f"class_specifier=class {_C_TYPES}",
            functions=f"{_C_FUNCTIONS} field_declaration= alias_declaration=using concept_definition=concept",
            wrappers="template_declaration",
        ),
        "csharp": _syntax(
            "c_sharp",
            namespaces="namespace_declaration=namespace file_scoped_namespace_declaration=namespace",
            types="class_declaration=class interface_declaration=interface struct_declaration=struct enum_declaration=enum "
            "record_declaration=record",
            functions="method_declaration= constructor_declaration= destructor_declaration= property_declaration= operator_declaration= "
            "delegate_declaration=delegate local_function_statement=",
        ),
        "css": _syntax("css"),
        "dart": _syntax(
            "dart",
            types="class_definition=class mixin_declaration=mixin extension_declaration=extension enum_declaration=enum",
            functions="function_signature= getter_signature=get setter_signature=set constructor_signature= "
            "factory_constructor_signature=factory type_alias=typedef",
            wrappers="method_signature declaration",
            leading="annotation",
            trailing="function_body",
        ),
        "elixir": _syntax("elixir", functions="call=", leading="unary_operator"),
        "fortran": _syntax(
            "fortran",
            namespaces="module=module submodule=submodule",
            types="derived_type_definition=type",
            functions="function=function subroutine=subroutine program=program",
        ),
        "go": _syntax(
            "go",
            types="type_spec=type type_alias=type",
            functions="function_declaration=func method_declaration=func",
            wrappers="type_declaration",
        ),
        "groovy": _syntax(
            "groovy",
            types="class_declaration=class interface_declaration=interface enum_declaration=enum",
            functions="method_declaration= constructor_declaration= function_definition=def function_declaration=def",
        ),
        "haskell": _syntax(
            "haskell",
            types="class=class data_type=data newtype=newtype",
            functions="function= bind= type_synomym=type type_synonym=type",
            namespaces="instance=instance",
            leading="signature haddock",
        ),
        "hcl": _syntax("hcl", functions="block="),
        "java": _syntax(
            "java",
            types="class_declaration=class interface_declaration=interface enum_declaration=enum record_declaration=record "
            "annotation_type_declaration=@interface",
            functions="method_declaration= constructor_declaration= compact_constructor_declaration=",
        ),
        "javascript": _syntax(
            "javascript", types="class_declaration=class", functions=_ECMASCRIPT, wrappers="export_statement", leading="decorator"
        ),
        "julia": _syntax(
            "julia",
            namespaces="module_definition=module",
            types="struct_definition=struct",
            functions="function_definition=function macro_definition=macro abstract_definition=abstract assignment=",
            leading="string_literal",
        ),
        "kotlin": _syntax(
            "kotlin",
            types="class_declaration=class object_declaration=object companion_object=object",
            functions="function_declaration=fun type_alias=typealias secondary_constructor=constructor",
        ),
        "lua": _syntax("lua", functions="function_declaration=function assignment_statement="),
        "makefile": _syntax("make", functions="rule= define_directive=define"),
        "nix": _syntax("nix"),
        "objective-c": _syntax(
            "objc",
            types=f"class_interface=@interface class_implementation=@implementation protocol_declaration=@protocol {_C_TYPES}",
            functions=f"method_definition= method_declaration= {_C_FUNCTIONS}",
        ),
        "ocaml": _syntax(
            "ocaml:language_ocaml",
            "ocaml:language_ocaml_interface",
            types="module_binding=module module_type_definition=module class_binding=class",
            functions="let_binding=let type_binding=type value_specification=val method_definition=method exception_definition=exception "
            "external=external",
            wrappers="value_definition type_definition module_definition class_definition",
        ),
        "php": _syntax(
            "php:language_php",
            namespaces="namespace_definition=namespace",
            types="class_declaration=class interface_declaration=interface trait_declaration=trait enum_declaration=enum",
            functions="function_definition=function method_declaration=function",
        ),
        "powershell": _syntax(
            "powershell",
            types="class_statement=class enum_statement=enum",
            functions="function_statement=function class_method_definition=",
        ),
        "python": _syntax("python", types="class_definition=class", functions="function_definition=def", wrappers="decorated_definition"),
        "ruby": _syntax("ruby", types="class=class module=module", functions="method=def singleton_method=def"),
        "rust": _syntax(
            "rust",
            namespaces="mod_item=mod",
            types="impl_item=impl trait_item=trait struct_item=struct enum_item=enum union_item=union",
            functions="function_item=fn function_signature_item=fn macro_definition=macro_rules! type_item=type const_item=const "
            "static_item=static",
            leading="attribute_item",
        ),
        "scala": _syntax(
            "scala",
            types="class_definition=class trait_definition=trait object_definition=object enum_definition=enum",
            functions="function_definition=def function_declaration=def type_definition=type given_definition=given",
        ),
        "sql": _syntax(
            "sql",
            functions="create_table=table create_view=view create_materialized_view=view create_index=index create_function=function "
            "create_procedure=procedure create_trigger=trigger create_type=type create_schema=schema",
        ),
        "starlark": _syntax("starlark", functions="function_definition=def"),
        "swift": _syntax(
            "swift",
            types="class_declaration= protocol_declaration=protocol",
            functions="function_declaration=func protocol_function_declaration=func init_declaration= deinit_declaration= "
            "typealias_declaration=typealias",
        ),
        "typescript": _syntax(
            "typescript:language_typescript",
            "typescript:language_tsx",
            namespaces="internal_module=namespace module=module",
            types="class_declaration=class abstract_class_declaration=class interface_declaration=interface",
            functions=f"{_ECMASCRIPT} public_field_definition= function_signature=function abstract_method_signature= method_signature= "
            "type_alias_declaration=type enum_declaration=enum",
            wrappers="export_statement ambient_declaration",
            leading="decorator",
        ),
        "vhdl": _syntax(
            "vhdl",
            types="entity_declaration=entity architecture_definition=architecture package_declaration=package package_definition=package "
            "configuration_declaration=configuration",
        ),
        "zig": _syntax("zig", types="variable_declaration=", functions="function_declaration=fn test_declaration=test"),
    }
)
