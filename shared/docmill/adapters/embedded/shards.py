"""A folder of shards: its one holder, its identity record and its indexes.

::

    <folder>/lock             held by the process that has it open
    <folder>/identity.json    {"identity": "<random>", "epoch": 0}
    <folder>/<index>/         one index
        index.json            its settings, written last: without it the index was never finished and is removed
        shard/                the engine's files
        shard.closed          there while they are whole and nobody has them open
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Final

from docmill.adapters.embedded.edge_errors import engine_errors
from docmill.adapters.embedded.edge_shard import Shard
from docmill.adapters.embedded.file_lock import FileLock
from docmill.domain.errors import DataFolderError, DataFolderInUse, StoreDown, StoreRejected

_INDEX_NAME: Final = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,199}")
_IDENTITY: Final = "identity.json"
_SETTINGS: Final = "index.json"
_SHARD: Final = "shard"

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An index that is ready; ``settings`` are what it was made with (``strategy`` always)."""

    name: str
    settings: Settings
    shard: Shard

    @property
    def strategy(self) -> str:
        """The strategy whose chunks it holds; part of their ids."""
        return str(self.settings["strategy"])


class ShardFolder:
    """The open folder; every method may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder, makes it when it is not there, and opens all its indexes.

        Raises:
            DataFolderInUse: it is open already, here or in another process.
            DataFolderError: a file in it is damaged.
            DiskFull: too little room.
            StoreDown: the engine cannot open an index.
        """
        self._folder = folder.absolute()
        self._change = RLock()
        self._indexes: dict[str, OpenIndex] = {}
        with engine_errors(str(self._folder)):
            self._folder.mkdir(parents=True, exist_ok=True)
            # A second open of a shard damages the first one's later writes, even when it is refused: so the lock comes first.
            self._lock = FileLock(self._folder / "lock")
            if not self._lock.acquire():
                raise DataFolderInUse(f"{self._folder} is open already: stop the docmill that uses it, or name another --data-dir")
        try:
            with engine_errors(str(self._folder)):
                self._identity, self._epoch = self._read_identity()
                self._open_all()
        except BaseException:
            self.close()
            raise

    @property
    def identity(self) -> str:
        """Made when the folder was new."""
        return self._identity

    @property
    def epoch(self) -> int:
        """The highest epoch recorded."""
        return self._epoch

    def raise_epoch(self, epoch: int) -> None:
        """Records ``epoch`` durably, unless a higher one is recorded."""
        with self._change, engine_errors(str(self._folder)):
            if epoch > self._epoch:
                _write_json(self._folder / _IDENTITY, {"identity": self._identity, "epoch": epoch})
                self._epoch = epoch

    def names(self) -> list[str]:
        """The indexes, sorted."""
        return sorted(self._indexes)

    def index(self, name: str) -> OpenIndex:
        """The index ``name``; ``StoreRejected`` when there is none."""
        found = self._indexes.get(name)
        if found is None:
            raise StoreRejected(f"index {name!r} does not exist in {self._folder}")
        return found

    def create(self, name: str, settings: Settings, make: Callable[[Path], Shard]) -> OpenIndex:
        """The index ``name``, made by ``make`` in an empty folder unless it exists."""
        if _INDEX_NAME.fullmatch(name) is None:
            raise StoreRejected(f"{name!r} is no name for an index")
        with self._change, engine_errors(str(self._folder)):
            if name not in self._indexes:
                home = self._folder / name
                shutil.rmtree(home, ignore_errors=True)
                (home / _SHARD).mkdir(parents=True)
                shard = make(home / _SHARD)
                _write_json(home / _SETTINGS, dict(settings))
                self._indexes[name] = OpenIndex(name, settings, shard)
            return self._indexes[name]

    def drop(self, name: str) -> None:
        """Removes the index ``name``; no error when there is none."""
        with self._change, engine_errors(str(self._folder)):
            found = self._indexes.pop(name, None)
            if found is not None:
                (self._folder / name / _SETTINGS).unlink()
                found.shard.close()
                shutil.rmtree(self._folder / name)

    def close(self) -> None:
        """Closes every index and lets go of the folder; a second call does nothing."""
        with self._change:
            try:
                for found in self._indexes.values():
                    found.shard.close()
            finally:
                self._indexes.clear()
                self._lock.release()

    def _read_identity(self) -> tuple[str, int]:
        path = self._folder / _IDENTITY
        if not path.exists():
            _write_json(path, {"identity": secrets.token_hex(16), "epoch": 0})
        found = _read_json(path)
        try:
            return str(found["identity"]), int(found["epoch"])
        except (KeyError, ValueError, TypeError) as error:
            raise DataFolderError(f"{path} is damaged; restore it, or remove {self._folder} to index everything again") from error

    def _open_all(self) -> None:
        for home in sorted(path for path in self._folder.iterdir() if path.is_dir()):
            if (home / _SETTINGS).exists():
                settings = _read_json(home / _SETTINGS)
                if not isinstance(settings.get("strategy"), str):
                    raise DataFolderError(f"{home / _SETTINGS} is damaged; remove {self._folder} to index everything again")
                self._indexes[home.name] = OpenIndex(home.name, settings, self._load(home / _SHARD))
            elif (home / _SHARD).exists():
                shutil.rmtree(home)

    def _load(self, shard: Path) -> Shard:
        try:
            return Shard.load(shard)
        except (FileNotFoundError, StoreDown) as error:
            raise DataFolderError(f"{shard} cannot be opened ({error}); remove {self._folder} to index everything again") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataFolderError(f"{path} is damaged: {error}; remove {path.parent} to index everything again") from error
    return found if isinstance(found, dict) else {}


def _write_json(path: Path, value: Settings) -> None:
    """Replaces ``path`` at once: after a crash it holds the old value or the new one."""
    beside = path.with_name(f"{path.name}.tmp")
    with beside.open("w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
