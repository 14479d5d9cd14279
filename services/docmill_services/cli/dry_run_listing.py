"""The listing of a dry run: what would be indexed, by type, and what not, by what decided it; bounded, whatever the folder is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from docmill.domain.errors import SkipReason
from docmill_services.cli.output import counted
from docmill_services.left_out import Group
from docmill_services.skip_reasons import SKIP_REASONS

#: Paths that are printed of each kind.
EXAMPLES: Final = 3
_MOST_GROUPS: Final = 8
_MOST_TYPES: Final = 12
_LONGEST: Final = 120


def described_group(group: Group) -> dict[str, Any]:
    """A group as JSON."""
    rule = {} if group.rule is None else {"rule": {"file": group.rule.file, "line": group.rule.line, "pattern": group.rule.pattern}}
    return {
        "reason": group.reason.value,
        "detail": group.detail,
        **rule,
        "files": group.files,
        "folders": group.folders,
        "paths": group.paths,
    }


def listing(types: Sequence[Mapping[str, Any]], left_out: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The lines: of each type and of each reason so many groups, of each group so many paths, and how much more there is."""
    if types:
        yield "would be indexed, by type:"
        lines = [_Line(0, one["files"], one["type"], one["paths"]) for one in types]
        yield from _aligned(lines, _MOST_TYPES, "type", "  ")
    if left_out:
        everything = _sum(_lines(left_out))
        yield f"left out: {_amount(everything)}{'; what is in these folders was not looked at' if everything.folders else ''}"
    for reason, of_reason in groupby(left_out, key=lambda group: group["reason"]):
        lines = _lines(list(of_reason))
        yield f"  {reason}: {_amount(_sum(lines))}. {SKIP_REASONS[SkipReason(reason)].replace('`', '')}"
        yield from _aligned(lines, _MOST_GROUPS, "cause", "    ")


@dataclass(frozen=True, slots=True)
class _Line:
    """So many folders and files, what decided about them, and some of their paths."""

    folders: int
    files: int
    what: str
    paths: Sequence[str] = ()


def _lines(groups: Sequence[Mapping[str, Any]]) -> list[_Line]:
    """One line for each cause; the same pattern in many ignore files is one. The largest come first."""
    by_cause: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for group in groups:
        pattern = group["rule"]["pattern"] if "rule" in group else ""
        by_cause.setdefault((pattern, "" if pattern else group["detail"]), []).append(group)
    lines = [
        _Line(
            sum(group["folders"] for group in alike),
            sum(group["files"] for group in alike),
            _what(alike),
            [path for group in alike for path in group["paths"][:EXAMPLES]][:EXAMPLES],
        )
        for alike in by_cause.values()
    ]
    return sorted(lines, key=lambda line: -line.folders - line.files)


def _what(alike: Sequence[Mapping[str, Any]]) -> str:
    rule = alike[0].get("rule")
    if rule is None:
        return str(alike[0]["detail"])
    files = [f"{group['rule']['file']}:{group['rule']['line']}" for group in alike if group["rule"]["file"]]
    if files:
        more = f" and {counted(len(files) - 1, 'more ignore file')}" if len(files) > 1 else ""
        return f"{rule['pattern']} in {files[0]}{more}"
    return f"{rule['pattern']}, a name of a secret" if alike[0]["reason"] == SkipReason.SECRET else str(alike[0]["detail"])


def _aligned(lines: Sequence[_Line], most: int, kind: str, indent: str) -> Iterator[str]:
    shown = [*lines[:most]]
    if len(lines) > most:
        rest = _sum(lines[most:])
        shown.append(_Line(rest.folders, rest.files, f"for {counted(len(lines) - most, f'more {kind}')}; --json lists all"))
    width = max(len(_amount(line)) for line in shown)
    for line in shown:
        paths = f": {_paths(line)}" if line.paths else ""
        yield f"{indent}{_amount(line):>{width}}  {line.what}{paths}"


def _sum(lines: Sequence[_Line]) -> _Line:
    return _Line(sum(line.folders for line in lines), sum(line.files for line in lines), "")


def _amount(line: _Line) -> str:
    parts = ([counted(line.folders, "folder")] if line.folders else []) + ([counted(line.files, "file")] if line.files else [])
    return " and ".join(parts)


def _paths(line: _Line) -> str:
    shown = [path if len(path) <= _LONGEST else f"…{path[-_LONGEST:]}" for path in line.paths]
    return ", ".join(shown) + (", …" if line.folders + line.files > len(shown) else "")
