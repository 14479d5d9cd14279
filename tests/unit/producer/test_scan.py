import os
import shutil
import socket
import stat
from pathlib import Path

import pytest

from docmill.documents.roots import root_identity
from docmill.documents.selection import Selection
from docmill.domain.errors import RootUnavailable
from docmill_services.producer.scan import Scan
from support.trees import knowledge_base, plant, scanned


def scan_of(folder: Path, *roots: Path) -> Scan:
    kb = knowledge_base(folder, *roots)
    return Scan(Selection(kb, None), kb.base_folder)


def ids(scan: Scan, below: Path | None = None) -> list[str]:
    return [file.document_id for file in scan.files(below=None if below is None else os.fsencode(below))]


def test_the_files_of_a_folder_come_before_those_of_its_folders_each_sorted(tmp_path: Path) -> None:
    plant(tmp_path, ["b.md", "a/z.md", "a/a/x.md", "c/y.md", "a.md", "z.md", "a-b/w.md"])
    assert scanned(knowledge_base(tmp_path)) == ["a.md", "b.md", "z.md", "a/z.md", "a/a/x.md", "a-b/w.md", "c/y.md"]


def test_a_file_comes_with_what_stat_says_of_it(tmp_path: Path) -> None:
    plant(tmp_path, {"a.md": "four"})
    file = next(scan_of(tmp_path).files())
    status = (tmp_path / "a.md").stat()
    assert file.path == os.fsencode(tmp_path / "a.md")
    assert file.stat.packed() == f"4.{status.st_mtime_ns:x}.{status.st_ctime_ns:x}.{status.st_ino:x}".replace("4.", f"{4:x}.", 1)


def test_links_are_not_followed_and_loops_do_no_harm(tmp_path: Path) -> None:
    plant(tmp_path, ["docs/real/target.md", "outside/secret.md"])
    links = {"to_file.md": "real/target.md", "to_dir": "real", "real/up": "..", "self": "self", "a": "b", "b": "a", "dangling.md": "gone"}
    for name, target in {**links, "out": str(tmp_path / "outside"), "zero.txt": "/dev/zero"}.items():
        (tmp_path / "docs" / name).symlink_to(target)
    assert scanned(knowledge_base(tmp_path, tmp_path / "docs")) == ["docs/real/target.md"]


def test_a_root_that_is_a_link_is_followed(tmp_path: Path) -> None:
    plant(tmp_path, ["real/a.md"])
    (tmp_path / "docs").symlink_to("real")
    assert scanned(knowledge_base(tmp_path, tmp_path / "docs")) == ["docs/a.md"]


def test_pipes_are_never_opened(tmp_path: Path) -> None:
    plant(tmp_path, ["a.md"])
    os.mkfifo(tmp_path / "pipe.md")
    assert scanned(knowledge_base(tmp_path)) == ["a.md"]


