"""What a fake provider should do wrong, and to which requests."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import StrEnum
from typing import Any, Final

Json = Any

#: In a body, the key that was sent.
KEY_PLACE: Final = "{key}"
#: A header's value that begins so is a date so many seconds from the moment of the answer.
DATE_IN: Final = "date in "


class Ending(StrEnum):
    """What becomes of the connection in place of a plain answer."""

    RESET = "reset"
    CLOSE = "close"
    HANG = "hang"
    DRIP = "drip"


class Spoiling(StrEnum):
    """What is wrong with an answer that comes with status 200."""

    TURNED = "turned"
    MISSING = "missing"
    REPEATED = "repeated"
    RENUMBERED = "renumbered"
    SHORT = "short"
    ZERO = "zero"
    NAN = "nan"
    CUT_JSON = "cut_json"


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong; a request meets the first fault that is for it.

    Attributes:
        status: an answer with this status, ``body`` and ``headers`` in place of the right one.
        body: JSON, or a string that is sent as it is; ``{key}`` stands for the key of the request.
        headers: a value such as ``date in 2`` becomes the date of two seconds later.
        spoiling: the right answer, spoilt.
        ending: what becomes of the connection; a dripping answer comes one byte each ``drip_seconds``, with its head.
        delay_seconds: before anything is answered.
        times: for so many requests; None is for all.
        share: of the requests, by chance.
        text: for requests with a text that has this word.
        path: for requests to a path that has this in it.
        key: for requests with this key.
        after_requests: that were for it are let through first.
        after_seconds: from when it was added.
        for_seconds: from ``after_seconds`` on; None has no end.
    """

    status: int | None = None
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)
    spoiling: str | None = None
    ending: str | None = None
    delay_seconds: float = 0.0
    drip_seconds: float = 0.05
    times: int | None = None
    share: float = 1.0
    text: str = ""
    path: str = ""
    key: str | None = None
    after_requests: int = 0
    after_seconds: float = 0.0
    for_seconds: float | None = None

    def as_json(self) -> dict[str, Json]:
        """What goes to the provider."""
        return asdict(self)


def rate_limited(*, retry_after: str | None = None, **more: Json) -> Fault:
    """429 as OpenAI says it; ``retry_after`` is the value of the header."""
    error = {"message": "Rate limit reached for requests", "type": "requests", "param": None, "code": "rate_limit_exceeded"}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Fault(status=429, body={"error": error}, headers=headers, **more)


def unavailable(**more: Json) -> Fault:
    """503 as OpenAI says it."""
    error = {"message": "The server is overloaded or not ready yet", "type": "server_error", "param": None, "code": None}
    return Fault(status=503, body={"error": error}, **more)


def wrong_key(**more: Json) -> Fault:
    """401 that repeats the key, as some providers do."""
    error = {"message": f"Incorrect API key provided: {KEY_PLACE}.", "type": "invalid_request_error", "code": "invalid_api_key"}
    return Fault(status=401, body={"error": error}, **more)


def no_such_model(**more: Json) -> Fault:
    """404 for a model."""
    message = "The model `text-embedding-3-small` does not exist or you do not have access to it."
    return Fault(status=404, body={"error": {"message": message, "type": "invalid_request_error", "code": "model_not_found"}}, **more)


def poison(word: str) -> Fault:
    """400 for every request with a text that has ``word``, without saying which text it is."""
    return Fault(status=400, body={"error": {"message": "this input is refused", "type": "invalid_request_error"}}, text=word)


class Faults:
    """The faults that are set, and what is left of them; times in seconds of one clock."""

    def __init__(self, seed: int = 7) -> None:
        """None yet; ``seed`` decides the chances."""
        self._chance = random.Random(seed)
        self._set: list[_Set] = []

    def add(self, fault: Fault, now: float) -> None:
        """Sets one more, after those that are there."""
        self._set.append(_Set(fault, now))

    def clear(self) -> None:
        """Forgets all."""
        self._set.clear()

    def met_by(self, *, path: str, key: str | None, texts: Sequence[str], now: float) -> Fault | None:
        """The fault that a request meets, which is then counted; None for a request that meets none."""
        for one in self._set:
            if one.is_for(path, key, texts, now) and self._chance.random() < one.fault.share:
                one.met += 1
                if one.met > one.fault.after_requests:
                    return one.fault
        return None


@dataclass
class _Set:
    fault: Fault
    since: float
    met: int = 0

    def is_for(self, path: str, key: str | None, texts: Sequence[str], now: float) -> bool:
        fault = self.fault
        age = now - self.since - fault.after_seconds
        is_left = fault.times is None or self.met < fault.after_requests + fault.times
        in_time = age >= 0 and (fault.for_seconds is None or age < fault.for_seconds)
        of_whom = fault.path in path and fault.key in (None, key)
        return is_left and in_time and of_whom and (not fault.text or any(fault.text in text for text in texts))


def header_value(value: str) -> str:
    """The value itself, or the date that it stands for."""
    if not value.startswith(DATE_IN):
        return value
    return format_datetime(datetime.now(UTC) + timedelta(seconds=float(value.removeprefix(DATE_IN))), usegmt=True)
