"""Removals that wait: a person says that the files are gone for good."""

from fastapi import APIRouter
from starlette.responses import Response

from docmill.indexing.held_removals import APPROVED, HELD, HeldRemovals
from docmill_services.query.backend import Backend
from docmill_services.query.context import Context, json_response
from docmill_services.query.openapi import problems
from docmill_services.query.render import run_reply
from docmill_services.query.responses import ApprovalReply


def removal_routes(context: Context) -> APIRouter:
    """The one call."""
    router = APIRouter(prefix="/v1/knowledge-bases", tags=["documents"])

    @router.post("/{kb}/approve-removals", status_code=202, response_model=ApprovalReply, responses=problems(404, 503))
    async def approve(kb: str) -> Response:
        """Lets the removals that wait be carried out by a run, unless many more are missing by then."""
        backend = context.backend(kb)
        return json_response(await context.work.run(lambda: _approve(backend)), 202)

    return router


def _approve(backend: Backend) -> ApprovalReply:
    held = HeldRemovals.from_json(backend.registry.noted(HELD))
    if held is None:
        return ApprovalReply(documents=0, run=None)
    backend.registry.note(APPROVED, held.as_json())
    return ApprovalReply(documents=held.documents, run=run_reply(backend.start_run()))
