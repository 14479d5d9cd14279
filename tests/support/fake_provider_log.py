"""What a fake provider notes of every request."""

import hashlib
from dataclasses import dataclass
from typing import Any, Final

UNDER_WAY: Final = "under way"
ANSWERED: Final = "answered"
HUNG_UP: Final = "hung up"
BROKEN: Final = "broken"


@dataclass
class Seen:
    """One request; times in seconds since 1970 by the clock of this machine.

    Attributes:
        at: when it had come in full.
        ended_at: when the last byte of its answer was written, or the connection ended; None while it is under way.
        key: a fingerprint of the key that came with it; "" without one.
        texts: a fingerprint of each text, in their order.
        tokens: of all texts, as the provider counts.
        status: of the answer; None where there was none.
        state: ``under way``, ``answered``, ``hung up`` by the client, or ``broken`` off by the provider.
    """

    at: float
    path: str
    key: str
    texts: tuple[str, ...]
    tokens: int
    status: int | None = None
    ended_at: float | None = None
    state: str = UNDER_WAY

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Seen":
        """What came from the provider."""
        return cls(**{**value, "texts": tuple(value["texts"])})


def fingerprint(text: str) -> str:
    """Of a key or a text; it tells them apart and says nothing of them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
