"""What embedded stores do beyond the port: opening, locking, crashes, room on the disk."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from docmill.adapters.embedded import edge_store
from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.vector_store import EmbeddedVectorStore
from docmill.domain.chunks import ChunkFilter, point_id_of, text_hash_of
from docmill.domain.errors import DataFolderError, DataFolderInUse, DiskFull, StoreDown, StoreRejected
from docmill.domain.knowledge_bases import Similarity
from docmill.testing.store_contract import chunk
from support.small_disk import leave_free, small_disk

EVERYTHING = ChunkFilter()


def vector_store(folder: Path) -> EmbeddedVectorStore:
    store = EmbeddedVectorStore(folder)
    store.create("i", "strategy", 3, Similarity.COSINE)
    return store


def size_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def test_everything_is_there_after_closing_and_opening(tmp_path: Path) -> None:
    store = vector_store(tmp_path / "v")
    store.write("i", [chunk(text="one", vector=[0.0, 1.0, 0.0])])
    store.raise_epoch(3)
    identity = store.identity()
    store.close()
    store = EmbeddedVectorStore(tmp_path / "v")
    assert (store.identity(), store.epoch(), store.indexes(), store.count("i")) == (identity, 3, ["i"], 1)
    assert list(store.vectors_of("i", [text_hash_of("one")]).values()) == [[0.0, 1.0, 0.0]]
    store.close()


def test_another_folder_has_another_identity(tmp_path: Path) -> None:
    stores = [EmbeddedVectorStore(tmp_path / name) for name in "ab"]
    assert stores[0].identity() != stores[1].identity()
    for store in stores:
        store.close()


def test_a_second_open_is_refused_and_does_no_harm(tmp_path: Path) -> None:
    store = vector_store(tmp_path)
    with pytest.raises(DataFolderInUse, match=str(tmp_path)):
        EmbeddedVectorStore(tmp_path)
    store.write("i", [chunk()])
    store.close()
    store = EmbeddedVectorStore(tmp_path)
    assert store.count("i") == 1
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = vector_store(tmp_path)
    shard = store._shards.index("i").shard
    store.close()
    store.close()
    with pytest.raises(StoreRejected):
        store.count("i")
    with pytest.raises(StoreDown, match="closed"):
        shard.count()


WRITER = """
import os, signal, sys
from pathlib import Path
from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.vector_store import EmbeddedVectorStore
from docmill.domain.knowledge_bases import Similarity
from docmill.testing.store_contract import chunk

vectors, words = EmbeddedVectorStore(Path(sys.argv[1]) / "v"), EmbeddedLexicalStore(Path(sys.argv[1]) / "l")
vectors.create("i", "s", 3, Similarity.COSINE)
words.create("i", "s", k1=1.5, b=0.75)
vectors.raise_epoch(4)
for number in range(1, 60):
    for store in (vectors, words):
        store.write("i", [chunk(f"{number}.md", 1, place, f"word{number} text", count=4) for place in range(4)])
        store.delete("i", f"{number - 10}.md", 1, 4)
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert ended.stdout.split()[-1] == "59"
    vectors, words = EmbeddedVectorStore(tmp_path / "v"), EmbeddedLexicalStore(tmp_path / "l")
    for store in (vectors, words):
        assert {(found.document_id, found.whole) for found in store.generations("i")} == {(f"{n}.md", True) for n in range(50, 60)}
    assert vectors.epoch() == 4
    found = words.search("i", "word57", 10, k1=1.5, b=0.75, threshold=0.0, chunk_filter=EVERYTHING)
    assert {scored.record.document_id for scored in found[:4]} == {"57.md"}
    vectors.close()
    words.close()


def test_an_index_that_was_never_finished_is_removed_on_opening(tmp_path: Path) -> None:
    store = vector_store(tmp_path)
    store.close()
    (tmp_path / "i" / "index.json").unlink()
    store = EmbeddedVectorStore(tmp_path)
    assert store.indexes() == []
    assert not (tmp_path / "i").exists()
    store.close()


