"""Document ids: paths as text, and back.

The id is the path relative to the base folder, with ``/``; outside the base folder it is the absolute path. A byte that is not part of
valid UTF-8 and a control character (Unicode category Cc) is written ``%XX``, two upper-case hexadecimal digits for each byte. A ``%`` of
the path is written ``%25`` only where it would otherwise read as such an escape, so ``100%.md`` and ``a%20b.md`` stay as they are. Nothing
is normalised: NFC and NFD twins have two ids. Every path has one id, and ``path_of`` gives exactly that path again.
"""

import os
import re
from functools import lru_cache
from typing import Final

from docmill.domain.errors import DocumentUnknown

#: What an escape may stand for: a C0 control, DEL, a byte above ASCII, or ``%`` itself.
_ESCAPE: Final = r"%(?:[01][0-9A-F]|7F|[89A-F][0-9A-F]|25)"
_TO_ESCAPE: Final = re.compile(rf"[\x00-\x1f\x7f-\x9f\udc80-\udcff]|{_ESCAPE}")
_ESCAPED: Final = re.compile(_ESCAPE.encode())
_ODD_SEGMENT: Final = re.compile(r"(?:^|/)\.{0,2}(?:/|$)")


def document_id_of(path: bytes | os.PathLike[str] | os.PathLike[bytes], base_folder: bytes | os.PathLike[str] | os.PathLike[bytes]) -> str:
    """The id of the document at ``path``; both paths are absolute and without ``.`` and ``..``."""
    raw = os.fsencode(path)
    prefix = folder_prefix_of(os.fsencode(base_folder))
    return escaped(raw[len(prefix) :] if raw.startswith(prefix) else raw)


@lru_cache(maxsize=4096)
def path_of(document_id: str, base_folder: bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """The absolute path of a document.

    Raises:
        DocumentUnknown: no path has this id, as with ``a/../b``, an empty part, a NUL, or an escape where none is needed.
    """
    if _ODD_SEGMENT.search(document_id.removeprefix("/")):
        raise DocumentUnknown(f"{document_id!r} is not the id of a document: a part of it is empty, '.' or '..'")
    try:
        raw = _ESCAPED.sub(lambda match: bytes([int(match[0][1:], 16)]), document_id.encode())
    except UnicodeEncodeError as error:
        raise DocumentUnknown(f"{document_id!a} is not the id of a document: it is not valid Unicode") from error
    path = raw if raw.startswith(b"/") else folder_prefix_of(os.fsencode(base_folder)) + raw
    if b"\0" in path:
        raise DocumentUnknown(f"{document_id!r} is not the id of a document: it holds a NUL")
    if document_id_of(path, base_folder) != document_id:
        raise DocumentUnknown(f"{document_id!r} is not the id of a document: it would be {document_id_of(path, base_folder)!r}")
    return path


def escaped(path: bytes) -> str:
    """A path, or a part of one that ends at a ``/``, as it stands in an id."""
    text = path.decode("utf-8", "surrogateescape")
    return _TO_ESCAPE.sub(_escape, text) if _TO_ESCAPE.search(text) else text


def folder_prefix_of(folder: bytes) -> bytes:
    """What the paths of everything in ``folder`` begin with."""
    return folder if folder.endswith(b"/") else folder + b"/"


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 3:
        return "%25" + found[1:]
    return "".join(f"%{byte:02X}" for byte in found.encode("utf-8", "surrogateescape"))
