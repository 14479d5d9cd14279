"""Ollama's own embeddings API: https://docs.ollama.com/api/embed.

Its OpenAI-compatible one cuts long texts off in silence; this one can be told not to.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from docmill.adapters.providers.answered_vectors import field_of, in_order
from docmill.adapters.providers.endpoints import PlainDialect
from docmill.adapters.providers.remote import Purpose

#: Models that are made to be shortened; Ollama would shorten any.
_SHORTENING: Final = re.compile(r"(.*/)?(embeddinggemma|qwen3-embedding|nomic-embed-text)")


def base_url_of(url: str) -> str:
    """Where Ollama's own API is, for a URL that may be that of its OpenAI-compatible one."""
    return url.rstrip("/").removesuffix("/v1")


@dataclass(frozen=True, slots=True)
class OllamaDialect(PlainDialect):
    """``truncate: false`` makes Ollama refuse what it would cut off otherwise."""

    path: str = "/api/embed"

    def request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, object]:
        """See ``Dialect``; what a vector is for is said by a prefix of the text."""
        request: dict[str, object] = {"model": self.model, "input": list(texts), "truncate": False}
        if _SHORTENING.match(self.model):
            request["dimensions"] = self.dimensions
        return request

    def embeddings(self, answer: object, *, count: int) -> Sequence[object]:
        """See ``Dialect``."""
        return in_order(field_of(answer, "embeddings"), count=count)
