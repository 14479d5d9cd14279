"""How likely a text is in the languages that a code page was made for: the bits that its characters beyond ASCII take.

The fewer bits, the likelier; texts that the same bytes are in different encodings can be compared. The shares of letters are rough: they
fall by a constant factor from the most frequent letter of a language to its rarest.
"""

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

#: The letters beyond ASCII of each language, the most frequent first.
_LETTERS: Final = {
    "ca": "àéóèíçòúïü",
    "cs": "áíéěřčýžšůúďťňó",
    "da": "åøæé",
    "de": "üäößé",
    "en": "éïèöçêñü",
    "eo": "ĉĝŭŝĵĥ",
    "es": "óáíéñúü",
    "et": "äõüöšž",
    "fi": "äöåéš",
    "fr": "éèàêçùâîôûëïœæ",
    "hr": "čšžćđ",
    "hu": "éáőóöüíúű",
    "is": "ðáíóþæöéúý",
    "it": "àèùìòéî",
    "lt": "ėščųįžąęū",
    "lv": "āīēšūņļžķģč",
    "pl": "łęąóśżćńź",
    "pt": "ãçáéíóêõâúàôü",
    "ro": "ăîţâşțș",
    "sk": "áíéčžýšúľťôňďäóŕĺ",
    "sv": "äåöé",
    "tr": "ıişüçğöâî",
    "ru": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "uk": "оанивіертлскдумпьязйгбчхїєюцжшщфґ",
    "bg": "аоиентрсвлкпдмзяъубгчжйщцхшфюь",
    "sr": "аиоенрстјкувлпмдзбгшцчжљњћхђфџ",
    "el": "αοιετσνηυρπκμλςόίάέήωδγχθύφβώξζψϊϋΐΰ",
    "he": "יוהלאתרבםמשנדחקעפטגסכזןצךץף",
    "ar": "اليمنوترهبةعدفسكقأحجشصىخطزذإضئثآغءظؤپچژگیک",
    "th": "านรอกเงมยวลดท่สตะปบ้คหแจพชขใไโผถซณธศฐภษญฉฝฤฎฏฒฆฬำิีึืุูเ็์ๆฯ",
}
#: The most frequent Chinese characters, Korean syllables and punctuation.
_HANZI: Final = "的一是不了在人有我他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生会行动文件请用户数据系统"
_HANZI_TRADITIONAL: Final = "的一是不了在人有我他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生會行動文件請使用者資料系統"
_KANJI: Final = "日本語人大年会国中一出上生時行用文書検索説明東京"
_HANGUL: Final = "이다는을의에고가하지를은한도로사시어기대니자"
_EAST_ASIAN_PUNCTUATION: Final = "、。，・：；？！「」『』（）《》〈〉【】“”‘’…—ー\u3000"

#: Other characters that any text may have, when no letters are on both sides of them.
_PUNCTUATION: Final = "“”‘’„‚«»‹›–—…•·°§©®™€£¿¡µºª²³±×\u00a0\u00ad№"
_IN_WORDS: Final = "’·\u00ad"
_PUNCTUATION_SHARE: Final = 0.02
_SYMBOL_SHARE: Final = 5e-4
_BOX_SHARE: Final = 0.02
_LINE_SHARE: Final = 0.1
_STRANGE_LETTER_SHARE: Final = 2e-4
_INSIDE_WORD_SHARE: Final = 3e-5
_CONTROL_SHARE: Final = 1e-7
#: A capital at the beginning of a word, among capitals, and after or before a small letter inside a word.
_CAPITAL: Final = 0.08
_AMONG_CAPITALS: Final = 0.25
_CAPITAL_INSIDE_WORD: Final = 0.005
#: A letter that is a word by itself.
_ALONE: Final = 0.03
_ALONE_ELSEWHERE: Final = 0.3
_BESIDE_SYMBOL: Final = 0.1
#: In alphabets that hold ASCII's letters, several letters beyond it are rarely next to each other; in others ASCII's letters are.
_UNUSUAL_NEIGHBOUR: Final = 0.2
_WRONG_NEIGHBOUR: Final = 0.01

#: A character, and what is before and after it: each one of the kinds below.
_Place = tuple[str, str, str]
_SMALL, _CAP, _FOREIGN_SMALL, _FOREIGN_CAP, _SYMBOL, _NOTHING = "aAbBs "


def bits(text: str, language: str) -> float:
    """The bits of the characters of ``text`` that are not ASCII, if it is written in ``language``."""
    return bits_of_places(places_in(text), language)


def places_in(text: str) -> "Counter[_Place]":
    """Those characters of ``text`` that are not ASCII, with what is beside them."""
    return Counter(_places(text))


def bits_of_places(places: "Counter[_Place]", language: str) -> float:
    """``bits`` of the characters that ``places_in`` found."""
    shares = _shares(language)
    return -sum(count * math.log2(_share(place, shares)) for place, count in places.items())


def _places(text: str) -> Iterator[_Place]:
    before = _NOTHING
    for place, character in enumerate(text):
        if character > "\x7f":
            yield character, before, _kind_of(text[place + 1 : place + 2])
        before = _kind_of(character)


