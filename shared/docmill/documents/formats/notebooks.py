"""Notebooks: the cells of Jupyter's formats 2 to 4 in order, code fenced and kept whole, with the text that it printed; no images.

What is no notebook, or a broken one, is read as JSON. The lines are those of the file.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.html import read_html
from docmill.documents.formats.inline import Line
from docmill.documents.formats.json_data import read_json
from docmill.documents.formats.json_places import StringLines
from docmill.documents.formats.shortening import shortened
from docmill.documents.front_matter import metadata_of
from docmill.domain.documents import MetadataValue

_LONGEST_OUTPUT: Final = 2000
_LONGEST_OUTPUTS: Final = 200_000
_LONGEST_HTML: Final = 50_000
_MOST_TAGS: Final = 50
_ESCAPES: Final = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]")
_TAG: Final = re.compile(r"[\w.:/-]{1,60}")
_LANGUAGE: Final = re.compile(r"[A-Za-z][\w+#.-]{0,29}")


def read_notebook(text: str) -> Extracted:
    """The cells; markdown is as it is, and its headings are those of the text."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return read_json(text)
    cells = _cells_of(notebook)
    return read_json(text) if cells is None else _Reader(text, notebook).read(cells)


def _cells_of(notebook: object) -> list[Mapping[str, Any]] | None:
    """The cells; None where it is no notebook."""
    if not isinstance(notebook, dict):
        return None
    sheets = notebook.get("worksheets")
    holders = sheets if isinstance(sheets, list) else [notebook]
    lists = [holder["cells"] for holder in holders if isinstance(holder, dict) and isinstance(holder.get("cells"), list)]
    return [cell for cells in lists for cell in cells if isinstance(cell, dict)] if lists else None


class _Reader:
    def __init__(self, text: str, notebook: Mapping[str, Any]) -> None:
        self._lines = StringLines(text, notebook)
        self._draft = Draft()
        self._tags: list[str] = []
        self._left = _LONGEST_OUTPUTS
        self._metadata = _mapping(notebook, "metadata")
        kernel, info = _mapping(self._metadata, "kernelspec"), _mapping(self._metadata, "language_info")
        self._language = _language(info.get("name")) or _language(kernel.get("language"))

    def read(self, cells: Sequence[Mapping[str, Any]]) -> Extracted:
        for cell in cells:
            kind = cell.get("cell_type")
            tags = self._tags_of(cell)
            if kind == "code":
                self._read_code(cell, tags)
            elif kind == "heading":
                level = cell.get("level")
                lines = self._text(cell, "source")
                if lines:
                    heading = " ".join(line.strip() for _, line in lines)
                    self._draft.add_heading(level if isinstance(level, int) and 1 <= level <= 6 else 1, heading, lines[0][0])
            elif kind == "raw":
                self._draft.separate()
                for source, line in self._text(cell, "source"):
                    self._draft.add(line, source)
                self._draft.separate()
            else:
                self._draft.add_markdown([(source, shortened(line)) for source, line in self._text(cell, "source")])
        title = self._metadata.get("title")
        return self._draft.extracted(title.strip() if isinstance(title, str) else self._draft.first_heading, metadata=self._about())

    def _read_code(self, cell: Mapping[str, Any], tags: Sequence[str]) -> None:
        language = _language(cell.get("language")) or self._language
        self._draft.add_code(self._text(cell, "source" if "source" in cell else "input"), " ".join(filter(None, [language, *tags])))
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                self._read_output(output)

    def _read_output(self, output: Mapping[str, Any]) -> None:
        if output.get("output_type") in ("error", "pyerr"):
            said = ": ".join(str(output[key]) for key in ("ename", "evalue") if isinstance(output.get(key), str))
            self._draft.add_code(self._bounded([(self._lines.line_of(output, "evalue"), line) for line in said.split("\n")]), "output")
            return
        data = output.get("data")
        holder = data if isinstance(data, dict) else output
        is_image = any(key.startswith("image/") or key in ("png", "jpeg", "svg") for key in holder)
        plain = next((key for key in ("text/markdown", "text/plain", "text") if key in holder), None)
        if plain is not None and not is_image:
            self._draft.add_code(self._bounded(self._text(holder, plain)), "output")
        elif plain is None and (page := next((key for key in ("text/html", "html") if key in holder), None)) is not None:
            lines = self._text(holder, page)
            read = read_html("\n".join(line for _, line in lines)[:_LONGEST_HTML])
            source = lines[0][0] if lines else 1
            self._draft.add_code(self._bounded([(source, line) for line in read.text.split("\n")]), "output")

    def _bounded(self, lines: Sequence[Line]) -> Iterator[Line]:
        """The first lines of an output, without colours."""
        left = min(_LONGEST_OUTPUT, self._left)
        if not any(line.strip() for _, line in lines):
            return
        for source, line in lines:
            plain = shortened(_ESCAPES.sub("", line).rpartition("\r")[2])
            if len(plain) > left:
                yield source, f"{plain[:left]}…"
                self._left -= left
                return
            left -= len(plain) + 1
            self._left -= len(plain) + 1
            yield source, plain

    def _text(self, holder: Mapping[str, Any], key: str) -> list[Line]:
        """A text that is one string or a list of them, as lines with those of the file, without blank ones around it."""
        value = holder.get(key)
        if isinstance(value, str):
            pieces = [(self._lines.line_of(holder, key), value)]
        elif isinstance(value, list):
            pieces = [(self._lines.line_of(value, number), piece) for number, piece in enumerate(value) if isinstance(piece, str)]
        else:
            return []
        lines: list[tuple[int, list[str]]] = []
        for source, piece in pieces:
            for number, part in enumerate(piece.replace("\r\n", "\n").split("\n")):
                if number or not lines:
                    lines.append((source, []))
                elif not any(lines[-1][1]):
                    lines[-1] = (source, [])
                lines[-1][1].append(part)
        joined = [(source, "".join(parts).replace("\0", " ")) for source, parts in lines]
        visible = [number for number, (_, line) in enumerate(joined) if line.strip()]
        return joined[visible[0] : visible[-1] + 1] if visible else []

    def _tags_of(self, cell: Mapping[str, Any]) -> list[str]:
        tags = _mapping(cell, "metadata").get("tags")
        found = [tag for tag in tags if isinstance(tag, str) and _TAG.fullmatch(tag)] if isinstance(tags, list) else []
        self._tags += islice((tag for tag in found if tag not in self._tags), max(0, _MOST_TAGS - len(self._tags)))
        return found[:_MOST_TAGS]

    def _about(self) -> Mapping[str, MetadataValue]:
        kernel = _mapping(self._metadata, "kernelspec").get("display_name")
        authors = self._metadata.get("authors")
        named = [author.get("name") for author in authors if isinstance(author, dict)] if isinstance(authors, list) else []
        said = {"programming_language": self._language, "kernel": kernel, "author": ", ".join(filter(None, map(_text_of, named)))}
        return metadata_of({**{name: value for name, value in said.items() if value}, **({"tags": self._tags} if self._tags else {})})


def _mapping(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _language(said: object) -> str:
    return said.lower() if isinstance(said, str) and _LANGUAGE.fullmatch(said) else ""


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
