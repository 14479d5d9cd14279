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

#: The child's exit code when a document needs more memory than it may have.
OUT_OF_MEMORY_EXIT: Final = 86


def frame(message: Message, body: bytes = b"") -> bytes:
    """A message as it is sent."""
    text = json.dumps(message).encode("ascii")
    return b"".join((_LENGTHS.pack(len(text), len(body)), text, body))


class FrameReader:
    """Puts frames together from the pieces in which they come."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Takes what came."""
        self._data += data

    def take(self) -> tuple[Message, bytes] | None:
        """The next message with its bytes, or None while it is not there whole.

        Raises:
            ValueError: what came is no frame.
        """
        if len(self._data) < _LENGTHS.size:
            return None
        text_length, body_length = _LENGTHS.unpack_from(self._data)
        body_at = _LENGTHS.size + text_length
        end = body_at + body_length
        if len(self._data) < end:
            return None
        message = json.loads(self._data[_LENGTHS.size : body_at])
        body = bytes(self._data[body_at:end])
        del self._data[:end]
        if not isinstance(message, dict):
            raise ValueError("a message is a JSON object")
        return message, body
