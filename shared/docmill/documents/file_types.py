"""What a file is, by its name and its first bytes: the media type, the language, and how its text is cut."""

import re
from dataclasses import dataclass
from typing import Final

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
RESTRUCTURED_TEXT: Final = FileType(DocumentKind.TEXT, "text/x-rst")

#: Language, then the extensions of its files.
_LANGUAGES: Final = """
ada: adb ads
assembly: asm s
awk: awk
bash: bash sh zsh ksh
batch: bat cmd
c: c h
clojure: clj cljc cljs edn
cmake: cmake
coffeescript: coffee
common-lisp: lisp lsp
cpp: cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh
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
powershell: ps1 psm1 psd1
prolog: pro
protobuf: proto
puppet: puppet
python: py pyi pyw pyx pxd
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
vue: vue
wgsl: wgsl
zig: zig
"""

_MARKDOWN_EXTENSIONS: Final = "md markdown mdown mkd mkdn mdx qmd rmd"
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
    "svg": "image/svg+xml",
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "tex": "text/x-tex",
    "adoc": "text/asciidoc",
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
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".profile": "bash",
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
    types |= dict.fromkeys(["txt", "text", "log", "conf", "cfg", "ini", "properties", "env", "lock", "diff", "patch"], PLAIN_TEXT)
    return types


_EXTENSIONS: Final = _by_extension()

#: What the content of files begins with that are no text, or none that can be read here yet.
_SIGNATURES: Final = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP or Office"),
    (b"PK\x05\x06", "ZIP"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office"),
    (b"{\\rtf", "RTF"),
    (b"\x89PNG\r\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "RAR"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"\x7fELF", "ELF"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"\x00asm", "WebAssembly"),
    (b"OggS", "Ogg"),
    (b"ID3", "MP3"),
    (b"fLaC", "FLAC"),
)
_FIRST_BYTES: Final = frozenset(signature[0] for signature, _ in _SIGNATURES)


def detect(document_id: str, text: str) -> FileType:
    """What a text file is: by its whole name, by its extension, and where they say nothing by a ``#!`` line."""
    name = document_id.rpartition("/")[2].lower()
    if name in _BY_NAME:
        return _code(_BY_NAME[name])
    known = _EXTENSIONS.get(name.rpartition(".")[2]) if "." in name else None
    if known is not None:
        return known
    if text.startswith("#!"):
        shebang = _SHEBANG.match(text)
        if shebang is not None and shebang[1].lower() in _INTERPRETERS:
            return _code(_INTERPRETERS[shebang[1].lower()])
    return PLAIN_TEXT


def is_known_text_name(document_id: str) -> bool:
    """Whether the name alone says that a file is text."""
    name = document_id.rpartition("/")[2].lower()
    return name in _BY_NAME or ("." in name and name.rpartition(".")[2] in _EXTENSIONS)


def binary_format_of(content: bytes) -> str | None:
    """The name of a well-known format that is no text, by the first bytes; None for anything else."""
    if content[:1] and content[0] in _FIRST_BYTES:
        for signature, name in _SIGNATURES:
            if content.startswith(signature):
                return name
    if content[4:8] == b"ftyp":
        return "MP4"
    if content[:4] == b"RIFF" and content[8:12] in (b"WAVE", b"AVI ", b"WEBP"):
        return content[8:12].decode().strip()
    return None
