"""Access: API keys, and what each may do."""

from dataclasses import dataclass
from enum import StrEnum


class Right(StrEnum):
    """What a key may do; each right has those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def has(self, wanted: "Right") -> bool:
        """Whether who has this right has ``wanted`` too."""
        order = list(Right)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept; the key itself is shown once and kept nowhere.

    Attributes:
        id: names it; part of the key.
        name: what people call it.
        digest: SHA-256 of the whole key, in hexadecimal digits; a key has 256 random bits, so that no slower hash is needed.
        right: what it may do.
        knowledge_bases: the names of those that it is for; None is for all, also for those to come.
        created_at: seconds since 1970.
        expires_at: from when on it is void; None is never.
        requests_per_minute: how many requests are answered; None is unbounded.
    """

    id: str
    name: str
    digest: str
    right: Right
    knowledge_bases: tuple[str, ...] | None
    created_at: float
    expires_at: float | None = None
    requests_per_minute: int | None = None

    def sees(self, knowledge_base: str) -> bool:
        """Whether it is for this knowledge base."""
        return self.knowledge_bases is None or knowledge_base in self.knowledge_bases

    def is_expired(self, now: float) -> bool:
        """Whether it is void at ``now``, in seconds since 1970."""
        return self.expires_at is not None and now >= self.expires_at
