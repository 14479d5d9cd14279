"""The health server of a process, over HTTP."""

import httpx
import pytest

from docmill.domain.errors import AddressInUse, ServiceDown
from docmill_services.health import HealthServer


class Process:
    error: ServiceDown | None = None

    def check(self) -> None:
        if self.error is not None:
            raise self.error


def test_a_process_says_that_it_is_well_until_it_is_not() -> None:
    process = Process()
    server = HealthServer("127.0.0.1", 0, process.check)
    try:
        assert httpx.get(server.url).json() == {"ok": True}
        process.error = ServiceDown("nothing moves")
        unwell = httpx.get(server.url)
        assert (unwell.status_code, unwell.json()) == (503, {"ok": False, "detail": "nothing moves"})
        assert httpx.get(server.url.removesuffix("/livez")).status_code == 404
    finally:
        server.close()


def test_a_port_in_use_is_named() -> None:
    first = HealthServer("127.0.0.1", 0, lambda: None)
    try:
        port = httpx.URL(first.url).port
        with pytest.raises(AddressInUse, match=f"cannot listen on 127.0.0.1:{port}"):
            HealthServer("127.0.0.1", port or 0, lambda: None)
    finally:
        first.close()
