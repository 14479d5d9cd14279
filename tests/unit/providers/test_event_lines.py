"""Server-sent events out of bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.adapters.providers.event_lines import EventDecoder


def events_in(stream: bytes, *, piece_bytes: int = 1) -> list[str]:
    decoder = EventDecoder(max_event_bytes=1000)
    pieces = [stream[start : start + piece_bytes] for start in range(0, len(stream), piece_bytes)]
    return [event for piece in pieces for event in decoder.events_in(piece)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: one\n\ndata: two\n\n", ["one", "two"]),
        (b"data:one\r\n\r\ndata: two\r\rdata: three\n\n", ["one", "two", "three"]),
        (b"event: ping\nid: 7\nretry: 10\ndata: one\n\n", ["one"]),
        (b"data: one\ndata: two\n\n", ["one\ntwo"]),
        (b": a comment\n\n:\n\ndata: one\n\n", ["one"]),
        (b"event: nothing\n\n", []),
        (b"data\n\n", [""]),
        (b"data:  two spaces\n\n", [" two spaces"]),
        (b"\xef\xbb\xbfdata: one\n\n", ["one"]),
        ("data: 日本 \u2028 \x85 🙂\n\n".encode(), ["日本 \u2028 \x85 🙂"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"data: one\n\ndata: no end\n", ["one"]),
        (b"", []),
    ],
)
@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 1000])
def test_events_are_read_as_the_standard_says_however_their_bytes_come(stream: bytes, events: list[str], piece_bytes: int) -> None:
    assert events_in(stream, piece_bytes=piece_bytes) == events


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1), max_size=5), st.integers(1, 20))
def test_what_is_written_as_events_is_read_again(texts: list[str], piece_bytes: int) -> None:
    stream = "".join(f"data: {text}\r\n\r\n" for text in texts).encode()
    # The end of a line that may still become longer is held back.
    assert events_in(stream + b":", piece_bytes=piece_bytes) == texts


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 2000, b"data: xxxxxxxxxx\n" * 200])
def test_an_event_without_end_is_refused(stream: bytes) -> None:
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        events_in(stream, piece_bytes=100)
