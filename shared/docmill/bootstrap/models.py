"""Models: one embedding model per specification, shared by everything in a process."""

import os
import threading
from collections.abc import Callable, Mapping

from docmill.adapters.providers.catalog import embedding_model_for
from docmill.config import Settings
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.models import EmbeddingModel

ModelOf = Callable[[EmbeddingModelSpec], EmbeddingModel]


def embedding_threads_of(settings: Settings) -> int:
    """How many threads a local embedding model has."""
    return settings.embedding_threads or (os.cpu_count() or 1)


class Models:
    """Makes each model when it is first asked for."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        """``environ`` holds credentials, by the names that the configuration gives."""
        self._threads = embedding_threads_of(settings)
        self._environ = environ
        self._models: dict[EmbeddingModelSpec, EmbeddingModel] = {}
        self._lock = threading.Lock()

    def model_of(self, specification: EmbeddingModelSpec) -> EmbeddingModel:
        """The model of ``specification``; raises ``ConfigurationError`` when a credential is missing."""
        with self._lock:
            if specification not in self._models:
                self._models[specification] = embedding_model_for(specification, threads=self._threads, credentials=self._environ)
            return self._models[specification]
