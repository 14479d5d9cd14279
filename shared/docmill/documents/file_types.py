"""What a file is, by its name and its first bytes: the media type, the language, and how its text is cut."""

import re
from dataclasses import dataclass
from typing import Final

from docmill.documents.content_types import is_json, language_among, language_in_mode_line, markup_of
from docmill.documents.formats.manual_pages import looks_like_manual_page
from docmill.domain.documents import DocumentKind


@dataclass(frozen=True, slots=True)
class FileType:
    """What a file is.

    Attributes:
        language: the programming language, None for what is not source code.
    """

    kind: DocumentKind
    mime: str
    language: str | None = None


PLAIN_TEXT: Final = FileType(DocumentKind.TEXT, "text/plain")
MARKDOWN: Final = FileType(DocumentKind.MARKDOWN, "text/markdown")
MANUAL_PAGE: Final = FileType(DocumentKind.TEXT, "text/troff")

#: Language, then the extensions of its files.
_LANGUAGES: Final = """
abap: abap
ada: adb ads
assembly: asm s
awk: awk
bash: bash sh zsh ksh
batch: bat cmd
bicep: bicep
c: c h
clojure: clj cljc cljs edn
cmake: cmake
cobol: cob cbl cpy
coffeescript: coffee
common-lisp: lisp lsp
cpp: cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cppm ixx cu cuh ino
crystal: cr
csharp: cs csx
css: css
d: d
dart: dart
dockerfile: dockerfile
elisp: el
elixir: ex exs
elm: elm
erlang: erl hrl
fish: fish
fortran: f f77 f90 f95 f03 f08 for
fsharp: fs fsi fsx
gdscript: gd
glsl: glsl vert frag
go: go
gradle: gradle
graphql: graphql gql
groovy: groovy
haskell: hs lhs
haxe: hx
hcl: hcl tf tfvars
java: java
javascript: js cjs mjs jsx
julia: jl
kotlin: kt kts
less: less
lua: lua
makefile: mk mak
matlab: matlab
nim: nim
nix: nix
objective-c: m mm
ocaml: ml mli
pascal: pas pp dpr
perl: pl pm
php: php phtml
plsql: pls pks pkb plsql
powershell: ps1 psm1 psd1
prolog: pro
protobuf: proto
puppet: puppet
python: py pyi pyw pyx pxd
qml: qml
r: r
racket: rkt
ruby: rb rake gemspec
rust: rs
sass: sass scss
scala: scala sc sbt
scheme: scm ss
solidity: sol
sql: sql
starlark: bzl star bazel
svelte: svelte
swift: swift
tcl: tcl
thrift: thrift
typescript: ts tsx cts mts
vala: vala
verilog: v sv svh
vhdl: vhd vhdl
vim: vim
visual-basic: vb vbs bas
vue: vue
wgsl: wgsl
zig: zig
"""

_MARKDOWN_EXTENSIONS: Final = "md markdown mdown mkd mkdn mdx qmd rmd"
_PLAIN_EXTENSIONS: Final = "txt text env lock diff patch bib srt vtt po pot typ textile mediawiki wiki nfo"
_XML_EXTENSIONS: Final = """
    ditamap dbk tei opml wsdl rng xlf xliff kml gpx pom csproj fsproj vbproj vcxproj props targets nuspec resx xaml xib storyboard
"""
_TEXT_MIMES: Final = {
    "rst": "text/x-rst",
    "rest": "text/x-rst",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "ndjson": "application/x-ndjson",
    "json5": "application/json5",
    "geojson": "application/geo+json",
    "ipynb": "application/x-ipynb+json",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "xml": "application/xml",
    "xsd": "application/xml",
    "xsl": "application/xml",
    "xslt": "application/xml",
    "rss": "application/xml",
    "atom": "application/xml",
    "plist": "application/xml",
    "docbook": "application/xml",
    "dita": "application/xml",
    **dict.fromkeys(_XML_EXTENSIONS.split(), "application/xml"),
    **dict.fromkeys(["ini", "cfg", "conf", "properties", "editorconfig", "service", "desktop"], "text/x-ini"),
    "log": "text/x-log",
    "jsonc": "application/json5",
    "webmanifest": "application/json",
    "svg": "image/svg+xml",
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "tex": "text/x-tex",
    "ltx": "text/x-tex",
    "latex": "text/x-tex",
    "adoc": "text/asciidoc",
    "asc": "text/asciidoc",
    "asciidoc": "text/asciidoc",
    "org": "text/org",
}
_BY_NAME: Final = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
    "build": "starlark",
    "workspace": "starlark",
    "buck": "starlark",
    "brewfile": "ruby",
    "podfile": "ruby",
    "fastfile": "ruby",
    "sconstruct": "python",
    "sconscript": "python",
    "pkgbuild": "bash",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".bash_aliases": "bash",
    ".profile": "bash",
    ".zprofile": "bash",
    ".zshrc": "bash",
    ".vimrc": "vim",
}
_INTERPRETERS: Final = {
    "sh": "bash",
    "bash": "bash",
    "zsh": "bash",
    "dash": "bash",
    "ksh": "bash",
    "fish": "fish",
    "python": "python",
    "pypy": "python",
    "node": "javascript",
    "deno": "typescript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "lua": "lua",
    "awk": "awk",
    "gawk": "awk",
    "tclsh": "tcl",
    "rscript": "r",
    "pwsh": "powershell",
    "groovy": "groovy",
    "julia": "julia",
}
_SHEBANG: Final = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)", re.IGNORECASE)


