"""The contract of ``KeyStore`` and ``RequestCounter``."""

# ruff: noqa: D102 - the name of a test is its description

from dataclasses import replace

import pytest

from docmill.domain.access import ApiKey, Right
from docmill.ports.keys import KeyStore, RequestCounter


def key_of(key_id: str, *, created_at: float = 1.0, requests_per_minute: int | None = None) -> ApiKey:
    """A key with every field set to something of its own."""
    return ApiKey(key_id, f"for {key_id} ✓", "0" * 64, Right.WRITE, ("handbook", "code"), created_at, 99.5, requests_per_minute)


class KeyStoreContract:
    """Subclasses give the fixtures ``keys`` and ``counter``, both empty."""

    def test_there_are_no_keys_at_first(self, keys: KeyStore) -> None:
        assert keys.all() == []
        assert keys.remove("a") is False

    def test_keys_come_back_as_they_were_in_the_order_of_their_making(self, keys: KeyStore) -> None:
        second, first = key_of("b", created_at=2.0), replace(key_of("a"), knowledge_bases=None, expires_at=None)
        keys.put(second)
        keys.put(first)
        assert keys.all() == [first, second]

    def test_a_key_replaces_the_one_with_its_id(self, keys: KeyStore) -> None:
        keys.put(key_of("a"))
        keys.put(replace(key_of("a"), name="new"))
        assert [key.name for key in keys.all()] == ["new"]

    def test_a_removed_key_is_gone(self, keys: KeyStore) -> None:
        keys.put(key_of("a"))
        keys.put(key_of("b"))
        assert keys.remove("a") is True
        assert [key.id for key in keys.all()] == ["b"]

    def test_a_key_without_a_limit_never_waits(self, counter: RequestCounter) -> None:
        assert [counter.wait_of(key_of("a")) for _ in range(50)] == [0.0] * 50

    def test_a_key_waits_once_it_has_had_its_requests_and_no_other_key_does(self, counter: RequestCounter) -> None:
        limited = key_of("a", requests_per_minute=3)
        assert [counter.wait_of(limited) for _ in range(3)] == [0.0] * 3
        wait = counter.wait_of(limited)
        assert wait == pytest.approx(60.0, abs=5.0)
        assert counter.wait_of(key_of("b", requests_per_minute=3)) == 0.0
