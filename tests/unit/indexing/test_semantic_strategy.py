"""A strategy whose chunks are summarised: what is asked of its models while documents come, change and move to another index set."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from docmill.adapters.memory.language_models import ScriptedChatModel
from docmill.adapters.memory.models import HashEmbeddingModel, hash_vector
from docmill.domain.chunks import ChunkFilter, Vector
from docmill.domain.errors import ProviderError, ProviderTransient, TextRefused
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, KnowledgeBase, StrategyKind, StrategySpec
from docmill.domain.registry import Attempt, DocumentState
from docmill.indexing.batchers import Batchers
from docmill.indexing.reconciling import Reconciler
from docmill.indexing.summarising import KeptSummaries, Summariser, summary_pool
from docmill.indexing.targets import Target
from support.indexing_world import KB, World

SEMANTIC = StrategySpec(
    "dense",
    StrategyKind.SEMANTIC_EMBEDDINGS,
    -1.0,
    embedding=EmbeddingModelSpec("test", "hash", 8),
    chat_model=ChatModelSpec("memory", "scripted"),
    semantic_prompt="${content}",
)


class BreakableModel(HashEmbeddingModel):
    """Fails while it is told to."""

    failure: ProviderError | None = None

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if self.failure is not None:
            raise self.failure
        return super().embed_passages(texts)


class SemanticWorld(World):
    """One knowledge base with a strategy of summaries, and one of words."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.model: BreakableModel = BreakableModel(dimensions=8)
        self.broken: Exception | None = None
        self.chat = ScriptedChatModel(self._answer)
        self.pool, self.kept = summary_pool(), KeptSummaries()
        self.batchers = Batchers() if way != "document by document" else None
        self.spec = replace(SEMANTIC, embedding=EmbeddingModelSpec("local" if way == "embedded here" else "test", "hash", 8))
        self.served = self.made_target("set1", self.spec)
        self.building: Target | None = None

    def made_target(self, index_set: str, strategy: StrategySpec, model: HashEmbeddingModel | None = None) -> Target:
        kb = KnowledgeBase("kb", KB.base_folder, KB.roots, (strategy, KB.strategies[1]))
        models = {"dense": model or self.model}
        target = Target(index_set, kb, self.vectors, self.lexical, models, {"dense": Summariser(strategy, self.chat, self.pool, self.kept)})
        target.create_indexes()
        return target

    def reconciler(self, submit: object = None) -> Reconciler:
        targets = [target for target in (self.served, self.building) if target is not None]
        return replace(super().reconciler(), targets=lambda: targets, batchers=self.batchers)

    def put(self, document_id: str, text: str) -> None:
        self.source.put(document_id, text)
        self.enqueue(document_id)
        self.work()

    def asked(self) -> list[str]:
        """What the chat model was asked since the last time, in the order of the alphabet."""
        prompts, self.chat.prompts = self.chat.prompts, []
        return sorted(prompts)

    def found(self, summary: str, target: Target | None = None) -> tuple[str, str]:
        """The text and the indexed text of the chunk that is nearest to ``summary``."""
        index = (target or self.served).index("dense")
        best = self.vectors.search(index, hash_vector(summary, 8), 1, threshold=0.99, chunk_filter=ChunkFilter())[0].record
        return best.text, best.indexed_text

    def _answer(self, prompt: str) -> str:
        if prompt == "poison":
            raise TextRefused("it refuses to answer this prompt", 0)
        if self.broken is not None:
            raise self.broken
        return f"About {prompt}."


@pytest.fixture(params=["document by document", "batched", "embedded here"])
def world(request: pytest.FixtureRequest) -> SemanticWorld:
    return SemanticWorld(request.param)


def test_a_chunk_is_found_by_its_summary_and_shows_its_own_text(world: SemanticWorld) -> None:
    world.put("a.md", "one\ntwo")
    assert world.asked() == ["one", "two"]
    assert world.found("About two.") == ("two", "About two.")


