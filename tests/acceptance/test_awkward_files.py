"""Folders as people have them: each file is found, or skipped with a reason; nothing hangs, nothing leads out of the folder."""

import contextlib
import json
import os
import socket
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from docmill.documents.identity import document_id_of
from support.one_line import run_each
from support.running_docmill import RunningDocmill, write_configuration

DEEP: Final = "/".join(["deep"] * 60)
LONG: Final = "/".join(["p" * 200] * 15)
#: Each file holds one word that no other holds: ``needle`` and its number here.
NAMES: Final[tuple[bytes, ...]] = (
    b"-rf.md",
    b"--help",
    b" leading.md",
    b"trailing .md",
    b"two  spaces.md",
    b"quote'\"`$(id).md",
    b"new\nline.md",
    b"tab\there.md",
    b"percent%20encoded.md",
    b"percent%FF.md",
    b"hash#fragment?.md",
    b"back\\slash.md",
    b"[glob]*.md",
    "emoji_🦀_名前.md".encode(),
    unicodedata.normalize("NFC", "café.md").encode(),
    unicodedata.normalize("NFD", "café.md").encode(),
    b".hidden.md",
    b"Case.md",
    b"case.md",
    b"a" * 251 + b".md",
    "right\u202eto_left.md".encode(),
    b"latin1_\xe9\xff.md",
    b"sur\xed\xa0\x80rogate.md",
    b"folder.md/inner.md",
    f"{DEEP}/leaf.md".encode(),
    f"{LONG}/leaf.md".encode(),
)
#: Contents that are found by a word of theirs.
FOUND: Final[Mapping[str, tuple[bytes, str]]] = {
    "utf16be.txt": (("\ufeff" + "sixteenbig endian\n" * 9).encode("utf-16-be"), "sixteenbig"),
    "utf16.txt": (("sixteenlittle of it\r\n" * 20).encode("utf-16-le"), "sixteenlittle"),
    "cp1252.txt": (("the agency’s “view” – cafécp\n" * 30).encode("cp1252"), "cafécp"),
    "gb18030.txt": (("分布式任务队列与文档检索系统。\n" * 40).encode("gb18030"), "文档检索"),
    "sjis.html": ('<meta charset="Shift_JIS"><p>検索システムの説明です。</p>'.encode("shift_jis"), "検索システム"),
    "nfd.md": (unicodedata.normalize("NFD", "# Straßenübergänge\n\nÅngström\n").encode(), "Ångström"),
    "cr.txt": (b"line one\rline two carriagereturn\rthree\r", "carriagereturn"),
    "nul.md": (b"# Title\n\nbefore\x00\x01 afternul\n", "afternul"),
    "one_word.md": (b"# Blob\n\n" + b"x" * 60_000 + b" afterword\n", "afterword"),
    "lines.txt": (b"".join(b"line %d\n" % number for number in range(100_000)) + b"afterlines\n", "afterlines"),
    "quotes.md": (b"> " * 5000 + b"deepquote\n", "deepquote"),
    "brackets.json": (b"[" * 100_000 + b"]" * 100_000 + b' "afterbrackets"', "afterbrackets"),
    "backticks.md": (b"`" * 300_000 + b"\n\nafterticks\n", "afterticks"),
    "bomb.md": (
        b"---\na: &a [x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 8)) for n in range(ord("b"), ord("j")))
        + b"---\nafterbomb\n",
        "afterbomb",
    ),
    "evil.md": (b'---\ntitle: !!python/object/apply:os.system ["touch pwned"]\n---\nafterevil\n', "afterevil"),
    "image.md": (b"![x](data:image/png;base64," + b"QUJD" * 60_000 + b")\n\nafterimage\n", "afterimage"),
    "tokens.md": (b"it ends with <|endoftext|> aftertoken\n", "aftertoken"),
    "UPPER.MD": (b"# uppercase\n", "uppercase"),
    "LICENSE": (b"permission granted\n", "permission"),
    "joiners.txt": (("\u200d" * 20_000 + " afterjoiners").encode(), "afterjoiners"),
}
#: Contents that are not indexed, with their state and the beginning of the reason.
NOT_INDEXED: Final[Mapping[str, tuple[bytes, str, str]]] = {
    "empty.md": (b"", "empty", ""),
    "zero.pdf": (b"", "empty", ""),
    "blank.txt": (b" \n\t\r\n\x0c\n", "empty", ""),
    "front.md": (b"---\ntitle: only front matter\n---\n", "empty", ""),
    "paper.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "skipped", "parser_failed: it is damaged"),
    "letter.docx": (b"PK\x03\x04" + bytes(200), "skipped", "parser_failed: it is damaged"),
    "old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(200), "skipped", "binary: it is a compound file (OLE) of an unknown kind"),
    "noise.md": (bytes(range(256)) * 400, "skipped", "binary: "),
    "nuls.txt": (bytes(5000), "skipped", "binary: "),
    "thirty.txt": (b"words and words\n" * 2_000_000, "skipped", "too_large: it has 32,000,000 bytes, and max_file_size is 20,971,520"),
}
#: What is no document at all, with the beginning of the reason.
NO_DOCUMENTS: Final[Mapping[str, str]] = {
    "to_file.md": "not_a_file: it is a symbolic link, and links are not followed",
    "self": "not_a_file: it is a symbolic link",
    "dangling.md": "not_a_file: it is a symbolic link",
    "outside.md": "not_a_file: it is a symbolic link",
    "zero.txt": "not_a_file: it is a symbolic link",
    "pipe.md": "not_a_file: it is not a regular file",
    "socket.md": "not_a_file: it is not a regular file",
    "editor.md~": "ignored: such files are never indexed (*~)",
    ".env": "secret: its name looks like a secret's (.env)",
    "node.md": "not_a_file: it is not a regular file",
}


