"""The language of a text, as far as it matters for stems: told by the small words that every sentence has.

English is not looked for, since every text is also searched by English stems. A text in which no language is found loses nothing but
the stems of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

#: Languages with the stemmer of Elasticsearch that finds most of their forms once accents are folded.
STEMMERS: Final = {
    "danish": "danish",
    "dutch": "dutch",
    "finnish": "finnish",
    "french": "light_french",
    "german": "light_german",
    "hungarian": "light_hungarian",
    "italian": "italian",
    "norwegian": "norwegian",
    "portuguese": "light_portuguese",
    "romanian": "romanian",
    "russian": "russian",
    "spanish": "spanish",
    "swedish": "light_swedish",
    "turkish": "turkish",
}

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
    """One of ``STEMMERS``, or None for English and for what cannot be told.

    Args:
        words: of the text in order, accents folded.
    """
    looked_at = words[:_WORDS]
    counts = Counter(language for word in looked_at for language in _LANGUAGES_BY_WORD.get(word.lower(), ()))
    english = counts.pop(_ENGLISH, 0)
    if not counts:
        return None
    # Of two that are as likely, always the same one.
    best = min(counts, key=lambda language: (-counts[language], language))
    enough = counts[best] >= _FEWEST and counts[best] * _SHARE >= len(looked_at) and counts[best] > english
    return best if enough else None
