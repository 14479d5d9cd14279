"""``docmill verify`` beside a running ``docmill up``: work that goes on is no finding, damage is one, and a repair mends it."""

import json
import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from support.running_docmill import RunningDocmill, docmill, write_configuration

FILES = 60


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningDocmill]:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(FILES):
        write(docs, number, 0)
    with RunningDocmill(write_configuration(tmp_path / "docmill.yaml", docs), tmp_path / "data") as up:
        yield up


def write(docs: Path, number: int, version: int) -> None:
    (docs / f"{number}.md").write_text(f"# Title {number}\n\nVersion {version} of file {number}.\n" * (1 + version % 3), encoding="utf-8")


def verified(up: RunningDocmill, *, repair: bool = False) -> dict[str, Any]:
    answer = httpx.post(f"{up.url}/v1/knowledge-bases/kb/verify", json={"repair": repair}, timeout=120.0)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_work_that_goes_on_is_no_finding(running: RunningDocmill, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    assert verified(running)["findings"] == []  # the first run may still be scanning
    running.wait_until_it_watches()
    running.wait_until_indexed()
    assert verified(running) == {"ok": True, "documents": FILES, "findings": [], "pending": 0}
    stopping = threading.Event()

    def edit() -> None:
        chance = random.Random(7)
        for version in range(1, 10_000):
            number = chance.randrange(FILES)
            if version % 10 == 0:
                (docs / f"{number}.md").unlink(missing_ok=True)
            else:
                write(docs, number, version)
            if stopping.wait(0.05):
                return

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        for _ in range(3):
            assert verified(running)["findings"] == []
    finally:
        stopping.set()
        editor.join(10)


def forget_entry(data_dir: Path, document_id: str) -> None:
    """Takes a document out of the registry behind docmill's back."""
    folder = data_dir / "valkey"
    pointer = folder / "socket-folder"
    socket = (Path(os.fsdecode(pointer.read_bytes())) if pointer.exists() else folder) / "valkey.sock"
    with redis.Redis(unix_socket_path=str(socket)) as client:
        (entries,), (ids,) = client.keys("*:entries:*"), client.keys("*:ids:*")
        assert client.hdel(entries, document_id) == client.zrem(ids, document_id) == 1


def test_damage_is_found_and_repaired_from_the_command_line(running: RunningDocmill, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    running.wait_until_it_watches()
    running.wait_until_indexed()
    forget_entry(data_dir, "docs/3.md")
    shown = docmill("verify", "--json", "--data-dir", data_dir)
    assert shown.returncode == 1, shown.stderr
    found = {(finding["kind"], finding["document_id"]) for finding in json.loads(shown.stdout)["findings"]}
    assert ("missing", "docs/3.md") in found
    assert found <= {("missing", "docs/3.md"), ("orphan", "docs/3.md")}  # the hourly comparison may have come first for the chunks
    repaired = docmill("verify", "--repair", "--data-dir", data_dir)
    assert repaired.returncode == 1
    assert "it is planned again" in repaired.stdout
    again = docmill("verify", "--data-dir", data_dir)
    assert (again.returncode, again.stdout) == (0, "")
    assert f"{FILES} documents compared: nothing differs" in again.stderr
