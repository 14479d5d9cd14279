"""Calls of Qdrant: tried again where that helps and never where it does not, in parts where a request is too large."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, stop_before_delay, wait_random_exponential

from docmill.adapters.qdrant.failures import CALL_ERRORS, TRANSIENT, Failure, FailureKind, failure_of, is_failure
from docmill.domain.errors import DiskFull, DocmillError, StoreDown, StoreRejected, WrongDimension

Answer = TypeVar("Answer")
Item = TypeVar("Item")

_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 5.0
_backoff = wait_random_exponential(multiplier=_FIRST_WAIT_SECONDS, max=_LONGEST_WAIT_SECONDS)
#: On top of what the server asks for, so that callers that were refused together do not come back together.
_jitter = wait_random_exponential(multiplier=_FIRST_WAIT_SECONDS, max=1.0)


class Caller:
    """Calls the server at one place."""

    def __init__(self, place: str, *, attempts: int, budget_seconds: float, sleep: Callable[[float], None]) -> None:
        """Calls nothing yet.

        Args:
            place: ``HOST:PORT``, for messages.
            attempts: of one call, the first included.
            budget_seconds: a call is not tried again when that would begin later than this after its first attempt.
            sleep: waits between attempts.
        """
        self._place = place
        self._retrying = Retrying(
            retry=retry_if_exception(_may_pass),
            wait=_wait_seconds,
            stop=stop_after_attempt(attempts) | stop_before_delay(budget_seconds),
            sleep=sleep,
            reraise=True,
        )

    def call(self, work: Callable[[], Answer], index: str | None = None, *, until_known: bool = False) -> Answer:
        """What ``work`` gives; it may run several times.

        Args:
            work: one request.
            index: the index that it is about.
            until_known: tried again also while the server does not know what it is about, which another host has just made.

        Raises:
            StoreDown: the server does not answer, does not let us in, or fails.
            StoreRejected: it refuses the request, or does not have ``index``.
            WrongDimension: a vector's length is not the index's.
            DiskFull: the server has no room.
        """
        try:
            return self._retrying.copy(retry=retry_if_exception(_may_become_known if until_known else _may_pass))(work)
        except CALL_ERRORS as error:
            failure = failure_of(error)
            if failure is None:
                raise
            raise error_of(failure, self._place, index) from error

    def call_in_parts(self, items: Sequence[Item], work: Callable[[Sequence[Item]], Answer], index: str) -> list[Answer]:
        """What ``work`` gives for ``items``, or for each of several parts of them where the server takes only smaller requests.

        A request that is too large is never sent again unchanged. Raises what ``call`` raises.
        """
        answers: list[Answer] = []
        waiting = [items] if items else []
        while waiting:
            part = waiting.pop()
            try:
                answers.append(self._retrying.copy()(work, part))
            except CALL_ERRORS as error:
                self._raise_unless_divisible(error, len(part), index)
                half = len(part) // 2
                waiting += [part[half:], part[:half]]
        return answers

    def call_for_at_most(self, size: int, work: Callable[[int], Answer], index: str) -> tuple[Answer, int]:
        """What ``work`` gives when it is asked for ``size`` items, or for fewer where the server gives only fewer at once; with how many.

        Raises what ``call`` raises.
        """
        while True:
            try:
                return self._retrying.copy()(work, size), size
            except CALL_ERRORS as error:
                self._raise_unless_divisible(error, size, index)
                size //= 2

    def _raise_unless_divisible(self, error: Exception, size: int, index: str) -> None:
        """Returns when a request of ``size`` items failed because it was too large, and could be smaller."""
        failure = failure_of(error)
        if failure is None:
            raise error
        if failure.kind is not FailureKind.TOO_LARGE or size == 1:
            raise error_of(failure, self._place, index) from error


def error_of(failure: Failure, place: str, index: str | None) -> DocmillError:
    """The port's error for ``failure`` of a call about ``index``."""
    where = f"Qdrant at {place}"
    subject = f"index {index!r}" if index is not None else "the request"
    words = failure.words
    match failure.kind:
        case FailureKind.UNKNOWN:
            return StoreRejected(f"{subject} does not exist in {where} ({words})")
        case FailureKind.WRONG_DIMENSION:
            return WrongDimension(f"{subject} in {where} takes no such vector: {words}")
        case FailureKind.TOO_LARGE:
            return StoreRejected(f"{where} takes no request so large for {subject}: {words}")
        case FailureKind.REJECTED | FailureKind.EXISTS:
            return StoreRejected(f"{where} refuses {subject}: {words}")
        case FailureKind.NO_ROOM:
            return DiskFull(f"{where} has no room left on its disk; free some there and try again ({words})")
        case FailureKind.DENIED:
            return StoreDown(f"{where} refuses the key ({words}); set DOCMILL_QDRANT_API_KEY to one that may read and write")
        case FailureKind.UNTRUSTED:
            return StoreDown(
                f"the TLS connection to {where} fails ({words}); check the scheme of DOCMILL_QDRANT_URL, and DOCMILL_QDRANT_CA_FILE"
            )
        case FailureKind.NOT_QDRANT:
            return StoreDown(f"what answers at {place} is not Qdrant ({words}); check DOCMILL_QDRANT_URL")
        case FailureKind.UNREACHABLE:
            return StoreDown(f"{where} cannot be reached ({words}); start it, or correct DOCMILL_QDRANT_URL")
        case FailureKind.TIMED_OUT:
            return StoreDown(f"{where} does not answer in time ({words}); see DOCMILL_STORE_TIMEOUT_SECONDS")
        case FailureKind.RATE_LIMITED:
            return StoreDown(f"{where} asks to be called again in {failure.retry_after_seconds:g} s ({words})")
    return StoreDown(f"{where} fails ({words})")


def _may_pass(error: BaseException) -> bool:
    failure = failure_of(error)
    return failure is not None and failure.kind in TRANSIENT


def _may_become_known(error: BaseException) -> bool:
    return _may_pass(error) or is_failure(error, FailureKind.UNKNOWN)


def _wait_seconds(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    failure = failure_of(error) if error is not None else None
    if failure is not None and failure.retry_after_seconds is not None:
        return failure.retry_after_seconds + _jitter(state)
    return _backoff(state)
