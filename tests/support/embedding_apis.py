"""Embedding APIs of several providers in one small server: what each takes, refuses and answers, as its documentation says.

Vectors are a hash of the text, without the words that a model wants before it, so that a query finds the passage with the same words.
Tokens are counted as one for each three characters. An API that refuses what it does not know refuses it here, too.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docmill.adapters.memory.models import hash_vector

Json = Any

_PREFIX = re.compile(
    r"(search_query: |search_document: |query: |passage: |task: search result \| query: |title: none \| text: "
    r"|Represent this sentence for searching relevant passages: )"
)
_GEMINI = re.compile(r"/v1beta/models/([^/:]+):batchEmbedContents")
_GEMINI_KEYS = {"model", "content", "taskType", "title", "outputDimensionality"}
_TASK_TYPES = {"RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", "SEMANTIC_SIMILARITY", "CLASSIFICATION", "CLUSTERING", "QUESTION_ANSWERING"}
_DIMENSIONS = {"gemini-embedding-001": 3072, "gemini-embedding-2": 3072, "embed-v4.0": 1536}
#: Of one text, in the characters that these servers count.
_OLLAMA_WINDOW = _LLAMA_WINDOW = 2048


@dataclass(frozen=True)
class Reply:
    """What an API answers."""

    status: int
    body: Json


class Refused(Exception):
    """The request is not one that the API takes."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(status)
        self.reply = Reply(status, body)


def reply_of(path: str, headers: Mapping[str, str], body: dict[str, Json], dimensions: int) -> Reply:
    """The answer to a request; ``dimensions`` are those of models whose own are not known here. ``headers`` in lower case."""
    try:
        if match := _GEMINI.fullmatch(path):
            return Reply(200, _gemini(match[1], headers, body, dimensions))
        match path:
            case "/v2/embed":
                return Reply(200, _cohere(headers, body, dimensions))
            case "/voyage/v1/embeddings":
                return Reply(200, _voyage(headers, body, dimensions))
            case "/mistral/v1/embeddings":
                return Reply(200, _mistral(headers, body, dimensions))
            case "/api/embed":
                return Reply(200, _ollama(body, dimensions))
            case "/engines/v1/embeddings" | "/v1/embeddings":
                return Reply(200, _llama_cpp(body, dimensions))
    except Refused as refused:
        return refused.reply
    return Reply(404, {"error": {"message": f"there is no {path}"}})


def texts_of(body: dict[str, Json]) -> list[str]:
    """The texts of a request to any of the APIs."""
    if "requests" in body:
        return [request["content"]["parts"][0]["text"] for request in body["requests"]]
    texts: list[str] = body.get("input", body.get("texts", []))
    return texts


def _vector(text: str, dimensions: int) -> list[float]:
    return list(hash_vector(_PREFIX.sub("", text, count=1), dimensions))


def _tokens(text: str) -> int:
    return math.ceil(len(text) / 3)


def _gemini(model: str, headers: Mapping[str, str], body: dict[str, Json], dimensions: int) -> Json:
    def invalid(message: str) -> Refused:
        return Refused(400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})

    if not headers.get("x-goog-api-key"):
        raise Refused(403, {"error": {"code": 403, "message": "Method doesn't allow unregistered callers.", "status": "PERMISSION_DENIED"}})
    if not 1 <= len(body["requests"]) <= 100:
        raise invalid("at most 100 requests can be in one batch")
    vectors = []
    for request in body["requests"]:
        if request.get("model") != f"models/{model}" or not request.keys() <= _GEMINI_KEYS:
            raise invalid("Invalid JSON payload received.")
        if model.startswith("gemini-embedding-2") and "taskType" in request:
            raise invalid("task_type is not supported by this model")
        if request.get("taskType", "RETRIEVAL_QUERY") not in _TASK_TYPES:
            raise invalid("Invalid value at 'requests[0].task_type'")
        own = _DIMENSIONS.get(model, dimensions)
        length = request.get("outputDimensionality", own)
        # Only the full length is normalised.
        scale = 1.0 if length == own else 0.5
        vectors.append({"values": [scale * entry for entry in _vector(request["content"]["parts"][0]["text"], length)]})
    return {"embeddings": vectors}


