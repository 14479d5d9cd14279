"""Which queries a model of Latin script can read."""

import pytest

from docmill.retrieval.legible import is_mostly_latin


@pytest.mark.parametrize(
    "text",
    [
        "what similarity laws must be obeyed",
        "Grüße aus Łódź",
        "α decay of β particles",
        "résumé ﬁle",
        "how does requests handle 编码",
        "tiếng Việt",
        "404",
        "???",
        "ＡＢＣ",
    ],
)
def test_a_query_in_latin_letters_is_read(text: str) -> None:
    assert is_mostly_latin(text)


@pytest.mark.parametrize(
    "text",
    [
        "黑豹队的防守丢了多少分？",
        "iPhone 15 的价格",
        "как настроить nginx reverse proxy",
        "日本語",
        "한국어 문서",
        "ภาษาไทย",
        "שלום",
        "मौसम",
    ],
)
def test_a_query_in_another_script_is_not_read(text: str) -> None:
    assert not is_mostly_latin(text)
