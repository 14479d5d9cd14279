"""Glob patterns of ignore files and roots as regular expressions over single entries.

The translation of a pattern is ``pathspec``'s. Its own matching asks whether a path or one of its parents matches; here a walk has judged
the parents already, and git gives a rule on the entry itself precedence over one on a parent, so patterns are made to match exactly one
entry: a file by its path, a folder by its path with a ``/`` at the end.
"""

import re
import warnings
from collections.abc import Iterable
from typing import Final

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_GROUP_NAME: Final = re.compile(rb"\(\?P<\w+>")
_NEGATED_CLASS: Final = re.compile(rb"\[\^(?![/\]])")
_EVERYTHING: Final = re.compile(rb"(?:\*\*/)*\*\*(?:/\*)?")
_POSIX_CLASSES: Final = {
    b"alnum": b"0-9A-Za-z",
    b"alpha": b"A-Za-z",
    b"blank": b" \t",
    b"digit": b"0-9",
    b"lower": b"a-z",
    b"space": b" \t\n\r\f\v",
    b"upper": b"A-Z",
    b"xdigit": b"0-9A-Fa-f",
}
_POSIX_CLASS: Final = re.compile(rb"\[:(%s):\]" % b"|".join(_POSIX_CLASSES))
#: An escaped character, or a bracket expression as git reads it: its sign, and its content, in which ``\\]`` does not end it.
_ESCAPE_OR_BRACKET: Final = re.compile(rb"\\.|\[([!^]?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]", re.DOTALL)


def entry_regex(pattern: bytes) -> bytes | None:
    """The regular expression for one entry of a gitignore pattern that is taken as anchored; for ``compiled``.

    Args:
        pattern: without a leading ``!`` or ``/``; a ``/`` at its end means folders only.

    Returns:
        None for a pattern that matches nothing: an empty or a malformed one.
    """
    body = pattern.removesuffix(b"/")
    if _EVERYTHING.fullmatch(body):
        return b".+/" if body != pattern else b".+"
    if body.endswith(b"/**"):
        pattern = body + b"/*" + pattern[len(body) :]  # everything in the folder, but not the folder
    if b"[" in pattern:
        pattern = _ESCAPE_OR_BRACKET.sub(_plain_bracket, pattern)
    if pattern[-1:].isspace() and not pattern.endswith(b"\\ "):
        pattern = pattern[:-1] + b"[" + pattern[-1:] + b"]"  # pathspec drops white space at the end; what is left here is meant
    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex(b"/" + pattern)
        if regex is None:
            return None
        regex = _NEGATED_CLASS.sub(b"[^/", _GROUP_NAME.sub(b"(?:", regex))
        compiled([regex])
    except (ValueError, re.error):
        return None
    return regex


def compiled(regexes: Iterable[bytes]) -> re.Pattern[bytes]:
    """One expression whose ``match`` finds entries that match any of ``regexes``, wholly."""
    with warnings.catch_warnings():
        # A "[[" in a pattern is a plain bracket for git; Python warns that it may come to mean something else.
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(rb"(?:%s)\Z" % b"|".join(rb"(?:%s)" % regex for regex in regexes), re.DOTALL)


def _plain_bracket(match: re.Match[bytes]) -> bytes:
    """A bracket expression without named classes and escapes, which pathspec takes literally."""
    if match[2] is None:
        return match[0]
    content = _POSIX_CLASS.sub(lambda named: _POSIX_CLASSES[named[1]], match[2])
    first, last = b"", b""
    for literal in (b"]", b"-"):
        if b"\\" + literal in content:
            content = content.replace(b"\\" + literal, b"")
            first, last = (literal, last) if literal == b"]" else (first, literal)
    content = first + re.sub(rb"\\(.)", rb"\1", content, flags=re.DOTALL) + last
    return b"[" + match[1] + content + b"]"
