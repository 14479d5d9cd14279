"""The HTTP reference names every call, error code, field and metric, and none that is not there."""

import re
from pathlib import Path

import pytest

import docmill.domain.errors as errors
from docmill.domain.errors import DocmillError
from docmill_services.query import responses
from docmill_services.query.app import make_app
from docmill_services.query.metrics import Metrics
from docmill_services.query.problems import REQUEST_CODES, STATUS_OF
from docmill_services.query.requests import FilterBody, SearchBody, SearchSeveralBody
from docmill_services.query.responses import Reply

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
BODIES = [SearchBody, SearchSeveralBody, FilterBody] + [
    found for found in vars(responses).values() if isinstance(found, type) and issubclass(found, Reply) and found is not Reply
]


def section(title: str) -> str:
    """The text under a heading of the second level."""
    return REFERENCE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_call_is_in_the_table_and_no_other() -> None:
    described = {
        (method.upper(), re.sub(r":path}", "}", path)) for path, methods in make_app({}).openapi()["paths"].items() for method in methods
    }
    written = set(re.findall(r"^\| `([A-Z]+) (\S+)` \|", section("Calls"), re.MULTILINE))
    assert written == described


def test_every_code_is_in_the_table_with_its_status_and_no_other() -> None:
    kinds = [found for found in vars(errors).values() if isinstance(found, type) and issubclass(found, DocmillError)]
    expected = {kind.code: next(STATUS_OF[one] for one in kind.__mro__ if one in STATUS_OF) for kind in kinds} | dict(REQUEST_CODES)
    written = {
        code: int(status)
        for codes, status in re.findall(r"^\| (`[^|]+`) \| (\d{3}) \|", section("Errors"), re.MULTILINE)
        for code in re.findall(r"`([^`]+)`", codes)
    }
    assert written == expected


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_every_field_is_named(body: type[Reply]) -> None:
    assert [name for name in body.model_fields if not re.search(rf"\b{name}\b", REFERENCE)] == []


def test_every_metric_is_in_the_table_and_no_other() -> None:
    described = {family.name.removesuffix("_total") for family in Metrics().registry.collect()}
    written = {name.removesuffix("_total") for name in re.findall(r"^\| `(docmill_\w+)` \|", section("Metrics"), re.MULTILINE)}
    assert written == described
