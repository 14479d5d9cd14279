"""Says in plain words what pydantic found wrong, and which key was probably meant."""

import difflib
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from docmill.config.schema import RawKnowledgeBase
from docmill.config.yaml_source import YamlPath

_MAX_SHOWN: Final = 60
_MIN_BEGINNING: Final = 3

_KINDS: Final[Mapping[str, str]] = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "`true` or `false`",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}

_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "greater_than": ("greater than", "gt"),
    "less_than": ("less than", "lt"),
}


def sentence_of(error: ErrorDetails) -> str:
    """What is wrong with one value, without its place."""
    kind, context, value = error["type"], error.get("ctx", {}), error.get("input")
    if kind in _KINDS:
        hint = "; put it in quotes" if kind == "string_type" and isinstance(value, bool | int | float) else ""
        return f"{not_a(_KINDS[kind], value)}{hint}"
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"must be {words} {context[key]:g}, not {shown(value)}"
    special = _SPECIAL.get(kind)
    return special(context, value) if special else f"{error['msg']}, not {shown(value)}"


def _enumeration(context: Mapping[str, object], value: object) -> str:
    choices = [choice.strip("'") for choice in str(context["expected"]).replace(" or ", ", ").split(", ")]
    return f"must be one of {listed(choices)}, not {shown(value)}{meant(value, choices)}"


_SPECIAL: Final[Mapping[str, Callable[[Mapping[str, object], object], str]]] = {
    "enum": _enumeration,
    "value_error": lambda context, value: str(context["error"]),
    "string_pattern_mismatch": lambda context, value: f"must match `{context['pattern']}`, which {shown(value)} does not",
    "too_short": lambda context, value: "must not be empty",
    "too_long": lambda context, value: f"must not have more than {context['max_length']} entries",
}


def shown(value: object) -> str:
    """A value for a message: short, and only the kind of a list or a mapping."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    text = str(value)
    return f"`{text}`" if len(text) <= _MAX_SHOWN else f"`{text[:_MAX_SHOWN]}...`"


def not_a(kind: str, value: object) -> str:
    """That ``value`` is of another kind than it must be."""
    return f"must be {kind}, not {'the text ' if isinstance(value, str) else ''}{shown(value)}"


def listed(choices: Iterable[str]) -> str:
    """Choices as they are listed in a message."""
    return ", ".join(f"`{choice}`" for choice in choices)


def meant(value: object, choices: Iterable[str]) -> str:
    """`` (did you mean `x`?)`` for the choice that is near ``value``; nothing when none is."""
    forms = {_form(choice): choice for choice in choices}
    form = _form(str(value)[:_MAX_SHOWN])
    near = difflib.get_close_matches(form, forms, n=1, cutoff=0.6)
    if not near and len(form) >= _MIN_BEGINNING:
        near = [other for other in forms if other.startswith(form)][:1]
    return f" (did you mean `{forms[near[0]]}`?)" if near else ""


def _form(text: str) -> str:
    return text.lower().replace("_", "-")


def unknown_key(path: YamlPath, model: type[BaseModel]) -> str:
    """What to say of a key of ``model`` that does not exist: the nearest that does, or where the key belongs."""
    key = str(path[-1])
    near = meant(key, model.model_fields)
    if key in _HOMES:
        return f"this key is not known here{near}; it belongs in {listed(_HOMES[key])}"
    return f"this key is not known{near}" if near else f"this key is not known; known are {listed(model.model_fields)}"


def model_at(root: type[BaseModel], location: Iterable[str | int]) -> type[BaseModel]:
    """The model of the mapping at a pydantic error's location below ``root``."""
    model = root
    for step in location:
        if isinstance(step, str) and step in model.model_fields:
            model = _model_in(model.model_fields[step].annotation) or model
    return model


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    return next((model for part in typing.get_args(annotation) if (model := _model_in(part))), None)


def _homes(model: type[BaseModel], place: str) -> Iterable[tuple[str, str]]:
    for key, field in model.model_fields.items():
        yield key, place
        inner = _model_in(field.annotation)
        if inner is not None:
            yield from _homes(inner, f"{place}.{key}" if place else key)


def _places_of_keys() -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for key, place in _homes(RawKnowledgeBase, ""):
        places.setdefault(key, []).append(place or "the knowledge base")
    return places


#: In which mappings of a knowledge base each key may stand.
_HOMES: Final[Mapping[str, list[str]]] = _places_of_keys()
