"""Which document an id of a collection stands for."""

import pytest

from docmill_services.evaluation.collection_ids import NotFound, match_ids


def live(*document_ids: str) -> list[tuple[str, str]]:
    return [(document_id, "live") for document_id in document_ids]


@pytest.mark.parametrize(
    ("collection_id", "document_id"),
    [
        ("184", "184.md"),
        ("184", "cranfield/184.md"),
        ("184.md", "cranfield/184.md"),
        ("cranfield/184", "cranfield/184.md"),
        ("cranfield/184.md", "cranfield/184.md"),
        ("00-0", "00-0.md"),
        ("doc.1", "doc.1.md"),
        ("/elsewhere/a.txt", "/elsewhere/a.txt"),
        (".notes", ".notes"),
    ],
)
def test_an_id_stands_for_a_path_or_a_name_with_or_without_its_ending(collection_id: str, document_id: str) -> None:
    found = match_ids([collection_id], live(document_id, "other.md"))
    assert (found.documents, found.not_found) == ({collection_id: document_id}, ())


def test_the_closest_document_is_meant() -> None:
    assert match_ids(["a.md"], live("a.md.md", "x/a.md", "a.md")).documents == {"a.md": "a.md"}
    assert match_ids(["a"], live("x/a.md", "a.md")).documents == {"a": "a.md"}


def test_a_live_document_goes_before_one_that_is_not() -> None:
    assert match_ids(["a"], [("a.md", "skipped"), ("x/a.md", "live")]).documents == {"a": "x/a.md"}


def test_an_id_that_fits_several_documents_alike_stands_for_none() -> None:
    found = match_ids(["a"], live("x/a.md", "y/a.md"))
    assert (found.documents, found.not_found) == ({}, (NotFound("a", documents=("x/a.md", "y/a.md")),))


def test_what_no_search_can_find_is_said() -> None:
    found = match_ids(["1", "2", "3"], [("1.md", "live"), ("2.md", "empty")])
    assert found.not_found == (NotFound("2", "empty"), NotFound("3"))


def test_an_id_without_a_document_is_never_taken_for_one() -> None:
    found = match_ids(["a", "b"], live("a.md", "c.md"))
    assert found.key_of("a") == "a.md"
    assert found.key_of("b") not in ("b", "c.md")
