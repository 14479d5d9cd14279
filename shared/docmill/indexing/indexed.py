"""Indexed: what is indexed of a knowledge base now, as far as it can be seen without opening anything for writing."""

from collections.abc import Iterable, Sequence

from docmill.domain.index_names import index_name
from docmill.domain.knowledge_bases import KnowledgeBase, StrategyKind, StrategySpec
from docmill.domain.registry import DocumentState
from docmill.indexing.index_sets import BUILDING, noted_specification
from docmill.ports.registry import Registry
from docmill.ports.stores import VectorStore


class Indexed:
    """What a run of this configuration would find.

    A set that is served or built counts as the configuration's own when both shape stored data alike; without such a one a run indexes
    everything into a new set, and takes from the others the vectors of equal texts.
    """

    def __init__(self, knowledge_base: KnowledgeBase, registry: Registry | None, vectors: VectorStore | None) -> None:
        """Reads which index sets there are.

        Args:
            knowledge_base: as it is configured now.
            registry: None where nothing was indexed.
            vectors: None where they cannot be seen: then no vector counts as stored.

        Raises:
            StoreDown: the registry or the store does not answer.
        """
        self._name = knowledge_base.name
        self._registry = registry
        self._vectors = vectors
        self._indexes = frozenset(vectors.indexes()) if vectors is not None else None
        self._sets: dict[str, KnowledgeBase] = {}
        if registry is not None:
            served = registry.position().index_set
            for index_set in (served, registry.noted(BUILDING)):
                known = noted_specification(registry, index_set) if index_set is not None else None
                if index_set is not None and known is not None:
                    self._sets[index_set] = known
            self._to_fill = [one for one, known in self._sets.items() if one == served or self._is(one, known, knowledge_base)]
        self._is_new = not any(self._is(index_set, known, knowledge_base) for index_set, known in self._sets.items())

    def stats(self, document_ids: Sequence[str]) -> list[list[str | None]]:
        """For each document its packed stat signature in every set that a run fills; None where the run must read it.

        Raises ``StoreDown``.
        """
        if self._registry is None or self._is_new:
            return [[None] for _ in document_ids]
        of_sets = [self._registry.stats(index_set, document_ids) for index_set in self._to_fill]
        return [list(stats) for stats in zip(*of_sets, strict=True)]

    def has(self, document_id: str, fingerprint: str) -> bool:
        """Whether a document with this content is whole in every set that a run fills; raises ``StoreDown``."""
        if self._registry is None or self._is_new:
            return False
        for index_set in self._to_fill:
            entry = self._registry.entries(index_set, [document_id])[1].get(document_id)
            if entry is None or entry.live is None or entry.marked or entry.live.fingerprint != fingerprint:
                return False
            if entry.state not in (DocumentState.LIVE, DocumentState.EMPTY):
                return False
        return True

    def stored(self, strategy: StrategySpec, keys: Iterable[str]) -> set[str]:
        """Those keys of texts whose vectors a run of this strategy need not make; raises ``StoreDown``."""
        missing = list(dict.fromkeys(keys))
        found: set[str] = set()
        for index in self._indexes_like(strategy):
            if self._vectors is None or not missing:
                break
            found |= self._vectors.vectors_of(index, missing).keys()
            missing = [key for key in missing if key not in found]
        return found

    def _is(self, index_set: str, known: KnowledgeBase, configured: KnowledgeBase) -> bool:
        if known.pipeline_hash != configured.pipeline_hash:
            return False
        wanted = (index_name(self._name, index_set, one.name) for one in known.strategies if one.kind is not StrategyKind.BM25)
        return self._indexes is None or self._indexes.issuperset(wanted)

    def _indexes_like(self, strategy: StrategySpec) -> list[str]:
        indexes = (
            index_name(self._name, index_set, theirs.name)
            for index_set, known in self._sets.items()
            for theirs in known.strategies
            if theirs.embedding_shape == strategy.embedding_shape
        )
        return [index for index in indexes if self._indexes is not None and index in self._indexes]
