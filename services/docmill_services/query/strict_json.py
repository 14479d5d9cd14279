"""Reads JSON bodies so that what is no JSON text (NaN, lone surrogates, bytes that are not UTF-8, endless nesting) is an error."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.responses import Response

from docmill_services.query.problems import RefusedRequest


class StrictJsonRequest(Request):
    """A request whose body is RFC 8259 JSON or an error."""

    async def json(self) -> object:
        """The body; raises ``RefusedRequest``."""
        body = await self.body()
        try:
            return from_json(body, allow_inf_nan=False)
        except ValueError as error:
            raise RefusedRequest("request.malformed", f"the body is not JSON: {error}") from error


class StrictJsonRoute(APIRoute):
    """A route that reads its body by ``StrictJsonRequest``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:  # the framework's signature
        """The handler around the framework's own."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictJsonRequest(request.scope, request.receive))

        return handle_strictly
