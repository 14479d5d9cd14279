"""How many tokens an answer says that it has cost, wherever its API puts that."""

from collections.abc import Mapping
from typing import Final

#: Where a number for all is, or the numbers that make it up: OpenAI and those like it, Voyage, Anthropic; Gemini; Cohere; Ollama.
_TOTALS: Final = (("usage", "total_tokens"), ("usageMetadata", "totalTokenCount"))
_PARTS: Final = (
    (("usage", "prompt_tokens"), ("usage", "completion_tokens")),
    (("usage", "input_tokens"), ("usage", "output_tokens")),
    (("usageMetadata", "promptTokenCount"), ("usageMetadata", "candidatesTokenCount")),
    (("meta", "billed_units", "input_tokens"), ("meta", "billed_units", "output_tokens")),
    (("prompt_eval_count",), ("eval_count",)),
)


def tokens_in(answer: object) -> int | None:
    """The tokens of request and answer together; None where the answer does not say."""
    for keys in _TOTALS:
        total = _number(answer, keys)
        if total is not None:
            return total
    for parts in _PARTS:
        found = [number for keys in parts if (number := _number(answer, keys)) is not None]
        if found:
            return sum(found)
    return None


def _number(value: object, keys: tuple[str, ...]) -> int | None:
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if isinstance(value, int) and is_count else None
