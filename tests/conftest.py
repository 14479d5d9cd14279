"""Tests that share one Elasticsearch run one after the other; all others beside them."""

from typing import Final

import pytest

#: A module that has one of these names uses the session's Elasticsearch.
_USES_ELASTICSEARCH: Final = frozenset({"elasticsearch_url", "running_fleet"})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives them to one process of ``pytest -n``, and puts them first, since they take longest."""
    for item in items:
        if _USES_ELASTICSEARCH & vars(getattr(item, "module", None) or pytest).keys():
            item.add_marker(pytest.mark.xdist_group("elasticsearch"))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
