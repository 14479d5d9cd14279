"""Cohere's embeddings: https://docs.cohere.com/reference/embed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from docmill.adapters.providers.answered_vectors import field_of, in_order
from docmill.adapters.providers.endpoints import PlainDialect
from docmill.adapters.providers.remote import Purpose

_INPUT_TYPES: Final = {Purpose.QUERY: "search_query", Purpose.PASSAGE: "search_document"}
#: The models that can shorten their vectors.
_SHORTENING: Final = "embed-v4"


@dataclass(frozen=True, slots=True)
class CohereDialect(PlainDialect):
    """``truncate: NONE`` makes Cohere refuse what it would cut off otherwise."""

    path: str = "/v2/embed"

    def request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, object]:
        """See ``Dialect``."""
        request: dict[str, object] = {
            "model": self.model,
            "texts": list(texts),
            "input_type": _INPUT_TYPES[purpose],
            "embedding_types": ["float"],
            "truncate": "NONE",
        }
        if self.model.startswith(_SHORTENING):
            request["output_dimension"] = self.dimensions
        return request

    def embeddings(self, answer: object, *, count: int) -> Sequence[object]:
        """See ``Dialect``."""
        return in_order(field_of(answer, "embeddings", "float"), count=count)
