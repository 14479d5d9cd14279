"""What a walk leaves out is noted with what decided it, grouped, and kept within bounds."""

import os
from pathlib import Path

from docmill.documents.ignoring import Rule
from docmill.documents.selection import Refusal
from docmill.domain.errors import SkipReason
from docmill_services.left_out import Group, LeftOut, NotingSelection
from docmill_services.producer.scan import Scan
from support.trees import knowledge_base, plant

BINARY = Refusal(SkipReason.BINARY, None, "PNG is no text")


def noted(folder: Path, most_paths: int | None = None, *roots: Path | str) -> tuple[list[str], list[Group]]:
    kb = knowledge_base(folder, *roots)
    left_out = LeftOut(most_paths)
    scan = Scan(NotingSelection(kb, folder / "data", left_out), kb.base_folder)
    return [file.document_id for file in scan.files()], left_out.groups()


def test_a_folder_that_is_pruned_is_noted_once_with_its_rule(tmp_path: Path) -> None:
    plant(tmp_path, {".docmillignore": "node_modules/\n", "node_modules/a.js": "", "node_modules/b.js": "", "c.md": ""})
    files, (group,) = noted(tmp_path)
    assert files == [".docmillignore", "c.md"]
    assert (group.folders, group.files, group.paths) == (1, 0, ["node_modules/"])
    assert group.rule == Rule(str(tmp_path / ".docmillignore"), 1, "node_modules/")


def test_files_are_noted_with_the_rule_that_leaves_each_out(tmp_path: Path) -> None:
    plant(tmp_path, {".docmillignore": "*.log\n", "a.log": "", "b/c.log": "", ".env": "", "d.md~": "", "d.md": ""})
    files, groups = noted(tmp_path)
    assert files == [".docmillignore", "d.md"]
    found = {(group.reason, group.rule.pattern): group.paths for group in groups if group.rule}
    assert found == {
        (SkipReason.IGNORED, "*.log"): ["a.log", "b/c.log"],
        (SkipReason.IGNORED, "*~"): ["d.md~"],
        (SkipReason.SECRET, ".env"): [".env"],
    }


def test_what_no_glob_matches_is_noted(tmp_path: Path) -> None:
    plant(tmp_path, ["a.md", "b.txt", "c/d.md"])
    files, (group,) = noted(tmp_path, None, f"{tmp_path}/**/*.md")
    assert files == ["a.md", "c/d.md"]
    assert (group.paths, group.detail) == (["b.txt"], "none of the configured docs matches it")


def test_what_is_no_file_is_noted_by_its_kind(tmp_path: Path) -> None:
    plant(tmp_path, ["a.md"])
    for name, target in (("to_file", "a.md"), ("to_nothing", "gone"), ("loop", "loop")):
        (tmp_path / name).symlink_to(target)
    os.mkfifo(tmp_path / "pipe")
    files, groups = noted(tmp_path)
    assert files == ["a.md"]
    found = {group.detail.partition(";")[0].partition(":")[0]: sorted(group.paths) for group in groups}
    assert found == {"a symbolic link": ["to_file"], "a broken symbolic link": ["loop", "to_nothing"], "a pipe": ["pipe"]}
    assert {group.reason for group in groups} == {SkipReason.NOT_A_FILE}


def test_sentences_that_differ_in_numbers_are_one_group(tmp_path: Path) -> None:
    left_out = LeftOut(None)
    for size in ("30", "4,000", "5"):
        left_out.add(f"{size}.txt", Refusal(SkipReason.TOO_LARGE, None, f"it has {size} bytes, and max_file_size is 20"))
    (group,) = left_out.groups()
    assert (group.detail, group.files) == ("it has … bytes, and max_file_size is 20", 3)


def test_a_group_of_one_says_everything() -> None:
    left_out = LeftOut(None)
    left_out.add("a.txt", Refusal(SkipReason.TOO_LARGE, None, "it has 30 bytes"))
    assert [group.detail for group in left_out.groups()] == ["it has 30 bytes"]


def test_only_so_many_paths_are_kept_and_all_are_counted() -> None:
    left_out = LeftOut(2)
    for number in range(1000):
        left_out.add(f"{number}.png", BINARY)
    (group,) = left_out.groups()
    assert (group.files, group.paths) == (1000, ["0.png", "1.png"])


def test_the_largest_group_of_a_reason_comes_first() -> None:
    left_out = LeftOut(None)
    left_out.add("a.gif", Refusal(SkipReason.BINARY, None, "GIF is no text"))
    for name in ("b.png", "c.png"):
        left_out.add(name, BINARY)
    left_out.add("x", Refusal(SkipReason.IGNORED, None, "none matches it"))
    assert [group.detail for group in left_out.groups()] == ["none matches it", "PNG is no text", "GIF is no text"]
