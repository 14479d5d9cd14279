"""A provider that answers after 50 ms: how much of what it can give is got, by the embedding stage alone and by ``docmill up --once``."""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.corpus import text_of, words
from benchmarks.machine import machine, table
from docmill.adapters.providers.openai_compatible import OpenAiEmbeddingModel
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.indexing.batchers import Batchers
from docmill.ports.models import Caller

if TYPE_CHECKING:
    from support.fake_provider import FakeProvider

FILES: Final = 2_000
LATENCY_SECONDS: Final = 0.05
CONCURRENCY: Final = 4
DIMENSIONS: Final = 64
MODEL: Final = "text-embedding-3-small"
KEY: Final = "sk-of-a-benchmark"
#: Texts in a request. The first is a request for each file; the last asks for more than two cores can read, cut and write.
BATCHES: Final = (1, 2, 12, 50)
#: Documents of a text each that wait at once.
_CALLERS: Final = 512
#: The embedding stage alone is given texts for so long at most.
_STAGE_SECONDS: Final = 10.0


def bound(batch: int) -> float:
    """Texts per second that the provider can answer."""
    return CONCURRENCY * batch / LATENCY_SECONDS


@dataclass(frozen=True)
class Got:
    """What the provider saw, from the first request to the last answer.

    Attributes:
        rate: texts per second, each paid once.
        in_use: the share of the requests in flight that there could be; at the bound it is 1, unless the provider itself is late.
        fullness: texts per request.
    """

    rate: float
    in_use: float
    fullness: float

    def cells(self, batch: int) -> tuple[str, ...]:
        """For the table."""
        return f"{self.rate:.0f}", f"{self.rate / bound(batch):.0%}", f"{self.in_use:.0%}", f"{self.fullness:.1f}"


def stage(provider: "FakeProvider", batch: int, texts: Sequence[str]) -> Got:
    """What the embedding stage alone gets for callers that have one text each."""
    spec = EmbeddingModelSpec("openai", MODEL, DIMENSIONS, base_url=provider.base_url, batch_size=batch, max_concurrency=CONCURRENCY)
    provider.take()
    waiting, batchers, caller = threading.Semaphore(_CALLERS), Batchers(), Caller("bench")
    with closing(OpenAiEmbeddingModel(spec, dimensions=DIMENSIONS, api_key=KEY)) as model:
        asked = []
        for text in texts:
            waiting.acquire()
            asked.append(batchers.ask(model, spec, caller, [text], when_done=waiting.release))
        for _ in range(_CALLERS):
            waiting.acquire()
        for one in asked:
            one.vectors()
        batchers.stop()
    return got(provider)


def up_once(provider: "FakeProvider", batch: int, folder: Path) -> tuple[Got, float]:
    """What ``docmill up --once`` gets, and its files per second from start to end."""
    files = sum(1 for _ in folder.iterdir())
    provider.take()
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        configuration = Path(scratch) / "docmill.yaml"
        configuration.write_text(json.dumps(_configuration(provider.base_url, batch, folder)), encoding="utf-8")
        program = str(Path(sys.executable).with_name("docmill"))
        command = [program, "up", str(configuration), "--once", "--port", "0", "--data-dir", str(Path(scratch) / "data")]
        begun = time.perf_counter()
        ended = subprocess.run(command, env=os.environ | {"BENCHMARK_KEY": KEY}, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begun
    if ended.returncode != 0:
        raise SystemExit(f"docmill up --once ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return got(provider), files / seconds


def got(provider: "FakeProvider") -> Got:
    """From the provider's log."""
    log = provider.take()
    texts = [text for seen in log for text in seen.texts]
    if len(set(texts)) != len(texts):
        raise SystemExit(f"{len(texts) - len(set(texts))} texts were paid again")
    ends = [seen.ended_at or seen.at for seen in log]
    span = max(ends) - min(seen.at for seen in log)
    in_flight = sum(end - seen.at for end, seen in zip(ends, log, strict=True))
    return Got(len(texts) / span, in_flight / (CONCURRENCY * span), len(texts) / len(log))


def texts_of(count: int) -> Iterator[str]:
    """Different texts of a chunk each."""
    chance, vocabulary = random.Random(5), words(4000)
    for number in range(count):
        yield f"# Note {number}\n\nThe mark of this note is needle{number:05}. {text_of(chance, vocabulary, 400)}\n"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    options = parser.parse_args()
    texts = list(texts_of(options.files))
    cells = ("texts/s", "of the bound", "in use", "texts/request")
    heads = ("texts/request", "bound, texts/s", *(f"alone: {cell}" for cell in cells), *(f"up: {cell}" for cell in cells), "up: files/s")
    rows: list[tuple[str, ...]] = [heads]
    with _provider() as provider, tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        folder = Path(scratch) / "notes"
        folder.mkdir()
        for number, text in enumerate(texts):
            (folder / f"note{number:05}.md").write_text(text, encoding="utf-8")
        time.sleep(2.5)  # a file that was touched within two seconds of being read is read again
        provider.latency(LATENCY_SECONDS)
        for batch in BATCHES:
            alone = stage(provider, batch, texts[: int(bound(batch) * _STAGE_SECONDS)])
            whole, files = up_once(provider, batch, folder)
            rows.append((str(batch), f"{bound(batch):.0f}", *alone.cells(batch), *whole.cells(batch), f"{files:.0f}"))
        provider.latency(0.0)
        whole, files = up_once(provider, BATCHES[-1], folder)
        rows.append((f"{BATCHES[-1]}, at once", "", "", "", "", "", f"{whole.rate:.0f}", "", "", f"{whole.fullness:.1f}", f"{files:.0f}"))
    print(machine())
    print(f"{options.files} files of one chunk; answers after {LATENCY_SECONDS * 1000:.0f} ms, {CONCURRENCY} requests in flight")
    print(table(rows))


@contextmanager
def _provider() -> Iterator["FakeProvider"]:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.fake_provider import fake_provider

    with fake_provider() as provider:
        yield provider


def _configuration(base_url: str, batch: int, folder: Path) -> dict[str, object]:
    strategies = [
        {
            "type": "chunked-embeddings",
            "embedding_model": "embedder",
            "vector_dimensions": DIMENSIONS,
            "embedding_batch_size": batch,
            "max_embedding_concurrency": CONCURRENCY,
        },
        {"type": "bm25"},
    ]
    model = {"provider": "openai", "model": MODEL, "base_url": base_url, "token_key": "BENCHMARK_KEY"}
    return {"models": {"embedder": model}, "rag": {"bench": {"docs": [str(folder)], "strategies": strategies}}}


if __name__ == "__main__":
    main()
