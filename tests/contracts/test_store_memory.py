"""The stores' twins under the published contracts."""

import copy

import pytest

from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.testing.store_contract import STRATEGY, LexicalStoreContract, VectorStoreContract, chunk


class TestMemoryVectorStore(VectorStoreContract):
    @pytest.fixture
    def store(self) -> MemoryVectorStore:
        return MemoryVectorStore()


class TestMemoryLexicalStore(LexicalStoreContract):
    @pytest.fixture
    def store(self) -> MemoryLexicalStore:
        return MemoryLexicalStore()


class TestMemoryLexicalStoreWithRefresh(LexicalStoreContract):
    @pytest.fixture
    def store(self) -> MemoryLexicalStore:
        return MemoryLexicalStore(refresh_needed=True)

    def test_writes_and_deletes_are_seen_only_after_a_refresh(self, store: MemoryLexicalStore, index: str) -> None:
        store.write(index, [chunk()])
        assert self.search(store, index, "word") == []
        assert store.count(index) == 0
        store.refresh(index)
        store.delete(index, "a.md", 1, 1)
        assert len(self.search(store, index, "word")) == 1
        store.refresh(index)
        assert self.search(store, index, "word") == []


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda store: store])
def test_a_twin_goes_back_to_a_snapshot_as_often_as_wanted(copied: object) -> None:
    store = MemoryLexicalStore()
    store.create("i", STRATEGY, k1=1.5, b=0.75)
    store.write("i", [chunk()])
    store = copied(store)  # type: ignore[operator]
    snapshot = store.snapshot()
    for _ in range(2):
        store.write("i", [chunk("b.md")])
        store.raise_epoch(9)
        store.drop("i")
        store.restore(snapshot)
        assert (store.count("i"), store.epoch()) == (1, 0)


def test_a_deep_copy_of_a_twin_is_independent() -> None:
    store = MemoryLexicalStore()
    store.create("i", STRATEGY, k1=1.5, b=0.75)
    other = copy.deepcopy(store)
    other.write("i", [chunk()])
    assert (store.count("i"), other.count("i")) == (0, 1)
    assert store.identity() == other.identity()
