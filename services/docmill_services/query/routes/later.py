"""Calls that are fixed already and that this version answers with 501."""

from fastapi import APIRouter
from starlette.responses import Response

from docmill.domain.errors import NotAvailable
from docmill_services.query.context import Context
from docmill_services.query.openapi import problems


def later_routes(context: Context) -> APIRouter:
    """MCP."""
    router = APIRouter(tags=["not available yet"])

    @router.post("/mcp", status_code=501, response_model=None, responses=problems(501))
    async def mcp() -> Response:
        """Not available yet."""
        raise NotAvailable("MCP is not available in this version")

    return router
