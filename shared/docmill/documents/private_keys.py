"""Private keys in text: PEM, OpenSSH, PGP and PuTTY, also inside strings of code."""

import re
from collections.abc import Iterator
from typing import Final

from docmill.documents.placeholders import bits_per_character

_BEGIN: Final = "-----BEGIN "
_HEADER: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY(?: BLOCK)?-----")
_MOST_CHARACTERS: Final = 200_000
_LINE_END: Final = re.compile(r"\\[nr]|[\n\r]")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_PUTTY: Final = re.compile(r"Private-Lines: [0-9]{1,3}\s{1,4}[A-Za-z0-9+/=]{40}")
#: An Ed25519 key, the shortest one, has 64 characters.
_LEAST_CHARACTERS: Final = 60
#: Random bytes in base64 have about 5 bits a character at this length; words and repetitions have less.
_LEAST_BITS: Final = 3.5
_LEFT_OUT: Final = re.compile(r"\.\.|…|<|\[|EXAMPLE|example|snip|SNIP|fake|FAKE|redact|REDACT|xxxxxxxx|XXXXXXXX")


def private_keys(text: str) -> Iterator[tuple[int, str]]:
    """Where private keys begin in ``text``, in order, and what each is; those that documentation shows without their content are none."""
    place = text.find(_BEGIN)
    while place >= 0:
        header = _HEADER.match(text, place)
        if header is not None:
            end = text.find("-----", header.end(), header.end() + _MOST_CHARACTERS)
            body = text[header.end() : end if end >= 0 else header.end() + _MOST_CHARACTERS]
            if _is_whole(body):
                yield place, f"a private key ({header[1].strip() or 'PEM'})"
        place = text.find(_BEGIN, place + len(_BEGIN))
    putty = _PUTTY.search(text) if "Private-Lines:" in text else None
    if putty is not None:
        yield putty.start(), "a private key (PuTTY)"


def _is_whole(body: str) -> bool:
    if _LEFT_OUT.search(body):
        return False
    lines = [line for line in _LINE_END.split(body) if ":" not in line]  # ``DEK-Info: ...`` and the like describe the key
    key = "".join(match[0] for line in lines for match in _BASE64.finditer(line))
    return len(key) >= _LEAST_CHARACTERS and bits_per_character(key) > _LEAST_BITS
