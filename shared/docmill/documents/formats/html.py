"""HTML: the text of a page without scripts, hidden parts and the site around it; headings, code, tables and lists as Markdown has them.

A page whose text is in none of the usual places is never empty: the narrowest selection that leaves enough of the text is taken.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.html_blocks import BlockBuilder
from docmill.documents.formats.html_flow import HEADINGS, Piece, Place, flow
from docmill.documents.formats.html_writing import write
from docmill.documents.formats.markup import Mark
from docmill.documents.natural_language import language_code
from docmill.domain.documents import MetadataValue

_LARGE: Final = 1_000_000
_SHOWN: Final = Place.NEVER | Place.HIDDEN
_LEAST_SHARE_OF_MAIN: Final = 0.2
_LEAST_SHARE_OF_ARTICLE: Final = 0.5
_LEAST_SHARE_WITHOUT_GUESSED: Final = 0.3
_ENOUGH_CHARACTERS: Final = 200
_LEAST_SHARE_WITHOUT_CHROME: Final = 0.1
_MUCH_HIDDEN: Final = 2000
_LEAST_SHARE_SHOWN: Final = 0.02
_LONGEST_VALUE: Final = 1000
#: When a page was written, in data for search engines.
_DATES_IN_DATA: Final = re.compile(r'"(datePublished|dateModified)"\s*:\s*"([^"]{4,40})"')
_LONGEST_DATA: Final = 100_000
#: What ``meta`` elements call what metadata calls otherwise.
_METADATA: Final = {
    "author": "author",
    "article:author": "author",
    "dc.creator": "author",
    "dcterms.creator": "author",
    "citation_author": "author",
    "description": "description",
    "og:description": "description",
    "dc.description": "description",
    "keywords": "keywords",
    "news_keywords": "keywords",
    "date": "date",
    "dc.date": "date",
    "dcterms.date": "date",
    "dcterms.created": "date",
    "dc.date.issued": "date",
    "article:published_time": "date",
    "datepublished": "date",
    "pubdate": "date",
    "publish-date": "date",
    "citation_publication_date": "date",
    "last-modified": "modified",
    "article:modified_time": "modified",
    "og:updated_time": "modified",
    "datemodified": "modified",
    "dcterms.modified": "modified",
    "revised": "modified",
}


def read_html(page: str) -> Extracted:
    """The text of a page; of what is no HTML at all, its text as running text."""
    # A large page is rather parsed twice than held in pieces.
    held = list(flow(page)) if len(page) <= _LARGE else None
    survey = _Survey(flow(page) if held is None else held)
    unwanted, wanted = survey.selection()
    builder = BlockBuilder()
    for piece in flow(page) if held is None else held:
        if not piece.place & unwanted and (not wanted or piece.place & wanted):
            builder.add(piece)
    draft = Draft()
    write(builder.blocks(), draft)
    if not draft.length:
        for said in filter(None, (survey.title, survey.metadata().get("description"))):
            draft.add(str(said), 1)
    return draft.extracted(survey.title, survey.language, survey.metadata())


class _Survey:
    """What a page says of itself, and how much text is in which kind of place."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._characters: Counter[int] = Counter()
        self._articles = self._in_articles = 0
        self._main_has_title = self._header_has_heading = False
        self._said: dict[str, str] = {}
        self._titles: dict[str, list[str]] = {"title": [], "h1": []}
        self._collected: list[str] | None = None
        self._in_data = False
        self.language: str | None = None
        for piece in pieces:
            if piece.mark is Mark.TEXT:
                self._add_text(piece)
            elif piece.mark is Mark.START:
                self._start(piece)
            elif piece.text == "article":
                self._in_articles -= 1
            elif piece.text in self._titles:
                self._collected = None
            elif piece.text == "script":
                self._in_data = False

    @property
    def title(self) -> str:
        """What the page is called, "" where it has no name."""
        titles = (self._titles["title"], [self._said.get("og:title", "")], self._titles["h1"])
        return next((said for said in (" ".join(" ".join(parts).split()) for parts in titles) if said), "")

    def metadata(self) -> Mapping[str, MetadataValue]:
        """Author, dates, description and keywords, where it says them."""
        found: dict[str, MetadataValue] = {}
        for name, called in _METADATA.items():
            value = " ".join(self._said.get(name, "").split())[:_LONGEST_VALUE]
            if value and called not in found:
                found[called] = [word.strip() for word in value.split(",") if word.strip()] if called == "keywords" else value
        return found

    def selection(self) -> tuple[int, int]:
        """In which places text is left out, and in which it has to be, 0 for anywhere."""
        around = Place.CHROME if self._header_has_heading else Place.CHROME | Place.HEADER
        shown = self._amount(_SHOWN)
        plain = self._amount(_SHOWN | around)
        unguessed = self._amount(_SHOWN | around | Place.GUESSED)
        hidden = self._amount(Place.NEVER) - shown
        if not shown or (hidden > _MUCH_HIDDEN and shown < _LEAST_SHARE_SHOWN * hidden):
            return Place.NEVER, 0
        if plain < _ENOUGH_CHARACTERS and plain < _LEAST_SHARE_WITHOUT_CHROME * shown:
            return _SHOWN, 0
        unwanted = _SHOWN | around
        if unguessed >= _LEAST_SHARE_WITHOUT_GUESSED * plain:
            unwanted |= Place.GUESSED
        own = self._amount(unwanted)
        if self._amount(unwanted, Place.MAIN) >= _LEAST_SHARE_OF_MAIN * own:
            # The title may stand above the main part.
            return unwanted & ~Place.HEADER, Place.MAIN if self._main_has_title else Place.MAIN | Place.TITLE
        if self._articles == 1 and self._amount(unwanted, Place.ARTICLE) >= _LEAST_SHARE_OF_ARTICLE * own:
            return unwanted, Place.ARTICLE
        return unwanted, 0

    def _amount(self, unwanted: int, wanted: int = 0) -> int:
        return sum(characters for place, characters in self._characters.items() if not place & unwanted and (not wanted or place & wanted))

    def _add_text(self, piece: Piece) -> None:
        stripped = piece.text.strip()
        if self._in_data:
            for name, value in _DATES_IN_DATA.findall(piece.text[:_LONGEST_DATA]):
                self._said.setdefault(name.lower(), value)
        elif stripped:
            self._characters[piece.place] += len(stripped)
            if self._collected is not None:
                self._collected.append(piece.text)

    def _start(self, piece: Piece) -> None:
        name = piece.text
        if name in HEADINGS:
            self._header_has_heading |= piece.place & Place.HEADER > 0
            self._main_has_title |= name == "h1" and piece.place & Place.MAIN > 0
        if name == "html":
            self.language = self.language or language_code(piece.attributes.get("lang") or piece.attributes.get("xml:lang"))
        elif name == "meta":
            said = piece.attributes.get("name") or piece.attributes.get("property") or piece.attributes.get("itemprop")
            if said:
                self._said.setdefault(said.strip().lower(), piece.attributes.get("content", ""))
            elif piece.attributes.get("http-equiv", "").lower() == "content-language":
                self.language = self.language or language_code(piece.attributes.get("content"))
        elif name == "script":
            self._in_data = piece.attributes.get("type") == "application/ld+json"
        elif name == "article":
            self._articles += self._in_articles == 0
            self._in_articles += 1
        elif name in self._titles and not self._titles[name] and not piece.place & (Place.HIDDEN | Place.CHROME):
            self._collected = self._titles[name]
