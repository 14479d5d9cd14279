"""Files that change, move and vanish under a fleet on real servers."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from docmill.adapters.redis.celery_app import QUEUES
from docmill.config.settings import Settings
from docmill.domain.registry import Lane
from support.fault_points import loading_slowly
from support.fleet import Fleet, assert_clean, running_fleet
from support.fleet_api import Api, Reader, word_of
from support.waiting import wait_until


@pytest.fixture
def fleet(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    with running_fleet(tmp_path, f"files{abs(hash(request.node.name)) % 10**8}") as fleet:
        yield fleet


def wait_for(api: Api, name: str, version: int | None) -> None:
    wait_until(lambda: api.version_of(name) == version, f"version {version} of {name}", 60, pause_seconds=0.1)


def test_files_may_change_in_every_way_while_they_are_indexed(fleet: Fleet) -> None:
    fleet.more_settings |= loading_slowly(0.3)
    for number in range(6):
        fleet.write(f"{number}.md", 1, 10)
    api = fleet.start_all()
    api.wait_until_settled(6)
    with Reader(api, ["0.md"]) as reader:
        for version in range(2, 6):
            for number in range(5):
                fleet.write(f"{number}.md", version, 10 if version % 2 else 3)
        (fleet.documents / "1.md").write_text("")
        (fleet.documents / "2.md").rename(fleet.documents / "7.md")
        (fleet.documents / "3.md").unlink()
        wait_for(api, "0.md", 5)
        wait_for(api, "1.md", None)
        wait_until(lambda: api.status()["documents"]["pending"] == 0, "nothing pending", 60, pause_seconds=0.1)
        found = {result["document_id"] for result in api.search(f"{word_of('7.md')} {word_of('2.md')}")["results"]}
        assert {Path(document_id).name for document_id in found} == {"7.md"}
        wait_for(api, "3.md", None)
    assert reader.broken == []
    assert_clean(fleet)


def test_a_thousand_saves_of_a_hundred_files_queue_a_hundred(fleet: Fleet) -> None:
    for number in range(100):
        fleet.write(f"{number}.md", 1, 1)
    producer = fleet.start("producer")
    api = fleet.start_api()
    queues = [QUEUES[Lane.LIVE], QUEUES[Lane.BULK]]
    wait_until(lambda: sum(fleet.redis.client.llen(queue) for queue in queues) >= 100, "the scan", 60)
    wait_until(lambda: api.status()["watching"], "the watcher", 60, pause_seconds=0.1)
    for version in range(2, 12):
        for number in range(100):
            fleet.write(f"{number}.md", version, 1)
    fleet.write("1000.md", 1, 1)
    wait_until(lambda: api.status()["documents"]["pending"] == 101, "the last change to be seen", 60, pause_seconds=0.1)
    # A change of a document that waits in bulk has a second message, in the live queue; its first one finds a wrong ticket and ends.
    assert fleet.redis.client.llen(QUEUES[Lane.LIVE]) <= 101
    assert fleet.redis.client.llen(QUEUES[Lane.BULK]) <= 100
    fleet.start("worker", "--threads", "2")
    api.wait_until_settled(101)
    wait_for(api, "99.md", 11)
    assert producer.process.poll() is None
    assert_clean(fleet)


@pytest.mark.parametrize("mount", ["missing", "empty", "another"])
def test_a_worker_whose_documents_are_not_mounted_removes_nothing(fleet: Fleet, tmp_path: Path, mount: str) -> None:
    for number in range(10):
        fleet.write(f"{number}.md", 1, 2)
    fleet.start("producer")
    worker = fleet.start("worker", "--threads", "2")
    api = fleet.start_api()
    api.wait_until_settled(10)
    worker.stop()
    elsewhere = tmp_path / "other_host"
    elsewhere.mkdir()
    if mount != "missing":
        (elsewhere / "documents").mkdir()
    if mount == "another":
        (elsewhere / "documents" / "lost+found").mkdir()
    (elsewhere / "docmill.yaml").write_text(fleet.configuration.read_text().replace(str(fleet.documents), str(elsewhere / "documents")))
    fleet.write("3.md", 2, 2)
    fleet.start("worker", "--threads", "2", "--config", str(elsewhere / "docmill.yaml"))
    wait_until(lambda: api.status()["documents"]["pending"] == 0, "the attempt to end", 60, pause_seconds=0.1)
    assert api.version_of("3.md") == 1
    assert api.status()["documents"]["live"] + api.status()["documents"]["failed"] == 10


def test_two_producers_do_the_work_once_and_the_second_takes_over(fleet: Fleet) -> None:
    for number in range(50):
        fleet.write(f"{number}.md", 1, 2)
    producers = [fleet.start("producer") for _ in range(2)]
    fleet.start("worker", "--threads", "2")
    api = fleet.start_api()
    api.wait_until_settled(50)
    assert api.status()["run"]["counters"]["indexed"] == 50
    with Reader(api, [f"{number}.md" for number in range(10)]) as reader:
        for killed in producers:
            killed.kill()
            fleet.start("producer")
            version = 2 + producers.index(killed)
            fleet.write("3.md", version, 3)
            wait_for(api, "3.md", version)
    assert reader.broken == []
    assert_clean(fleet)


def test_one_message_delivered_ten_times_at_once_is_carried_out_once(fleet: Fleet) -> None:
    fleet.write("1.md", 1, 3)
    fleet.start("producer", "--no-watch")
    api = fleet.start_api()
    queue = QUEUES[Lane.BULK]
    wait_until(lambda: fleet.redis.client.llen(queue) == 1, "the message", 60)
    (message,) = fleet.redis.client.lrange(queue, 0, 0)
    for number in range(9):
        copy = json.loads(message)
        copy["properties"]["delivery_tag"] += f"-{number}"
        fleet.redis.client.lpush(queue, json.dumps(copy))
    for _ in range(2):
        fleet.start("worker", "--threads", "5")
    api.wait_until_settled(1)
    counters = api.status()["run"]["counters"]
    assert (counters["indexed"], counters["embedded"]) == (1, 3)
    wait_until(lambda: fleet.redis.client.llen(queue) == 0, "the copies to be taken")
    assert_clean(fleet)


def test_a_message_that_a_worker_lost_before_it_was_noted_is_sent_again(fleet: Fleet) -> None:
    for number in range(5):
        fleet.write(f"{number}.md", 1, 1)
    fleet.start("producer", "--no-watch")
    api = fleet.start_api()
    queue = QUEUES[Lane.BULK]
    wait_until(lambda: fleet.redis.client.llen(queue) == 5, "the messages", 60)
    assert fleet.redis.client.brpop([queue], 1) is not None
    fleet.start("worker", "--threads", "2")
    api.wait_until_settled(5)
    assert Settings.from_environment(fleet.settings).visibility_timeout_seconds > 60, "the visibility timeout must not be what helps"
    assert_clean(fleet)


def test_documents_survive_the_removal_of_a_folder_that_comes_back(fleet: Fleet) -> None:
    for number in range(8):
        fleet.write(f"folder/{number}.md", 1, 2)
    fleet.write("9.md", 1, 1)
    api = fleet.start_all(workers=1)
    api.wait_until_settled(9)
    shutil.move(fleet.documents / "folder", fleet.folder / "aside")
    wait_until(lambda: api.status()["documents"]["live"] == 1, "the removals", 60, pause_seconds=0.1)
    shutil.move(fleet.folder / "aside", fleet.documents / "folder")
    wait_until(lambda: api.status()["documents"]["live"] == 9, "the documents", 60, pause_seconds=0.1)
    wait_for(api, "folder/3.md", 1)
    assert_clean(fleet)
