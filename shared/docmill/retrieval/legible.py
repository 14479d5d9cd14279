"""Legible: whether a strategy's model can read a query, by the script that the query is written in.

The local models read English. All texts in another script look alike to them: a Chinese question finds whatever is Chinese, which would
displace what BM25 has found. So candidates of such a strategy count only where no other strategy found any.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from docmill.domain.knowledge_bases import StrategySpec
from docmill.domain.searching import Candidate

_LATIN: Final = "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a"
_LATIN_WORD: Final = re.compile(f"[{_LATIN}]+")
_OTHER_LETTER: Final = re.compile(rf"[^\W\d_{_LATIN}]")
#: A word has at least so many letters in scripts of syllables and ideographs, and more in alphabets.
_LETTERS_OF_A_WORD: Final = 2


def legible(candidates: Sequence[Candidate], query: str, strategies: Iterable[StrategySpec]) -> Sequence[Candidate]:
    """Those of strategies whose model can read ``query``; all where none of these found anything.

    Args:
        candidates: of all strategies that were asked.
        query: the text.
        strategies: of the knowledge base.
    """
    unable = {spec.name for spec in strategies if spec.embedding is not None and spec.embedding.reads_latin_only}
    if not unable or is_mostly_latin(query):
        return candidates
    return [candidate for candidate in candidates if candidate.strategy not in unable] or candidates


def is_mostly_latin(text: str) -> bool:
    """Whether at least as many words are in Latin letters as in those of all other scripts; also where there is no word."""
    return text.isascii() or len(_LATIN_WORD.findall(text)) * _LETTERS_OF_A_WORD >= len(_OTHER_LETTER.findall(text))
