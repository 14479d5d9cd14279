"""Glob patterns of ignore files and roots as regular expressions over single entries.

They mean exactly what they mean to git (wildmatch.c, and match_pathname in dir.c). The libraries for ignore files differ from it in named
classes, in brackets that are never closed, in escapes, and in ``**`` beside other characters. A file is matched by its path, a folder by
its path with a ``/`` at the end.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_SLASH: Final = 0x2F
_WILD: Final = re.compile(rb"[*?\[\\]")
_STARS: Final = re.compile(rb"\*+")
#: Which ASCII characters are in a class; space is what git takes for it, without form feed and vertical tab.
_CLASSES: Final[dict[bytes, Callable[[int], bool]]] = {
    b"alnum": lambda char: chr(char).isalnum(),
    b"alpha": lambda char: chr(char).isalpha(),
    b"blank": lambda char: char in b" \t",
    b"cntrl": lambda char: char < 0x20 or char == 0x7F,
    b"digit": lambda char: char in b"0123456789",
    b"graph": lambda char: 0x20 < char < 0x7F,
    b"lower": lambda char: chr(char).islower(),
    b"print": lambda char: 0x20 <= char < 0x7F,
    b"punct": lambda char: 0x20 < char < 0x7F and not chr(char).isalnum(),
    b"space": lambda char: char in b" \t\n\r",
    b"upper": lambda char: chr(char).isupper(),
    b"xdigit": lambda char: char in b"0123456789abcdefABCDEF",
}


class _Malformed(Exception):
    """The pattern matches nothing."""


def entry_regex(pattern: bytes) -> bytes | None:
    """The regular expression for one entry of a gitignore pattern that is taken as anchored; for ``compiled``.

    Args:
        pattern: without a leading ``!`` or ``/``; a ``/`` at its end means folders only.

    Returns:
        None for a pattern that matches nothing: an empty or a malformed one.
    """
    body = pattern.removesuffix(b"/")
    # What is before the first wildcard is compared first, so that "a**/b" goes on as "**/b" does.
    wild = _WILD.search(body)
    fixed = body if wild is None else body[: wild.start()]
    try:
        regex = re.escape(fixed) + b"".join(_translated(body[len(fixed) :]))
    except _Malformed:
        return None
    if not body:
        return None
    return b"(?:" + regex + (b")(?<!/)/" if body != pattern else b")(?<!/)/?")


def compiled(regexes: Iterable[bytes]) -> re.Pattern[bytes]:
    """One expression whose ``match`` finds entries that match any of ``regexes``, wholly."""
    return re.compile(rb"(?:%s)\Z" % b"|".join(rb"(?:%s)" % regex for regex in regexes), re.DOTALL)


def _translated(pattern: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(pattern):
        char = pattern[place : place + 1]
        if char == b"*":
            stars = _STARS.match(pattern, place)
            assert stars is not None
            is_segment = place == 0 or pattern[place - 1] == _SLASH
            place = stars.end()
            if len(stars[0]) == 1 or not is_segment or not (place == len(pattern) or pattern.startswith((b"/", b"\\/"), place)):
                yield b"[^/]*"
            elif place == len(pattern) or pattern[place] != _SLASH:
                yield b".*"
            else:
                yield b"(?:.*/)?"
                place += 1
        elif char == b"?":
            yield b"[^/]"
            place += 1
        elif char == b"[":
            members, place = _bracket(pattern, place + 1)
            yield b"[" + b"".join(b"\\x%02x" % member for member in sorted(members)) + b"]" if members else b"(?!)"
        else:
            place += char == b"\\"
            if place == len(pattern):
                raise _Malformed
            yield re.escape(pattern[place : place + 1])
            place += 1


def _bracket(pattern: bytes, place: int) -> tuple[set[int], int]:
    """The bytes that a bracket expression matches, and where it ends; ``place`` is after its ``[``."""
    is_negated = pattern.startswith((b"!", b"^"), place)
    place += is_negated
    members: set[int] = set()
    before: int | None = None
    is_first = True
    while is_first or not pattern.startswith(b"]", place):
        is_first = False
        if pattern.startswith(b"-", place) and before is not None and pattern[place + 1 : place + 2] not in (b"", b"]"):
            last, place = _char(pattern, place + 1)
            members.update(range(before, last + 1))
            before = None
        elif pattern.startswith(b"[:", place) and (found := _class(pattern, place + 2)) is not None:
            named, place = found
            members |= named
            before = None
        else:
            before, place = _char(pattern, place)
            members.add(before)
    if is_negated:
        members = set(range(256)) - members
    return members - {_SLASH}, place + 1


def _char(pattern: bytes, place: int) -> tuple[int, int]:
    place += pattern.startswith(b"\\", place)
    if place >= len(pattern):
        raise _Malformed
    return pattern[place], place + 1


def _class(pattern: bytes, place: int) -> tuple[set[int], int] | None:
    """The members of a named class, and where it ends; None where ``[:`` begins none."""
    end = pattern.find(b"]", place)
    if end < 0:
        raise _Malformed
    if end == place or pattern[end - 1 : end] != b":":
        return None
    name = pattern[place : end - 1]
    if name not in _CLASSES:
        raise _Malformed
    return {char for char in range(128) if _CLASSES[name](char)}, end + 1
