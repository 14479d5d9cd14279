"""Mail: the subject as heading, who wrote to whom and when, and the text; attachments are named. Messages, mailboxes and web archives.

The text part is read, or the HTML part where there is no other worth reading. What is broken is read as far as it goes.
"""

import re
from collections.abc import Iterator, Sequence
from email.message import Message
from email.parser import Parser
from typing import Final

from docmill.documents.decoding import decode
from docmill.documents.extracted import Extracted
from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.html import read_html
from docmill.documents.formats.mail_headers import decoded_bytes, filename_of, header_text, transfer_decoded
from docmill.documents.formats.shortening import shortened
from docmill.documents.front_matter import metadata_of

_SHOWN: Final = ("From", "To", "Cc", "Date")
_LONGEST_SHOWN: Final = 1000
_KNOWN: Final = re.compile(r"(?:from|to|subject|date|received|return-path|message-id|mime-version|content-type|x-[\w-]+):", re.IGNORECASE)
_KNOWN_LATER: Final = re.compile(r"\n(?:subject|from|date|received|content-type):", re.IGNORECASE)
_LOOKED_AT_CHARACTERS: Final = 20_000
#: A message in a mailbox begins so (RFC 4155).
_SEPARATOR: Final = re.compile(r"^From \S{1,300} .{0,100}\d{4}.{0,20}\n(?=[\w-]{1,80}:)", re.MULTILINE)
_APPLE_LENGTH: Final = re.compile(r"\A\d{1,12}[ \t]*\n")
#: Each line is compared with the boundary of each part that it is in: with more to compare, parts are not taken apart.
_MOST_COMPARISONS: Final = 20_000_000
_BOUNDARY: Final = re.compile(r"\bboundary\s*=", re.IGNORECASE)
_DEEPEST_MESSAGE: Final = 20
#: In place of the level of a message that only says what became of another one, in headers of its own.
_STATUS: Final = 6
_NO_TEXT: Final = frozenset(["text/css", "text/javascript", "text/x-javascript"])
_MOST_ATTACHMENTS: Final = 100
_SHORT_TEXT: Final = 200
_LONGER_PAGE: Final = 5


def read_mail(content: bytes) -> Extracted:
    """The text of a message, or of those of a mailbox one after the other.

    Raises:
        DocumentSkipped: it is no message, and no text either.
    """
    # A character for each byte: what they mean is told part by part.
    text = content.removeprefix(b"\xef\xbb\xbf").decode("latin-1").replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
    start = length.end() if (length := _APPLE_LENGTH.match(text)) is not None else 0
    separators = list(_SEPARATOR.finditer(text)) if text.startswith("From ") else []
    starts = [separator.end() for separator in separators] or [start + len(text[start:]) - len(text[start:].lstrip("\n"))]
    ends = [*(separator.start() for separator in separators[1:]), len(text)]
    if not _KNOWN.match(text, starts[0]) and not _KNOWN_LATER.search(text, starts[0], starts[0] + _LOOKED_AT_CHARACTERS):
        return Extracted(decode(content, known_as_text=True))
    reader = _Reader(text)
    for begin, end in zip(starts, ends, strict=True):
        reader.read(begin, end)
    return reader.extracted()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._draft = Draft()
        self._line, self._counted = 1, 0
        self._about: dict[str, object] = {}
        self._title = ""

    def extracted(self) -> Extracted:
        return self._draft.extracted(self._title, metadata=metadata_of(self._about))

    def read(self, begin: int, end: int) -> None:
        """One more message, which stands there in the text."""
        source = self._text[begin:end]
        message = _parsed(source)
        attachments: list[str] = []
        self._read_message(message, begin, 1)
        for part, level in _parts(message):
            if level:
                self._read_message(part, begin, level)
            elif _is_read(part):
                begin = self._read_text(part, begin)
            elif name := filename_of(part):
                attachments.append(name)
        if attachments:
            self._draft.separate()
            self._draft.add(f"Attachments: {', '.join(attachments[:_MOST_ATTACHMENTS])}", self._line_at(begin))
            self._about.setdefault("attachments", attachments[:_MOST_ATTACHMENTS])

    def _read_message(self, message: Message, begin: int, level: int) -> None:
        headers = {name.lower(): header_text(value) for name, value in reversed(list(message.raw_items()))}
        subject = headers.get("subject", "")
        line = self._line_at(begin)
        self._draft.add_heading(level, subject, line)
        for name in _SHOWN if level < _STATUS else headers:
            value = headers.get(name.lower(), "")
            if value:
                self._draft.add(f"{name}: {value[:_LONGEST_SHOWN]}", line)
                if name in _SHOWN:
                    self._about.setdefault(name.lower(), value[:_LONGEST_SHOWN])
        self._title = self._title or subject
        self._draft.separate()

    def _read_text(self, part: Message, begin: int) -> int:
        """Adds a text part; where its text ends in the mail, or ``begin``."""
        raw = part.get_payload()
        if not isinstance(raw, str) or not raw.strip():
            return begin
        place = self._text.find(raw, begin)
        first = self._line_at(begin if place < 0 else place)
        sources = _sources(raw, part, first)
        text = shortened(_text_of(part))
        self._draft.separate()
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            page = read_html(text)
            self._title = self._title or page.title
            self._draft.add_extracted(page, [_at(sources, source) for source in page.source_lines or ()])
        else:
            for number, line in enumerate(text.rstrip().split("\n")):
                self._draft.add(line, _at(sources, number + 1))
        self._draft.separate()
        return begin if place < 0 else place + len(raw)

    def _line_at(self, place: int) -> int:
        if place > self._counted:
            self._line += self._text.count("\n", self._counted, place)
            self._counted = place
        return self._line


