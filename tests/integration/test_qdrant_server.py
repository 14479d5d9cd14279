"""The Qdrant store against a server that misbehaves as real ones do."""

import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from qdrant_client import QdrantClient, models

from docmill.adapters.qdrant import QdrantVectorStore, connect_qdrant
from docmill.config.settings import Settings
from docmill.domain.chunks import ChunkFilter, text_hash_of
from docmill.domain.errors import ConfigurationError, ServiceDown, StoreDown, StoreRejected, WrongDimension
from docmill.domain.knowledge_bases import Similarity
from docmill.testing.store_contract import chunk
from support.qdrant_grpc import qdrant_grpc_server
from support.qdrant_server import QdrantServer, qdrant_server_in_thread, qdrant_server_process
from support.redis_server import Certificates, free_port, make_certificates

INDEX = "handbook-1-dense"
#: A write that the server took, and did not make.
ACKNOWLEDGED = {"status": 200, "body": {"result": {"operation_id": 1, "status": "acknowledged"}, "status": "ok", "time": 0.0}}


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantServer]:
    with qdrant_server_in_thread(tmp_path_factory.mktemp("qdrant")) as server:
        yield server


@pytest.fixture
def server(module_server: QdrantServer) -> Iterator[QdrantServer]:
    yield module_server
    module_server.behave()


@pytest.fixture
def waits() -> list[float]:
    """How long the store waited between attempts; it does not really wait."""
    return []


@pytest.fixture
def store(server: QdrantServer, waits: list[float]) -> Iterator[QdrantVectorStore]:
    client = QdrantClient(url=server.url, timeout=1, check_compatibility=False)
    store = QdrantVectorStore(client, f"127.0.0.1:{server.port}", sleep=waits.append)
    store.create(INDEX, "dense", 3, Similarity.COSINE)
    server.take_requests()
    yield store
    server.behave()
    store.drop(INDEX)
    store.close()


