"""Names of physical indexes: one per strategy of an index set."""

import re
from hashlib import blake2b
from typing import Final

#: What every store takes: ``[a-z0-9._-]+``, and room for a store's own prefix below 200 characters.
MAX_NAME_CHARACTERS: Final = 180
_SAFE: Final = re.compile(r"[a-z0-9][a-z0-9._]*")


def index_name(knowledge_base: str, index_set: str, strategy: str) -> str:
    """The index of ``strategy`` in ``index_set``: ``<kb>-<index set>-<strategy>``.

    Other arguments never give the same name. A name that cannot stand as it is (upper case, spaces, other scripts, too long, a dash
    in the knowledge base's or the index set's name, over which two names could meet) is made safe and ends with a short hash of the
    arguments after two dashes.
    """
    plain = f"{knowledge_base}-{index_set}-{strategy}"
    strategy_parts = strategy.split("-")
    if len(plain) <= MAX_NAME_CHARACTERS and all(_SAFE.fullmatch(part) for part in (knowledge_base, index_set, *strategy_parts)):
        return plain
    digest = blake2b("\0".join((knowledge_base, index_set, strategy)).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    words = [word for word in re.split(r"[^a-z0-9._]+", plain.lower()) if word]
    readable = "-".join(words).lstrip("-._")[: MAX_NAME_CHARACTERS - len(digest) - 2].rstrip("-") or "index"
    return f"{readable}--{digest}"
