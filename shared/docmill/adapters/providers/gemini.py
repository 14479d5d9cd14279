"""Google Gemini's embeddings: https://ai.google.dev/api/embeddings#method:-models.batchembedcontents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from docmill.adapters.providers.answered_vectors import field_of, in_order, of_length_one
from docmill.adapters.providers.remote import Purpose
from docmill.domain.chunks import Vector

_TASK_TYPES: Final = {Purpose.QUERY: "RETRIEVAL_QUERY", Purpose.PASSAGE: "RETRIEVAL_DOCUMENT"}
#: From its second generation on a model reads its task in a prefix of the text and refuses, or ignores, ``taskType``.
_WITH_PREFIXES: Final = "gemini-embedding-2"
#: Models that make vectors of one length only.
_FIXED_LENGTH: Final = "embedding-001"


@dataclass(frozen=True, slots=True)
class GeminiDialect:
    """Each text is a request of its own in one batch. Shortened vectors come longer or shorter than 1, and are made 1 long."""

    model: str
    dimensions: int

    @property
    def path(self) -> str:
        """See ``Dialect``."""
        return f"/models/{quote(self._name, safe='')}:batchEmbedContents"

    def credentials(self, api_key: str) -> Mapping[str, str]:
        """See ``Dialect``."""
        return {"x-goog-api-key": api_key}

    def request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, object]:
        """See ``Dialect``."""
        same: dict[str, object] = {"model": f"models/{self._name}"}
        if not self._name.startswith(_WITH_PREFIXES):
            same["taskType"] = _TASK_TYPES[purpose]
        if self._name != _FIXED_LENGTH:
            same["outputDimensionality"] = self.dimensions
        return {"requests": [{**same, "content": {"parts": [{"text": text}]}} for text in texts]}

    def embeddings(self, answer: object, *, count: int) -> Sequence[object]:
        """See ``Dialect``."""
        return [field_of(item, "values") for item in in_order(field_of(answer, "embeddings"), count=count)]

    def finished(self, vectors: list[Vector]) -> list[Vector]:
        """See ``Dialect``."""
        return of_length_one(vectors)

    @property
    def _name(self) -> str:
        return self.model.removeprefix("models/")
