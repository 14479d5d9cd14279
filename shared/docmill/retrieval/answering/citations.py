"""Citations: the markers in an answer that is being written, resolved as they come; pure."""

import re
from typing import Final

#: A line's end ends what may become a marker.
_SPACES: Final = r"[^\S\n]*"
_NUMBERS: Final = rf"\^?\d{{1,4}}(?:{_SPACES}[-–]{_SPACES}\d{{1,4}})?"
#: ``[1]``, ``[1, 3]``, ``[1-3]``, ``[^2]``, and the same in the brackets that some models prefer, with the spaces before it.
_MARKER: Final = re.compile(
    rf"( *)([\[【]{_SPACES}(?:passages?{_SPACES})?({_NUMBERS}(?:{_SPACES}[,;]{_SPACES}{_NUMBERS})*){_SPACES}[\]】])", re.IGNORECASE
)
_OPENING: Final = re.compile(r" *[\[【]|`")
_RANGE: Final = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
#: The longest text that may still become a marker, or end a run of code.
_LONGEST: Final = 64
_TICKS: Final = re.compile(r"`+")


class Citations:
    """Reads an answer piece by piece and gives it back with its markers put in order.

    A marker that names only passages that there are not is left out; ``[1, 7]`` of three passages becomes ``[1]``. What stands in code,
    between backticks, is never a marker, nor is the text of a link, ``[1](…)``.

    Attributes:
        used: the numbers that were cited, in the order of their first use.
        dropped: how many numbers were cited that no passage has.
    """

    def __init__(self, offered: int) -> None:
        """``offered`` passages have the numbers from 1 on."""
        self._offered = offered
        self._held = ""
        self._ticks = ""
        self.used: list[int] = []
        self.dropped = 0

    def feed(self, piece: str) -> str:
        """The part of the answer that is certain now."""
        self._held += piece
        return self._take(at_end=False)

    def finish(self) -> str:
        """What was still held back."""
        return self._take(at_end=True)

    def _take(self, *, at_end: bool) -> str:
        done: list[str] = []
        while self._held:
            if self._ticks:
                closed = self._end_of_code(at_end=at_end)
                if not closed:
                    break
                done.append(closed)
                continue
            opening = _OPENING.search(self._held)
            if opening is None:  # spaces at the end may be those before a marker that is left out
                done.append(self._cut(len(self._held) if at_end else len(self._held.rstrip(" "))))
                break
            done.append(self._cut(opening.start()))
            taken = self._code(at_end=at_end) if self._held[0] == "`" else self._marker(at_end=at_end)
            if taken is None:
                break
            done.append(taken)
        return "".join(done)

    def _code(self, *, at_end: bool) -> str | None:
        """The backticks that begin code; None while more of them may come."""
        ticks = _TICKS.match(self._held)
        assert ticks is not None
        if ticks.end() == len(self._held) and not at_end:
            return None
        self._ticks = ticks[0]
        return self._cut(ticks.end())

    def _end_of_code(self, *, at_end: bool) -> str:
        """Code up to its end, or as much of it as is certain."""
        for ticks in _TICKS.finditer(self._held):
            if ticks.end() == len(self._held) and not at_end:
                return self._cut(ticks.start())
            if ticks[0] == self._ticks:
                self._ticks = ""
                return self._cut(ticks.end())
        return self._cut(len(self._held))

    def _marker(self, *, at_end: bool) -> str | None:
        """What a bracket begins, as it is to be shown; None while that is open."""
        marker = _MARKER.match(self._held)
        if marker is None or len(marker[2]) > _LONGEST:
            from_bracket = self._held.lstrip(" ")
            is_open = not at_end and len(from_bracket) < _LONGEST and not re.search(r"[\]】\n]", from_bracket)
            return None if is_open else self._cut(len(self._held) - len(from_bracket) + 1)
        if marker.end() == len(self._held) and not at_end:
            return None  # a link may follow
        if self._held.startswith("(", marker.end()):
            return self._cut(marker.end())
        self._cut(marker.end())
        numbers = [number for part in _RANGE.finditer(marker[3]) for number in _numbers(part)]
        known = [number for number in dict.fromkeys(numbers) if 1 <= number <= self._offered]
        self.dropped += len(set(numbers)) - len(known)
        self.used += [number for number in known if number not in self.used]
        return marker[1] + "".join(f"[{number}]" for number in known) if known else ""

    def _cut(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken


def _numbers(part: re.Match[str]) -> range:
    """The numbers of ``3`` or ``3-5``; a range the wrong way round, or one of very many, is its two ends' first."""
    first, last = int(part[1]), int(part[2] or part[1])
    return range(first, last + 1) if first <= last <= first + 50 else range(first, first + 1)