def make_tree(root: Path) -> None:
    for number, name in enumerate(NAMES):
        path = os.fsencode(root / "names") + b"/" + name
        make_long_folders(os.path.dirname(path))
        write_long(path, f"# Name\n\nneedle{number}x\n".encode())
    for name, (content, *_) in {**FOUND, **NOT_INDEXED}.items():
        path = root / "content" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    with (root / "content" / "sparse.txt").open("wb") as file:
        file.truncate(2 << 30)
    odd = root / "odd"
    (odd / "real").mkdir(parents=True)
    (odd / "real" / "target.md").write_text("linktarget", encoding="utf-8")
    links = {
        "to_file.md": "real/target.md",
        "to_folder": "real",
        "real/up": "..",
        "self": "self",
        "dangling.md": "gone",
        "zero.txt": "/dev/zero",
    }
    for name, target in (links | {"outside.md": str(root.parent / "outside.md")}).items():
        (odd / name).symlink_to(target)
    (root.parent / "outside.md").write_text("outsideword", encoding="utf-8")
    os.mkfifo(odd / "pipe.md")
    if os.geteuid() == 0:
        os.mknod(odd / "node.md", 0o644 | 0o20000, os.makedev(1, 5))
    with socket.socket(socket.AF_UNIX) as unix, contextlib.chdir(odd):  # a socket's path has a short limit
        unix.bind("socket.md")
    for name in ("editor.md~", ".env"):
        (odd / name).write_text("secretword", encoding="utf-8")


def make_long_folders(folder: bytes) -> None:
    """Like ``os.makedirs``, a part at a time, since the whole may be longer than a call takes."""
    here = os.open(b"/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folder.strip(b"/").split(b"/"):
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=here)
            here, before = os.open(part, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here), here
            os.close(before)
    finally:
        os.close(here)


