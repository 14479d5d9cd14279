"""Checks a section of the YAML against its raw model, and goes on with what is right in it."""

import copy
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from docmill.config.problems import Problems
from docmill.config.schema import RawSection
from docmill.config.wording import model_at, not_a, sentence_of, unknown_key
from docmill.config.yaml_source import YamlPath, YamlValue

Section = TypeVar("Section", bound=RawSection)

#: Values of these keys may be secrets that somebody put where the name of a variable belongs.
_NEVER_SHOWN = frozenset({"token_key", "base_url"})


def read_section(model: type[Section], data: YamlValue, path: YamlPath, problems: Problems) -> Section:
    """``data`` as ``model``. What is wrong in it is reported under ``path`` and read as if it were not there."""
    if not isinstance(data, dict):
        problems.error(path, not_a("a mapping", data))
        return model()
    remaining = copy.deepcopy(data)
    while True:
        try:
            return model.model_validate(remaining)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                below = _path_in(data, detail["loc"])
                _report(detail, (*path, *below), model, problems)
                _remove(remaining, below, detail["type"])


def _report(detail: ErrorDetails, path: YamlPath, model: type[RawSection], problems: Problems) -> None:
    if detail["type"] == "extra_forbidden":
        problems.error(path, unknown_key(path, model_at(model, detail["loc"][:-1])), at_key=True)
    elif path[-1] in _NEVER_SHOWN:
        problems.error(path, "must be text; its value is not shown, since it may be a secret")
    else:
        problems.error(path, sentence_of(detail))


def _path_in(data: YamlValue, location: tuple[str | int, ...]) -> YamlPath:
    """A pydantic location without the steps that pydantic adds for the members of a union."""
    path: YamlPath = ()
    for step in location:
        if (isinstance(data, dict) and isinstance(step, str) and step in data) or (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            data = data[step]  # type: ignore[index]  # the condition has matched the step with the container
            path = (*path, step)
    return path


def _remove(data: YamlValue, path: YamlPath, kind: str) -> None:
    """Takes the value at ``path`` away; in a list an empty value stays in its place, so that the others keep their indexes."""
    *above, last = path
    for step in above:
        if (isinstance(data, dict) and isinstance(step, str)) or (isinstance(data, list) and isinstance(step, int)):
            data = data.get(step) if isinstance(data, dict) else data[step]  # type: ignore[arg-type,index]
    if isinstance(data, dict) and isinstance(last, str):
        data.pop(last, None)
    elif isinstance(data, list) and isinstance(last, int):
        data[last] = {} if kind.startswith("model") else ""
