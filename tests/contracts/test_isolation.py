"""The isolations keep their contract; what only child processes do."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from docmill.adapters.isolation import ProcessIsolation
from docmill.adapters.memory.isolation import MemoryIsolation
from docmill.adapters.providers.catalog import embedding_model_for
from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.errors import ServiceDown, Superseded
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.isolation import Crashed, Isolation
from docmill.testing.isolation_contract import KILLER, IsolationContract, a_minute, nothing
from support.deadly_contents import FORGETS_NOTHING, HANGS, LEAVES, PRINTS, STARTUP
from support.made_archives import zipped
from support.running_docmill import children_of, is_running
from support.waiting import wait_until

WORDS = EmbeddingModelSpec("local", "wordllama-256")


class TestMemoryIsolation(IsolationContract):
    @pytest.fixture
    def isolation(self) -> Isolation:
        return MemoryIsolation(load, chunk, lambda content: "it was ended by SIGKILL" if content == KILLER else None)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessIsolation]:
    monkeypatch.setenv("PYTHONPATH", str(STARTUP))
    isolation = ProcessIsolation(embedding_threads=1, most=1)
    yield isolation
    isolation.close()


class TestProcessIsolation(IsolationContract):
    @pytest.fixture
    def isolation(self, processes: ProcessIsolation) -> Isolation:
        return processes


def pid_of_the_child(before: set[int]) -> int:
    (child,) = set(children_of(os.getpid())) - before
    return child


def test_a_process_is_kept_for_the_next_document_unless_a_fresh_one_is_wanted(processes: ProcessIsolation) -> None:
    before = set(children_of(os.getpid()))
    seen = []
    for fresh in (False, False, True):
        with processes.alone(nothing, a_minute, fresh=fresh) as alone:
            alone.load("a.txt", b"text")
            seen.append(max(set(children_of(os.getpid())) - before))
    assert seen[0] == seen[1] != seen[2]
    processes.close()
    assert set(children_of(os.getpid())) == before


def test_a_local_model_embeds_in_the_child_and_makes_the_same_vectors(processes: ProcessIsolation) -> None:
    here = embedding_model_for(WORDS, threads=1, credentials={})
    with processes.alone(nothing, a_minute, fresh=False) as alone:
        there = alone.embedding_model(WORDS, here)
        assert there is not here
        assert (there.name, there.dimensions) == (here.name, here.dimensions)
        assert [list(vector) for vector in there.embed_passages(["one", "two words"])] == [
            list(map(float, vector)) for vector in here.embed_passages(["one", "two words"])
        ]


def test_a_model_on_another_machine_is_asked_from_here(processes: ProcessIsolation) -> None:
    here = embedding_model_for(WORDS, threads=1, credentials={})
    with processes.alone(nothing, a_minute, fresh=False) as alone:
        assert alone.embedding_model(EmbeddingModelSpec("openai", "text-embedding-3-small"), here) is here


@pytest.mark.parametrize(
    ("content", "how"), [(LEAVES, "it ended with exit code 7"), (FORGETS_NOTHING, "it needed more than 4096 MiB of memory")]
)
def test_a_crash_says_how_the_process_ended(processes: ProcessIsolation, content: bytes, how: str) -> None:
    with pytest.raises(Crashed, match=how), processes.alone(nothing, a_minute, fresh=True) as alone:
        alone.load("a.txt", content)


def test_a_document_that_hangs_is_ended_when_its_time_is_over(processes: ProcessIsolation) -> None:
    before = set(children_of(os.getpid()))
    times = iter([60.0, 60.0, 60.0, 0.0])
    with processes.alone(nothing, lambda: next(times), fresh=True) as alone:
        assert pid_of_the_child(before)
        with pytest.raises(Crashed, match="not done after 60 s"):
            alone.load("a.txt", HANGS)
    assert set(children_of(os.getpid())) == before


def test_a_document_that_hangs_is_given_up_at_once_when_its_worker_stops(processes: ProcessIsolation) -> None:
    stopping = threading.Event()

    def check() -> None:
        if stopping.is_set():
            raise Superseded("the process is stopping")

    before = set(children_of(os.getpid()))
    with processes.alone(check, a_minute, fresh=True) as alone:
        threading.Timer(0.2, stopping.set).start()
        with pytest.raises(Superseded):
            alone.load("a.txt", HANGS)
    assert set(children_of(os.getpid())) == before


def test_a_document_that_waits_for_a_place_is_given_up_when_its_worker_stops(processes: ProcessIsolation) -> None:
    def check() -> None:
        raise Superseded("the process is stopping")

    with processes.alone(nothing, a_minute, fresh=False), pytest.raises(Superseded), processes.alone(check, a_minute, fresh=False):
        pass


def test_a_child_that_ended_while_it_was_idle_is_replaced(processes: ProcessIsolation) -> None:
    before = set(children_of(os.getpid()))
    with processes.alone(nothing, a_minute, fresh=False) as alone:
        alone.load("a.txt", b"text")
    child = pid_of_the_child(before)
    os.kill(child, 9)
    wait_until(lambda: child not in children_of(os.getpid()), "the child to end")
    with processes.alone(nothing, a_minute, fresh=False) as alone:
        assert alone.load("a.txt", b"text").text == "text"


def test_a_child_that_has_nothing_to_do_is_ended_after_a_while() -> None:
    before = set(children_of(os.getpid()))
    isolation = ProcessIsolation(embedding_threads=1, idle_seconds=0.2)
    for _ in range(2):
        with isolation.alone(nothing, a_minute, fresh=False) as alone:
            alone.load("a.txt", b"text")
            assert pid_of_the_child(before)
        wait_until(lambda: set(children_of(os.getpid())) == before, "the child to end")


def test_a_child_does_not_import_from_the_folder_in_which_docmill_was_started(
    processes: ProcessIsolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pydantic.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path)
    with processes.alone(nothing, a_minute, fresh=True) as alone:
        assert alone.load("a.txt", b"text").text == "text"


def test_a_child_that_does_not_start_is_no_crash_of_the_document(processes: ProcessIsolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(ServiceDown, match="no process could be started"), processes.alone(nothing, a_minute, fresh=True):
        pass


def test_a_child_has_no_secrets_in_its_environment(processes: ProcessIsolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("DOCMILL_REDIS_URL", "redis://:secret@host/0")
    before = set(children_of(os.getpid()))
    with processes.alone(nothing, a_minute, fresh=True) as alone:
        alone.load("a.txt", b"text")
        environment = Path(f"/proc/{pid_of_the_child(before)}/environ").read_bytes()
    assert b"PYTHONPATH" in environment
    assert b"secret" not in environment


LEAVES_THE_NETWORK = """
import os
from docmill.adapters.isolation.bounding import bound_process
before = os.readlink("/proc/self/ns/net")
bound_process(4 << 30)
raise SystemExit(before == os.readlink("/proc/self/ns/net"))
"""


def test_a_child_can_reach_no_network(processes: ProcessIsolation) -> None:
    if subprocess.run([sys.executable, "-c", LEAVES_THE_NETWORK], check=False).returncode:
        pytest.skip("this system lets no process leave the network")
    before = set(children_of(os.getpid()))
    with processes.alone(nothing, a_minute, fresh=True) as alone:
        alone.load("a.txt", b"text")
        assert os.readlink(f"/proc/{pid_of_the_child(before)}/ns/net") != os.readlink("/proc/self/ns/net")


def test_a_file_that_is_taken_apart_has_less_memory(processes: ProcessIsolation) -> None:
    content = zipped({"word/document.xml": "<w/>"}) + FORGETS_NOTHING
    with pytest.raises(Crashed, match="it needed more than 1024 MiB of memory"), processes.alone(nothing, a_minute, fresh=True) as alone:
        alone.load("a.docx", content)


def test_a_child_that_was_asked_very_often_makes_room_for_a_fresh_one(processes: ProcessIsolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docmill.adapters.isolation.processes._MOST_REQUESTS", 3)
    before = set(children_of(os.getpid()))
    seen = set()
    for _ in range(4):
        with processes.alone(nothing, a_minute, fresh=False) as alone:
            alone.load("a.txt", b"text")
            seen |= set(children_of(os.getpid())) - before
    assert len(seen) > 1


def test_an_answer_that_never_ends_is_a_crash(processes: ProcessIsolation, monkeypatch: pytest.MonkeyPatch) -> None:
    with processes.alone(nothing, a_minute, fresh=True) as alone:
        alone.load("a.txt", b"text")
    monkeypatch.setattr("docmill.adapters.isolation.process._MOST_ANSWER_BYTES", 10_000)
    with pytest.raises(Crashed, match="no answer"), processes.alone(nothing, a_minute, fresh=True) as alone:
        alone.load("a.txt", b"text " * 10_000)


def test_what_a_library_prints_does_not_reach_the_terminal(processes: ProcessIsolation, capfd: pytest.CaptureFixture[str]) -> None:
    with processes.alone(nothing, a_minute, fresh=True) as alone:
        alone.load("a.txt", PRINTS)
    assert capfd.readouterr() == ("", "")


PARENT = """
import sys
from docmill.adapters.isolation import ProcessIsolation
with ProcessIsolation(embedding_threads=1).alone(lambda: None, lambda: 60.0, fresh=True):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_child_ends_with_its_parent_however_that_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        (child,) = children_of(parent.pid)
        parent.kill()
        parent.wait()
        wait_until(lambda: not is_running(child), "the child to end", 5.0)
