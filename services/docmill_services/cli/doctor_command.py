"""``docmill doctor``: tries each part that docmill needs, and says what is fine and what to do about the rest."""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.text import Text

from docmill import __version__
from docmill.adapters.embedded.data_folder import check_data_folder, running_server
from docmill.bootstrap import (
    check_chat_models,
    check_embedded_engine,
    check_embedded_server,
    check_embedding_models,
    check_servers,
    names_servers,
)
from docmill.config import Configuration, Settings, missing_roots, unavailable_parts
from docmill.domain.errors import DocmillError, ExitCode
from docmill_services.cli.finding import origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir
from docmill_services.cli.output import out, print_json

State = Literal["ok", "warning", "failed"]
_LITTLE_DISK_BYTES = 1024**3
_FEW_WATCHES = 8192
_COLOURS = {"ok": "green", "warning": "yellow", "failed": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check came to."""

    check: str
    state: State
    detail: str


def doctor(config: Config = None, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> int:
    """Check this machine, the configuration, and the servers or the embedded parts that docmill would use."""
    findings = list(_findings(config, data_dir))
    if as_json:
        print_json({"version": __version__, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            line = Text(f"{finding.state:<8}", style=_COLOURS[finding.state])
            line.append(f"{finding.check}: {finding.detail}", style="default")
            out.print(line)
    return ExitCode.FINDINGS if any(finding.state == "failed" for finding in findings) else ExitCode.OK


def _findings(config: Path | None, data_dir: Path) -> Iterator[Finding]:
    yield Finding("docmill", "ok", f"{__version__} on Python {platform.python_version()}, {platform.platform()}")
    settings, of_settings = _settings()
    yield of_settings
    configuration: Configuration | None = None
    try:
        configuration = origin_to_ask(config, data_dir).configuration(
            scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ
        )
        yield Finding("configuration", "ok", ", ".join(kb.name for kb in configuration.knowledge_bases))
    except DocmillError as error:
        yield Finding("configuration", "failed" if config is not None else "warning", str(error))
    if configuration is not None:
        yield from _of_configuration(configuration)
    yield from _of_servers(settings)
    if not names_servers(settings):
        yield _of_data_folder(data_dir)
    yield from _of_watching()
    with tempfile.TemporaryDirectory(prefix="docmill-doctor-") as folder:
        if settings.redis_url is None:
            yield from _try("embedded server", lambda: [check_embedded_server(Path(folder) / "valkey")])
        if settings.qdrant_url is None or settings.elasticsearch_url is None:
            yield from _try("embedded engine", lambda: [check_embedded_engine(Path(folder))])
    if configuration is not None:
        yield from _of_models(configuration)


def _try(check: str, action: Callable[[], Sequence[str]]) -> Iterator[Finding]:
    try:
        details = action()
    except DocmillError as error:
        yield Finding(check, "failed", str(error))
        return
    for detail in details:
        yield Finding(check, "ok", detail)


def _settings() -> tuple[Settings, Finding]:
    """The settings of the environment; the defaults where it has something that cannot be used."""
    try:
        return Settings.from_environment(os.environ), Finding("settings", "ok", "defaults and environment variables can be used")
    except DocmillError as error:
        return Settings(), Finding("settings", "failed", str(error))


def _of_configuration(configuration: Configuration) -> Iterator[Finding]:
    for line in (*configuration.warnings, *configuration.notes):
        yield Finding("configuration", "warning", line)
    for kb in configuration.knowledge_bases:
        for root in missing_roots(kb):
            yield Finding("documents", "failed", f"{root} does not exist (docs of {kb.name})")
    for part in unavailable_parts(configuration):
        yield Finding("configuration", "failed", str(part))


def _of_servers(settings: Settings) -> Iterator[Finding]:
    for server, said in check_servers(settings):
        if isinstance(said, DocmillError):
            yield Finding(server, "failed", str(said))
        else:
            yield Finding(server, "ok", said.description)
            for warning in said.warnings:
                yield Finding(server, "warning", warning)


def _of_data_folder(data_dir: Path) -> Finding:
    try:
        if data_dir.exists():
            check_data_folder(data_dir)
        running = running_server(data_dir)
    except DocmillError as error:
        return Finding("data folder", "failed", str(error))
    if running is not None:
        return Finding(
            "data folder", "ok", f"{data_dir} is used by process {running.pid}, which answers at {running.url or '(no address yet)'}"
        )
    existing = next(folder for folder in (data_dir.absolute(), *data_dir.absolute().parents) if folder.exists())
    if not os.access(existing, os.W_OK):
        return Finding("data folder", "failed", f"{existing} cannot be written; choose another with --data-dir")
    free = shutil.disk_usage(existing).free
    detail = f"{data_dir} on a disk with {free / 1024**3:.1f} GiB free"
    return Finding("data folder", "warning" if free < _LITTLE_DISK_BYTES else "ok", detail)


def _of_watching() -> Iterator[Finding]:
    limit = Path("/proc/sys/fs/inotify/max_user_watches")
    if sys.platform != "linux" or not limit.exists():
        return
    watches = int(limit.read_text(encoding="ascii"))
    detail = f"the system lets {watches} folders be watched"
    if watches < _FEW_WATCHES:
        yield Finding("watching", "warning", f"{detail}; raise fs.inotify.max_user_watches for larger trees")
    else:
        yield Finding("watching", "ok", detail)


def _of_models(configuration: Configuration) -> Iterator[Finding]:
    checks = {
        "embedding model": check_embedding_models(configuration, os.environ),
        "chat model": check_chat_models(configuration, os.environ),
    }
    for check, tried in checks.items():
        for name, said, advice in tried:
            if isinstance(said, DocmillError):
                message = str(said) if name in str(said) else f"{name}: {said}"
                yield Finding(check, "failed", f"{message.rstrip('.')}; {advice}" if advice else message)
            else:
                yield Finding(check, "ok", said)
