"""A query service with a key."""

from collections.abc import Iterator

import httpx
import pytest

from docmill.domain.errors import ConfigurationError
from docmill_services.query.app import make_app
from docmill_services.query.serve import serve
from support.http_service import LibraryBackend
from support.library import Library

KEY = "a-key-of-24-characters-x"


@pytest.fixture
def url() -> Iterator[str]:
    library = Library()
    server = serve(make_app({"library": LibraryBackend(library)}, KEY), "0.0.0.0", 0)
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        assert server.stop()
        library.close()


@pytest.mark.parametrize("headers", [{}, {"Authorization": KEY}, {"Authorization": f"Bearer {KEY}x"}, {"Authorization": "Basic YTpi"}])
@pytest.mark.parametrize("path", ["/v1/knowledge-bases", "/metrics", "/openapi.json", "/nothing", "//livez"])
def test_who_brings_no_key_is_told_to(url: str, path: str, headers: dict[str, str]) -> None:
    answer = httpx.get(url + path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "request.unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert KEY not in answer.text


@pytest.mark.parametrize("headers", [{}, {"Host": "docmill.example"}, {"Origin": "https://elsewhere.example"}])
def test_who_brings_the_key_is_answered_wherever_he_asks_from(url: str, headers: dict[str, str]) -> None:
    answer = httpx.get(f"{url}/v1/knowledge-bases", headers={"Authorization": f"Bearer {KEY}", **headers})
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_whether_the_service_is_well_may_be_asked_without_the_key(url: str, path: str) -> None:
    assert httpx.get(url + path).status_code == 200


def test_without_a_key_only_this_machine_is_listened_to() -> None:
    with pytest.raises(ConfigurationError, match="DOCMILL_API_KEY"):
        serve(make_app({}), "0.0.0.0", 0)


def test_a_name_is_no_address_to_listen_on() -> None:
    with pytest.raises(ConfigurationError, match="name an address"):
        serve(make_app({}, KEY), "docmill.example", 0)
