import pytest

from docmill.documents.dates import iso_date, with_dates
from docmill.documents.loading import load


@pytest.mark.parametrize(
    ("said", "iso"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024/1/5", "2024-01-05"),
        ("2024-01-05T10:20:30Z", "2024-01-05T10:20:30+00:00"),
        ("2024-01-05 10:20", "2024-01-05T10:20:00"),
        ("2024-01-05 10:20:30.5 +0200", "2024-01-05T10:20:30+02:00"),
        ("D:20240105102030+02'00'", "2024-01-05T10:20:30+02:00"),
        ("D:20240105", "2024-01-05"),
        ("Fri, 05 Jan 2024 10:20:30 +0200", "2024-01-05T10:20:30+02:00"),
        ("5 January 2024", "2024-01-05"),
        ("5th of Jan. 2024", "2024-01-05"),
        ("January 5, 2024", "2024-01-05"),
        ("<2024-01-05 Fri>", "2024-01-05"),
        ("$Date: 2024/01/05 10:20:30 $", "2024-01-05T10:20:30"),
        ("01/02/2024", None),
        ("2024-13-45", None),
        ("January 2024", None),
        ("yesterday", None),
        ("", None),
        ("9" * 200, None),
    ],
)
def test_a_date_is_read_when_it_can_be_only_one(said: str, iso: str | None) -> None:
    assert iso_date(said) == iso


def test_dates_are_found_by_the_names_that_documents_give_them() -> None:
    metadata = with_dates({"Last-Modified": "March 2, 2024", "pubDate": "2024-03-01", "author": "Zoë"})
    assert metadata == {
        "Last-Modified": "March 2, 2024",
        "pubDate": "2024-03-01",
        "author": "Zoë",
        "date": "2024-03-01",
        "modified": "2024-03-02",
    }


def test_a_date_that_cannot_be_read_stays_as_it_is() -> None:
    assert with_dates({"date": "soon"}) == {"date": "soon"}


def test_the_date_of_front_matter_is_that_of_the_document() -> None:
    assert load("a.md", b"---\ndate: 5 January 2024\nlastmod: 2024-02-01T00:00:00Z\n---\ntext\n").metadata == {
        "date": "2024-01-05",
        "lastmod": "2024-02-01T00:00:00+00:00",
        "modified": "2024-02-01T00:00:00+00:00",
    }
