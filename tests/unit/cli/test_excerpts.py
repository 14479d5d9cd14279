"""The part of a result that a search shows."""

from docmill_services.cli.search_command import excerpt_of

LONG = "\n".join(f"line {number} about nothing at all" for number in range(40))


def test_a_short_text_is_shown_whole() -> None:
    assert excerpt_of("one\ntwo\n", "three") == "one\ntwo"


def test_a_long_text_without_the_words_is_shown_from_its_beginning() -> None:
    shown = excerpt_of(LONG, "pears")
    assert shown.startswith("line 0")
    assert shown.endswith(" …")
    assert len(shown) < 310


def test_a_long_text_is_shown_from_the_first_line_with_a_word_of_the_query() -> None:
    assert excerpt_of(LONG + "\nRotate the KEYS weekly.\nend", "how to rotate keys") == "… Rotate the KEYS weekly.\nend"


def test_a_word_that_the_beginning_has_moves_nothing() -> None:
    assert excerpt_of(LONG + "\nnothing more", "nothing").startswith("line 0")


def test_a_line_that_would_be_cut_off_counts_as_not_shown() -> None:
    filled = "x" * 280
    assert excerpt_of(f"{filled}\nROTATE_KEYS | weekly, by the one who is on call\nend", "ROTATE_KEYS").startswith("… ROTATE_KEYS | weekly")
