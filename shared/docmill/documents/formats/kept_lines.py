"""Texts of which some lines are left out, such as comments: what is left, and where it stands in the file."""

from collections.abc import Sequence


def joined(lines: Sequence[str], kept: Sequence[int]) -> tuple[str, Sequence[int] | None]:
    """The text of the lines whose numbers (from 0) are ``kept``, and for each the line of the file (from 1); None where all are kept."""
    if len(kept) == len(lines):
        return "\n".join(lines), None
    return "\n".join([lines[line] for line in kept]), [line + 1 for line in kept] or [1]
