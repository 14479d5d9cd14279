"""Whether source code can be cut by its syntax here. An index says how its documents were cut: with the grammars it is another one."""

from importlib.util import find_spec
from typing import Final

WITHOUT_CODE_GRAMMARS: Final = (
    "needs grammars that are not installed: pip install 'docmill[code]'; source code is cut at blank lines and line ends"
)


def has_code_grammars() -> bool:
    """Whether the optional packages of the extra ``code`` are installed."""
    return find_spec("tree_sitter") is not None
