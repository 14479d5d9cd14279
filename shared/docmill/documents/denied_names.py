"""Files that are never indexed by accident: secrets, by name, and what tools leave behind."""

import re
from typing import Final

_SECRET_NAMES: Final = frozenset(
    b""".env .envrc .netrc _netrc .pgpass .htpasswd .npmrc .pypirc .git-credentials .vault-token .my.cnf .s3cfg .boto .dockercfg
    .bash_history .zsh_history .psql_history .mysql_history .python_history credentials credentials.json credentials.yaml credentials.yml
    credentials.toml credentials.ini secrets.json secrets.yaml secrets.yml secrets.toml secrets.ini client_secret.json kubeconfig
    application_default_credentials.json terraform.tfstate terraform.tfstate.backup""".split()
)
_SECRET_SUFFIXES: Final = frozenset(b"pem key p12 pfx jks keystore kdbx ppk gpg pgp".split())
_KEY_NAME: Final = re.compile(rb"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-](?!pub\Z).*)?\Z")
_ENV_SAMPLE: Final = frozenset(b".env.example .env.sample .env.template .env.dist .env.defaults".split())
_SECRET_IN_FOLDER: Final = {b"config.json": b".docker", b"config": b".kube"}

_LEFTOVER_FOLDERS: Final = frozenset(b".git .hg .svn .docmill __pycache__".split())
_LEFTOVER_NAMES: Final = frozenset(b".git .DS_Store Thumbs.db desktop.ini 4913".split())
_LEFTOVER: Final = re.compile(rb"(?:.+(~)|\..+(\.sw[a-z])|(\.#).+|(#).+#|.*(\.tmp))\Z", re.DOTALL)
_LEFTOVER_PATTERNS: Final = ("", "*~", ".*.sw?", ".#*", "#*#", "*.tmp")


def secret_pattern(name: bytes, folder: bytes) -> str | None:
    """The pattern of the deny list that a file falls under.

    Args:
        name: the file's name.
        folder: the path of its folder.
    """
    name = name.lower()
    if name in _SECRET_NAMES:
        return name.decode()
    _, dot, suffix = name.rpartition(b".")
    if dot and suffix in _SECRET_SUFFIXES:
        return f"*.{suffix.decode()}"
    if name.startswith(b".env.") and name not in _ENV_SAMPLE:
        return ".env.*"
    if name.startswith(b"id_") and _KEY_NAME.match(name):
        return "id_*"
    if name in _SECRET_IN_FOLDER and folder.rpartition(b"/")[2] == _SECRET_IN_FOLDER[name]:
        return f"{_SECRET_IN_FOLDER[name].decode()}/{name.decode()}"
    return None


def leftover_pattern(name: bytes, *, is_folder: bool) -> str | None:
    """The pattern under which an entry is left out as version control's, a cache, or an editor's temporary file."""
    if is_folder:
        return f"{name.decode()}/" if name in _LEFTOVER_FOLDERS else None
    if name in _LEFTOVER_NAMES:
        return name.decode()
    match = _LEFTOVER.match(name)
    return _LEFTOVER_PATTERNS[match.lastindex or 0] if match else None
