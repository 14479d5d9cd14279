"""Voyage AI's embeddings: https://docs.voyageai.com/reference/embeddings-api."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from docmill.adapters.providers.answered_vectors import field_of, indexed
from docmill.adapters.providers.endpoints import PlainDialect
from docmill.adapters.providers.remote import Purpose

_INPUT_TYPES: Final = {Purpose.QUERY: "query", Purpose.PASSAGE: "document"}
#: The models that can choose the length of their vectors.
_CHOOSING: Final = re.compile(r"voyage-(code-3|3-large|3\.5|[4-9])")


@dataclass(frozen=True, slots=True)
class VoyageDialect(PlainDialect):
    """Vectors come as plain numbers when no ``encoding_format`` is asked for; its one other value is base64.

    ``truncation: false`` makes Voyage refuse what it would cut off otherwise.
    """

    path: str = "/embeddings"

    def request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, object]:
        """See ``Dialect``."""
        request: dict[str, object] = {
            "model": self.model,
            "input": list(texts),
            "input_type": _INPUT_TYPES[purpose],
            "truncation": False,
        }
        if _CHOOSING.match(self.model):
            request["output_dimension"] = self.dimensions
        return request

    def embeddings(self, answer: object, *, count: int) -> Sequence[object]:
        """See ``Dialect``."""
        return indexed(field_of(answer, "data"), count=count)
