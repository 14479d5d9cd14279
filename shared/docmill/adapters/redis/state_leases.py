"""The ``Leases`` port on Redis."""

from collections.abc import Sequence

from docmill.adapters.redis.packing import pack_holder
from docmill.adapters.redis.scripts import Scripts
from docmill.domain.registry import Attempt


class RedisLeases:
    """Leases face of ``RedisState``."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    def renew(self, attempts: Sequence[Attempt], ttl_seconds: float) -> list[bool]:
        """See ``Leases.renew``."""
        if not attempts:
            return []
        return [flag == "1" for flag in self._scripts.text("renew", round(ttl_seconds * 1000), *map(pack_holder, attempts))]

    def expire_all(self) -> None:
        """See ``Leases.expire_all``."""
        self._scripts.run("expire_all")

    def acquire_role(self, role: str, holder: str, ttl_seconds: float) -> int | None:
        """See ``Leases.acquire_role``."""
        token = self._scripts.text("acquire_role", role, holder, round(ttl_seconds * 1000))
        return int(token) if token else None

    def release_role(self, role: str, token: int) -> None:
        """See ``Leases.release_role``."""
        self._scripts.run("release_role", role, token)

    def is_role_held(self, role: str) -> bool:
        """See ``Leases.is_role_held``."""
        return self._scripts.number("is_role_held", role) == 1
