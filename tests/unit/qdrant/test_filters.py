"""Filters for the server: the facts about paths never hide a match."""

from hypothesis import given
from hypothesis import strategies as st

from docmill.adapters.qdrant.filters import facts_of_glob, facts_of_prefix, is_exact, path_facts, server_filter
from docmill.domain.chunk_filters import matches_glob
from docmill.domain.chunks import ChunkFilter

PATHS = st.text(alphabet="ab/.é", min_size=1, max_size=12)
GLOBS = st.lists(st.sampled_from(["*", "**", "**/", "?", "a", "b", "/", ".", "é", "a.b"]), max_size=7).map("".join)


@given(path_glob=GLOBS, document_id=PATHS)
def test_what_a_glob_matches_has_the_facts_of_the_glob(path_glob: str, document_id: str) -> None:
    if matches_glob(path_glob, document_id):
        assert set(facts_of_glob(path_glob)) <= set(path_facts(document_id))


@given(document_id=PATHS, length=st.integers(0, 12))
def test_what_begins_with_a_prefix_has_the_facts_of_the_prefix(document_id: str, length: int) -> None:
    assert set(facts_of_prefix(document_id[:length])) <= set(path_facts(document_id))


@given(document_id=PATHS, other=PATHS)
def test_a_folder_as_prefix_is_exact(document_id: str, other: str) -> None:
    folder = f"{other}/"
    assert is_exact(ChunkFilter(path_prefix=folder))
    assert (set(facts_of_prefix(folder)) <= set(path_facts(document_id))) == document_id.startswith(folder)


def test_common_globs_are_narrowed() -> None:
    assert facts_of_glob("docs/**/*.md") == ["under=docs/", "suffix=.md"]
    assert facts_of_glob("**/README.md") == ["name=README.md"]
    assert facts_of_glob("docs/a.md") == ["under=docs/", "name=a.md"]
    assert facts_of_glob("*") == []
    # The slash may stand for nothing, and then more may be before the name.
    assert facts_of_glob("doc**/a.md") == ["suffix=.md"]


def test_nothing_to_restrict_is_no_filter() -> None:
    assert server_filter(ChunkFilter()) is None
    assert server_filter(ChunkFilter(path_prefix="")) is None


def test_generations_are_left_out_by_number() -> None:
    found = server_filter(ChunkFilter(), {2**40 + 1, 3})
    assert found is not None
    assert found.model_dump(exclude_none=True) == {"must_not": [{"key": "gen", "match": {"any": [3, 2**40 + 1]}}]}
