"""Stores that refuse, fall silent, lose everything or get another form under a fleet that is at work."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from support.elasticsearch_proxy import Drop, RefuseItems, running_proxy
from support.fleet import Fleet, assert_clean, running_fleet, settled_fleet, write_all
from support.fleet_api import Reader, wait_for_versions
from support.waiting import wait_until


def ask(method: str, url: str, body: Any = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(
        urllib.request.Request(url, content, {"Content-Type": "application/json"}, method=method), timeout=30
    ) as answer:
        return json.load(answer)


def indexes_of(fleet: Fleet) -> list[str]:
    return [one["index"] for one in ask("GET", f"{fleet.elasticsearch_url}/_cat/indices?format=json") if fleet.name in one["index"]]


def test_elasticsearch_refuses_then_is_down_then_cannot_write(tmp_path: Path) -> None:
    with running_fleet(tmp_path, "badsearch") as fleet, running_proxy(fleet.elasticsearch_url) as proxy:
        direct, fleet.elasticsearch_url = fleet.elasticsearch_url, proxy.url
        names = write_all(fleet, 1)
        api = fleet.start_all()
        api.wait_until_settled(len(names))
        with Reader(api, names[:5], may_fail=True) as reader:
            proxy.plan("_bulk", *[RefuseItems(429, frozenset({0, 2}))] * 4)
            write_all(fleet, 2)
            wait_for_versions(api, names, 2)
            assert proxy.unmet == 0
            proxy.plan("", *[Drop()] * 100_000)
            write_all(fleet, 3)
            wait_until(lambda: proxy.unmet < 99_980, "requests that are not answered", 60)
            proxy.forget()
            wait_for_versions(api, names, 3)
            for index in indexes_of(fleet):
                ask("PUT", f"{direct}/{index}/_settings", {"index.blocks.read_only_allow_delete": True})
            write_all(fleet, 4)
            wait_until(lambda: "read-only" in fleet.said() or "read_only" in fleet.said(), "the outage to be named", 60, pause_seconds=0.2)
            assert api.version_of(names[0]) == 3
            for index in indexes_of(fleet):
                ask("PUT", f"{direct}/{index}/_settings", {"index.blocks.read_only_allow_delete": None})
            wait_for_versions(api, names, 4)
        assert reader.broken == []
        assert_clean(fleet)


def test_the_vector_store_answers_too_late_what_it_has_done(tmp_path: Path) -> None:
    with settled_fleet(tmp_path, "latevectors") as (fleet, api, names), Reader(api, names[:5]) as reader:
        fleet.qdrant.misbehave(*[{"delay_seconds": 8, "apply": True}] * 2, {"disconnect": True, "apply": True}, {"status": 503})
        write_all(fleet, 2)
        wait_for_versions(api, names, 2)
        assert reader.broken == []
        assert_clean(fleet)


@pytest.mark.parametrize("store", ["vectors", "words"])
def test_a_store_that_lost_everything_is_filled_again(tmp_path: Path, store: str) -> None:
    with settled_fleet(tmp_path, f"wiped{store}") as (fleet, api, names):
        if store == "vectors":
            for collection in ask("GET", f"{fleet.qdrant.url}/collections")["result"]["collections"]:
                ask("DELETE", f"{fleet.qdrant.url}/collections/{collection['name']}")
        else:
            for index in ask("GET", f"{fleet.elasticsearch_url}/_cat/indices?format=json"):
                ask("DELETE", f"{fleet.elasticsearch_url}/{index['index']}")
        fleet.write(names[0], 2, 2)
        wait_until(lambda: "store_was_swapped" in fleet.said(), "the loss to be noticed", 60, pause_seconds=0.2)

        def is_filled_again() -> bool:
            """By one run; or, where documents were planned before it began, by the time that the index set is served."""
            by_one_run = api.status()["run"]["counters"].get("indexed", 0) >= len(names)
            return by_one_run or "index_set_is_served" in fleet.said()

        wait_until(is_filled_again, "another pass", 60, pause_seconds=0.2)
        api.wait_until_settled(len(names))
        wait_for_versions(api, names[:1], 2)
        wait_for_versions(api, names[1:], 1)
        assert_clean(fleet)


def test_documents_are_served_whole_while_another_index_set_is_built(tmp_path: Path) -> None:
    with settled_fleet(tmp_path, "bluegreen") as (fleet, api, names), Reader(api, names) as reader:
        before = api.search(names[0])["freshness"]["index_set"]
        fleet.configuration.write_text(fleet.configuration.read_text().replace("size: 300", "size: 290"))
        for member in fleet.members:
            if member.verb in ("producer", "worker"):
                assert member.stop() == 0
        fleet.start("producer")
        for _ in range(2):
            fleet.start("worker", "--threads", "2")
        fleet.write(names[3], 2, 3)
        wait_until(lambda: [one["role"] for one in api.status()["index_sets"]] == ["served", "building"], "both sets in the status", 60)
        wait_until(lambda: api.search(names[0])["freshness"]["index_set"] != before, "the switch", 90, pause_seconds=0.2)
        wait_for_versions(api, names[3:4], 2)
        assert reader.broken == []
        assert reader.asked > len(names)
        assert_clean(fleet)