def connected(url: str, **settings: object) -> QdrantVectorStore:
    return connect_qdrant(Settings(qdrant_url=url, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_write_that_a_busy_server_refused_is_made_again(
    store: QdrantVectorStore, server: QdrantServer, waits: list[float], status: int
) -> None:
    server.misbehave({"status": status}, {"status": status})
    store.write(INDEX, [chunk()])
    assert store.count(INDEX) == 1
    assert len(waits) == 2


@pytest.mark.parametrize("fault", [{"disconnect": True}, {"disconnect": True, "apply": True}, {"delay_seconds": 1.5, "apply": True}])
def test_a_write_whose_answer_was_lost_is_made_again(store: QdrantVectorStore, server: QdrantServer, fault: dict[str, object]) -> None:
    server.misbehave(fault)
    store.write(INDEX, [chunk(index=place, count=2) for place in range(2)])
    assert store.count(INDEX) == 2


def test_a_server_that_asks_to_be_left_alone_is(store: QdrantVectorStore, server: QdrantServer, waits: list[float]) -> None:
    server.misbehave({"status": 429, "headers": {"Retry-After": "5"}})
    store.write(INDEX, [chunk()])
    assert store.count(INDEX) == 1
    assert [5 <= wait <= 6 for wait in waits] == [True]


def test_a_write_that_is_only_acknowledged_is_made_again(store: QdrantVectorStore, server: QdrantServer, waits: list[float]) -> None:
    server.misbehave(ACKNOWLEDGED)
    store.write(INDEX, [chunk()])
    assert store.count(INDEX) == 1
    assert len(waits) == 1


def test_a_server_that_gives_only_a_few_points_at_once_is_read_in_small_pages(store: QdrantVectorStore, server: QdrantServer) -> None:
    store.write(INDEX, [chunk(f"docs/{place}.md", text=f"text {place}") for place in range(40)])
    server.limit(reads=7)
    assert len(list(store.generations(INDEX))) == 40
    found = store.search(INDEX, [1.0, 0.0, 0.0], 20, threshold=0.0, chunk_filter=ChunkFilter(path_glob="docs/*.md"))
    assert len(found) == 20
    assert len(store.vectors_of(INDEX, [text_hash_of(f"text {place}") for place in range(40)])) == 40


def test_a_write_larger_than_the_rate_limit_goes_in_parts(store: QdrantVectorStore, server: QdrantServer) -> None:
    server.limit(writes=40, per_second=1_000_000.0)
    store.write(INDEX, [chunk(index=place, count=100) for place in range(100)])
    assert store.count(INDEX) == 100
    sent = [request["points"] for request in server.take_requests() if request["method"] == "PUT"]
    assert sent == [100, 50, 25, 25, 50, 25, 25]


def test_one_chunk_larger_than_the_rate_limit_is_rejected_at_once(
    store: QdrantVectorStore, server: QdrantServer, waits: list[float]
) -> None:
    server.limit(writes=0)
    with pytest.raises(StoreRejected, match="limit allows only 0"):
        store.write(INDEX, [chunk()])
    assert waits == []
    assert len(server.take_requests()) == 1


@pytest.mark.parametrize(
    ("status", "error"), [(400, StoreRejected), (422, StoreRejected), (500, StoreDown), (401, StoreDown), (403, StoreDown)]
)
def test_other_refusals_are_told_at_once(
    store: QdrantVectorStore, server: QdrantServer, waits: list[float], status: int, error: type[Exception]
) -> None:
    server.misbehave({"status": status, "message": "the reason"})
    with pytest.raises(error, match="the reason"):
        store.write(INDEX, [chunk()])
    assert waits == []


def test_a_server_that_stays_away_is_down_after_a_bounded_number_of_attempts(
    store: QdrantVectorStore, server: QdrantServer, waits: list[float]
) -> None:
    server.be_down()
    with pytest.raises(StoreDown, match=str(server.port)):
        store.write(INDEX, [chunk()])
    assert len(waits) == 5
    waits.clear()
    with pytest.raises(StoreDown):
        store.search(INDEX, [1.0, 0.0, 0.0], 5, threshold=0.0, chunk_filter=ChunkFilter())
    assert len(waits) == 2


def test_300_chunks_of_3072_numbers_with_text_are_stored(store: QdrantVectorStore, server: QdrantServer) -> None:
    store.create("handbook-large", "dense", 3072, Similarity.COSINE)
    vectors = [[(place % 7 + 1) / (number % 11 + 1.7) for number in range(3072)] for place in range(7)]
    records = [chunk(index=place, count=300, text=f"Ein Absatz, {place}. " * 100, vector=vectors[place % 7]) for place in range(300)]
    store.write("handbook-large", records)
    assert store.count("handbook-large") == 300
    sent = [request["size_bytes"] for request in server.take_requests() if request["points"]]
    assert sum(sent) > 16 * 2**20
    assert max(sent) < 8 * 2**20
    assert len(store.vectors_of("handbook-large", [record.text_hash for record in records])) == 300
    store.drop("handbook-large")


def test_a_chunk_larger_than_any_request_is_rejected_and_the_rest_is_not_lost(store: QdrantVectorStore) -> None:
    huge = chunk("huge.md", text="x" * 40_000_000)
    with pytest.raises(StoreRejected, match="larger than allowed"):
        store.write(INDEX, [chunk("a.md"), huge])
    assert [found.document_id for found in store.generations(INDEX)] == ["a.md"]


def test_nothing_is_sent_when_one_vector_has_another_length(store: QdrantVectorStore, server: QdrantServer) -> None:
    with pytest.raises(WrongDimension):
        store.write(INDEX, [chunk(index=place, vector=[1.0, 0.0] if place == 600 else [1.0, 0.0, 0.0]) for place in range(601)])
    assert server.take_requests() == []


def test_every_filtered_field_is_indexed(store: QdrantVectorStore) -> None:
    store.write(INDEX, [chunk(language="python", metadata={"team": "core"})])
    # The server is in strict mode: it refuses filters by other fields.
    chosen = ChunkFilter(path_prefix="a", path_glob="*.md", language="python", mime="text/markdown", metadata={"team": "core"})
    assert store.search(INDEX, [1.0, 0.0, 0.0], 5, threshold=0.0, chunk_filter=chosen, without_generations={7})
    assert store.vectors_of(INDEX, [text_hash_of("some word")])
    store.delete_generation(INDEX, "a.md", 1)
    assert store.chunks_of(INDEX, "a.md", 1) == []


def test_a_deletion_that_the_server_did_not_make_is_made_again(store: QdrantVectorStore, server: QdrantServer) -> None:
    store.write(INDEX, [chunk()])
    server.misbehave(ACKNOWLEDGED)
    store.delete(INDEX, "a.md", 1, 1)
    assert store.count(INDEX) == 0


def test_chunks_that_stay_after_a_deletion_are_an_error(store: QdrantVectorStore, server: QdrantServer) -> None:
    store.write(INDEX, [chunk()])
    server.misbehave(*[ACKNOWLEDGED] * 3)
    with pytest.raises(StoreDown, match=r"still has 1 deleted chunks of 'a\.md'"):
        store.delete(INDEX, "a.md", 1, 1)


def test_a_dropped_index_is_noticed_by_one_who_knew_it(store: QdrantVectorStore, server: QdrantServer) -> None:
    other = connected(server.url)
    other.create("handbook-short", "dense", 3, Similarity.COSINE)
    other.write("handbook-short", [chunk()])
    store.drop("handbook-short")
    for call in (lambda: other.refresh("handbook-short"), lambda: other.write("handbook-short", [chunk()])):
        with pytest.raises(StoreRejected, match="handbook-short"):
            call()
    store.create("handbook-short", "dense", 2, Similarity.COSINE)
    other.write("handbook-short", [chunk(vector=[1.0, 0.0])])
    other.drop("handbook-short")
    other.close()


def test_an_index_made_anew_with_other_dimensions_is_noticed(store: QdrantVectorStore, server: QdrantServer) -> None:
    other = connected(server.url)
    other.create("handbook-short", "dense", 3, Similarity.COSINE)
    store.drop("handbook-short")
    store.create("handbook-short", "dense", 2, Similarity.COSINE)
    with pytest.raises(WrongDimension, match="expected dim: 2, got 3"):
        other.write("handbook-short", [chunk()])
    other.write("handbook-short", [chunk(vector=[1.0, 0.0])])
    other.drop("handbook-short")
    other.close()


def test_an_existing_index_refuses_another_similarity_and_another_strategy(store: QdrantVectorStore) -> None:
    with pytest.raises(WrongDimension, match="cosine"):
        store.create(INDEX, "dense", 3, Similarity.DOT_PRODUCT)
    with pytest.raises(StoreRejected, match="'other'"):
        store.create(INDEX, "other", 3, Similarity.COSINE)


def test_a_strategy_may_have_any_name_and_is_known_to_every_process(store: QdrantVectorStore, server: QdrantServer) -> None:
    strategy = "Ganz/égal: 100 %"
    store.create("handbook-named", strategy, 3, Similarity.COSINE)
    store.write("handbook-named", [chunk()])
    other = connected(server.url)
    other.delete("handbook-named", "a.md", 1, 1)
    assert other.count("handbook-named") == 0
    other.drop("handbook-named")
    other.close()


def test_several_that_make_an_index_at_once_all_have_it(server: QdrantServer) -> None:
    stores = [connected(server.url) for _ in range(6)]

    def make_and_write(number: int) -> None:
        stores[number].create("handbook-race", "dense", 3, Similarity.COSINE)
        stores[number].write("handbook-race", [chunk(f"{number}.md")])
        stores[number].delete_generation("handbook-race", "none.md", 1)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(make_and_write, range(6)))
    assert stores[0].count("handbook-race") == 6
    stores[0].drop("handbook-race")
    for store in stores:
        store.close()


IDENTIFY = """
import sys
from docmill.adapters.qdrant import connect_qdrant
from docmill.config.settings import Settings
store = connect_qdrant(Settings(qdrant_url=sys.argv[1]))
sys.stdin.readline()
print(store.identity())
store.raise_epoch(int(sys.argv[2]))
print(store.epoch())
store.close()
"""


def test_processes_that_meet_a_new_server_at_once_agree_on_its_identity_and_its_epoch(tmp_path: Path) -> None:
    with qdrant_server_process(tmp_path / "qdrant") as server:
        commands = [[sys.executable, "-c", IDENTIFY, server.url, str(epoch)] for epoch in (5, 9, 7)]
        processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for command in commands]
        for process in processes:  # each waits for a line once it is connected
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        told = [process.communicate(timeout=60)[0].split() for process in processes]
        store = connected(server.url)
        assert {identity for identity, _ in told} == {store.identity()}
        assert [int(epoch) >= own for (_, epoch), own in zip(told, (5, 9, 7), strict=True)] == [True] * 3
        assert store.epoch() == 9
        store.close()


