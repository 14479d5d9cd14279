"""The same files are ignored as git ignores; git itself is asked."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("seed", range(12))
def test_random_patterns_in_random_folders_mean_what_they_mean_to_git(seed: int, repository: Path) -> None:
    choose = random.Random(seed)
    names = ["a", "b", "foo", "foo.md", "x.log", "build", "a b", "b]", "x-y", "q ", "A", "1", "\\z", "[x]"]
    atoms = [
        "*",
        "**",
        "?",
        "a",
        "b",
        "foo",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "*.md",
        "*.log",
        "f*o",
        "build",
        "[[:alpha:]]",
        "[[:digit:]]",
        "\\a",
        "[]x]",
        "b]",
        "[x-]y",
        "**a",
        "q\\",
        "",
    ]
    folders = [""]
    for _ in range(8):
        folders.append(choose.choice(folders) + choose.choice(names) + "/")
    for _ in range(40):
        path = repository / (choose.choice(folders) + choose.choice(names))
        if not path.exists() and not any(parent.is_file() for parent in path.parents):
            plant(repository, [str(path.relative_to(repository))])
    for folder in ["", *choose.sample(folders, 3)]:
        if (repository / folder).is_dir():
            (repository / folder / ".gitignore").write_text("".join(_random_pattern(choose, atoms) for _ in range(choose.randint(1, 5))))
    assert selected(repository) == not_ignored_by_git(repository), f"seed {seed}"


def _random_pattern(choose: random.Random, atoms: list[str]) -> str:
    pattern = "/".join(choose.choice(atoms) for _ in range(choose.choice([1, 1, 1, 2, 2, 3])))
    before = choose.choice(["", "", "", "!"]) + choose.choice(["", "", "", "/"])
    return f"{before}{pattern}{choose.choice(['', '', '', '/'])}{choose.choice(['', '', '  '])}\n"
