"""Liveness, readiness and metrics."""

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from docmill_services.query.context import Context, json_response
from docmill_services.query.responses import LivenessReply, ReadinessReply
from docmill_services.query.status import why_degraded, why_not_ready


def health_routes(context: Context) -> APIRouter:
    """``/livez``, ``/readyz`` and ``/metrics``."""
    router = APIRouter(tags=["health"])

    @router.get("/livez", response_model=LivenessReply)
    async def live() -> Response:
        """Answers while the process does."""
        return json_response(LivenessReply(status="ok"))

    @router.get("/readyz", response_model=ReadinessReply, responses={503: {"model": ReadinessReply, "description": "Not ready."}})
    async def ready() -> Response:
        """200 when every knowledge base has a store that answers and a registry that does; 503 otherwise, with the reasons."""

        shown = set(context.knowledge_bases)

        def ask() -> ReadinessReply:
            reasons = {name: why_not_ready(backend) for name, backend in context.all_knowledge_bases.items()}
            said = {name: reasons[name] or why_degraded(context.all_knowledge_bases[name]) or "ok" for name in reasons if name in shown}
            return ReadinessReply(ready=all(reason is None for reason in reasons.values()), knowledge_bases=said)

        reply = await context.work.run(ask)
        return json_response(reply, 200 if reply.ready else 503)

    @router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Metrics in Prometheus's text format."""
        return Response(
            await context.work.run(lambda: context.metrics.exposition(context.all_knowledge_bases)), media_type=CONTENT_TYPE_LATEST
        )

    return router