def _cohere(headers: Mapping[str, str], body: dict[str, Json], dimensions: int) -> Json:
    if not headers.get("authorization", "").startswith("Bearer "):
        raise Refused(401, {"message": "no api key supplied"})
    known = {"model", "texts", "input_type", "embedding_types", "truncate", "output_dimension", "max_tokens", "priority"}
    if not body.keys() <= known or body.get("input_type") not in ("search_query", "search_document"):
        raise Refused(400, {"id": "1", "message": "invalid request: valid input_type must be provided with the provided model"})
    if len(body["texts"]) > 96:
        raise Refused(400, {"id": "1", "message": "invalid request: total number of texts must be at most 96"})
    if "output_dimension" in body and not body["model"].startswith("embed-v4"):
        raise Refused(400, {"id": "1", "message": "invalid request: output_dimension is not supported by this model"})
    window = 128_000 if body["model"].startswith("embed-v4") else 512
    if body.get("truncate") == "NONE" and any(_tokens(text) > window for text in body["texts"]):
        raise Refused(400, {"id": "1", "message": f"invalid request: the text is too long, the limit is {window} tokens"})
    length = body.get("output_dimension", dimensions)
    return {
        "id": "1",
        "embeddings": {"float": [_vector(text, length) for text in body["texts"]]},
        "texts": body["texts"],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}},
        "response_type": "embeddings_by_type",
    }


def _voyage(headers: Mapping[str, str], body: dict[str, Json], dimensions: int) -> Json:
    if not headers.get("authorization", "").startswith("Bearer "):
        raise Refused(401, {"detail": "Provided API key is invalid."})
    known = {"model", "input", "input_type", "truncation", "output_dimension", "output_dtype", "encoding_format"}
    if unknown := body.keys() - known:
        raise Refused(400, {"detail": f"Argument '{min(unknown)}' is not supported by our API"})
    if body.get("encoding_format", "base64") != "base64" or body.get("input_type") not in ("query", "document", None):
        raise Refused(400, {"detail": "Value of argument is not valid"})
    if len(body["input"]) > 1000 or sum(map(_tokens, body["input"])) > 120_000:
        raise Refused(400, {"detail": "The max allowed tokens per submitted batch is 120000."})
    if body.get("truncation") is False and any(_tokens(text) > 32_000 for text in body["input"]):
        raise Refused(400, {"detail": "The example at index 0 in your batch has too many tokens"})
    return _openai_form(body, body.get("output_dimension", dimensions))


def _mistral(headers: Mapping[str, str], body: dict[str, Json], dimensions: int) -> Json:
    if not headers.get("authorization", "").startswith("Bearer "):
        raise Refused(401, {"message": "Unauthorized", "request_id": "1"})
    known = {"model", "input", "encoding_format", "output_dimension", "output_dtype", "metadata"}
    if unknown := body.keys() - known:
        detail = [{"type": "extra_forbidden", "loc": ["body", min(unknown)], "msg": "Extra inputs are not permitted"}]
        raise Refused(422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error", "code": None})
    if len(body["input"]) > 256:
        raise Refused(400, {"object": "error", "message": "Too many inputs in request, split into more batches.", "code": 3210})
    if sum(map(_tokens, body["input"])) > 16_384:
        raise Refused(400, {"object": "error", "message": "Too many tokens overall, split into more batches.", "code": 3210})
    if "output_dimension" in body and not body["model"].startswith("codestral-embed"):
        raise Refused(400, {"object": "error", "message": "This model does not support output_dimension.", "code": 3051})
    return _openai_form(body, body.get("output_dimension", dimensions))


def _ollama(body: dict[str, Json], dimensions: int) -> Json:
    if body.get("truncate") is False and any(_tokens(text) > _OLLAMA_WINDOW for text in body["input"]):
        raise Refused(400, {"error": "the input length exceeds the context length"})
    return {
        "model": body["model"],
        "embeddings": [_vector(text, body.get("dimensions", dimensions)) for text in body["input"]],
        "total_duration": 14143917,
        "load_duration": 1019500,
        "prompt_eval_count": 8,
    }


def _llama_cpp(body: dict[str, Json], dimensions: int) -> Json:
    if any(_tokens(text) > _LLAMA_WINDOW for text in body["input"]):
        message = "input is too large to process. increase the physical batch size"
        raise Refused(500, {"error": {"code": 500, "message": message, "type": "server_error"}})
    return _openai_form(body, dimensions)


def _openai_form(body: dict[str, Json], dimensions: int) -> Json:
    data = [{"object": "embedding", "index": place, "embedding": _vector(text, dimensions)} for place, text in enumerate(body["input"])]
    # In any order: the index says which is which.
    return {"object": "list", "model": body["model"], "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
