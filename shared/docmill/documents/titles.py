"""Titles of documents whose format or content gives them none."""

from typing import Final

_LONGEST_TITLE: Final = 200


def name_title(document_id: str) -> str:
    """The file's name."""
    return document_id.rpartition("/")[2][:_LONGEST_TITLE]


def code_title(document_id: str) -> str:
    """The last three parts of the path: enough to find ``asyncio/taskgroups.py`` by the name of its package."""
    return "/".join(document_id.split("/")[-3:])[-_LONGEST_TITLE:].removeprefix("/")
