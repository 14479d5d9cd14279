"""Which reader makes text of which format: by media type, from the decoded text or from the bytes.

A reader of text that cannot read a text as its format returns it as it is; a reader of bytes raises ``DocumentSkipped``.
Libraries of the extra ``formats`` are imported inside the readers that need them.
"""

from collections.abc import Callable, Mapping
from typing import Final

from docmill.documents.containers.readers import CONTAINER_READERS
from docmill.documents.extracted import Extracted
from docmill.documents.formats.asciidoc import read_asciidoc
from docmill.documents.formats.html import read_html
from docmill.documents.formats.json_data import read_json, read_json_lines
from docmill.documents.formats.latex import read_latex
from docmill.documents.formats.logs import read_log
from docmill.documents.formats.mail import read_mail
from docmill.documents.formats.manual_pages import read_manual_page
from docmill.documents.formats.markdown import read_markdown
from docmill.documents.formats.notebooks import read_notebook
from docmill.documents.formats.org import read_org
from docmill.documents.formats.plain_text import read_plain_text
from docmill.documents.formats.restructured_text import read_restructured_text
from docmill.documents.formats.rich_text import read_rich_text
from docmill.documents.formats.separated_values import read_csv, read_tsv
from docmill.documents.formats.svg import read_svg
from docmill.documents.formats.toml_data import read_toml
from docmill.documents.formats.xml import read_xml
from docmill.documents.formats.yaml_data import read_yaml

TextReader = Callable[[str], Extracted]
BytesReader = Callable[[bytes], Extracted]

#: From the decoded text, in which line breaks are ``\\n``.
TEXT_READERS: Final[Mapping[str, TextReader]] = {
    "application/geo+json": read_json,
    "application/json": read_json,
    "application/json5": read_json,
    "application/toml": read_toml,
    "application/x-ipynb+json": read_notebook,
    "application/x-ndjson": read_json_lines,
    "application/xhtml+xml": read_html,
    "application/xml": read_xml,
    "application/yaml": read_yaml,
    "image/svg+xml": read_svg,
    "text/asciidoc": read_asciidoc,
    "text/csv": read_csv,
    "text/html": read_html,
    "text/markdown": read_markdown,
    "text/org": read_org,
    "text/plain": read_plain_text,
    "text/tab-separated-values": read_tsv,
    "text/troff": read_manual_page,
    "text/x-ini": read_toml,
    "text/x-log": read_log,
    "text/x-rst": read_restructured_text,
    "text/x-tex": read_latex,
}
#: From the bytes: formats that hold several parts, or that say themselves how their characters are encoded.
BYTES_READERS: Final[Mapping[str, BytesReader]] = {
    **CONTAINER_READERS,
    "application/mbox": read_mail,
    "application/rtf": read_rich_text,
    "message/rfc822": read_mail,
    "multipart/related": read_mail,
}
