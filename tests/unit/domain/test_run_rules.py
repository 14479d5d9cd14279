import pytest

from docmill.domain.run_rules import arms, failure_of_all, failure_that_ends


@pytest.mark.parametrize(
    ("counters", "code"),
    [
        ({}, None),
        ({"planned": 500, "indexed": 100, "failed.provider.permanent": 1}, "provider.permanent"),
        ({"planned": 500, "indexed": 100, "failed.disk.full": 3}, "disk.full"),
        ({"planned": 500, "indexed": 100, "failed.provider.budget_spent": 1}, "provider.budget_spent"),
        ({"planned": 500, "failed.provider.transient": 499}, None),
        ({"planned": 500, "failed.provider.rate_limited": 20}, None),
        ({"planned": 500, "failed.provider.text_refused": 500}, None),
        ({"planned": 500, "failed.store.rejected": 500}, None),
        ({"planned": 500, "failed.store.down": 100}, None),
    ],
)
def test_a_run_ends_early_for_what_every_document_would_fail_of(counters: dict[str, int], code: str | None) -> None:
    assert failure_that_ends(counters) == code


@pytest.mark.parametrize(
    ("counters", "code"),
    [
        ({}, None),
        ({"seen": 5, "unchanged": 5}, None),
        ({"planned": 3, "indexed": 3}, None),
        ({"planned": 3, "failed.provider.transient": 3}, "provider.transient"),
        ({"planned": 3, "failed.store.down": 3}, "store.down"),
        ({"planned": 3, "failed.root.unavailable": 3}, "root.unavailable"),
        ({"planned": 3, "failed.provider.transient": 1, "failed.store.down": 2}, "store.down"),
        ({"seen": 90, "unchanged": 89, "planned": 1, "failed.provider.transient": 1}, "provider.transient"),
        ({"planned": 3, "removed": 1, "failed.provider.transient": 3}, "provider.transient"),
        ({"planned": 3, "indexed": 1, "failed.provider.transient": 2}, None),
        ({"planned": 3, "empty": 1, "failed.provider.transient": 2}, None),
        ({"planned": 3, "skipped.binary": 1, "failed.provider.transient": 2}, None),
        ({"planned": 3, "unchanged": 1, "failed.provider.transient": 2}, None),
        ({"planned": 3, "failed.provider.text_refused": 1, "failed.provider.transient": 2}, None),
        ({"planned": 3, "failed.store.rejected": 3}, None),
        ({"planned": 3, "indexed": 2, "failed.provider.transient": 3}, None),
        ({"failed.unreadable": 1}, None),
    ],
)
def test_a_run_has_failed_when_all_that_it_planned_failed_of_what_may_pass(counters: dict[str, int], code: str | None) -> None:
    assert failure_of_all(counters) == code


@pytest.mark.parametrize(
    ("code", "armed"),
    [
        ("provider.transient", True),
        ("provider.rate_limited", True),
        ("provider.permanent", False),
        ("store.down", False),
        ("root.unavailable", False),
    ],
)
def test_only_a_failing_provider_is_left_alone_for_a_while(code: str, armed: bool) -> None:
    assert arms(code) is armed
