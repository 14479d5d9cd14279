"""By the stems of which language a text and a query are searched."""

import pytest

from docmill.adapters.embedded.words import words_of
from docmill.adapters.stem_languages import LANGUAGES, language_of, query_languages, stem_language

GERMAN = "Der Vertrag ist mit der Unterschrift gültig und wird auf dem Server abgelegt."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Vertrag ist mit der Unterschrift gültig und wird auf dem Server abgelegt.", "german"),
        ("Le contrat est valable dans tous les pays de la zone.", "french"),
        ("El contrato es válido en todos los países de la zona.", "spanish"),
        ("Il contratto è valido in tutti i paesi della zona.", "italian"),
        ("Het contract is geldig in alle landen van de zone.", "dutch"),
        ("O contrato não é válido em todos os países da zona.", "portuguese"),
        ("Договор не действует на территории и в зоне.", "russian"),
        ("The contract is valid in all countries of the zone.", None),
        ("The article says that die Straße and der Platz are German words.", None),
        ("getUserName() returns None", None),
        ("", None),
        ("今天天气很好，我们去公园。", None),
    ],
)
def test_the_language_of_a_text_is_told_by_its_small_words(text: str, language: str | None) -> None:
    assert language_of(words_of(text)) == language


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (GERMAN, None, "german"),
        (GERMAN, "en", "german"),
        (GERMAN, "python", None),
        ("Verträge", "de", "german"),
        ("Verträge", "en", None),
        ("Verträge", "zh", None),
        ("Verträge", None, None),
    ],
)
def test_what_a_document_says_of_its_language_counts_where_its_words_say_nothing(
    text: str, declared: str | None, language: str | None
) -> None:
    assert stem_language(words_of(text), declared) == language


def test_a_short_query_is_searched_in_all_languages_and_a_long_one_in_its_own() -> None:
    words = words_of(GERMAN)
    assert query_languages(words, 11) == [*LANGUAGES.values()]
    assert query_languages(words * 3, 33) == ["german"]
    assert query_languages([f"w{number}" for number in range(33)], 33) == []
