"""Estimates of tokens for prices: near what a tokenizer of OpenAI's counts, which is noted here with each text."""

import pytest

from docmill.adapters.providers.text_limits import most_tokens
from docmill.adapters.providers.token_estimates import likely_tokens

#: Texts with their tokens in cl100k_base.
TEXTS = [
    ("The lease of a document is renewed every five seconds, and an expired lease is never revived by its holder.", 22),
    ("def needs_work(stat, known):\n    packed = stat.packed()\n    return any(signature != packed for signature in known)\n", 25),
    ('{"name": "handbook", "documents": {"live": 120, "pending": 3}, "watching": true}', 28),
    ("| code | exit code | meaning |\n| --- | --- | --- |\n| `disk.full` | 3 | No room is left. |\n", 30),
    ("文书索引系统会保持与文件同步，当文件改变时，索引也会随之改变。", 29),
    ("この索引システムは、ファイルの変更に追従します。", 24),
    ("이 문서 색인 시스템은 파일이 바뀔 때마다 색인을 맞춥니다.", 33),
    ("Эта система следит за изменениями файлов и всегда показывает один момент времени.", 28),
    ("Die Geschäftsführung übernimmt für die Vollständigkeit der Unterlagen keine Gewährleistung.", 22),
    ("L'indexation des documents est tenue à jour à mesure que les fichiers évoluent.", 21),
    ("2026-12-01 03:40:15,123 WARN 10.0.0.17 4096 requests in 60 s\n", 32),
]


@pytest.mark.parametrize(("text", "tokens"), TEXTS, ids=lambda value: str(value)[:12])
def test_an_estimate_is_within_a_quarter_of_what_a_tokenizer_counts(text: str, tokens: int) -> None:
    assert likely_tokens(text) == pytest.approx(tokens, rel=0.25, abs=2)


@pytest.mark.parametrize("text", [text for text, _ in TEXTS], ids=lambda value: value[:12])
def test_an_estimate_is_below_the_bound_that_no_tokenizer_exceeds(text: str) -> None:
    assert likely_tokens(text) <= most_tokens(text)


def test_nothing_costs_nothing() -> None:
    assert likely_tokens("") == 0
    assert likely_tokens(" ") == 0


def test_several_texts_cost_what_they_cost_together() -> None:
    texts = [text for text, _ in TEXTS]
    each = sum(map(likely_tokens, texts))
    assert each - len(texts) <= likely_tokens(*texts) <= each
    assert likely_tokens() == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("word", 1),
        ("abcdefgh", 2),  # one, and a fifth for the eighth letter
        ("abcdefghijkl", 2),
        ("123", 1),
        ("123456", 2),
        ("a b", 2),
        ("a  b", 3),
        ("a\n    b", 3),  # an indent is one with the break before it
        ("(", 1),
        ("=====", 2),
        ("日本", 2),
        ("\U0001f600", 2),
        ("\u3000\u2003", 0),
        ("\ud800", 2),
    ],
)
def test_runs_of_one_kind_cost_by_their_length(text: str, tokens: int) -> None:
    assert likely_tokens(text) == tokens
