"""What a text is by its first lines, where its name says nothing, says several things, or says what cannot be."""

import json
import re
from typing import Final

_LOOKED_AT_CHARACTERS: Final = 8192
_MARKUP: Final = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+(html|svg)|(html|svg|rss|feed)[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_XML: Final = re.compile(r"\s*<\?xml\s")
_LONGEST_JSON: Final = 200_000
#: Names of languages in the lines by which editors know them.
_MODE_LINE: Final = re.compile(
    r"-\*-.{0,80}?(?:mode:\s*)?\b([A-Za-z][\w+#-]*)\s*(?:;.{0,80})?-\*-|\b(?:vim?|ex):.{0,80}?\b(?:ft|filetype|syntax)=(\w+)"
)
_MODES_AS_LANGUAGES: Final = (
    "awk bash c cmake cpp fortran go haskell java javascript lua makefile matlab ocaml perl php prolog python ruby "
    "rust scheme sql tcl verilog vhdl"
)
_OTHER_MODES: Final = {
    "sh": "bash",
    "shell-script": "bash",
    "cperl": "perl",
    "c++": "cpp",
    "objc": "objective-c",
    "js": "javascript",
    "lisp": "common-lisp",
    "emacs-lisp": "elisp",
    "make": "makefile",
    "tuareg": "ocaml",
    "octave": "matlab",
    "f90": "fortran",
}
_MODES: Final = {**{mode: mode for mode in _MODES_AS_LANGUAGES.split()}, **_OTHER_MODES}
#: By extension: the languages that it stands for, each with what is only in texts of it. The first that is found is taken.
_AMBIGUOUS: Final = {
    "h": (
        ("objective-c", r"^\s*(?:@(?:interface|protocol|class|end|import)\b|#import\b)"),
        (
            "cpp",
            r"^\s*(?:template\s*<|namespace\b|class\s+\w+[^;(]*[{:]|class\s+\w+;|(?:public|private|protected)\s*:|using\s+\w|virtual\b)|\bstd::",
        ),
    ),
    "m": (
        ("objective-c", r"^\s*(?:@(?:interface|implementation|protocol|class|end|import)\b|#import\b|#include\b)"),
        ("matlab", r"^\s*(?:function\b|%|classdef\b|end\s*;?\s*$|disp\(|clc\b|close all\b|clear\b)"),
    ),
    "pl": (
        ("perl", r"^\s*(?:#!.*perl|use\s+[\w:]+|my\s+[$@%(]|sub\s+\w+|package\s+[\w:]+\s*;|our\s+[$@%])"),
        ("prolog", r"^\s*:-|^[a-z]\w*\([^\n]*\)\s*(?::-|\.\s*$)"),
    ),
    "pro": (("prolog", r"^\s*:-|^[a-z]\w*\([^\n]*\)\s*(?::-|\.\s*$)"), ("", r"^\s*(?:QT|TEMPLATE|TARGET|SOURCES|HEADERS|CONFIG)\s*[+-]?=")),
    "v": (("", r"^\s*(?:Theorem|Lemma|Proof\.|Require\s+Import|Inductive|Fixpoint|Definition)\b"),),
    "d": (("makefile", r"^\S+\.l?o\s*:"),),
    "f": (("", r"^\s*:\s+\S+\s+\("),),
    "r": (("", r"^\s*REBOL\b"),),
}
_AMBIGUOUS_PATTERNS: Final = {
    extension: tuple((language, re.compile(pattern, re.MULTILINE)) for language, pattern in choices)
    for extension, choices in _AMBIGUOUS.items()
}


def markup_of(text: str) -> str | None:
    """The media type of a text that begins as HTML, SVG or XML does, whatever its name says; None for others."""
    if "<" not in text[:1024]:
        return None
    found = _MARKUP.match(text[:_LOOKED_AT_CHARACTERS])
    if found is not None:
        name = (found[1] or found[2]).lower()
        return {"html": "text/html", "svg": "image/svg+xml"}.get(name, "application/xml")
    return "application/xml" if _XML.match(text[:1024]) else None


def language_among(extension: str, text: str) -> str | None:
    """The language of a text whose extension several have; "" for one that is no source code, None where nothing tells."""
    for language, pattern in _AMBIGUOUS_PATTERNS.get(extension, ()):
        if pattern.search(text[:_LOOKED_AT_CHARACTERS]):
            return language
    return None


def language_in_mode_line(text: str) -> str | None:
    """The language that a line for editors among the first lines names."""
    head = text[:1024]
    if "-*-" not in head and "vi" not in head:
        return None
    for line in head.split("\n")[:5]:
        found = _MODE_LINE.search(line[:300])
        if found is not None:
            return _MODES.get((found[1] or found[2]).lower())
    return None


def is_json(text: str) -> bool:
    """Whether a text of a bounded length is a JSON object or array."""
    if len(text) > _LONGEST_JSON or text[:1] not in "{[" or not text.rstrip().endswith(("}", "]")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
