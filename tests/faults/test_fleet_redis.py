"""Redis is killed, emptied, set back and cut off under a fleet that is at work."""

import shutil
import time
from pathlib import Path

import pytest

from support.fleet import Fleet, assert_clean, settled_fleet, write_all
from support.fleet_api import Reader, wait_for_versions, word_of
from support.waiting import wait_until


def wait_for_commits(fleet: Fleet, name: str, more: int) -> None:
    """Returns once ``more`` commits came after those of now."""

    def commits() -> int:
        return int(fleet.redis.client.hget(f"docmill:{{{name}:0}}:meta", "commits") or 0)

    before = commits()
    wait_until(lambda: commits() >= before + more, "commits", 60)


def test_redis_is_killed_and_comes_back_with_its_file(tmp_path: Path) -> None:
    with settled_fleet(tmp_path, "killed") as (fleet, api, names), Reader(api, names[:10]) as reader:
        write_all(fleet, 2)
        wait_for_commits(fleet, "killed", 5)
        fleet.redis.kill()
        fleet.redis.start()
        wait_for_versions(api, names, 2)
        assert reader.broken == []
        assert_clean(fleet)


def test_redis_is_killed_and_comes_back_empty(tmp_path: Path) -> None:
    with settled_fleet(tmp_path, "emptied", "--appendonly", "no") as (fleet, api, names), Reader(api, names[:10]) as reader:
        write_all(fleet, 2)
        wait_for_commits(fleet, "emptied", 5)
        fleet.redis.kill()
        fleet.redis.start()
        wait_for_versions(api, names, 2)
        assert reader.broken == []
        assert_clean(fleet)


def test_redis_is_flushed(tmp_path: Path) -> None:
    with settled_fleet(tmp_path, "flushed") as (fleet, api, names), Reader(api, names[:10]) as reader:
        write_all(fleet, 2)
        wait_for_commits(fleet, "flushed", 5)
        fleet.redis.client.flushall()
        wait_for_versions(api, names, 2)
        assert reader.broken == []
        assert_clean(fleet)


def test_redis_is_set_back_by_seconds(tmp_path: Path) -> None:
    grace = {"DOCMILL_GRACE_SECONDS": "45"}  # longer than what is lost here
    with settled_fleet(tmp_path, "setback", settings=grace) as (fleet, api, names), Reader(api, names[:10], may_go_back=True) as reader:
        append_only = fleet.redis.folder / "appendonlydir"
        copy = tmp_path / "copy"
        shutil.copytree(append_only, copy)
        write_all(fleet, 2)
        wait_for_versions(api, names, 2)
        fleet.redis.kill()
        shutil.rmtree(append_only)
        shutil.copytree(copy, append_only)
        fleet.redis.start()
        write_all(fleet, 3)
        wait_for_versions(api, names, 3)
        assert reader.broken == []
        assert_clean(fleet)


@pytest.mark.parametrize(("fault", "seconds"), [("silent", 60), ("gone", 10)])
def test_queries_answer_while_redis_does_not(tmp_path: Path, fault: str, seconds: float) -> None:
    with settled_fleet(tmp_path, f"{fault}redis") as (fleet, api, names):
        for name in names:
            assert api.version_of(name) == 1
        if fault == "silent":
            fleet.redis.pause()
        else:
            fleet.redis.kill()
        began = time.monotonic()
        answers = 0
        while time.monotonic() - began < seconds or not answers:
            answer = api.search(word_of("3.md"))
            assert answer["results"], answer
            assert answer["freshness"]["unverified"] is True
            answers += 1
        write_all(fleet, 2)
        if fault == "silent":
            fleet.redis.go_on()
        else:
            fleet.redis.start()
        wait_for_versions(api, names, 2)
        assert api.search(word_of("3.md"))["freshness"]["unverified"] is False
        assert_clean(fleet)
