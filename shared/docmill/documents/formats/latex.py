"""LaTeX: sections, environments that are better kept whole, title and author; the preamble and comments are left out."""

import re
import unicodedata
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.kept_lines import joined
from docmill.documents.formats.line_outline import LineOutline
from docmill.documents.front_matter import metadata_of

_SECTIONS: Final = "part chapter section subsection subsubsection paragraph subparagraph frametitle"
_LEVELS: Final = {name: level for level, name in enumerate(_SECTIONS.split(), start=1)}
_VERBATIM: Final = frozenset(("verbatim", "Verbatim", "lstlisting", "minted", "comment", "alltt"))
_TABLES: Final = frozenset(("tabular", "tabularx", "tabulary", "longtable"))
_ENVIRONMENTS: Final = (
    "array table figure equation align gather multline eqnarray displaymath tikzpicture algorithm algorithmic itemize enumerate description"
)
_WHOLE: Final = _VERBATIM | _TABLES | frozenset(_ENVIRONMENTS.split())
_TOKEN: Final = re.compile(
    r"\\(?:(begin|end)[ \t]*\{([A-Za-z]{1,40})\*?\}|(part|chapter|(?:sub){0,2}section|(?:sub)?paragraph|frametitle)\b\*?[ \t]*(?=[\[{]))"
)
_BEGIN_VERBATIM: Final = re.compile(r"\\begin[ \t]*\{((?:verbatim|Verbatim|lstlisting|minted|comment|alltt)\*?)\}")
_BODY: Final = re.compile(r"^[ \t]*\\begin[ \t]*\{document\}[^\n]*\n?", re.MULTILINE)
_END: Final = re.compile(r"[ \t]*\\end[ \t]*\{document\}")
_COMMENTED: Final = "comment"
_SAID: Final = re.compile(r"\\(title|subtitle|author|date|keywords|subject)\b[ \t]*(?=[\[{])")
_COMMENT: Final = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_TAKES_PERCENT: Final = ("\\verb", "\\url", "\\href", "\\path", "\\lstinline")
_LONGEST_ARGUMENT: Final = 2000
#: Braces, and what no title has in it: its brace is not closed.
_IN_ARGUMENT: Final = re.compile(r"(?<!\\)[{}]|\n[ \t]*\n|\\(?:begin|end|part|chapter|(?:sub)*section|title|author|date)\b")
_HEADER_RULE: Final = ("\\midrule", "\\endhead", "\\endfirsthead")
_DROPPED_WITH_ARGUMENT: Final = re.compile(
    r"\\(?:label|thanks|footnote|footnotemark|inst|orcid|index|cite[a-z]*|vspace|hspace)\*?(?:\[[^\]]*\])?\{[^{}]*\}"
)
_ESCAPED: Final = re.compile(r"\\([&%$#_{} ])")
_COMMAND: Final = re.compile(r"\\(?:\\(?:\[[^\]]*\])?|[A-Za-z]+\*?[ \t]*|[^A-Za-z])")
_ACCENTS: Final = dict(
    zip("`'^\"~=.uvHcdbr", "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u030a", strict=True)
)
_ACCENT: Final = re.compile(r"\\(?:([`'^\"~=.])[ \t]*\{?\\?([A-Za-z])\}?|([uvHcdbr])(?:\{\\?([A-Za-z])\}|[ \t]+([A-Za-z])))")


def read_latex(text: str) -> Extracted:
    """The text without comments; what comes before ``\\begin{document}`` is front matter."""
    text, source_lines = _without_comments(text)
    body = _BODY.search(text)
    start = 0 if body is None else body.end()
    said = _said(text)
    title = str(said.pop("title", ""))
    outline = _outline(text, start)
    return Extracted(
        text, outline.outline(), title or outline.first_heading(), metadata=metadata_of(said), source_lines=source_lines, body_start=start
    )


