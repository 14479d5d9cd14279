"""Markers of an answer are resolved as they come, however the answer is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.retrieval.answering.citations import Citations


def resolved(text: str, offered: int = 3, piece: int = 0) -> tuple[str, list[int], int]:
    citations = Citations(offered)
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)] if piece else [text]
    shown = "".join(citations.feed(one) for one in pieces) + citations.finish()
    return shown, citations.used, citations.dropped


CASES = [
    ("Refunds take thirty days [1].", "Refunds take thirty days [1].", [1], 0),
    ("First [2], then [1] and [2] again.", "First [2], then [1] and [2] again.", [2, 1], 0),
    ("Both say so [1][3].", "Both say so [1][3].", [1, 3], 0),
    ("Both say so [1, 3].", "Both say so [1][3].", [1, 3], 0),
    ("All of them [1-3].", "All of them [1][2][3].", [1, 2, 3], 0),
    ("A footnote[^2] and 【3】.", "A footnote[2] and [3].", [2, 3], 0),
    ("As [passage 2] says.", "As [2] says.", [2], 0),
    ("Nobody said so [9].", "Nobody said so.", [], 1),
    ("Half of it [2, 7].", "Half of it [2].", [2], 1),
    ("Zero is none [0].", "Zero is none.", [], 1),
    ("Not markers: [a], [1a], [], [TODO] and [see below].", "Not markers: [a], [1a], [], [TODO] and [see below].", [], 0),
    ("A link [1](https://example.org) is none.", "A link [1](https://example.org) is none.", [], 0),
    ("Code `list[1]` and ``x[`2]`` are none, this is [3].", "Code `list[1]` and ``x[`2]`` are none, this is [3].", [3], 0),
    ("```python\nrows[1]\n```\nThat is [2].", "```python\nrows[1]\n```\nThat is [2].", [2], 0),
    ("An open bracket [1", "An open bracket [1", [], 0),
    ("Spaces stay  here  [1]  too. ", "Spaces stay  here  [1]  too. ", [1], 0),
    ("A wild range [1-900].", "A wild range [1].", [1], 0),
    ("No marker goes over [1\n] a line.", "No marker goes over [1\n] a line.", [], 0),
    ("Many spaces" + " " * 70 + "[1]", "Many spaces" + " " * 70 + "[1]", [1], 0),
    ("No marker [" + "1, " * 30 + "1] is longer than a line.", "No marker [" + "1, " * 30 + "1] is longer than a line.", [], 0),
]


@pytest.mark.parametrize("piece", [0, 1, 2, 7])
@pytest.mark.parametrize(("text", "shown", "used", "dropped"), CASES)
def test_markers_are_resolved_in_whatever_pieces_they_come(text: str, shown: str, used: list[int], dropped: int, piece: int) -> None:
    assert resolved(text, piece=piece) == (shown, used, dropped)


@given(st.text(alphabet="ab [1]2,9-`(【】^\n", max_size=80), st.integers(1, 5))
def test_pieces_change_nothing(text: str, piece: int) -> None:
    assert resolved(text, piece=piece) == resolved(text)


@given(st.text(alphabet="ab[12]9,` ", max_size=60))
def test_what_is_shown_cites_only_passages_that_there_are(text: str) -> None:
    shown, used, _ = resolved(text, offered=2)
    assert set(used) <= {1, 2}
    again, used_again, dropped_again = resolved(shown, offered=2)
    assert (again, used_again, dropped_again) == (shown, used, 0)
