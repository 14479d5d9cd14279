"""What a query asks for."""

from docmill.adapters.embedded.query_words import MAX_DISTINCT_WORDS, query_layers, stems_of


def test_words_of_one_stem_are_searched_once_and_count_twice() -> None:
    assert query_layers("indexing an index quickly") == ["indexing an quickly", "indexing"]


def test_stop_words_go_when_enough_other_words_are_there() -> None:
    assert query_layers("how does the wing generate lift at low speed") == ["wing generate lift low speed"]


def test_a_short_query_keeps_its_stop_words() -> None:
    assert query_layers("for loop") == ["for loop"]
    assert query_layers("To be or not to be") == ["To be or not", "To be"]


def test_a_repeated_word_counts_four_times_at_most() -> None:
    assert query_layers("word " * 1000) == ["word"] * 4


def test_the_first_words_of_a_long_query_are_kept() -> None:
    layers = query_layers(" ".join(f"w{number}" for number in range(5000)))
    assert [layer.split() for layer in layers] == [[f"w{number}" for number in range(MAX_DISTINCT_WORDS)]]


def test_a_query_without_a_word_asks_for_nothing() -> None:
    assert query_layers(" ?! \x00 \ud800") == []


def test_forms_of_a_word_have_one_stem_whatever_their_case() -> None:
    assert len(set(stems_of("Index indexes INDEXING indexed"))) == 1
