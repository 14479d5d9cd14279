"""Celery's own tools on docmill's broker: Flower as docker-compose.yml runs it, and what the tools say where they cannot work."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import redis

from docmill.adapters.redis.celery_app import QUEUES, TASK_NAME
from docmill.bootstrap.connections import celery_of
from docmill.config import Settings
from docmill.domain.registry import Lane
from support.compose_file import EXAMPLE, SECRETS, read_variables, services
from support.compose_processes import ComposeProcesses, ServiceProcess, start_redis
from support.redis_server import redis_server_binary
from support.running_docmill import PROGRAM, environment
from support.waiting import wait_until

CELERY: Final = str(PROGRAM.with_name("celery"))
VARIABLES: Final = {
    **read_variables(EXAMPLE),
    "DOCUMENTS": "/documents",
    **SECRETS,
    "REDIS_HOST": "127.0.0.1",
}
#: A worker that does nothing with what it takes, until its input ends.
IDLE_WORKER: Final = """
import os, sys
from docmill.bootstrap.connections import celery_of
from docmill.config import Settings
from docmill.domain.registry import Lane
from docmill_workers.consuming import start_consumer, stop_consumers
from docmill_workers.tasks import register_tasks
app = celery_of(Settings.from_environment(os.environ), None)
register_tasks(app, lambda message: None)
consumer = start_consumer(app, Lane.BULK, threads=1, prefetch=4)
sys.stdin.read()
stop_consumers()
consumer.thread.join(10)
"""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[ComposeProcesses]:
    with redis_of_the_compose_file(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def flower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with redis_of_the_compose_file(tmp_path_factory.mktemp("flower")) as processes:
        started = processes.start("flower")
        processes.wait_until_healthy(started)
        yield started


@contextmanager
def redis_of_the_compose_file(folder: Path) -> Iterator[ComposeProcesses]:
    redis_server_binary()
    (folder / "data").mkdir()
    (folder / "run").mkdir()
    with ComposeProcesses(services(VARIABLES), folder / "run", {}) as started:
        start_redis(started, folder / "data")
        yield started


def ask(flower: ServiceProcess, path: str, *, login: tuple[str, str] | None = ("watcher", "c0ffee")) -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{flower.port}{path}", auth=login, timeout=30)


@pytest.mark.parametrize("path", ["/", "/workers", "/tasks", "/broker", "/api/tasks", "/api/workers"])
def test_flower_answers_only_who_logs_in(flower: ServiceProcess, path: str) -> None:
    assert ask(flower, path, login=None).status_code == 401
    assert ask(flower, path, login=("watcher", "guess")).status_code == 401
    assert ask(flower, path).status_code == 200


def test_flower_says_how_it_is_and_what_it_counts_without_a_login(flower: ServiceProcess) -> None:
    assert ask(flower, "/healthcheck", login=None).text == "OK"
    assert ask(flower, "/metrics", login=None).status_code == 200


def test_flower_sends_nothing_and_stops_nothing(flower: ServiceProcess) -> None:
    for action in (f"task/send-task/{TASK_NAME}", "worker/shutdown/docmill-bulk", "task/revoke/1"):
        answer = httpx.post(f"http://127.0.0.1:{flower.port}/api/{action}", auth=("watcher", "c0ffee"), json={"args": []}, timeout=30)
        assert answer.status_code == 403


def test_flower_shows_the_tasks_of_a_worker(flower: ServiceProcess) -> None:
    url = flower.environment["DOCMILL_REDIS_URL"]
    worker = subprocess.Popen([sys.executable, "-c", IDLE_WORKER], stdin=subprocess.PIPE, env=environment({"DOCMILL_REDIS_URL": url}))
    app = celery_of(Settings(redis_url=url), None)
    try:
        wait_until(lambda: "flower_worker_online" in ask(flower, "/metrics").text, "Flower to see the worker", 60.0)
        for number in range(3):
            app.send_task(TASK_NAME, args=("kb", f"{number}.md", number), queue=QUEUES[Lane.BULK])
        shown: dict[str, Any] = {}

        def has_all() -> bool:
            shown.update(ask(flower, "/api/tasks").json())
            return [task["state"] for task in shown.values()] == ["SUCCESS"] * 3

        wait_until(has_all, "Flower to show the tasks", 60.0)
        assert {task["name"] for task in shown.values()} == {TASK_NAME}
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(30) == 0
    finally:
        app.close()
        worker.kill()
        worker.wait()
        assert worker.stdin is not None
        worker.stdin.close()


def test_flower_ends_within_its_grace_period(processes: ComposeProcesses) -> None:
    flower = processes.start("flower")
    processes.wait_until_healthy(flower)
    assert flower.end() == 0


def test_redis_of_the_compose_file_asks_for_the_password_and_shows_it_to_no_list_of_processes(processes: ComposeProcesses) -> None:
    (server,) = processes.running
    with redis.Redis(host="127.0.0.1", port=server.port) as client, pytest.raises(redis.AuthenticationError):
        client.ping()
    command_line = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    assert b"redis-server" in command_line
    assert b"5f0c1e" not in command_line
    with redis.Redis(host="127.0.0.1", port=server.port, password="5f0c1e", decode_responses=True) as client:
        assert client.config_get("appendonly", "maxmemory-policy") == {"appendonly": "yes", "maxmemory-policy": "noeviction"}


def test_redis_of_the_compose_file_keeps_what_it_has_over_a_stop(processes: ComposeProcesses, tmp_path: Path) -> None:
    (first,) = processes.running
    with redis.Redis(host="127.0.0.1", port=first.port, password="5f0c1e") as client:
        client.set("kept", "yes")
    assert first.end() == 0
    second = start_redis(processes, tmp_path / "data")
    with redis.Redis(host="127.0.0.1", port=second.port, password="5f0c1e", decode_responses=True) as client:
        assert client.get("kept") == "yes"


def test_a_tool_without_a_broker_says_so_in_one_line() -> None:
    ended = subprocess.run(
        [CELERY, "--app", "docmill_workers.celery_app", "flower"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == "docmill: DOCMILL_REDIS_URL: not set; Celery's tools need the broker that the workers have\n"


def test_celerys_own_worker_is_refused_since_it_would_throw_messages_away() -> None:
    ended = subprocess.run(
        [CELERY, "--app", "docmill_workers.celery_app", "worker"],
        env=environment({"DOCMILL_REDIS_URL": "redis://127.0.0.1:1/0"}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == "docmill: this application does not consume; start workers with: docmill worker"
