"""Keys: where API keys are kept, and how their requests are counted."""

from typing import Protocol

from docmill.domain.access import ApiKey


class KeyStore(Protocol):
    """Keeps API keys. May be called from several threads and processes at once."""

    def all(self) -> list[ApiKey]:
        """Every key, by the time at which it was made; raises ``StoreDown``."""
        ...

    def put(self, key: ApiKey) -> None:
        """Keeps ``key``, in the place of one with its id; raises ``StoreDown``."""
        ...

    def remove(self, key_id: str) -> bool:
        """Forgets a key; False when there is none with this id. Raises ``StoreDown``."""
        ...


class RequestCounter(Protocol):
    """Counts the requests of keys, for all processes together."""

    def wait_of(self, key: ApiKey) -> float:
        """Counts one request: 0.0 when it may be answered, else in how many seconds the next one may; raises ``StoreDown``."""
        ...
