"""What a reader of containers may raise: whatever goes wrong in one is said of the document."""

from collections.abc import Callable
from functools import wraps

from docmill.documents.extracted import Extracted
from docmill.domain.errors import DocumentSkipped, SkipReason

BytesReader = Callable[[bytes], Extracted]


def guarded(read: BytesReader) -> BytesReader:
    """``read``, whose failures are those of the document: libraries raise anything over a damaged file."""

    @wraps(read)
    def guarded_read(content: bytes) -> Extracted:
        try:
            return read(content)
        except (DocumentSkipped, MemoryError):
            raise
        except Exception as error:
            raise DocumentSkipped(
                SkipReason.PARSER_FAILED, f"it could not be taken apart: {type(error).__name__}: {error}"[:300]
            ) from error

    return guarded_read


def not_installed(what: str, package: str) -> DocumentSkipped:
    """Why a document is skipped whose reader is optional."""
    return DocumentSkipped(
        SkipReason.NOT_INSTALLED,
        f"{what} are read by {package}, which is not installed: pip install 'docmill[formats]'; the next run reads them",
    )
