import os
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.identity import document_id_of, path_of
from docmill.domain.errors import DocumentUnknown

BASE = b"/srv/docs"

names = st.one_of(
    st.binary(min_size=1, max_size=12),
    st.text(min_size=1, max_size=12).map(lambda name: name.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from([b"%", b"2", b"5", b"F", b"f", b"0", b"1", b"\x01", b"\xc2", b"\x85", b"\xff"]), min_size=1).map(b"".join),
)
parts = names.map(lambda name: name.replace(b"/", b"_").replace(b"\0", b"_")).filter(lambda name: name not in (b".", b".."))
relative_paths = st.lists(parts, min_size=1, max_size=4).map(b"/".join)


@given(relative_paths)
def test_every_path_has_one_id_and_the_id_gives_exactly_that_path(relative: bytes) -> None:
    path = BASE + b"/" + relative
    document_id = document_id_of(path, BASE)
    assert path_of(document_id, BASE) == path
    document_id.encode()


@given(relative_paths)
def test_outside_the_base_folder_the_id_is_the_absolute_path(relative: bytes) -> None:
    path = b"/elsewhere/" + relative
    document_id = document_id_of(path, BASE)
    assert document_id.startswith("/elsewhere/")
    assert path_of(document_id, BASE) == path


@given(relative_paths, relative_paths)
def test_two_paths_never_share_an_id(one: bytes, other: bytes) -> None:
    assert (one == other) == (document_id_of(BASE + b"/" + one, BASE) == document_id_of(BASE + b"/" + other, BASE))


@given(st.text())
def test_an_id_that_is_accepted_is_the_id_of_the_path_it_gives(text: str) -> None:
    try:
        path = path_of(text, BASE)
    except DocumentUnknown:
        return
    assert document_id_of(path, BASE) == text


@pytest.mark.parametrize(
    ("name", "document_id"),
    [
        (b"guide/intro.md", "guide/intro.md"),
        (b"100%.md", "100%.md"),
        (b"percent%20encoded.md", "percent%20encoded.md"),
        (b"looks%FFescaped.md", "looks%25FFescaped.md"),
        (b"tab\there\n.md", "tab%09here%0A.md"),
        (b"latin1_\xe9\xff.md", "latin1_%E9%FF.md"),
        (b"sur\xed\xa0\x80rogate.md", "sur%ED%A0%80rogate.md"),
        ("next\u0085line".encode(), "next%C2%85line"),
        ("emoji_🦀_名前.md".encode(), "emoji_🦀_名前.md"),
    ],
)
def test_only_what_is_no_text_is_escaped(name: bytes, document_id: str) -> None:
    assert document_id_of(BASE + b"/" + name, BASE) == document_id


def test_differently_composed_names_are_different_documents() -> None:
    composed, decomposed = (unicodedata.normalize(form, "café.md").encode() for form in ("NFC", "NFD"))
    assert document_id_of(BASE + b"/" + composed, BASE) != document_id_of(BASE + b"/" + decomposed, BASE)


def test_a_folder_whose_name_only_begins_like_the_base_folder_is_outside_it() -> None:
    assert document_id_of(b"/srv/docs2/a.md", BASE) == "/srv/docs2/a.md"


def test_everything_is_in_the_root_folder() -> None:
    assert document_id_of(b"/etc/a.md", b"/") == "etc/a.md"
    assert path_of("etc/a.md", b"/") == b"/etc/a.md"


@pytest.mark.parametrize(
    "odd", ["", "/", "..", "a/../../etc/passwd", "a//b", "./a", "a/", "nul%00.md", "%C3%A9", "/srv/docs/a.md", "\udcff"]
)
def test_an_id_that_no_path_has_is_refused(odd: str) -> None:
    with pytest.raises(DocumentUnknown):
        path_of(odd, BASE)


def test_paths_may_be_path_objects(tmp_path: os.PathLike[str]) -> None:
    assert document_id_of(tmp_path / "a.md", tmp_path) == "a.md"  # type: ignore[operator]  # os.PathLike has no "/"
