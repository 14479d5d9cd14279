import sys

import pytest

from docmill.config.yaml_source import MAX_DEPTH, Place, Position, read_yaml
from docmill.domain.errors import ConfigurationError

RAG = frozenset({"rag"})


def read(text: str) -> dict[str, object]:
    source = read_yaml("f.yaml", text.encode(), RAG)
    assert source.mistakes == ()
    return dict(source.values)


def refusal(raw: bytes | str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_yaml("f.yaml", raw.encode() if isinstance(raw, str) else raw, RAG)
    return str(caught.value)


def mistakes(text: str) -> list[tuple[int, int, str]]:
    found = read_yaml("f.yaml", text.encode(), RAG).mistakes
    return [(mistake.position.line, mistake.position.column, mistake.message) for mistake in found]


def test_places_count_lines_and_columns_from_one() -> None:
    source = read_yaml("f.yaml", b"rag:\n  notes:\n    limit: 5\n    docs: [a, b]\n", RAG)
    assert source.place(("rag", "notes", "limit")) == Place(Position(3, 5), Position(3, 12))
    assert source.place(("rag", "notes", "docs", 1)).value == Position(4, 15)


def test_a_path_that_is_not_in_the_file_stands_where_its_nearest_ancestor_stands() -> None:
    source = read_yaml("f.yaml", b"rag:\n  notes: {}\n", RAG)
    assert source.place(("rag", "notes", "docs", 3)).key == Position(2, 3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("5.5", 5.5),
        ("1e-3", 0.001),
        ("-2E4", -20000.0),
        ("true", True),
        ("~", None),
        ("1:30", "1:30"),
        ("2026-11-30", "2026-11-30"),
        ("'5'", "5"),
        ("'1e3'", "1e3"),
        ("[1, [2]]", [1, [2]]),
        ("=", "="),
        ("010", 8),
        (".5", 0.5),
    ],
)
def test_scalars_mean_what_people_mean(text: str, value: object) -> None:
    assert read(f"rag: {text}\n") == {"rag": value}


def test_keys_stay_the_text_that_they_are() -> None:
    assert read("rag: {on: 1, 2026: 2, ~: 3, 1.0: 4}\n") == {"rag": {"on": 1, "2026": 2, "~": 3, "1.0": 4}}


def test_sections_that_are_not_asked_for_are_not_looked_into() -> None:
    assert read("agents: {a: !custom {x: 1, x: 2}}\nrag: {}\n") == {"agents": None, "rag": {}}


def test_anchors_and_merges_are_followed_and_own_keys_win() -> None:
    text = "base: &base {limit: 5, k: 1}\nrag:\n  <<: *base\n  limit: 9\n  list:\n    - *base\n  two:\n    <<: [{a: 1}, {a: 2, b: 3}]\n"
    assert read(text) == {"base": None, "rag": {"limit": 9, "list": [{"limit": 5, "k": 1}], "k": 1, "two": {"a": 1, "b": 3}}}


def test_a_byte_order_mark_changes_no_column() -> None:
    source = read_yaml("f.yaml", "\ufeffrag: {a: 1}\n".encode(), RAG)
    assert source.place(("rag", "a")).key == Position(1, 7)
    assert read_yaml("f.yaml", "rag: {a: ü}\n".encode("utf-16"), RAG).values == {"rag": {"a": "ü"}}


@pytest.mark.parametrize(
    ("raw", "where", "words"),
    [
        (b"", "1:1", "empty"),
        (b"# nothing\n---\n", "1:1", "empty"),
        (b"- a\n", "1:1", "mapping"),
        (b"text", "1:1", "mapping"),
        (b"rag:\n\tnotes: 1\n", "2:1", "indent with spaces"),
        (b"rag: [1, 2\n", "2:1", "not YAML"),
        (b"rag: {a: b: c}\n", "1:11", "not YAML"),
        (b"rag: *gone\n", "1:6", "undefined alias"),
        (b"rag: 1\n---\nrag: 2\n", "2:1", "single document"),
        (b"rag: \x00\n", "1:6", "not YAML"),
        (b"a: 1\nrag: \xff\n", "2:6", "UTF-8"),
        (b'rag: "\\UFFFFFFFF"\n', "1:", "not YAML"),
        (b"%YAML " + b"9" * 5000 + b".1\n---\nrag: 1\n", "1:", "not YAML"),
        (b"rag: '\n", "2:1", "not YAML"),
        (b"rag: " + b"[" * 5000, f"1:{6 + MAX_DEPTH - 1}", "levels deep"),
    ],
)
def test_what_is_no_yaml_mapping_is_refused_with_its_place(raw: bytes, where: str, words: str) -> None:
    message = refusal(raw)
    assert message.startswith(f"f.yaml:{where}")
    assert words in message
    assert "\n" not in message


def test_duplicate_keys_are_mistakes_where_the_second_stands() -> None:
    assert sorted(mistakes("rag:\n  a: 1\n  a: 2\nother: 1\nother: 2\n")) == [
        (3, 3, "the key `a` is there twice"),
        (5, 1, "the key `other` is there twice"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "rag: {? [1, 2] : 3}\n",
        "rag: !!binary aGk=\n",
        "rag: !!int text\n",
        "rag: !!int ''\n",
        "rag: !!bool text\n",
        "rag: !custom 1\n",
        "rag: &a [*a]\n",
        "rag: &a {<<: *a}\n",
        "rag: {<<: 5}\n",
        'rag: "\\ud800"\n',
        f"rag: {'9' * 5000}\n",
    ],
)
def test_what_has_no_plain_value_is_a_mistake_and_never_a_crash(text: str) -> None:
    (mistake,) = mistakes(text)
    assert mistake[0] == 1


def test_aliases_cannot_make_a_small_file_large() -> None:
    levels = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "aliases make more than" in refusal("\n".join([*levels, "rag: *a11"]))


def test_a_long_chain_of_aliases_does_not_exhaust_the_stack() -> None:
    levels = ["k0: &a0 [x]", *(f"k{n}: &a{n} [*a{n - 1}]" for n in range(1, sys.getrecursionlimit()))]
    found = mistakes("\n".join([*levels, f"rag: *a{len(levels) - 1}"]))
    assert [message for _, _, message in found] == ["aliases must not nest without end"]


def test_merges_cannot_make_a_small_file_large() -> None:
    levels = ["k0: &a0 {x: 1}", *(f"k{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 12))]
    assert mistakes("\n".join([*levels, "rag: *a11"]))
