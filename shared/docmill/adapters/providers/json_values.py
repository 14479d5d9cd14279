"""JSON in providers' answers, most of which is numbers."""

import json

from pydantic_core import from_json


def json_value(body: bytes) -> object:
    """The JSON value in ``body``; raises ``ValueError`` where there is none."""
    try:
        value: object = from_json(body)
    except ValueError:
        value = _lenient_value(body)
    return value


def _lenient_value(body: bytes) -> object:
    """What the quicker parser refuses is not all broken: lone surrogates, for example, or UTF-16."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError("the answer is not JSON") from error
    return value
