"""The stemmers of Elasticsearch, by language."""

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
