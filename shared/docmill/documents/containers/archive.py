"""ZIP archives that nobody vouches for: what they unpack to is bounded, and what is wrong with them has a name."""

import io
import lzma
import zipfile
import zlib
from typing import IO, Final

from docmill.domain.errors import DocumentSkipped, SkipReason

MOST_ENTRIES: Final = 50_000
#: Of one entry, unpacked.
MOST_PART_BYTES: Final = 256 << 20
#: Of all entries that are read, unpacked.
MOST_BYTES: Final = 512 << 20
#: XML shrinks to a tenth, and rarely to a fiftieth.
MOST_GROWTH: Final = 200
_GROWTH_COUNTS_FROM_BYTES: Final = 16 << 20
_ENTRY: Final = b"PK\x01\x02"
_IS_ENCRYPTED: Final = 1
_DAMAGES: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)


class Archive:
    """The entries of an archive by their names, read on request."""

    def __init__(self, content: bytes) -> None:
        """Reads its directory; raises ``DocumentSkipped`` for one that is damaged or has very many entries."""
        if content.count(_ENTRY) > MOST_ENTRIES:
            raise DocumentSkipped(SkipReason.TOO_LARGE, f"it holds more than {MOST_ENTRIES:,} files")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _DAMAGES as error:
            raise damaged(error) from error
        self._size_bytes = len(content)
        self._entries = {_name_of(info): info for info in self._zip.infolist()}
        self._without_case = {name.lower(): name for name in self._entries}
        self._bytes_left = MOST_BYTES

    def __contains__(self, name: str) -> bool:
        """Whether there is such an entry; capital letters make no difference."""
        return name.lower() in self._without_case

    def open(self, name: str) -> "Part":
        """An entry, to be read piece by piece.

        Raises:
            DocumentSkipped: there is none, it is encrypted, or it would unpack to too much.
        """
        info = self._info(name)
        if info.flag_bits & _IS_ENCRYPTED:
            raise DocumentSkipped(SkipReason.ENCRYPTED, "it is protected by a password")
        self.require_size(name, info.file_size, info)
        try:
            return Part(self, info, self._zip.open(info))
        except _DAMAGES as error:
            raise damaged(error) from error

    def read(self, name: str) -> bytes:
        """The whole of an entry; raises as ``open``."""
        part = self.open(name)
        pieces = []
        while piece := part.read(1 << 20):
            pieces.append(piece)
        return b"".join(pieces)

    def require_bounded(self) -> None:
        """Raises ``DocumentSkipped`` when its entries say that they unpack to too much; for libraries that unpack on their own."""
        for name, info in self._entries.items():
            if not name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".mp4", ".emf", ".wmf", ".bin")):
                self.require_size(name, info.file_size, info)

    def count_unpacked(self, unpacked_bytes: int) -> None:
        """Counts what was read."""
        self._bytes_left -= unpacked_bytes
        if self._bytes_left < 0:
            raise DocumentSkipped(SkipReason.TOO_LARGE, f"it unpacks to more than {MOST_BYTES >> 20} MiB")

    def _info(self, name: str) -> zipfile.ZipInfo:
        known = self._without_case.get(name.lower())
        if known is None:
            raise DocumentSkipped(SkipReason.PARSER_FAILED, f"it is damaged: its part {name[:100]} is missing")
        return self._entries.get(name) or self._entries[known]

    def require_size(self, name: str, unpacked_bytes: int, info: zipfile.ZipInfo) -> None:
        """Raises ``DocumentSkipped`` when so many bytes are too many for an entry."""
        if unpacked_bytes > MOST_PART_BYTES:
            raise DocumentSkipped(SkipReason.TOO_LARGE, f"its part {name[:100]} unpacks to more than {MOST_PART_BYTES >> 20} MiB")
        if unpacked_bytes > _GROWTH_COUNTS_FROM_BYTES:
            growth = unpacked_bytes // max(1, min(info.compress_size, self._size_bytes))
            if growth > MOST_GROWTH:
                raise DocumentSkipped(SkipReason.TOO_LARGE, f"its part {name[:100]} unpacks to more than {MOST_GROWTH} times its size")


class Part:
    """One entry of an archive while it is read."""

    def __init__(self, archive: Archive, info: zipfile.ZipInfo, stream: IO[bytes]) -> None:
        """Use ``Archive.open``."""
        self._archive = archive
        self._info = info
        self._stream = stream
        self._bytes = 0

    def read(self, most_bytes: int) -> bytes:
        """The next bytes; none at the end. Raises ``DocumentSkipped`` for what is damaged or unpacks to too much."""
        try:
            piece = self._stream.read(most_bytes)
        except _DAMAGES as error:
            raise damaged(error) from error
        self._bytes += len(piece)
        self._archive.count_unpacked(len(piece))
        self._archive.require_size(self._info.filename, self._bytes, self._info)
        return piece


def damaged(error: Exception) -> DocumentSkipped:
    """Why an archive that cannot be read is skipped."""
    return DocumentSkipped(SkipReason.PARSER_FAILED, f"it is damaged: {str(error)[:200] or type(error).__name__}")


def _name_of(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/").lstrip("/")
