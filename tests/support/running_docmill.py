"""Runs ``docmill`` as a user does: as processes of its own, with deadlines, and with nothing left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from support.waiting import wait_until

PROGRAM: Final = Path(sys.executable).with_name("docmill")
START_SECONDS: Final = 60.0
WORK_SECONDS: Final = 30.0
#: A stop takes under 3 s on an idle machine; a busy one that runs other tests gets more.
STOP_SECONDS: Final = 10.0

#: An embedding model that costs nothing, for tests where the vectors are not the point.
QUICK: Final = """
rag:
  {name}:
    docs: [{docs}]
    {more}
    strategies:
      - type: chunked-embeddings
        embedding_model: local/wordllama-256
        threshold: 0.0
        limit: 20
        chunking: {{size: {size}, overlap: 0}}
      - {{type: bm25, limit: 20, chunking: {{size: {size}, overlap: 0}}}}
"""


def write_configuration(path: Path, docs: Path, *, name: str = "kb", size: int = 1500, more: str = "") -> Path:
    """A configuration file for the folder ``docs`` with the quick model; returns ``path``."""
    path.write_text(QUICK.format(name=name, docs=json.dumps(str(docs)), size=size, more=more), encoding="utf-8")
    return path


def environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without settings of docmill, with these ones."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DOCMILL_")}
    return inherited | {"COLUMNS": "200"} | dict(settings or {})


def docmill(
    *arguments: str | Path, cwd: Path | None = None, settings: Mapping[str, str] | None = None, seconds: float = WORK_SECONDS
) -> "subprocess.CompletedProcess[str]":
    """Runs one command to its end."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], cwd=cwd, env=environment(settings), capture_output=True, text=True, timeout=seconds, check=False
    )


