"""Finding: which configuration and which data folder a command means."""

import os
from pathlib import Path
from typing import NoReturn

from docmill.config.loading import Configuration, find_configuration
from docmill.config.settings import Settings
from docmill.documents.identity import path_of
from docmill.domain.errors import ConfigurationNotFound, DocumentUnknown, UsageError
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill_services.origin import Origin

DEFAULT_DATA_DIR = Path(".docmill")


def origin_to_ask(config: Path | None, data_dir: Path) -> Origin:
    """What a command that asks is about: ``--config``, else what the data folder was made for, else ``docmill.yaml`` upwards.

    Raises:
        ConfigurationNotFound: nothing was named or found.
    """
    if config is not None:
        return _named(config, None)
    return Origin.saved(data_dir) or _found() or _nothing(data_dir)


def origin_to_index(target: Path | None, config: Path | None, data_dir: Path, name: str | None) -> Origin:
    """What to index: the path or ``--config``, else ``docmill.yaml`` upwards, else what the data folder was made for.

    Raises:
        UsageError: two things were named, or a name was given to what has one.
        ConfigurationNotFound: nothing was named or found.
    """
    if target is not None and config is not None:
        raise UsageError("name a path or --config, not both")
    chosen = target or config
    if chosen is not None:
        return _named(chosen, name)
    return _found() or Origin.saved(data_dir) or _nothing(data_dir)


def configuration_to_serve(config: Path | None, settings: Settings) -> Configuration:
    """What a process of its own serves: ``--config``, else ``docmill.yaml`` upwards.

    Raises:
        ConfigurationError: it is not there, or not valid.
    """
    origin = _named(config, None) if config is not None else _found()
    if origin is None:
        raise ConfigurationNotFound("no docmill.yaml here or above; name one with --config")
    return origin.configuration(scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ)


def _found() -> Origin | None:
    found = find_configuration(Path.cwd())
    return None if found is None else Origin(config=found)


def _nothing(data_dir: Path) -> NoReturn:
    raise ConfigurationNotFound(f"no docmill.yaml here or above, and nothing was indexed into {data_dir} yet; run: docmill up FOLDER")


def _named(path: Path, name: str | None) -> Origin:
    path = path.expanduser().absolute()
    if path.is_dir():
        return Origin(folder=path, name=name)
    if not path.exists():
        raise ConfigurationNotFound(f"{path} does not exist; name a folder to index, or a configuration file")
    if not path.is_file():  # a pipe could be read once only, and would be waited for
        raise ConfigurationNotFound(f"{path} is neither a folder nor a regular file; name a folder to index, or a configuration file")
    if name is not None:
        raise UsageError(f"--name names a folder's knowledge base; {path} is a configuration file and names its own")
    return Origin(config=path)


def configuration_of(origin: Origin) -> Configuration:
    """The configuration of ``origin`` with the settings of the environment; raises ``ConfigurationError``."""
    return origin.configuration(scan_interval_seconds=Settings.from_environment(os.environ).scan_interval_seconds, environ=os.environ)


def knowledge_base_meant(configuration: Configuration, wanted: str | None) -> KnowledgeBase:
    """The knowledge base that a command means.

    Raises:
        UsageError: there are several, and none was named.
    """
    by_name = {knowledge_base.name: knowledge_base for knowledge_base in configuration.knowledge_bases}
    if wanted is None and len(by_name) > 1:
        raise UsageError(f"several knowledge bases are configured; name one with --kb: {', '.join(by_name)}")
    name = next(iter(by_name)) if wanted is None else wanted
    if name not in by_name:
        raise UsageError(f"no knowledge base is called {name!r}; there are: {', '.join(by_name)}")
    return by_name[name]


def path_meant(path: Path, base_folder: Path) -> bytes:
    """The absolute path of a file that was named on the command line: seen from the current folder, else from ``base_folder``.

    Where neither is there it may be a document's id, as searches print it: that differs from a path where bytes are escaped.
    """
    in_base_folder = base_folder / path
    for place in (path, in_base_folder):
        if _is_there(place):
            return os.fsencode(os.path.abspath(place))
    try:
        return path_of(str(path), base_folder)
    except DocumentUnknown:
        return os.fsencode(os.path.abspath(in_base_folder))


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except PermissionError:
        return True  # in a folder that may not be entered
    except (OSError, ValueError):
        return False
    return True
