"""Documents: lists, and each one."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from docmill.domain.errors import NotAvailable
from docmill.domain.registry import DocumentState
from docmill_services.query.context import Context, json_response
from docmill_services.query.documents import list_documents, read_document
from docmill_services.query.openapi import problems
from docmill_services.query.responses import DocumentDetailReply, DocumentsReply, DocumentStateName


def document_routes(context: Context) -> APIRouter:
    """The documents of a knowledge base."""
    router = APIRouter(prefix="/v1/knowledge-bases/{kb}/documents", tags=["documents"])

    @router.get("", response_model=DocumentsReply, responses=problems(404, 422, 503))
    async def list_them(
        kb: str,
        cursor: Annotated[str | None, Query(max_length=20_000)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        state: DocumentStateName | None = None,
    ) -> Response:
        """A page of documents in the order of their ids; `next` is the cursor of the page after it."""
        backend = context.backend(kb)
        wanted = None if state is None else DocumentState(state)
        return json_response(await context.work.run(lambda: list_documents(backend, cursor, limit, wanted)))

    @router.get("/{document_id:path}", response_model=DocumentDetailReply, responses=problems(404, 422, 503))
    async def read(kb: str, document_id: str, chunks: bool = False) -> Response:
        """One document with its text as it is now, and with its chunks when `chunks=true`."""
        backend = context.backend(kb)
        return json_response(await context.work.run(lambda: read_document(backend, document_id, with_chunks=chunks)))

    @router.put("/{document_id:path}", status_code=501, response_model=None, responses=problems(404, 501))
    async def push(kb: str, document_id: str) -> Response:
        """Not available yet."""
        context.backend(kb)
        raise NotAvailable("pushing documents is not available in this version; change the file and docmill follows")

    @router.delete("/{document_id:path}", status_code=501, response_model=None, responses=problems(404, 501))
    async def remove(kb: str, document_id: str) -> Response:
        """Not available yet."""
        context.backend(kb)
        raise NotAvailable("removing documents is not available in this version; remove the file and docmill follows")

    return router
