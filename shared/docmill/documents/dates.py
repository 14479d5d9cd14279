"""Dates of documents: what a format or front matter says about when a document was written and changed, as ISO 8601."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from docmill.domain.documents import MetadataValue

#: By what documents call them, in order of preference; compared without case, spaces, hyphens and underscores.
_NAMES: Final = {
    "date": (
        "date",
        "published",
        "publishdate",
        "publisheddate",
        "datepublished",
        "pubdate",
        "issued",
        "created",
        "creationdate",
        "datecreated",
        "revdate",
    ),
    "modified": ("modified", "lastmod", "lastmodified", "updated", "lastupdated", "datemodified", "modificationdate", "moddate", "changed"),
}
_ISO: Final = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T\s]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?(?![\d:])",
    re.IGNORECASE,
)
_PDF: Final = re.compile(r"D:(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?(?:(Z|[+-]\d{2})'?(\d{2})?'?)?")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([A-Za-z]{3,9})\.?,?\s+(\d{4})(?!\d)")
_MONTH_FIRST: Final = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)")
_LONGEST: Final = 100


def with_dates(metadata: Mapping[str, MetadataValue]) -> Mapping[str, MetadataValue]:
    """The metadata with ``date`` and ``modified`` as ISO 8601 where it has them, by these or other names; else as it is."""
    if not metadata:
        return metadata
    plain = {re.sub(r"[\s_.-]", "", name).lower(): value for name, value in reversed(list(metadata.items()))}
    found: dict[str, MetadataValue] = {}
    for name, names in _NAMES.items():
        said = next((str(plain[one]) for one in names if plain.get(one)), None)
        stated = None if said is None else iso_date(said)
        if stated is not None:
            found[name] = stated
    return {**metadata, **found} if found else metadata


def iso_date(said: str) -> str | None:
    """A date, or a date with its time, as ISO 8601; None for what is none, or could be several, such as 01/02/2024."""
    text = said.strip().removeprefix("$Date:").strip("$<>[]\"' \t")
    if not text or len(text) > _LONGEST:
        return None
    try:
        if (match := _ISO.match(text)) is not None:
            return _written(match, (match[7] or "").upper())
        if (match := _PDF.match(text)) is not None:
            zone = match[7] or ""
            return _written(match, zone if len(zone) < 2 else f"{zone}:{match[8] or '00'}")
        if text[:4].isascii() and "," in text[:4] and (":" in text):
            return parsedate_to_datetime(text).isoformat()
        if (match := _DAY_FIRST.search(text)) is not None:
            return _with_month(match[3], match[2], match[1])
        if (match := _MONTH_FIRST.search(text)) is not None:
            return _with_month(match[3], match[1], match[2])
    except (ValueError, OverflowError):
        return None
    return None


def _written(match: re.Match[str], zone: str) -> str:
    day = date(int(match[1]), int(match[2]), int(match[3]))
    if match[4] is None:
        return day.isoformat()
    time = datetime(day.year, day.month, day.day, int(match[4]), int(match[5] or 0), int(match[6] or 0))  # as it is stated
    if zone in ("Z", "UTC", "GMT"):
        zone = "+00:00"
    elif zone and ":" not in zone:
        zone = f"{zone[:3]}:{zone[3:]}"
    return datetime.fromisoformat(time.isoformat() + zone).isoformat()


def _with_month(year: str, month: str, day: str) -> str | None:
    name = month[:3].lower()
    return date(int(year), _MONTHS.index(name) + 1, int(day)).isoformat() if name in _MONTHS else None
