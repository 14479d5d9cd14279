"""Builds the HTTP application."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from docmill import __version__
from docmill.domain.errors import DocmillError
from docmill.ports.keys import KeyStore, RequestCounter
from docmill_services.mcp.over_http import McpOverHttp
from docmill_services.query.backend import Backend
from docmill_services.query.context import Context
from docmill_services.query.edge import REQUEST_ID_KEY, Edge
from docmill_services.query.guard import Guard
from docmill_services.query.openapi import DescribedApplication
from docmill_services.query.problems import FieldError, Problem, RefusedRequest, problem_of, problem_response, request_problem
from docmill_services.query.routes.answer import answer_routes
from docmill_services.query.routes.documents import document_routes
from docmill_services.query.routes.health import health_routes
from docmill_services.query.routes.keys import key_routes
from docmill_services.query.routes.knowledge_bases import knowledge_base_routes
from docmill_services.query.routes.removals import removal_routes
from docmill_services.query.routes.retrying import retry_routes
from docmill_services.query.routes.runs import run_routes
from docmill_services.query.routes.search import search_routes
from docmill_services.query.routes.verification import verification_routes

MAX_FIELD_ERRORS = 20
_log = structlog.get_logger("docmill.http")


def make_app(
    knowledge_bases: Mapping[str, Backend],
    api_key: str | None = None,
    *,
    keys: KeyStore | None = None,
    counter: RequestCounter | None = None,
) -> FastAPI:
    """The application over ``knowledge_bases``; the mapping may change while it serves.

    Args:
        knowledge_bases: by name.
        api_key: one that may do everything; with it, or with any key in ``keys``, only those are answered who bring one.
        keys: where the other keys are; None keeps none.
        counter: of their requests.
    """
    guard = Guard(keys, counter, master=api_key)
    context = Context(knowledge_bases, guard, keys)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        context.work.close()
        context.answers.close()
        await mcp.close()

    app = DescribedApplication(
        title="docmill", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan
    )
    app.state.context = context
    mcp = McpOverHttp(
        lambda: app, lambda: [backend.settings for backend in context.all_knowledge_bases.values()], guard.own_key, context.stopping
    )
    app.router.routes.append(Route("/mcp", mcp, methods=["GET", "POST", "DELETE"], name="mcp", include_in_schema=False))
    work_routes = (key_routes, run_routes, retry_routes, removal_routes, verification_routes)
    for routes in (health_routes, knowledge_base_routes, search_routes, answer_routes, document_routes, *work_routes):
        app.include_router(routes(context))
    app.add_exception_handler(DocmillError, _on_docmill_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_middleware(Edge, metrics=context.metrics, guard=guard)
    return app


async def _on_docmill_error(request: Request, error: Exception) -> Response:
    problem = problem_of(cast("DocmillError", error))
    if problem.status >= 500:
        _log.warning("request refused", request_id=request.scope[REQUEST_ID_KEY], code=problem.code, error=str(error))
    return _respond(request, problem)


async def _on_validation_error(request: Request, error: Exception) -> Response:
    errors = _field_errors(cast("RequestValidationError", error).errors())
    detail = "; ".join(f"{one.field}: {one.message}" if one.field else one.message for one in errors)
    return _respond(request, request_problem("request.invalid", detail, errors))


async def _on_http_error(request: Request, error: Exception) -> Response:
    refused = cast("HTTPException", error)
    if isinstance(refused, RefusedRequest):
        return _respond(request, refused.problem)
    if refused.status_code == 405:
        problem = request_problem("request.method_not_allowed", f"{request.method[:20]} is not possible here")
    elif refused.status_code == 404:
        problem = request_problem("request.not_found", "no such path; the API begins with /v1, and /openapi.json describes it")
    elif refused.status_code < 500:
        problem = request_problem("request.malformed", "the request cannot be read")
    else:
        problem = request_problem("internal", "docmill failed to answer")
    return _respond(request, problem, refused.headers)


def _respond(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    return problem_response(problem, request.scope[REQUEST_ID_KEY], headers)


def _field_errors(errors: Sequence[Any]) -> list[FieldError]:
    """What pydantic found, without what was sent; at most ``MAX_FIELD_ERRORS``, each field once."""
    found: dict[str, FieldError] = {}
    for error in errors:
        location = [str(part)[:100] for part in error["loc"]]
        field = ".".join(location[1:] if location[0] in ("body", "query", "path") else location)
        found.setdefault(field, FieldError(field, _message(error["type"], error["msg"], field)))
    return list(found.values())[:MAX_FIELD_ERRORS]


def _message(kind: str, message: str, field: str) -> str:
    if kind == "extra_forbidden":
        return "unknown field"
    if not field and kind in ("missing", "model_attributes_type", "model_type"):
        return "the body must be a JSON object, sent as Content-Type: application/json"
    return message[:300]
