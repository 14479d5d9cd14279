"""Titles of documents whose format has a notion of one."""

import re
from typing import Final

#: A title stands near the beginning.
_LOOKED_AT_CHARACTERS: Final = 65_536
_LONGEST_TITLE: Final = 200
_ADORNMENT: Final = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*\Z")


def restructured_text_title(text: str) -> str:
    """The first line that is underlined with at least as many equal punctuation characters; "" when there is none."""
    previous = ""
    for line in text[:_LOOKED_AT_CHARACTERS].split("\n"):
        title = previous.strip()
        if title and len(line.rstrip()) >= len(title) and _ADORNMENT.match(line) and not _ADORNMENT.match(title):
            return title[:_LONGEST_TITLE]
        previous = line
    return ""


def name_title(document_id: str) -> str:
    """The file's name."""
    return document_id.rpartition("/")[2][:_LONGEST_TITLE]


def code_title(document_id: str) -> str:
    """The last three parts of the path: enough to find ``asyncio/taskgroups.py`` by the name of its package."""
    return "/".join(document_id.split("/")[-3:])[-_LONGEST_TITLE:].removeprefix("/")
