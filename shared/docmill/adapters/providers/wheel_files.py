"""Data files that come with installed packages: found without running the package's code, and checked before use."""

import hashlib
import importlib.util
from pathlib import Path

from docmill.domain.errors import ConfigurationError


def read_wheel_file(package: str, path: str, *, sha256: str, requirement: str) -> bytes:
    """The bytes of the file at ``path`` inside the installed ``package``, which is not imported.

    Args:
        package: a top-level package.
        path: inside the package's folder, with ``/``.
        sha256: 64 hexadecimal digits that the bytes must hash to.
        requirement: what to install when the file is missing or another one, as pip takes it.

    Raises:
        ConfigurationError: the package or the file is not there, or it is not the file that was asked for.
    """
    remedy = f"install it with: pip install --force-reinstall '{requirement}'"
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigurationError(f"the local embedding model needs the package {package}, which is not installed; {remedy}")
    file = Path(spec.origin).parent / path
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"the local embedding model's file {file} cannot be read: {error.strerror}; {remedy}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ConfigurationError(f"{file} is not the file of the local embedding model: its sha256 is {found}, not {sha256}; {remedy}")
    return content