def _code(language: str) -> FileType:
    return FileType(DocumentKind.CODE, f"text/x-{language}", language)


def _by_extension() -> dict[str, FileType]:
    types = dict.fromkeys(_MARKDOWN_EXTENSIONS.split(), MARKDOWN)
    types |= {extension: FileType(DocumentKind.TEXT, mime) for extension, mime in _TEXT_MIMES.items()}
    for line in _LANGUAGES.strip().splitlines():
        language, extensions = line.split(": ")
        types |= {extension: _code(language) for extension in extensions.split()}
    types |= dict.fromkeys(_PLAIN_EXTENSIONS.split(), PLAIN_TEXT)
    return types


_EXTENSIONS: Final = _by_extension()
_MARKUP: Final = frozenset(("text/html", "application/xhtml+xml", "application/xml", "image/svg+xml"))
_MARKUP_LANGUAGES: Final = frozenset(("php", "vue", "svelte"))
#: What is put behind a name whose file becomes, was, or is an example of what the name says.
_SUFFIXES: Final = re.compile(r"(?<=.)(?:\.(?:in|tmpl|template|tpl|j2|jinja2?|erb|orig|bak|old|sample|example|dist))+\Z")
#: Before what a file is for: ``Dockerfile.prod``.
_PREFIXES: Final = ("dockerfile.", "containerfile.", "makefile.")
_PROSE_NAMES: Final = frozenset(("readme", "changelog", "changes", "contributing", "history", "news", "install", "todo", "notes"))
_MARKDOWN_HEADING: Final = re.compile(r"^#{1,6} \S", re.MULTILINE)
_LOOKED_AT_CHARACTERS: Final = 8192


def detect(document_id: str, text: str) -> FileType:
    """What a text file is: by its whole name, by its extension, and by its first lines where these say nothing or cannot be right."""
    name = _bare_name(document_id)
    if name in _BY_NAME:
        return _code(_BY_NAME[name])
    extension = name.rpartition(".")[2] if "." in name else ""
    known = _EXTENSIONS.get(extension)
    if known is not None:
        return _unless_content_differs(known, extension, text)
    if name[-1:].isdigit() and extension and looks_like_manual_page(text):
        return MANUAL_PAGE
    if name in _PROSE_NAMES and _MARKDOWN_HEADING.search(text[:_LOOKED_AT_CHARACTERS]):
        return MARKDOWN
    return _by_content(text)


def _bare_name(document_id: str) -> str:
    """The file's name in lower case, without what is put around a name that says what the file is."""
    name = document_id.rpartition("/")[2].lower()
    prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), None)
    if prefix is not None and name.rpartition(".")[2] not in _EXTENSIONS:
        return prefix[:-1]
    return _SUFFIXES.sub("", name)


def _unless_content_differs(known: FileType, extension: str, text: str) -> FileType:
    if known.mime not in _MARKUP and known.language not in _MARKUP_LANGUAGES:
        markup = markup_of(text)
        if markup is not None and (known != MARKDOWN or markup == _TEXT_MIMES["html"]):  # Markdown may begin with a picture
            return FileType(DocumentKind.TEXT, markup)
    language = language_among(extension, text) if known.kind is DocumentKind.CODE else None
    if language is None:
        return known
    return _code(language) if language else PLAIN_TEXT


def _by_content(text: str) -> FileType:
    if text.startswith("#!"):
        shebang = _SHEBANG.match(text)
        if shebang is not None and shebang[1].lower() in _INTERPRETERS:
            return _code(_INTERPRETERS[shebang[1].lower()])
    language = language_in_mode_line(text)
    if language is not None:
        return _code(language)
    markup = markup_of(text)
    if markup is not None:
        return FileType(DocumentKind.TEXT, markup)
    return FileType(DocumentKind.TEXT, _TEXT_MIMES["json"]) if is_json(text) else PLAIN_TEXT


def is_known_text_name(document_id: str) -> bool:
    """Whether the name alone says that a file is text."""
    name = _bare_name(document_id)
    return name in _BY_NAME or ("." in name and name.rpartition(".")[2] in _EXTENSIONS)


def known_extensions() -> dict[str, FileType]:
    """What a file is by its extension, where nothing else says otherwise."""
    return dict(_EXTENSIONS)


def known_names() -> dict[str, FileType]:
    """What a file of a certain name (in lower case) is."""
    return {name: _code(language) for name, language in _BY_NAME.items()}
