"""The engine's BM25 and the textbook's, which the twin computes, are the same number."""

import random
from pathlib import Path

import pytest

from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.memory.stores import MemoryLexicalStore
from docmill.domain.chunks import ChunkFilter
from docmill.testing.store_contract import chunk

TEXT = "index indexing fast the of getUserName snake_case café 日本語 ERR_4418 wing lift flow layers layer boundary a.b x-y résumé Straße"
WORDS = TEXT.split()
OTHERS = {
    "german": "die der und in den von zu das Haus Häuser Stadt Städte alt ist wing lift",
    "french": "le la les des et un une cheval chevaux national nationaux est dans wing lift",
}
QUERIES = [
    "Häuser der Stadt",
    "le cheval et les chevaux nationaux",
    "wing",
    "index layers of the flow",
    "lift lift lift wing wing flow",
    "日本",
    "getUserName snake_case",
    "cafe resume strasse a.b x-y",
    "the of",
]


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (1.2, 0.0), (0.0, 0.5), (3.0, 1.0)])
def test_scores_are_equal_for_any_parameters(tmp_path: Path, k1: float, b: float) -> None:
    seeded = random.Random(7)
    records = [chunk(f"{n}", text=" ".join(seeded.choices(WORDS, k=seeded.randint(1, 60)))) for n in range(120)]
    for name, text in OTHERS.items():
        records += [chunk(f"{name}{n}", text=" ".join(seeded.choices(text.split(), k=seeded.randint(1, 60)))) for n in range(30)]
    twin, engine = MemoryLexicalStore(), EmbeddedLexicalStore(tmp_path)
    for store in (twin, engine):
        store.create("i", "bm25", k1=k1, b=b)
        store.write("i", records)
        store.delete("i", "5", 1, 1)
    for query in QUERIES:
        expected, found = (
            {
                scored.record.document_id: scored.score
                for scored in store.search("i", query, 200, k1=k1, b=b, threshold=0.0, chunk_filter=ChunkFilter())
            }
            for store in (twin, engine)
        )
        assert len(found) > 5
        assert found == pytest.approx(expected, rel=1e-4)
    engine.close()
