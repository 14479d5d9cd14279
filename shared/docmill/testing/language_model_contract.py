"""Contracts of the ``ChatModel`` and ``RerankModel`` ports; a subclass overrides one fixture."""

# A test's name is its rule.
# ruff: noqa: D102

import math

import pytest

from docmill.ports.models import ChatModel, RerankModel

PASSAGES = ("Refunds take thirty days.", "The lighthouse stands on a rock.", "", "日本語の文章です。")


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

    def test_no_passages_have_no_scores(self, model: RerankModel) -> None:
        assert model.score("anything", [], criteria=None) == []

    def test_a_passage_that_answers_is_above_one_that_does_not(self, model: RerankModel) -> None:
        answer, other, *_ = model.score("refunds take how long", PASSAGES, criteria=None)
        assert answer is not None
        assert other is None or answer > other
