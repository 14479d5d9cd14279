import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.domain.index_names import MAX_NAME_CHARACTERS, index_name


def test_a_plain_name_stands_as_it_is() -> None:
    assert index_name("handbook", "0a1b", "chunked-embeddings") == "handbook-0a1b-chunked-embeddings"


@pytest.mark.parametrize("kb", ["Handbook", "my docs", "ÄÖ", "日本", "../x", "", "a-b", "x" * 300, "_x", "a--b"])
def test_another_name_is_made_safe(kb: str) -> None:
    name = index_name(kb, "0a1b", "bm25")
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name)
    assert len(name) <= MAX_NAME_CHARACTERS
    assert name != index_name(kb + "x", "0a1b", "bm25")


parts = st.text(alphabet="aB-.é_", max_size=4)


@given(st.tuples(parts, parts, parts), st.tuples(parts, parts, parts))
def test_two_names_never_meet(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert (index_name(*one) == index_name(*other)) == (one == other)
