"""The environment of children: what an interpreter needs to start, and nothing that anybody keeps secret."""

from collections.abc import Mapping
from typing import Final

_OF_SYSTEM: Final = frozenset(["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"])
_OF_PYTHON: Final = frozenset(
    ["PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"]
)


def environment_of_children(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of ``environ`` that children get: no keys of providers, no URLs of servers, which may hold passwords."""
    return {name: value for name, value in environ.items() if name in _OF_SYSTEM or name in _OF_PYTHON or name.startswith("LC_")}