def test_threads_that_raise_the_epoch_at_once_never_lower_it(server: QdrantServer) -> None:
    store = connected(server.url)
    before = store.epoch()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(store.raise_epoch, [before + step for step in (3, 12, 5, 11, 7, 1)]))
    assert store.epoch() == before + 12
    store.close()


def test_a_wiped_server_has_another_identity_and_no_epoch(tmp_path: Path) -> None:
    with qdrant_server_in_thread(tmp_path / "qdrant") as server:
        store = connected(server.url)
        store.raise_epoch(4)
        identity = store.identity()
        client = QdrantClient(url=server.url, check_compatibility=False)
        client.delete_collection("docmill")
        client.close()
        assert store.identity() != identity
        assert store.epoch() == 0
        store.close()


def test_collections_of_others_are_not_listed(server: QdrantServer) -> None:
    client = QdrantClient(url=server.url, check_compatibility=False)
    client.create_collection("of-somebody-else", vectors_config={"v": models.VectorParams(size=1, distance=models.Distance.DOT)})
    store = connected(server.url)
    assert "of-somebody-else" not in store.indexes()
    client.delete_collection("of-somebody-else")
    client.close()
    store.close()


def test_what_was_written_is_there_after_the_server_was_killed(tmp_path: Path) -> None:
    with qdrant_server_process(tmp_path / "qdrant") as server:
        store = connected(server.url)
        store.create(INDEX, "dense", 3, Similarity.COSINE)
        store.write(INDEX, [chunk(index=place, count=50) for place in range(50)])
        identity = store.identity()
        store.close()
    with qdrant_server_process(tmp_path / "qdrant") as server:
        store = connected(server.url)
        assert (store.identity(), store.count(INDEX)) == (identity, 50)
        store.close()


