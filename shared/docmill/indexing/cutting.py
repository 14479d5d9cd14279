"""Cutting: one document in chunks, each with the vectors that its strategies want."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from docmill.domain.chunks import ChunkRecord, Vector
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import StrategyKind, StrategySpec
from docmill.domain.registry import Attempt
from docmill.indexing.attempt_time import AttemptTime
from docmill.indexing.batchers import Asked, Batchers, is_remote
from docmill.indexing.committing import Write
from docmill.indexing.embedding import TEXTS_A_CALL, Embedded, embed_here, embed_records
from docmill.indexing.handling import Handling
from docmill.indexing.kept_vectors import PaidVectors, leave_all_on
from docmill.indexing.paid_vectors import Need, Payment, claim_texts
from docmill.indexing.preparing import records_by_strategy
from docmill.indexing.summarising import Summaries, stored_summaries
from docmill.indexing.targets import Target
from docmill.ports.ledger import RunLedger
from docmill.ports.models import Caller


@dataclass(slots=True)
class Cut:
    """A document in chunks.

    Attributes:
        counts: how many there are, by index set and strategy.
        writes: the chunks, for each index that they go to.
        needs: by the place of their write, those whose records still need the vectors of a provider.
        paid: the vectors that providers have made for it.
        counters: of chunks, of texts that were embedded, and of chunks whose vectors were stored already.
    """

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    needs: dict[int, Need] = field(default_factory=dict)
    paid: list[PaidVectors] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=lambda: {"chunks": 0, "embedded": 0, "reused": 0})

    @property
    def waiting_characters(self) -> int:
        """How much text is held while providers are waited for."""
        return sum(len(record.text) for need in self.needs.values() for record in need.records)

    def take(self, place: int, embedded: Embedded) -> None:
        """Puts records with their vectors in the place of those that had none, and counts them."""
        self.writes[place] = replace(self.writes[place], records=embedded.records)
        self.counters["embedded"] += embedded.embedded
        self.counters["reused"] += embedded.reused


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts the document of one attempt.

    Attributes:
        targets: the index sets that it goes to.
        time: of the attempt; checked between the steps.
        batchers: fill the requests to models that other machines run; None asks every model document by document.
        ledger: of the attempt.
    """

    attempt: Attempt
    targets: Sequence[Target]
    time: AttemptTime
    batchers: Batchers | None
    ledger: RunLedger

    def cut(self, document: LoadedDocument, fingerprint: str, strategies: Sequence[str], handling: Handling) -> Cut:
        """The document's chunks, with the vectors that are made where it is handled; raises as ``embed_records``."""
        cut = Cut()
        for target in self.targets:
            self.time.check()
            wanted = [strategy for strategy in target.knowledge_base.strategies if strategy.name in strategies]
            by_strategy = records_by_strategy(
                self.attempt.document_id, self.attempt.generation, fingerprint, document, wanted, handling.chunk
            )
            cut.counts[target.index_set] = {name: len(records) for name, records in by_strategy.items() if records}
            for strategy in wanted:
                records = by_strategy[strategy.name]
                if not records:
                    continue
                place = len(cut.writes)
                cut.counters["chunks"] += len(records)
                cut.writes.append(Write(target.store(strategy), target.index(strategy.name), records))
                if self._is_paid(strategy):
                    cut.needs[place] = self._need(target, strategy, records)
                elif strategy.kind is not StrategyKind.BM25:
                    cut.take(place, self._embed(target, strategy, records, handling))
        return cut

    def claim(self, cut: Cut) -> Payment | None:
        """What is to be paid for ``cut``, claimed for its attempt; None where providers are asked for nothing."""
        if not cut.needs or self.batchers is None:
            return None
        self.time.check()
        claim = partial(self.ledger.claim, self.attempt)
        return claim_texts(list(cut.needs.values()), claim=claim, wait=self.time.wait_for_claims)

    def ask(self, payment: Payment, when_done: Callable[[], None]) -> Asked | None:
        """Asks for all that is to be paid, where one request after the other brings it; ``when_done`` as in ``Batcher.ask``."""
        wanted = payment.only_texts()
        if wanted is None or self.batchers is None or not is_remote(wanted[0].spec):
            return None
        need, texts = wanted
        return self.batchers.ask(need.model, need.spec, self._caller, texts, self.ledger, when_done)

    def pay(self, cut: Cut, payment: Payment, asked: Asked | None = None) -> None:
        """Gives ``cut`` the vectors that providers make; raises as ``Payment.embedded``. ``asked`` is done; None asks here, and waits."""

        def embed(need: Need, texts: Sequence[str]) -> list[Vector]:
            if not is_remote(need.spec):
                return embed_here(need.model, texts, between=self.time.check)
            vectors = self._waited_for(cut, need, texts) if asked is None else asked.vectors()
            cut.paid.append(PaidVectors(need.spec, dict(zip(texts, vectors, strict=True))))
            return vectors

        try:
            done = payment.embedded(embed)
            self.time.check()
        except BaseException:
            leave_all_on(self.ledger, cut.paid)  # by one model all were made, by another one they were not
            raise
        for place, embedded in zip(cut.needs, done, strict=True):
            cut.take(place, embedded)

    def _waited_for(self, cut: Cut, need: Need, texts: Sequence[str]) -> list[Vector]:
        if self.batchers is None:
            raise ValueError("there is nothing to ask providers by")
        with self.time.waiting(cut.waiting_characters):
            return self.batchers.embed(need.model, need.spec, self._caller, texts, self.time.require_lease, self.ledger)

    def _is_paid(self, strategy: StrategySpec) -> bool:
        """Whether a provider makes the vectors, or the summaries of a document that need not be alone."""
        if self.batchers is None or strategy.embedding is None:
            return False
        return is_remote(strategy.embedding) or (strategy.chat_model is not None and self.attempt.suspicion is None)

    def _need(self, target: Target, strategy: StrategySpec, records: Sequence[ChunkRecord]) -> Need:
        spec, shape = strategy.embedding, strategy.embedding_shape
        if spec is None or shape is None:
            raise ValueError(f"{strategy.name} embeds nothing")
        indexes = self._indexes_with_vectors_of(target, strategy)
        summaries = self._summaries(target, strategy)
        return Need(records, target.models[strategy.name], spec, shape, target.vectors, indexes, summaries)

    def _embed(self, target: Target, strategy: StrategySpec, records: Sequence[ChunkRecord], handling: Handling) -> Embedded:
        batch_size = strategy.embedding.batch_size if strategy.embedding is not None else TEXTS_A_CALL
        embedded = embed_records(
            records,
            handling.model_of(target, strategy),
            target.vectors,
            self._indexes_with_vectors_of(target, strategy),
            summaries=self._summaries(target, strategy),
            texts_a_call=min(batch_size, TEXTS_A_CALL),
            between=self.time.check,
        )
        self.time.check()
        return embedded

    def _summaries(self, target: Target, strategy: StrategySpec) -> Summaries | None:
        """What a strategy embeds in the place of its chunks; None for one that embeds the chunks."""
        summariser = target.summarisers.get(strategy.name)
        if summariser is None:
            return None
        indexes = self._indexes_where(target, lambda theirs: theirs.summary_shape == strategy.summary_shape)

        def write(wanted: Sequence[ChunkRecord]) -> Mapping[str, str]:
            with self.time.waiting(sum(len(record.text) for record in wanted)):
                return summariser.write(wanted, self._caller, between=self.time.require_lease)

        return Summaries(partial(stored_summaries, store=target.vectors, indexes=indexes), write)

    @property
    def _caller(self) -> Caller:
        return Caller(self.attempt.knowledge_base, self.attempt.run_id, self.targets[0].knowledge_base.max_tokens_per_run)

    def _indexes_with_vectors_of(self, target: Target, strategy: StrategySpec) -> list[str]:
        return self._indexes_where(target, lambda theirs: theirs.embedding_shape == strategy.embedding_shape)

    def _indexes_where(self, target: Target, is_alike: Callable[[StrategySpec], bool]) -> list[str]:
        """The indexes of the strategies that are alike, those of ``target`` first."""
        return [
            other.index(theirs.name)
            for other in (target, *(other for other in self.targets if other is not target))
            for theirs in other.knowledge_base.strategies
            if is_alike(theirs)
        ]
