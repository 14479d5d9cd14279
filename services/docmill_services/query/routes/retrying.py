"""Retrying: failed and quarantined documents are tried again."""

from fastapi import APIRouter
from starlette.responses import Response

from docmill_services.query.context import Context, json_response
from docmill_services.query.openapi import problems
from docmill_services.query.requests import RetryBody
from docmill_services.query.responses import RetryReply
from docmill_services.query.retrying import retry_all, retry_some
from docmill_services.query.strict_json import StrictJsonRoute


def retry_routes(context: Context) -> APIRouter:
    """The one call."""
    router = APIRouter(prefix="/v1/knowledge-bases", tags=["documents"], route_class=StrictJsonRoute)

    @router.post("/{kb}/retry", status_code=202, response_model=RetryReply, responses=problems(400, 404, 422, 503))
    async def retry(kb: str, body: RetryBody) -> Response:
        """Plans documents that failed or are quarantined again; a quarantined one may then crash as often as a new one."""
        backend = context.backend(kb)
        named = body.document_ids
        return json_response(await context.work.run(lambda: retry_all(backend) if named is None else retry_some(backend, named)), 202)

    return router