def _parsed(source: str) -> Message:
    if len(_BOUNDARY.findall(source)) * source.count("\n") <= _MOST_COMPARISONS:
        try:
            return Parser().parsestr(source)
        except RecursionError:
            pass
    return Parser().parsestr(source, headersonly=True)


def _parts(message: Message) -> Iterator[tuple[Message, int]]:
    """The parts to read or to name, in order, with 0, and before its parts each message in it, with the level of its heading."""
    waiting: list[tuple[Message, int]] = [(message, 1)]
    while waiting:
        part, level = waiting.pop()
        payload = part.get_payload()
        inner = [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else None
        if inner is None:
            yield part, 0
        elif part.get_content_type() == "message/delivery-status":
            yield from ((one, _STATUS) for one in inner)
        elif part.get_content_maintype() == "message":
            for one in inner[:1] if level < _DEEPEST_MESSAGE else ():
                yield one, min(level + 1, _STATUS - 1)
                waiting.append((one, level + 1))
        elif part.get_content_subtype() == "alternative":
            waiting += [(one, level) for one in reversed(_chosen(inner))]
        else:
            waiting += [(one, level) for one in reversed(inner)]


def _is_read(part: Message) -> bool:
    kind, disposition = part.get_content_type(), part.get_content_disposition()
    return kind.startswith(("text/", "multipart/")) and kind not in _NO_TEXT and disposition != "attachment"


def _chosen(alternatives: Sequence[Message]) -> Sequence[Message]:
    """Of parts that say the same, the one to read: text, unless a page says much more than it."""
    texts = [part for part in alternatives if part.get_content_type() == "text/plain" and _text_of(part).strip()]
    pages = [part for part in alternatives if part.get_content_type() != "text/plain"]
    if not texts or not pages:
        return texts[:1] or pages[-1:] or alternatives[:1]
    length = len(_text_of(texts[0]).strip())
    page = pages[-1]
    if length < _SHORT_TEXT and page.get_content_type() == "text/html" and len(read_html(_text_of(page)).text) > _LONGER_PAGE * length:
        return [page]
    return texts[:1]


def _text_of(part: Message) -> str:
    raw = part.get_payload()
    if not isinstance(raw, str):
        return ""
    charset = part.get_param("charset")
    name = charset[2] if isinstance(charset, tuple) else charset
    content = transfer_decoded(raw.encode("latin-1", "replace"), _encoding_of(part))
    text = decoded_bytes(content, name if isinstance(name, str) else "")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")


def _encoding_of(part: Message) -> str:
    return header_text(part.get("content-transfer-encoding", "")).partition(";")[0].strip().lower()


def _sources(raw: str, part: Message, first: int) -> Sequence[int]:
    """For each line of the decoded text, the line of the file; shorter where the last holds for what follows."""
    encoding = _encoding_of(part)
    if encoding == "base64":
        return [first]
    lines = raw.split("\n")
    if encoding != "quoted-printable":
        return range(first, first + len(lines))
    # A line that ends with ``=`` goes on on the next one (RFC 2045, section 6.7).
    return [first, *(first + number + 1 for number, line in enumerate(lines[:-1]) if not line.rstrip().endswith("="))]


def _at(sources: Sequence[int], line: int) -> int:
    return sources[min(line, len(sources)) - 1]
