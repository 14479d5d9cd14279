"""JSON as providers send it."""

import math

import pytest

from docmill.adapters.providers.json_values import json_value


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b' {"data": [0.1, -2, 1e-7, 3]} ', {"data": [0.1, -2, 1e-7, 3]}),
        (b"null", None),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('{"a": "ü"}'.encode("utf-16"), {"a": "ü"}),
        (b'"\\ud800"', "\ud800"),
    ],
)
def test_every_json_value_is_read(body: bytes, value: object) -> None:
    assert json_value(body) == value


def test_numbers_that_are_none_are_seen_as_such_and_not_as_broken_json() -> None:
    value = json_value(b"[NaN, Infinity]")
    assert isinstance(value, list)
    assert math.isnan(value[0])
    assert value[1] == math.inf


@pytest.mark.parametrize("body", [b"", b"<html></html>", b'{"a": 1', b"[1, 2] 3", b"\xff\xfe\xff", b"[" * 100_000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        json_value(body)
