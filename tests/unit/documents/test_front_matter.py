import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.front_matter import read_front_matter
from docmill.documents.loading import load
from docmill.domain.documents import MetadataValue


@pytest.mark.parametrize(
    ("text", "metadata"),
    [
        (
            "---\ntitle: T\ntags: [a, b]\nn: 3\nx: 1.5\nok: true\n---\nbody",
            {"title": "T", "tags": ["a", "b"], "n": 3, "x": 1.5, "ok": True},
        ),
        ("---\nday: 2024-01-02\nat: 2024-01-02T03:04:05Z\n---\n", {"day": "2024-01-02", "at": "2024-01-02T03:04:05+00:00"}),
        ("---\na:\n  b:\n    c: deep\n---\n", {"a.b.c": "deep"}),
        ("---\nnothing: null\nlist: [1, null, x]\n---\n", {"list": ["1", "x"]}),
        ("---\nbig: 123456789012345678901234567890\ninf: .inf\n---\n", {"big": "123456789012345678901234567890", "inf": "inf"}),
        ("---\nargs: use *args and **kwargs\n---\n", {"args": "use *args and **kwargs"}),
        ("---\ntitle: T\n...\nbody", {"title": "T"}),
        ('+++\ntitle = "T"\n[owner]\nname = "N"\n+++\nbody', {"title": "T", "owner.name": "N"}),
        ("---\n---\nbody", {}),
        ("---\na: 1\na: 2\n---\n", {"a": 2}),
        ('{\n  "title": "T",\n  "tags": ["a"]\n}\nbody', {"title": "T", "tags": ["a"]}),
        ("---\ntitle: Part 1: the start\ntags:\n  - a\nn: 'x'\nlist: [a: b\n# comment\n---\n", {"title": "Part 1: the start", "n": "x"}),
        ("---\ntitle:\tT\n\tindented: by a tab\n---\n", {"title": "T"}),
        ('+++\ntitle = "T"\ndraft = yes\n+++\n', {"title": "T", "draft": "yes"}),
    ],
)
def test_front_matter_becomes_flat_metadata(text: str, metadata: dict[str, MetadataValue]) -> None:
    found = read_front_matter(text)
    assert found.metadata == metadata
    assert found.end > 0


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\ntitle: never closed\n\n# Heading\n",
        "---\n\nJust text between two rules.\n\n---\n",
        "---\n- a list\n---\n",
        "---\na: [unclosed\n---\n",
        "---\na: !!python/object/apply:os.system [echo]\n---\n",
        "---\ntitle: a: b\nSome text.\n---\n",
        '{"title": "never closed"\n',
        '{"title": "T"} text\n',
        "{}text\n",
        "{% if x %}\n",
        '{"a": ' + "[" * 10_000 + "\n",
        "+++\nnot toml\n+++\n",
        " ---\na: b\n---\n",
        "----\na: b\n----\n",
        "---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n---\n",
        "---\na: &a {k: v}\nb: {<<: *a}\n---\n",
        "---\na: " + "[" * 10_000 + "\n---\n",
        "---\n" + "- " * 10_000 + "x\n---\n",
        "---\n" + "".join(f"k{n}: value\n" for n in range(10_000)) + "---\n",
    ],
)
def test_what_cannot_be_read_as_front_matter_is_body_text(text: str) -> None:
    assert read_front_matter(text).end == 0


def test_metadata_is_bounded() -> None:
    text = "---\n" + "".join(f"k{n}: v\n" for n in range(500)) + "---\n"
    assert len(read_front_matter(text).metadata) == 100
    text = "---\nlong: " + "x" * 9000 + "\nlist: [" + "a, " * 900 + "]\n---\n"
    assert {key: len(value) for key, value in read_front_matter(text).metadata.items()} == {"long": 1000, "list": 100}  # type: ignore[arg-type]  # both have a length


@pytest.mark.parametrize(
    ("text", "line"), [("---\na: b\n---\nbody", 4), ("---\na: b\n---\n", 4), ("---\na: b\n---", 4), ("body", 1), ("---\n---\n\nbody", 3)]
)
def test_the_body_begins_on_the_line_after_the_block(text: str, line: int) -> None:
    assert load("a.md", text.encode()).body_start_line == line


@given(st.text(alphabet="---\n+= abc:[]{}&*!<>|'\"#%@`,?\t\0é", max_size=80))
def test_any_text_can_be_looked_at(body: str) -> None:
    for mark in ("---", "+++"):
        found = read_front_matter(f"{mark}\n{body}\n{mark}\n")
        assert all(isinstance(value, str | int | float | list) for value in found.metadata.values())
