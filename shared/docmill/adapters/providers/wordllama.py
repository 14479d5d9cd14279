"""``local/wordllama-256``: the fast local model: the mean of fixed vectors of a text's tokens, 256 dimensions.

It knows words, not their order: a hundred times as fast as ``local/all-minilm-l6-v2`` and clearly less good.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
import safetensors.numpy
from tokenizers import Tokenizer

from docmill.adapters.providers.texts import well_formed
from docmill.adapters.providers.wheel_files import read_wheel_file
from docmill.domain.chunks import Vector
from docmill.ports.models import Caller

NAME: Final = "local/wordllama-256"
DIMENSIONS: Final = 256

_PACKAGE: Final = "wordllama"
_REQUIREMENT: Final = "wordllama==0.4.0.post1"
_WEIGHTS_SHA256: Final = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_TOKENIZER_SHA256: Final = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
#: Tokens whose vectors are added up at once: bounds memory, and the time for which other threads stand still.
_TOKENS_AT_ONCE: Final = 4096


class WordLlamaModel:
    """WordLlama in 256 dimensions, of texts of any length. Every vector has length 1; that of an empty text has equal entries.

    Texts are embedded one by one in the caller's thread, each in well under a millisecond; other threads run in between and
    while a text is cut into tokens.
    """

    name = NAME
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        """Loads the model, in about a tenth of a second.

        Raises:
            ConfigurationError: the package that holds the model's files is missing, or is another version.
        """
        self._table = _table()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """See ``EmbeddingModel``."""
        return [self._table.vector_of(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """See ``EmbeddingModel``."""
        return self._table.vector_of(text)

    def on_behalf_of(self, caller: Caller) -> "WordLlamaModel":
        """See ``EmbeddingModel``."""
        return self


class _Table:
    # The package itself is not imported: that would set up the process's logging, and bring in an HTTP client.
    def __init__(self) -> None:
        weights = read_wheel_file(_PACKAGE, "weights/l2_supercat_256.safetensors", sha256=_WEIGHTS_SHA256, requirement=_REQUIREMENT)
        vocabulary = read_wheel_file(
            _PACKAGE, "tokenizers/l2_supercat_tokenizer_config.json", sha256=_TOKENIZER_SHA256, requirement=_REQUIREMENT
        )
        self._vectors = safetensors.numpy.load(weights)["embedding.weight"].astype(np.float32)
        self._tokenizer = Tokenizer.from_str(vocabulary.decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def vector_of(self, text: str) -> Vector:
        # A batch of one: only the batch call lets other threads run meanwhile, and "fast" leaves out offsets that nobody reads.
        [encoding] = self._tokenizer.encode_batch_fast([well_formed(text)], add_special_tokens=False)
        ids = np.array(encoding.ids, np.int64)
        total = np.zeros(DIMENSIONS, np.float32)
        for start in range(0, len(ids), _TOKENS_AT_ONCE):
            total += self._vectors[ids[start : start + _TOKENS_AT_ONCE]].sum(axis=0)
        length = float(np.linalg.norm(total))
        if length == 0.0:
            return [DIMENSIONS**-0.5] * DIMENSIONS
        vector: list[float] = (total / length).tolist()
        return vector


@cache
def _table() -> _Table:
    return _Table()
