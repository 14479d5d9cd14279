"""The same files are ignored as git ignores; git itself is asked."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from docmill.documents.identity import path_of
from support.trees import knowledge_base, paths_below, plant, scanned

pytestmark = pytest.mark.skipif(shutil.which("git") is None and "CI" not in os.environ, reason="git is not installed")

PATTERNS = """# comment
\\#literal.md
\\!bang.md
*.log
!keep.log
/rooted.md
build/
docs/**/private.md
**/cache
a/**/z.md
trail_space.md  \x20
kept_space.md\\\x20
foo[0-9].md
file?.txt
!important/*.log
vendor/*
!vendor/ours
dir_only/
node_modules
*.min.*
/sub/anchored.md
deep/*.md
!deep/x.md
[!a]neg.md
esc\\*star.md
UPPER.md
everything_in/**
folders_in/**/
[[:digit:]][[:alpha:]].md
bracket[\\]].md
"""
FILES = [
    "#literal.md",
    "!bang.md",
    "literal.md",
    "a.log",
    "keep.log",
    "x/keep.log",
    "rooted.md",
    "x/rooted.md",
    "build/out.md",
    "x/build/out.md",
    "build.md",
    "docs/private.md",
    "docs/a/b/private.md",
    "docs/public.md",
    "cache",
    "x/cache/y.md",
    "a/z.md",
    "a/b/z.md",
    "a/b/c/z.md",
    "xa/z.md",
    "trail_space.md",
    "kept_space.md",
    "foo1.md",
    "fooa.md",
    "file1.txt",
    "file12.txt",
    "important/i.log",
    "vendor/theirs/t.md",
    "vendor/ours/o.md",
    "vendor/f.md",
    "dir_only/d.md",
    "x/dir_only",
    "y/node_modules/p/index.js",
    "lib.min.js",
    "sub/anchored.md",
    "x/sub/anchored.md",
    "deep/x.md",
    "deep/y.md",
    "deep/er/y.md",
    "bneg.md",
    "aneg.md",
    "esc*star.md",
    "escXstar.md",
    "upper.md",
    "UPPER.md",
    "sub/q.md",
    "sub/readme.md",
    "sub/only_here.txt",
    "sub/inner/only_here.txt",
    "sub/inner/again.md",
    "sub/inner/no.md",
    "crlf/crlf_ignored.md",
    "crlf/ok.md",
    "bom/first_line.md",
    "bom/second.md",
    "excluded_by_info.md",
    "plain.md",
    "everything_in/x.md",
    "everything_in/y/z.md",
    "folders_in/x.md",
    "folders_in/y/z.md",
    "1a.md",
    "aa.md",
    "bracket].md",
]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


def not_ignored_by_git(folder: Path) -> set[bytes]:
    files = paths_below(folder)
    command = ["git", "-C", str(folder), "-c", "core.excludesFile=/dev/null", "check-ignore", "-z", "--no-index", "--stdin"]
    ignored = subprocess.run(command, input=b"\0".join(files), stdout=subprocess.PIPE, check=False).stdout
    return set(files) - set(ignored.split(b"\0"))


def selected(folder: Path) -> set[bytes]:
    return {os.fsencode(document_id) for document_id in scanned(knowledge_base(folder))}


def test_every_kind_of_pattern_means_what_it_means_to_git(repository: Path) -> None:
    plant(repository, [*FILES, "kept_space.md ", "trail_space.md   "])
    plant(
        repository,
        {
            ".gitignore": PATTERNS,
            "sub/.gitignore": "*.md\n!readme.md\n/only_here.txt\n",
            "sub/inner/.gitignore": "!again.md\n",
            "crlf/.gitignore": "crlf_ignored.md\r\n*.orig\r\n",
            "bom/.gitignore": "\ufefffirst_line.md\nsecond.md\n",
        },
    )
    with (repository / ".git/info/exclude").open("a") as exclude:
        exclude.write("excluded_by_info.md\n")
    assert selected(repository) == not_ignored_by_git(repository)


def test_a_root_inside_a_repository_obeys_the_rules_above_it(repository: Path) -> None:
    plant(repository, {".gitignore": "*.log\n/docs/drafts/\n", "docs/a.md": "", "docs/a.log": "", "docs/drafts/b.md": "", "x.md": ""})
    kb = knowledge_base(repository, repository / "docs")
    assert scanned(kb) == ["docs/a.md"]


def test_the_rules_of_a_repository_end_where_another_begins(repository: Path) -> None:
    plant(repository, {".gitignore": "*.log\n", "a.log": "", "inner/b.log": "", "inner/c.log": ""})
    subprocess.run(["git", "init", "--quiet", repository / "inner"], check=True)
    (repository / "inner/.git/info/exclude").write_text("c.log\n")
    assert scanned(knowledge_base(repository)) == [".gitignore", "inner/b.log"]


def test_a_worktree_has_the_excludes_of_its_repository(repository: Path, tmp_path: Path) -> None:
    plant(repository, ["kept.md"])
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "-C", repository, "add", "."], check=True)
    subprocess.run(["git", "-C", repository, *identity, "commit", "--quiet", "-m", "first"], check=True)
    subprocess.run(["git", "-C", repository, "worktree", "add", "--quiet", tmp_path / "tree"], check=True, stderr=subprocess.DEVNULL)
    (repository / ".git/info/exclude").write_text("excluded.md\n")
    plant(tmp_path / "tree", ["excluded.md"])
    assert selected(tmp_path / "tree") == {b"kept.md"} == not_ignored_by_git(tmp_path / "tree") - {b".git"}


NAMES = [
    *[b"a", b"b", b"foo", b"foo.md", b"x.log", b"build", b"a b", b"b]", b"x-y", b"A", b"1", b"\\z", b"[x]", b"a[", b"!a", b"#a", b"{a,b}"],
    *[b".h", b".h.md", "\u00e9".encode(), b"\xff\xfe", b"a*", b"-", b"ab", b"^a", b"foo.MD", b"a\tb", b"a.b.c", b"[", b"]", b"foo]bar"],
    *[b" a", b"q ", b"a\\", b"aa", b"z", b"foobar"],
]
ATOMS = [
    *[
        b"",
        b"*",
        b"**",
        b"***",
        b"?",
        b"a",
        b"b",
        b"foo",
        b"build",
        b"*.md",
        b"*.log",
        b"f*o",
        b".*",
        b"*?",
        b"?*",
        b"*a*b*",
        b"**a",
        b"a**",
    ],
    *[b"[ab]", b"[!a]", b"[^b]", b"[a-c]", b"[]x]", b"[x-]y", b"[^]a]", b"[--a]", b"[z-a]", b"[]-a]", b"[a^]", b"[!^]*", b"*[!.]*", b"b]"],
    *[b"[a-", b"[!", b"[]", b"a[", b"[[]", b"[*]", b"[?]", b"[/]", b"[a/]b", b"[!/]", b"[.-0]", b"[+--]", b"[\\a]", b"[a-\\c]", b"[a\\]b]"],
    *[b"[[:alpha:]]", b"[[:digit:]]", b"[[:upper:]x]", b"[![:alpha:]]", b"[[:foo:]]", b"[[:space:]]", b"[[:punct:]]", b"[[:cntrl:]]"],
    *[b"[[:graph:]]", b"[[:print:]]*", b"[[:alnum:][:punct:]]", b"[[:alpha:]-z]", b"[[:ALPHA:]]", b"[[.a.]]", b"[[=a=]]", b"[[::]]"],
    *[b"\\a", b"\\*", b"\\[", b"\\!", b"\\#", b"\\\\", b"a\\", b"q\\", b" ", b"\t", "\u00e9".encode(), b"\xff*", b"{a,b}"],
]
ENDS = [b"", b"", b"", b"", b"/", b"/", b" ", b"  ", b"\\ ", b" \\ ", b"\\\\ ", b"\t", b"\r", b"\x0c"]


@pytest.mark.parametrize("seed", range(25))
def test_random_patterns_in_random_folders_mean_what_they_mean_to_git(seed: int, repository: Path) -> None:
    choose = random.Random(seed)
    root = os.fsencode(repository)
    folders = [b""]
    for _ in range(8):
        folders.append(choose.choice(folders) + choose.choice(NAMES) + b"/")
    for _ in range(60):
        _write(root + b"/" + choose.choice(folders) + choose.choice(NAMES), b"")
    for folder in [b"", *choose.sample(folders, 3)]:
        if os.path.isdir(root + b"/" + folder):
            _write(root + b"/" + folder + b".gitignore", b"".join(_random_pattern(choose) for _ in range(choose.randint(1, 5))))
    found = {path_of(document_id, repository)[len(root) + 1 :] for document_id in scanned(knowledge_base(repository, allow_secrets=True))}
    assert found == not_ignored_by_git(repository), f"seed {seed}"


def _write(path: bytes, content: bytes) -> None:
    """A new file; nothing where its place is taken."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(content)
    except (FileExistsError, NotADirectoryError):
        pass


def _random_pattern(choose: random.Random) -> bytes:
    """One line."""
    parts = [
        choose.choice(ATOMS) + (choose.choice(ATOMS) if choose.random() < 0.2 else b"") for _ in range(choose.choice([1, 1, 1, 2, 2, 3]))
    ]
    sign, anchor = choose.choice([b"", b"", b"", b"!"]), choose.choice([b"", b"", b"", b"", b"/"])
    return sign + anchor + b"/".join(parts) + choose.choice(ENDS) + b"\n"
