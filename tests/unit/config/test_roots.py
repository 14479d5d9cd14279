from pathlib import Path

import pytest

from docmill.config import configuration_for_folder, is_pattern, missing_roots
from docmill.config.roots import expand_braces, resolve_roots
from support.configuration_files import load

BASE = Path("/base/folder")


@pytest.mark.parametrize(
    ("entry", "roots"),
    [
        ("./notes", ("/base/folder/notes",)),
        ("notes/", ("/base/folder/notes",)),
        (".", ("/base/folder",)),
        ("../other", ("/base/other",)),
        ("/abs/path", ("/abs/path",)),
        ("//abs/path", ("/abs/path",)),
        ("./specs/**/*.md", ("/base/folder/specs/**/*.md",)),
        ("!drafts", ("!/base/folder/drafts",)),
        ("!**/*.tmp", ("!/base/folder/**/*.tmp",)),
        ("*.{md,txt}", ("/base/folder/*.md", "/base/folder/*.txt")),
        ("{a,b/{c,d}}", ("/base/folder/a", "/base/folder/b/c", "/base/folder/b/d")),
        ("a b/ü.md", ("/base/folder/a b/ü.md",)),
    ],
)
def test_entries_become_absolute_roots(entry: str, roots: tuple[str, ...]) -> None:
    assert resolve_roots([entry], BASE) == roots


def test_each_root_is_there_once_and_in_order() -> None:
    assert resolve_roots(["b", "a", "./b", "{a,c}"], BASE) == ("/base/folder/b", "/base/folder/a", "/base/folder/c")


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/reader")
    assert resolve_roots(["~/notes", "~", "!~/x", "a~b"], BASE) == (
        "/home/reader/notes",
        "/home/reader",
        "!/home/reader/x",
        "/base/folder/a~b",
    )


@pytest.mark.parametrize("entry", ["", " ", "!", "a\x00b", "a\nb", "x" * 5000, "{" * 40, "{a,b}" * 20])
def test_entries_that_can_be_no_path_are_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"must|has|stands"):
        resolve_roots([entry], BASE)


@pytest.mark.parametrize(
    ("pattern", "expanded"),
    [
        ("a", ["a"]),
        ("{a}", ["{a}"]),
        ("{a,}", ["a", ""]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("{a", ["{a"]),
        ("a}", ["a}"]),
        ("{a,b", ["{a,b"]),
        ("{x{a,b}}", ["{xa}", "{xb}"]),
        ("{}", ["{}"]),
    ],
)
def test_braces_with_a_comma_expand(pattern: str, expanded: list[str]) -> None:
    assert expand_braces(pattern) == expanded


def test_a_pattern_below_a_folder_with_brackets_means_that_folder() -> None:
    assert resolve_roots(["*.md", "plain"], Path("/docs/[draft]")) == ("/docs/[[]draft]/*.md", "/docs/[draft]/plain")


def test_a_folder_that_looks_like_a_pattern_is_none_when_it_exists(tmp_path: Path) -> None:
    folder = tmp_path / "[id]"
    assert is_pattern(str(folder))
    folder.mkdir()
    assert not is_pattern(str(folder))
    assert not is_pattern(f"!{folder}")
    assert missing_roots(configuration_for_folder(folder).knowledge_bases[0]) == []


def test_missing_roots_names_files_and_folders_but_no_patterns_or_exclusions(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    text = """
rag:
  notes:
    docs: [there, gone, "gone/*.md", "!excluded"]
    strategies:
      - {type: bm25, docs: [gone-too.md, gone]}
"""
    (kb,) = load(tmp_path, text).knowledge_bases
    assert missing_roots(kb) == [str(tmp_path / "gone"), str(tmp_path / "gone-too.md")]
