"""Text in the making: words of running text, and preformatted text, with the lines of the file that they stand on."""

#: A line of the file, from 1, and a text.
Line = tuple[int, str]


class Inline:
    """Collects text in which white space is a space, or a new line where the file has one."""

    def __init__(self) -> None:
        self._paragraphs: list[list[Line]] = []
        self._lines: list[Line] = []
        self._words: list[str] = []
        self._line = 0
        self._space = False
        self._breaks = 0

    def add(self, text: str, line: int) -> None:
        """Text that begins on ``line``."""
        for number, part in enumerate(text.split("\n") if "\n" in text else (text,)):
            if number:
                self._end_line()
            words = part.split()
            if not words:
                self._space = self._space or bool(part)
                continue
            if self._breaks:
                self._break_before_words()
            if not self._words:
                self._line = line + number
            elif self._space or part[0].isspace():
                self._words.append(" ")
            self._words.append(" ".join(words))
            self._space = part[-1].isspace()

    def break_line(self) -> None:
        """A line ends; two in a row end the paragraph."""
        self._breaks += 1

    def take(self) -> list[list[Line]]:
        """The paragraphs so far; a new one begins."""
        if not (self._words or self._lines or self._paragraphs):
            self._space, self._breaks = False, 0
            return []
        self._end_line()
        taken = self._paragraphs
        if self._lines:
            taken.append(self._lines)
        self._paragraphs, self._lines, self._space, self._breaks = [], [], False, 0
        return taken

    def _break_before_words(self) -> None:
        self._end_line()
        if self._breaks > 1 and self._lines:
            self._paragraphs.append(self._lines)
            self._lines = []
        self._breaks = 0

    def _end_line(self) -> None:
        if self._words:
            text = "".join(self._words)
            if "\u00ad" in text or "\u200b" in text:
                # Soft hyphens and places to break a line would part words.
                text = text.replace("\u00ad", "").replace("\u200b", "")
            if text:
                self._lines.append((self._line, text))
            self._words = []
        self._space = False


class Preformatted:
    """Collects text in which white space stays as it is."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, list[str]]] = []

    def add(self, text: str, line: int) -> None:
        """Text that begins on ``line``."""
        parts = text.split("\n")
        if self._lines:
            self._lines[-1][1].append(parts[0])
        else:
            self._lines.append((line, [parts[0]]))
        self._lines.extend((line + number, [part]) for number, part in enumerate(parts) if number)

    def break_line(self, line: int | None, *, forced: bool) -> None:
        """A new line begins, unless nothing is on the last one and it is not ``forced``; None for the same line of the file."""
        if self._lines and (forced or any(self._lines[-1][1])):
            self._lines.append((self._lines[-1][0] if line is None else line, []))

    def taken(self) -> list[Line]:
        """The lines, without blank ones at the beginning and at the end."""
        lines = [(line, "".join(parts)) for line, parts in self._lines]
        visible = [number for number, (_, text) in enumerate(lines) if text.strip()]
        return lines[visible[0] : visible[-1] + 1] if visible else []
