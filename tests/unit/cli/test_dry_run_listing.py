"""The listing of a dry run: every cause in one line, with how many and with examples, and never longer than it is told to be."""

from typing import Any

from docmill.documents.ignoring import Rule
from docmill.documents.selection import Refusal
from docmill.domain.errors import SkipReason
from docmill_services.cli.dry_run_listing import EXAMPLES, described_group, listing
from docmill_services.left_out import LeftOut


def described(*entries: tuple[str, Refusal, bool]) -> list[dict[str, Any]]:
    left_out = LeftOut(None)
    for path, refusal, is_folder in entries:
        left_out.add(path, refusal, is_folder=is_folder)
    return [described_group(group) for group in left_out.groups()]


def ignored(file: str, pattern: str) -> Refusal:
    return Refusal(SkipReason.IGNORED, Rule(file, 3, pattern), f"{file}:3 ignores it ({pattern})")


def of_type(name: str, files: int) -> dict[str, Any]:
    return {"type": name, "files": files, "chunks": files, "paths": [f"{place}.x" for place in range(min(files, EXAMPLES))]}


def test_nothing_is_listed_of_nothing() -> None:
    assert list(listing([], [])) == []


def test_a_cause_is_one_line_with_its_count_and_examples() -> None:
    groups = described(*((f"{place}.log", ignored("/home/.gitignore", "*.log"), False) for place in range(5)))
    assert list(listing([], groups))[-1] == "    5 files  *.log in /home/.gitignore:3: 0.log, 1.log, 2.log, …"


def test_the_same_pattern_in_many_ignore_files_is_one_line() -> None:
    groups = described(*((f"{place}/build", ignored(f"/{place}/.gitignore", "build/"), True) for place in range(3)))
    lines = list(listing([], groups))
    assert lines[0] == "left out: 3 folders; what is in these folders was not looked at"
    assert lines[-1] == "    3 folders  build/ in /0/.gitignore:3 and 2 more ignore files: 0/build/, 1/build/, 2/build/"


def test_a_secret_is_named_by_the_pattern_of_its_name() -> None:
    refusal = Refusal(SkipReason.SECRET, Rule("", 0, ".env"), "its name looks like a secret's (.env)")
    assert list(listing([], described((".env", refusal, False))))[-1] == "    1 file  .env, a name of a secret: .env"


def test_many_causes_and_types_are_cut_and_summed() -> None:
    groups = described(*((f"{place}.x", ignored("/.gitignore", f"{place}.x"), False) for place in range(100)))
    lines = list(listing([of_type(f"type{place}", 2) for place in range(100)], groups))
    assert len(lines) < 30
    assert "  176 files  for 88 more types; --json lists all" in lines
    assert lines[-1] == "    92 files  for 92 more causes; --json lists all"


def test_a_long_path_is_cut() -> None:
    groups = described(("x" * 5000, Refusal(SkipReason.BINARY, None, "its content is binary"), False))
    assert max(map(len, listing([], groups))) < 200


def test_every_reason_is_explained() -> None:
    for reason in SkipReason:
        lines = list(listing([], described(("a", Refusal(reason, None, "so it is"), False))))
        assert lines[1].startswith(f"  {reason}: 1 file. ")
        assert lines[1].endswith((".", "`."))
