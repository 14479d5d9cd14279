"""Verification: files, registry and stores compared."""

from fastapi import APIRouter
from starlette.responses import Response

from docmill_services.query.context import Context, json_response
from docmill_services.query.openapi import problems
from docmill_services.query.problems import RefusedRequest
from docmill_services.query.render import verification_reply
from docmill_services.query.requests import VerifyBody
from docmill_services.query.responses import VerificationReply
from docmill_services.query.strict_json import StrictJsonRoute


def verification_routes(context: Context) -> APIRouter:
    """One comparison of a knowledge base at a time."""
    router = APIRouter(prefix="/v1/knowledge-bases", tags=["verification"], route_class=StrictJsonRoute)
    compared: set[str] = set()

    @router.post("/{kb}/verify", response_model=VerificationReply, responses=problems(400, 404, 422, 503))
    async def verify(kb: str, body: VerifyBody) -> Response:
        """Reads every file and compares it with the registry and the stores, in both directions; may take minutes."""
        backend = context.backend(kb)
        if kb in compared:
            raise RefusedRequest("server.busy", f"knowledge base {kb!r} is being verified already; ask again when that is done")
        compared.add(kb)
        try:
            return json_response(verification_reply(await context.work.run(lambda: backend.verify(repair=body.repair))))
        finally:
            compared.discard(kb)

    return router
