"""Server-sent events out of the bytes that carry them.

The format: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation.
"""

import re
from typing import Final

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventDecoder:
    """Puts events together; an event whose end has not come yet is kept, and one whose end never comes is dropped."""

    def __init__(self, *, max_event_bytes: int) -> None:
        """An event may have at most ``max_event_bytes``."""
        self._max_event_bytes = max_event_bytes
        self._rest = b""
        self._data: list[str] = []
        self._data_bytes = 0
        self._at_start = True

    def events_in(self, piece: bytes) -> list[str]:
        """The ``data`` of every event that ``piece`` ends; events without data are left out.

        Raises:
            ValueError: an event is too long.
        """
        rest = self._rest + piece
        if self._at_start and len(rest) >= len(_BYTE_ORDER_MARK):
            rest = rest.removeprefix(_BYTE_ORDER_MARK)
            self._at_start = False
        # A carriage return at the end may be the first half of a line's end.
        held = b"\r" if rest.endswith(b"\r") else b""
        *lines, last = _LINE_END.split(rest[: len(rest) - len(held)])
        self._rest = last + held
        events = [event for line in lines if (event := self._event_ended_by(line)) is not None]
        self._require_room_for(len(self._rest))
        return events

    def _event_ended_by(self, line: bytes) -> str | None:
        if line:
            field, _, value = line.partition(b":")
            if field == b"data":
                self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
                self._data_bytes += len(value)
                self._require_room_for(0)
            return None
        data, self._data, self._data_bytes = self._data, [], 0
        return "\n".join(data) if data else None

    def _require_room_for(self, more_bytes: int) -> None:
        if self._data_bytes + more_bytes > self._max_event_bytes:
            raise ValueError(f"an event has more than {self._max_event_bytes} bytes")