def test_deleted_chunks_leave_the_disk_when_the_store_is_opened_again(tmp_path: Path) -> None:
    store = EmbeddedVectorStore(tmp_path)
    store.create("i", "strategy", 256, Similarity.COSINE)
    store.write("i", [chunk("gone", 1, n, f"{n} " * 300, count=3000, vector=[float(n % 7 + 1), *[1.0] * 255]) for n in range(3000)])
    store.write("i", [chunk(f"kept {n}", vector=[1.0] * 256) for n in range(100)])
    store.delete("i", "gone", 1, 3000)
    store.close()
    before = size_bytes(tmp_path / "i" / "shard" / "segments")
    store = EmbeddedVectorStore(tmp_path)
    assert store.count("i") == 100
    store.write("i", [chunk("new", vector=[1.0] * 256)])
    store.close()
    assert size_bytes(tmp_path / "i" / "shard" / "segments") < before / 2
    store = EmbeddedVectorStore(tmp_path)
    assert store.count("i") == 101
    store.close()


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"identity": "x", "epoch": "y"}'])
def test_a_damaged_identity_record_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "identity.json").write_bytes(content)
    with pytest.raises(DataFolderError, match=r"identity\.json"):
        EmbeddedVectorStore(tmp_path)
    (tmp_path / "identity.json").write_text(json.dumps({"identity": "x", "epoch": 2}))
    store = EmbeddedVectorStore(tmp_path)
    assert (store.identity(), store.epoch()) == ("x", 2)
    store.close()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "A", "../x", "x" * 201])
def test_a_name_that_is_no_index_name_is_rejected(tmp_path: Path, name: str) -> None:
    store = EmbeddedLexicalStore(tmp_path)
    with pytest.raises(StoreRejected):
        store.create(name, "bm25", k1=1.5, b=0.75)
    store.drop(name)
    store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["identity.json", "lock"]


def test_a_filter_that_the_engine_cannot_apply_looks_through_a_bounded_number_of_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_store, "_MOST_CANDIDATES", 10)
    store = EmbeddedLexicalStore(tmp_path)
    store.create("i", "words", k1=1.5, b=0.75)
    store.write("i", [chunk(f"{number}.md", text="apple") for number in range(30)])
    ids = [UUID(point_id_of(f"{number}.md", 1, "words", 0)) for number in range(30)]
    asked: list[int] = []

    def ranking(_: object, most: int) -> list[tuple[UUID, float]]:
        asked.append(most)
        return [(point_id, 1.0) for point_id in ids[:most]]

    found = store._found(store._shards.index("i"), ranking, 3, 0.0, ChunkFilter(path_glob="other/*"), frozenset())
    store.close()
    assert (found, asked) == ([], [6, 10])


@pytest.fixture
def small_memory_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=210m", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here, which needs more rights than a CI machine may give too")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_closed_index_can_be_searched_on_a_disk_without_room_for_more(tmp_path: Path) -> None:
    with small_disk(tmp_path, 600) as disk:
        store = vector_store(disk / "v")
        store.write("i", [chunk(f"{number}.md", text=f"text {number}") for number in range(300)])
        for number in range(200):  # more than a fifth: opening would write the rest anew if it could
            store.delete("i", f"{number}.md", 1, 1)
        store.close()
        leave_free(disk, 2)
        store = EmbeddedVectorStore(disk / "v")
        assert len(store.search("i", [1.0, 0.0, 0.0], 5, threshold=0.0, chunk_filter=EVERYTHING)) == 5
        with pytest.raises(DiskFull):
            store.write("i", [chunk()])
        store.close()


def test_an_index_that_was_not_closed_is_opened_only_where_its_log_has_room(tmp_path: Path) -> None:
    with small_disk(tmp_path, 600) as disk:
        killed = subprocess.run([sys.executable, "-c", WRITER, str(disk)], capture_output=True, check=False)
        assert killed.returncode == -signal.SIGKILL
        leave_free(disk, 2)
        with pytest.raises(DiskFull, match="192 MB are needed"):
            EmbeddedVectorStore(disk / "v")


def test_a_full_disk_is_an_error_and_nothing_acknowledged_is_lost(small_memory_disk: Path) -> None:
    store = vector_store(small_memory_disk / "v")
    written = 0

    def write_until_it_fails() -> None:
        nonlocal written
        while True:
            store.write("i", [chunk(f"{written}-{n}", text=os.urandom(2000).hex()) for n in range(100)])
            written += 1

    with pytest.raises(DiskFull, match=str(small_memory_disk)):
        write_until_it_fails()
    assert store.count("i") == 100 * written
    assert len(store.search("i", [1.0, 0.0, 0.0], 5, threshold=0.0, chunk_filter=EVERYTHING)) == 5
    store.delete("i", "0-0", 1, 1)
    with pytest.raises(DiskFull):
        store.create("j", "strategy", 3, Similarity.COSINE)
    store.close()
    assert written > 10
