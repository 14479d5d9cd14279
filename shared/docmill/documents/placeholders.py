"""Placeholders: tells a credential that somebody made up, for documentation or as an example, from one that a program made."""

import itertools
import math
import re
from collections import Counter
from typing import Final

#: Made by a program, 16 characters or more of letters and digits have over 3 bits each; less has a pattern.
_LEAST_BITS: Final = 3.0
#: Of the neighbours in a made-up token so many follow each other in the alphabet: ``abcdef``, ``0123``, ``xxxx``.
_MOST_IN_SEQUENCE: Final = 0.6
_WORDS: Final = re.compile(
    r"example|sample|placeholder|redact|your|dummy|fake|changeme|change_me|insert|replace|secret|token|apikey|api_key|password|foobar"
    r"|notreal|not_a_real|invalid|xxxx|\*\*\*|\.\.\.|…"
)
#: Tokens that stand in widely copied documentation, without what all of their kind begin with.
_KNOWN: Final = frozenset(
    [
        "16C7e42F292c6912E7710c838347Ae178B4a",
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    ]
)

_NO_PASSWORD: Final = re.compile(r"\$[A-Za-z({]|\$\{|\{|<|\[|%[a-z(]\b|%\(|\*\*|\.\.\.|…|[A-Z_]+\Z|x+\Z", re.ASCII)
_PASSWORD_WORDS: Final = re.compile(
    r"pass(?:word|wort|wd|phrase)?|pwd|secret|example|sample|change(?:me|it)?|placeholder|your|test(?:ing)?|demo|dummy|fake|admin"
    r"|root|guest|user(?:name)?|postgres|mysql|mongo|redis|rabbit(?:mq)?|foo|bar|hunter|letmein|qwerty|welcome|default|token|key|my|the"
    r"|db|local|dev"
)
_LEAST_PASSWORD: Final = 6
_LEAST_BESIDE_WORDS: Final = 5
_LEAST_PASSWORD_BITS: Final = 2.5


def is_made_up(token: str) -> bool:
    """Whether the part of a token that should be random (16 characters or more) is not."""
    if token in _KNOWN or _WORDS.search(token.lower()):
        return True
    return bits_per_character(token) < _LEAST_BITS or _in_sequence(token.lower()) > _MOST_IN_SEQUENCE


def is_made_up_password(password: str, user: str) -> bool:
    """Whether a password only shows where one belongs, or is one that everybody tries first: a variable, ``password``, ``test123``."""
    lower = password.lower()
    if len(password) < _LEAST_PASSWORD or lower == user.lower() or _NO_PASSWORD.match(password):
        return True
    beside_words = _PASSWORD_WORDS.sub("", lower)
    if len(beside_words) < _LEAST_BESIDE_WORDS:
        return True
    return bits_per_character(password) < _LEAST_PASSWORD_BITS or _in_sequence(beside_words) > _MOST_IN_SEQUENCE


def bits_per_character(text: str) -> float:
    """Shannon's entropy of the characters of ``text``, in bits (Shannon 1948, section 6); 0 for an empty one."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def _in_sequence(text: str) -> float:
    """The share of characters that are the one before, or its neighbour in the alphabet."""
    steps = [abs(ord(after) - ord(before)) <= 1 for before, after in itertools.pairwise(text)]
    return sum(steps) / len(steps) if steps else 1.0