def write_long(path: bytes, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    with open(descriptor, "wb") as file:
        file.write(content)


class Tree:
    """The awkward tree, and docmill on it."""

    def __init__(self, base: Path, running: RunningDocmill) -> None:
        self.base = base
        self.root = base / "tree"
        self.running = running

    def document(self, path: Path | bytes) -> dict[str, Any]:
        document_id = document_id_of(os.fsencode(self.root) + b"/" + os.fsencode(path), self.base)
        answer: dict[str, Any] = self.running.get(f"/kb/documents/{quote(document_id, safe='')}")
        return answer


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    base = tmp_path_factory.mktemp("awkward")
    make_tree(base / "tree")
    configuration = write_configuration(base / "docmill.yaml", base / "tree")
    with RunningDocmill(configuration, base / "data") as running:
        running.wait_until_indexed(seconds=120)
        yield Tree(base, running)
        assert "Traceback" not in running.said


def test_every_file_has_a_state_and_what_is_not_live_has_a_reason(tree: Tree) -> None:
    documents = tree.running.status()["documents"]
    assert (documents["live"], documents["failed"], documents["pending"]) == (len(NAMES) + len(FOUND) + 1, 0, 0)
    empty = sum(state == "empty" for _, state, _ in NOT_INDEXED.values())
    assert (documents["empty"], documents["skipped"]) == (empty, len(NOT_INDEXED) - empty + 1)


@pytest.mark.parametrize("number", range(len(NAMES)), ids=lambda number: ascii(NAMES[number][-40:]))
def test_a_file_is_found_under_exactly_its_own_name(tree: Tree, number: int) -> None:
    (found,) = tree.running.search(f"needle{number}x", strategies=["bm25"], limit=1)["results"]
    assert found["text"].strip().endswith(f"needle{number}x")
    assert found["document_id"] == document_id_of(os.fsencode(tree.root) + b"/names/" + NAMES[number], tree.base)
    assert tree.document(b"names/" + NAMES[number])["state"] == "live"


@pytest.mark.parametrize("name", FOUND)
def test_a_text_is_found_whatever_it_is_like(tree: Tree, name: str) -> None:
    assert tree.running.found(FOUND[name][1], limit=1) == [f"tree/content/{name}"]


def test_no_result_holds_a_nul_or_a_broken_character(tree: Tree) -> None:
    for word in ("afternul", "cafécp", "sixteenlittle"):
        for result in tree.running.search(word, strategies=["bm25"])["results"]:
            assert not set(result["text"]) & {"\0", "\ufffd"}


@pytest.mark.parametrize("name", NOT_INDEXED)
def test_what_is_not_indexed_says_why(tree: Tree, name: str) -> None:
    document = tree.document(Path("content") / name)
    assert (document["state"], document.get("reason", "")[: len(NOT_INDEXED[name][2])]) == NOT_INDEXED[name][1:]


def test_a_sparse_file_is_judged_by_its_size_alone(tree: Tree) -> None:
    assert tree.document(Path("content/sparse.txt"))["reason"].startswith("too_large: it has 2,147,483,648 bytes")


@pytest.mark.parametrize("word", ["secretword", "outsideword"])
def test_what_is_no_document_is_never_found(tree: Tree, word: str) -> None:
    assert tree.running.found(word) == []


def test_a_file_behind_several_links_is_found_once(tree: Tree) -> None:
    assert tree.running.found("linktarget") == ["tree/odd/real/target.md"]


def test_nothing_of_a_document_is_executed(tree: Tree) -> None:
    assert not list(tree.base.rglob("pwned"))
    assert not Path("pwned").exists()


def test_explain_prints_the_state_or_the_reason_of_every_path(tree: Tree) -> None:
    odd = {name: reason for name, reason in NO_DOCUMENTS.items() if os.path.lexists(tree.root / "odd" / name)}
    names = [os.fsdecode(b"names/" + name) for name in NAMES]
    paths = [*names, *(f"odd/{name}" for name in odd), *(f"content/{name}" for name in NOT_INDEXED)]
    calls = [("explain", "--json", "--data-dir", str(tree.base / "data"), "--", str(tree.root / path)) for path in paths]
    answers = [json.loads(done.stdout) for done in run_each(calls, tree.base)]
    assert [answer["state"] for answer in answers[: len(names)]] == ["live"] * len(names)
    reasons = [answer["reason"] for answer in answers[len(names) : len(names) + len(odd)]]
    assert [reason[: len(expected)] for reason, expected in zip(reasons, odd.values(), strict=True)] == list(odd.values())
    states = [answer["state"] for answer in answers[len(names) + len(odd) :]]
    assert states == [state for _, state, _ in NOT_INDEXED.values()]


def test_a_change_right_after_one_of_a_file_whose_name_is_no_text_is_noticed(tree: Tree) -> None:
    tree.running.wait_until_it_watches()
    write_long(os.fsencode(tree.root / "names") + b"/sur\xed\xa0\x80rogate.md", b"# Name\n\nanother one\n")
    (tree.root / "after.md").write_text("rightafterwards", encoding="utf-8")
    tree.running.wait_until_found("rightafterwards", ["tree/after.md"])


def test_a_folder_of_many_small_files_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(2000):
        (tmp_path / "many" / f"{number}.txt").write_text(f"small {number}", encoding="utf-8")
    (tmp_path / "docmill.yaml").write_text("rag: {kb: {docs: [many], strategies: [{type: bm25}]}}", encoding="utf-8")
    made, again = run_each([("index", "docmill.yaml", "--json")] * 2, tmp_path)
    (first,), (second,) = (json.loads(done.stdout).values() for done in (made, again))
    assert (first["counters"]["indexed"], second["counters"]["unchanged"]) == (2000, 2000)


@pytest.mark.parametrize("folder", ["/dev", "/proc/self"])
def test_a_special_folder_ends(tmp_path: Path, folder: str) -> None:
    (tmp_path / "docmill.yaml").write_text(f"rag: {{kb: {{docs: [{folder}], strategies: [{{type: bm25}}]}}}}", encoding="utf-8")
    (done,) = run_each([("index", "docmill.yaml")], tmp_path)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
