"""The flow of an HTML page: its elements and texts in order, with end tags where they may be left out, and what kind of place each is in.

Which elements end which is told by the HTML Standard, section 13.2.6, as far as it matters for the text.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from docmill.documents.formats.boilerplate import is_boilerplate
from docmill.documents.formats.markup import NO_ATTRIBUTES, Mark, tokens


class Place:
    """What is known of a place in a page; what is in an element has all that the element has."""

    NEVER: Final = 1
    """Scripts, styles and the like: no text."""
    HIDDEN: Final = 2
    """Not shown to a reader."""
    CHROME: Final = 4
    """Of the site rather than of the page: navigation, footers."""
    GUESSED: Final = 8
    """So too, but only by names of classes."""
    MAIN: Final = 16
    """In what the page calls its main part."""
    ARTICLE: Final = 32
    """In an article."""
    HEADER: Final = 64
    """In a header that is not one of an article or a section."""
    TITLE: Final = 128
    """In a heading of the first level."""


class Piece(NamedTuple):
    """A tag or a text.

    Attributes:
        text: of a text, itself; of a tag, its name.
        line: of the file, from 1, where it begins.
        place: of a text, where it stands; of a tag, what holds in its element.
    """

    mark: Mark
    text: str
    line: int
    place: int
    attributes: Mapping[str, str] = NO_ATTRIBUTES


HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_VOID_WORDS: Final = """
    area base basefont bgsound br col command embed frame hr img input keygen link meta param source track wbr
"""
VOID: Final = frozenset(_VOID_WORDS.split())
_BLOCKS_WORDS: Final = """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form
    frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav noframes ol optgroup option p pre search section
    summary table tbody td tfoot th thead title tr ul
"""
BLOCKS: Final = frozenset(_BLOCKS_WORDS.split())
_FOREIGN: Final = frozenset(["svg", "math"])
_NEVER_WORDS: Final = """
    script style title select datalist rp rt noembed iframe colgroup
"""
_NEVER: Final = frozenset(_NEVER_WORDS.split())
_HIDDEN_WORDS: Final = """
    noscript template textarea canvas audio video object svg annotation annotation-xml noframes
"""
_HIDDEN: Final = frozenset(_HIDDEN_WORDS.split())
_CHROME: Final = frozenset(["nav", "search"])
_OUTSIDE_CHROME: Final = frozenset(["aside", "footer"])
_CHROME_ROLES_WORDS: Final = """
    navigation contentinfo search menu menubar toolbar alertdialog tooltip
