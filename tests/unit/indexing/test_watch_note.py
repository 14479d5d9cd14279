import pytest

from docmill.indexing.watch_note import is_watched, polled, trouble_of, watched


@pytest.mark.parametrize(
    ("noted", "is_on", "trouble"),
    [
        (watched(), True, None),
        (watched("nfs4: others change files unseen"), True, "nfs4: others change files unseen"),
        (polled("OS file watch limit reached. about [x]"), False, "OS file watch limit reached. about [x]"),
        (None, False, None),
    ],
)
def test_the_note_says_whether_changes_are_reported_and_what_is_wrong(noted: str | None, is_on: bool, trouble: str | None) -> None:
    assert (is_watched(noted), trouble_of(noted)) == (is_on, trouble)
