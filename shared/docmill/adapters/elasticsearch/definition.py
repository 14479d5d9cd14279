"""How an index is laid out: its settings and its mapping.

=====================  ==========================================================================================
``doc``                the document id
``gen``                the generation
``n``                  the chunk's place in the document
``whole``              ``<count>:<fingerprint>``, the same in all chunks of a generation
``facts``              what filters ask for: language, mime and metadata, one text each
``terms``              the words with their parts, found by English stems (searched, not kept)
``terms_<language>``   the same words by the stems of the language that the chunk is written in
``body``               the rest of the record, as a JSON list (kept, not searched)
=====================  ==========================================================================================
"""

from typing import Any, Final

from docmill.adapters.elasticsearch.languages import STEMMERS
from docmill.adapters.embedded.words import MAX_WORD_CHARACTERS

Json = dict[str, Any]

TERMS: Final = "terms"
_ENGLISH_STEMMER: Final = "porter2"
#: Searches see a write when the committer refreshes; what nobody waits for, such as a removal, is seen after so long at most.
_REFRESH_INTERVAL: Final = "30s"
#: No replica on one node, where it could not be placed; one wherever a second node can hold it.
_REPLICAS: Final = "0-1"


def field_of(language: str) -> str:
    """The field with the stems of ``language``."""
    return f"{TERMS}_{language}"


def similarity_settings(k1: float, b: float) -> Json:
    """BM25 with these parameters."""
    return {"words": {"type": "BM25", "k1": k1, "b": b}}


def index_settings(k1: float, b: float) -> Json:
    """One shard, so that all chunks are ranked by the same statistics."""
    return {
        "number_of_shards": 1,
        "auto_expand_replicas": _REPLICAS,
        "refresh_interval": _REFRESH_INTERVAL,
        "similarity": similarity_settings(k1, b),
        "analysis": {
            # The words come apart from each other; a longer one, which is never sent, would be cut and not be an immense term.
            # A character beyond the basic plane counts twice.
            "tokenizer": {"words": {"type": "whitespace", "max_token_length": 2 * MAX_WORD_CHARACTERS}},
            "filter": {f"{name}_stems": {"type": "stemmer", "language": stemmer} for name, stemmer in _stemmers().items()},
            "analyzer": {
                f"{name}_words": {"type": "custom", "tokenizer": "words", "filter": ["lowercase", f"{name}_stems"]} for name in _stemmers()
            },
        },
    }


def index_mapping(strategy: str) -> Json:
    """Every field, and no other one; the strategy is noted beside."""
    return {
        "dynamic": "strict",
        "_meta": {"strategy": strategy},
        "_source": {"excludes": [f"{TERMS}*"]},
        "properties": {
            "doc": {"type": "keyword"},
            "gen": {"type": "long"},
            "n": {"type": "integer"},
            "whole": {"type": "keyword"},
            "facts": {"type": "keyword", "doc_values": False},
            "body": {"type": "text", "index": False},
            TERMS: _words_field("english"),
            **{field_of(language): _words_field(language) for language in STEMMERS},
        },
    }


STATE_MAPPING: Final[Json] = {
    "dynamic": "strict",
    "properties": {"identity": {"type": "keyword"}, "epoch": {"type": "long"}},
}
STATE_SETTINGS: Final[Json] = {"number_of_shards": 1, "auto_expand_replicas": _REPLICAS}


def _words_field(name: str) -> Json:
    # Frequencies are all that BM25 needs; positions would be a third of the index.
    return {"type": "text", "analyzer": f"{name}_words", "similarity": "words", "index_options": "freqs"}


def _stemmers() -> dict[str, str]:
    return {"english": _ENGLISH_STEMMER, **STEMMERS}
