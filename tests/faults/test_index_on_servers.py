"""``docmill index`` where other processes do the work: without a producer, beside one, and only looking."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.fleet import Fleet, running_fleet, write_all
from support.running_docmill import docmill


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with running_fleet(tmp_path_factory.mktemp("fleet"), "asked") as fleet:
        write_all(fleet, 1, count=5)
        yield fleet


def looked_at(fleet: Fleet) -> dict[str, Any]:
    ended = docmill("index", "--config", fleet.configuration, "--dry-run", "--json", settings=fleet.settings, cwd=fleet.folder, seconds=60)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)["asked"]
    return found


def index(fleet: Fleet) -> tuple[int, str, str]:
    ended = docmill("index", "--config", fleet.configuration, "--json", settings=fleet.settings, cwd=fleet.folder, seconds=120)
    return ended.returncode, ended.stdout, ended.stderr


def test_index_notices_that_nobody_plans_and_a_producer_that_comes_later_carries_the_run_out(fleet: Fleet) -> None:
    found = looked_at(fleet)
    assert (found["unchanged"], found["to_index"]) == (0, 5)
    assert found["texts"] > 0
    code, _, said = index(fleet)
    assert code == 3
    assert "no producer plans the work of asked" in said
    api = fleet.start_all(workers=1)
    api.wait_until_settled(5)
    code, printed, said = index(fleet)
    assert code == 0, said
    assert json.loads(printed)["asked"]["counters"]["unchanged"] == 5
    fleet.write("new.md", 1, 2)
    fleet.write("copy.md", 1, 1)
    found = looked_at(fleet)
    assert (found["unchanged"] + found["to_index"], "hidden" in found) == (7, False)
