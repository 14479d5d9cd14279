"""What every lexical store must do, as tests."""

# ruff: noqa: D102 - the name of a test is its description

from collections.abc import Set as AbstractSet
from typing import Any

from docmill.domain.chunks import ChunkFilter, ScoredChunk
from docmill.ports.stores import LexicalStore
from docmill.testing.chunk_store_contract import STRATEGY, ChunkStoreContract, chunk, found_ids
from docmill.testing.store_tables import ANY_TEXTS, EVERYTHING, FOUND, FOUND_BY_OWN_STEMS, NOT_A_WORD


class LexicalStoreContract(ChunkStoreContract):
    """What a lexical store does."""

    def create(self, store: LexicalStore, index: str) -> None:
        """Makes an index with the usual parameters."""
        store.create(index, STRATEGY, k1=1.5, b=0.75)

    def search_all(
        self, store: LexicalStore, index: str, chunk_filter: ChunkFilter, without: AbstractSet[int] = frozenset(), limit: int = 50
    ) -> list[ScoredChunk]:
        """Every chunk has the word."""
        return self.search(store, index, "word", limit=limit, chunk_filter=chunk_filter, without_generations=without)

    @staticmethod
    def search(store: LexicalStore, index: str, query: str, limit: int = 10, **options: Any) -> list[ScoredChunk]:
        """A search with the usual parameters."""
        return store.search(index, query, limit, **{"k1": 1.5, "b": 0.75, "threshold": 0.0, "chunk_filter": EVERYTHING, **options})

    def test_texts_are_found_by_their_words_and_the_parts_of_those(self, store: LexicalStore, index: str) -> None:
        texts = sorted({text for text, _ in FOUND})
        self.put(store, index, *(chunk(text=text, index=place, count=len(texts)) for place, text in enumerate(texts)))
        missed = [
            (text, query)
            for text, query in FOUND
            if text not in [scored.record.text for scored in self.search(store, index, query, limit=len(texts))]
        ]
        assert not missed

    def test_words_are_found_by_stem_in_the_language_of_their_text(self, store: LexicalStore, index: str) -> None:
        texts = sorted({text for text, _ in FOUND_BY_OWN_STEMS})
        self.put(store, index, *(chunk(text=text, index=place, count=len(texts)) for place, text in enumerate(texts)))
        missed = [
            (text, query)
            for text, query in FOUND_BY_OWN_STEMS
            if text not in [scored.record.text for scored in self.search(store, index, query, limit=len(texts))]
        ]
        assert not missed

    def test_stems_of_other_languages_find_nothing_in_english_texts(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk(text="The new house is on the hill and it has a garden."))
        # A French stemmer takes "news" for the plural of "new".
        assert self.search(store, index, "news") == []

    def test_code_has_no_stems_but_the_english_ones(self, store: LexicalStore, index: str) -> None:
        text = "# Die Häuser in der Stadt sind alt und die Kinder spielen"
        self.put(store, index, chunk("prose", text=text), chunk("code", text=text, language="python"))
        assert found_ids(self.search(store, index, "Haus")) == ["prose#0"]

    def test_a_text_that_says_its_language_is_found_by_its_stems(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk("said", text="Häuser", language="de"), chunk("unsaid", text="Häuser"))
        assert found_ids(self.search(store, index, "Haus")) == ["said#0"]

    def test_a_chunk_counts_by_the_better_of_its_stems(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, *(chunk(f"{n}", text="Das Haus ist alt und steht in der Stadt und an der Straße.") for n in range(9)))
        self.put(store, index, chunk("plural", text="Die Häuser sind alt und stehen in der Stadt und an der Straße."))
        assert len(self.search(store, index, "Haus", limit=20)) == 10
        assert found_ids(self.search(store, index, "Häuser"))[0] == "plural#0"

    def test_a_word_within_a_word_is_not_found(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk("a", text="concatenate getUserName"))
        assert [self.search(store, index, query) for query in ("cat", "sername")] == [[], []]

    def test_a_text_is_searched_with_what_stands_before_it(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk(text="plain", indexed_text="Installation > Linux\n\nplain"))
        assert found_ids(self.search(store, index, "linux")) == ["a.md#0"]

    def test_a_chunk_without_any_word_of_the_query_is_not_found(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk("a", text="apples and pears"), chunk("b", text="plums"))
        assert found_ids(self.search(store, index, "apples oranges")) == ["a#0"]

    def test_a_query_without_a_word_finds_nothing(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk(text="word - ? * ( \x07 🙂"))
        assert [query for query in NOT_A_WORD if self.search(store, index, query)] == []

    def test_any_text_is_a_query(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk(text="a word w1"))
        assert [query[:40] for query in ANY_TEXTS if found_ids(self.search(store, index, query)) != ["a.md#0"]] == []

    def test_texts_of_any_kind_can_be_written(self, store: LexicalStore, index: str) -> None:
        texts = [
            "",
            " ",
            "\x01\x02 word",
            "x" * 50_000,
            "word " * 5_000,
            "é" * 3_000,
            "漢字" * 2_000,
            "\u200b\ufeffword",
            "a" * 300 + " word",
        ]
        self.put(store, index, *(chunk(index=place, text=text, count=len(texts)) for place, text in enumerate(texts)))
        assert {scored.record.index for scored in self.search(store, index, "word")} == {2, 4, 7, 8}
        assert [record.text for record in store.chunks_of(index, "a.md", 1)] == texts

    def test_the_whole_identifier_ranks_before_its_parts(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk("parts", text="the asyncio task in a group"), chunk("whole", text="use asyncio.TaskGroup in a loop"))
        assert found_ids(self.search(store, index, "asyncio.TaskGroup"))[0] == "whole#0"

    def test_a_rare_word_weighs_more_than_a_common_one(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, *(chunk(f"{n}", text="common thing") for n in range(20)), chunk("rare", text="unusual thing"))
        assert found_ids(self.search(store, index, "common unusual"))[0] == "rare#0"

    def test_a_word_weighs_more_in_a_short_text(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, chunk("long", text="apple " + "filler words here " * 30), chunk("short", text="apple pie"))
        assert found_ids(self.search(store, index, "apple")) == ["short#0", "long#0"]

    def test_scores_are_above_zero_and_never_clamped(self, store: LexicalStore, index: str) -> None:
        self.put(store, index, *(chunk(f"{n}", text=f"filler text {n}") for n in range(100)), chunk("x", text="alpha beta gamma delta"))
        best = self.search(store, index, "alpha beta gamma delta")[0]
        common = self.search(store, index, "filler", limit=100)
        assert best.score > 4.0
        assert all(0.0 < scored.score < 1.0 for scored in common)

    def test_only_scores_of_at_least_the_threshold_are_found(self, store: LexicalStore, index: str) -> None:
        self.put(
            store,
            index,
            *(chunk(f"{n}", text="filler") for n in range(50)),
            chunk("both", text="filler alpha beta"),
            chunk("one", text="filler alpha"),
        )
        scores = {scored.record.document_id: scored.score for scored in self.search(store, index, "alpha beta")}
        assert set(scores) == {"both", "one"}
        assert found_ids(self.search(store, index, "alpha beta", threshold=scores["both"] - 0.001)) == ["both#0"]
        assert self.search(store, index, "alpha beta", threshold=scores["both"] + 0.001) == []
