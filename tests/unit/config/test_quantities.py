import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.config.quantities import format_duration, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30m", 1800),
        ("1h30m", 5400),
        ("0s", 0),
        ("0", 0),
        ("500ms", 0.5),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("1.s", 1),
        ("+2h", 7200),
        ("10us", 1e-5),
        ("10µs", 1e-5),
        ("3ns", 3e-9),
        ("2h45m30.5s", 9930.5),
    ],
)
def test_go_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "30", "m", "30 m", "30M", "1d", "1h-30m", ".s", "1..5s", "٣s", "1e3s", "30m ", "1h" * 40, "9999999h", "inf", "+"]
)
def test_other_texts_are_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["-1s", "-0s", "-30m"])
def test_negative_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="negative"):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_a_formatted_duration_reads_back(microseconds: int) -> None:
    seconds = microseconds / 1_000_000
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "size"),
    [("20MB", 20 * 2**20), ("20 MiB", 20 * 2**20), ("20m", 20 * 2**20), ("1.5K", 1536), ("1GB", 2**30), ("1000", 1000), ("10B", 10)],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1", "1TB", "1 2", "1e3", "1,000", "9" * 5000, "iB", "1iB"])
def test_other_texts_are_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="size"):
        parse_size(text)
