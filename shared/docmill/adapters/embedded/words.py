"""Text analysis for BM25: the words of a text, before lower-casing and stemming, which the engine does.

Documents and queries go through the same steps:

- accents and compatibility forms are folded (``café`` is ``cafe``, full-width letters are plain ones);
- text splits into runs of letters and digits;
- a compound (``snake_case``, ``asyncio.TaskGroup``, ``foo-bar.md``, a GUID) is a word too, besides its parts;
- ``getUserName`` is a word and so are ``get``, ``User`` and ``Name``; ``sha256`` is a word and so are ``sha`` and ``256``;
- scripts written without spaces give each of their characters and each pair of neighbours (``日本語``: 日, 日本, 本, 本語, 語).
"""

import re
import unicodedata
from typing import Final

#: Longer words are data (base64, minified code), not language; they are left out.
MAX_WORD_CHARACTERS: Final = 256

_ASCII: Final = [chr(code) for code in range(128)]
_SEPARATORS: Final = str.maketrans({c: " " for c in _ASCII if not c.isalnum()})
#: What may stand within a compound or end one (``C++``, ``F#``) is kept.
_BREAKS: Final = str.maketrans({c: " " for c in _ASCII if not c.isalnum() and c not in "._-:+#"})
_COMPOUND: Final = re.compile(r"\w+(?:(?:[.\-]|::)\w+)*(?:\+\+|#)?")
_CAMEL_CASE: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|^[A-Za-z]{2,}[0-9]+$")
_HUMP: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PART: Final = re.compile(r"[^\W_]+")
_ACCENT: Final = re.compile("[\u0300-\u036f]+")
#: Letters that have no decomposition, and the punctuation of good typography, which else would keep a text from the fast path.
_PLAIN_FORMS: Final = tuple(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"}.items()
) + tuple((mark, " ") for mark in "‘’“”„–—…•·«»→×")
#: Vowel signs and tone marks belong to words, though ``\w`` does not match them: Hebrew, Arabic, Indic, Thai, Lao, Myanmar, Khmer.
_MARKS: Final = (
    "\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b6-\u17d3"
)
_NOT_WORD: Final = re.compile(rf"(?:_|[^\w{_MARKS}])+")
#: Han, kana, Hangul, Thai, Lao, Myanmar, Khmer: what is written without spaces, or with spaces between phrases.
_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_LETTER_WITH_MARKS: Final = re.compile(f".[{_MARKS}]*")


def words_of(text: str) -> list[str]:
    """The words of ``text``, each at most ``MAX_WORD_CHARACTERS`` long; compounds and their humps come last."""
    return words_in(terms_text(text))


def words_in(terms: str) -> list[str]:
    """The words that ``terms_text`` gave, without those that are too long."""
    return [word for word in terms.split() if len(word) <= MAX_WORD_CHARACTERS]


def terms_text(text: str) -> str:
    """The words of ``text``, separated by spaces; also those that are too long."""
    if not text.isascii():
        text = _folded(text)
    if text.isascii():
        plain = text.translate(_SEPARATORS)
    else:
        plain = " ".join([_NOT_WORD.sub(" ", _RUN.sub(" ", text)), *map(_pairs, _RUN.findall(text))])
        text = text.encode("ascii", "replace").decode()
    extra: list[str] = []
    for raw in text.translate(_BREAKS).split():
        if not raw.isalpha() or not (raw.islower() or raw[1:].islower()):
            bare = raw.strip(".-:")
            if not bare.isalpha() or not (bare.islower() or bare[1:].islower() or bare.isupper()):
                _add_parts(bare, extra)
    return f"{plain} {' '.join(extra)}" if extra else plain


def _add_parts(raw: str, extra: list[str]) -> None:
    """Adds what the plain split of ``raw`` does not give: whole compounds, humps, letters apart from digits."""
    for compound in _COMPOUND.findall(raw):
        if not compound.isalnum():
            extra.append(compound)
        if not compound.islower() or not compound.isalpha():
            for part in _PART.findall(compound):
                if _CAMEL_CASE.search(part):
                    extra += [hump for hump in _HUMP.findall(part) if len(hump) > 1 or hump.isdigit()]


def _folded(text: str) -> str:
    """``text`` without accents and compatibility forms; case stays."""
    text = _ACCENT.sub("", unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text)))
    for letter, plain in _PLAIN_FORMS:
        text = text.replace(letter, plain)
    return unicodedata.normalize("NFC", text)


def _pairs(run: str) -> str:
    """The characters and the pairs of neighbours of a run, spaced; marks stay with their letter."""
    letters = _LETTER_WITH_MARKS.findall(run) if run < "\u2000" else list(run)
    return " ".join([*letters, *map(str.__add__, letters, letters[1:])])
