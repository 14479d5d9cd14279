"""Office Open XML packages: parts, how they point at each other, and what is said of the document (ECMA-376 part 2)."""

import posixpath
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from docmill.documents.containers.archive import Archive
from docmill.documents.containers.properties import Properties, properties
from docmill.documents.containers.xml_parts import tree_of
from docmill.domain.errors import DocumentSkipped, SkipReason

_CORE_PROPERTIES: Final = "metadata/core-properties"


@dataclass(frozen=True, slots=True)
class Relationship:
    """From one part to another.

    Attributes:
        kind: the last part of its type: ``slide``, ``styles``.
        target: the name of the other part.
    """

    id: str
    kind: str
    target: str


class OfficePackage:
    """The parts of a document of Word, PowerPoint or Excel."""

    def __init__(self, content: bytes, usual_main: str) -> None:
        """Raises ``DocumentSkipped`` where there is no main part; ``usual_main`` is where it is when nothing else is said."""
        self.archive = Archive(content)
        if "EncryptedPackage" in self.archive:
            raise DocumentSkipped(SkipReason.ENCRYPTED, "it is protected by a password")
        self._root = self.relationships("")
        named = next((one.target for one in self._root if one.kind == "officeDocument"), usual_main)
        self.main = named if named in self.archive else usual_main

    def relationships(self, part: str) -> list[Relationship]:
        """Those of a part, in the order in which they stand; "" is the package itself."""
        folder, name = posixpath.split(part)
        file = posixpath.join(folder, "_rels", f"{name}.rels")
        if file not in self.archive:
            return []
        found = []
        for one in tree_of(self.archive.open(file)):
            target = unquote(one.get("Target", "")).replace("\\", "/")
            if one.get("TargetMode") == "External" or not target:
                continue
            kind = one.get("Type", "")
            place = posixpath.normpath(target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target))
            found.append(
                Relationship(one.get("Id", ""), "core-properties" if kind.endswith(_CORE_PROPERTIES) else kind.rpartition("/")[2], place)
            )
        return found

    def related(self, part: str, kind: str) -> list[str]:
        """The parts of a kind that a part points at and that are there."""
        return [one.target for one in self.relationships(part) if one.kind == kind and one.target in self.archive]

    def properties(self) -> Properties:
        """What is said of the document."""
        core = next((one.target for one in self._root if one.kind == "core-properties" and one.target in self.archive), None)
        if core is None:
            return Properties()
        try:
            values = {one.tag: one.text or "" for one in tree_of(self.archive.open(core))}
        except DocumentSkipped as skipped:
            if skipped.reason is not SkipReason.PARSER_FAILED:
                raise
            return Properties()  # the text is there, whatever is said of it
        return properties(
            title=values.get("title", ""),
            author=values.get("creator", ""),
            subject=values.get("subject", ""),
            keywords=values.get("keywords", ""),
            created=values.get("created", ""),
            modified=values.get("modified", ""),
            language=values.get("language", ""),
        )