def test_the_server_is_described_by_its_version_and_place(server: QdrantServer) -> None:
    store = connected(server.url)
    assert store.describe() == f"Qdrant 1.18.0 at 127.0.0.1:{server.port} answers"
    store.close()


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_a_server_that_is_not_there_is_told_with_its_setting(scheme: str) -> None:
    port = free_port()
    with pytest.raises(StoreDown, match=rf"127\.0\.0\.1:{port} cannot be reached .*DOCMILL_QDRANT_URL"):
        connected(f"{scheme}://127.0.0.1:{port}")


@pytest.mark.parametrize("key", [None, "wrong"])
def test_a_wrong_key_is_told_with_its_setting_and_without_the_key(tmp_path: Path, key: str | None) -> None:
    with qdrant_server_in_thread(tmp_path, api_key="right") as server:
        with pytest.raises(StoreDown, match="DOCMILL_QDRANT_API_KEY") as caught:
            connected(server.url, qdrant_api_key=key)
        assert "wrong" not in str(caught.value)
        store = connected(server.url, qdrant_api_key="right")
        assert store.indexes() == []
        store.close()


@pytest.mark.parametrize(("version", "title"), [("1.9.2", "qdrant - vector search engine"), ("9.4.3", "another engine")])
def test_another_server_or_an_older_one_is_refused(tmp_path: Path, version: str, title: str) -> None:
    with qdrant_server_in_thread(tmp_path, version=version, title=title) as server, pytest.raises(ServiceDown, match="DOCMILL_QDRANT_URL"):
        connected(server.url)


