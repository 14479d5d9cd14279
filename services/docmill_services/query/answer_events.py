"""An answer as server-sent events, while it is written."""

import asyncio
from collections.abc import AsyncIterator
from time import perf_counter

import structlog

from docmill.domain.answering import Answer
from docmill.domain.errors import CallCancelled, DocmillError
from docmill.retrieval.answering.answerer import AnswerEvent, AnswerStream, PassagesFound, TextWritten
from docmill_services.query.problems import Problem, RefusedRequest, problem_body, problem_of, request_problem
from docmill_services.query.render import answer_reply, citations_reply, passages_reply
from docmill_services.query.responses import DeltaReply
from docmill_services.query.work import Work

_log = structlog.get_logger("docmill.http")


async def answer_events(stream: AnswerStream, work: Work, stopping: asyncio.Event, started: float, request_id: str) -> AsyncIterator[bytes]:
    """``passages``, ``delta`` for each part of the text, ``citations`` and ``done``; or ``error``, which is the last one.

    When the client hangs up, or the server stops, the writing ends, also at the provider.

    Args:
        stream: nothing of it was asked for yet.
        work: where its events are awaited.
        stopping: set when the server stops.
        started: when the question came, by ``time.perf_counter``.
        request_id: of the request, for an error.
    """
    events = iter(stream)
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        while True:
            awaited = asyncio.ensure_future(work.run(lambda: next(events, None)))
            awaited.add_done_callback(_look_at)
            await asyncio.wait({awaited, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not awaited.done():
                stream.close()
            event = await awaited
            if event is None:  # it was closed
                yield _error(request_problem("server.stopping", "docmill is stopping; ask again when it runs"), request_id)
                return
            for part in _parts(event, started):
                yield part
            if isinstance(event, Answer):
                return
    except RefusedRequest as error:
        yield _error(error.problem, request_id)
    except DocmillError as error:
        if not isinstance(error, CallCancelled):
            _log.warning("answer broken off", request_id=request_id, code=error.code, error=str(error))
        yield _error(problem_of(error), request_id)
    finally:
        stream.close()
        stopped.cancel()


def _look_at(awaited: asyncio.Future[AnswerEvent | None]) -> None:
    """Nobody else does once the client has gone, and an error that nobody looks at is a complaint in the log."""
    if not awaited.cancelled():
        awaited.exception()


def _parts(event: AnswerEvent, started: float) -> list[bytes]:
    if isinstance(event, PassagesFound):
        return [_event("passages", passages_reply(event.passages).json_bytes())]
    if isinstance(event, TextWritten):
        return [_event("delta", DeltaReply(text=event.text).json_bytes())]
    assert isinstance(event, Answer)
    took_ms = (perf_counter() - started) * 1000.0
    return [_event("citations", citations_reply(event).json_bytes()), _event("done", answer_reply(event, took_ms).json_bytes())]


def _error(problem: Problem, request_id: str) -> bytes:
    return _event("error", problem_body(problem, request_id))


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
