"""Every command of the README does what it says, in a copy of the repository.

Blocks marked ``shell`` are run in their order. What stays running (``up``) is started in the background and ended, as by Ctrl-C, before
the next one starts. The copy's ``.venv`` is the environment of this test run with the mark of a finished ``make setup``, so that no
second one is built over the network; and its port is a free one. Some commands cannot be run inside a test, and the tests that stand in
for them say why.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import pytest
from typer.main import get_command

from docmill.config import Settings
from docmill_services.cli.app import app
from docmill_services.query.requests import SearchBody
from support.compose_file import compose_command
from support.running_docmill import PROGRAM, environment
from support.waiting import wait_until

REPOSITORY: Final = Path(__file__).parents[2]
README: Final = (REPOSITORY / "README.md").read_text(encoding="utf-8")
DISTRIBUTED: Final = (REPOSITORY / "docs" / "distributed.md").read_text(encoding="utf-8")
COPIED: Final = (
    *("shared", "workers", "services", "docs", "deploy", "Makefile", "pyproject.toml", "uv.lock", "README.md", "LICENSE", "CHANGELOG.md"),
    *("docker-compose.yml", ".env.example"),
)
START_SECONDS: Final = 120.0


def blocks(language: str, page: str = README) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands(page: str = README) -> list[str]:
    """Every command of every shell block, in order; a line that ends in a backslash goes on."""
    return [command for block in blocks("shell", page) for command in re.split(r"(?<!\\)\n", block) if command]


class Copy:
    """A copy of the repository in which commands are run as the README has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._running: subprocess.Popen[bytes] | None = None
        folder.mkdir()
        for name in COPIED:
            source = REPOSITORY / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / name)
        (folder / ".venv").mkdir()
        (folder / ".venv" / "bin").symlink_to(PROGRAM.parent)
        (folder / ".venv" / "ready").touch()
        for number, text in enumerate(blocks("yaml")):
            assert number == 0, "the README has one configuration file"
            (folder / "docmill.yaml").write_text(text, encoding="utf-8")

    def run(self, command: str, seconds: float = 120.0) -> str:
        """The standard output of a command that ends; fails when its exit code is not 0."""
        ended = subprocess.run(
            self._with_port(command), shell=True, cwd=self.folder, env=self._environment(), capture_output=True, text=True, timeout=seconds
        )
        assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def start(self, command: str) -> None:
        """Starts what stays, and returns when it watches for changes."""
        self.interrupt()
        log = self.folder / "up.log"
        with log.open("wb") as out:
            self._running = subprocess.Popen(
                f"exec {self._with_port(command)}",
                shell=True,
                cwd=self.folder,
                env=self._environment(),
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        process = self._running

        def watches() -> bool:
            assert process.poll() is None, log.read_text()
            return "watching for changes" in log.read_text()

        wait_until(watches, f"`{command}` to watch", START_SECONDS, pause_seconds=0.05)

    def interrupt(self) -> int | None:
        """What Ctrl-C does to the command that stays, with its exit code; None when there is none."""
        if self._running is None:
            return None
        os.killpg(self._running.pid, signal.SIGINT)
        code = self._running.wait(30)
        self._running = None
        assert "make: ***" not in (self.folder / "up.log").read_text()
        return code

    def _with_port(self, command: str) -> str:
        """The README's port is 8700; ``make`` takes another from the environment, ``docmill up`` by its option."""
        if command.startswith(".venv/bin/docmill up"):
            command += f" --port {self.port}"
        return command.replace("127.0.0.1:8700", f"127.0.0.1:{self.port}")

    def _environment(self) -> dict[str, str]:
        # A make that runs these tests hands its own flags down, and the inner one would speak of folders.
        own = {name: value for name, value in environment().items() if not name.startswith("MAKE") and name != "MFLAGS"}
        return own | {"PORT": str(self.port)}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    made = Copy(tmp_path / "docmill")
    try:
        yield made
    finally:
        made.interrupt()


CONTAINERS: Final = [command for command in commands() if command.startswith("docker compose")]
(KEYED,) = (command for command in commands() if "Authorization" in command)
PROCESSES: Final = [command for command in commands() if re.match(r"\.venv/bin/docmill (producer|worker|api) |export DOCMILL_", command)]
NOT_HERE: Final = {
    "make test": "test_make_test_runs_pytest",
    "make bench": "test_make_bench_runs_the_benchmarks",
    "pip install .": "test_pip_install_gives_the_command_and_everything_it_needs",
    **dict.fromkeys(CONTAINERS, "test_a_command_for_containers_lacks_nothing_but_an_engine"),
    **dict.fromkeys(PROCESSES, "test_a_process_of_the_distributed_profile_is_started_as_docmill_wants_it"),
    KEYED: "test_the_question_with_a_key_is_one_that_the_query_service_understands",
}


def test_the_commands_of_the_readme_work_one_after_the_other(copy: Copy) -> None:
    output: dict[str, str] = {}
    for command in commands():
        if command in NOT_HERE:
            continue
        if re.match(r"make up|\.venv/bin/docmill up", command):
            copy.start(command)
        else:
            output[command] = copy.run(command)
    assert copy.interrupt() == 4
    meant = [text for command, text in output.items() if "the queue loses a message" in command]
    assert len(meant) == 2
    assert all("how-it-works.md" in text for text in meant)
    (exact,) = (text for command, text in output.items() if "DOCMILL_GRACE_SECONDS" in command)
    assert "How long replaced chunks stay" in exact


def test_make_test_runs_pytest(copy: Copy) -> None:
    """As ``make -n``, which prints what it would run: these tests would run themselves."""
    assert copy.run("make -n test").split() == [".venv/bin/pytest", "-n", "3", "--dist", "loadfile"]


def test_make_bench_runs_the_benchmarks(copy: Copy) -> None:
    """As ``make -n``: figures take minutes and a quiet machine."""
    assert copy.run("make -n bench").split() == [".venv/bin/python", "-m", "benchmarks"]


def test_pip_install_gives_the_command_and_everything_it_needs(copy: Copy, tmp_path: Path) -> None:
    """Builds the wheel that ``pip install .`` builds, and runs from it; pip itself would fetch every dependency over the network."""
    assert {found.value for found in entry_points(group="console_scripts", name="docmill")} == {"docmill_services.cli:main"}
    copy.run(f"{sys.executable} -m hatchling build -t wheel -d {tmp_path / 'wheel'}")
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    missing = [
        str(path.relative_to(root))
        for root in (REPOSITORY / "shared", REPOSITORY / "workers", REPOSITORY / "services")
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not (tmp_path / "installed" / path.relative_to(root)).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("command", [*CONTAINERS, *(one for one in commands(DISTRIBUTED) if one.startswith("docker compose"))])
def test_a_command_for_containers_lacks_nothing_but_an_engine(command: str, copy: Copy) -> None:
    """No engine runs where these tests do: Compose reads the file and the command, and gets as far as looking for one."""
    compose = compose_command()
    if compose is None:
        assert not os.environ.get("CI"), "Docker Compose is not installed; .ci/run installs it"
        pytest.skip("Docker Compose is not installed")
    copy.run("python3 deploy/docker/new_env.py docs")
    words = [*compose, *shlex.split(command)[2:]]
    nowhere = environment({"DOCKER_HOST": "unix:///nowhere/docker.sock"})
    ended = subprocess.run(words, cwd=copy.folder, env=nowhere, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode != 0
    assert ended.stderr.strip().endswith(
        "Cannot connect to the Docker daemon at unix:///nowhere/docker.sock. Is the docker daemon running?"
    )
    if " docmill " in command:
        understood(command.partition(" docmill ")[2])


@pytest.mark.parametrize("command", PROCESSES)
def test_a_process_of_the_distributed_profile_is_started_as_docmill_wants_it(command: str) -> None:
    """They need three servers; the acceptance test of docker-compose.yml runs them on real ones."""
    if command.startswith("export "):
        Settings.from_environment(dict(word.split("=", 1) for word in shlex.split(command)[1:]))
    else:
        understood(command.partition("docmill ")[2])


def test_the_question_with_a_key_is_one_that_the_query_service_understands(copy: Copy) -> None:
    """It goes to a knowledge base that the containers have; here its key is taken from .env, and its body is read."""
    copy.run("python3 deploy/docker/new_env.py docs")
    shown = copy.run(KEYED.replace("curl", "printf '%s\\n'", 1)).splitlines()
    assert re.fullmatch(r"Authorization: Bearer [0-9a-f]{48}", shown[3])
    SearchBody.model_validate_json(shown[-1])
    assert "/v1/knowledge-bases/documents/search" in shown[1]


def understood(arguments: str) -> None:
    """Fails where the command line has an option or a verb that docmill does not know."""
    words = shlex.split(arguments)
    root = get_command(app)
    context = root.make_context("docmill", list(words))
    verb, command, rest = root.resolve_command(context, words)  # type: ignore[attr-defined]  # the root is a group
    assert command is not None
    command.make_context(verb, rest, parent=context)


def test_every_command_is_run_or_says_why_not() -> None:
    assert set(NOT_HERE) <= set(commands())
    assert all(test in globals() for test in NOT_HERE.values())


@pytest.mark.parametrize("page", sorted(REPOSITORY.glob("*.md")) + sorted((REPOSITORY / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, target
