"""The language of a text, as far as it matters for stems: told by the small words that every sentence has.

English is not looked for, since every text is searched by English stems too. A text in which no language is found loses nothing but the
stems of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Final

from docmill.documents.natural_language import language_code

#: By the code that documents declare, the languages whose stems are found, as they are called here.
LANGUAGES: Final = {
    "da": "danish",
    "nl": "dutch",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "hu": "hungarian",
    "it": "italian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "es": "spanish",
    "sv": "swedish",
    "tr": "turkish",
}
#: A query with more distinct words is searched by the stems of its own language alone: together at most 600 terms, of the 1,024 that a
#: server allows at least.
_WORDS_IN_ALL_LANGUAGES: Final = 24

_ENGLISH: Final = "english"
_SMALL_WORDS: Final = {
    _ENGLISH: "the of and to in is that it for with as was are be this by on or from at not you have can which if when will has its",
    "danish": "og det at en den til er som pa de med han af for ikke der var jeg et har om vi fra men sig kan blev skal efter",
    "dutch": "de van een het en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog wordt worden naar deze kan",
    "finnish": "ja on ei se etta han oli mutta kun ole ovat joka myos niin tai sen jos tama voi mita kuin hanen jotka",
    "french": "de la le et les des en un une du est que dans qui pour par sur au plus ce pas ne sont avec il se aux cette ou",
    "german": "der die und in den von zu das mit sich des auf fur ist im dem nicht ein eine als auch es an werden aus dass wird sind oder",
    "hungarian": "a az es hogy nem is egy van meg volt de ha csak ez mint vagy azt mar el ezt kell lehet",
    "italian": "di e il la che in un per non una sono con del da le si nel della i dei al come piu gli alla delle anche",
    "norwegian": "og det at en den til er som pa de med han av for ikke der var jeg et har om vi fra men seg kan ble skal etter",
    "portuguese": "de a o que e do da em um para com nao uma os no se na por mais as dos como ao das pelo pela sao ou seu",
    "romanian": "de si in a la cu pe nu este un o din care sa ca mai pentru se sunt sau au fi prin dar cum al ale",
    "russian": "и в не на что с по как это из для к от у о а его но за при или же так все быть если может которые",
    "spanish": "de la que el en y los se del las un por con no una su para es al lo como mas o pero sus este son esta",
    "swedish": "och det att i en den till ar som pa de med han av for inte der var jag ett har om vi fran men sig kan ska efter",
    "turkish": "ve bir bu da de icin ile cok olarak daha olan gibi kadar ne var sonra en veya her degil ancak",
}
#: The words of a text that are looked at.
_WORDS: Final = 300
#: So many of them must be small words of the language: two, and one in twelve.
_FEWEST: Final = 2
_SHARE: Final = 12


def _languages_by_word() -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for language, words in _SMALL_WORDS.items():
        for word in words.split():
            found[word] += (language,)
    return dict(found)


_LANGUAGES_BY_WORD: Final = _languages_by_word()


def language_of(words: Sequence[str]) -> str | None:
    """One of ``LANGUAGES``, or None for English and for what cannot be told.

    Args:
        words: of the text in order, accents folded.
    """
    looked_at = words[:_WORDS]
    small = filter(None, map(_LANGUAGES_BY_WORD.get, " ".join(looked_at).lower().split()))
    counts = Counter(chain.from_iterable(small))
    english = counts.pop(_ENGLISH, 0)
    if not counts:
        return None
    # Of two that are as likely, always the same one.
    best = min(counts, key=lambda language: (-counts[language], language))
    enough = counts[best] >= _FEWEST and counts[best] * _SHARE >= len(looked_at) and counts[best] > english
    return best if enough else None


def stem_language(words: Sequence[str], declared: str | None) -> str | None:
    """The language by whose stems a text is found besides the English ones; None where there is none.

    Args:
        words: as in ``language_of``.
        declared: the record's language: a programming language, whose words have no stems but the English ones, or the code of a natural
            one. What the words say goes before what a document says of itself.
    """
    if declared is not None and language_code(declared) is None:
        return None
    return language_of(words) or LANGUAGES.get(declared or "")


def query_languages(words: Sequence[str], distinct_words: int) -> list[str]:
    """The languages by whose stems a query is searched: all, since a few words do not tell their own, or that of a long query.

    Args:
        words: of the query, in order, accents folded.
        distinct_words: how many it is searched for.
    """
    if distinct_words <= _WORDS_IN_ALL_LANGUAGES:
        return [*LANGUAGES.values()]
    own = language_of(words)
    return [] if own is None else [own]
