"""How much a provider takes: bounds on tokens, texts cut into windows that fit, and requests filled up to their limits."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

_CHEAP: Final = frozenset("abcdefghijklmnopqrstuvwxyz ")
_CHEAP_RUN: Final = re.compile(rb"[a-z ]+")
#: In tenths of a token: a lower-case letter or a space, each unbroken run of them, and any other byte of UTF-8.
_CHEAP_TENTHS: Final = 7
_RUN_TENTHS: Final = 3
_BYTE_TENTHS: Final = 10
#: What a model puts around each text.
_FRAME_TOKENS: Final = 4
#: How far back a window's end looks for white space: a part of its length.
_LOOK_BACK: Final = 8


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What one request may hold; None where nothing is known.

    Attributes:
        text_tokens: of one text.
        request_tokens: of all texts of one request together.
        request_texts: how many texts one request has at most.
    """

    text_tokens: int | None = None
    request_tokens: int | None = None
    request_texts: int | None = None


#: By the reference of a model, the first that matches; from the providers' documentation.
_LIMITS: Final = (
    (re.compile(r"openai/text-embedding-"), ModelLimits(8191, 300_000, 2048)),
    (re.compile(r"google/.*embedding-2"), ModelLimits(8192, None, 100)),
    (re.compile(r"google/"), ModelLimits(2048, None, 100)),
    (re.compile(r"mistral/"), ModelLimits(8192, 16_000, 256)),
    (re.compile(r"voyage/.*lite"), ModelLimits(32_000, 1_000_000, 1000)),
    (re.compile(r"voyage/voyage-(3\.5|4)$"), ModelLimits(32_000, 320_000, 1000)),
    (re.compile(r"voyage/voyage-(large|law|code)-2"), ModelLimits(16_000, 120_000, 1000)),
    (re.compile(r"voyage/voyage-2"), ModelLimits(4_000, 320_000, 1000)),
    (re.compile(r"voyage/"), ModelLimits(32_000, 120_000, 1000)),
    (re.compile(r"cohere/embed-v4"), ModelLimits(128_000, None, 96)),
    (re.compile(r"cohere/"), ModelLimits(512, None, 96)),
    (re.compile(r".*nomic-embed-text"), ModelLimits(2048)),
    (re.compile(r".*embedding-?gemma"), ModelLimits(2048)),
    (re.compile(r".*(mxbai-embed-large|bge-(small|base|large)|e5-(small|base|large)(?!.*instruct))"), ModelLimits(512)),
)


def limits_of(model: str) -> ModelLimits:
    """What a model takes; ``model`` is ``provider/model``."""
    return next((limits for pattern, limits in _LIMITS if pattern.match(model)), ModelLimits())


def most_tokens(text: str) -> int:
    """A number of tokens that ``text`` does not exceed, whichever tokenizer the model has.

    A token of a byte-level or byte-falling-back tokenizer stands for at least one byte of UTF-8, so that a character costs at most as
    many tokens as it has bytes: 3 for Chinese, Japanese and Korean, of which real texts use .8 to 1.4 and rare characters all. Only
    lower-case letters and spaces are taken for less, since no tokenizer spells a run of them out: 0.7 each and 0.3 a run. English costs
    .19 a character; random letters cost .52 (o200k), .54 (cl100k), .60 (Llama 2), .55 (WordPiece). Measured for prose in five scripts,
    code, lock files, base64, hexadecimal digits, CSV, random CJK, Hangul, Thai and emoji.
    """
    written = text.encode()
    runs = _CHEAP_RUN.findall(written)
    cheap = sum(map(len, runs))
    tenths = _RUN_TENTHS * len(runs) + _CHEAP_TENTHS * cheap + _BYTE_TENTHS * (len(written) - cheap)
    return _FRAME_TOKENS + -(-tenths // 10)


def _surely_at_most(text: str) -> int:
    """No less than ``most_tokens``, and quickly found: no byte costs more than one."""
    return _FRAME_TOKENS + len(text.encode())


def windows_of(text: str, limit: int | None) -> list[str]:
    """``text`` in the fewest windows of about equal length that surely have at most ``limit`` tokens; itself where it has.

    They are cut at white space where there is some near; together they are ``text``.
    """
    if limit is None or _surely_at_most(text) <= limit or most_tokens(text) <= limit:
        return [text]
    costs = [0, *accumulate(map(_tenths, text, " " + text))]
    # A window may begin inside a run.
    room = max(10 * _BYTE_TENTHS, 10 * (limit - _FRAME_TOKENS) - _RUN_TENTHS)
    target = -(-costs[-1] // -(-costs[-1] // room))
    windows = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and costs[end + 1] - costs[start] <= target:
            end += 1
        if end < len(text):
            end = _after_white_space(text, end - (end - start) // _LOOK_BACK, end)
        windows.append(text[start:end])
        start = end
    return windows


def requests_of(texts: Sequence[str], limits: ModelLimits, *, most_texts: int) -> Iterator[range]:
    """The places of ``texts`` in requests, in order, each as full as ``limits`` and ``most_texts`` allow.

    A text that is over the limit of a request by itself is sent alone: the provider has the last word.
    """
    most = min(most_texts, limits.request_texts or most_texts)
    if 0 < len(texts) <= most and (limits.request_tokens is None or sum(map(_surely_at_most, texts)) <= limits.request_tokens):
        yield range(len(texts))
        return
    start = tokens = 0
    for place, text in enumerate(texts):
        cost = most_tokens(text)
        is_full = place - start == most or (limits.request_tokens is not None and tokens + cost > limits.request_tokens)
        if is_full and place > start:
            yield range(start, place)
            start, tokens = place, 0
        tokens += cost
    if start < len(texts):
        yield range(start, len(texts))


def _tenths(character: str, before: str) -> int:
    if character in _CHEAP:
        return _CHEAP_TENTHS if before in _CHEAP else _CHEAP_TENTHS + _RUN_TENTHS
    code = ord(character)
    return _BYTE_TENTHS * (1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4)


def _after_white_space(text: str, least: int, end: int) -> int:
    return next((place for place in range(end, least, -1) if text[place - 1].isspace()), end)
