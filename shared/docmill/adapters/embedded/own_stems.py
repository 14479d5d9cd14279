"""Own stems: what a text in another language than English is found by, besides the English stems that every text has.

They are words of a field of their own, each the language's code and the number that the engine's stemmer has for the stem: so a query can
be searched by the stems of every language at once, and a text meets only those of its own.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from qdrant_edge import Bm25, Bm25Config, SnowballLanguage, SnowballParams, StopwordsSet, TokenizerType

from docmill.adapters.embedded.words import words_of
from docmill.adapters.stem_languages import LANGUAGES, query_languages

_CODES: Final = {language: code for code, language in LANGUAGES.items()}
_STEMMERS: Final = {
    language: Bm25(
        Bm25Config(
            tokenizer=TokenizerType.Whitespace,
            stopwords=StopwordsSet(custom=set()),
            stemmer=SnowballParams(getattr(SnowballLanguage, language.capitalize())),
        )
    )
    for language in _CODES
}


def own_stems(words: Sequence[str], language: str) -> list[str]:
    """The stem of each of ``words`` in ``language``, one of ``LANGUAGES``."""
    return [_own_stem(word, language) for word in words]


def own_layers(query: str, layers: Sequence[str]) -> list[str]:
    """The stems to search for, in all languages that ``query`` may be in; as ``query_layers``, which gave ``layers``."""
    languages = query_languages(words_of(query), len(layers[0].split())) if layers else []
    stems = [{stem for language in languages for stem in own_stems(layer.split(), language)} for layer in layers]
    return [" ".join(sorted(layer)) for layer in stems if layer]


@lru_cache(maxsize=65_536)
def _own_stem(word: str, language: str) -> str:
    return f"{_CODES[language]}{_STEMMERS[language].embed_query(word).indices[0]}"