def test_sockets_and_devices_are_never_opened(tmp_path: Path) -> None:
    plant(tmp_path, ["a.md"])
    folder = os.open(tmp_path, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{folder}/socket.md")  # a socket's path must be short
    os.close(folder)
    if os.geteuid() == 0:
        os.mknod(tmp_path / "zero.md", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    assert scanned(knowledge_base(tmp_path)) == ["a.md"]


def test_twins_that_differ_only_in_how_an_accent_is_written_are_two_files_and_a_name_may_have_255_bytes(tmp_path: Path) -> None:
    names = ["caf\u00e9.md", "cafe\u0301.md", "\u6f22" * 84 + ".md"]
    plant(tmp_path, names)
    assert sorted(scanned(knowledge_base(tmp_path))) == sorted(names)


def test_names_that_are_no_text_are_scanned(tmp_path: Path) -> None:
    for name in (b"latin1_\xe9\xff.md", b"new\nline.md", b"percent%FF.md"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb"):
            pass
    assert scanned(knowledge_base(tmp_path)) == ["latin1_%E9%FF.md", "new%0Aline.md", "percent%25FF.md"]


class TestWhatCannotBeRead:
    @pytest.fixture
    def too_deep(self, tmp_path: Path) -> Path:
        """A folder whose path is longer than the system lets anyone open, readable file or not, even for root."""
        plant(tmp_path, ["docs/a.md"])
        descriptor = os.open(tmp_path / "docs", os.O_RDONLY)
        for _ in range(20):
            os.mkdir("d" * 250, dir_fd=descriptor)
            inner = os.open("d" * 250, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        os.close(os.open("lost.md", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
        os.close(descriptor)
        return tmp_path / "docs"

    def test_a_folder_that_cannot_be_read_is_reported_and_the_rest_goes_on(self, too_deep: Path) -> None:
        scan = scan_of(too_deep)
        assert ids(scan) == ["a.md"]
        assert [unreadable.message for unreadable in scan.unreadable] == ["File name too long"]

    def test_a_document_in_a_folder_that_could_not_be_read_is_not_proved_gone(self, too_deep: Path) -> None:
        scan = scan_of(too_deep)
        ids(scan)
        assert not scan.proves_gone("/".join(["d" * 250] * 20) + "/lost.md")
        assert scan.proves_gone("b.md")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_permissions_are_respected(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a.md", "closed/b.md"])
        (tmp_path / "closed").chmod(0)
        scan = scan_of(tmp_path)
        try:
            assert ids(scan) == ["a.md"]
        finally:
            (tmp_path / "closed").chmod(0o700)
        assert not scan.proves_gone("closed/b.md")


class TestRootsThatAreNotThere:
    def test_a_missing_root_is_reported_and_proves_nothing_gone(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md"])
        scan = scan_of(tmp_path, tmp_path / "docs", tmp_path / "mount")
        assert ids(scan) == ["docs/a.md"]
        assert list(scan.unavailable) == [os.fsencode(tmp_path / "mount")]
        assert not scan.proves_gone("mount/b.md")
        assert scan.proves_gone("docs/b.md")

    def test_an_empty_root_is_taken_for_one_that_is_not_mounted(self, tmp_path: Path) -> None:
        scan = scan_of(tmp_path)
        assert ids(scan) == []
        assert not scan.proves_gone("a.md")

    def test_a_root_that_vanishes_during_the_scan_proves_nothing_gone(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "docs/b.md"])
        scan = scan_of(tmp_path, tmp_path / "docs")
        files = scan.files()
        next(files)
        shutil.rmtree(tmp_path / "docs")
        assert list(files) == []
        assert not scan.proves_gone("docs/b.md")

    def test_a_root_that_is_exchanged_during_the_scan_proves_nothing_gone(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "docs/b.md", "other/a.md"])
        scan = scan_of(tmp_path, tmp_path / "docs")
        files = scan.files()
        next(files)
        (tmp_path / "docs").rename(tmp_path / "old")
        (tmp_path / "other").rename(tmp_path / "docs")
        list(files)
        assert not scan.proves_gone("docs/b.md")

    def test_a_root_has_the_identity_of_its_folder(self, tmp_path: Path) -> None:
        plant(tmp_path, ["a/x.md", "b/x.md"])
        assert root_identity(os.fsencode(tmp_path / "a")) == root_identity(os.fsencode(tmp_path / "a"))
        assert root_identity(os.fsencode(tmp_path / "a")) != root_identity(os.fsencode(tmp_path / "b"))

    @pytest.mark.parametrize("name", ["missing", "empty", "pipe"])
    def test_what_cannot_hold_documents_has_no_identity(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(RootUnavailable, match=name):
            root_identity(os.fsencode(tmp_path / name))


class TestPartOfATree:
    def test_only_what_is_below_is_scanned(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "*.log\n", "a.md": "", "sub/b.md": "", "sub/b.log": "", "sub/deep/c.md": ""})
        scan = scan_of(tmp_path)
        assert ids(scan, tmp_path / "sub") == ["sub/b.md", "sub/deep/c.md"]
        assert scan.proves_gone("sub/x.md")
        assert not scan.proves_gone("x.md")

    def test_an_ignored_part_has_nothing(self, tmp_path: Path) -> None:
        plant(tmp_path, {".gitignore": "/sub/\n", "sub/deep/b.md": ""})
        assert ids(scan_of(tmp_path), tmp_path / "sub/deep") == []

    def test_a_part_above_the_roots_has_all_of_them(self, tmp_path: Path) -> None:
        plant(tmp_path, ["x/docs/a.md", "x/more/b.md", "x/other/c.md"])
        assert ids(scan_of(tmp_path, tmp_path / "x/docs", tmp_path / "x/more"), tmp_path / "x") == ["x/docs/a.md", "x/more/b.md"]
