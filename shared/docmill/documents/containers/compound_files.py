"""Compound files (OLE): the Office formats of before 2007, Office files with a password, and mail of Outlook, told apart by their parts."""

from typing import Final

from docmill.documents.containers.guarding import guarded
from docmill.documents.containers.sheets import read_workbook
from docmill.documents.extracted import Extracted
from docmill.domain.errors import DocumentSkipped, SkipReason

#: Names of parts stand in the directory as UTF-16; the first that is found decides.
_KINDS: Final = (
    ("WordDocument", "a Word document of before 2007 (.doc); saved as .docx it is read"),
    ("PowerPoint Document", "a presentation of before 2007 (.ppt); saved as .pptx it is read"),
    ("__substg1.0_", "a message of Outlook (.msg); saved as .eml it is read"),
    ("VisioDocument", "a Visio drawing (.vsd)"),
    ("Quill", "a Publisher file (.pub)"),
)
_PROTECTED: Final = ("EncryptedPackage", "DRMEncryptedDataSpace")
_WORKBOOKS: Final = ("Workbook", "Book")


@guarded
def read_compound(content: bytes) -> Extracted:
    """The sheets of an old workbook (.xls).

    Raises:
        DocumentSkipped: it is another file, which is named; or as ``read_workbook`` raises.
    """
    if any(_has(content, name) for name in _PROTECTED):
        raise DocumentSkipped(SkipReason.ENCRYPTED, "it is protected by a password")
    for name, kind in _KINDS:
        if _has(content, name):
            raise DocumentSkipped(SkipReason.BINARY, f"it is {kind}")
    if any(_has(content, name) for name in _WORKBOOKS):
        return read_workbook(content)
    raise DocumentSkipped(SkipReason.BINARY, "it is a compound file (OLE) of an unknown kind")


def _has(content: bytes, name: str) -> bool:
    return name.encode("utf-16-le") in content
