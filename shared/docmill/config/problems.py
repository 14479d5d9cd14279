"""Collects everything that is wrong with a configuration file, so that all of it is reported at once."""

from collections.abc import Iterator
from dataclasses import dataclass

from docmill.config.yaml_source import Position, YamlPath, YamlSource
from docmill.domain.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class _Finding:
    position: Position
    path: YamlPath
    message: str


class Problems:
    """Errors, warnings and notes about one file, each with its place; at most one error for each value and each key."""

    def __init__(self, source: YamlSource) -> None:
        self._source = source
        self._renamed: dict[YamlPath, YamlPath] = {}
        self._errors: dict[tuple[YamlPath, Position], _Finding] = {}
        self._warnings: list[_Finding] = []
        self._notes: list[_Finding] = []
        for mistake in source.mistakes:
            self._add(_Finding(mistake.position, mistake.path, mistake.message))

    def rename(self, path: YamlPath, written: YamlPath) -> None:
        """From now on what is said of ``path`` is said of ``written``: the same value under the key that the file has."""
        self._renamed[path] = written

    def error(self, path: YamlPath, message: str, *, at_key: bool = False) -> None:
        """Notes that the value at ``path``, or its key, is wrong; a second error about the same value is dropped."""
        self._add(self._finding(path, message, at_key))

    def warn(self, path: YamlPath, message: str, *, at_key: bool = False) -> None:
        """Notes something that works but deserves a look."""
        self._warnings.append(self._finding(path, message, at_key))

    def note(self, path: YamlPath, message: str) -> None:
        """Notes something that is as it should be, but might surprise."""
        self._notes.append(self._finding(path, message, at_key=True))

    def is_wrong(self, path: YamlPath) -> bool:
        """Whether an error is known about the value at ``path`` or about a part of it."""
        path = self._written(path)
        return any(known[: len(path)] == path for known, _ in self._errors)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings as ``file:line:column: key: message``, in the file's order."""
        return tuple(self._lines(self._warnings))

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes, in the same form."""
        return tuple(self._lines(self._notes))

    def raise_errors(self) -> None:
        """Raises one error with a line for each problem, in the file's order, if there is any.

        Raises:
            ConfigurationError: at least one error was noted.
        """
        if self._errors:
            raise ConfigurationError("\n".join(self._lines(list(self._errors.values()))))

    def _add(self, finding: _Finding) -> None:
        self._errors.setdefault((finding.path, finding.position), finding)

    def _finding(self, path: YamlPath, message: str, at_key: bool) -> _Finding:
        path = self._written(path)
        place = self._source.place(path)
        return _Finding(place.key if at_key else place.value, path, message)

    def _written(self, path: YamlPath) -> YamlPath:
        for length in range(len(path), 0, -1):
            written = self._renamed.get(path[:length])
            if written is not None:
                return (*written, *path[length:])
        return path

    def _lines(self, findings: list[_Finding]) -> Iterator[str]:
        for finding in sorted(findings, key=lambda f: (f.position.line, f.position.column)):
            where = f"{self._source.file}:{finding.position.line}:{finding.position.column}"
            yield one_line(f"{where}: {dotted(finding.path)}: {finding.message}" if finding.path else f"{where}: {finding.message}")


def dotted(path: YamlPath) -> str:
    """``rag.handbook.strategies[0].limit``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def one_line(text: str) -> str:
    """``text`` with what cannot be shown in a line (line breaks, control characters) as escapes."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode("ascii") for character in text
    )
