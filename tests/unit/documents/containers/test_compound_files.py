"""Compound files: what they are is said by name."""

import pytest

from docmill.documents.containers.compound_files import read_compound
from docmill.documents.loading import is_container, load
from docmill.domain.errors import DocumentSkipped, SkipReason

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def compound(part: str) -> bytes:
    """The head of a compound file, and a name in its directory."""
    return OLE + b"\0" * 504 + part.encode("utf-16-le") + b"\0" * 64


@pytest.mark.parametrize(
    ("part", "reason", "says"),
    [
        ("EncryptedPackage", SkipReason.ENCRYPTED, "password"),
        ("WordDocument", SkipReason.BINARY, ".docx"),
        ("PowerPoint Document", SkipReason.BINARY, ".pptx"),
        ("__substg1.0_0037001F", SkipReason.BINARY, "Outlook"),
        ("Anything", SkipReason.BINARY, "unknown kind"),
        ("Workbook", SkipReason.PARSER_FAILED, "could not be taken apart"),
    ],
)
def test_the_kind_is_named(part: str, reason: SkipReason, says: str) -> None:
    with pytest.raises(DocumentSkipped, match=says) as skipped:
        read_compound(compound(part))
    assert skipped.value.reason is reason


def test_a_protected_office_file_is_encrypted_whatever_its_name_says() -> None:
    content = compound("EncryptedPackage")
    for name in ("a.docx", "b.xlsx", "c.doc"):
        assert is_container(name, content)
        with pytest.raises(DocumentSkipped) as skipped:
            load(name, content)
        assert skipped.value.reason is SkipReason.ENCRYPTED
