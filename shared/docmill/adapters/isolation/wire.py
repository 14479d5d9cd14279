"""What a worker and its child say to each other: JSON, and the bytes of a document.

A frame is two lengths, a JSON object in ASCII, and bytes. Nothing that the child sends is ever executed: it works on content that nobody
vouches for.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any, Final

Message = Mapping[str, Any]

_LENGTHS: Final = struct.Struct(">QQ")

#: The child's exit code when a document needs more memory than it may have, and when a file that is taken apart does.
OUT_OF_MEMORY_EXIT: Final = 86
CONTAINER_OUT_OF_MEMORY_EXIT: Final = 87


def frame(message: Message, body: bytes = b"") -> list[bytes]:
    """A message as it is sent, in pieces: what is large is not copied."""
    text = json.dumps(message).encode("ascii")
    pieces = [_LENGTHS.pack(len(text), len(body)) + text, body]
    return pieces if body else pieces[:1]


class FrameReader:
    """Puts frames together from the pieces in which they come."""

    def __init__(self, most_bytes: int | None = None) -> None:
        """``most_bytes``: a longer message is none."""
        self._data = bytearray()
        self._most_bytes = most_bytes

    def feed(self, data: bytes) -> None:
        """Takes what came."""
        self._data += data

    def take(self) -> tuple[Message, bytes] | None:
        """The next message with its bytes, or None while it is not there whole.

        Raises:
            ValueError: what came is no frame, or a longer one than is taken.
        """
        if len(self._data) < _LENGTHS.size:
            return None
        text_length, body_length = _LENGTHS.unpack_from(self._data)
        body_at = _LENGTHS.size + text_length
        end = body_at + body_length
        if self._most_bytes is not None and end > self._most_bytes:
            raise ValueError(f"a message of {end:,} bytes")
        if len(self._data) < end:
            return None
        message = json.loads(self._data[_LENGTHS.size : body_at])
        with memoryview(self._data) as view:
            body = bytes(view[body_at:end])
        del self._data[:end]
        if not isinstance(message, dict):
            raise ValueError("a message is a JSON object")
        return message, body
