"""Fences: a quoted text in a prompt stands between marks that nobody who wrote the text can have foreseen; pure."""

from collections.abc import Sequence
from hashlib import blake2b


def mark_for(texts: Sequence[str]) -> str:
    """A word that is in none of ``texts``, and that whoever wrote one of them cannot have foreseen."""
    digest = blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=8)
    while any(digest.hexdigest() in text for text in texts):
        digest.update(b"\0")
    return digest.hexdigest()


def fenced(text: str, mark: str) -> str:
    """``text`` between two lines that hold ``mark``."""
    return f"<<<{mark}\n{text}\n{mark}>>>"
