"""Reads docker-compose.yml as Compose does, as far as this project's file goes, and finds Compose itself where it is installed."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

REPOSITORY: Final = Path(__file__).parents[2]
COMPOSE_FILE: Final = REPOSITORY / "docker-compose.yml"
PUBLISH_FILE: Final = REPOSITORY / "deploy" / "docker" / "publish-servers.yml"
EXAMPLE: Final = REPOSITORY / ".env.example"
#: What .env.example leaves to be chosen.
SECRETS: Final = {
    "REDIS_PASSWORD": "5f0c1e",
    "QDRANT_API_KEY": "77ab02",
    "ELASTIC_PASSWORD": "9d31c4",
    "API_KEY": "0123456789abcdef01234567",
    "FLOWER_USER": "watcher",
    "FLOWER_PASSWORD": "c0ffee",
}

#: ``$$``, or ``${NAME}`` with a default or a message behind it.
_VARIABLE: Final = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>[A-Z_]+)(?:(?P<rule>:-|:\?)(?P<more>[^}]*))?\})")


def variables_of(text: str) -> set[str]:
    """The names of all variables in ``text``."""
    return {found["name"] for found in _VARIABLE.finditer(text) if found["name"]}


def required_variables_of(text: str) -> set[str]:
    """The names of those without which Compose refuses to start."""
    return {found["name"] for found in _VARIABLE.finditer(text) if found["rule"] == ":?"}


def read_variables(path: Path) -> dict[str, str]:
    """The lines ``NAME=value`` of a file like .env.example."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def services(variables: Mapping[str, str], file: Path = COMPOSE_FILE) -> dict[str, dict[str, Any]]:
    """The services with every variable replaced.

    Raises:
        KeyError: one that is required is missing.
    """
    read: dict[str, dict[str, Any]] = _replaced(yaml.safe_load(file.read_text(encoding="utf-8"))["services"], variables)
    return read


def _replaced(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(part, variables) for name, part in value.items()}
    if isinstance(value, list):
        return [_replaced(part, variables) for part in value]
    return _VARIABLE.sub(lambda found: _value_of(found, variables), value) if isinstance(value, str) else value


def _value_of(found: "re.Match[str]", variables: Mapping[str, str]) -> str:
    if found["dollar"]:
        return "$"
    value = variables.get(found["name"], "")
    if not value and found["rule"] == ":?":
        raise KeyError(f"{found['name']}: {found['more']}")
    return value or (found["more"] or "")


def seconds_of(duration: str) -> float:
    """``30s`` or ``1m30s`` as a number."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)([smh])", duration))


@cache
def compose_command() -> list[str] | None:
    """How Compose is called here: as a plug-in of ``docker``, or by itself; None when it is not installed."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) is None:
            continue
        version = subprocess.run([*command, "version", "--short"], capture_output=True, text=True, timeout=30, check=False)
        if version.returncode == 0 and int(version.stdout.strip().lstrip("v").split(".")[0]) >= 2:
            return command
    return None


def run_compose(*arguments: str, variables: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Runs Compose with these variables alone; skips the test where it is not installed, and fails it in CI."""
    command = compose_command()
    if command is None:
        if os.environ.get("CI"):
            pytest.fail("Docker Compose is not installed; .ci/run installs it")
        pytest.skip("Docker Compose is not installed")
    environ = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [*command, *([] if "--env-file" in arguments else ["--env-file", os.devnull]), *arguments],
        cwd=REPOSITORY,
        env=environ | dict(variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
