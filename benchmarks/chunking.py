"""Chunking here or in a child process: what each costs the process that would otherwise do it, by the size of the document."""

import random
import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks.corpus import text_of, words
from benchmarks.machine import machine, table
from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.chunks import Chunk
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


if __name__ == "__main__":
    main()
