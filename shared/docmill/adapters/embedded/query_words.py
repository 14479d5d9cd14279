"""What a query asks for: its stems with how often it names each, by the engine's own stemmer and stop words."""

from functools import lru_cache
from typing import Final

from qdrant_edge import Bm25, Bm25Config, DisabledStemmer, Language, SnowballLanguage, SnowballParams, StopwordsSet, TokenizerType

from docmill.adapters.embedded.words import words_of

#: Longer queries are cut: at 20,000 chunks 256 of the commonest words take 40 ms.
MAX_DISTINCT_WORDS: Final = 256
#: A word that a query repeats counts at most so often.
MAX_REPEATS: Final = 4
#: Stop words are left out of a query that has so many other words, so ``for loop`` and ``to be or not to be`` keep theirs.
MIN_OTHER_WORDS: Final = 3

_STEMMER: Final = Bm25(
    Bm25Config(tokenizer=TokenizerType.Whitespace, stopwords=StopwordsSet(custom=set()), stemmer=SnowballParams(SnowballLanguage.English))
)
_STOP_WORDS: Final = Bm25(Bm25Config(tokenizer=TokenizerType.Whitespace, stopwords=Language.English, stemmer=DisabledStemmer()))


def stems_of(text: str) -> list[int]:
    """The stems of the words of ``text`` in order; equal numbers mean equal stems."""
    return [_stem_of(word) for word in words_of(text)]


def query_layers(query: str) -> list[str]:
    """The words to search for, separated by spaces: all in the first text, those named at least twice in the second, and so on.

    Each text has one word of each stem. Empty when ``query`` has no word.
    """
    words: dict[int, str] = {}
    times: dict[int, int] = {}
    for word in _without_stop_words(words_of(query)):
        stem = _stem_of(word)
        if stem in words or len(words) < MAX_DISTINCT_WORDS:
            words.setdefault(stem, word)
            times[stem] = min(MAX_REPEATS, times.get(stem, 0) + 1)
    return [" ".join(words[stem] for stem in words if times[stem] > layer) for layer in range(max(times.values(), default=0))]


def query_stems(query: str) -> dict[int, int]:
    """The same as numbers: how often each stem counts."""
    return {_stem_of(word): layer for layer, text in enumerate(query_layers(query), 1) for word in text.split()}


def _without_stop_words(words: list[str]) -> list[str]:
    others = [word for word in words if not _is_stop_word(word)]
    return others if len({_stem_of(word) for word in others}) >= MIN_OTHER_WORDS else words


@lru_cache(maxsize=65_536)
def _stem_of(word: str) -> int:
    return _STEMMER.embed_query(word).indices[0]


@lru_cache(maxsize=4_096)
def _is_stop_word(word: str) -> bool:
    return not _STOP_WORDS.embed_query(word).indices
