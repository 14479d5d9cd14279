"""Runs: start, follow, cancel."""

from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from docmill.domain.errors import RunUnknown
from docmill.domain.runs import Run
from docmill.indexing.held_removals import SCAN_ASKED
from docmill_services.query.backend import Backend
from docmill_services.query.context import Context, json_response
from docmill_services.query.events import run_events
from docmill_services.query.openapi import problems
from docmill_services.query.render import run_reply
from docmill_services.query.responses import RunReply


def run_routes(context: Context) -> APIRouter:
    """The runs of a knowledge base."""
    router = APIRouter(prefix="/v1/knowledge-bases/{kb}/runs", tags=["runs"])

    @router.post("", status_code=202, response_model=RunReply, responses=problems(404, 503))
    async def start_run(kb: str) -> Response:
        """Starts a run; during one, marks it for one more pass and returns it."""
        backend = context.backend(kb)
        run = await context.work.run(lambda: _start(backend))
        response = json_response(run_reply(run), 202)
        response.headers["location"] = f"/v1/knowledge-bases/{quote(kb, safe='')}/runs/{quote(run.id, safe='')}"
        return response

    @router.get("/{run_id}", response_model=RunReply, responses=problems(404, 503))
    async def read_run(kb: str, run_id: str) -> Response:
        """One of the last runs."""
        backend = context.backend(kb)
        return json_response(run_reply(await context.work.run(lambda: _run(backend, run_id))))

    @router.delete("/{run_id}", status_code=202, response_model=RunReply, responses=problems(404, 503))
    async def cancel_run(kb: str, run_id: str) -> Response:
        """Ends a run; what it has committed stays. A run that has ended stays as it is."""
        backend = context.backend(kb)

        def cancel() -> Run:
            _run(backend, run_id)
            backend.cancel_run(run_id)
            return _run(backend, run_id)

        return json_response(run_reply(await context.work.run(cancel)), 202)

    @router.get(
        "/{run_id}/events",
        response_class=StreamingResponse,
        responses=problems(404, 503, others={200: {"content": {"text/event-stream": {}}, "description": "Events `run`: the run as JSON."}}),
    )
    async def follow_run(kb: str, run_id: str) -> Response:
        """Server-sent events: the run now, then whenever it has changed, until it ends."""
        backend = context.backend(kb)
        await context.work.run(lambda: _run(backend, run_id))
        return StreamingResponse(
            run_events(lambda: backend.ledger.run(run_id), context.work, context.stopping),
            media_type="text/event-stream",
            headers={"cache-control": "no-store"},
        )

    return router


def _start(backend: Backend) -> Run:
    backend.registry.note(SCAN_ASKED, "yes")
    return backend.start_run()


def _run(backend: Backend, run_id: str) -> Run:
    run = backend.ledger.run(run_id)
    if run is None:
        raise RunUnknown(f"no run {run_id[:100]!r} is known; the last 100 are kept")
    return run
