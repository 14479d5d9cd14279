"""A folder of notes that changes at random, the same way for the same seed."""

import os
import random
from pathlib import Path

from support.index_truth import documents_below

_LETTERS = "abcdefghijklmnoprstuvw"


class ChangingFolder:
    """Notes of a few paragraphs. A few hold the same text, a few are empty, and each change leaves some of each kind."""

    def __init__(self, folder: Path, seed: int, notes: int) -> None:
        """Makes ``notes`` files in ``folder``, whose parent is the base folder of their ids."""
        print(f"seed {seed}")  # noqa: T201
        self.folder = folder
        self.random = random.Random(seed)
        self._made = 0
        for _ in range(notes):
            self.add()

    def documents(self) -> dict[str, bytes]:
        """What an index of the folder must hold."""
        return documents_below(self.folder, self.folder.parent)

    def change(self, count: int) -> None:
        """Adds, edits, renames, removes, empties and replaces ``count`` files."""
        for _ in range(count):
            self.random.choice((self.add, self.edit, self.rename, self.remove, self.empty, self.replace))()

    def add(self) -> None:
        """A new note."""
        self._made += 1
        path = self.folder / self.random.choice(("a", "b", "c/d", "c/e")) / f"{self._made}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._text())

    def edit(self) -> None:
        """A note is written over."""
        self._any().write_text(self._text())

    def rename(self) -> None:
        """A note has another name."""
        self._made += 1
        path = self._any()
        path.rename(path.with_name(f"{self._made}.md"))

    def remove(self) -> None:
        """A note is gone."""
        if len(self._paths()) > 1:
            self._any().unlink()

    def empty(self) -> None:
        """A note has nothing in it."""
        self._any().write_text("")

    def replace(self) -> None:
        """A note is saved as editors do."""
        path = self._any()
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_text(self._text())
        os.replace(temporary, path)

    def _paths(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.md"))

    def _any(self) -> Path:
        return self.random.choice(self._paths())

    def _text(self) -> str:
        if self.random.random() < 0.1:
            return "# Alike\n\nThis note is the same in several places.\n"
        paragraphs = [" ".join(self.word() for _ in range(40)) for _ in range(self.random.randint(1, 6))]
        return f"# {self.word()}\n\n" + "\n\n".join(paragraphs) + "\n"

    def word(self) -> str:
        """Some letters."""
        return "".join(self.random.choice(_LETTERS) for _ in range(self.random.randint(3, 8)))
