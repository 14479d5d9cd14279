"""Configuration files for tests."""

from pathlib import Path

from docmill.config import Configuration, load_configuration
from docmill.domain.errors import ConfigurationError


def load(folder: Path, text: str) -> Configuration:
    """The configuration of ``text`` as the file docmill.yaml in ``folder``."""
    return load_configuration(write(folder, text))


def write(folder: Path, text: str | bytes) -> Path:
    """The file, written."""
    path = folder / "docmill.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def errors_of(folder: Path, text: str | bytes) -> list[str]:
    """The lines of the error that loading ``text`` raises, each without the path of the file: ``line:column: message``."""
    path = write(folder, text)
    try:
        load_configuration(path)
    except ConfigurationError as error:
        lines = str(error).split("\n")
        assert all(line.startswith(f"{path}:") for line in lines), lines
        return [line.removeprefix(f"{path}:") for line in lines]
    return []


def knowledge_base(strategy: str = "{type: bm25}", extra: str = "") -> str:
    """A file with one knowledge base, `notes`, which has one strategy."""
    return f"rag:\n  notes:\n    docs: [./notes]\n    strategies:\n      - {strategy}\n{extra}"
