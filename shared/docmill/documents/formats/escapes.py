"""Letters that data writes as escapes, such as ``\\u00fc``: whoever searches types the letter."""

import json
import re
import unicodedata
from typing import Final

#: Several in a row, after a backslash or a pair of them only if those stand for backslashes themselves.
_ESCAPES: Final = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9A-Fa-f]{4})+)")
#: Controls, what breaks lines, halves of pairs, and what is no character.
_KEPT: Final = frozenset({"Cc", "Zl", "Zp", "Cs", "Co", "Cn"})
_SYNTAX: Final = frozenset("\"'\\")


def with_letters(text: str) -> str:
    """The text with letters in place of their escapes; what would change its syntax or its lines stays escaped."""
    return _ESCAPES.sub(_letters, text) if "\\u" in text else text


def _letters(match: re.Match[str]) -> str:
    letters: str = json.loads(f'"{match[2]}"')
    return match[1] + "".join(map(_shown, letters))


def _shown(letter: str) -> str:
    if letter not in _SYNTAX and unicodedata.category(letter) not in _KEPT:
        return letter
    return json.dumps(letter)[1:-1] if letter > "\U0000ffff" else f"\\u{ord(letter):04x}"
