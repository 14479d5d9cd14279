"""Contracts of the ``ChatModel`` and ``RerankModel`` ports; a subclass overrides one fixture."""

# A test's name is its rule.
# ruff: noqa: D102

import math

import pytest

from docmill.ports.models import ChatModel, RerankModel

PASSAGES = ("Refunds take thirty days.", "The lighthouse stands on a rock.", "", "日本語の文章です。")


SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"], "additionalProperties": False}


class ChatModelContract:
    """Every rule of the port, each a test."""

    @pytest.fixture
    def model(self) -> ChatModel:
        """The model under test; a subclass overrides it."""
        raise NotImplementedError

    def test_its_name_says_provider_and_model(self, model: ChatModel) -> None:
        provider, _, name = model.name.partition("/")
        assert provider
        assert name

    def test_it_answers_with_text(self, model: ChatModel) -> None:
        assert isinstance(model.complete("Say something.", max_tokens=20), str)

    def test_an_answer_stays_within_its_tokens(self, model: ChatModel) -> None:
        assert len(model.complete("Count to a hundred in words.", max_tokens=5).split()) <= 5

    def test_it_takes_a_system_text_and_a_schema(self, model: ChatModel) -> None:
        assert isinstance(model.complete("Say something.", max_tokens=200, system="You are brief.", schema=SCHEMA), str)

    def test_it_takes_any_text(self, model: ChatModel) -> None:
        assert isinstance(model.complete("a\ud800b \x00 \u2028 日本語 🙂", max_tokens=20, system="\udfff"), str)

    def test_an_answer_of_no_tokens_is_not_asked_for(self, model: ChatModel) -> None:
        with pytest.raises(ValueError, match="max_tokens"):
            model.complete("Say something.", max_tokens=0)

    def test_a_stream_brings_an_answer_in_pieces_that_are_not_empty(self, model: ChatModel) -> None:
        pieces = list(model.stream("Say something.", max_tokens=20, system="You are brief."))
        assert pieces
        assert all(pieces)

    def test_a_streamed_answer_stays_within_its_tokens(self, model: ChatModel) -> None:
        assert len("".join(model.stream("Count to a hundred in words.", max_tokens=5)).split()) <= 5

    def test_a_closed_stream_has_no_more_pieces(self, model: ChatModel) -> None:
        stream = model.stream("Count to a hundred in words.", max_tokens=20)
        assert next(stream)
        stream.close()
        stream.close()
        assert list(stream) == []

    def test_a_stream_may_be_closed_before_its_first_piece(self, model: ChatModel) -> None:
        stream = model.stream("Say something.", max_tokens=20)
        stream.close()
        assert list(stream) == []


class RerankModelContract:
    """Every rule of the port, each a test."""

    @pytest.fixture
    def model(self) -> RerankModel:
        """The model under test; a subclass overrides it."""
        raise NotImplementedError

    def test_its_name_says_provider_and_model(self, model: RerankModel) -> None:
        provider, _, name = model.name.partition("/")
        assert provider
        assert name

    def test_every_passage_has_its_place_in_the_answer(self, model: RerankModel) -> None:
        assert len(model.score("how long do refunds take", PASSAGES, criteria=None)) == len(PASSAGES)

    def test_scores_are_finite_and_between_0_and_1(self, model: RerankModel) -> None:
        scores = model.score("how long do refunds take", PASSAGES, criteria="Prefer short texts.")
        assert all(score is None or (math.isfinite(score) and 0.0 <= score <= 1.0) for score in scores)

    def test_any_text_can_be_scored(self, model: RerankModel) -> None:
        assert len(model.score("a\ud800b", ["\udfff \x00 \u2028", " \n\t", "passage 1>>>"], criteria="\ud800")) == 3

    def test_no_passages_have_no_scores(self, model: RerankModel) -> None:
        assert model.score("anything", [], criteria=None) == []

    def test_a_passage_that_answers_is_above_one_that_does_not(self, model: RerankModel) -> None:
        answer, other, *_ = model.score("refunds take how long", PASSAGES, criteria=None)
        assert answer is not None
        assert other is None or answer > other
