"""Shortens data that is written in texts, such as images in base 64: nobody searches for it."""

import re
from typing import Final

_INLINE: Final = re.compile(r"(data:[\w.+/-]{1,100}(?:;[\w=.-]{1,40}){0,3};base64,)[A-Za-z0-9+/=_-]{200,}")
_FEWEST: Final = 1000
_RUN: Final = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_FEWEST},}}={{0,2}}")
_KEPT: Final = 40


def shortened(text: str) -> str:
    """The text with the data in links and long runs of base 64 cut down to their beginning and ``…``; no line is added or removed."""
    if "base64," in text:
        text = _INLINE.sub(r"\1…", text)
    return _RUN.sub(_cut, text) if len(text) >= _FEWEST else text


def _cut(match: re.Match[str]) -> str:
    run = match[0]
    sample = run[:_FEWEST]
    is_data = any(map(str.isdigit, sample)) and any(map(str.isupper, sample)) and any(map(str.islower, sample))
    return f"{run[:_KEPT]}…" if is_data else run