def test_a_server_that_speaks_something_else_is_told_in_one_line(server: QdrantServer) -> None:
    with pytest.raises(ServiceDown, match="DOCMILL_QDRANT_URL") as caught:
        connected(f"{server.url}/control")
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def test_tls_with_an_authority_of_ones_own_is_trusted_when_its_file_is_named(tmp_path: Path, certificates: Certificates) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates.certificate, certificates.key)
    with qdrant_server_in_thread(tmp_path, tls=tls) as server:
        with pytest.raises(StoreDown, match="DOCMILL_QDRANT_CA_FILE"):
            connected(server.url)
        store = connected(server.url, qdrant_ca_file=str(certificates.authority))
        assert store.indexes() == []
        store.close()


def test_tls_to_a_server_without_it_is_told(server: QdrantServer) -> None:
    with pytest.raises(StoreDown, match="check the scheme of DOCMILL_QDRANT_URL"):
        connected(f"https://127.0.0.1:{server.port}")


def test_a_file_without_certificates_is_told(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")
    with pytest.raises(ConfigurationError, match="DOCMILL_QDRANT_CA_FILE"):
        connected("https://127.0.0.1:1", qdrant_ca_file=str(empty))


def test_over_grpc_too_a_busy_server_is_asked_again_and_a_large_request_is_split(tmp_path: Path) -> None:
    with qdrant_grpc_server(tmp_path) as server:
        store = connected(server.url)
        store.create(INDEX, "dense", 3, Similarity.COSINE)
        server.faults.extend([(grpc.StatusCode.UNAVAILABLE, ()), (grpc.StatusCode.RESOURCE_EXHAUSTED, ())])
        server.calls.clear()
        store.write(INDEX, [chunk(index=place, count=2) for place in range(2)])
        assert server.calls == ["Upsert"] * 4
        server.faults.append((grpc.StatusCode.RESOURCE_EXHAUSTED, (("retry-after", "1"),)))
        server.calls.clear()
        store.write(INDEX, [chunk(index=place, count=2) for place in range(2)])
        assert server.calls == ["Upsert"] * 2
        assert store.count(INDEX) == 2
        store.close()


def test_over_grpc_with_tls_an_authority_of_ones_own_is_trusted_when_its_file_is_named(tmp_path: Path, certificates: Certificates) -> None:
    with qdrant_grpc_server(tmp_path, tls=(certificates.key.read_bytes(), certificates.certificate.read_bytes())) as server:
        with pytest.raises(StoreDown, match="DOCMILL_QDRANT_CA_FILE"):
            connected(server.url)
        store = connected(server.url, qdrant_ca_file=str(certificates.authority))
        assert store.indexes() == []
        store.close()


def test_over_grpc_too_a_wrong_key_is_told_with_its_setting(tmp_path: Path) -> None:
    with qdrant_grpc_server(tmp_path, api_key="right") as server:
        with pytest.raises(StoreDown, match="DOCMILL_QDRANT_API_KEY"):
            connected(server.url, qdrant_api_key="wrong")
        store = connected(server.url, qdrant_api_key="right")
        assert store.describe() == f"Qdrant 1.18.0 at 127.0.0.1:{server.port} answers"
        store.close()
