"""BM25 in Elasticsearch: the words are found by our own code, as in every profile, and stemmed and ranked by the server."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import Any, Final

from elasticsearch import Elasticsearch, NotFoundError

from docmill.adapters.elasticsearch.bulk import deleting, send, writing
from docmill.adapters.elasticsearch.connection import Connection
from docmill.adapters.elasticsearch.definition import Json
from docmill.adapters.elasticsearch.documents import generation_in, record_in, source_of
from docmill.adapters.elasticsearch.making import make_index
from docmill.adapters.elasticsearch.names import CHUNKS, alias_of, physical_of
from docmill.adapters.elasticsearch.queries import best_first, is_exact, is_sendable, of_generation, words_query
from docmill.adapters.elasticsearch.store_record import raise_epoch, read_record
from docmill.domain.chunk_filters import matches_filter
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk, StoredGeneration, point_id_of
from docmill.domain.errors import StoreDown, StoreRejected

#: Records in one answer.
_MOST_HITS: Final = 500
_GENERATIONS_AT_ONCE: Final = 1_000
_IDS_AT_ONCE: Final = 1_000
#: How many candidates a filter that the server cannot apply exactly may look through.
_MOST_CANDIDATES: Final = 10_000


class ElasticsearchLexicalStore:
    """A ``LexicalStore``; ``connect_elasticsearch`` makes it. ``k1`` and ``b`` of a search are those of ``create``."""

    def __init__(self, connection: Connection, version: str) -> None:
        """Takes over ``connection``; ``version`` is the server's."""
        self._connection = connection
        self._version = version
        self._strategies: dict[str, str] = {}

    def close(self) -> None:
        """Closes the connections."""
        self._connection.close()

    def describe(self) -> str:
        """One line about the server; raises ``StoreDown`` when it does not answer now."""
        self._connection.call(None, lambda client: client.info())
        return f"Elasticsearch {self._version} at {self._connection.place} answers"

    def identity(self) -> str:
        """See the port."""
        return read_record(self._connection).identity

    def epoch(self) -> int:
        """See the port."""
        return read_record(self._connection).epoch

    def raise_epoch(self, epoch: int) -> None:
        """See the port."""
        raise_epoch(self._connection, epoch)

    def indexes(self) -> list[str]:
        """See the port."""
        found = self._connection.call(None, lambda client: client.indices.get_alias(name=f"{CHUNKS}*").body)
        return sorted(alias.removeprefix(CHUNKS) for index in found.values() for alias in index["aliases"])

    def create(self, index: str, strategy: str, *, k1: float, b: float) -> None:
        """See the port; an index with other parameters is closed for a moment, given these, and opened."""
        make_index(self._connection, index, strategy, k1, b)
        self._strategies[index] = strategy

    def drop(self, index: str) -> None:
        """See the port."""
        self._strategies.pop(index, None)
        self._connection.call(index, lambda client: client.indices.delete(index=physical_of(index), ignore_unavailable=True))

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        """See the port."""
        strategy = self._strategy(index)
        send(
            self._connection,
            index,
            (writing(point_id_of(r.document_id, r.generation, strategy, r.index), r.chunk_id, source_of(r)) for r in records),
        )

    def refresh(self, index: str) -> None:
        """See the port; one request, whatever was written."""
        answer = self._connection.call(index, lambda client: client.indices.refresh(index=alias_of(index)).body)
        if answer["_shards"]["failed"]:
            raise StoreDown(f"Elasticsearch at {self._connection.place} could not refresh index {index!r}")

    def delete(self, index: str, document_id: str, generation: int, count: int) -> None:
        """See the port."""
        strategy = self._strategy(index)
        ids = (point_id_of(document_id, generation, strategy, place) for place in range(count))
        send(self._connection, index, (deleting(point_id, document_id) for point_id in ids))

    def delete_generation(self, index: str, document_id: str, generation: int) -> None:
        """See the port.

        Chunks that were written lately are found too. They are removed by their ids, so what happens to them meanwhile is no conflict.
        """
        self.refresh(index)
        search: Json = {"query": of_generation(document_id, generation), "size": _IDS_AT_ONCE, "_source": False, "sort": [{"n": "asc"}]}
        for hits in self._pages(index, search):
            send(self._connection, index, (deleting(hit["_id"], document_id) for hit in hits))

    def chunks_of(self, index: str, document_id: str, generation: int) -> list[ChunkRecord]:
        """See the port."""
        search: Json = {"query": of_generation(document_id, generation), "size": _MOST_HITS, "sort": [{"n": "asc"}]}
        return [record_in(hit["_source"]) for hits in self._pages(index, search) for hit in hits]

    def generations(self, index: str) -> Iterator[StoredGeneration]:
        """See the port; in the order of documents, and of generations within one."""
        fields: list[Json] = [{name: {"terms": {"field": name}}} for name in ("doc", "gen", "whole")]
        composite: Json = {"size": _GENERATIONS_AT_ONCE, "sources": fields}
        for _, same in groupby(self._buckets(index, composite), key=lambda found: (found.document_id, found.generation)):
            yield next(same)

    def count(self, index: str) -> int:
        """See the port."""
        answer = self._search(index, {"size": 0, "track_total_hits": True})
        return int(answer["hits"]["total"]["value"])

    def search(
        self,
        index: str,
        query: str,
        limit: int,
        *,
        k1: float,
        b: float,
        threshold: float,
        chunk_filter: ChunkFilter,
        without_generations: AbstractSet[int] = frozenset(),
    ) -> list[ScoredChunk]:
        """See the port."""
        words = words_query(query)
        if words is None or limit <= 0 or not is_sendable(chunk_filter):
            return []
        search = best_first(words, chunk_filter, without_generations, threshold, min(limit, _MOST_HITS))
        exact = is_exact(chunk_filter)
        chosen: list[ScoredChunk] = []
        looked_at = 0
        for hits in self._pages(index, search):
            looked_at += len(hits)
            scored = [ScoredChunk(record_in(hit["_source"]), hit["sort"][0]) for hit in hits]
            chosen += [chunk for chunk in scored if exact or matches_filter(chunk_filter, chunk.record)]
            if len(chosen) >= limit or (not exact and looked_at >= _MOST_CANDIDATES):
                break
        return chosen[:limit]

    def _pages(self, index: str, search: Json) -> Iterator[list[Any]]:
        """The hits of ``search`` in its order, one answer after the other; each is asked for when the one before was used."""
        after: Json = {}
        while hits := self._search(index, search | after)["hits"]["hits"]:
            yield hits
            if len(hits) < search["size"]:
                return
            after = {"search_after": hits[-1]["sort"]}

    def _buckets(self, index: str, composite: Json) -> Iterator[StoredGeneration]:
        after: Json = {}
        while True:
            found = self._search(index, {"size": 0, "aggs": {"generations": {"composite": composite | after}}})["aggregations"][
                "generations"
            ]
            for bucket in found["buckets"]:
                yield generation_in(bucket["key"], bucket["doc_count"])
            if "after_key" not in found:
                return
            after = {"after": found["after_key"]}

    def _search(self, index: str, search: Json) -> Any:
        """The answer to ``search``; half an answer, when a shard fails, is none."""
        return self._connection.call(
            index, lambda client: client.search(index=alias_of(index), body=search, allow_partial_search_results=False).body
        )

    def _strategy(self, index: str) -> str:
        """What the index was made for; asked for once, since a name never changes its strategy."""
        known = self._strategies.get(index)
        if known is None:
            known = self._strategies[index] = self._connection.call(index, lambda client: _noted_strategy(client, index))
        return known


def _noted_strategy(client: Elasticsearch, index: str) -> str:
    try:
        (found,) = client.indices.get_mapping(index=alias_of(index)).body.values()
    except NotFoundError as error:
        raise StoreRejected(f"index {index!r} does not exist in Elasticsearch") from error
    return str(found["mappings"]["_meta"]["strategy"])
