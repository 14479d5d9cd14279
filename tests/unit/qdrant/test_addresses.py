"""Where the server is, and what may answer there."""

import pytest
from qdrant_client import models

from docmill.adapters.qdrant.connecting import Address, address_of, check_version
from docmill.domain.errors import ConfigurationError, ExitCode, ServiceDown


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://db", Address(False, False, "db", 6333, "")),
        ("http://db:80/", Address(False, False, "db", 80, "")),
        ("https://db.example/vectors/", Address(False, True, "db.example", 6333, "/vectors")),
        ("grpc://db", Address(True, False, "db", 6334, "")),
        ("grpcs://10.0.0.1:7000", Address(True, True, "10.0.0.1", 7000, "")),
        ("http://[::1]:6333", Address(False, False, "[::1]", 6333, "")),
    ],
)
def test_an_address_is_read_with_the_usual_ports(url: str, address: Address) -> None:
    assert address_of(url) == address


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://a,http://b", "several servers"),
        ("http://user:secret@db", "DOCMILL_QDRANT_API_KEY"),
        ("http://db?key=secret", "end after the path"),
        ("grpc://db/secret", "end after the port"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_without_its_secrets(url: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        address_of(url)
    assert "DOCMILL_QDRANT_URL" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("version", ["1.10.0", "1.18.2", "1.18.0-dev", "2.0.0"])
def test_versions_with_the_query_endpoint_are_taken(version: str) -> None:
    check_version(models.VersionInfo(title="qdrant - vector search engine", version=version), "db:6333")


@pytest.mark.parametrize(
    ("title", "version", "says"),
    [
        ("qdrant - vector search engine", "1.9.7", "1.9.7; 1.10 or newer"),
        ("qdrant - vector search engine", "0.11.0", "1.10 or newer"),
        ("qdrant - vector search engine", "unknown", "unknown; 1.10 or newer"),
        ("chroma", "1.18.0", "not Qdrant but 'chroma'"),
    ],
)
def test_another_server_or_an_older_one_is_told_in_one_line(title: str, version: str, says: str) -> None:
    with pytest.raises(ServiceDown, match=says) as caught:
        check_version(models.VersionInfo(title=title, version=version), "db:6333")
    assert caught.value.exit_code == ExitCode.SERVICE_DOWN
    assert "db:6333" in str(caught.value)
