"""docker-compose.yml, .env.example and the image: Compose reads them, and they are as safe as they claim."""

import json
import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import flower.options  # noqa: F401  # defines Flower's options
import pytest
from tornado.options import options as flower_options
from typer.main import get_command

from docmill import __version__
from docmill.adapters.redis.celery_app import make_celery
from docmill.config.loading import load_configuration
from docmill.config.settings import setting_descriptions
from docmill_services.cli.app import app
from support.compose_file import (
    COMPOSE_FILE,
    EXAMPLE,
    PUBLISH_FILE,
    REPOSITORY,
    read_variables,
    required_variables_of,
    run_compose,
    seconds_of,
    services,
    variables_of,
)

SECRETS: Final = {
    "REDIS_PASSWORD": "r3d1s",
    "QDRANT_API_KEY": "qdr4nt",
    "ELASTIC_PASSWORD": "3l4st1c",
    "API_KEY": "4p1-0123456789abcdef",
    "FLOWER_PASSWORD": "fl0w3r",
}
FILLED: Final = {**read_variables(EXAMPLE), **SECRETS, "DOCUMENTS": str(REPOSITORY / "docs"), "FLOWER_USER": "watcher"}
SERVICES: Final = services(FILLED)
OWN: Final = ("producer", "worker", "api")
DOCKERFILE: Final = (REPOSITORY / "deploy" / "docker" / "Dockerfile").read_text(encoding="utf-8")

every_service = pytest.mark.parametrize("name", SERVICES)


def composed(*files: Path, variables: Mapping[str, str] = FILLED) -> dict[str, Any]:
    """What Compose makes of the files."""
    arguments = [part for file in files for part in ("--file", str(file))]
    ended = run_compose(*arguments, "config", "--format", "json", variables=variables)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    read: dict[str, Any] = json.loads(ended.stdout)
    return read


def test_compose_accepts_the_file_without_a_warning() -> None:
    assert set(composed(COMPOSE_FILE)["services"]) == {"redis", "qdrant", "elasticsearch", "producer", "worker", "api", "flower"}


def test_compose_starts_as_many_workers_as_are_asked_for() -> None:
    ended = run_compose("--dry-run", "config", "--quiet", variables=FILLED)
    assert ended.returncode == 0, ended.stderr
    worker = composed(COMPOSE_FILE)["services"]["worker"]
    assert "container_name" not in worker
    assert "ports" not in worker


@every_service
def test_these_tests_read_the_file_as_compose_does(name: str) -> None:
    theirs, ours = composed(COMPOSE_FILE)["services"][name], SERVICES[name]
    assert [part.replace("$$", "$") for part in theirs["command"]] == [str(part) for part in ours["command"]] if "command" in ours else True
    assert theirs["environment"] == {variable: str(value) for variable, value in ours["environment"].items()}
    assert theirs["image"] == ours["image"]


@pytest.mark.parametrize("name", sorted(required_variables_of(COMPOSE_FILE.read_text(encoding="utf-8"))))
def test_compose_refuses_to_start_without_a_required_variable_and_says_which(name: str) -> None:
    ended = run_compose("config", "--quiet", variables={**FILLED, name: ""})
    assert ended.returncode != 0
    assert name in ended.stderr
    assert ".env.example" in ended.stderr


def test_what_must_be_set_is_the_folder_and_every_secret() -> None:
    assert required_variables_of(COMPOSE_FILE.read_text(encoding="utf-8")) == {*SECRETS, "DOCUMENTS", "FLOWER_USER"}
    example = read_variables(EXAMPLE)
    assert {name for name in required_variables_of(COMPOSE_FILE.read_text(encoding="utf-8")) if example[name]} == set()


def test_servers_are_published_only_by_the_file_that_says_so() -> None:
    ended = run_compose("--file", str(COMPOSE_FILE), "--file", str(PUBLISH_FILE), "config", "--quiet", variables=FILLED)
    assert ended.returncode != 0
    assert "SERVERS_ADDRESS" in ended.stderr
    published = composed(COMPOSE_FILE, PUBLISH_FILE, variables={**FILLED, "SERVERS_ADDRESS": "192.0.2.7"})["services"]
    for name in ("redis", "qdrant", "elasticsearch"):
        assert {port["host_ip"] for port in published[name]["ports"]} == {"192.0.2.7"}
        assert set(published[name]["networks"]) == {"servers", "outside"}


def test_every_variable_is_explained_in_the_example_and_every_one_there_is_used() -> None:
    used = variables_of(COMPOSE_FILE.read_text(encoding="utf-8")) | variables_of(PUBLISH_FILE.read_text(encoding="utf-8"))
    assert set(read_variables(EXAMPLE)) == used


def test_every_variable_of_the_example_stands_below_a_comment_of_its_own() -> None:
    for paragraph in EXAMPLE.read_text(encoding="utf-8").strip().split("\n\n")[1:]:
        assert paragraph.startswith("# "), paragraph


def test_the_examples_values_are_the_defaults_of_the_file() -> None:
    given = {name: value for name, value in FILLED.items() if name in {*SECRETS, "DOCUMENTS", "FLOWER_USER"}}
    assert services(given) == SERVICES


@every_service
def test_a_service_is_pinned_to_an_exact_version(name: str) -> None:
    assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+(-[a-z]+)?", SERVICES[name]["image"])


@every_service
def test_a_service_has_no_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"[1-9]\d*:\d+", service["user"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "network_mode", "pid", "ipc", "container_name"} & set(service)


