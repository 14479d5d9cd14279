"""Says which configured parts this version reads and checks but cannot do."""

from collections.abc import Iterator
from dataclasses import dataclass

from docmill.config.loading import Configuration
from docmill.config.providers import adapter_for, has_chat_models
from docmill.domain.errors import NotAvailable
from docmill.domain.knowledge_bases import KnowledgeBase, StrategySpec


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A part that is configured correctly but that this version cannot do, so that the knowledge base cannot be used.

    Attributes:
        key: where it is configured, below the knowledge base.
        message: one sentence: what happens.
    """

    knowledge_base: str
    key: str
    message: str

    def __str__(self) -> str:
        return f"rag.{self.knowledge_base}.{self.key}: {self.message}"


def unavailable_parts(configuration: Configuration) -> list[Unavailable]:
    """All such parts, in the order of the configuration."""
    return [part for kb in configuration.knowledge_bases for part in unavailable_in(kb)]


def unavailable_in(kb: KnowledgeBase) -> Iterator[Unavailable]:
    """The parts of one knowledge base that this version cannot do."""
    for index, strategy in enumerate(kb.strategies):
        for key, message in _of_strategy(strategy):
            yield Unavailable(kb.name, f"strategies[{index}].{key}", message)


def require_available(kb: KnowledgeBase) -> None:
    """Refuses a knowledge base that cannot be indexed or searched as it is configured.

    Raises:
        NotAvailable: one line for each part that is missing.
    """
    parts = [str(part) for part in unavailable_in(kb)]
    if parts:
        raise NotAvailable("\n".join(parts))


def _of_strategy(strategy: StrategySpec) -> Iterator[tuple[str, str]]:
    if strategy.chat_model is not None and not has_chat_models(strategy.chat_model):
        provider = strategy.chat_model.provider
        yield "chat_model", f"the provider `{provider}` is not available for chat models; the knowledge base cannot be indexed"
    if strategy.embedding is not None and adapter_for(strategy.embedding) is None:
        provider = strategy.embedding.provider
        yield "embedding_model", f"the provider `{provider}` is not available for embeddings yet; the knowledge base cannot be indexed"
