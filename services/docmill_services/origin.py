"""Origin: what a data folder was made for, so that other commands and the producer find the same configuration."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from docmill.adapters.embedded.data_folder import folder_errors
from docmill.config.loading import Configuration, configuration_for_folder, load_configuration
from docmill.domain.errors import DataFolderError

_FILE: Final = "origin.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """A configuration file, or a folder with the name of its knowledge base; both absolute."""

    config: Path | None = None
    folder: Path | None = None
    name: str | None = None

    def configuration(self, *, scan_interval_seconds: float, environ: Mapping[str, str]) -> Configuration:
        """Reads it.

        Args:
            scan_interval_seconds: between full scans, for knowledge bases that do not say.
            environ: the environment variables, for ``embedding_model: auto``.

        Raises:
            ConfigurationError: it is not there, or not valid.
        """
        if self.config is not None:
            return load_configuration(self.config, scan_interval_seconds=scan_interval_seconds, environ=environ)
        if self.folder is None:
            raise ValueError("an origin has a configuration file or a folder")
        return configuration_for_folder(self.folder, name=self.name, scan_interval_seconds=scan_interval_seconds)

    def save(self, data_folder: Path) -> None:
        """Keeps it in the data folder.

        Raises:
            DataFolderError: it cannot be written.
        """
        beside = data_folder / f"{_FILE}.tmp"
        with folder_errors(data_folder):
            beside.write_text(self.as_json(), encoding="utf-8")
            beside.replace(data_folder / _FILE)  # a command that looks meanwhile finds the old one or the new one

    def as_json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "config": str(self.config) if self.config else None,
                "folder": str(self.folder) if self.folder else None,
                "name": self.name,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What ``as_json`` wrote; raises ``ValueError`` for anything else."""
        found = json.loads(text)
        if not isinstance(found, dict) or not (found.get("config") or found.get("folder")):
            raise ValueError("not an origin")
        if not all(isinstance(value, str | None) for value in found.values()):
            raise ValueError("not an origin")
        return cls(
            config=Path(found["config"]) if found.get("config") else None,
            folder=Path(found["folder"]) if found.get("folder") else None,
            name=found.get("name"),
        )

    @classmethod
    def saved(cls, data_folder: Path) -> Self | None:
        """What the data folder was made for, or None.

        Raises:
            DataFolderError: the file that says so cannot be read.
        """
        try:
            return cls.from_json((data_folder / _FILE).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is damaged"
            raise DataFolderError(
                f"{data_folder / _FILE} cannot be read ({reason}): name the folder or the configuration once more: docmill up FOLDER"
            ) from error
