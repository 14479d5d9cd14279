import json

import pytest

import docmill.domain.errors as errors
from docmill.domain.errors import AllStrategiesFailed, DocmillError, ProviderLeftAlone, ProviderRateLimited, ProviderTransient, StoreDown
from docmill_services.query.problems import FieldError, problem_body, problem_of, problem_response, request_problem, without_folders

ALL_ERRORS = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, DocmillError) and "__init__" not in vars(found)
]


@pytest.mark.parametrize("kind", ALL_ERRORS, ids=lambda kind: kind.code)
def test_every_error_has_a_problem_with_its_own_code(kind: type[DocmillError]) -> None:
    problem = problem_of(kind("what happened"))
    assert (problem.code, problem.detail) == (kind.code, "what happened")
    assert 400 <= problem.status <= 599
    assert problem.title
    assert not problem.title.endswith(".")


def test_a_more_special_error_without_a_status_has_its_parents() -> None:
    class Special(StoreDown):
        """A special case."""

    assert problem_of(Special("x")).status == problem_of(StoreDown("x")).status == 503


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("/home/a/b.sock does not answer", "…/b.sock does not answer"),
        ("cannot open '/var/lib/x/y.db': full", "cannot open '…/y.db': full"),
        ("http://127.0.0.1:6333/collections/x refused", "http://127.0.0.1:6333/collections/x refused"),
        ("a/b and docs/c.md", "a/b and docs/c.md"),
        ("and/or", "and/or"),
        ("/single", "/single"),
        ("", ""),
    ],
)
def test_folders_are_cut_from_messages_and_nothing_else(message: str, shown: str) -> None:
    assert without_folders(message) == shown


def test_a_problem_document_has_the_fields_of_rfc_9457() -> None:
    problem = request_problem("request.invalid", "limit: wrong", [FieldError("limit", "wrong")])
    assert json.loads(problem_body(problem, "id1")) == {
        "type": "urn:docmill:problem:request.invalid",
        "title": "Unprocessable Content",
        "status": 422,
        "code": "request.invalid",
        "detail": "limit: wrong",
        "request_id": "id1",
        "errors": [{"field": "limit", "message": "wrong"}],
    }


@pytest.mark.parametrize("kind", [ProviderLeftAlone, ProviderRateLimited, ProviderTransient, AllStrategiesFailed])
def test_a_provider_that_says_when_to_come_again_is_passed_on_in_whole_seconds(
    kind: type[ProviderLeftAlone] | type[ProviderRateLimited] | type[ProviderTransient] | type[AllStrategiesFailed],
) -> None:
    response = problem_response(problem_of(kind("later", 41.2)), "id1")
    assert (response.status_code, response.headers["retry-after"]) == (503, "42")
    assert problem_response(problem_of(kind("soon", 0.01)), "id1").headers["retry-after"] == "1"


def test_a_provider_that_does_not_say_when_gets_no_header() -> None:
    assert "retry-after" not in problem_response(problem_of(ProviderRateLimited("later")), "id1").headers
    assert "retry-after" not in problem_response(problem_of(StoreDown("away")), "id1").headers