"""
_CHROME_ROLES: Final = frozenset(_CHROME_ROLES_WORDS.split())
_OUTSIDE_ROLES: Final = frozenset(["banner", "complementary"])
_UNSEEN: Final = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)", re.IGNORECASE)
_IN_LINE: Final = re.compile(r"(?:^|;)\s*display\s*:\s*inline\s*(?:;|$)", re.IGNORECASE)

#: A tag of the first ends an open element of the second, unless one of the third has begun since.
_ENDED_BY_START: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "li": (("li",), ("ul", "ol", "menu", "dir")),
    "dt": (("dt", "dd"), ("dl",)),
    "dd": (("dt", "dd"), ("dl",)),
    "tr": (("tr", "caption"), ("table",)),
    "td": (("td", "th"), ("tr", "table")),
    "th": (("td", "th"), ("tr", "table")),
    "thead": (("thead", "tbody", "tfoot", "caption"), ("table",)),
    "tbody": (("thead", "tbody", "tfoot", "caption"), ("table",)),
    "tfoot": (("thead", "tbody", "tfoot", "caption"), ("table",)),
    "option": (("option",), ("select", "datalist")),
    "rt": (("rt", "rp"), ("ruby",)),
    "rp": (("rt", "rp"), ("ruby",)),
    **dict.fromkeys(HEADINGS, (tuple(HEADINGS), ("section", "article", "div", "li"))),
}
_CELLS: Final = ("td", "th", "caption")
#: What ends elements around a cell; other end tags end only what began in it.
_PARTS_OF_TABLES: Final = frozenset(["table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"])


def flow(page: str) -> Iterator[Piece]:
    """The pieces of ``page``: every start tag that is not void has its end tag, and they nest."""
    return _Flow(page).pieces()


class _Flow:
    """Follows the open elements.

    Attributes:
        _open: their names, outermost first.
        _shown: as what they are shown, where that is something else.
        _places: what holds in each.
        _at: by name, which of them have it.
    """

    def __init__(self, page: str) -> None:
        self._page = page
        self._xhtml = page.lstrip()[:5] == "<?xml"
        self._open: list[str] = []
        self._shown: list[str] = []
        self._places: list[int] = [0]
        self._at: dict[str, list[int]] = {}

    def pieces(self) -> Iterator[Piece]:
        page, line, counted = self._page, 1, 0
        for token in tokens(page):
            line += page.count("\n", counted, token.start)
            counted = token.start
            name = token.text
            if token.mark is Mark.TEXT:
                yield Piece(Mark.TEXT, name, line, self._places[-1])
            elif token.mark is Mark.START:
                yield from self._start(name, line, token.attributes, closed=token.closed)
            elif name == "br":
                yield Piece(Mark.START, "br", line, self._places[-1])
            else:
                yield from self._end(name, line)
        yield from self._pop_to(0, line)

    def _start(self, name: str, line: int, attributes: Mapping[str, str], *, closed: bool) -> Iterator[Piece]:
        foreign = self._last(*_FOREIGN) >= 0
        if not foreign:
            yield from self._end_before(name, line)
        place = self._places[-1] | self._place_of(name, attributes)
        shown = _shown(name, attributes) if attributes is not NO_ATTRIBUTES else name
        yield Piece(Mark.START, shown, line, place, attributes)
        if name in VOID:
            return
        if closed and (foreign or self._xhtml or name in _FOREIGN):
            yield Piece(Mark.END, shown, line, place)
            return
        self._at.setdefault(name, []).append(len(self._open))
        self._open.append(name)
        self._shown.append(shown)
        self._places.append(place)

    def _end_before(self, name: str, line: int) -> Iterator[Piece]:
        """Ends what the start of ``name`` ends."""
        if name in BLOCKS:
            paragraph = self._last("p")
            if paragraph > self._last("button", "object", *_CELLS):
                yield from self._pop_to(paragraph, line)
        rule = _ENDED_BY_START.get(name)
        if rule is not None:
            ended, unless = rule
            floor = self._last(*unless) if name in _PARTS_OF_TABLES else self._last(*unless, *_CELLS)
            for one in ended:
                place = self._last(one)
                if place > floor:
                    yield from self._pop_to(place, line)

    def _end(self, name: str, line: int) -> Iterator[Piece]:
        if name in ("body", "html"):
            return
        place = max(map(self._last, HEADINGS)) if name in HEADINGS else self._last(name)
        if name in _PARTS_OF_TABLES:
            floor = -1 if name == "table" else self._last("table")
        else:
            floor = self._last("ul", "ol", "menu", *_CELLS) if name == "li" else self._last(*_CELLS)
        if place > floor:
            yield from self._pop_to(place, line)

    def _pop_to(self, place: int, line: int) -> Iterator[Piece]:
        while len(self._open) > place:
            name = self._open.pop()
            self._at[name].pop()
            yield Piece(Mark.END, self._shown.pop(), line, self._places.pop())

    def _last(self, *names: str) -> int:
        """The innermost open element of one of these names; -1 where there is none."""
        last = -1
        for name in names:
            at = self._at.get(name)
            if at and at[-1] > last:
                last = at[-1]
        return last

    def _place_of(self, name: str, attributes: Mapping[str, str]) -> int:
        """What the element adds to what holds around it."""
        outside = not self._places[-1] & (Place.MAIN | Place.ARTICLE)
        place = 0
        if name in _NEVER:
            place = Place.NEVER
        elif name in _HIDDEN:
            place = Place.HIDDEN
        elif name in _CHROME or (name in _OUTSIDE_CHROME and outside and self._last("blockquote", "figure") < 0):
            place = Place.CHROME
        elif name == "header" and outside and self._last("section") < 0:
            place = Place.HEADER
        elif name == "h1":
            place = Place.TITLE
        elif name == "main":
            place = Place.MAIN
        elif name == "article":
            place = Place.ARTICLE
        elif name == "button" and self._last("summary", *HEADINGS) < 0:
            place = Place.CHROME
        elif name == "dialog" and "open" not in attributes:
            place = Place.HIDDEN
        if attributes is not NO_ATTRIBUTES:
            place |= _told_by(name, attributes, outside=outside)
        return place


def _shown(name: str, attributes: Mapping[str, str]) -> str:
    """The element that it is to a reader: a division may be a heading, or part of a line."""
    if name in ("div", "p", "span"):
        if attributes.get("role") == "heading":
            level = attributes.get("aria-level", "2")
            return f"h{level}" if level in ("1", "2", "3", "4", "5", "6") else "h6"
        if name != "span" and _IN_LINE.search(attributes.get("style", "")):
            return "span"
    return name


def _told_by(name: str, attributes: Mapping[str, str], *, outside: bool) -> int:
    place = 0
    role = attributes.get("role", "")
    if role:
        if role == "main":
            place |= Place.MAIN
        elif role in _CHROME_ROLES or (role in _OUTSIDE_ROLES and outside):
            place |= Place.CHROME
    if role != "tabpanel":  # the tabs that are not shown at first are as good as the one that is
        style = attributes.get("style")
        if ("hidden" in attributes and attributes["hidden"] != "until-found") or (style and _UNSEEN.search(style)):
            place |= Place.HIDDEN
    # All of a page is hidden from screen readers while a dialog is shown, so that this is but a sign.
    guessed = attributes.get("aria-hidden") == "true"
    if not guessed and name not in ("html", "body", "main"):
        guessed = is_boilerplate(attributes.get("class", ""), attributes.get("id", ""))
    return place | (Place.GUESSED if guessed else 0)