class RunningDocmill:
    """A ``docmill up`` (or another verb that stays); use it as a context manager, which ends whatever is left of it."""

    def __init__(
        self,
        target: Path,
        data_dir: Path,
        *arguments: str,
        verb: str = "up",
        settings: Mapping[str, str] | None = None,
        prefix: tuple[str, ...] = (),
    ) -> None:
        """Nothing runs before ``start``.

        Args:
            target: the folder or configuration file.
            data_dir: its data folder.
            arguments: more of the command line.
            verb: ``up`` or ``index``.
            settings: environment variables.
            prefix: a command that runs it, such as ``setpriv``.
        """
        port = ("--port", "0") if verb == "up" else ()
        self.command = [*prefix, str(PROGRAM), verb, str(target), "--data-dir", str(data_dir), *port, *arguments]
        self.data_dir = data_dir
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._said: list[bytes] = []
        self._reader: threading.Thread | None = None
        self._family: set[int] = set()

    def start(self) -> None:
        """Starts it; ``url`` waits until it answers."""
        self._process = subprocess.Popen(
            self.command,
            env=environment(self._settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        """The process that owns the stores."""
        assert self._process is not None, "not started"
        return self._process

    @property
    def said(self) -> str:
        """What it printed so far."""
        return b"".join(self._said).decode("utf-8", "replace")

    @property
    def url(self) -> str:
        """Where it answers, as its data folder announces it."""
        found: list[str] = []

        def announced() -> bool:
            self.require_alive()
            with contextlib.suppress(FileNotFoundError, ValueError):
                server = json.loads((self.data_dir / "server.json").read_text(encoding="utf-8"))
                if server["pid"] == self.process.pid and server["url"]:
                    found.append(server["url"])
            return bool(found)

        wait_until(announced, "docmill to answer", START_SECONDS)
        return found[0]

    def require_alive(self) -> None:
        """Fails when it has ended by itself."""
        code = self.process.poll()
        assert code is None, f"docmill ended with exit code {code}"

    def get(self, path: str) -> Any:
        """The JSON of a GET below ``/v1/knowledge-bases``."""
        response = httpx.get(f"{self.url}/v1/knowledge-bases{path}", timeout=30)
        assert response.is_success, response.text
        return response.json()

    def search(self, query: str, kb: str = "kb", **body: Any) -> dict[str, Any]:
        """What a search answers."""
        response = httpx.post(f"{self.url}/v1/knowledge-bases/{kb}/search", json={"query": query, **body}, timeout=30)
        assert response.is_success, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def found(self, query: str, kb: str = "kb", **body: Any) -> list[str]:
        """The documents of the results, best first, each once; by words alone unless ``strategies`` says otherwise."""
        results = self.search(query, kb, **{"strategies": ["bm25"], **body})["results"]
        return list(dict.fromkeys(result["document_id"] for result in results))

    def status(self, kb: str = "kb") -> dict[str, Any]:
        """How a knowledge base stands."""
        answer: dict[str, Any] = self.get(f"/{kb}")
        return answer

    def wait_until_found(self, query: str, document_ids: list[str], kb: str = "kb", seconds: float = WORK_SECONDS) -> None:
        """Returns when a search for ``query`` finds exactly these documents."""
        self.wait_until(lambda: sorted(self.found(query, kb)) == sorted(document_ids), f"{query!r} to find {document_ids}", seconds)

    def wait_until_indexed(self, kb: str = "kb", seconds: float = WORK_SECONDS) -> dict[str, Any]:
        """Returns the status once the run has ended and nothing is waiting or in work."""

        def idle() -> bool:
            status = self.status(kb)
            ended = status["run"] is not None and status["run"]["finished_at"] is not None
            return ended and status["documents"]["pending"] == 0

        self.wait_until(idle, "the run to end", seconds)
        return self.status(kb)

    def wait_until_it_watches(self, kb: str = "kb") -> None:
        """Returns when it is told of changes."""
        self.wait_until(lambda: self.status(kb)["watching"], "the watcher", START_SECONDS)

    def child(self, part_of_command: str) -> int:
        """The process id of its child with this in its command line."""
        found: list[int] = []

        def there() -> bool:
            self.require_alive()
            found.extend(pid for pid in children_of(self.process.pid) if part_of_command in command_of(pid))
            return bool(found)

        wait_until(there, f"a child {part_of_command}", START_SECONDS)
        return found[0]

    def producer(self) -> int:
        """The process id of the producer."""
        return self.child("docmill_services.producer")

    def valkey(self) -> int:
        """The process id of the embedded Valkey server."""
        return self.child("unixsocket")

    def wait(self, seconds: float = WORK_SECONDS) -> int:
        """Its exit code, once it has ended by itself."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"docmill has not ended after {seconds} s") from None
        assert self._reader is not None
        self._reader.join(STOP_SECONDS)
        return code

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = STOP_SECONDS) -> int:
        """Asks it to end; returns its exit code."""
        self._remember_family()
        self.process.send_signal(number)
        code = self.wait(seconds)
        self._wait_for_family()
        return code

    def kill(self) -> None:
        """kill -9, and waits until its children have noticed."""
        self._remember_family()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)
        self._wait_for_family()

    def __enter__(self) -> "RunningDocmill":
        self.start()
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            print("$", " ".join(self.command))  # noqa: T201  # shown with the failure
            print(self.said)  # noqa: T201
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()

    def wait_until(self, condition: Callable[[], object], what: str, seconds: float = WORK_SECONDS) -> None:
        """Returns when ``condition()`` is true; fails when that takes longer than ``seconds``, or when it ends."""

        def alive_and_true() -> bool:
            self.require_alive()
            return bool(condition())

        wait_until(alive_and_true, what, seconds, pause_seconds=0.05)

    def _remember_family(self) -> None:
        self._family |= set(children_of(self.process.pid))

    def _wait_for_family(self) -> None:
        try:
            wait_until(lambda: not any(is_running(pid) for pid in self._family), "the children to end", STOP_SECONDS)
        finally:
            for pid in self._family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        with process.stdout as stdout:
            for line in stdout:
                self._said.append(line)


def children_of(pid: int) -> list[int]:
    """The process ids of the children that live."""
    return [child for child, parent, state in _processes() if parent == pid and state != "Z"]


def is_running(pid: int) -> bool:
    """Whether the process is there and not only waiting for its parent to notice its end."""
    return any(one == pid and state != "Z" for one, _, state in _processes())


def command_of(pid: int) -> str:
    """Its command line, "" when it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _processes() -> Iterator[tuple[int, int, str]]:
    for entry in os.listdir("/proc"):
        if not entry.isdecimal():
            continue
        try:
            fields = Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        yield int(entry), int(fields[1]), fields[0]
