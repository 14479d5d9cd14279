"""Awkward files with what is expected of each: a folder that ``DOCMILL_TEST_CASES`` names, made by others.

It has ``manifest.jsonl``, a line for each file or folder of ``tree/``, and ``gitignore_torture/`` with ``gitignore_expected.tsv``, what git
says of each file in it.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

VARIABLE: Final = "DOCMILL_TEST_CASES"

#: The reasons of the manifest, and ours that mean the same.
REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "empty": ("empty",),
    "corrupt": ("parser_failed", "encrypted"),
    "parse error": ("parser_failed",),
    "too large": ("too_large",),
    "when unpacked": ("too_large", "parser_failed"),
    "not a regular file": ("not_a_file",),
    "permission denied": ("unreadable",),
    "binary": ("binary",),
    "encrypted": ("encrypted",),
    "password": ("encrypted",),
    "scanned": ("scanned", "empty"),
    "no text": ("scanned", "empty"),
    "generated": ("generated",),
    "minified": ("generated",),
    "lock": ("generated",),
    "secret": ("secret",),
    "ignored": ("ignored",),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A line of the manifest.

    Attributes:
        path: relative to ``tree/``.
        expect: what the line says under ``expect``.
    """

    path: bytes
    what: str
    expect: Mapping[str, Any]

    @property
    def name(self) -> str:
        """For a test's id."""
        return ascii(os.fsdecode(self.path))[1:-1][-60:]

    def may_be(self, status: str) -> bool:
        """Whether ``indexed`` or ``skipped`` is one of the states that are expected."""
        return any(part.split()[0] == status for part in self.expect["status"].split(" or "))

    def reasons(self) -> tuple[str, ...]:
        """The reasons that are expected of a file that is skipped; "", with which every one begins, where any is good."""
        said = str(self.expect.get("reason", self.expect.get("reason_if_skipped", ""))).lower()
        return tuple(ours for theirs, of_theirs in REASONS.items() if theirs in said for ours in of_theirs) or ("",)


def cases_folder() -> Path | None:
    """The folder; None where the variable is not set."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def read_cases(folder: Path) -> list[Case]:
    """The lines of the manifest that tell of files of the tree."""
    cases = []
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        path = bytes.fromhex(entry["path_bytes_hex"]) if "path_bytes_hex" in entry else os.fsencode(entry["path"])
        if not path.endswith(b"/"):
            cases.append(Case(path, entry["what"], entry["expect"]))
    return cases


def expected_by_git(folder: Path) -> dict[bytes, bool]:
    """For each file of ``gitignore_torture/`` whether git lets it be indexed."""
    found = {}
    for line in (folder / "gitignore_expected.tsv").read_text(encoding="utf-8").splitlines():
        name, _, verdict = line.rpartition("\t")
        quoted = name.startswith('"')  # in C's manner, byte by byte
        name_bytes = name[1:-1].encode().decode("unicode_escape").encode("latin-1") if quoted else name.encode()
        found[name_bytes] = verdict == "indexed"
    return found


Chunks = Sequence[Mapping[str, Any]]


def plain(heading: str) -> str:
    """A heading without the marks of its format: links, code, emphasis."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return " ".join(re.sub(r"[`*_]", "", heading).split())


def headings_of(chunks: Chunks) -> set[str]:
    """Every heading of every chunk's path, plain."""
    return {plain(heading) for chunk in chunks for heading in chunk["headings"]}


def symbols_of(chunks: Chunks) -> set[str]:
    """What is defined in the chunks of source code."""
    return {symbol for chunk in chunks for symbol in chunk.get("symbols", ())}


def joined(chunks: Chunks) -> str:
    """The whole text, as it was cut without overlap."""
    return "\n".join(chunk["text"] for chunk in chunks)


def _rows_are_whole(chunks: Chunks) -> bool:
    rows = [line for chunk in chunks for line in chunk["text"].splitlines() if "name" in line]
    return bool(rows) and all(row.startswith("|") and row.endswith("|") for row in rows)


def _header_is_repeated(chunks: Chunks) -> bool:
    tables = [chunk["text"].splitlines() for chunk in chunks if "| name1" in chunk["text"] or "|name1" in chunk["text"]]
    return len({lines[0] for lines in tables if len(lines) > 2}) <= 2


def _in_order(*words: str) -> Callable[[Chunks], bool]:
    def holds(chunks: Chunks) -> bool:
        text = joined(chunks)
        places = [text.find(word) for word in words]
        return -1 not in places and places == sorted(places)

    return holds


def _once(word: str) -> Callable[[Chunks], bool]:
    return lambda chunks: joined(chunks).count(word) == 1


def _without_nul_noise(chunks: Chunks) -> bool:
    return not any(" ".join("wor") in chunk["text"] or "\0" in chunk["text"] for chunk in chunks)


#: Rules of the manifest that its other fields do not say, by file; each is held only by files that are indexed.
RULES: Final[Mapping[str, Sequence[Callable[[Chunks], bool]]]] = {
    "md/table_3000_rows.md": (_rows_are_whole, _header_is_repeated),
    "office/spine_order.epub": (_in_order("NEEDLEEP1", "NEEDLEEP2"),),
    "office/tables_headings.docx": (_once("NEEDLEDX2"),),
    "enc/utf16le_nobom.txt": (_without_nul_noise,),
}
