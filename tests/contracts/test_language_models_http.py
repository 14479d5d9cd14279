"""Chat and rerank models behind HTTP keep the contracts of their ports."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from docmill.adapters.providers.http_chat import HttpChatModel
from docmill.adapters.providers.language_models import rerank_model_for
from docmill.ports.models import RerankModel
from docmill.testing.language_model_contract import ChatModelContract, RerankModelContract
from support.language_model_connections import CHAT_PROVIDERS, KEY, chat_model_at, spec_of
from support.language_model_server import LanguageModelServer, running_language_model_server

RERANK_MODELS = ["cohere/rerank-v3.5", "voyage/rerank-2.5", "dmr/ai/bge", *(f"{provider}/chat" for provider in CHAT_PROVIDERS)]


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageModelServer]:
    with running_language_model_server() as server:
        yield server


class TestHttpChatModel(ChatModelContract):
    @pytest.fixture(params=CHAT_PROVIDERS)
    def model(self, request: pytest.FixtureRequest, server: LanguageModelServer) -> Iterator[HttpChatModel]:
        with chat_model_at(server, request.param) as model:
            yield model


class TestRerankModels(RerankModelContract):
    @pytest.fixture(params=RERANK_MODELS)
    def model(self, request: pytest.FixtureRequest, server: LanguageModelServer) -> Iterator[RerankModel]:
        provider, _, model = request.param.partition("/")
        with closing(rerank_model_for(spec_of(server, provider, model), credentials={"KEY": KEY}, timeout_seconds=20)) as connected:
            yield connected
