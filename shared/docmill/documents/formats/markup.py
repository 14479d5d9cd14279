"""Markup: the tags and texts of HTML and XML, with their places; takes linear time on any input and never fails.

Libraries that build trees do not say where a text stands, and ``html.parser`` takes quadratic time on tags that never end. Tokens are those
of the HTML Standard, section 13.2.5, except that what never ends costs as little text as possible.
"""

import html
import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

NO_ATTRIBUTES: Final[Mapping[str, str]] = {}

_PLAIN_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)>")
_NAME: Final = re.compile(r"[^\s/>]+")
_SPACES: Final = re.compile(r"[\s/]*")
_ATTRIBUTE: Final = re.compile(r"([^\s/>][^\s/>=]*)(\s*=\s*)?")
_UNQUOTED: Final = re.compile(r"[^\s>]*")
_SUBSET_END: Final = re.compile(r"\]\s*>")
_LONG_REFERENCE: Final = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")
#: Elements whose content is text, up to their end tag; in the first, nothing but the end tag ends it.
_RAW: Final = frozenset(["script", "style", "xmp", "iframe", "noembed"])
_TEXT_ONLY: Final = frozenset(["title", "textarea"])
_ENDS: Final = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW | _TEXT_ONLY}


class Mark(Enum):
    """What a token is."""

    TEXT = auto()
    START = auto()
    END = auto()
    COMMENT = auto()


class Token(NamedTuple):
    """A piece of markup.

    Attributes:
        text: of a text, with its character references replaced; of a tag, its name.
        start: where it begins in the markup.
        closed: whether a start tag ends with ``/>``.
    """

    mark: Mark
    text: str
    start: int
    attributes: Mapping[str, str] = NO_ATTRIBUTES
    closed: bool = False


def tokens(markup: str, *, xml: bool = False) -> Iterator[Token]:
    """The tokens in order; declarations, instructions and, in HTML, comments are left out.

    Args:
        xml: names keep their case, every element ends by a tag of its own, and comments are tokens.
    """
    return _Tokenizer(markup, xml=xml).tokens()


def unescaped(text: str) -> str:
    """The text with its character references replaced."""
    if "&" not in text:
        return text
    if "&#" in text:
        text = _LONG_REFERENCE.sub("\ufffd", text)
    return html.unescape(text)


class _Tokenizer:
    def __init__(self, markup: str, *, xml: bool) -> None:
        self._markup = markup
        self._xml = xml
        # Where the last of each stands, so that nothing is looked for again and again in vain.
        self._last = {ending: markup.rfind(ending) for ending in ('"', "'", ">", "-->", "]]>", "?>")}
        self._unended: set[str] = set()

    def tokens(self) -> Iterator[Token]:
        markup = self._markup
        place = 0
        while place < len(markup):
            tag = markup.find("<", place)
            if tag < 0:
                tag = len(markup)
            if tag > place:
                yield Token(Mark.TEXT, unescaped(markup[place:tag]), place)
                if tag == len(markup):
                    return
            plain = _PLAIN_TAG.match(markup, tag)
            if plain is not None:
                place = plain.end()
                name = plain[2] if self._xml else plain[2].lower()
                token = Token(Mark.END if plain[1] else Mark.START, name, tag)
            else:
                found, place = self._other(tag)
                if found is None:
                    continue
                token = found
            yield token
            if token.mark is Mark.START and not self._xml and token.text in _ENDS and not token.closed:
                content, place = self._content(token.text, place)
                if content is not None:
                    yield content
                if token.text in self._unended:
                    yield Token(Mark.END, token.text, place)

    def _other(self, tag: int) -> tuple[Token | None, int]:
        """The token at a ``<``, None where it is to be left out, and where the next one begins."""
        markup = self._markup
        following = markup[tag + 1 : tag + 2]
        if tag > self._last[">"]:
            return Token(Mark.TEXT, "<", tag), tag + 1
        if following.isalpha() or (self._xml and following in "_:"):
            return self._start_tag(tag)
        if following == "/":
            name = _NAME.match(markup, tag + 2)
            after = markup.find(">", tag + 2) + 1
            if name is None or not (markup[tag + 2].isalpha() or self._xml):
                return None, after
            return Token(Mark.END, name[0] if self._xml else name[0].lower(), tag), after
        if following == "!":
            return self._declaration(tag)
        if following == "?":
            return None, self._after("?>", tag + 2)
        return Token(Mark.TEXT, "<", tag), tag + 1

    def _start_tag(self, tag: int) -> tuple[Token, int]:
        markup = self._markup
        match = _NAME.match(markup, tag + 1)
        assert match is not None
        name = match[0] if self._xml else match[0].lower()
        attributes: dict[str, str] = {}
        place = match.end()
        while True:
            spaces = _SPACES.match(markup, place)
            place = place if spaces is None else spaces.end()
            attribute = _ATTRIBUTE.match(markup, place)
            if attribute is None:
                closed = markup[place - 1] == "/"
                return Token(Mark.START, name, tag, attributes, closed), place + 1
            place = attribute.end()
            value = ""
            if attribute[2]:
                value, place = self._value(place)
            attributes.setdefault(attribute[1] if self._xml else attribute[1].lower(), value)

    def _value(self, place: int) -> tuple[str, int]:
        quote = self._markup[place : place + 1]
        if quote in ('"', "'") and place < self._last[quote]:
            end = self._markup.find(quote, place + 1)
            return unescaped(self._markup[place + 1 : end]), end + 1
        match = _UNQUOTED.match(self._markup, place)
        return ("", place) if match is None else (unescaped(match[0]), match.end())

    def _declaration(self, tag: int) -> tuple[Token | None, int]:
        markup = self._markup
        if markup.startswith("<!--", tag):
            empty = next((form for form in ("<!-->", "<!--->") if markup.startswith(form, tag)), None)
            if empty is not None:
                return None, tag + len(empty)
            after = self._after("-->", tag + 4)
            return (Token(Mark.COMMENT, markup[tag + 4 : after].removesuffix("-->"), tag) if self._xml else None), after
        if markup.startswith("<![CDATA[", tag) and tag < self._last["]]>"]:
            end = markup.find("]]>", tag)
            return Token(Mark.TEXT, markup[tag + 9 : end], tag), end + 3
        end = markup.find(">", tag)
        if markup[tag : tag + 9].upper() == "<!DOCTYPE" and "[" in markup[tag:end] and "subset" not in self._unended:
            subset = _SUBSET_END.search(markup, tag)
            if subset is not None:
                return None, subset.end()
            self._unended.add("subset")
        return None, end + 1

    def _after(self, ending: str, place: int) -> int:
        """After the next ``ending``; after the next ``>`` where there is none."""
        if place <= self._last[ending]:
            return self._markup.find(ending, place) + len(ending)
        return self._markup.find(">", place) + 1 or len(self._markup)

    def _content(self, name: str, start: int) -> tuple[Token | None, int]:
        """The text in an element that holds nothing else, and where it ends."""
        ended = None if name in self._unended else _ENDS[name].search(self._markup, start)
        if ended is not None:
            end = ended.start()
        else:
            self._unended.add(name)
            end = len(self._markup) if name in _RAW else self._markup.find("<", start)
            end = len(self._markup) if end < 0 else end
        text = self._markup[start:end]
        return (Token(Mark.TEXT, text if name in _RAW else unescaped(text), start) if text else None), end
