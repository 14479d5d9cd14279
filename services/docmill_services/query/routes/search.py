"""Searches."""

import asyncio
from functools import partial
from time import perf_counter

from fastapi import APIRouter
from starlette.responses import Response

from docmill.domain.errors import AllStrategiesFailed, DocmillError, QueryInvalid, ServiceDown
from docmill.domain.searching import SearchOutcome, SearchRequest
from docmill.retrieval.fuse import interleave
from docmill.retrieval.search import soonest
from docmill_services.query.backend import Backend
from docmill_services.query.context import Context
from docmill_services.query.openapi import problems
from docmill_services.query.render import search_reply, search_several_reply
from docmill_services.query.requests import SearchBody, SearchSeveralBody
from docmill_services.query.responses import SearchReply, SearchSeveralReply
from docmill_services.query.strict_json import StrictJsonRoute

DEFAULT_LIMIT_OVER_SEVERAL = 15


def search_routes(context: Context) -> APIRouter:
    """Over one knowledge base, and over several."""
    router = APIRouter(prefix="/v1", tags=["search"], route_class=StrictJsonRoute)

    @router.post("/knowledge-bases/{kb}/search", response_model=SearchReply, responses=problems(400, 404, 422, 501, 503))
    async def search(kb: str, body: SearchBody) -> Response:
        """The best chunks for a query, all of one moment."""
        backend, request = context.backend(kb), body.to_domain()

        def answer() -> bytes:
            outcome = _search(context, kb, backend, request)
            return search_reply(outcome, request, backend.settings.results).json_bytes()

        return Response(await context.work.run(answer), media_type="application/json")

    @router.post("/search", response_model=SearchSeveralReply, responses=problems(400, 404, 422, 501, 503))
    async def search_several(body: SearchSeveralBody) -> Response:
        """The same over several knowledge bases, which take turns in the results: first all first ones, then all second ones."""
        started = perf_counter()
        names = sorted(set(context.knowledge_bases if body.knowledge_bases is None else body.knowledge_bases))
        if not names:
            raise QueryInvalid("knowledge_bases is an empty list: name at least one, or leave it out to ask all")
        backends, request = {name: context.backend(name) for name in names}, body.to_domain()

        def attempt(name: str) -> SearchOutcome | DocmillError:
            try:
                return _search(context, name, backends[name], request)
            except (AllStrategiesFailed, ServiceDown) as error:
                return error

        answers = dict(zip(names, await asyncio.gather(*(context.work.run(partial(attempt, name)) for name in names)), strict=True))
        outcomes = {name: answer for name, answer in answers.items() if isinstance(answer, SearchOutcome)}
        failed = [(name, answer) for name, answer in answers.items() if isinstance(answer, DocmillError)]
        if not outcomes:
            raise AllStrategiesFailed("; ".join(f"{name}: {error}" for name, error in failed), soonest(error for _, error in failed))
        limit = request.limit or DEFAULT_LIMIT_OVER_SEVERAL
        hits = interleave({name: outcome.hits for name, outcome in outcomes.items()}, limit)
        reply = search_several_reply(
            [(outcomes[name], backends[name].settings.results, hit) for name, hit in hits],
            list(outcomes.values()),
            failed,
            request,
            (perf_counter() - started) * 1000.0,
        )
        return Response(reply.json_bytes(), media_type="application/json")

    return router


def _search(context: Context, name: str, backend: Backend, request: SearchRequest) -> SearchOutcome:
    started = perf_counter()
    outcome = backend.searcher.search(request)
    context.metrics.observe_search(name, perf_counter() - started, [one.strategy for one in outcome.degraded])
    return outcome
