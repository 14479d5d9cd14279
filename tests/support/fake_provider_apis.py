"""The APIs that a fake provider speaks: OpenAI's and, in the forms of the other servers for tests, those of everybody else."""

import base64
import hashlib
import json
import math
import re
import struct
from collections.abc import Mapping
from typing import Any, Final

from docmill.adapters.memory.models import hash_vector
from support.embedding_apis import Refused, Reply, reply_of, texts_of
from support.fake_provider_faults import Spoiling
from support.language_model_apis import API_OF_PATH, event_bytes, rerank_answer

Json = Any

_GEMINI_ONE: Final = re.compile(r"/v1beta/models/[^/:]+:embedContent")
_OPENAI_KEYS: Final = {"model", "input", "encoding_format", "dimensions", "user"}
_OPENAI_DIMENSIONS: Final = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_OPENAI_TOKENS, _OPENAI_REQUEST_TOKENS, _OPENAI_TEXTS = 8192, 300_000, 2048
_SOURCED_PASSAGE: Final = re.compile(r"Passage (\d+), from [^\n]*:\n<<<[^\n]*\n(.*?)\n[^\n]*>>>", re.DOTALL)
_QUESTION: Final = re.compile(r"Question:\n<<<[^\n]*\n(.*?)\n[^\n]*>>>", re.DOTALL)
EVENT_STREAM: Final = "text/event-stream; charset=utf-8"


def answer_to(path: str, headers: Mapping[str, str], body: dict[str, Json], dimensions: int) -> tuple[Reply, str | None]:
    """The right answer, and its content type where it is not JSON; ``path`` with its query, ``headers`` in lower case."""
    where, _, query = path.partition("?")
    try:
        if where.endswith("/embeddings") and where.startswith("/v1/"):
            return Reply(200, _openai_embeddings(headers, body, dimensions)), None
        if _GEMINI_ONE.fullmatch(where):
            many = reply_of(where.replace(":embedContent", ":batchEmbedContents"), headers, {"requests": [body]}, dimensions)
            return (many if many.status != 200 else Reply(200, {"embedding": many.body["embeddings"][0]})), None
    except Refused as refused:
        return refused.reply, None
    if where.endswith("/rerank"):
        return Reply(200, rerank_answer(body, logits=False)), None
    api = next((api for end, api in API_OF_PATH.items() if where.endswith(end)), None)
    if api is None:
        return reply_of(where, headers, body, dimensions), None
    if problem := api.problem_of(body, headers):
        return Reply(400, api.error(problem)), None
    says = _said_to(prompt_of(body), asks_for_form=api.schema_of(body) is not None)
    if api.streams(body, where, query):
        return Reply(200, b"".join(map(event_bytes, api.events(body, says)))), EVENT_STREAM
    return Reply(200, api.answer(body, says)), None


def texts_sent(body: dict[str, Json]) -> list[str]:
    """Every text of a request to any of the APIs: passages, a query and its documents, or a prompt."""
    if "documents" in body:
        return [body["query"], *body["documents"]]
    if "messages" in body or "contents" in body:
        return [prompt_of(body)]
    if "content" in body:
        return [body["content"]["parts"][0]["text"]]
    if isinstance(body.get("input"), str):
        return [body["input"]]
    return texts_of(body)


def prompt_of(body: dict[str, Json]) -> str:
    """What the user says in a request to a chat model."""
    prompt: str = body["contents"][-1]["parts"][0]["text"] if "contents" in body else body["messages"][-1]["content"]
    return prompt


def tokens_of(text: str) -> int:
    """As the providers here count them."""
    return math.ceil(len(text) / 4)


def spoilt(body: Json, how: Spoiling) -> Json:
    """An answer with embeddings in OpenAI's form, spoilt; what is cut off is bytes."""
    if how is Spoiling.CUT_JSON:
        content = json.dumps(body).encode()
        return content[: len(content) // 2]
    data = body["data"]
    if how in (Spoiling.SHORT, Spoiling.ZERO, Spoiling.NAN):
        for item in data:
            item["embedding"] = _as_numbers(item["embedding"])
    match how:
        case Spoiling.TURNED:
            data.reverse()
        case Spoiling.MISSING:
            data.pop()
        case Spoiling.REPEATED:
            data.append(data[0])
        case Spoiling.RENUMBERED:
            data[0]["index"] = len(data)
        case Spoiling.SHORT:
            for item in data:
                item["embedding"] = item["embedding"][:-1]
        case Spoiling.ZERO:
            data[0]["embedding"] = [0.0] * len(data[0]["embedding"])
        case Spoiling.NAN:
            data[0]["embedding"][0] = float("nan")
    return body


def _as_numbers(embedding: Json) -> list[float]:
    if isinstance(embedding, str):
        packed = base64.b64decode(embedding)
        return list(struct.unpack(f"<{len(packed) // 4}f", packed))
    numbers: list[float] = embedding
    return numbers


def _openai_embeddings(headers: Mapping[str, str], body: dict[str, Json], dimensions: int) -> Json:
    """https://platform.openai.com/docs/api-reference/embeddings/create"""
    if not headers.get("authorization", "").startswith("Bearer "):
        raise _openai_refusal(401, "You didn't provide an API key.", None)
    if unknown := body.keys() - _OPENAI_KEYS:
        raise _openai_refusal(400, f"Unrecognized request argument supplied: {min(unknown)}", None)
    texts = texts_sent(body)
    if not texts or not all(texts):
        raise _openai_refusal(400, "'$.input' is invalid. Please check the API reference", None)
    if len(texts) > _OPENAI_TEXTS or sum(map(tokens_of, texts)) > _OPENAI_REQUEST_TOKENS:
        raise _openai_refusal(400, "Requested too many inputs or tokens, max 300000 tokens per request", "max_tokens_per_request")
    if any(tokens_of(text) > _OPENAI_TOKENS for text in texts):
        raise _openai_refusal(400, f"This model's maximum context length is {_OPENAI_TOKENS} tokens", None)
    if "dimensions" in body and not body["model"].startswith("text-embedding-3"):
        raise _openai_refusal(400, "This model does not support specifying dimensions.", None)
    length = body.get("dimensions", _OPENAI_DIMENSIONS.get(body["model"], dimensions))
    vectors = [list(hash_vector(text, length)) for text in texts]
    shown = [_as_base64(vector) for vector in vectors] if body.get("encoding_format") == "base64" else vectors
    data = [{"object": "embedding", "index": place, "embedding": entries} for place, entries in enumerate(shown)]
    tokens = sum(map(tokens_of, texts))
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def _openai_refusal(status: int, message: str, code: str | None) -> Refused:
    return Refused(status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}})


def _as_base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _said_to(prompt: str, *, asks_for_form: bool) -> str | None:
    """A sentence that only this prompt gets; None where the prompt asks for a form that the API's own model keeps to."""
    if asks_for_form or "Passage 1:" in prompt:
        return None
    if passages := _SOURCED_PASSAGE.findall(prompt):
        return _answer_from(passages, _QUESTION.findall(prompt)[0])
    return f"These words are about subject {hashlib.sha256(prompt.encode()).hexdigest()[:12]}."


def _answer_from(passages: list[tuple[str, str]], question: str) -> str:
    """Cites the passages with the last word of the question, and one that there is not; declines where no passage has it."""
    word = re.findall(r"\w+", question)[-1]
    numbers = [number for number, text in passages if word in text]
    if not numbers:
        return f"NOT_COVERED The documents say nothing about {word}."
    return f"It is about {word} {''.join(f'[{number}]' for number in numbers)}, and more [99]."
