"""The server of a fake provider: HTTP/1.1 on one event loop, quick enough for hundreds of requests a second on a busy machine."""

import asyncio
import json
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from support.fake_provider_apis import answer_to, spoilt, texts_sent, tokens_of
from support.fake_provider_faults import KEY_PLACE, Ending, Fault, Faults, Spoiling, header_value
from support.fake_provider_limits import Limiter, RateLimit
from support.fake_provider_log import ANSWERED, BROKEN, HUNG_UP, Seen, fingerprint

Json = Any

_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CONTROL: Final = "/control/"


class Provider:
    """What a fake provider was told, and what it has seen."""

    def __init__(self, dimensions: int) -> None:
        """``dimensions`` are those of models whose own are not known."""
        self.dimensions = dimensions
        self.forget()

    def forget(self) -> None:
        """Begins anew."""
        self.faults = Faults()
        self.limit = RateLimit()
        self.latency_seconds = 0.0
        self.seen: list[Seen] = []
        self._limiters: dict[str, Limiter] = {}
        self.in_flight: Counter[str] = Counter()

    def control(self, what: str, told: Json) -> Json:
        """Does what a test wants."""
        now = time.monotonic()
        match what:
            case "fault":
                self.faults.add(Fault(**told), now)
            case "heal":
                self.faults.clear()
            case "limit":
                self.limit, self._limiters = RateLimit(**told), {}
            case "latency":
                self.latency_seconds = told
            case "log":
                return [asdict(one) for one in self.seen]
            case "take":
                taken, self.seen = self.seen, []
                return [asdict(one) for one in taken]
            case "behave":
                self.forget()
            case _:
                raise ValueError(what)
        return {}

    def wait(self, key: str, tokens: int) -> float | None:
        """None where the limit lets a request come; otherwise in how many seconds."""
        limiter = self._limiters.setdefault(key, Limiter(self.limit))
        return limiter.wait(tokens, self.in_flight[key], time.monotonic())


@dataclass(frozen=True)
class _Request:
    path: str
    headers: Mapping[str, str]
    body: Json

    @property
    def key(self) -> str | None:
        """The key that came with it, wherever."""
        named = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
        return named or self.headers.get("authorization", "").removeprefix("Bearer ") or None


class Connection(asyncio.Protocol):
    """One client's connection; its requests are answered one after the other."""

    def __init__(self, provider: Provider) -> None:
        """Nothing has come yet."""
        self._provider = provider
        self._came = bytearray()
        self._transport: asyncio.Transport | None = None
        self._now_served: Seen | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See ``asyncio.Protocol``."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        """See ``asyncio.Protocol``."""
        self._transport = None
        self._note_end(HUNG_UP)

    def data_received(self, data: bytes) -> None:
        """See ``asyncio.Protocol``."""
        self._came += data
        self._serve_next()

    def _serve_next(self) -> None:
        if self._now_served is not None:
            return
        head, separator, rest = self._came.partition(_HEAD_END)
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if not separator or len(rest) < size:
            return
        content, self._came = bytes(rest[:size]), rest[size:]
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self._serve(_Request(first.split(" ")[1], headers, json.loads(content or b"null")))
        self._serve_next()

    def _serve(self, request: _Request) -> None:
        if request.path.startswith(_CONTROL):
            self._write(_message(200, {}, self._provider.control(request.path.removeprefix(_CONTROL), request.body)))
            return
        provider, key = self._provider, fingerprint(request.key or "") if request.key else ""
        texts = texts_sent(request.body)
        seen = Seen(time.time(), request.path, key, tuple(map(fingerprint, texts)), sum(map(tokens_of, texts)))
        provider.seen.append(seen)
        provider.in_flight[key] += 1
        self._now_served = seen
        wait = provider.wait(key, seen.tokens)
        fault = provider.faults.met_by(path=request.path, key=request.key, texts=texts, now=time.monotonic())
        delay = provider.latency_seconds
        if wait is not None:
            self._after(delay, lambda: self._refuse(seen, wait))
        elif fault is not None:
            self._after(delay + fault.delay_seconds, lambda: self._meet(fault, request, seen))
        else:
            self._after(delay, lambda: self._answer(*self._right_answer(request), seen))

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        served = self._now_served

        def still_wanted() -> None:
            if self._now_served is served:  # the client may have gone
                do()

        if seconds:
            asyncio.get_running_loop().call_later(seconds, still_wanted)
        else:
            do()

    def _right_answer(self, request: _Request) -> tuple[int, dict[str, str], Json]:
        reply, content_type = answer_to(request.path, request.headers, request.body, self._provider.dimensions)
        return reply.status, {} if content_type is None else {"Content-Type": content_type}, reply.body

    def _refuse(self, seen: Seen, wait: float) -> None:
        error = {"message": "Rate limit reached for requests", "type": "requests", "param": None, "code": "rate_limit_exceeded"}
        self._answer(429, dict(self._provider.limit.headers(wait)), {"error": error}, seen)

    def _meet(self, fault: Fault, request: _Request, seen: Seen) -> None:
        if fault.ending in (Ending.RESET, Ending.CLOSE):
            self._break(reset=fault.ending == Ending.RESET)
            return
        if fault.ending == Ending.HANG:
            return
        status, headers, body = self._right_answer(request)
        if fault.status is not None:
            status, headers, body = fault.status, {name: header_value(value) for name, value in fault.headers.items()}, fault.body
            as_text = body if isinstance(body, str) else json.dumps(body)
            body = as_text.replace(KEY_PLACE, request.key or "")
        elif fault.spoiling is not None:
            body = spoilt(body, Spoiling(fault.spoiling))
        if fault.ending == Ending.DRIP:
            seen.status = status
            self._drip(_message(status, headers, body), fault.drip_seconds)
        else:
            self._answer(status, headers, body, seen)

    def _answer(self, status: int, headers: Mapping[str, str], body: Json, seen: Seen) -> None:
        seen.status = status
        self._write(_message(status, headers, body))
        self._note_end(ANSWERED)
        self._serve_next()

    def _drip(self, message: bytes, seconds: float) -> None:
        self._write(message[:1])
        if len(message) > 1:
            self._after(seconds, lambda: self._drip(message[1:], seconds))
        else:
            self._note_end(ANSWERED)
            self._serve_next()

    def _break(self, *, reset: bool) -> None:
        transport = self._transport
        self._note_end(BROKEN)
        if transport is not None:
            if reset:
                transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()

    def _note_end(self, state: str) -> None:
        seen, self._now_served = self._now_served, None
        if seen is not None:
            seen.state, seen.ended_at = state, time.time()
            self._provider.in_flight[seen.key] -= 1

    def _write(self, content: bytes) -> None:
        if self._transport is not None:
            self._transport.write(content)


def _message(status: int, headers: Mapping[str, str], body: Json) -> bytes:
    """An answer, all of it; text and bytes as body are sent as they are."""
    content = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} -\r\n{lines}\r\n".encode() + content


async def serve(provider: Provider, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serves until it is cancelled; ``tell`` is given the address as soon as it answers."""
    server = await asyncio.get_running_loop().create_server(lambda: Connection(provider), host, port, backlog=512)
    tell(f"http://{host}:{server.sockets[0].getsockname()[1]}")
    async with server:
        await server.serve_forever()
