"""The messages on the troubleshooting page are those that docmill prints."""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from docmill.adapters.embedded.data_folder import DataFolder
from support.deadly_contents import KILLS, STARTUP
from support.fake_provider import fake_provider
from support.fake_provider_faults import rate_limited, wrong_key
from support.http_service import running_service
from support.openai_server import running_openai_server
from support.running_docmill import PROGRAM, RunningDocmill, docmill, environment, write_configuration
from support.waiting import wait_until

PAGE: Final = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
MESSAGES: Final = re.findall(r"^```text\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
#: A part of each message, by the test that brings it about.
TRIED: Final = {
    "is taken by another program": "test_a_taken_port",
    "is in use by process": "test_a_data_folder_in_use",
    "nothing was indexed into": "test_a_search_before_anything_was_indexed",
    "name a folder to index, or": "test_a_missing_folder",
    "what was indexed before is kept": "test_missing_docs_of_a_configuration",
    "missing and kept": "test_a_mass_deletion",
    "unreadable:": "test_an_unreadable_file",
    "secret: its name": "test_files_that_are_left_out",
    "secret: it holds": "test_files_that_are_left_out",
    "ignored:": "test_files_that_are_left_out",
    "binary:": "test_files_that_are_left_out",
    "quarantined:": "test_a_quarantined_file",
    "MB are free": "test_a_full_disk",
    "gave an answer that cannot be used": "test_vectors_of_another_length",
    "text_refused": "test_a_file_that_the_provider_refuses",
    "backing off:": "test_a_provider_that_asks_to_be_called_later",
    "has asked to be left alone": "test_a_provider_that_asks_to_be_called_later",
    "budget_spent": "test_a_run_that_has_spent_its_tokens",
    "no producer plans": "test_a_run_that_nobody_plans",
    "makes vectors of 384": "test_another_length_for_the_local_model",
    "its credential is missing": "test_a_missing_credential",
    "answered 401": "test_a_key_that_the_provider_refuses",
    "not_watching": "test_too_few_watches",
    "this key is not known": "test_an_error_in_the_configuration",
    "cannot be reached (": "test_a_server_that_does_not_answer",
    "Processes of their own share servers": "test_a_process_without_servers",
    "has format": "test_a_data_folder_of_a_newer_version",
}
#: Nobody knows how to make docmill fail in a way that nobody foresaw.
NOT_TRIED: Final = ("failed unexpectedly",)


def documented(part: str) -> re.Pattern[str]:
    """The message on the page that has ``part``; what stands in angle brackets there may be anything."""
    (message,) = (message for message in MESSAGES if part in message)
    return re.compile(r"[^\n]+?".join(map(re.escape, re.split(r"<[^<>]+>", message.strip()))))


def said(part: str, output: str) -> None:
    """Fails unless ``output`` has the documented message."""
    assert documented(part).search(output), output


def one_file(folder: Path) -> Path:
    """``folder`` with one small file."""
    folder.mkdir()
    (folder / "a.md").write_text("# Apples\n\nThey are round.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDocmill]:
    base = tmp_path_factory.mktemp("running")
    docs = one_file(base / "docs")
    (docs / ".env").write_text("KEY=1\n", encoding="utf-8")
    (docs / ".docmillignore").write_text("drafts/\n", encoding="utf-8")
    (docs / "drafts").mkdir()
    (docs / "drafts" / "d.md").write_text("not yet\n", encoding="utf-8")
    (docs / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (docs / "login.md").write_text("use np" + "m_" + "q7Zt1mVx9bKc4RwE2yHn8sLp5dGf3jAu6TkY\n", encoding="utf-8")
    with RunningDocmill(write_configuration(base / "docmill.yaml", docs), base / "data") as service:
        service.wait_until_indexed()
        yield service


def without_privileges() -> list[str]:
    """What runs a command so that permissions count, for root too."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root reads every file, and there is no setpriv")
    dropped = "-dac_override,-dac_read_search"
    return ["setpriv", f"--inh-caps={dropped}", f"--bounding-set={dropped}"]


def in_own_namespaces(script: str, cwd: Path, until: str = "") -> str:
    """The output of a shell script with a user and mount namespace of its own; it is ended once it has printed ``until``."""
    command = ["unshare", "--user", "--map-root-user", "--mount", "--kill-child", "--fork", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system makes no user namespaces")
    log = cwd / "output.log"
    with log.open("wb") as out, subprocess.Popen([*command, script], cwd=cwd, stdout=out, stderr=out, env=environment()) as process:
        try:
            wait_until(lambda: process.poll() is not None or (until and until in log.read_text()), f"{until!r} or the end", 60)
        finally:
            process.kill()
    return log.read_text()


def test_every_message_of_the_page_is_brought_about_here() -> None:
    tests = set(globals())
    assert all(test in tests for test in TRIED.values())
    untold = [message for message in MESSAGES if sum(part in message for part in (*TRIED, *NOT_TRIED)) != 1]
    assert untold == []
    assert len(MESSAGES) == len(TRIED) + len(NOT_TRIED)


def test_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = docmill("up", one_file(tmp_path / "docs"), "--data-dir", tmp_path / "data", "--port", port)
    assert ended.returncode == 3
    said("is taken by another program", ended.stderr)


def test_a_data_folder_in_use(running: RunningDocmill, tmp_path: Path) -> None:
    ended = docmill("up", one_file(tmp_path / "docs"), "--data-dir", running.data_dir, "--port", "0")
    assert ended.returncode == 3
    said("is in use by process", ended.stderr)


def test_a_search_before_anything_was_indexed(tmp_path: Path) -> None:
    ended = docmill("search", "apples", cwd=tmp_path)
    assert ended.returncode == 2
    said("nothing was indexed into", ended.stderr)


def test_a_missing_folder(tmp_path: Path) -> None:
    ended = docmill("up", tmp_path / "missing", "--data-dir", tmp_path / "data")
    assert ended.returncode == 2
    said("name a folder to index, or", ended.stderr)


def test_missing_docs_of_a_configuration(tmp_path: Path) -> None:
    ended = docmill("up", write_configuration(tmp_path / "docmill.yaml", tmp_path / "missing"), "--data-dir", tmp_path / "data")
    assert ended.returncode == 2
    said("what was indexed before is kept", ended.stderr)


def test_an_unreadable_file(tmp_path: Path) -> None:
    file = one_file(tmp_path / "docs") / "a.md"
    file.chmod(0)
    command = [*without_privileges(), str(PROGRAM)]
    ended = subprocess.run(
        [*command, "index", "docs", "--json"], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert '"skipped.unreadable": 1' in ended.stdout
    said("unreadable:", docmill("explain", "docs/a.md", cwd=tmp_path).stdout)


def test_files_that_are_left_out(running: RunningDocmill) -> None:
    docs = running.data_dir.parent / "docs"
    left_out = {"secret: its name": ".env", "secret: it holds": "login.md", "ignored:": "drafts/d.md", "binary:": "picture.png"}
    for part, name in left_out.items():
        ended = docmill("explain", docs / name, "--data-dir", running.data_dir)
        assert ended.returncode == 1
        said(part, ended.stdout)


def test_a_quarantined_file(tmp_path: Path) -> None:
    deadly = one_file(tmp_path / "docs") / "deadly.md"
    deadly.write_bytes(KILLS)
    settings = {"PYTHONPATH": str(STARTUP)}
    assert docmill("index", "docs", cwd=tmp_path, settings=settings).returncode < 0
    docmill("index", "docs", cwd=tmp_path, settings=settings, seconds=60)
    ended = docmill("explain", deadly, cwd=tmp_path, settings=settings)
    assert ended.returncode == 1
    said("quarantined:", ended.stdout)


def test_a_full_disk(tmp_path: Path) -> None:
    one_file(tmp_path / "docs")
    (tmp_path / "small").mkdir()
    output = in_own_namespaces(
        f"mount -t tmpfs -o size=8m tmpfs small && exec {PROGRAM} up docs --data-dir small/data --port 0 --once", tmp_path
    )
    said("MB are free", output)


def test_vectors_of_another_length(tmp_path: Path) -> None:
    one_file(tmp_path / "docs")
    with running_openai_server(dimensions=8) as server:
        (tmp_path / "docmill.yaml").write_text(
            f'providers: {{here: {{base_url: "{server.base_url}"}}}}\n'
            "rag: {kb: {docs: [docs], strategies: [{type: chunked-embeddings, embedding_model: here/m, vector_dimensions: 4}]}}\n",
            encoding="utf-8",
        )
        ended = docmill("index", "docmill.yaml", cwd=tmp_path)
    assert ended.returncode in (1, 3)
    said("gave an answer that cannot be used", docmill("explain", "docs/a.md", cwd=tmp_path).stdout)


def test_a_file_that_the_provider_refuses(tmp_path: Path) -> None:
    docs = one_file(tmp_path / "docs")
    (docs / "b.md").write_text("Pears are poison.\n", encoding="utf-8")
    with running_openai_server(dimensions=8) as server:
        server.misbehave({"refuses": "poison"})
        (tmp_path / "docmill.yaml").write_text(
            f'providers: {{here: {{base_url: "{server.base_url}"}}}}\n'
            "rag: {kb: {docs: [docs], strategies: [{type: chunked-embeddings, embedding_model: here/m, vector_dimensions: 8}]}}\n",
            encoding="utf-8",
        )
        ended = docmill("index", "docmill.yaml", "--json", cwd=tmp_path)
    assert (ended.returncode, '"indexed": 1' in ended.stdout) == (1, True)
    said("text_refused", docmill("explain", "docs/b.md", cwd=tmp_path).stdout)


def test_a_provider_that_asks_to_be_called_later(tmp_path: Path) -> None:
    one_file(tmp_path / "docs")
    with fake_provider(dimensions=8) as provider:
        provider.fault(rate_limited(retry_after="60"))
        (tmp_path / "docmill.yaml").write_text(
            f'providers: {{here: {{base_url: "{provider.base_url}"}}}}\n'
            "rag: {kb: {docs: [docs], strategies: [{type: bm25}, "
            "{type: chunked-embeddings, embedding_model: here/m, vector_dimensions: 8}]}}\n",
            encoding="utf-8",
        )
        with RunningDocmill(tmp_path / "docmill.yaml", tmp_path / "data") as running:
            running.wait_until(lambda: "backing off:" in running.said, "the wait to be said")
            said("backing off:", running.said)
            said("has asked to be left alone", docmill("search", "apples", "--data-dir", running.data_dir, cwd=tmp_path).stderr)


def test_a_run_that_has_spent_its_tokens(tmp_path: Path) -> None:
    one_file(tmp_path / "docs")
    with fake_provider(dimensions=8) as provider:
        (tmp_path / "docmill.yaml").write_text(
            f'providers: {{here: {{base_url: "{provider.base_url}"}}}}\n'
            "rag: {kb: {docs: [docs], max_tokens_per_run: 2, strategies: "
            "[{type: chunked-embeddings, embedding_model: here/m, vector_dimensions: 8}]}}\n",
            encoding="utf-8",
        )
        ended = docmill("index", "docmill.yaml", cwd=tmp_path, seconds=60)
    assert ended.returncode == 3
    said("budget_spent", ended.stderr)


def test_a_key_that_the_provider_refuses(tmp_path: Path) -> None:
    one_file(tmp_path / "docs")
    with fake_provider(dimensions=8) as provider:
        provider.fault(wrong_key())
        (tmp_path / "docmill.yaml").write_text(
            f'providers: {{here: {{base_url: "{provider.base_url}"}}}}\n'
            "rag: {kb: {docs: [docs], strategies: [{type: chunked-embeddings, embedding_model: here/m, vector_dimensions: 8}]}}\n",
            encoding="utf-8",
        )
        ended = docmill("index", "docmill.yaml", cwd=tmp_path, seconds=60)
    assert ended.returncode == 3
    said("answered 401", ended.stderr)


def test_a_run_that_nobody_plans(tmp_path: Path) -> None:
    configuration = write_configuration(tmp_path / "docmill.yaml", one_file(tmp_path / "docs"), name="library")
    with running_service() as service, DataFolder.open(tmp_path / "data") as data_folder:
        service.backend.has_producer = False
        data_folder.announce(service.server.url)
        ended = docmill("index", configuration, "--data-dir", tmp_path / "data", seconds=60)
    assert ended.returncode == 3
    said("no producer plans", ended.stderr)


def test_another_length_for_the_local_model(tmp_path: Path) -> None:
    one_file(tmp_path / "docs")
    strategy = "{type: chunked-embeddings, embedding_model: local/all-minilm-l6-v2, vector_dimensions: 100}"
    (tmp_path / "docmill.yaml").write_text(f"rag: {{kb: {{docs: [docs], strategies: [{strategy}]}}}}\n", encoding="utf-8")
    ended = docmill("index", "docmill.yaml", cwd=tmp_path)
    assert ended.returncode == 2
    said("makes vectors of 384", ended.stderr)


def test_a_missing_credential(tmp_path: Path) -> None:
    one_file(tmp_path / "docs")
    strategy = "{type: chunked-embeddings, embedding_model: openai/text-embedding-3-small}"
    (tmp_path / "docmill.yaml").write_text(f"rag: {{kb: {{docs: [docs], strategies: [{strategy}]}}}}\n", encoding="utf-8")
    ended = docmill("index", "docmill.yaml", cwd=tmp_path, settings={"OPENAI_API_KEY": ""})
    assert ended.returncode == 2
    said("its credential is missing", ended.stderr)


def test_too_few_watches(tmp_path: Path) -> None:
    docs = one_file(tmp_path / "docs")
    for number in range(30):
        (docs / f"folder{number}").mkdir()
    write_configuration(tmp_path / "docmill.yaml", docs)
    output = in_own_namespaces(
        f"echo 5 > /proc/sys/user/max_inotify_watches; exec {PROGRAM} up docmill.yaml --data-dir data --port 0",
        tmp_path,
        until="not_watching",
    )
    said("not_watching", output)
    assert "watching for changes" not in output


def test_a_mass_deletion(tmp_path: Path) -> None:
    docs = one_file(tmp_path / "docs")
    for number in range(101):
        (docs / f"{number}.md").write_text("text", encoding="utf-8")
    write_configuration(tmp_path / "docmill.yaml", docs)
    docmill("index", "docmill.yaml", cwd=tmp_path)
    for number in range(101):
        (docs / f"{number}.md").unlink()
    ended = docmill("index", "docmill.yaml", cwd=tmp_path)
    assert ended.returncode == 1
    said("missing and kept", ended.stderr)


def test_an_error_in_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "docmill.yaml"
    file.write_text("rag: {kb: {strategies: [{type: bm25, limitt: 3}]}}\n", encoding="utf-8")
    ended = docmill("config", "check", file)
    assert ended.returncode == 2
    said("this key is not known", ended.stderr)


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    ended = docmill("up", one_file(tmp_path / "docs"), cwd=tmp_path, settings={"DOCMILL_REDIS_URL": "redis://127.0.0.1:1"})
    assert ended.returncode == 3
    said("cannot be reached (", ended.stderr)


@pytest.mark.parametrize("verb", ["producer", "worker", "api"])
def test_a_process_without_servers(tmp_path: Path, verb: str) -> None:
    ended = docmill(verb, "--config", write_configuration(tmp_path / "docmill.yaml", one_file(tmp_path / "docs")), cwd=tmp_path)
    assert ended.returncode == 2
    said("Processes of their own share servers", ended.stderr)


def test_a_data_folder_of_a_newer_version(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "format.json").write_text('{"format": 99}', encoding="utf-8")
    ended = docmill("up", one_file(tmp_path / "docs"), "--data-dir", tmp_path / "data")
    assert ended.returncode == 2
    said("has format", ended.stderr)
