"""What a filter lets through; the stores' contract tests hold every store to the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.domain.chunk_filters import glob_literals, matches_glob, matches_value
from docmill.domain.documents import MetadataValue

PATHS = st.lists(st.text("ab.[*", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
GLOBS = st.lists(st.sampled_from(["a", "b", ".", "[", "/", "*", "**", "**/", "?"]), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("glob", "matching", "others"),
    [
        ("*.md", ["a.md", ".md"], ["a/b.md", "a.mdx"]),
        ("**/*.md", ["a.md", "a/b/c.md"], ["a.txt"]),
        ("docs/**", ["docs/a", "docs/a/b"], ["docs", "docsy/a"]),
        ("docs/**/x", ["docs/x", "docs/a/b/x"], ["docs/ax", "docsx"]),
        ("a?c", ["abc", "aéc"], ["a/c", "ac"]),
        ("[a].md", ["[a].md"], ["a.md"]),
        ("a\nb*", ["a\nbc"], ["a b"]),
    ],
)
def test_a_glob_matches_whole_document_ids(glob: str, matching: list[str], others: list[str]) -> None:
    assert [path for path in [*matching, *others] if matches_glob(glob, path)] == matching


@given(GLOBS, PATHS)
def test_whatever_matches_a_glob_holds_its_literal_parts(glob: str, path: str) -> None:
    prefix, inner = glob_literals(glob)
    if matches_glob(glob, path):
        assert path.startswith(prefix)
        assert all(piece in path for piece in inner)


@given(PATHS.filter(lambda path: "*" not in path), PATHS)
def test_a_glob_without_a_wildcard_matches_itself_alone(glob: str, path: str) -> None:
    assert matches_glob(glob, glob)
    assert matches_glob(glob, path) == (glob == path)


@pytest.mark.parametrize(
    ("wanted", "stored", "expected"),
    [
        ("a", "a", True),
        ("a", None, False),
        ("a", ["b", "a"], True),
        (["a", "b"], ["b", "a", "c"], True),
        (["a"], "a", False),
        ([], ["a"], True),
        (1, 1.0, True),
        (1, True, False),
        (True, 1, False),
        (1, "1", False),
        (2**70, 2**70, True),
        (float("inf"), float("inf"), True),
    ],
)
def test_a_metadata_value_is_equal_or_contained(wanted: MetadataValue, stored: MetadataValue | None, expected: bool) -> None:
    assert matches_value(wanted, stored) is expected
