"""Grapheme clusters by the rules of Unicode Standard Annex 29; ``÷`` marks where a text may be cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.chunking.graphemes import cut_at_or_after, cut_at_or_before

MAY_CUT = "÷"
CASES = {
    "GB3 a line break of two characters": "a÷\r\n÷b",
    "GB4 nothing joins a control": "\u0001÷\u0308÷a",
    "GB5 a control joins nothing": "a÷\u0001÷\n÷\u0308",
    "GB6 leading consonants, vowels, syllables": "\u1100\u1100\u1161÷\u1100\uac00÷\u1100\uac01",
    "GB7 vowels and trailing consonants": "\uac00\u1161\u11a8÷\u1160\u11a8\u11a8",
    "GB8 a syllable that is closed takes no vowel": "\uac01\u11a8÷\u1161",
    "no trailing consonant after a leading one": "\u1100÷\u11a8",
    "older and longer jamo": "\ua960\ud7b0\ud7cb÷a",
    "GB9 marks and joiners": "e\u0301\u0308÷a\u200d÷\n÷b\ufe0f÷c",
    "GB9 signs that follow": "न\u0940÷ก\u0e33÷ｶ\uff9e÷a",
    "GB9b signs that precede": "\u0600\u0661÷\u06dd\u0661÷\u0600a",
    "GB9c consonants joined by a virama": "क\u094dष÷क\u094d\u200dष÷क\u093c\u094dत÷कत".replace("कत", "क÷त"),
    "GB9c of other scripts": "ক\u09cdষ÷ക\u0d4dക÷క\u0c4dష",
    "GB11 joined pictures": "👩\u200d👩\u200d👧\u200d👦÷🏳\ufe0f\u200d🌈÷👍🏽÷👍",
    "GB12 flags": "🇩🇪÷🇫🇷÷🇯",
    "tags": "🏴\U000e0067\U000e0062\U000e007f÷a",
    "words": "a÷b÷ ÷c",
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_cluster_is_not_parted_and_two_are(case: str) -> None:
    parts = case.split(MAY_CUT)
    text, ends = "".join(parts), {sum(map(len, parts[:number])) for number in range(1, len(parts) + 1)}
    allowed = {place for place in range(1, len(text) + 1) if cut_at_or_before(text, place, 0) == place and place in _reached(text)}
    assert allowed == ends


def _reached(text: str) -> set[int]:
    """Every place at which a cut was asked for and given, going forward."""
    places, place = set(), 0
    while place < len(text):
        place = cut_at_or_after(text, place + 1, len(text), place)
        places.add(place)
    return places


@given(st.text(st.sampled_from("a\u0301\u200d👩🇩🇪\u1100\u1161\uac00क\u094d\r\n\u0600"), max_size=30), st.integers(1, 30))
def test_going_back_and_going_forward_find_the_same_places(text: str, position: int) -> None:
    position = min(position, len(text))
    found = cut_at_or_before(text, position, 0)
    if found != position:
        assert cut_at_or_after(text, found + 1, position, 0) == position or found + 1 == position
    assert 0 <= found <= position