def _without_comments(text: str) -> tuple[str, list[int] | None]:
    lines = text.split("\n")
    kept: list[int] = []
    verbatim = ""
    last_comment = max((line for line, content in enumerate(lines) if "\\end{comment}" in content), default=-1)
    for line, content in enumerate(lines):
        if verbatim:
            if verbatim != _COMMENTED:
                kept.append(line)
            verbatim = "" if f"\\end{{{verbatim}}}" in content else verbatim
            continue
        if "%" in content and not any(command in content for command in _TAKES_PERCENT):
            bare = _COMMENT.sub(r"\1", content).rstrip()
            if not bare:
                continue
            lines[line] = bare
        begun = _BEGIN_VERBATIM.search(content) if "\\begin" in content else None
        if begun is not None and f"\\end{{{begun[1]}}}" not in content[begun.end() :]:
            verbatim = begun[1]
            if verbatim == _COMMENTED and line > last_comment:
                verbatim = ""  # it never ends
            elif verbatim == _COMMENTED:
                lines[line] = content[: begun.start()].rstrip()
                if not lines[line]:
                    continue
        kept.append(line)
        if _END.match(content):
            break  # nothing after it is typeset
    joined_text, source_lines = joined(lines, kept)
    return joined_text, None if source_lines is None else list(source_lines)


def _said(text: str) -> dict[str, object]:
    said: dict[str, object] = {}
    for match in _SAID.finditer(text):
        found = _argument(text, match.end())
        value = "" if found is None else found[0]
        if value and "\\today" not in value and match[1] not in said:
            people = [plain_text(one) for one in re.split(r"\\and\b|\\And\b|\\AND\b", value)]
            said[match[1]] = people if len(people) > 1 else people[0]
    return {name: value for name, value in said.items() if value}


def _outline(text: str, start: int) -> LineOutline:
    outline = LineOutline(text.split("\n"))
    opened: dict[str, list[int]] = {}
    place = start
    while (token := _TOKEN.search(text, place)) is not None:
        place = token.end()
        line = outline.line_at(token.start())
        if token[3] is not None:
            found = _argument(text, token.end())
            if found is not None:
                place = found[1]
                outline.add_heading(_LEVELS[token[3]], plain_text(found[0]), line, outline.line_at(found[1] - 1) + 1)
        elif token[1] == "begin":
            opened.setdefault(token[2], []).append(line)
            if token[2] in _VERBATIM:
                end = text.find(f"\\end{{{token[2]}", place)
                place = len(text) if end < 0 else end
        elif opened.get(token[2]):
            first = opened[token[2]].pop()
            if token[2] in _WHOLE:
                outline.add_block(first, line + 1, _header_after(text, outline, first, line) if token[2] in _TABLES else None)
    return outline


def _argument(text: str, place: int) -> tuple[str, int] | None:
    """The argument in braces at ``place``, after an optional one in brackets, and where it ends; None when it is not closed."""
    if text[place : place + 1] == "[":
        closed = text.find("]", place, place + _LONGEST_ARGUMENT)
        place = closed + 1
    if text[place : place + 1] != "{":
        return None
    depth = 0
    for found in _IN_ARGUMENT.finditer(text, place, place + _LONGEST_ARGUMENT):
        if found[0] not in "{}":
            return None
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[place + 1 : found.start()], found.end()
    return None


def _header_after(text: str, outline: LineOutline, first: int, last: int) -> int | None:
    found = [text.find(rule, outline.start_of(first), outline.start_of(last)) for rule in _HEADER_RULE]
    places = [place for place in found if place >= 0]
    return outline.line_at(min(places)) + 1 if places else None


def plain_text(latex: str) -> str:
    """The words of a piece of LaTeX."""
    text = _DROPPED_WITH_ARGUMENT.sub("", latex)
    text = _ACCENT.sub(lambda match: (match[2] or match[4] or match[5]) + _ACCENTS[match[1] or match[3]], text)
    text = _COMMAND.sub(lambda match: match[0][1:] if _ESCAPED.fullmatch(match[0]) else " ", text.replace("~", " "))
    text = text.replace("{", "").replace("}", "").replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    return unicodedata.normalize("NFC", " ".join(text.split()))
