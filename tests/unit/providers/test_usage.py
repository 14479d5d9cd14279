"""What answers say that they have cost."""

import pytest

from docmill.adapters.providers.usage import tokens_in


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [
        ({"usage": {"prompt_tokens": 5, "total_tokens": 8}}, 8),
        ({"usage": {"total_tokens": 3}}, 3),
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 2}}, 7),
        ({"usage": {"input_tokens": 5, "output_tokens": 4}}, 9),
        ({"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 30}}, 30),
        ({"usageMetadata": {"promptTokenCount": 5}}, 5),
        ({"meta": {"billed_units": {"input_tokens": 4}}}, 4),
        ({"prompt_eval_count": 6}, 6),
        ({"prompt_eval_count": 6, "eval_count": 5}, 11),
        ({"usage": {"total_tokens": 0}}, None),
        ({"usage": {"total_tokens": True}}, None),
        ({"usage": {"total_tokens": "many"}}, None),
        ({"usage": None}, None),
        ({}, None),
        ([], None),
        ("text", None),
    ],
)
def test_tokens_are_found_where_each_api_has_them(answer: object, tokens: int | None) -> None:
    assert tokens_in(answer) == tokens
