"""Writes .env for docker-compose.yml: ``python3 deploy/docker/new_env.py FOLDER``, with new secrets and FOLDER as what is indexed.

Needs nothing but Python. A file that is there is never changed: what is in it opens the data that the servers hold.
"""

import os
import secrets
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SECRETS = ("REDIS_PASSWORD", "QDRANT_API_KEY", "ELASTIC_PASSWORD", "API_KEY", "FLOWER_PASSWORD")


def filled(example: str, documents: Path, user: int, group: int) -> str:
    """The text of .env: ``example`` with the folder, new secrets, and the user, unless that is root, as whom docmill runs."""
    values = {"DOCUMENTS": f"'{documents}'", "FLOWER_USER": "flower", **{name: secrets.token_hex(24) for name in SECRETS}}
    if user != 0:
        values["RUN_AS"] = f"{user}:{group}"
    lines = example.splitlines()
    return "".join(f"{name}={values[name]}\n" if (name := line.partition("=")[0]) in values else f"{line}\n" for line in lines)


def main(arguments: list[str]) -> int:
    """Writes the file; the exit code is 2 where that cannot be done."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        return _refuse("name the folder to index: python3 deploy/docker/new_env.py FOLDER")
    documents = Path(arguments[0]).resolve()
    if not str(documents).isprintable() or "'" in str(documents):
        return _refuse(f"{str(documents)!r} cannot be written into .env; mount or link it under a plainer name")
    example = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
    try:
        with open(os.open(REPOSITORY / ".env", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(filled(example, documents, os.getuid(), os.getgid()))
    except FileExistsError:
        return _refuse(".env is there already; edit it, or remove it together with the data that its secrets open")
    return 0


def _refuse(message: str) -> int:
    sys.stderr.write(f"new_env.py: {message}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
