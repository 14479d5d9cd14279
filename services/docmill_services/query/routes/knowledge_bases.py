"""Knowledge bases and how they stand."""

from fastapi import APIRouter
from starlette.responses import Response

from docmill_services.query.context import Context, json_response
from docmill_services.query.openapi import problems
from docmill_services.query.render import knowledge_base_reply
from docmill_services.query.responses import KnowledgeBaseReply, KnowledgeBasesReply


def knowledge_base_routes(context: Context) -> APIRouter:
    """The list, and each one."""
    router = APIRouter(prefix="/v1/knowledge-bases", tags=["knowledge bases"])

    @router.get("", response_model=KnowledgeBasesReply, responses=problems(503))
    async def list_knowledge_bases() -> Response:
        """All knowledge bases, by name."""
        backends = [backend for _, backend in sorted(context.knowledge_bases.items())]
        replies = await context.work.run(lambda: [knowledge_base_reply(backend) for backend in backends])
        return json_response(KnowledgeBasesReply(knowledge_bases=replies))

    @router.get("/{kb}", response_model=KnowledgeBaseReply, responses=problems(404, 503))
    async def read_knowledge_base(kb: str) -> Response:
        """One knowledge base: its documents, its run, its stores and its providers."""
        backend = context.backend(kb)
        return json_response(await context.work.run(lambda: knowledge_base_reply(backend)))

    return router
