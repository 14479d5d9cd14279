"""The services of docker-compose.yml work together: its very commands and environments, as processes, on real servers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from support.compose_file import EXAMPLE, REPOSITORY, SECRETS, read_variables, services
from support.compose_processes import ComposeProcesses, ServiceProcess, start_redis, translated
from support.elasticsearch_server import elasticsearch_url
from support.qdrant_server import qdrant_server_process
from support.redis_server import redis_server_binary
from support.waiting import wait_until

VARIABLES: Final = {
    **read_variables(EXAMPLE),
    **SECRETS,
    # What a further host sets: the servers have another name there.
    "REDIS_HOST": "127.0.0.1",
    "QDRANT_HOST": "127.0.0.1",
    "ELASTICSEARCH_HOST": "127.0.0.1",
}
WORK_SECONDS: Final = 90.0


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    (folder / "notes").mkdir(parents=True)
    for number in range(12):
        text = f"# Note {number}\n\nThe kingfisher of day {number} sits by the river and waits.\n"
        (folder / "notes" / f"{number:02}.md").write_text(text, encoding="utf-8")
    (folder / "herons.md").write_text("# Herons\n\nA heron stands in shallow water.\n", encoding="utf-8")
    (folder / "boats.md").write_text("# Boats\n\nA catamaran has two hulls.\n", encoding="utf-8")
    return folder


@pytest.fixture
def processes(tmp_path: Path, documents: Path) -> Iterator[ComposeProcesses]:
    redis_server_binary()
    for name in ("etc", "redis", "qdrant", "run"):
        (tmp_path / name).mkdir()
    configuration = tmp_path / "etc" / "docmill.yaml"
    given = (REPOSITORY / "deploy" / "docker" / "docmill.yaml").read_text(encoding="utf-8")
    configuration.write_text(translated(given, {"/documents": str(documents)}), encoding="utf-8")
    elasticsearch = elasticsearch_url()
    with qdrant_server_process(tmp_path / "qdrant", api_key=VARIABLES["QDRANT_API_KEY"]) as qdrant:
        replaced = {
            "/etc/docmill/docmill.yaml": str(configuration),
            "6333": str(qdrant.port),
            "9200": str(httpx.URL(elasticsearch).port),
        }
        with ComposeProcesses(services({**VARIABLES, "DOCUMENTS": str(documents)}), tmp_path / "run", replaced) as started:
            start_redis(started, tmp_path / "redis")
            yield started


def test_the_services_of_the_compose_file_index_follow_answer_and_end(processes: ComposeProcesses, documents: Path) -> None:
    producer = processes.start("producer")
    workers = [processes.start("worker"), processes.start("worker")]
    api, flower = processes.start("api"), processes.start("flower")
    for one in processes.running:
        processes.wait_until_healthy(one)

    wait_until(lambda: found(api, "kingfisher") == sorted(note_ids(documents)), "every note to be found", WORK_SECONDS)
    assert found(api, "heron") == [str(documents / "herons.md")]
    assert found(api, "a vessel with two hulls", strategies=["chunked-embeddings"], limit=1) == [str(documents / "boats.md")]

    (documents / "boats.md").write_text("# Boats\n\nA trimaran has three hulls.\n", encoding="utf-8")
    (documents / "herons.md").unlink()
    wait_until(lambda: found(api, "trimaran") == [str(documents / "boats.md")], "the edit to be found", WORK_SECONDS)
    wait_until(lambda: found(api, "heron") == [], "the removed document to be gone", WORK_SECONDS)
    assert found(api, "catamaran") == []

    assert httpx.post(f"http://127.0.0.1:{api.port}/v1/knowledge-bases/documents/search", json={"query": "x"}).status_code == 401
    assert httpx.get(f"http://127.0.0.1:{flower.port}/api/tasks").status_code == 401
    tasks = flower_tasks(flower)
    assert {task["name"] for task in tasks.values()} == {"docmill.reconcile_document"}
    wait_until(lambda: len(consumers(flower)) == 2 * len(workers), "Flower to see two consumers of each worker", WORK_SECONDS)

    for one in (producer, *workers, api, flower):
        one.process.terminate()
    assert {one.name: one.wait() for one in (producer, *workers, api, flower)} == dict.fromkeys(("producer", "worker", "api", "flower"), 0)


def note_ids(documents: Path) -> list[str]:
    """The ids of all notes: their paths, since the configuration lies elsewhere."""
    return [str(path) for path in (documents / "notes").iterdir()]


def found(api: ServiceProcess, query: str, **body: Any) -> list[str]:
    """The documents that a search finds, sorted; by words alone unless ``strategies`` says otherwise."""
    api.require_alive()
    response = httpx.post(
        f"http://127.0.0.1:{api.port}/v1/knowledge-bases/documents/search",
        json={"query": query, "strategies": ["bm25"], **body},
        headers={"Authorization": f"Bearer {VARIABLES['API_KEY']}"},
        timeout=30,
    )
    if response.status_code == 503:
        return []
    assert response.is_success, response.text
    return sorted({result["document_id"] for result in response.json()["results"]})


def flower_tasks(flower: ServiceProcess) -> dict[str, Any]:
    """What Flower knows of tasks."""
    answer = _ask_flower(flower, "/api/tasks")
    tasks: dict[str, Any] = answer.json()
    return tasks


def consumers(flower: ServiceProcess) -> set[str]:
    """The consumers that Flower sees at work."""
    online = [line for line in _ask_flower(flower, "/metrics").text.splitlines() if line.startswith("flower_worker_online{")]
    return {line.split('"')[1] for line in online if line.endswith(" 1.0")}


def _ask_flower(flower: ServiceProcess, path: str) -> httpx.Response:
    login = (VARIABLES["FLOWER_USER"], VARIABLES["FLOWER_PASSWORD"])
    response = httpx.get(f"http://127.0.0.1:{flower.port}{path}", auth=login, timeout=30)
    assert response.is_success, response.text
    return response
