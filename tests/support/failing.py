"""A part that fails where a test wants it to."""

from collections.abc import Callable
from typing import Any


class Failing:
    """Passes every call on to ``inner``, except those of methods that were told to fail.

    Attributes:
        calls: the names of the methods that were called, in order, whether they failed or not.
    """

    def __init__(self, inner: object) -> None:
        self.calls: list[str] = []
        self._inner = inner
        self._errors: dict[str, tuple[Exception, Callable[..., bool]]] = {}

    def fail(self, method: str, error: Exception, when: Callable[..., bool] = lambda *_, **__: True) -> None:
        """Lets ``method`` raise ``error`` instead of doing anything, for arguments for which ``when`` is true."""
        self._errors[method] = error, when

    def mend(self) -> None:
        """Nothing fails any more."""
        self._errors.clear()

    def __getattr__(self, method: str) -> Any:
        inner = getattr(self._inner, method)

        def call(*arguments: object, **named: object) -> object:
            self.calls.append(method)
            if method in self._errors:
                error, when = self._errors[method]
                if when(*arguments, **named):
                    raise error
            return inner(*arguments, **named)

        return call
