"""Calls of one chat or rerank model: JSON in, JSON or events with JSON out; every failure as the project's errors, nothing repeated."""

from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Final

import httpx

from docmill.adapters.providers.access import Access
from docmill.adapters.providers.calls import Answer, CallFailed, CallLeft, Calls, JsonPoster, read_bounded
from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.endpoints import unusable, value_of, without_answer
from docmill.adapters.providers.event_lines import EventDecoder
from docmill.adapters.providers.held_slots import HeldSlot
from docmill.adapters.providers.usage import tokens_in
from docmill.domain.errors import DocmillError, ProviderError, ProviderPermanent

MAX_EVENT_BYTES: Final = 2**20
MAX_STREAM_BYTES: Final = 64 * 2**20

_EVENT_STREAM: Final = "text/event-stream"
#: Ends the streams of OpenAI's API; not JSON.
_DONE: Final = "[DONE]"


#: Waits for a request's permit, and raises as ``Permits.begin``.
Leave = Callable[[], HeldSlot]


class ModelCalls:
    """The calls of one model; several threads may make them at once."""

    def __init__(self, name: str, access: Access, headers: Mapping[str, str]) -> None:
        """Connects to nothing yet.

        Args:
            name: ``provider/model``, for messages.
            access: how the provider is reached.
            headers: those of this API, which carry the key; the ones that ``access`` has come after them.
        """
        self.provider = f"{name} at {access.address}"
        self._base_url = access.base_url.rstrip("/")
        self._secrets = access.secrets
        self._calls = Calls(timeout_seconds=access.timeout_seconds)
        self._poster = JsonPoster(self._calls, {**headers, **(access.headers or {})})

    def post(self, path: str, body: Mapping[str, object], cancellation: Cancellation) -> object:
        """The JSON value of the answer; ``cancellation`` ends the request.

        Raises:
            CallCancelled: it was ended from here.
            ProviderError: as ``failures`` classifies what came back; an answer that is not JSON is permanent, none at all is transient.
        """
        try:
            answer = self._poster.post(self._base_url + path, body, cancellation)
        except CallFailed as failed:
            raise self._unanswered(failed) from None
        return self._value_of(answer)

    def stream(self, path: str, body: Mapping[str, object], leave: Leave) -> "ArrivingValues":
        """The JSON values of the answer's events as they arrive; of an answer that is no stream, its one value.

        Args:
            path: where the request goes, after the base URL.
            body: the request's JSON.
            leave: waits for the permit of the request; the slot is given back when the stream has ended, however it does.

        Raises:
            ProviderError: while iterating; as ``post`` and ``leave``.
        """
        return ArrivingValues(lambda put: self._begin(path, body, leave, put), self._unanswered, self._left)

    def unusable(self, why: object) -> ProviderPermanent:
        """The error for an answer of another form than its API gives."""
        return unusable(why, provider=self.provider)

    def close(self) -> None:
        """Ends the calls and the connections."""
        self._poster.close()

    def _begin(self, path: str, body: Mapping[str, object], leave: Leave, put: Callable[[object], None]) -> Future[None]:
        held = leave()
        counted: list[int] = []

        def put_and_count(value: object) -> None:
            tokens = tokens_in(value)
            if tokens is not None:
                counted.append(tokens)
            put(value)

        def ended(call: Future[None]) -> None:
            failure = self._left() if call.cancelled() else self._failure_of(call)
            held.end(failure, tokens=max(counted, default=None))

        try:
            call = self._calls.start(lambda: self._stream(path, body, put_and_count))
        except CallFailed as failed:
            failure = self._unanswered(failed)
            held.end(failure)
            raise failure from None
        except BaseException as defect:
            held.end(defect)
            raise
        # Mostly in the thread of the calls, which waits for the gate meanwhile: those of other models have their own.
        call.add_done_callback(ended)
        held.cancellation.ends(call)
        return call

    def _left(self) -> ProviderError:
        return self._unanswered(CallLeft("was left: nobody waits for its answer any more"))

    def _failure_of(self, call: Future[None]) -> BaseException | None:
        failure = call.exception()
        return self._unanswered(failure) if isinstance(failure, CallFailed) else failure

    async def _stream(self, path: str, body: Mapping[str, object], put: Callable[[object], None]) -> None:
        async with self._poster.answered(self._base_url + path, body) as response:
            if not response.is_success or not response.headers.get("content-type", "").lower().startswith(_EVENT_STREAM):
                put(self._value_of(Answer(response.status_code, dict(response.headers), await read_bounded(response.aiter_bytes()))))
                return
            async for event in self._events(response):
                if event != _DONE:
                    put(self._value_of(Answer(response.status_code, {}, event.encode())))

    async def _events(self, response: httpx.Response) -> AsyncIterator[str]:
        decoder = EventDecoder(max_event_bytes=MAX_EVENT_BYTES)
        taken = 0
        async for piece in response.aiter_bytes():
            taken += len(piece)
            if taken > MAX_STREAM_BYTES:
                raise self.unusable(f"it has more than {MAX_STREAM_BYTES // 2**20} MiB")
            try:
                events = decoder.events_in(piece)
            except ValueError as error:
                raise self.unusable(error) from None
            for event in events:
                yield event

    def _value_of(self, answer: Answer) -> object:
        return value_of(answer, provider=self.provider, secrets=self._secrets)

    def _unanswered(self, failed: CallFailed) -> ProviderError:
        return without_answer(failed, provider=self.provider, secrets=self._secrets)


class ArrivingValues:
    """Values that arrive while they are iterated over; see ``TextStream`` for what closing means."""

    def __init__(
        self,
        start: Callable[[Callable[[object], None]], Future[None]],
        unanswered: Callable[[CallFailed], ProviderError],
        left: Callable[[], ProviderError],
    ) -> None:
        """Begins the call.

        Args:
            start: begins the call that hands over every value, and returns its future.
            unanswered: the error for a call that brought no answer.
            left: the error for a call that was ended from here, and not by ``close``.
        """
        self._unanswered = unanswered
        self._left = left
        self._arrived: SimpleQueue[tuple[object] | None] = SimpleQueue()
        self._is_over = False
        self._is_closed = False
        try:
            self._call = start(lambda value: self._arrived.put((value,)))
        except DocmillError as error:
            self._call = Future()
            self._call.set_exception(error)
        self._call.add_done_callback(lambda _: self._arrived.put(None))

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._is_closed

    def __iter__(self) -> "ArrivingValues":
        """Itself."""
        return self

    def __next__(self) -> object:
        """The next value, when it has arrived; once all have, and once only, how the call failed."""
        arrived = None if self._is_over else self._arrived.get()
        if arrived is not None and not self._is_over:
            return arrived[0]
        if self._call.cancelled() and not self._is_over:
            self._is_over = True
            raise self._left()
        failure = None if self._is_over else self._call.exception()
        self._is_over = True
        if isinstance(failure, CallFailed):
            raise self._unanswered(failure) from None
        if failure is not None:
            raise failure
        raise StopIteration

    def close(self) -> None:
        """Ends the call; values that were not taken are dropped."""
        self._is_closed = self._is_over = True
        self._call.cancel()