@every_service
def test_a_service_is_bounded_watched_and_given_time_to_end(name: str) -> None:
    service = SERVICES[name]
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries", "start_period"} <= set(service["healthcheck"])
    assert service["restart"] == "unless-stopped"
    assert seconds_of(service["stop_grace_period"]) > 0


@every_service
def test_a_secret_is_in_no_command_line(name: str) -> None:
    service = SERVICES[name]
    command_lines = json.dumps([service.get("command"), service.get("entrypoint"), service["healthcheck"]])
    assert not [secret for secret in SECRETS.values() if secret in command_lines]


def test_only_the_query_service_and_flower_are_published_and_only_on_this_machine() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"api": ["127.0.0.1:8700:8700"], "flower": ["127.0.0.1:5555:5555"]}


def test_the_servers_are_in_a_network_without_a_way_out() -> None:
    assert all(SERVICES[name]["networks"] == ["servers"] for name in ("redis", "qdrant", "elasticsearch"))
    assert composed(COMPOSE_FILE)["networks"]["servers"]["internal"] is True


@pytest.mark.parametrize("name", OWN)
def test_documents_and_configuration_are_mounted_read_only(name: str) -> None:
    mounts = {mount["target"]: mount for mount in SERVICES[name]["volumes"]}
    assert set(mounts) == {"/documents", "/etc/docmill/docmill.yaml"}
    assert all(mount["read_only"] is True and mount["bind"] == {"create_host_path": False} for mount in mounts.values())


@pytest.mark.parametrize("name", OWN)
def test_a_process_of_docmill_starts_when_all_servers_are_healthy(name: str) -> None:
    waited_for = {server: on["condition"] for server, on in SERVICES[name]["depends_on"].items()}
    assert waited_for == dict.fromkeys(("redis", "qdrant", "elasticsearch"), "service_healthy")


@pytest.mark.parametrize("name", [*OWN, "flower"])
def test_every_setting_that_a_service_is_given_exists(name: str) -> None:
    known = {setting.variable for setting in setting_descriptions()}
    given = SERVICES[name]["environment"]
    assert {variable for variable in given if variable.startswith("DOCMILL_")} <= known
    assert {variable.removeprefix("FLOWER_").lower() for variable in given if variable.startswith("FLOWER_")} <= set(flower_options)


@pytest.mark.parametrize("name", OWN)
def test_docmill_understands_every_command_line_of_the_file(name: str) -> None:
    arguments = SERVICES[name]["command"]
    root = get_command(app)
    context = root.make_context("docmill", list(arguments))
    verb, command, rest = root.resolve_command(context, list(arguments))  # type: ignore[attr-defined]  # the root is a group
    assert command is not None
    parsed = command.make_context(verb, rest, parent=context).params
    port = parsed["port"] if name == "api" else parsed["health_port"]
    assert f"'http://127.0.0.1:{port}/livez'" in SERVICES[name]["healthcheck"]["test"][-1]


def test_flower_keeps_ten_thousand_tasks_in_memory_alone_and_can_change_nothing() -> None:
    assert {"--max_tasks=10000", "--persistent=False", "--read_only=True"} <= set(SERVICES["flower"]["command"])
    given = {argument.removeprefix("--").split("=")[0] for argument in SERVICES["flower"]["command"] if "=" in argument}
    assert given <= {option.replace("-", "_") for option in flower_options}


def test_redis_keeps_what_it_is_given() -> None:
    (script,) = SERVICES["redis"]["command"]
    assert "--appendonly yes" in script
    assert "--maxmemory-policy noeviction" in script


def test_a_worker_has_more_time_to_end_than_it_takes() -> None:
    celery = make_celery("redis://localhost", visibility_timeout_seconds=900, events=True)
    assert seconds_of(SERVICES["worker"]["stop_grace_period"]) >= celery.conf.worker_soft_shutdown_timeout + 15


def test_the_image_has_this_version_everywhere() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == __version__
    assert {SERVICES[name]["image"] for name in (*OWN, "flower")} == {f"docmill:{__version__}"}
    assert f'org.opencontainers.image.version="{__version__}"' in DOCKERFILE


def test_the_image_is_built_on_a_pinned_base_and_runs_as_nobody() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1, "the environment is built with the Python that runs it"
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", bases[0])
    final = DOCKERFILE.split("FROM ")[-1]
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", final, re.MULTILINE)
    assert 'ENTRYPOINT ["docmill"]' in final
    assert not re.search(r"^RUN", final, re.MULTILINE)


def test_the_image_is_built_from_what_the_package_needs_and_nothing_else() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    allowed = [line[1:] for line in ignored if line.startswith("!")]
    builder = DOCKERFILE.split("FROM ")[1]
    copied = [part for line in re.findall(r"^COPY (.+) \S+$", builder, re.MULTILINE) for part in line.split()]
    assert sorted(copied) == sorted(allowed)
    assert all((REPOSITORY / name).exists() for name in copied)
    assert not fnmatch(".env", allowed[0])


def test_the_configuration_that_comes_with_it_indexes_the_mounted_folder() -> None:
    configuration = load_configuration(REPOSITORY / "deploy" / "docker" / "docmill.yaml", scan_interval_seconds=900)
    assert configuration.warnings == ()
    (knowledge_base,) = configuration.knowledge_bases
    assert knowledge_base.name == "documents"
    assert knowledge_base.roots == ("/documents",)
