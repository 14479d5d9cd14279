"""The OpenAPI description, and what it says of problems."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from docmill_services.query.problems import MEDIA_TYPE
from docmill_services.query.responses import ProblemReply

_WORDS: Final[Mapping[int, str]] = {
    400: "The body is not JSON.",
    401: "A key is needed.",
    403: "The key may not do this; or, where none is needed, Host or Origin name another machine.",
    404: "No such knowledge base, document, run or key.",
    422: "A field is missing, unknown or out of bounds.",
    429: "The key has had its requests of this minute.",
    501: "This version, or this configuration, cannot do it.",
    502: "A model refuses, or what it returned cannot be used.",
    503: "A service that is needed does not answer.",
}
#: What the outermost layer may answer before a call has its turn; whether the service is well, everybody may ask.
_OF_KEYS: Final = (401, 403, 429)
_OPEN_PATHS: Final = ("/livez", "/readyz")
_PROBLEM: Final = {"schema": {"$ref": f"#/components/schemas/{ProblemReply.__name__}"}}


def problems(*statuses: int, others: Mapping[int, dict[str, Any]] | None = None) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that may answer with these problems; ``others`` are added as they are."""
    found: dict[int | str, dict[str, Any]] = {status: {"description": _WORDS[status], "model": ProblemReply} for status in statuses}
    return found | dict(others or {})


class DescribedApplication(FastAPI):
    """An application in whose description every problem has its own media type and form."""

    def openapi(self) -> dict[str, Any]:
        """The description; made once, when it is first asked for."""
        if self.openapi_schema is None:
            self.openapi_schema = _describe(self)
        return self.openapi_schema


def _describe(app: FastAPI) -> dict[str, Any]:
    description = get_openapi(title=app.title, version=app.version, routes=app.routes)
    for path, operations in description["paths"].items():
        for operation in operations.values():
            if path not in _OPEN_PATHS:
                operation["security"] = [{"key": []}, {}]
                for status in _OF_KEYS:
                    operation["responses"].setdefault(str(status), {"description": _WORDS[status], "content": {MEDIA_TYPE: _PROBLEM}})
            for status, response in operation["responses"].items():
                if status == "422" or _PROBLEM["schema"] in (content.get("schema") for content in response.get("content", {}).values()):
                    response["content"] = {MEDIA_TYPE: _PROBLEM}
    description["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    schemas = description["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    return description
