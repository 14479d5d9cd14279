"""The description of the API says what keys do to each call."""

from docmill_services.query.app import make_app


def test_every_call_but_those_for_the_services_health_says_how_a_key_is_brought_and_refused() -> None:
    description = make_app({}).openapi()
    assert description["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    for path, operations in description["paths"].items():
        for operation in operations.values():
            is_open = path in ("/livez", "/readyz")
            assert ("security" in operation) is not is_open, path
            refusals = {status: operation["responses"].get(status) for status in ("401", "403", "429")}
            if is_open:
                assert set(refusals.values()) == {None}
            else:
                assert all("application/problem+json" in refusal["content"] for refusal in refusals.values()), path
