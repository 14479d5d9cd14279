import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.domain.errors import QueryInvalid
from docmill_services.query.documents import cursor_after, document_after


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_cursor_leads_back_to_its_document(document_id: str) -> None:
    cursor = cursor_after(document_id)
    assert document_after(cursor) == document_id
    assert cursor.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("cursor", ["!", "ä", "A", "_w", "a b"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(QueryInvalid, match="cursor"):
        document_after(cursor)
