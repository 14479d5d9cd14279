"""Models: one model per specification, shared by everything in a process."""

import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, runtime_checkable
from urllib.parse import urlsplit

from docmill.adapters.providers.catalog import embedding_model_for
from docmill.adapters.providers.places import account_of, base_url_of
from docmill.bootstrap.gates import Gates
from docmill.config import Configuration, Settings
from docmill.config.providers import ModelSpec, model_of_chat
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, KnowledgeBase
from docmill.ports.gate import Gate
from docmill.ports.models import ChatModel, EmbeddingModel, RerankModel

if TYPE_CHECKING:
    from docmill.adapters.providers.http_chat import HttpChatModel
    from docmill.adapters.providers.rerank_chat import ChatRerankModel
    from docmill.adapters.providers.rerank_http import HttpRerankModel

_Key = TypeVar("_Key")
_Model = TypeVar("_Model")


@runtime_checkable
class _Remote(Protocol):
    """What every model of a provider has."""

    def close(self) -> None: ...


ModelOf = Callable[[EmbeddingModelSpec], EmbeddingModel]
ChatModelOf = Callable[[ChatModelSpec], ChatModel]
RerankModelOf = Callable[[str], RerankModel]

#: Until a remote model is left that does not answer; also the lease of a request that probes.
REQUEST_SECONDS: Final = 60.0


def embedding_threads_of(settings: Settings) -> int:
    """How many threads a local embedding model has."""
    return settings.embedding_threads or (os.cpu_count() or 1)


class Models:
    """Makes each model when it is first asked for."""

    def __init__(self, configuration: Configuration, settings: Settings, environ: Mapping[str, str], gates: Gates) -> None:
        """Makes nothing yet.

        Args:
            configuration: says what model references stand for.
            settings: operational settings.
            environ: holds credentials, by the names that the configuration gives.
            gates: of the providers.
        """
        self._references = configuration.models
        self._threads = embedding_threads_of(settings)
        self._environ = environ
        self._gates = gates
        self._embedding: dict[EmbeddingModelSpec, EmbeddingModel] = {}
        self._chat: dict[ChatModelSpec, HttpChatModel] = {}
        self._answering: dict[str, HttpChatModel] = {}
        self._rerank: dict[str, HttpRerankModel | ChatRerankModel] = {}
        self._stopped = False
        self._lock = threading.Lock()

    def model_of(self, specification: EmbeddingModelSpec) -> EmbeddingModel:
        """The embedding model of ``specification``; raises ``ConfigurationError`` when a credential is missing."""
        return self._kept(
            self._embedding,
            specification,
            lambda: embedding_model_for(specification, threads=self._threads, credentials=self._environ, permits_of=self._gates.permits_of),
        )

    def chat_model_of(self, specification: ChatModelSpec) -> ChatModel:
        """The chat model of ``specification``.

        Raises:
            NotAvailable: nothing here can talk to its provider.
            ConfigurationError: a credential is missing.
        """
        from docmill.adapters.providers.language_models import chat_model_for  # most knowledge bases need none, nor an HTTP client

        return self._kept(
            self._chat,
            specification,
            lambda: chat_model_for(model_of_chat(specification), credentials=self._environ, permits_of=self._gates.permits_of),
        )

    def rerank_model_of(self, reference: str) -> RerankModel:
        """The rerank model that a reference of the configuration stands for.

        Raises:
            NotAvailable: nothing here can talk to its provider.
            ConfigurationError: a credential is missing.
        """
        from docmill.adapters.providers.language_models import rerank_model_for  # as above

        return self._kept(
            self._rerank,
            reference,
            lambda: rerank_model_for(self._references[reference], credentials=self._environ, permits_of=self._gates.permits_of),
        )

    def answer_model_of(self, reference: str) -> ChatModel:
        """The chat model that a reference of the configuration stands for; raises as ``rerank_model_of``."""
        from docmill.adapters.providers.language_models import chat_model_for  # as above

        return self._kept(
            self._answering,
            reference,
            lambda: chat_model_for(self._references[reference], credentials=self._environ, permits_of=self._gates.permits_of),
        )

    def gates_of(self, *knowledge_bases: KnowledgeBase) -> dict[str, Gate]:
        """The gates of the remote models that these are indexed with, by what people call the provider; none twice."""
        gates: dict[str, Gate] = {}
        for knowledge_base in knowledge_bases:
            for strategy in knowledge_base.strategies:
                chat = None if strategy.chat_model is None else model_of_chat(strategy.chat_model)
                for specification in (strategy.embedding, chat):
                    account = None if specification is None else account_of(specification, self._environ)
                    if specification is None or account is None:
                        continue
                    gate = self._gates.gate_of(account)
                    if gate not in gates.values():
                        gates[_free_name(specification, gates)] = gate
        return gates

    def _kept(self, models: dict[_Key, _Model], key: _Key, make: Callable[[], _Model]) -> _Model:
        """The model of ``key`` in ``models``, made when it is first asked for; one that is made after ``stop`` is stopped at once."""
        with self._lock:
            if key not in models:
                models[key] = make()
                if self._stopped:
                    _stop(models[key])
            return models[key]

    def stop(self) -> None:
        """Ends the waiting for permits and every request under way; calls raise ``CallCancelled`` from now on."""
        with self._lock:
            self._stopped = True
            made = [*self._embedding.values(), *self._chat.values(), *self._answering.values(), *self._rerank.values()]
        for model in made:
            _stop(model)

    def close(self) -> None:
        """``stop``, and ends all that was kept for it."""
        self.stop()
        self._gates.close()


def _free_name(specification: EmbeddingModelSpec | ModelSpec, taken: Mapping[str, Gate]) -> str:
    """The provider's name; where one of ``taken`` has it, with where it is and the variable that its key is in."""
    provider, host = specification.provider, urlsplit(base_url_of(specification)).netloc
    names = [provider, f"{provider} ({host}, {specification.token_key or 'without a key'})"]
    return next((name for name in names if name not in taken), f"{provider} ({host}, {len(taken) + 1})")


def _stop(model: object) -> None:
    """Ends the calls of a model of a provider; those that run here have none."""
    if isinstance(model, _Remote):
        model.close()
