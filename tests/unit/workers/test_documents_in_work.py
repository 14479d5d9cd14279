"""How many documents a worker has in work at once."""

from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, StrategyKind, StrategySpec
from docmill_workers.worker_threads import MOST_DOCUMENTS, MOST_THREADS, bulk_threads, documents_in_work

LOCAL = EmbeddingModelSpec("local", "all-minilm-l6-v2")
REMOTE = EmbeddingModelSpec("openai", "text-embedding-3-small", batch_size=10, max_concurrency=4)


def test_with_models_that_run_here_as_many_as_compute() -> None:
    assert documents_in_work([LOCAL], 2) == 2
    assert documents_in_work([], 8) == 8


def test_with_a_provider_as_many_as_fill_its_requests_and_the_next_ones() -> None:
    assert documents_in_work([LOCAL, REMOTE], 2) == 60


def test_never_fewer_than_compute_and_never_more_than_a_process_bears() -> None:
    assert documents_in_work([EmbeddingModelSpec("openai", "m", batch_size=1, max_concurrency=1)], 8) == 8
    assert documents_in_work([EmbeddingModelSpec("openai", "m")], 8) == MOST_DOCUMENTS


def test_vectors_are_waited_for_without_threads_and_summaries_in_threads() -> None:
    words = StrategySpec("words", StrategyKind.BM25, 0.0)
    vectors = StrategySpec("dense", StrategyKind.CHUNKED_EMBEDDINGS, 0.0, embedding=REMOTE)
    here = StrategySpec("here", StrategyKind.CHUNKED_EMBEDDINGS, 0.0, embedding=LOCAL)
    summaries = StrategySpec("sense", StrategyKind.SEMANTIC_EMBEDDINGS, 0.0, embedding=REMOTE, chat_model=ChatModelSpec("openai", "m"))
    assert bulk_threads([words, here], 2) == 2
    assert bulk_threads([words, vectors], 2) == MOST_THREADS
    assert bulk_threads([words, vectors], 64) == 64
    assert bulk_threads([words, summaries], 2) == 60
