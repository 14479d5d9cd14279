"""A chat model writes what is embedded in the place of a chunk."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from docmill.adapters.memory.language_models import ScriptedChatModel
from docmill.adapters.memory.stores import MemoryVectorStore
from docmill.domain.chunks import ChunkRecord
from docmill.domain.errors import ProviderError, ProviderPermanent, ProviderTransient, Superseded, TextRefused
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, Similarity, StrategyKind, StrategySpec
from docmill.domain.semantic_prompt import SYSTEM
from docmill.indexing.summarising import (
    AT_ONCE,
    MAX_TOKENS,
    KeptSummaries,
    Summaries,
    Summariser,
    stored_summaries,
    summary_pool,
    with_summary_keys,
)
from docmill.ports.models import Caller, JsonSchema
from docmill.testing.chunk_store_contract import chunk

STRATEGY = StrategySpec(
    "meaning",
    StrategyKind.SEMANTIC_EMBEDDINGS,
    0.0,
    embedding=EmbeddingModelSpec("test", "hash", 3),
    chat_model=ChatModelSpec("memory", "scripted"),
    semantic_prompt="${content}",
)
CALLER = Caller("kb", "run-1")


def records(*texts: str) -> list[ChunkRecord]:
    made = [chunk(index=place, text=text, start_line=10 * place + 1, end_line=10 * place + 9) for place, text in enumerate(texts)]
    return list(with_summary_keys(STRATEGY, made))


def summariser(model: ScriptedChatModel, strategy: StrategySpec = STRATEGY, kept: KeptSummaries | None = None) -> Summariser:
    return Summariser(strategy, model, summary_pool(), kept or KeptSummaries())


def test_a_summary_is_what_the_model_writes_of_a_chunk_without_the_space_around_it() -> None:
    model = ScriptedChatModel(lambda prompt: f"\n  About {prompt}. \n")
    chunks = records("one", "two")
    assert summariser(model).write(chunks, CALLER) == {chunks[0].text_hash: "About one.", chunks[1].text_hash: "About two."}
    assert model.systems == [SYSTEM, SYSTEM]


def test_equal_chunks_are_asked_for_once() -> None:
    model = ScriptedChatModel(str.upper)
    summariser(model).write(records("one", "two", "one"), CALLER)
    assert sorted(model.prompts) == ["one", "two"]


def test_what_was_written_and_not_stored_yet_is_not_asked_for_again() -> None:
    model, kept = ScriptedChatModel(str.upper), KeptSummaries()
    summariser(model, kept=kept).write(records("one", "two"), CALLER)
    chunks = records("two", "three")
    assert list(summariser(model, kept=kept).write(chunks, CALLER).values()) == ["TWO", "THREE"]
    assert sorted(model.prompts) == ["one", "three", "two"]


def test_only_so_many_are_kept() -> None:
    kept = KeptSummaries(capacity=2)
    for key in ("a", "b", "a", "c"):
        kept.keep(key, key.upper())
    assert kept.of(["a", "b", "c"]) == {"b": "B", "c": "C"}


def test_a_chunk_that_is_refused_is_named_by_its_lines() -> None:
    def answer(prompt: str) -> str:
        if prompt == "poison":
            raise TextRefused("memory/scripted refuses to answer this prompt", 0)
        return prompt

    with pytest.raises(TextRefused, match=r"refuses to answer this prompt \(the summary of lines 11 to 19\)") as refused:
        summariser(ScriptedChatModel(answer)).write(records("fine", "poison"), CALLER)
    assert refused.value.place == 1


def test_an_answer_without_text_is_a_refusal() -> None:
    with pytest.raises(TextRefused, match=r"memory/scripted wrote no text \(the summary of lines 1 to 9\)"):
        summariser(ScriptedChatModel(lambda _: " \n ")).write(records("one"), CALLER)


@pytest.mark.parametrize("error", [ProviderTransient("out"), ProviderPermanent("wrong key")])
def test_a_provider_that_fails_is_not_asked_for_the_rest(error: ProviderError) -> None:
    def answer(_: str) -> str:
        raise error

    model = ScriptedChatModel(answer)
    with pytest.raises(type(error), match=str(error)):
        summariser(model).write(records(*(f"text {number}" for number in range(200))), CALLER)
    assert len(model.prompts) < 200


def test_what_others_had_written_before_one_failed_is_kept() -> None:
    kept = KeptSummaries()
    done = threading.Event()

    def answer(prompt: str) -> str:
        if prompt == "bad":
            assert done.wait(10)
            raise ProviderTransient("out")
        return prompt.upper()

    class Kept(KeptSummaries):
        def keep(self, key: str, summary: str) -> None:
            kept.keep(key, summary)
            done.set()

    chunks = records("bad", "good")
    with pytest.raises(ProviderTransient):
        summariser(ScriptedChatModel(answer), kept=Kept()).write(chunks, CALLER)
    assert kept.of(record.text_hash for record in chunks) == {chunks[1].text_hash: "GOOD"}


def most_at_once(strategy: StrategySpec) -> int:
    lock = threading.Lock()
    reached = threading.Event()
    now, most = 0, 0

    def answer(prompt: str) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if most == expected:
                reached.set()
        reached.wait(10)
        with lock:
            now -= 1
        return prompt

    expected = (
        AT_ONCE if strategy.chat_model is None or strategy.chat_model.max_concurrency is None else strategy.chat_model.max_concurrency
    )
    summariser(ScriptedChatModel(answer), strategy).write(records(*(f"text {number}" for number in range(12))), CALLER)
    return most


@pytest.mark.parametrize(("max_concurrency", "expected"), [(None, AT_ONCE), (1, 1), (7, 7)])
def test_several_chunks_of_a_document_are_asked_for_at_once_and_no_more(max_concurrency: int | None, expected: int) -> None:
    chat_model = ChatModelSpec("memory", "scripted", max_concurrency=max_concurrency)
    assert most_at_once(replace(STRATEGY, chat_model=chat_model)) == expected


class NotingChatModel(ScriptedChatModel):
    def __init__(self) -> None:
        super().__init__(str.upper)
        self.limits: list[int] = []
        self.callers: list[Caller] = []

    def complete(self, prompt: str, *, max_tokens: int, system: str | None = None, schema: JsonSchema | None = None) -> str:
        self.limits.append(max_tokens)
        return super().complete(prompt, max_tokens=max_tokens, system=system, schema=schema)

    def on_behalf_of(self, caller: Caller) -> "NotingChatModel":
        self.callers.append(caller)
        return self


@pytest.mark.parametrize(("configured", "expected"), [(None, MAX_TOKENS), (1000, 1000), (50, 50)])
def test_a_summary_is_bounded_by_what_the_configuration_says_of_the_model(configured: int | None, expected: int) -> None:
    model = NotingChatModel()
    strategy = replace(STRATEGY, chat_model=ChatModelSpec("memory", "scripted", max_tokens=configured))
    summariser(model, strategy).write(records("one"), CALLER)
    assert (model.limits, model.callers) == ([expected], [CALLER])


def test_work_that_was_lost_is_left_while_the_model_writes() -> None:
    let_go = threading.Event()

    def answer(prompt: str) -> str:
        assert let_go.wait(10)
        return prompt

    def between() -> None:
        if asked:
            raise Superseded("the lease ran out")
        asked.append(True)

    asked: list[bool] = []
    with pytest.raises(Superseded):
        summariser(ScriptedChatModel(answer)).write(records("one", "two"), CALLER, between=between)
    let_go.set()


def test_a_strategy_without_a_chat_model_keeps_the_hashes_of_its_texts() -> None:
    plain = replace(STRATEGY, kind=StrategyKind.CHUNKED_EMBEDDINGS, chat_model=None, semantic_prompt=None)
    made = [chunk(text="one")]
    assert with_summary_keys(plain, made) is made
    assert with_summary_keys(STRATEGY, made)[0].text_hash != made[0].text_hash


def stored(indexes: dict[str, list[ChunkRecord]]) -> MemoryVectorStore:
    store = MemoryVectorStore()
    for name, held in indexes.items():
        store.create(name, "meaning", 3, Similarity.COSINE)
        store.write(name, held)
    return store


def test_stored_summaries_are_looked_up_index_by_index() -> None:
    one, two, three = records("one", "two", "three")
    store = stored({"new": [replace(one, indexed_text="New one.")], "old": [replace(r, indexed_text="Old.") for r in (one, two)]})
    assert stored_summaries([one, two, three], store, ["new", "old"]) == {one.text_hash: "New one.", two.text_hash: "Old."}


def summaries(store: MemoryVectorStore, write: Callable[[str], str]) -> tuple[Summaries, ScriptedChatModel]:
    model = ScriptedChatModel(write)
    return Summaries(lambda asked: stored_summaries(asked, store, ["index"]), lambda asked: summariser(model).write(asked, CALLER)), model


def test_only_what_is_not_stored_is_written() -> None:
    one, two = records("one", "two")
    found, model = summaries(stored({"index": [replace(one, indexed_text="Stored.")]}), str.upper)
    assert found.texts_of([one, two]) == ["Stored.", "TWO"]
    assert model.prompts == ["two"]
    assert [record.indexed_text for record in found.on([two, one])] == ["TWO", "Stored."]


def test_a_summary_that_is_lost_although_its_vector_is_not_is_no_summary_for_others() -> None:
    one, two = records("one", "two")
    store = stored({"index": [replace(two, indexed_text="")]})
    found, model = summaries(store, str.upper)
    assert [record.indexed_text for record in found.on([one])] == [""]
    assert found.texts_of([two]) == ["TWO"]
    assert model.prompts == ["two"]
