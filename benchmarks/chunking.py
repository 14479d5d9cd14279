"""Chunking here or in a child process, by the size of the document, and what cutting code by its syntax costs beside parsing it."""

import random
import sysconfig
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.corpus import text_of, words
from benchmarks.machine import machine, table
from docmill.chunking import chunk
from docmill.chunking.syntax.parsing import parse
from docmill.documents.loading import load
from docmill.domain.chunks import Chunk
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import Chunking

SIZES = ((2_000, 300), (20_000, 60), (200_000, 10), (2_000_000, 3))


def work(document_id: str, content: bytes) -> list[Chunk]:
    """What a worker does with a document before it embeds."""
    return chunk(load(document_id, content), Chunking())


def main() -> None:
    """Prints the table."""
    chance, vocabulary = random.Random(1), words(4000)
    rows: list[tuple[str, ...]] = [("bytes", "here, ms of CPU", "in a child, ms of the parent's CPU", "in a child, ms in all")]
    with ProcessPoolExecutor(1) as children:
        children.submit(work, "a.md", b"# a").result()
        for size, repeats in SIZES:
            content = ("# T\n\n" + "\n\n".join(text_of(chance, vocabulary, 900) for _ in range(size // 900))).encode()
            before = time.process_time()
            for _ in range(repeats):
                work("a.md", content)
            here = (time.process_time() - before) / repeats
            before, began = time.process_time(), time.perf_counter()
            for _ in range(repeats):
                children.submit(work, "a.md", content).result()
            parent, wall = (time.process_time() - before) / repeats, (time.perf_counter() - began) / repeats
            rows.append((f"{size:,}", f"{here * 1000:.2f}", f"{parent * 1000:.2f}", f"{wall * 1000:.2f}"))
    print(machine())
    print(table(rows))
    print(table(code_rows()))


def code_rows() -> list[tuple[str, ...]]:
    """Python's own library, cut as text and by its syntax."""
    folder = Path(sysconfig.get_path("stdlib"))
    documents = [load(path.name, path.read_bytes()) for path in sorted(folder.glob("*.py"))]
    characters = sum(len(document.text) for document in documents)
    ways: dict[str, Callable[[LoadedDocument], object]] = {
        "as text": lambda document: chunk(document, Chunking(4000)),
        "parsing alone": lambda document: parse(document.text, "python"),
        "by its syntax": lambda document: chunk(document, Chunking(4000, code_aware=True)),
    }
    rows: list[tuple[str, ...]] = [(f"{len(documents)} files of Python, {characters / 1e6:.1f} MB", "ms of CPU for a file", "MB/s")]
    for name, way in ways.items():
        before = time.process_time()
        for document in documents:
            way(document)
        seconds = time.process_time() - before
        rows.append((name, f"{seconds / len(documents) * 1000:.2f}", f"{characters / 1e6 / seconds:.1f}"))
    return rows


if __name__ == "__main__":
    main()
