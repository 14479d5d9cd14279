"""Answers with citations, whole or while they are written."""

from time import perf_counter

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from docmill.domain.errors import NoAnswerModel
from docmill.retrieval.answering.answerer import Answerer
from docmill_services.query.answer_events import answer_events
from docmill_services.query.context import Context, json_response
from docmill_services.query.edge import REQUEST_ID_KEY
from docmill_services.query.openapi import problems
from docmill_services.query.render import answer_reply
from docmill_services.query.requests import AnswerBody
from docmill_services.query.responses import AnswerReply
from docmill_services.query.strict_json import StrictJsonRoute

_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}


def answer_routes(context: Context) -> APIRouter:
    """The answers of a knowledge base."""
    router = APIRouter(prefix="/v1/knowledge-bases/{kb}", tags=["answers"], route_class=StrictJsonRoute)

    @router.post(
        "/answer",
        response_model=AnswerReply,
        responses=problems(
            400,
            404,
            422,
            501,
            502,
            503,
            others={
                200: {
                    "content": _STREAM,
                    "description": (
                        "With `stream`, events: `passages`, then `delta` for each part of the text, `citations`, and `done` with the whole "
                        "answer; or `error` with a problem document, which ends it."
                    ),
                }
            },
        ),
    )
    async def answer(kb: str, body: AnswerBody, asked: Request) -> Response:
        """An answer from the documents alone, with the passages that it cites."""
        started = perf_counter()
        answerer, request = _answerer(context, kb), body.to_domain()
        if not body.stream:
            found = await context.answers.run(lambda: answerer.answer(request))
            return json_response(answer_reply(found, (perf_counter() - started) * 1000.0))
        stream = await context.answers.run(lambda: answerer.stream(request))
        return StreamingResponse(
            answer_events(stream, context.answers, context.stopping, started, asked.scope[REQUEST_ID_KEY]),
            media_type="text/event-stream",
            headers={"cache-control": "no-store"},
        )

    return router


def _answerer(context: Context, kb: str) -> Answerer:
    answerer = context.backend(kb).answerer
    if answerer is None:
        raise NoAnswerModel(f"{kb} has no chat model: set `answer: {{model: ...}}` in its configuration; searching works without")
    return answerer
