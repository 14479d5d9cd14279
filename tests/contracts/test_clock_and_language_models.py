"""The small twins keep the contracts of their ports."""

import pytest

from docmill.adapters.clock import SystemClock
from docmill.adapters.memory.clock import ManualClock
from docmill.adapters.memory.language_models import ScriptedChatModel, WordOverlapRerankModel
from docmill.domain.errors import ProviderRateLimited
from docmill.testing.clock_contract import ClockContract
from docmill.testing.language_model_contract import ChatModelContract, RerankModelContract


class TestSystemClock(ClockContract):
    @pytest.fixture
    def clock(self) -> SystemClock:
        return SystemClock()


class TestManualClock(ClockContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()


class TestScriptedChatModel(ChatModelContract):
    @pytest.fixture
    def model(self) -> ScriptedChatModel:
        return ScriptedChatModel(lambda prompt: f"one two three four five six seven {prompt}")

    def test_it_keeps_what_it_was_asked(self, model: ScriptedChatModel) -> None:
        model.complete("first", max_tokens=1)
        "".join(model.stream("second", max_tokens=1, system="be brief"))
        assert model.prompts == ["first", "second"]
        assert model.systems == [None, "be brief"]

    def test_it_keeps_whether_a_stream_was_closed(self, model: ScriptedChatModel) -> None:
        stream = model.stream("first", max_tokens=2)
        assert not stream.is_closed
        stream.close()
        assert stream.is_closed


class TestWordOverlapRerankModel(RerankModelContract):
    @pytest.fixture
    def model(self) -> WordOverlapRerankModel:
        return WordOverlapRerankModel()

    def test_it_can_be_made_to_fail(self) -> None:
        failing = WordOverlapRerankModel(failure=ProviderRateLimited("later"))
        with pytest.raises(ProviderRateLimited):
            failing.score("a", ["b"], criteria=None)
