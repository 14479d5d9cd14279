import os
import threading
from pathlib import Path

import pytest

from docmill.documents.reading import SourceContent, read_source
from docmill.domain.errors import DocumentSkipped, SkipReason, SourceChanging
from support.trees import plant

LONG_AFTER = 10_000.0


def read(path: Path, *roots: Path, max_bytes: int = 1000, seconds_later: float = LONG_AFTER) -> SourceContent:
    touched = max(path.stat().st_mtime, path.stat().st_ctime) if path.exists() else 0.0
    folders = roots or (path.parent,)
    return read_source(os.fsencode(path), [os.fsencode(root) for root in folders], max_bytes=max_bytes, now_seconds=touched + seconds_later)


def reason_for(path: Path, *roots: Path, max_bytes: int = 1000) -> SkipReason:
    with pytest.raises(DocumentSkipped) as skipped:
        read(path, *roots, max_bytes=max_bytes)
    return skipped.value.reason


def test_the_content_comes_with_the_state_of_the_file(tmp_path: Path) -> None:
    plant(tmp_path, {"a.md": "text"})
    source = read(tmp_path / "a.md")
    assert source.content == b"text"
    assert source.stat.size_bytes == 4
    assert source.stat.inode == (tmp_path / "a.md").stat().st_ino


@pytest.mark.parametrize(("seconds_later", "racy"), [(0.5, True), (1.9, True), (-1.0, True), (2.5, False), (3600.0, False)])
def test_a_file_that_was_touched_a_moment_ago_is_racy(seconds_later: float, racy: bool, tmp_path: Path) -> None:
    plant(tmp_path, ["a.md"])
    assert read(tmp_path / "a.md", seconds_later=seconds_later).racy is racy


def test_a_file_whose_time_was_set_back_a_moment_ago_is_racy(tmp_path: Path) -> None:
    plant(tmp_path, ["a.md"])
    os.utime(tmp_path / "a.md", (1_000_000_000, 1_000_000_000))
    assert read(tmp_path / "a.md", seconds_later=1.0).racy


def test_an_empty_file_is_read(tmp_path: Path) -> None:
    plant(tmp_path, {"a.md": ""})
    assert read(tmp_path / "a.md").content == b""


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse.txt").open("wb") as file:
        file.truncate(1 << 40)
    assert reason_for(tmp_path / "sparse.txt") is SkipReason.TOO_LARGE


@pytest.mark.parametrize("head", [b"PK\x03\x04", b"%PDF-1.7", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_a_file_most_of_which_is_no_text_may_be_ten_times_as_large(head: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(head.ljust(10_000, b"x"))
    (tmp_path / "b.bin").write_bytes(head.ljust(10_001, b"x"))
    assert read(tmp_path / "a.bin").stat.size_bytes == 10_000
    assert reason_for(tmp_path / "b.bin") is SkipReason.TOO_LARGE


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    plant(tmp_path, {"a.md": "x" * 1000})
    assert len(read(tmp_path / "a.md").content) == 1000


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "a.md")


def test_a_file_below_what_is_a_file_now_is_not_found(tmp_path: Path) -> None:
    plant(tmp_path, ["a"])
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "a/b.md", tmp_path)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert reason_for(tmp_path / "pipe.md") is SkipReason.NOT_A_FILE


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    assert reason_for(tmp_path / "folder.md") is SkipReason.NOT_A_FILE


@pytest.mark.parametrize("target", ["real.md", "/etc/hostname", "/dev/zero", "missing.md", "link.md"])
def test_a_link_is_refused_whatever_it_leads_to(target: str, tmp_path: Path) -> None:
    plant(tmp_path, ["real.md"])
    (tmp_path / "link.md").symlink_to(target)
    with pytest.raises(DocumentSkipped) as skipped:
        read_source(os.fsencode(tmp_path / "link.md"), [os.fsencode(tmp_path)], max_bytes=1000, now_seconds=0.0)
    assert skipped.value.reason is SkipReason.NOT_A_FILE


def test_a_link_that_is_itself_a_root_is_followed(tmp_path: Path) -> None:
    plant(tmp_path, {"elsewhere/real.md": "real"})
    (tmp_path / "link.md").symlink_to("elsewhere/real.md")
    assert read(tmp_path / "link.md", tmp_path / "link.md").content == b"real"


def test_a_folder_that_became_a_link_out_of_the_roots_is_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, ["docs/a.md", "outside/sub/secret.md"])
    (tmp_path / "docs/sub").symlink_to(tmp_path / "outside/sub")
    assert reason_for(tmp_path / "docs/sub/secret.md", tmp_path / "docs") is SkipReason.NOT_A_FILE


def test_a_root_that_is_reached_by_a_link_holds_its_files(tmp_path: Path) -> None:
    plant(tmp_path, {"real/sub/a.md": "text"})
    (tmp_path / "docs").symlink_to("real")
    assert read(tmp_path / "docs/sub/a.md", tmp_path / "docs").content == b"text"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    plant(tmp_path, ["a.md"])
    (tmp_path / "a.md").chmod(0)
    assert reason_for(tmp_path / "a.md") is SkipReason.UNREADABLE


def test_a_path_that_is_too_long_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(DocumentSkipped) as skipped:
        read_source(os.fsencode(tmp_path) + b"/d" * 5000, [os.fsencode(tmp_path)], max_bytes=1, now_seconds=0.0)
    assert skipped.value.reason is SkipReason.UNREADABLE


def test_what_is_read_is_one_state_of_a_file_that_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    size = 200_000
    path.write_bytes(b"0" * size)
    stop = threading.Event()

    def rewrite() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            (tmp_path / "new").write_bytes(str(turn % 10).encode() * (size + turn % 3))
            (tmp_path / "new").replace(path)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(100):
            try:
                source = read(path, max_bytes=size * 2)
            except SourceChanging:
                continue
            assert len(set(source.content)) == 1
            assert len(source.content) == source.stat.size_bytes
    finally:
        stop.set()
        writer.join()
