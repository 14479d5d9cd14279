"""What the styles and the numbering of a Word document say of its paragraphs: headings, lists, tables of contents."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from docmill.documents.containers.office_package import OfficePackage
from docmill.documents.containers.xml_parts import Element, child_of, tree_of

#: Names of the styles of headings are English in every file, whatever language the program speaks; ids are not.
_HEADING: Final = re.compile(r"heading (\d)")
_BODY_LEVEL: Final = 9
_MOST_ANCESTORS: Final = 20
_BULLETS: Final = frozenset(["bullet", "none"])


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style.

    Attributes:
        level: of the heading that it makes, from 1; None for other text.
        numbering: the list that it belongs to, "" for none.
    """

    level: int | None = None
    is_title: bool = False
    is_contents: bool = False
    numbering: str = ""


@dataclass(slots=True)
class Numbering:
    """The lists of a document.

    Attributes:
        bullets: lists and levels that have bullets or nothing instead of numbers.
    """

    bullets: set[tuple[str, str]] = field(default_factory=set)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def next_mark(self, number: str, level: str) -> str:
        """What stands before the next item of a list."""
        depth = int(level) if level.isdigit() else 0
        counts = self._counts.setdefault(number, {})
        counts[depth] = counts.get(depth, 0) + 1
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]
        mark = "-" if (number, level) in self.bullets else f"{counts[depth]}."
        return f"{'  ' * min(depth, 8)}{mark} "


def styles_of(package: OfficePackage) -> Mapping[str, Style]:
    """The paragraph styles by id; "" is the one of paragraphs that name none."""
    elements: dict[str, Element] = {}
    default = ""
    for part in package.related(package.main, "styles")[:1]:
        for element in tree_of(package.archive.open(part)).findall("style"):
            if element.get("type", "paragraph") == "paragraph":
                elements[element.get("styleId", "")] = element
                if element.get("default") in ("1", "true", "on"):
                    default = element.get("styleId", "")
    styles = {name: _style(name, elements) for name in elements}
    styles[""] = styles.get(default, Style())
    return styles


def numbering_of(package: OfficePackage) -> Numbering:
    """Which lists have bullets."""
    numbering = Numbering()
    for part in package.related(package.main, "numbering")[:1]:
        root = tree_of(package.archive.open(part))
        formats = {
            abstract.get("abstractNumId", ""): {
                level.get("ilvl", "0"): _value(level, "numFmt") or "decimal" for level in abstract.findall("lvl")
            }
            for abstract in root.findall("abstractNum")
        }
        for number in root.findall("num"):
            levels = formats.get(_value(number, "abstractNumId"), {})
            numbering.bullets |= {(number.get("numId", ""), level) for level, kind in levels.items() if kind in _BULLETS}
    return numbering


def outline_level(properties: Element | None) -> int | None:
    """The level of a heading that properties of a paragraph set, from 1; 0 where they say that it is none, None where they say nothing."""
    value = _value(properties, "outlineLvl")
    if not value.isdigit():
        return None
    return 0 if int(value) >= _BODY_LEVEL else int(value) + 1


def _style(name: str, elements: Mapping[str, Element]) -> Style:
    level: int | None = None
    numbering = ""
    title = contents = False
    current: str = name
    for _ in range(_MOST_ANCESTORS):
        element = elements.get(current)
        if element is None:
            break
        called = _value(element, "name").lower()
        properties = element.find("pPr")
        if level is None:
            named = _HEADING.match(called)
            level = int(named[1]) if named is not None else outline_level(properties)
        title = title or called == "title"
        contents = contents or called.startswith("toc ") or called == "table of figures"
        numbering = numbering or _value(child_of(properties, "numPr"), "numId")
        current = _value(element, "basedOn")
    return Style(level or None, title, contents, "" if numbering == "0" else numbering)


def _value(element: Element | None, name: str) -> str:
    child = None if element is None else element.find(name)
    return "" if child is None else child.get("val", "")
