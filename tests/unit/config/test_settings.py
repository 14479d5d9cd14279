from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from docmill.config import Settings
from docmill.config.settings import setting_descriptions
from docmill.domain.errors import ConfigurationError


def problems(**variables: str) -> list[str]:
    try:
        Settings.from_environment({f"DOCMILL_{name}": value for name, value in variables.items()})
    except ConfigurationError as error:
        return str(error).split("\n")
    return []


def test_nothing_set_means_the_documented_defaults() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings(
        redis_url=None,
        qdrant_url=None,
        elasticsearch_url=None,
        query_timeout_seconds=10.0,
        store_timeout_seconds=20.0,
        grace_seconds=60.0,
        lease_seconds=30.0,
        lease_renewal_seconds=5.0,
        group_commit_seconds=1.0,
        group_commit_documents=500,
        live_commit_seconds=0.1,
        document_deadline_seconds=600.0,
        scan_interval_seconds=900.0,
        window_documents=1000,
        visibility_timeout_seconds=900.0,
        worker_threads=None,
        embedding_threads=None,
    )


def test_each_setting_has_its_variable() -> None:
    settings = Settings.from_environment(
        {
            "DOCMILL_REDIS_URL": "rediss://:pw@cache.example:6380/1",
            "DOCMILL_QDRANT_URL": "http://[::1]:6333",
            "DOCMILL_ELASTICSEARCH_URL": "https://search.example",
            "DOCMILL_GRACE_SECONDS": "2.5",
            "DOCMILL_WINDOW_DOCUMENTS": "50",
            "DOCMILL_WORKER_THREADS": "3",
            "DOCMILL_EMBEDDING_THREADS": " 2 ",
            "DOCMILL_QUERY_TIMEOUT_SECONDS": "",
            "HOME": "/root",
        }
    )
    assert settings.redis_url == "rediss://:pw@cache.example:6380/1"
    assert (settings.qdrant_url, settings.elasticsearch_url) == ("http://[::1]:6333", "https://search.example")
    assert (settings.grace_seconds, settings.window_documents, settings.query_timeout_seconds) == (2.5, 50, 10.0)
    assert (settings.worker_threads, settings.embedding_threads) == (3, 2)


def test_every_bad_variable_is_named_in_a_line_of_its_own() -> None:
    lines = problems(GRACE_SECONDS="soon", WINDOW_DOCUMENTS="0", QDRANT_URL="localhost:6333", WORKER_THREADS="2.5")
    assert [line.split(":")[0] for line in lines] == [
        "DOCMILL_QDRANT_URL",
        "DOCMILL_GRACE_SECONDS",
        "DOCMILL_WINDOW_DOCUMENTS",
        "DOCMILL_WORKER_THREADS",
    ]
    assert lines[1] == "DOCMILL_GRACE_SECONDS: must be a number of seconds above 0 and at most 31536000, not `soon`"


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "1e400", "9" * 5000, "1_0 0", "a\nb"])
def test_seconds_are_finite_and_above_zero(value: str) -> None:
    (line,) = problems(STORE_TIMEOUT_SECONDS=value)
    assert line.startswith("DOCMILL_STORE_TIMEOUT_SECONDS: must be a number of seconds")


@pytest.mark.parametrize(
    "url", ["redis://", "http://cache", "unix://", "redis://host:0", "redis://host:x", "redis://ho st", "//host", "redis"]
)
def test_a_redis_url_names_a_scheme_and_a_place(url: str) -> None:
    (line,) = problems(REDIS_URL=url)
    assert line.startswith("DOCMILL_REDIS_URL: ")


@pytest.mark.parametrize("url", ["redis://h", "rediss://u:p@h:1/0", "unix:///run/redis.sock", "sentinel://h:26379/mymaster"])
def test_redis_is_reached_in_several_ways(url: str) -> None:
    assert problems(REDIS_URL=url) == []


def test_a_password_in_a_url_is_in_no_message_and_no_representation() -> None:
    assert "hunter2" not in "".join(problems(REDIS_URL="reddis://:hunter2@h"))
    assert "hunter2" not in repr(Settings.from_environment({"DOCMILL_REDIS_URL": "redis://:hunter2@h"}))


def test_a_lease_is_renewed_at_least_twice_in_its_life() -> None:
    assert problems(LEASE_SECONDS="10", LEASE_RENEWAL_SECONDS="5") == []
    (line,) = problems(LEASE_SECONDS="10", LEASE_RENEWAL_SECONDS="6")
    assert line == "DOCMILL_LEASE_RENEWAL_SECONDS: must be at most half of DOCMILL_LEASE_SECONDS (10), not 6"


def test_scans_are_at_least_as_far_apart_as_a_configuration_may_say() -> None:
    assert problems(SCAN_INTERVAL_SECONDS="1") == []
    assert problems(SCAN_INTERVAL_SECONDS="0.5") == ["DOCMILL_SCAN_INTERVAL_SECONDS: must be at least 1, not 0.5"]


def test_several_servers_may_be_named() -> None:
    sentinels = "sentinel://:pw@a.example:26379,b.example:26380/main/0"
    nodes = "https://a.example:9200,https://b.example:9200"
    settings = Settings.from_environment({"DOCMILL_REDIS_URL": sentinels, "DOCMILL_ELASTICSEARCH_URL": nodes})
    assert (settings.redis_url, settings.elasticsearch_url) == (sentinels, nodes)
    (line,) = problems(ELASTICSEARCH_URL="https://a.example,ftp://b.example")
    assert "names a place" in line


def test_a_file_of_certificates_must_be_there(tmp_path: Path) -> None:
    (line,) = problems(REDIS_CA_FILE=str(tmp_path / "none.pem"))
    assert line.startswith("DOCMILL_REDIS_CA_FILE: names no file")
    there = tmp_path / "ca.pem"
    there.write_text("x")
    assert Settings.from_environment({"DOCMILL_REDIS_CA_FILE": str(there)}).redis_ca_file == str(there)


def test_settings_cannot_be_changed() -> None:
    settings = Settings()
    with pytest.raises(FrozenInstanceError):
        settings.grace_seconds = 1.0  # type: ignore[misc]  # what is tested


def test_every_setting_is_described() -> None:
    descriptions = setting_descriptions()
    assert len(descriptions) == len(fields(Settings))
    assert all(description.description.endswith(".") for description in descriptions)
    assert ("DOCMILL_GRACE_SECONDS", 60.0) in [(description.variable, description.default) for description in descriptions]
