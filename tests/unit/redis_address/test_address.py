"""``DOCMILL_REDIS_URL`` taken apart, and what a server's own words come to."""

import pytest

from docmill.adapters.redis.address import RedisAddress, address_of
from docmill.adapters.redis.connecting import broker_of
from docmill.adapters.redis.describing import require_usable
from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationError, ServiceDown, StoreDown


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://db", RedisAddress((("db", 6379),))),
        ("redis://db:7000/2", RedisAddress((("db", 7000),), database=2)),
        ("redis://db?db=3", RedisAddress((("db", 6379),), database=3)),
        ("redis://[::1]:7000", RedisAddress((("::1", 7000),))),
        ("redis://:p%40ss@db", RedisAddress((("db", 6379),), password="p@ss")),
        ("rediss://me:p%3Aw@db:7000", RedisAddress((("db", 7000),), username="me", password="p:w", tls=True)),
        ("unix:///run/redis.sock?db=4", RedisAddress(path="/run/redis.sock", database=4)),
        ("unix://:secret@/run/a%20b", RedisAddress(path="/run/a b", password="secret")),
        ("sentinel://a,b:7000/main", RedisAddress((("a", 26379), ("b", 7000)), master_name="main")),
        ("sentinel://u:p@a:1,b:2/main/5", RedisAddress((("a", 1), ("b", 2)), "", "main", "u", "p", 5)),
    ],
)
def test_an_address_is_read_from_its_url(url: str, address: RedisAddress) -> None:
    assert address_of(Settings(redis_url=url)) == address


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("redis://db/x", "database by its number"),
        ("redis://db/123456", "database by its number"),
        ("redis://db?ssl_cert_reqs=none", "ssl_cert_reqs"),
        ("redis://user@db", "user without a password"),
        ("sentinel://a:1,b:2", "name that Sentinel has"),
        ("sentinel://a:1,/main", "names no host"),
        ("unix://host/run/redis.sock", "three slashes"),
        ("redis://db#1", "must be written %23"),
    ],
)
def test_a_url_that_cannot_be_used_says_why_without_repeating_it(url: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as raised:
        address_of(Settings(redis_url=url))
    assert url not in str(raised.value)


def test_a_sentinel_with_a_file_of_certificates_is_spoken_to_over_tls() -> None:
    settings = Settings(redis_url="sentinel://a:1/main", redis_ca_file="ca.pem")
    assert address_of(settings).tls
    broker = broker_of(settings)
    assert broker.use_ssl is not None
    assert broker.transport_options["sentinel_kwargs"]["ssl_ca_certs"] == "ca.pem"


@pytest.mark.parametrize(
    ("url", "broker_url"),
    [
        ("redis://me:p%40%2F@db:7000/2", "redis://me:p%40%2F@db:7000/2"),
        ("redis://db?db=2", "redis://db:6379/2"),
        ("rediss://[::1]", "rediss://[::1]:6379/0"),
        ("unix://:p%40@/run/a%20b?db=1", "redis+socket://:p%40@/run/a%20b?virtual_host=1"),
        ("sentinel://:p@a:1,b:2/main/3", "sentinel://:p@a:1/3;sentinel://:p@b:2/3"),
    ],
)
def test_celery_is_given_the_same_place(url: str, broker_url: str) -> None:
    broker = broker_of(Settings(redis_url=url))
    assert broker.url == broker_url
    assert "p%40" not in repr(broker)
    assert broker.transport_options["socket_timeout"] == Settings().store_timeout_seconds


@pytest.mark.parametrize(
    ("info", "problem"),
    [
        ({"redis_version": "6.0.16"}, "Redis 6.0.16, which is too old: docmill needs Redis 6.2"),
        ({"redis_version": "7.0.0", "redis_mode": "cluster"}, "part of a cluster"),
        ({"redis_version": "7.0.0", "redis_mode": "sentinel"}, "is a Sentinel"),
        ({"redis_version": "7.0.0", "role": "slave", "master_host": "h", "master_port": 1}, r"follows \(h:1\)"),
        ({}, "is not a Redis"),
    ],
)
def test_a_server_that_docmill_cannot_use_is_refused(info: dict[str, object], problem: str) -> None:
    with pytest.raises(ServiceDown, match=problem):
        require_usable(info, "db:6379")


@pytest.mark.parametrize("version", ["6.2.0", "7.0.15", "7.2.4", "8.0", "10.1"])
def test_a_server_that_is_new_enough_is_used(version: str) -> None:
    require_usable({"redis_version": version, "redis_mode": "standalone", "role": "master", "loading": 0}, "db:6379")


def test_a_server_that_still_loads_is_a_store_that_is_down() -> None:
    with pytest.raises(StoreDown, match="still loading"):
        require_usable({"redis_version": "7.0.15", "loading": 1}, "db:6379")
