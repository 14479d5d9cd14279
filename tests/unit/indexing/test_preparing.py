"""What records say of the chunks that they are made of."""

from docmill.chunking import chunk
from docmill.domain.chunks import Chunk
from docmill.domain.documents import DocumentKind, LoadedDocument
from docmill.domain.knowledge_bases import Chunking, StrategyKind, StrategySpec
from docmill.indexing.preparing import records_by_strategy

DOCUMENT = LoadedDocument(
    "class A:\n    def run(self):\n        pass\n", DocumentKind.CODE, "text/x-python", "a.py", "python", metadata={"team": "core"}
)


def metadata_of(chunking: Chunking) -> list[object]:
    strategy = StrategySpec("words", StrategyKind.BM25, 0.0, chunking=chunking)
    records = records_by_strategy("a.py", 1, "f", DOCUMENT, [strategy], chunk)
    return [dict(record.metadata) for record in records["words"]]


def test_symbols_of_a_chunk_are_metadata_beside_those_of_its_document() -> None:
    assert metadata_of(Chunking(code_aware=True)) == [{"team": "core", "symbols": ["A", "A.run"]}]


def test_a_chunk_without_symbols_has_the_metadata_of_its_document() -> None:
    assert metadata_of(Chunking()) == [{"team": "core"}]


def test_strategies_that_cut_alike_are_cut_once() -> None:
    cut: list[Chunking] = []

    def chunker(document: LoadedDocument, chunking: Chunking) -> list[Chunk]:
        cut.append(chunking)
        return chunk(document, chunking)

    sizes = {"a": 100, "b": 100, "c": 200}
    strategies = [StrategySpec(name, StrategyKind.BM25, 0.0, chunking=Chunking(size)) for name, size in sizes.items()]
    records_by_strategy("a.py", 1, "f", DOCUMENT, strategies, chunker)
    assert cut == [Chunking(100), Chunking(200)]