def test_words_are_those_of_the_chunk(world: SemanticWorld) -> None:
    world.put("a.md", "one")
    found = world.lexical.search(world.served.index("words"), "one", 5, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
    assert [scored.record.indexed_text for scored in found] == ["one"]


def test_only_what_has_changed_in_a_document_is_asked_for(world: SemanticWorld) -> None:
    world.put("a.md", "one\ntwo")
    world.asked()
    world.kept = KeptSummaries()
    world.put("a.md", "one\nthree")
    assert world.asked() == ["three"]
    assert world.model.texts == 3
    assert world.found("About one.") == ("one", "About one.")


def test_a_renamed_document_asks_for_nothing(world: SemanticWorld) -> None:
    world.put("a.md", "one\ntwo")
    world.asked()
    world.source.delete("a.md")
    world.put("b.md", "two\none")
    assert (world.asked(), world.model.texts) == ([], 2)


def test_equal_chunks_of_a_document_are_asked_for_once(world: SemanticWorld) -> None:
    world.put("a.md", "one\none\none")
    assert (world.asked(), world.model.texts) == (["one"], 1)


def test_another_prompt_asks_for_all_once_more(world: SemanticWorld) -> None:
    world.put("a.md", "one\ntwo")
    world.asked()
    world.building = world.made_target("set2", replace(world.spec, semantic_prompt="Briefly: ${content}"))
    world.put("a.md", "one\ntwo ")
    assert world.asked() == ["Briefly: one", "Briefly: two ", "two "]
    assert world.found("About Briefly: one.", world.building) == ("one", "About Briefly: one.")


def other_embedding(world: SemanticWorld) -> StrategySpec:
    assert world.spec.embedding is not None
    return replace(world.spec, embedding=replace(world.spec.embedding, model="other"))


def test_another_embedding_model_gets_the_summaries_that_are_stored(world: SemanticWorld) -> None:
    world.put("a.md", "one\ntwo")
    world.asked()
    other = HashEmbeddingModel(dimensions=8)
    spec = other_embedding(world)
    world.building = world.made_target("set2", spec, other)
    world.building = replace(world.building, summarisers={"dense": Summariser(spec, world.chat, world.pool, KeptSummaries())})
    world.put("b.md", "one")
    assert (world.asked(), other.texts) == ([], 1)
    assert world.found("About one.", world.building) == ("one", "About one.")


def test_a_summary_that_is_carried_from_set_to_set_stays_a_summary(world: SemanticWorld) -> None:
    world.put("a.md", "one")
    world.served = world.made_target("set2", other_embedding(world))
    world.building = world.made_target("set1", world.spec)
    world.kept = KeptSummaries()
    world.put("b.md", "one")
    assert world.found("About one.", world.served) == ("one", "About one.")


def test_a_refused_chunk_fails_its_document_alone(world: SemanticWorld) -> None:
    world.put("a.md", "one")
    world.put("b.md", "fine\npoison")
    entry = world.entry("b.md")
    assert entry is not None
    assert entry.state is DocumentState.FAILED
    assert entry.reason == "provider.text_refused: it refuses to answer this prompt (the summary of lines 2 to 2)"
    assert world.live_texts("a.md")["dense"] == ["one"]


def test_summaries_that_were_paid_for_before_an_attempt_failed_are_not_paid_for_again(world: SemanticWorld) -> None:
    world.model.failure = ProviderTransient("out")
    world.put("a.md", "one\ntwo")
    assert world.asked() == ["one", "two"]
    world.model.failure = None
    world.put("a.md", "one\ntwo")
    assert world.asked() == []
    assert world.found("About two.") == ("two", "About two.")


def test_a_chat_model_that_is_out_fails_the_document_until_it_is_back(world: SemanticWorld) -> None:
    world.broken = ProviderTransient("memory/scripted is out")
    world.put("a.md", "one")
    entry = world.entry("a.md")
    assert entry is not None
    assert entry.reason == "provider.transient: memory/scripted is out"
    world.broken = None
    world.put("a.md", "one")
    assert world.live_texts("a.md")["dense"] == ["one"]


@pytest.mark.parametrize("way", ["batched", "embedded here"])
def test_what_two_documents_share_is_asked_for_by_one_of_them_while_both_are_in_work(way: str) -> None:
    world = SemanticWorld(way)
    second_waits, second_ended = threading.Event(), threading.Event()
    claim = world.memory.ledger.claim

    def noted(attempt: Attempt, texts: Sequence[str]) -> bool:
        has_claimed = claim(attempt, texts)
        if not has_claimed:
            second_waits.set()
        return has_claimed

    def work_on_second() -> None:
        reconciler.reconcile(second)
        second_ended.set()

    def answer(prompt: str) -> str:
        threading.Thread(target=work_on_second, daemon=True).start()
        assert second_waits.wait(10)
        return prompt

    world.chat._answer = answer
    world.memory.ledger.claim = noted  # type: ignore[method-assign]
    world.source.put("a.md", "one")
    world.source.put("b.md", "one")
    world.enqueue("a.md", "b.md")
    reconciler, first, second = world.reconciler(), world.tasks.take(), world.tasks.take()
    reconciler.reconcile(first)
    world.commit()
    assert second_ended.wait(10)
    world.commit()
    assert (world.asked(), world.model.texts) == (["one"], 1)
    assert world.live_texts("b.md")["dense"] == ["one"]