@lru_cache(maxsize=4096)
def _kind_of(character: str) -> str:
    if character.isalpha():
        if character < "\x80":
            return _CAP if character.isupper() else _SMALL
        return _FOREIGN_CAP if character.isupper() else _FOREIGN_SMALL
    return _SYMBOL if character > "\x7f" else _NOTHING


def _share(place: _Place, shares: dict[str, float]) -> float:
    character, before, after = place
    small = character if character in shares else character.lower()
    share = shares.get(small)
    sides = before + after
    if share is not None:
        return share * _letter_factor(small != character, before, after, latin="a" in shares)
    inside = before in "aAbB" and after in "aAbB"
    if character in _PUNCTUATION:
        if inside and character not in _IN_WORDS:
            return _INSIDE_WORD_SHARE
        return _PUNCTUATION_SHARE * (_BESIDE_SYMBOL if _SYMBOL in sides else 1.0)
    if "\u2500" <= character <= "\u259f":
        return _INSIDE_WORD_SHARE if sides.strip(" s") else _box_share(character)
    if character == "\ufffd" or "\x80" <= character <= "\x9f" or "\ue000" <= character <= "\uf8ff":
        return _CONTROL_SHARE
    if character.isalpha():
        return _STRANGE_LETTER_SHARE * (0.1 if inside and character.isupper() else 1.0)
    return _INSIDE_WORD_SHARE if inside else _SYMBOL_SHARE


def _letter_factor(capital: bool, before: str, after: str, *, latin: bool) -> float:
    factor = 1.0
    sides = before + after
    if capital:
        if before in "ab" or (before in "AB" and after in "ab"):
            factor = _CAPITAL_INSIDE_WORD
        else:
            factor = _AMONG_CAPITALS if before in "AB" or after in "AB" else _CAPITAL
    elif after in "AB":
        factor = _CAPITAL_INSIDE_WORD
    if sides.strip(" s") == "":
        factor *= _ALONE if latin else _ALONE_ELSEWHERE
    if _SYMBOL in sides:
        factor *= _BESIDE_SYMBOL if latin else _UNUSUAL_NEIGHBOUR
    if latin:
        return factor * (_UNUSUAL_NEIGHBOUR if "b" in sides.lower() else 1.0)
    return factor * (_WRONG_NEIGHBOUR if "a" in sides.lower() else 1.0)


def _box_share(character: str) -> float:
    return _LINE_SHARE if character in "─│═║░█" else _BOX_SHARE


@cache
def _shares(language: str) -> dict[str, float]:
    """The shares of the small letters; ``a`` is among them, without a share, when the alphabet holds ASCII's letters."""
    letters = _LETTERS[language]
    steepness = max(2.0, len(letters) / 3.5)
    weights = {letter: math.exp(-rank / steepness) for rank, letter in enumerate(letters)}
    whole = sum(weights.values()) / 0.95
    shares = {letter: weight / whole for letter, weight in weights.items()}
    return shares | {"a": 0.0} if letters[0] < "\u0370" else shares


def east_asian_bits(text: str, encoding: str) -> float:
    """The bits of the characters of ``text`` that are not ASCII, if it is in the language that ``encoding`` was made for."""
    shares = _east_asian_shares(encoding)
    total = 0.0
    before = " "
    for character in text:
        if character > "\x7f":
            share = shares.get(character) or _east_asian_share(character, encoding)
            total -= math.log2(share * (0.05 if before < "\x80" and before.isalpha() and character.isalpha() else 1.0))
        before = character
    return total


@cache
def _east_asian_shares(encoding: str) -> dict[str, float]:
    frequent = {"gb18030": _HANZI, "big5": _HANZI_TRADITIONAL, "cp949": _HANGUL, "cp932": _KANJI, "euc_jp": _KANJI}.get(encoding, "")
    weight = 0.1 if encoding in ("cp932", "euc_jp") else 0.3
    shares = {character: weight / len(frequent) for character in frequent}
    return shares | dict.fromkeys(_EAST_ASIAN_PUNCTUATION, 0.004)


def _east_asian_share(character: str, encoding: str) -> float:
    if encoding in ("cp932", "euc_jp"):
        if "\u3041" <= character <= "\u30fe":
            return 0.6 / 100
        return 0.25 / 3000 if _is_common(character, "shift_jis", 0x88, 0x97) else 1e-6
    if encoding == "cp949":
        return 0.65 / 1500 if _is_common(character, "euc_kr", 0xB0, 0xC8) else 1e-6
    if encoding == "big5":
        return 0.65 / 5000 if _is_common(character, "big5", 0xA4, 0xC6) else 2e-6
    return 0.65 / 3755 if _is_common(character, "gb2312", 0xB0, 0xD7) else 1e-6


def _is_common(character: str, ordered: str, first: int, last: int) -> bool:
    """Whether it is among the characters that come first in an encoding in which common ones do."""
    encoded = character.encode(ordered, "ignore")
    return len(encoded) == 2 and first <= encoded[0] <= last
