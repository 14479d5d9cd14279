"""Contract of the ``EmbeddingModel`` port.

An adapter passes by one subclass that overrides one fixture::

    class TestMyModel(EmbeddingModelContract):
        @pytest.fixture
        def model(self):
            return MyModel()
"""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from docmill.domain.chunks import Vector
from docmill.ports.models import EmbeddingModel

TEXTS = (
    "Parse a date from a string with a given format.",
    "x",
    "Water boils at a lower temperature on a high mountain. " * 20,
    "日付の文字列を解析する",
    "def total(prices: list[float]) -> float:\n    return sum(prices)\n",
)
LONG_TEXT = "The keeper of the lighthouse wrote the weather down every evening. " * 400


def cosine(first: Vector, second: Vector) -> float:
    """The cosine of the angle between two vectors."""
    product = math.fsum(a * b for a, b in zip(first, second, strict=True))
    return product / math.sqrt(math.fsum(a * a for a in first) * math.fsum(b * b for b in second))


class EmbeddingModelContract:
    """Every rule of the port, each a test."""

    @pytest.fixture
    def model(self) -> EmbeddingModel:
        """The model under test; a subclass overrides it."""
        raise NotImplementedError

    def test_its_name_says_provider_and_model(self, model: EmbeddingModel) -> None:
        """``provider/model``."""
        provider, _, name = model.name.partition("/")
        assert provider
        assert name

    def test_no_texts_have_no_vectors(self, model: EmbeddingModel) -> None:
        """An empty list is not an error."""
        assert model.embed_passages([]) == []

    def test_every_vector_is_as_long_as_the_model_says(self, model: EmbeddingModel) -> None:
        """Passages and queries alike."""
        vectors = [*model.embed_passages(TEXTS), model.embed_query(TEXTS[0])]
        assert [len(vector) for vector in vectors] == [model.dimensions] * len(vectors)

    def test_every_vector_is_finite_and_points_somewhere(self, model: EmbeddingModel) -> None:
        """No NaN, no infinity, not all zeros, for any text."""
        for vector in model.embed_passages([*TEXTS, "\0", "\u200b", "😀𓀀", "?!"]):
            assert all(math.isfinite(entry) for entry in vector)
            assert any(vector)

    def test_vectors_come_in_the_order_of_their_texts(self, model: EmbeddingModel) -> None:
        """Turned texts have turned vectors."""
        assert model.embed_passages(TEXTS[::-1]) == model.embed_passages(TEXTS)[::-1]

    def test_a_text_is_not_changed_by_its_neighbours(self, model: EmbeddingModel) -> None:
        """Alone or in company, beside short texts or long ones."""
        alone = [model.embed_passages([text])[0] for text in TEXTS]
        assert model.embed_passages([LONG_TEXT, *TEXTS, LONG_TEXT])[1:-1] == alone

    def test_equal_texts_have_equal_vectors_and_different_ones_differ(self, model: EmbeddingModel) -> None:
        """In one call and in two."""
        first, second, other = model.embed_passages([TEXTS[0], TEXTS[0], TEXTS[1]])
        assert first == second == model.embed_passages([TEXTS[0]])[0]
        assert first != other

    def test_a_query_finds_the_passage_with_the_same_words(self, model: EmbeddingModel) -> None:
        """Queries and passages lie in one space."""
        vectors = model.embed_passages(TEXTS)
        for text, vector in zip(TEXTS, vectors, strict=True):
            query = model.embed_query(text)
            assert max(vectors, key=lambda passage: cosine(query, passage)) == vector

    def test_the_end_of_a_long_text_counts(self, model: EmbeddingModel) -> None:
        """A text beyond the model's window is not cut silently."""
        whole, cut = model.embed_passages([LONG_TEXT + "One night it burned down.", LONG_TEXT])
        assert whole != cut

    def test_many_texts_may_come_in_one_call(self, model: EmbeddingModel) -> None:
        """More than any batch holds."""
        texts = [f"line {number}" for number in range(130)]
        vectors = model.embed_passages(texts)
        assert len(vectors) == len(texts)
        assert vectors[129] == model.embed_passages([texts[129]])[0]

    def test_text_that_has_no_utf8_form_is_embedded_all_the_same(self, model: EmbeddingModel) -> None:
        """A lone surrogate, as a command line with odd bytes gives."""
        [vector] = model.embed_passages(["a name with \udcff in it"])
        assert model.embed_query("a name with \udcff in it") == vector

    def test_several_threads_may_call_at_once(self, model: EmbeddingModel) -> None:
        """Each gets the vectors of its own texts."""
        expected = {text: model.embed_passages([text])[0] for text in TEXTS}
        with ThreadPoolExecutor(6) as pool:
            passages = [pool.submit(model.embed_passages, [text, *TEXTS]) for text in TEXTS]
            queries = [pool.submit(model.embed_query, text) for text in TEXTS]
            assert [future.result()[0] for future in passages] == list(expected.values())
            assert [future.result() for future in queries] == list(expected.values())
